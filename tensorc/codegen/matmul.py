"""Matrix products of floats as C loops: tiles of 6 rows by 16 columns in registers, blocks of 256 along k.

A panel of 64 columns of the right operand is copied, tile by tile, into the order the tiles read it:
contiguous, whatever the operand's strides.

The tree (`docs/numerics.md`): within a block `acc = fma(a, b, acc)` from 0 in order of k; the blocks' sums
are added in order. It depends on K alone, so neither tiles nor threads change a bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tensorc.codegen.c_ast import (
    Assign,
    Binary,
    Call,
    Conditional,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Integer,
    Name,
    Stmt,
)
from tensorc.codegen.context import LANES, Context
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.loops import at_most, decode_axes, less, let, plus, thread_part
from tensorc.codegen.values import load_expr
from tensorc.dtypes import DType
from tensorc.index_algebra import Poly, Sym, axis, product
from tensorc.loop_ir.program import Load, MatmulNode
from tensorc.loop_schedule.program import Matmul

ROWS, WIDE, K_BLOCK = 6, 2, 256
TILE = LANES * WIDE
PANEL = 64
FEW_ROWS = 4
"""Rows of a thread from which on copying a panel of the right operand pays."""


def emit_matmul(matmul: Matmul, context: Context) -> list[Stmt]:
    """The rows of all batches, divided among the threads; for each block of k, panels of columns."""
    node = matmul.node
    own = (*(a.name for a in node.batch), "i", "j", "k")
    context = replace(context, names=dict(context.names) | {Sym(a, axis=True): a for a in own})
    rows, depth, columns = (size_expr(s, context.names) for s in (node.m, node.k, node.n))
    total = size_expr(product(a.extent for a in node.batch) * node.m, context.names)
    begin, end = thread_part(total, ROWS)
    first = Binary("*", Name("batch"), rows)
    panels = For("j_begin", Integer(0), less(Name("j_begin"), columns), PANEL, tuple(_panel(matmul, context)))
    k_end = let("k_end", Call("tc_min", (plus(Name("k_begin"), K_BLOCK), depth)))
    # one round even where K is 0: the result is then 0
    running = Binary("||", Binary("==", Name("k_begin"), Integer(0)), less(Name("k_begin"), depth))
    body = (
        let("i_begin", Call("tc_max", (Binary("-", Name("rows_begin"), first), Integer(0)))),
        let("i_end", Call("tc_min", (Binary("-", Name("rows_end"), first), rows))),
        *decode_axes("batch", node.batch, context),
        For("k_begin", Integer(0), running, K_BLOCK, (k_end, panels)),
    )
    return [
        let("rows_begin", begin),
        let("rows_end", end),
        Declare(matmul.dtype.c, "panel", size=Integer(PANEL * K_BLOCK)),
        For("batch", Call("tc_floordiv", (Name("rows_begin"), rows)), less(first, Name("rows_end")), 1, body),
    ]


def _panel(matmul: Matmul, context: Context) -> list[Stmt]:
    """One block of k and at most 64 columns: copied in the order the tiles read it, unless rows are few."""
    columns = size_expr(matmul.node.n, context.names)
    many = (
        _each_tile(_pack_tile(matmul, context)),
        Declare("int64_t", "i", Name("i_begin")),
        For(
            "i",
            None,
            at_most(plus(Name("i"), ROWS), Name("i_end")),
            ROWS,
            (_tiles(matmul, ROWS, True, context),),
        ),
        For("i", None, less(Name("i"), Name("i_end")), 1, (_tiles(matmul, 1, True, context),)),
    )
    few = For("i", Name("i_begin"), less(Name("i"), Name("i_end")), 1, (_tiles(matmul, 1, False, context),))
    count = Binary("-", Name("i_end"), Name("i_begin"))
    return [
        let("j_end", Call("tc_min", (plus(Name("j_begin"), PANEL), columns))),
        If(less(Integer(FEW_ROWS), count), many, (few,)),
    ]


def _each_tile(body: Sequence[Stmt]) -> Stmt:
    return For("j", Name("j_begin"), less(Name("j"), Name("j_end")), TILE, tuple(body))


def _packed(w: int) -> Expr:
    """The address of vector `w` of the row `k` of the tile at `j`."""
    tile = Binary("*", Binary("-", Name("j"), Name("j_begin")), Integer(K_BLOCK))
    row = Binary("*", Binary("-", Name("k"), Name("k_begin")), Integer(TILE))
    return plus(Binary("+", Binary("+", Name("panel"), tile), row), LANES * w)


def _lanes(w: int) -> Stmt:
    """`lanes_0`, `lanes_1`: the columns in the vectors of a tile; 0 or less where it ends before."""
    left = Binary("-", Name("j_end"), plus(Name("j"), LANES * w))
    return Declare("const int", f"lanes_{w}", Call("tc_lanes", (left,)))


def _right(matmul: Matmul, w: int, context: Context) -> Expr:
    inside = replace(context, vector="j", at=plus(Name("j"), LANES * w), lanes=Name(f"lanes_{w}"))
    return load_expr(matmul.node.right, matmul.dtype, inside)


def _pack_tile(matmul: Matmul, context: Context) -> list[Stmt]:
    stores = tuple(
        Evaluate(Call(f"tc_store_{matmul.dtype}", (_packed(w), _right(matmul, w, context))))
        for w in range(WIDE)
    )
    copy = For("k", Name("k_begin"), less(Name("k"), Name("k_end")), 1, stores)
    return [*(_lanes(w) for w in range(WIDE)), copy]


def _tiles(matmul: Matmul, rows: int, packed: bool, context: Context) -> Stmt:
    """The tiles of a panel for `rows` rows from `i` on."""
    node, dtype = matmul.node, matmul.dtype
    zero = Call(f"tc_splat_{dtype}", (Integer(0),))
    sums = [[f"acc_{u}_{w}" for w in range(WIDE)] for u in range(rows)]
    out: list[Stmt] = [_lanes(w) for w in range(WIDE)]
    out += [Declare(f"tc_{dtype}", name, zero) for row in sums for name in row]
    step: list[Stmt] = []
    for w in range(WIDE):
        value = Call(f"tc_load_{dtype}", (_packed(w),)) if packed else _right(matmul, w, context)
        step.append(Declare(f"const tc_{dtype}", f"right_{w}", value))
    for u in range(rows):
        row = Load(node.left.buffer, _shift(node.left.index, "i", u))
        step.append(Declare(f"const tc_{dtype}", f"left_{u}", load_expr(row, dtype, context)))
        for w in range(WIDE):
            fused = Call(f"tc_fma_{dtype}", (Name(f"left_{u}"), Name(f"right_{w}"), Name(sums[u][w])))
            step.append(Assign(Name(sums[u][w]), fused))
    out.append(For("k", Name("k_begin"), less(Name("k"), Name("k_end")), 1, tuple(step)))
    whole = at_most(plus(Name("j"), TILE), Name("j_end"))
    out.append(If(whole, _add_tile(matmul, sums, False, context), _add_tile(matmul, sums, True, context)))
    return _each_tile(out)


def _add_tile(matmul: Matmul, sums: list[list[str]], part: bool, context: Context) -> tuple[Stmt, ...]:
    out: list[Stmt] = []
    for u, row in enumerate(sums):
        for w, acc in enumerate(row):
            lanes = Name(f"lanes_{w}") if part else None
            out.extend(_add_to_result(matmul.node, matmul.dtype, u, w, acc, lanes, context))
    return tuple(out)


def _shift(index: Poly, name: str, by: int) -> Poly:
    return index.substitute({Sym(name, axis=True): axis(name) + by})


def _add_to_result(
    node: MatmulNode, dtype: DType, u: int, w: int, acc: str, lanes: Expr | None, context: Context
) -> list[Stmt]:
    """The first block of k stores its sum, later ones add theirs."""
    row: Poly = axis("i") + u
    offset = _result_index(node, row)
    at = plus(Name("j"), LANES * w)
    address = Binary(
        "+", Binary("+", Name(context.arrays[node.buffer]), size_expr(offset, context.names)), at
    )
    part = "_part" if lanes is not None else ""
    extra = (lanes,) if lanes is not None else ()
    before = Call(f"tc_load{part}_{dtype}", (address, *extra))
    name = f"sum_{u}_{w}"
    added = Binary("+", before, Name(acc))
    first = Binary("==", Name("k_begin"), Integer(0))
    return [
        Declare(f"const tc_{dtype}", name, Conditional(first, Name(acc), added)),
        Evaluate(Call(f"tc_store{part}_{dtype}", (address, Name(name), *extra))),
    ]


def _result_index(node: MatmulNode, row: Poly) -> Poly:
    total = row * node.n
    stride = node.m * node.n
    for a in reversed(node.batch):
        total = total + axis(a.name) * stride
        stride = stride * a.extent
    return total
