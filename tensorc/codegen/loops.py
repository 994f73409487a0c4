"""Statements of a nest as C loops (reductions are in `reduce_rows` and `reduce_columns`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tensorc.codegen.c_ast import (
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Integer,
    Name,
    Stmt,
    Unary,
)
from tensorc.codegen.cells import Span, emit_by_cells, guards_of
from tensorc.codegen.context import LANES, Context
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.loop_bodies import declared, emit_simple
from tensorc.codegen.unroll import emit_copies, has_elementary
from tensorc.codegen.values import carry_name, scan_type
from tensorc.index_algebra import Poly, product
from tensorc.loop_ir.program import Axis
from tensorc.loop_schedule import program as nest_ir

VECTOR_UNIT = 64


def less(a: Expr, b: Expr) -> Expr:
    return Binary("<", a, b)


def at_most(a: Expr, b: Expr) -> Expr:
    return Binary("<=", a, b)


def plus(a: Expr, b: int | Expr) -> Expr:
    other = Integer(b) if isinstance(b, int) else b
    return a if other == Integer(0) else Binary("+", a, other)


def let(name: str, value: Expr) -> Stmt:
    return Declare("const int64_t", name, value)


def emit_vector(axis: Axis, body: Sequence[nest_ir.Stmt], context: Context) -> list[Stmt]:
    """`for (; j + 8 <= n; j += 8) { body }`, then one partial step of the same operations."""
    end = size_expr(axis.extent, context.names)
    return [Block((*start_scans(body), *vector_range(axis, Integer(0), end, body, context)))]


def start_scans(body: Sequence[nest_ir.Stmt]) -> list[Stmt]:
    """The carries of the scans in a loop's body, as they stand before its first step."""
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, nest_ir.Scan):
            out.append(Declare(f"struct {scan_type(s)}", carry_name(s)))
            out.append(Evaluate(Call(f"{scan_type(s)}_begin", (Unary("&", Name(carry_name(s))),))))
    return out


def vector_range(
    axis: Axis, begin: Expr, end: Expr, body: Sequence[nest_ir.Stmt], context: Context
) -> list[Stmt]:
    """The vector loop from `begin` to `end`, once for each cell of the guards that stand still in it."""
    guards = [g for g in guards_of(body, context.conditions) if axis.name not in g.axes()]
    return emit_by_cells(
        body, guards, {}, context, lambda special, _: _vector_loop(axis, begin, end, special, context)
    )


def _vector_loop(
    axis: Axis, begin: Expr, end: Expr, body: Sequence[nest_ir.Stmt], context: Context
) -> list[Stmt]:
    at, limit, lanes = Name(axis.name), Name(f"{axis.name}_end"), f"{axis.name}_lanes"
    values = declared(body)
    count = 2 if has_elementary(body) else 1
    copies = [
        context.inside(axis.name, plus(at, LANES * k), None, values, f"_{'ab'[k]}" if count > 1 else "")
        for k in range(count)
    ]
    part = (
        Declare("const int", lanes, Call("tc_lanes", (Binary("-", limit, at),))),
        *emit_simple(body, context.inside(axis.name, at, Name(lanes), values, "")),
    )
    step = LANES * count
    rest: Stmt = If(less(at, limit), part)
    if count > 1:
        rest = For(axis.name, None, less(at, limit), LANES, part)
    whole = emit_by_cells(
        body,
        guards_of(body, context.conditions),
        {axis.name: Span(at, Integer(step))},
        context,
        lambda special, _: list(emit_copies(special, copies, adjacent=True).statements),
    )
    return [
        Declare("int64_t", axis.name, begin),
        let(limit.id, end),
        For(axis.name, None, at_most(plus(at, step), limit), step, tuple(whole)),
        rest,
    ]


def emit_parallel_vector(loop: nest_ir.ParallelVector, context: Context) -> list[Stmt]:
    """A vector loop over this thread's part; parts are whole numbers of cache lines."""
    total = size_expr(loop.axis.extent, context.names)
    begin, end = thread_part(total, VECTOR_UNIT)
    return [Block(tuple(vector_range(loop.axis, begin, end, loop.body, context)))]


def thread_part(total: Expr, unit: int) -> tuple[Expr, Expr]:
    """Begin and end of this thread's part of `total` items."""
    tid, nt = Name("tid"), Name("nt")
    begin = Call("tc_part", (total, Integer(unit), tid, nt))
    return begin, Call("tc_part", (total, Integer(unit), plus(tid, 1), nt))


def emit_parallel(axes: Sequence[Axis], body: Sequence[Stmt], context: Context) -> list[Stmt]:
    """The outer loops over this thread's part of the product of `axes`."""
    return thread_loop(axes, size_expr(product(a.extent for a in axes), context.names), body, context)


def thread_loop(axes: Sequence[Axis], total: Expr, body: Sequence[Stmt], context: Context) -> list[Stmt]:
    """A loop over this thread's part of `total` steps, from whose number the `axes` are computed."""
    begin, end = thread_part(total, 1)
    if len(axes) == 1:
        variable, decode = axes[0].name, []
    else:
        variable, decode = "p", decode_axes("p", axes, context)
    return [
        let(f"{variable}_end", end),
        For(variable, begin, less(Name(variable), Name(f"{variable}_end")), 1, (*decode, *body)),
    ]


def decode_axes(position: str, axes: Sequence[Axis], context: Context) -> list[Stmt]:
    """`i0 = p / N1; i1 = p % N1;`: the axes whose row-major position is `position`."""
    out: list[Stmt] = []
    at: Expr = Name(position)
    for k, a in enumerate(axes):
        inner: Poly = product(b.extent for b in axes[k + 1 :])
        if k == len(axes) - 1:
            out.append(let(a.name, at))
            break
        size = size_expr(inner, context.names)
        out.append(let(a.name, Binary("/", at, size)))
        out.append(let(f"{a.name}_rest", Binary("%", at, size)))
        at = Name(f"{a.name}_rest")
    return out


def serial_loop(axis: Axis, body: Sequence[Stmt], context: Context) -> Stmt:
    end = size_expr(axis.extent, context.names)
    return For(axis.name, Integer(0), less(Name(axis.name), end), 1, tuple(body))


def uniform(context: Context) -> Context:
    """The context outside any vector loop."""
    return replace(context, vector=None, at=None, lanes=None, suffix="", copied=frozenset())
