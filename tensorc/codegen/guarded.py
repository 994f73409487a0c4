"""Guards as C: which lanes of a vector they leave, and loads of those lanes only.

A guard whose coefficient along the vector axis is a number holds for an interval of lanes, or for all or none
when that is 0. Together they give `first <= lane < end`, two scalars a vector; others a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from tensorc.codegen.c_ast import Binary, Call, Conditional, Expr, Integer, Name, Unary
from tensorc.codegen.context import LANES, Context, split_index
from tensorc.codegen.expressions import size_expr
from tensorc.dtypes import DType
from tensorc.index_algebra import Poly, Sym
from tensorc.loop_ir.program import Load


def inside_expr(guards: Sequence[Poly], context: Context) -> Expr:
    """The lanes in which all guards hold, as bool lanes."""
    if _is_interval(guards, context):
        return Call("tc_lanes_between", lane_interval(guards, context))
    return _mask(guards, context)


def guarded_load(load: Load, dtype: DType, context: Context) -> Expr:
    """A vector of the lanes in which the load's guards hold."""
    at, stride = split_index(load.index, context)
    array = Name(context.arrays[load.buffer])
    if not _is_interval(load.guards, context):
        step = size_expr(stride, context.names)
        active = context.lanes if context.lanes is not None else Integer(LANES)
        return Call(f"tc_load_where_{dtype}", (array, at, step, _mask(load.guards, context), active))
    between = lane_interval(load.guards, context)
    if not stride.terms:
        return Call(f"tc_load_splat_between_{dtype}", (array, at, *between))
    if stride == 1:
        return Call(f"tc_load_between_{dtype}", (array, at, *between))
    return Call(f"tc_gather_between_{dtype}", (array, at, size_expr(stride, context.names), *between))


def lane_interval(guards: Sequence[Poly], context: Context) -> tuple[Expr, Expr]:
    """First lane where the guards hold, and the one after the last; there is none if they cross."""
    first: list[Expr] = []
    end: list[Expr] = [context.lanes if context.lanes is not None else Integer(LANES)]
    uniform: list[Expr] = []
    for guard in guards:
        at, factor = split_index(guard, context)
        step = factor.constant
        assert step is not None, "the guards leave an interval"
        if step == 0:
            uniform.append(Binary("<=", Integer(0), at))
        elif step > 0:
            first.append(Unary("-", _divided(at, step)))
        else:
            end.append(Binary("+", _divided(at, -step), Integer(1)))
    last = reduce(lambda a, b: Call("tc_min", (a, b)), end)
    if uniform:
        holds = reduce(lambda a, b: Binary("&&", a, b), uniform)
        last = Conditional(holds, last, Integer(0))
    return reduce(lambda a, b: Call("tc_max", (a, b)), first) if first else Integer(0), last


def _divided(at: Expr, step: int) -> Expr:
    return at if step == 1 else Call("tc_floordiv", (at, Integer(step)))


def _is_interval(guards: Sequence[Poly], context: Context) -> bool:
    if context.vector is None:
        return True
    variable = Sym(context.vector, axis=True)
    return all(g.coefficient(variable).constant is not None for g in guards)


def _mask(guards: Sequence[Poly], context: Context) -> Expr:
    """Guard by guard, lane by lane."""
    masks: list[Expr] = []
    for guard in guards:
        at, factor = split_index(guard, context)
        lanes = Call("tc_iota_i64", (at, size_expr(factor, context.names)))
        masks.append(Call("tc_greater_equal_i64", (lanes, Call("tc_splat_i64", (Integer(0),)))))
    return reduce(lambda a, b: Call("tc_logical_and_bool", (a, b)), masks)
