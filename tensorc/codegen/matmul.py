"""Matrix products as C loops: tiles of 4 rows by 16 columns in registers, sums by blocks of 256 along k.

The tree (`docs/numerics.md`): within a block `acc = fma(a, b, acc)` from 0 in order of k; the blocks' sums
are added in order. It depends on K alone, so neither tiles nor threads change a bit.
"""

from __future__ import annotations

from dataclasses import replace

from tensorc.codegen.c_ast import (
    Assign,
    Binary,
    Block,
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
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.loops import at_most, less, let, plus, thread_loop
from tensorc.codegen.values import LANES, Context, load_expr
from tensorc.dtypes import DType
from tensorc.index_algebra import Poly, Sym, axis, product
from tensorc.loop_ir.program import Axis, Load, MatmulNode
from tensorc.loop_schedule.program import Matmul

ROWS, WIDE, K_BLOCK = 4, 2, 256


def emit_matmul(matmul: Matmul, context: Context) -> list[Stmt]:
    """All batches and row blocks, divided among the threads."""
    node = matmul.node
    own = (*(a.name for a in node.batch), "i", "j", "k")
    names = dict(context.names) | {Sym(a, axis=True): a for a in own}
    context = replace(context, names=names)
    blocks: Poly = (node.m + (ROWS - 1)) // ROWS
    axes = (*node.batch, Axis("row", blocks))
    total = size_expr(product(a.extent for a in axes), context.names)
    rows = size_expr(node.m, context.names)
    begin = Binary("*", Name("row"), Integer(ROWS))
    one_row = For("i", Name("i_begin"), less(Name("i"), rows), 1, tuple(_row_block(matmul, 1, context)))
    body = [
        let("i_begin", begin),
        If(
            at_most(plus(Name("i_begin"), ROWS), rows),
            (let("i", Name("i_begin")), *_row_block(matmul, ROWS, context)),
            (one_row,),
        ),
    ]
    return thread_loop(axes, total, body, context)


def _row_block(matmul: Matmul, rows: int, context: Context) -> list[Stmt]:
    """One block of rows: for every block of k, the columns in wide, then single, vectors."""
    node = matmul.node
    depth, columns = (size_expr(s, context.names) for s in (node.k, node.n))
    wide = _tile(matmul, rows, WIDE, None, context)
    narrow = _tile(matmul, rows, 1, Name("j_lanes"), context)
    step = LANES * WIDE
    body: tuple[Stmt, ...] = (
        let("k_end", Call("tc_min", (plus(Name("k_begin"), K_BLOCK), depth))),
        Declare("int64_t", "j", Integer(0)),
        For("j", None, at_most(plus(Name("j"), step), columns), step, tuple(wide)),
        For(
            "j",
            None,
            less(Name("j"), columns),
            LANES,
            (Declare("const int", "j_lanes", Call("tc_lanes", (Binary("-", columns, Name("j")),))), *narrow),
        ),
    )
    # one round even where K is 0: the result is then 0
    running = Binary("||", Binary("==", Name("k_begin"), Integer(0)), less(Name("k_begin"), depth))
    return [For("k_begin", Integer(0), running, K_BLOCK, body)]


def _tile(matmul: Matmul, rows: int, wide: int, lanes: Expr | None, context: Context) -> list[Stmt]:
    node, dtype = matmul.node, matmul.dtype
    zero = Call(f"tc_splat_{dtype}", (Integer(0),))
    sums = [[f"acc_{u}_{w}" for w in range(wide)] for u in range(rows)]
    out: list[Stmt] = [Declare(f"tc_{dtype}", name, zero) for row in sums for name in row]
    step: list[Stmt] = []
    for w in range(wide):
        inside = replace(context, vector="j", at=plus(Name("j"), LANES * w), lanes=lanes)
        step.append(Declare(f"const tc_{dtype}", f"right_{w}", load_expr(node.right, dtype, inside)))
    for u in range(rows):
        row = Load(node.left.buffer, _shift(node.left.index, "i", u))
        step.append(Declare(f"const tc_{dtype}", f"left_{u}", load_expr(row, dtype, context)))
        for w in range(wide):
            fused = _multiply_add(f"left_{u}", f"right_{w}", sums[u][w], dtype)
            step.append(Assign(Name(sums[u][w]), fused))
    out.append(For("k", Name("k_begin"), less(Name("k"), Name("k_end")), 1, tuple(step)))
    for u in range(rows):
        for w in range(wide):
            out.extend(_add_to_result(node, dtype, u, w, sums[u][w], lanes, context))
    return [Block(tuple(out))]


def _shift(index: Poly, name: str, by: int) -> Poly:
    return index.substitute({Sym(name, axis=True): axis(name) + by})


def _multiply_add(a: str, b: str, acc: str, dtype: DType) -> Expr:
    if dtype.is_float:
        return Call(f"tc_fma_{dtype}", (Name(a), Name(b), Name(acc)))
    if dtype.is_bool:
        return Call("tc_logical_or_bool", (Name(acc), Call("tc_logical_and_bool", (Name(a), Name(b)))))
    return Binary("+", Name(acc), Binary("*", Name(a), Name(b)))


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
    if dtype.is_bool:
        added: Expr = Call("tc_logical_or_bool", (before, Name(acc)))
    else:
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
