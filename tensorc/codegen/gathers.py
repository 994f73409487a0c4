"""Gathers: loads at places that are values, in the form that the vector axis allows.

Where no place varies along the vector axis a gather is a load from a row that is found once: neighbours,
elements a stride apart, or one element. Otherwise every lane has an address of its own. In each form what
a negative place belongs to is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tensorc.codegen import c_ast
from tensorc.codegen.c_ast import Binary, Call, Cast, Expr, Integer, Name, Unary
from tensorc.codegen.context import Context, split_index
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.values import declare_value
from tensorc.index_algebra import Poly
from tensorc.loop_ir.guards import index_polys
from tensorc.loop_ir.program import Gather, Place
from tensorc.loop_schedule.program import Let, Scan, Stmt


def with_varying(context: Context, body: Sequence[Stmt]) -> Context:
    """The context that knows which values of a loop body differ between the lanes of its vector axis."""
    if not any(isinstance(s, Let) and isinstance(s.attrs, Gather) for s in body):
        return context
    varying = set(context.varying)
    for s in body:
        if isinstance(s, Scan):
            varying.add(s.name)
        if isinstance(s, Let) and (_holds_axis(s, context.vector) or not varying.isdisjoint(s.args)):
            varying.add(s.name)
    return replace(context, varying=frozenset(varying))


def _holds_axis(let: Let, axis: str | None) -> bool:
    return any(axis in p.axes() for p in index_polys(let.attrs))


def emit_gather(let: Let, context: Context) -> c_ast.Stmt:
    """A `Place` or a `Gather` as a declaration."""
    if isinstance(let.attrs, Place):
        return declare_value(let, _place(let, let.attrs, context), context)
    assert isinstance(let.attrs, Gather)
    return declare_value(let, _gather(let, let.attrs, context), context)


def _place(let: Let, place: Place, context: Context) -> Expr:
    """`tc_place_wrapped_i64(v3, N)`, -1 where the index does not count"""
    index, *inside = (context.value(a) for a in let.args)
    name = "tc_place_wrapped_i64" if place.wraps else "tc_place_i64"
    found = Call(name, (index, size_expr(place.extent, context.names)))
    outside = Call("tc_splat_i64", (Unary("-", Integer(1)),))
    return Call("tc_where_i64", (inside[0], found, outside)) if inside else found


def _gather(let: Let, gather: Gather, context: Context) -> Expr:
    """`tc_gather_lanes_f32(x, at, place)` or one of the row forms; `_part` where not all lanes are active."""
    places = [context.value(a) for a in let.args]
    offset, step = split_index(gather.offset, context)
    base = Name(context.arrays[gather.buffer])
    lanes = () if context.lanes is None else (context.lanes,)
    part = "_part" if lanes else ""
    if any(a in context.varying for a in let.args):
        at = _lane_offsets(offset, step, places, gather.strides, context)
        return Call(f"tc_gather_lanes{part}_{let.dtype}", (base, at, _any_negative(places), *lanes))
    row = [Call("tc_first_i64", (p,)) for p in places]
    at = _row_offset(offset, row, gather.strides, context)
    worst: Expr = row[0]
    for other in row[1:]:
        worst = Binary("|", worst, other)
    if not step.terms:
        return Call(f"tc_gather_one_{let.dtype}", (base, at, worst))
    if step == 1:
        return Call(f"tc_gather_row{part}_{let.dtype}", (base, at, worst, *lanes))
    stride = size_expr(step, context.names)
    return Call(f"tc_gather_step{part}_{let.dtype}", (base, at, worst, stride, *lanes))


def _lane_offsets(
    offset: Expr, step: Poly, places: Sequence[Expr], strides: Sequence[Poly], context: Context
) -> Expr:
    """The offset of each lane's element."""
    total: Expr | None = None
    if step.terms:
        total = Call("tc_iota_i64", (offset, size_expr(step, context.names)))
    elif offset != Integer(0):
        total = Call("tc_splat_i64", (Cast("int64_t", offset),))
    for place, stride in zip(places, strides, strict=True):
        scale = Call("tc_splat_i64", (Cast("int64_t", size_expr(stride, context.names)),))
        term = place if stride == 1 else Binary("*", place, scale)
        total = term if total is None else Binary("+", total, term)
    assert total is not None, "a gather has a place"
    return total


def _row_offset(offset: Expr, places: Sequence[Expr], strides: Sequence[Poly], context: Context) -> Expr:
    """The offset of the first lane's element."""
    total: Expr = Cast("int64_t", offset)
    for place, stride in zip(places, strides, strict=True):
        term: Expr = place if stride == 1 else Binary("*", place, size_expr(stride, context.names))
        total = Binary("+", total, term)
    return total


def _any_negative(places: Sequence[Expr]) -> Expr:
    """Negative in the lanes where any place is."""
    worst = places[0]
    for other in places[1:]:
        worst = Call("tc_bitwise_or_i64", (worst, other))
    return worst
