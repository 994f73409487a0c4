"""Quotients, remainders and extremes of sizes, computed once at the top of a nest.

*Rewrite*: `for c { ... x[c - 1 % max(N, 1)] }` -> `q0 = max(N, 1); q1 = 1 % q0; for c { ... x[c - q1] }`
(loop-invariant code motion, which compilers refuse a division that might trap).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tensorc.codegen.c_ast import Stmt
from tensorc.codegen.context import Context
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.loops import let
from tensorc.index_algebra import Atom, FloorDiv, MinMax, Mod, Poly
from tensorc.loop_ir.guards import index_polys
from tensorc.loop_ir.program import Gather, Place
from tensorc.loop_schedule import program as nest_ir
from tensorc.loop_schedule.walk import loop_axes


def compute_ahead(statements: Sequence[nest_ir.Stmt], context: Context) -> tuple[list[Stmt], Context]:
    """The declarations of what the statements' sizes share, and the context that uses them."""
    names: dict[Atom, str] = dict(context.names)
    out: list[Stmt] = []
    for poly in _polys(statements):
        for atom in _inside_out(poly):
            if atom not in names:
                name = f"q{len(out)}"
                out.append(let(name, size_expr(Poly([(((atom, 1),), 1)]), names)))
                names[atom] = name
    return out, replace(context, names=names)


def _polys(statements: Iterable[nest_ir.Stmt]) -> Iterable[Poly]:
    for s in statements:
        yield from (a.extent for a in loop_axes(s))
        if isinstance(s, nest_ir.Store):
            yield s.index
        elif isinstance(s, nest_ir.Let):
            yield from index_polys(s.attrs)
            if isinstance(s.attrs, Gather):
                yield from s.attrs.strides
            elif isinstance(s.attrs, Place):
                yield s.attrs.extent


def _inside_out(poly: Poly) -> Iterable[Atom]:
    """The atoms without loop axes that are not plain symbols, after those that they hold."""
    for atom in poly.atoms():
        match atom:
            case FloorDiv(num, den) | Mod(num, den):
                parts: tuple[Poly, ...] = (num, den)
            case MinMax(_, args):
                parts = args
            case _:
                continue
        for part in parts:
            yield from _inside_out(part)
        if not Poly([(((atom, 1),), 1)]).axes():
            yield atom
