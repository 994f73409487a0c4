"""Arrays from sizes and numbers: arange, full, zeros, ones and their `_like` forms."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.dtypes import I64, DType
from tensorc.index_algebra import Poly, as_poly, maximum
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import convert, dtype_argument, numeric
from tensorc.sema.promotion import common_type, storage_type
from tensorc.sema.shapes import (
    integer_argument,
    rank_of,
    require_extent,
    shape_argument,
    shape_of,
    size_argument,
)
from tensorc.sema.values import POISON, Absent, Arg, Known, Numeric, Tensor, Value, describe, size_of
from tensorc.tensor_ir.program import Shape

Args = Mapping[str, Arg]


def check_full(k: Builder, site: Site, args: Args) -> Value:
    """`full(shape, value, dtype=)`: without dtype a number stays weak."""
    shape = shape_argument(k, args["shape"])
    return POISON if shape is None else _fill(k, site, args, shape, args["fill_value"], None)


def check_zeros(k: Builder, site: Site, args: Args) -> Value:
    return _constant_array(k, site, args, 0.0)


def check_ones(k: Builder, site: Site, args: Args) -> Value:
    return _constant_array(k, site, args, 1.0)


def _constant_array(k: Builder, site: Site, args: Args, number: float) -> Value:
    shape = shape_argument(k, args["shape"])
    return POISON if shape is None else _fill(k, site, args, shape, Arg(Known(number), site.span), None)


def check_full_like(k: Builder, site: Site, args: Args) -> Value:
    return _like(k, site, args, args["fill_value"])


def check_zeros_like(k: Builder, site: Site, args: Args) -> Value:
    return _like(k, site, args, Arg(Known(0), site.span))


def check_ones_like(k: Builder, site: Site, args: Args) -> Value:
    return _like(k, site, args, Arg(Known(1), site.span))


def _like(k: Builder, site: Site, args: Args, fill: Arg) -> Value:
    model = numeric(k, args["x"], site)
    if model is None:
        return POISON
    return _fill(k, site, args, shape_of(model), fill, storage_type(model))


def _fill(k: Builder, site: Site, args: Args, shape: Shape, fill: Arg, like: DType | None) -> Value:
    value = numeric(k, fill, site)
    given = args.get("dtype")
    dtype = dtype_argument(k, given) or like
    if value is None or (given is not None and not isinstance(given.value, Absent) and dtype is None):
        return POISON
    if rank_of(value):
        k.error(
            "TC0405",
            f"{site.origin} takes one number, found {describe(value)}",
            fill.span,
            label="expected rank 0",
        )
        return POISON
    return k.broadcast(_scalar(k, Site(fill.span, site.origin), value, dtype), shape, site)


def _scalar(k: Builder, site: Site, value: Numeric, dtype: DType | None) -> Tensor:
    """The fill value: weak without a dtype; a literal must fit the dtype, a tensor is converted."""
    if dtype is None:
        common = common_type([value])
        return k.materialize(value, common.dtype, site, common.weak)
    if isinstance(value, Known) and value.dtype is None:
        if value.kind == "b":
            value = Known(int(value.value)) if dtype.is_integer or dtype.is_float else value
        elif dtype.is_bool:
            value = Known(value.value != 0)
        return k.constant(value, dtype, site)
    converted = convert(k, site, value, dtype)
    return k.materialize(converted, dtype, site)


def check_arange(k: Builder, site: Site, args: Args) -> Value:
    """`arange(stop)` or `arange(start, stop, step)` of integers; a weak integer without dtype."""
    given = [args[name] for name in ("start", "stop", "step") if name in args]
    if any(size_of(a.value) is None for a in given):
        wrong = next(a for a in given if size_of(a.value) is None)
        k.error(
            "TC0503",
            f"arange of {describe(wrong.value)} is not supported yet: its bounds must be sizes",
            wrong.span,
            label="expected an integer expression of dims",
            help="write start + arange(n) * step",
        )
        return POISON
    if "stop" not in args:
        count = size_argument(k, args["start"].value, args["start"].span)
        return POISON if count is None else _ranged(k, site, args, count, as_poly(0), 1)
    step = integer_argument(k, args["step"], "the step of arange") if "step" in args else 1
    if step == 0:
        k.error("TC0404", "the step of arange is 0", args["step"].span, label="expected another number")
    if not step:
        return POISON
    start, stop = size_of(args["start"].value), size_of(args["stop"].value)
    assert start is not None and stop is not None
    span = stop - start if step > 0 else start - stop
    count = (maximum(span, 0) + (abs(step) - 1)) // abs(step)
    require_extent(k, count, site.span)
    return _ranged(k, site, args, count, start, step)


def _ranged(k: Builder, site: Site, args: Args, count: Poly, start: Poly, step: int) -> Value:
    """`start + step * (0, 1, ..., count - 1)`, wrapped to i64 and then converted."""
    given = args.get("dtype")
    dtype = dtype_argument(k, given)
    if given is not None and dtype is None and not isinstance(given.value, Absent):
        return POISON
    result = k.emit("iota", (), None, I64, (count,), site)
    if step != 1:
        factor = k.broadcast(k.constant(Known(step), I64, site), (count,), site)
        result = k.elementwise("multiply", [result, factor], I64, site)
    if start != 0:
        offset = k.broadcast(k.size(start, I64, site), (count,), site)
        result = k.elementwise("add", [result, offset], I64, site)
    if dtype is None:
        return Tensor(result.id, I64, result.shape, weak=True)
    return convert(k, site, result, dtype)
