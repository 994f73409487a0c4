"""Arrays of one number: full, zeros, ones and their `_like` forms."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.dtypes import DType
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import convert, dtype_argument, numeric
from tensorc.sema.promotion import common_type, storage_type
from tensorc.sema.shapes import (
    rank_of,
    shape_argument,
    shape_of,
)
from tensorc.sema.values import POISON, Absent, Arg, Known, Numeric, Tensor, Value, describe
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
