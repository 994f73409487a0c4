"""Quotients, remainders and extremes of sizes, computed once at the top of a nest.

*Rewrite*: `for c { ... x[c - 1 % max(N, 1)] }` -> `q0 = max(N, 1); q1 = 1 % q0; for c { ... x[c - q1] }`
(loop-invariant code motion, which compilers refuse a division that might trap).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tensorc.codegen.c_ast import Stmt
from tensorc.codegen.context import Context
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.loops import let
from tensorc.index_algebra import Atom, Poly, Sym, operands
from tensorc.loop_ir.guards import index_polys
from tensorc.loop_ir.program import Gather, Place
from tensorc.loop_schedule import program as nest_ir
from tensorc.loop_schedule.walk import loop_axes

_OWN = re.compile(r"q\d+")


def compute_ahead(statements: Sequence[nest_ir.Stmt], context: Context) -> tuple[list[Stmt], Context]:
    """The declarations of what the statements' sizes share, and the context that uses them."""
    out, names = name_atoms(_polys(statements), context.names)
    return out, replace(context, names=names)


def name_atoms(sizes: Iterable[Poly], names: Mapping[Atom, str]) -> tuple[list[Stmt], dict[Atom, str]]:
    """Declarations `q0`, `q1`, ... of the sizes' atoms that `names` does not have yet, and all names."""
    known = dict(names)
    taken = sum(1 for name in known.values() if _OWN.fullmatch(name))
    out: list[Stmt] = []
    for poly in sizes:
        for atom in _inside_out(poly):
            if atom not in known:
                name = f"q{taken + len(out)}"
                out.append(let(name, size_expr(Poly([(((atom, 1),), 1)]), known)))
                known[atom] = name
    return out, known


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
        if isinstance(atom, Sym):
            continue
        for part in operands(atom):
            yield from _inside_out(part)
        if not Poly([(((atom, 1),), 1)]).axes():
            yield atom
