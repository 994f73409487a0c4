"""Column reductions as C loops: strips of 128 columns, blocks of 8 and chunks of 1024 rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tensorc.codegen.c_ast import (
    Binary,
    Block,
    Call,
    Cast,
    Declare,
    Expr,
    For,
    If,
    Index,
    Integer,
    Name,
    Stmt,
    Unary,
)
from tensorc.codegen.cells import Span, emit_by_cells, guards_of
from tensorc.codegen.context import LANES, Context
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.loop_bodies import declared, emit_simple
from tensorc.codegen.loops import (
    at_most,
    less,
    let,
    plus,
    serial_loop,
    thread_loop,
)
from tensorc.codegen.reduce_state import (
    POSITIONED,
    SHIFTED,
    call_state,
    chunk_count,
    chunk_loop,
    count_expr,
    emit_result,
    first_row,
    group_loop,
    outer_rows,
    state_of,
    state_type,
)
from tensorc.codegen.unroll import emit_copies, has_elementary
from tensorc.index_algebra import Poly, Sym, product
from tensorc.loop_ir.program import Axis
from tensorc.loop_schedule.program import Accumulator, ColumnReduce
from tensorc.loop_schedule.program import Let as NestLet
from tensorc.loop_schedule.program import Stmt as NestStmt

COLUMN_BLOCK, COLUMN_SPAN, STRIP = 8, 1024, 128


def emit_column_reduce(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    """Strips of columns, the strips divided among the threads where the reduction is at the top."""
    strips: Poly = (reduce.columns.extent + (STRIP - 1)) // STRIP
    strip = Axis("strip", strips)
    body = _strip(reduce, context)
    if not reduce.parallel:
        return [serial_loop(strip, body, context)]
    axes = (*reduce.iterate, strip)
    total = size_expr(product(a.extent for a in axes), context.names)
    return thread_loop(axes, total, body, context)


def _strip(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    columns = size_expr(reduce.columns.extent, context.names)
    out: list[Stmt] = [
        let("column_begin", Binary("*", Name("strip"), Integer(STRIP))),
        let("column_end", Call("tc_min", (plus(Name("column_begin"), STRIP), columns))),
    ]
    size = Integer(STRIP // LANES)
    for a in reduce.accumulators:
        out.append(Declare(f"struct {state_type(a, columns=True)}", state_of(a).id, size=size))
    begin = [
        call_state(a, "begin", _column_state(a, reduce, context), columns=True) for a in reduce.accumulators
    ]
    out.append(_each_vector(reduce, begin, context))
    out.extend(_column_chunks(reduce, context))
    out.extend(_column_results(reduce, context))
    return out


def _column_state(a: Accumulator, reduce: ColumnReduce, context: Context) -> Expr:
    offset = Binary("-", Name(reduce.columns.name), Name("column_begin"))
    return Unary("&", Index(state_of(a), Binary("/", offset, Integer(LANES))))


def _each_vector(reduce: ColumnReduce, body: Sequence[Stmt], context: Context, lanes: bool = False) -> Stmt:
    """`for` each vector of columns of the strip, the last one perhaps partial."""
    v = reduce.columns.name
    left = Binary("-", Name("column_end"), Name(v))
    active = [Declare("const int", f"{v}_lanes", Call("tc_lanes", (left,)))] if lanes else []
    return For(v, Name("column_begin"), less(Name(v), Name("column_end")), LANES, (*active, *body))


def _open_chunk(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    """Gives the variances the first row of the chunk, from which they measure."""
    shifted = [a for a in reduce.accumulators if a.kind in SHIFTED]
    if not shifted:
        return []
    inside = _column_context(reduce, context, "_first", partial=True, row="chunk")
    values = [s for s in reduce.body if isinstance(s, NestLet)]
    opened = [
        call_state(a, "open", _column_state(a, reduce, context), inside.value(a.value), columns=True)
        for a in shifted
    ]
    body = (*first_row(reduce.outer, context), *emit_simple(values, inside), *opened)
    return [_each_vector(reduce, body, context, lanes=True)]


def _close_chunk(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    close = [
        call_state(a, "chunk", _column_state(a, reduce, context), *chunk_count(a, reduce.outer), columns=True)
        for a in reduce.accumulators
    ]
    return [_each_vector(reduce, close, context)]


def _column_context(
    reduce: ColumnReduce, context: Context, suffix: str, partial: bool, row: str | None = None
) -> Context:
    v = reduce.columns.name
    names = dict(context.names) | ({Sym(reduce.inner.name, axis=True): row} if row is not None else {})
    lanes = Name(f"{v}_lanes") if partial else None
    return replace(context, names=names).inside(v, Name(v), lanes, declared(reduce.body), suffix)


def _column_chunks(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    inner = size_expr(reduce.inner.extent, context.names)
    blocks = _column_blocks(reduce, context)
    sweep = outer_rows(reduce.outer, blocks, context) if reduce.outer else blocks
    chunk = (*_open_chunk(reduce, context), *sweep, *_close_chunk(reduce, context))
    if not reduce.outer:
        return [chunk_loop(inner, COLUMN_SPAN, chunk)]
    per_group = chunk_loop(inner, COLUMN_SPAN, chunk)
    return [Block(tuple(group_loop(reduce.outer, inner, COLUMN_SPAN, [per_group], context)))]


def _column_blocks(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    """Blocks of eight rows over the strip, then the rows that are left."""
    r, v = reduce.inner.name, reduce.columns.name
    end = Name("column_end")
    single = _column_rows(reduce, context)
    block: tuple[Stmt, ...] = (
        Declare("int64_t", v, Name("column_begin")),
        For(
            v,
            None,
            at_most(plus(Name(v), LANES), end),
            LANES,
            tuple(_column_step(reduce, context)),
        ),
        If(less(Name(v), end), tuple(single(plus(Name(r), COLUMN_BLOCK)))),
    )
    rest = For(v, Name("column_begin"), less(Name(v), end), LANES, tuple(single(Name("chunk_end"))))
    return [
        Declare("int64_t", r, Name("chunk")),
        For(r, None, at_most(plus(Name(r), COLUMN_BLOCK), Name("chunk_end")), COLUMN_BLOCK, block),
        If(less(Name(r), Name("chunk_end")), (rest,)),
    ]


def _column_step(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    rows: list[Stmt] = []
    copies: list[Context] = []
    for k in range(COLUMN_BLOCK):
        row = f"{reduce.inner.name}_{'abcdefgh'[k]}"
        rows.append(let(row, plus(Name(reduce.inner.name), k)))
        copies.append(_column_context(reduce, context, f"_{'abcdefgh'[k]}", partial=False, row=row))
    paired = has_elementary(reduce.body)

    def emit(body: Sequence[NestStmt], instead: Mapping[str, str]) -> list[Stmt]:
        emitted = emit_copies(body, copies, adjacent=False, paired=paired)
        out: list[Stmt] = list(emitted.statements)
        for a in reduce.accumulators:
            values = emitted.values(instead.get(a.value, a.value))
            args = values + _row_position(a, reduce, reduce.inner.name, context)
            out.append(call_state(a, "step", _column_state(a, reduce, context), *args, columns=True))
        return out

    spans = {
        reduce.columns.name: Span(Name(reduce.columns.name), Integer(LANES)),
        reduce.inner.name: Span(Name(reduce.inner.name), Integer(COLUMN_BLOCK)),
    }
    guards = guards_of(reduce.body, context.conditions)
    results = [a.value for a in reduce.accumulators]
    return [*rows, *emit_by_cells(reduce.body, guards, spans, context, emit, results)]


def _row_position(a: Accumulator, reduce: ColumnReduce, row: str, context: Context) -> list[Expr]:
    if a.kind not in POSITIONED:
        return []
    if not reduce.outer:
        return [Name(row)]
    inner = size_expr(reduce.inner.extent, context.names)
    return [Binary("+", Binary("*", Name("row"), inner), Name(row))]


def _column_rows(reduce: ColumnReduce, context: Context) -> Callable[[Expr], list[Stmt]]:
    """One vector of columns, row by row up to a given row: an incomplete block, or partial lanes."""

    def rows(end: Expr) -> list[Stmt]:
        r, v = reduce.inner.name, reduce.columns.name
        row = f"{r}_row"
        inside = _column_context(reduce, context, "", partial=True, row=row)
        body: list[Stmt] = emit_simple(reduce.body, inside)
        number = Cast("int", Binary("-", Name(row), Name(r)))
        for a in reduce.accumulators:
            args = (number, inside.value(a.value), *_row_position(a, reduce, row, context))
            body.append(call_state(a, "tail", _column_state(a, reduce, context), *args, columns=True))
        left = Binary("-", Name("column_end"), Name(v))
        close = [
            call_state(a, "block", _column_state(a, reduce, context), columns=True)
            for a in reduce.accumulators
        ]
        return [
            Declare("const int", f"{v}_lanes", Call("tc_lanes", (left,))),
            For(row, Name(r), less(Name(row), end), 1, tuple(body)),
            *close,
        ]

    return rows


def _column_results(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    v = reduce.columns.name
    count = count_expr(reduce.outer, reduce.inner, context)
    results = [
        emit_result(a, _column_state(a, reduce, context), count, columns=True) for a in reduce.accumulators
    ]
    values = declared(reduce.after)
    context = replace(context, varying=frozenset(a.name for a in reduce.accumulators))
    whole = emit_simple(reduce.after, context.inside(v, Name(v), None, values, ""))
    part = emit_simple(reduce.after, context.inside(v, Name(v), Name(f"{v}_lanes"), values, ""))
    left = Binary("-", Name("column_end"), Name(v))
    lanes = Declare("const int", f"{v}_lanes", Call("tc_lanes", (left,)))
    body = (
        *results,
        If(
            at_most(plus(Name(v), LANES), Name("column_end")),
            tuple(whole),
            (lanes, *part),
        ),
    )
    return [For(v, Name("column_begin"), less(Name(v), Name("column_end")), LANES, body)]
