"""Row reductions as C loops: blocks of 256 and chunks of 16384 elements of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensorc.codegen.c_ast import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Declare,
    Expr,
    For,
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
    start_scans,
    thread_part,
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
    group_count,
    group_loop,
    group_rows,
    is_wide,
    outer_rows,
    state_of,
    state_type,
    widened,
)
from tensorc.codegen.unroll import emit_copies, has_elementary
from tensorc.codegen.values import carry_name, scan_type
from tensorc.index_algebra import product
from tensorc.loop_schedule.program import Accumulator, RowReduce, Scan
from tensorc.loop_schedule.program import Let as NestLet
from tensorc.loop_schedule.program import Stmt as NestStmt

ROW_BLOCK, ROW_STEP, ROW_SPAN = 256, 32, 16384


def emit_row_reduce(reduce: RowReduce, context: Context) -> list[Stmt]:
    """A reduction inside one step of the outer loops; its results are declared after it."""
    reduce = widened(reduce)
    out: list[Stmt] = [_declare_state(a) for a in reduce.accumulators]
    out.extend(_begin_all(reduce))
    out.append(Block((*start_scans(reduce.body), *_row_chunks(reduce, context))))
    out.extend(emit_results(reduce, context))
    return out


def _declare_state(a: Accumulator) -> Stmt:
    return Declare(f"struct {state_type(a)}", state_of(a).id)


def _begin_all(reduce: RowReduce) -> list[Stmt]:
    return [call_state(a, "begin", Unary("&", state_of(a))) for a in reduce.accumulators]


def _open_chunk(reduce: RowReduce, context: Context) -> list[Stmt]:
    """Gives the variances the value of the chunk's first element, from which they measure."""
    shifted = [a for a in reduce.accumulators if a.kind in SHIFTED]
    if not shifted:
        return []
    start = first_row(reduce.outer, context)
    inside = context.inside(reduce.inner.name, Name("chunk"), Integer(1), declared(reduce.body), "_first")
    values = [s for s in reduce.body if isinstance(s, NestLet | Scan)]
    carries = [(scan_type(s), carry_name(s)) for s in values if isinstance(s, Scan)]
    # the chunk itself starts from the same carries
    kept = [Declare(f"const struct {kind}", f"{name}_kept", Name(name)) for kind, name in carries]
    back = [Assign(Name(name), Name(f"{name}_kept")) for _, name in carries]
    opened = [call_state(a, "open", Unary("&", state_of(a)), inside.value(a.value)) for a in shifted]
    return [Block((*start, *kept, *emit_simple(values, inside), *opened, *back))]


def _close_chunk(reduce: RowReduce) -> list[Stmt]:
    return [
        call_state(a, "chunk", Unary("&", state_of(a)), *chunk_count(a, reduce.outer))
        for a in reduce.accumulators
    ]


def emit_results(reduce: RowReduce, context: Context) -> list[Stmt]:
    """`const tc_f32 v4 = tc_sum_f32_result(&s_v4, D, 0.0);`"""
    count = count_expr(reduce.outer, reduce.inner, context)
    return [emit_result(a, Unary("&", state_of(a)), count, columns=False) for a in reduce.accumulators]


def _row_chunks(reduce: RowReduce, context: Context) -> list[Stmt]:
    """All chunks in order, in one state."""
    inner = size_expr(reduce.inner.extent, context.names)
    body = _chunk(reduce, context)
    if not reduce.outer:
        return [chunk_loop(inner, ROW_SPAN, body)]
    per_group = chunk_loop(inner, ROW_SPAN, body)
    return group_loop(reduce.outer, inner, ROW_SPAN, [per_group], context)


def _chunk(reduce: RowReduce, context: Context) -> list[Stmt]:
    """One chunk: from `chunk` to `chunk_end` of the rows `row_begin` to `row_end`."""
    blocks = _row_blocks(reduce, context, Name("chunk"))
    sweep = outer_rows(reduce.outer, blocks, context) if reduce.outer else blocks
    return [*_open_chunk(reduce, context), *sweep, *_close_chunk(reduce)]


def _row_blocks(reduce: RowReduce, context: Context, begin: Expr) -> list[Stmt]:
    """The blocks from `begin` to `chunk_end`: whole steps of 32 elements, then single vectors."""
    axis = reduce.inner.name
    at, end = Name(axis), Name("block_end")
    step = For(axis, None, at_most(plus(at, ROW_STEP), end), ROW_STEP, tuple(_row_step(reduce, context)))
    tail = For(axis, None, less(at, end), LANES, tuple(_row_tail(reduce, context)))
    close = [call_state(a, "block", Unary("&", state_of(a))) for a in reduce.accumulators]
    body = (
        let("block_end", Call("tc_min", (plus(Name("block"), ROW_BLOCK), Name("chunk_end")))),
        Declare("int64_t", axis, Name("block")),
        step,
        tail,
        *close,
    )
    return [For("block", begin, less(Name("block"), Name("chunk_end")), ROW_BLOCK, body)]


def _row_step(reduce: RowReduce, context: Context) -> list[Stmt]:
    """As many copies of the body as vectors make a step: together they feed the tree's four accumulators."""
    values = declared(reduce.body)
    axis = reduce.inner.name
    copies: list[Context] = []
    for k in range(ROW_STEP // LANES):
        copy = context.inside(axis, plus(Name(axis), LANES * k), None, values, f"_{'abcd'[k]}")
        copies.append(copy)
    paired = has_elementary(reduce.body)

    def emit(body: Sequence[NestStmt], instead: Mapping[str, str]) -> list[Stmt]:
        emitted = emit_copies(body, copies, adjacent=True, paired=paired)
        out: list[Stmt] = list(emitted.statements)
        for a in reduce.accumulators:
            value = instead.get(a.value, a.value)
            vectors = emitted.wide_values(value) if is_wide(a) else emitted.values(value)
            args = vectors + _position(a, reduce, Name(axis), context)
            out.append(call_state(a, "step", Unary("&", state_of(a)), *args))
        return out

    spans = {axis: Span(Name(axis), Integer(ROW_STEP))}
    guards = guards_of(reduce.body, context.conditions)
    return emit_by_cells(reduce.body, guards, spans, context, emit, [a.value for a in reduce.accumulators])


def _row_tail(reduce: RowReduce, context: Context) -> list[Stmt]:
    axis = reduce.inner.name
    at, lanes = Name(axis), Name(f"{axis}_lanes")
    inside = context.inside(axis, at, lanes, declared(reduce.body), "")
    number = Cast("int", Binary("/", Binary("-", at, Name("block")), Integer(LANES)))
    out: list[Stmt] = [
        Declare("const int", lanes.id, Call("tc_lanes", (Binary("-", Name("block_end"), at),)))
    ]
    out.extend(emit_simple(reduce.body, inside))
    for a in reduce.accumulators:
        args = (number, inside.value(a.value), lanes, *_position(a, reduce, at, context))
        out.append(call_state(a, "tail", Unary("&", state_of(a)), *args))
    return out


def _position(a: Accumulator, reduce: RowReduce, at: Expr, context: Context) -> list[Expr]:
    """The row-major position in the reduced space, for reductions that give one."""
    if a.kind not in POSITIONED:
        return []
    if not reduce.outer:
        return [at]
    inner = size_expr(reduce.inner.extent, context.names)
    return [Binary("+", Binary("*", Name("row"), inner), at)]


def emit_parallel_row_reduce(reduce: RowReduce, context: Context, parts: Sequence[str]) -> list[Stmt]:
    """Each thread's chunks, every chunk's state kept in `parts` (one array for each accumulator)."""
    reduce = widened(reduce)
    inner = size_expr(reduce.inner.extent, context.names)
    total = size_expr(product(a.extent for a in reduce.outer), context.names)
    begin, end = thread_part(Name("parts_end"), 1)
    part = Name("part")
    body: list[Stmt] = [
        *group_rows(Binary("/", part, Name("per_row")), total),
        let("chunk", Binary("*", Binary("%", part, Name("per_row")), Integer(ROW_SPAN))),
        let("chunk_end", Call("tc_min", (plus(Name("chunk"), ROW_SPAN), inner))),
    ]
    body.extend(_declare_state(a) for a in reduce.accumulators)
    body.extend(_begin_all(reduce))
    body.extend(_chunk(reduce, context))
    for a, name in zip(reduce.accumulators, parts, strict=True):
        body.append(Assign(Index(Name(name), part), state_of(a)))
    return [
        *part_counts(reduce, context),
        let("part_end", end),
        For("part", begin, less(part, Name("part_end")), 1, tuple(body)),
    ]


def part_counts(reduce: RowReduce, context: Context) -> list[Stmt]:
    """`parts_end`: the number of chunks of a reduction's space; `rows` and `per_row` on the way."""
    inner = size_expr(reduce.inner.extent, context.names)
    total = size_expr(product(a.extent for a in reduce.outer), context.names)
    return [
        let("rows", Call("tc_chunk_rows", (inner, Integer(ROW_SPAN)))),
        let("per_row", Call("tc_row_chunks", (inner, Integer(ROW_SPAN)))),
        let("parts_end", Binary("*", group_count(total), Name("per_row"))),
    ]


def emit_merge(reduce: RowReduce, context: Context, parts: Sequence[str]) -> list[Stmt]:
    """The chunks' states added in order, and the results declared."""
    reduce = widened(reduce)
    out: list[Stmt] = [_declare_state(a) for a in reduce.accumulators]
    out.extend(_begin_all(reduce))
    merges = tuple(
        call_state(a, "merge", Unary("&", state_of(a)), Unary("&", Index(Name(name), Name("part"))))
        for a, name in zip(reduce.accumulators, parts, strict=True)
    )
    out.append(For("part", Integer(0), less(Name("part"), Name("parts_end")), 1, merges))
    return [*out, *emit_results(reduce, context)]
