"""What rows and columns share: accumulator states (`runtime/reduce*.h`) and the loops over chunks.

The loops fix the tree (`docs/numerics.md`). Threads get whole chunks or whole columns, so their number
changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tensorc.codegen.c_ast import (
    Binary,
    Call,
    Declare,
    Evaluate,
    Expr,
    For,
    Integer,
    Literal,
    Name,
    Stmt,
    Unary,
)
from tensorc.codegen.context import Context
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.loops import (
    decode_axes,
    less,
    let,
    plus,
)
from tensorc.codegen.unroll import has_elementary
from tensorc.dtypes import F32
from tensorc.index_algebra import product
from tensorc.loop_ir.program import Axis
from tensorc.loop_schedule.program import Accumulator, RowReduce

POSITIONED = frozenset({"argmax", "argmin"})
SHIFTED = frozenset({"var", "std"})
"""Reductions that measure from the first element of each chunk."""

WIDE_SUM = "wide_sum"


def state_type(a: Accumulator, columns: bool = False) -> str:
    """The runtime's struct for an accumulator."""
    return f"tc_{a.kind}_{a.dtype}" + ("_col" if columns else "")


def widened(reduce: RowReduce) -> RowReduce:
    """The reduction with sums of f32 in sixteen lanes where its body has them."""
    if not has_elementary(reduce.body):
        return reduce
    accumulators = tuple(
        replace(a, kind=WIDE_SUM) if a.kind == "sum" and a.dtype == F32 else a for a in reduce.accumulators
    )
    return replace(reduce, accumulators=accumulators)


def is_wide(a: Accumulator) -> bool:
    """True when the accumulator takes sixteen lanes a vector."""
    return a.kind == WIDE_SUM


def call_state(a: Accumulator, what: str, state: Expr, *args: Expr, columns: bool = False) -> Stmt:
    return Evaluate(Call(f"{state_type(a, columns)}_{what}", (state, *args)))


def state_of(a: Accumulator) -> Name:
    return Name(f"s_{a.name}")


def count_expr(outer: Sequence[Axis], inner: Axis, context: Context) -> Expr:
    return size_expr(product(a.extent for a in (*outer, inner)), context.names)


def emit_result(a: Accumulator, state: Expr, count: Expr, columns: bool) -> Stmt:
    correction = Literal(repr(abs(float(a.correction))))
    signed: Expr = Unary("-", correction) if a.correction < 0 else correction
    call = Call(f"{state_type(a, columns)}_result", (state, count, signed))
    return Declare(f"const tc_{a.result}", a.name, call)


def chunk_count(a: Accumulator, outer: Sequence[Axis]) -> tuple[Expr, ...]:
    """The number of elements of the chunk that ends, for accumulators that need it."""
    if a.kind not in SHIFTED:
        return ()
    inner = Binary("-", Name("chunk_end"), Name("chunk"))
    rows = Binary("-", Name("row_end"), Name("row_begin"))
    return (Binary("*", rows, inner) if outer else inner,)


def first_row(outer: Sequence[Axis], context: Context) -> list[Stmt]:
    """The outer axes at the first row of a group."""
    return [let("row", Name("row_begin")), *decode_axes("row", outer, context)] if outer else []


def chunk_loop(inner: Expr, span: int, body: Sequence[Stmt]) -> Stmt:
    end = let("chunk_end", Call("tc_min", (plus(Name("chunk"), span), inner)))
    return For("chunk", Integer(0), less(Name("chunk"), inner), span, (end, *body))


def group_loop(
    outer: Sequence[Axis], inner: Expr, span: int, body: Sequence[Stmt], context: Context
) -> list[Stmt]:
    """A loop over groups of `rows` outer positions that make one chunk together."""
    total = size_expr(product(a.extent for a in outer), context.names)
    return [
        let("rows", Call("tc_chunk_rows", (inner, Integer(span)))),
        let("groups", group_count(total)),
        For(
            "group",
            Integer(0),
            less(Name("group"), Name("groups")),
            1,
            (*group_rows(Name("group"), total), *body),
        ),
    ]


def group_count(total: Expr) -> Expr:
    return Binary("/", plus(total, Binary("-", Name("rows"), Integer(1))), Name("rows"))


def group_rows(group: Expr, total: Expr) -> list[Stmt]:
    begin = Name("row_begin")
    return [
        let("row_begin", Binary("*", group, Name("rows"))),
        let("row_end", Call("tc_min", (plus(begin, Name("rows")), total))),
    ]


def outer_rows(outer: Sequence[Axis], body: Sequence[Stmt], context: Context) -> list[Stmt]:
    decode = decode_axes("row", outer, context)
    return [For("row", Name("row_begin"), less(Name("row"), Name("row_end")), 1, (*decode, *body))]
