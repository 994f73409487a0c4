"""Reductions as C loops over the runtime's accumulator states (`runtime/reduce*.h`).

The loops fix the tree (`docs/numerics.md`): blocks of 256 and chunks of 16384 elements of a row, blocks of 8
and chunks of 1024 rows of columns. Threads get whole chunks or whole columns, so their number changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tensorc.codegen.c_ast import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Index,
    Integer,
    Literal,
    Name,
    Stmt,
    Unary,
)
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.loops import (
    LANES,
    at_most,
    decode_axes,
    declared,
    emit_simple,
    less,
    let,
    plus,
    serial_loop,
    thread_loop,
    thread_part,
)
from tensorc.codegen.values import Context
from tensorc.index_algebra import Poly, product
from tensorc.loop_ir.program import Axis
from tensorc.loop_schedule.program import Accumulator, ColumnReduce, RowReduce
from tensorc.loop_schedule.program import Let as NestLet
from tensorc.loop_schedule.program import Stmt as NestStmt

ROW_BLOCK, ROW_STEP, ROW_SPAN = 256, 32, 16384
COLUMN_BLOCK, COLUMN_SPAN, STRIP = 8, 1024, 128
SHIFTED = frozenset({"var", "std"})
POSITIONED = frozenset({"argmax", "argmin"})


def state_type(a: Accumulator, columns: bool = False) -> str:
    """The runtime's struct for an accumulator."""
    return f"tc_{a.kind}_{a.dtype}" + ("_col" if columns else "")


def _call(a: Accumulator, what: str, state: Expr, *args: Expr, columns: bool = False) -> Stmt:
    return Evaluate(Call(f"{state_type(a, columns)}_{what}", (state, *args)))


def state_of(a: Accumulator) -> Name:
    return Name(f"s_{a.name}")


def emit_row_reduce(reduce: RowReduce, context: Context) -> list[Stmt]:
    """A reduction inside one step of the outer loops; its results are declared after it."""
    out: list[Stmt] = [_declare_state(a) for a in reduce.accumulators]
    out.extend(_begin_all(reduce, context))
    out.append(Block(tuple(_row_chunks(reduce, context))))
    out.extend(emit_results(reduce, context))
    return out


def _declare_state(a: Accumulator) -> Stmt:
    return Declare(f"struct {state_type(a)}", state_of(a).id)


def _begin_all(reduce: RowReduce, context: Context) -> list[Stmt]:
    out: list[Stmt] = []
    for a in reduce.accumulators:
        state = Unary("&", state_of(a))
        if a.kind in SHIFTED:
            out.extend(_first_value(a, reduce, context))
            out.append(_call(a, "begin", state, Name(f"first_{a.name}")))
        else:
            out.append(_call(a, "begin", state))
    return out


def _first_value(a: Accumulator, reduce: RowReduce, context: Context) -> list[Stmt]:
    """The value of the first element, from which a variance measures; 0 of an empty space."""
    lets = [s for s in reduce.body if isinstance(s, NestLet)]
    inner = context.inside(reduce.inner.name, Integer(0), Integer(1), declared(reduce.body), "_first")
    start = [let(axis.name, Integer(0)) for axis in reduce.outer]
    name = f"first_{a.name}"
    take = (*start, *emit_simple(lets, inner), Assign(Name(name), inner.value(a.value)))
    count = _count(reduce.outer, reduce.inner, context)
    zero = Call(f"tc_splat_{a.dtype}", (Integer(0),))
    return [Declare(f"tc_{a.dtype}", name, zero), If(less(Integer(0), count), take)]


def _count(outer: Sequence[Axis], inner: Axis, context: Context) -> Expr:
    return size_expr(product(a.extent for a in (*outer, inner)), context.names)


def emit_results(reduce: RowReduce, context: Context) -> list[Stmt]:
    """`const tc_f32 v4 = tc_sum_f32_result(&s_v4, D, 0.0);`"""
    count = _count(reduce.outer, reduce.inner, context)
    return [_result(a, Unary("&", state_of(a)), count, columns=False) for a in reduce.accumulators]


def _result(a: Accumulator, state: Expr, count: Expr, columns: bool) -> Stmt:
    correction = Literal(repr(abs(float(a.correction))))
    signed: Expr = Unary("-", correction) if a.correction < 0 else correction
    call = Call(f"{state_type(a, columns)}_result", (state, count, signed))
    return Declare(f"const tc_{a.result}", a.name, call)


def _row_chunks(reduce: RowReduce, context: Context) -> list[Stmt]:
    """All chunks in order, in one state."""
    inner = size_expr(reduce.inner.extent, context.names)
    close = [_call(a, "chunk", Unary("&", state_of(a))) for a in reduce.accumulators]
    if not reduce.outer:
        return [_chunk_loop(inner, ROW_SPAN, (*_row_blocks(reduce, context, Name("chunk")), *close))]
    sweep = _outer_rows(reduce.outer, _row_blocks(reduce, context, Name("chunk")), context)
    per_group = _chunk_loop(inner, ROW_SPAN, (*sweep, *close))
    return _group_loop(reduce.outer, inner, ROW_SPAN, [per_group], context)


def _chunk_loop(inner: Expr, span: int, body: Sequence[Stmt]) -> Stmt:
    end = let("chunk_end", Call("tc_min", (plus(Name("chunk"), span), inner)))
    return For("chunk", Integer(0), less(Name("chunk"), inner), span, (end, *body))


def _group_loop(
    outer: Sequence[Axis], inner: Expr, span: int, body: Sequence[Stmt], context: Context
) -> list[Stmt]:
    """A loop over groups of `rows` outer positions that make one chunk together."""
    total = size_expr(product(a.extent for a in outer), context.names)
    return [
        let("rows", Call("tc_chunk_rows", (inner, Integer(span)))),
        let("groups", _groups(total)),
        For("group", Integer(0), less(Name("group"), Name("groups")), 1, (*_group_rows(Name("group"), total), *body)),
    ]


def _groups(total: Expr) -> Expr:
    return Binary("/", plus(total, Binary("-", Name("rows"), Integer(1))), Name("rows"))


def _group_rows(group: Expr, total: Expr) -> list[Stmt]:
    begin = Name("row_begin")
    return [
        let("row_begin", Binary("*", group, Name("rows"))),
        let("row_end", Call("tc_min", (plus(begin, Name("rows")), total))),
    ]


def _outer_rows(outer: Sequence[Axis], body: Sequence[Stmt], context: Context) -> list[Stmt]:
    decode = decode_axes("row", outer, context)
    return [For("row", Name("row_begin"), less(Name("row"), Name("row_end")), 1, (*decode, *body))]


def _row_blocks(reduce: RowReduce, context: Context, begin: Expr) -> list[Stmt]:
    """The blocks from `begin` to `chunk_end`: whole steps of four vectors, then single vectors."""
    axis = reduce.inner.name
    at, end = Name(axis), Name("block_end")
    step = For(axis, None, at_most(plus(at, ROW_STEP), end), ROW_STEP, tuple(_row_step(reduce, context)))
    tail = For(axis, None, less(at, end), LANES, tuple(_row_tail(reduce, context)))
    close = [_call(a, "block", Unary("&", state_of(a))) for a in reduce.accumulators]
    body = (
        let("block_end", Call("tc_min", (plus(Name("block"), ROW_BLOCK), Name("chunk_end")))),
        Declare("int64_t", axis, Name("block")),
        step,
        tail,
        *close,
    )
    return [For("block", begin, less(Name("block"), Name("chunk_end")), ROW_BLOCK, body)]


def _row_step(reduce: RowReduce, context: Context) -> list[Stmt]:
    """Four copies of the body, one for each accumulator of the tree."""
    values = declared(reduce.body)
    axis = reduce.inner.name
    out: list[Stmt] = []
    copies: list[Context] = []
    for k in range(4):
        copy = context.inside(axis, plus(Name(axis), LANES * k), None, values, f"_{'abcd'[k]}")
        copies.append(copy)
        out.extend(emit_simple(reduce.body, copy))
    for a in reduce.accumulators:
        args = [c.value(a.value) for c in copies] + _position(a, reduce, Name(axis), context)
        out.append(_call(a, "step", Unary("&", state_of(a)), *args))
    return out


def _row_tail(reduce: RowReduce, context: Context) -> list[Stmt]:
    axis = reduce.inner.name
    at, lanes = Name(axis), Name(f"{axis}_lanes")
    inside = context.inside(axis, at, lanes, declared(reduce.body), "")
    number = Cast("int", Binary("/", Binary("-", at, Name("block")), Integer(LANES)))
    out: list[Stmt] = [Declare("const int", lanes.id, Call("tc_lanes", (Binary("-", Name("block_end"), at),)))]
    out.extend(emit_simple(reduce.body, inside))
    for a in reduce.accumulators:
        args = (number, inside.value(a.value), lanes, *_position(a, reduce, at, context))
        out.append(_call(a, "tail", Unary("&", state_of(a)), *args))
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
    inner = size_expr(reduce.inner.extent, context.names)
    total = size_expr(product(a.extent for a in reduce.outer), context.names)
    begin, end = thread_part(Name("parts_end"), 1)
    blocks = _row_blocks(reduce, context, Name("chunk"))
    sweep = _outer_rows(reduce.outer, blocks, context) if reduce.outer else blocks
    part = Name("part")
    body: list[Stmt] = [
        *_group_rows(Binary("/", part, Name("per_row")), total),
        let("chunk", Binary("*", Binary("%", part, Name("per_row")), Integer(ROW_SPAN))),
        let("chunk_end", Call("tc_min", (plus(Name("chunk"), ROW_SPAN), inner))),
    ]
    for a in reduce.accumulators:
        body.append(_declare_state(a))
        first = (Name(f"first_{a.name}"),) if a.kind in SHIFTED else ()
        body.append(_call(a, "begin", Unary("&", state_of(a)), *first))
    body.extend(sweep)
    for a, name in zip(reduce.accumulators, parts, strict=True):
        body.append(_call(a, "chunk", Unary("&", state_of(a))))
        body.append(Assign(Index(Name(name), part), state_of(a)))
    first_values = [s for a in reduce.accumulators if a.kind in SHIFTED for s in _first_value(a, reduce, context)]
    return [
        *first_values,
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
        let("parts_end", Binary("*", _groups(total), Name("per_row"))),
    ]


def emit_merge(reduce: RowReduce, context: Context, parts: Sequence[str]) -> list[Stmt]:
    """The chunks' states added in order, and the results declared."""
    out: list[Stmt] = [_declare_state(a) for a in reduce.accumulators]
    for a in reduce.accumulators:
        first = (Name(f"first_{a.name}"),) if a.kind in SHIFTED else ()
        out.append(_call(a, "begin", Unary("&", state_of(a)), *first))
    merges = tuple(
        _call(a, "merge", Unary("&", state_of(a)), Unary("&", Index(Name(name), Name("part"))))
        for a, name in zip(reduce.accumulators, parts, strict=True)
    )
    out.append(For("part", Integer(0), less(Name("part"), Name("parts_end")), 1, merges))
    return [*out, *emit_results(reduce, context)]


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
    for a in reduce.accumulators:
        size = Integer(STRIP // LANES)
        out.append(Declare(f"struct {state_type(a, columns=True)}", state_of(a).id, size=size))
    out.append(_each_vector(reduce, _column_begin(reduce, context), lanes=True))
    out.extend(_column_chunks(reduce, context))
    out.extend(_column_results(reduce, context))
    return out


def _column_state(a: Accumulator, reduce: ColumnReduce) -> Expr:
    offset = Binary("-", Name(reduce.columns.name), Name("column_begin"))
    return Unary("&", Index(state_of(a), Binary("/", offset, Integer(LANES))))


def _each_vector(reduce: ColumnReduce, body: Sequence[Stmt], lanes: bool = False) -> Stmt:
    """`for` each vector of columns of the strip, the last one perhaps partial."""
    v = reduce.columns.name
    left = Binary("-", Name("column_end"), Name(v))
    active = [Declare("const int", f"{v}_lanes", Call("tc_lanes", (left,)))] if lanes else []
    return For(v, Name("column_begin"), less(Name(v), Name("column_end")), LANES, (*active, *body))


def _column_begin(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    out: list[Stmt] = []
    for a in reduce.accumulators:
        state = _column_state(a, reduce)
        if a.kind not in SHIFTED:
            out.append(_call(a, "begin", state, columns=True))
            continue
        name = f"first_{a.name}"
        start = [let(axis.name, Integer(0)) for axis in (*reduce.outer, reduce.inner)]
        inside = _column_context(reduce, context, "_first", partial=True)
        lets = [s for s in reduce.body if isinstance(s, NestLet)]
        take = (*start, *emit_simple(lets, inside), Assign(Name(name), inside.value(a.value)))
        count = _count(reduce.outer, reduce.inner, context)
        zero = Call(f"tc_splat_{a.dtype}", (Integer(0),))
        out.extend([Declare(f"tc_{a.dtype}", name, zero), If(less(Integer(0), count), take)])
        out.append(_call(a, "begin", state, Name(name), columns=True))
    return out


def _column_context(
    reduce: ColumnReduce, context: Context, suffix: str, partial: bool, row: str | None = None
) -> Context:
    v = reduce.columns.name
    names = dict(context.names) | ({reduce.inner.name: row} if row is not None else {})
    lanes = Name(f"{v}_lanes") if partial else None
    return replace(context, names=names).inside(v, Name(v), lanes, declared(reduce.body), suffix)


def _column_chunks(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    inner = size_expr(reduce.inner.extent, context.names)
    close = [_call(a, "chunk", _column_state(a, reduce), columns=True) for a in reduce.accumulators]
    closing = _each_vector(reduce, close)
    blocks = _column_blocks(reduce, context)
    if not reduce.outer:
        return [_chunk_loop(inner, COLUMN_SPAN, (*blocks, closing))]
    sweep = _outer_rows(reduce.outer, blocks, context)
    per_group = _chunk_loop(inner, COLUMN_SPAN, (*sweep, closing))
    return [Block(tuple(_group_loop(reduce.outer, inner, COLUMN_SPAN, [per_group], context)))]


def _column_blocks(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    """Blocks of eight rows over the strip, then the rows that are left."""
    r, v = reduce.inner.name, reduce.columns.name
    end = Name("column_end")
    single = _column_rows(reduce, context)
    block: tuple[Stmt, ...] = (
        Declare("int64_t", v, Name("column_begin")),
        For(v, None, at_most(plus(Name(v), LANES), end), LANES, tuple(_column_step(reduce, context))),
        If(less(Name(v), end), tuple(single(plus(Name(r), COLUMN_BLOCK)))),
    )
    rest = For(v, Name("column_begin"), less(Name(v), end), LANES, tuple(single(Name("chunk_end"))))
    return [
        Declare("int64_t", r, Name("chunk")),
        For(r, None, at_most(plus(Name(r), COLUMN_BLOCK), Name("chunk_end")), COLUMN_BLOCK, block),
        If(less(Name(r), Name("chunk_end")), (rest,)),
    ]


def _column_step(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    out: list[Stmt] = []
    copies: list[Context] = []
    for k in range(COLUMN_BLOCK):
        row = f"{reduce.inner.name}_{'abcdefgh'[k]}"
        out.append(let(row, plus(Name(reduce.inner.name), k)))
        copies.append(_column_context(reduce, context, f"_{'abcdefgh'[k]}", partial=False, row=row))
        out.extend(emit_simple(reduce.body, copies[-1]))
    for a in reduce.accumulators:
        args = [c.value(a.value) for c in copies] + _row_position(a, reduce, reduce.inner.name, context)
        out.append(_call(a, "step", _column_state(a, reduce), *args, columns=True))
    return out


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
            body.append(_call(a, "tail", _column_state(a, reduce), *args, columns=True))
        left = Binary("-", Name("column_end"), Name(v))
        close = [_call(a, "block", _column_state(a, reduce), columns=True) for a in reduce.accumulators]
        return [
            Declare("const int", f"{v}_lanes", Call("tc_lanes", (left,))),
            For(row, Name(r), less(Name(row), end), 1, tuple(body)),
            *close,
        ]

    return rows


def _column_results(reduce: ColumnReduce, context: Context) -> list[Stmt]:
    v = reduce.columns.name
    count = _count(reduce.outer, reduce.inner, context)
    results = [_result(a, _column_state(a, reduce), count, columns=True) for a in reduce.accumulators]
    values = declared(reduce.after)
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
