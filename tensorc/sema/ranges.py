"""`arange`: of integers and sizes, and of floats with the count and the values of NumPy's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from tensorc.dtypes import BOOL, F32, F64, I64, DType
from tensorc.index_algebra import Poly, as_poly, maximum
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import convert, dtype_argument
from tensorc.sema.numbers import cast_known
from tensorc.sema.promotion import common_type
from tensorc.sema.shapes import integer_argument, require_extent, size_argument
from tensorc.sema.values import POISON, Absent, Arg, Known, Numeric, Size, Tensor, Value, describe, size_of

LARGEST_FRACTION: Final = 2**20
"""Of a number that a count with a symbol may hold: larger ones would be rounding errors."""


Bounds = Mapping[str, Poly | float]


def check_arange(k: Builder, site: Site, args: Mapping[str, Arg]) -> Value:
    """`arange(stop)`, `arange(start, stop, step)`; without dtype a weak integer or float."""
    given = {name: args[name] for name in ("start", "stop", "step") if name in args}
    bounds: dict[str, Poly | float] = {}
    for name, arg in given.items():
        bound = _bound_of(arg.value)
        if bound is None:
            k.error(
                "TC0307",
                f"the {name} of arange must be a number or a size, found {describe(arg.value)}",
                arg.span,
                label="the number of elements must be known from sizes",
                help="write start + arange(n) * step",
            )
            return POISON
        bounds[name] = bound
    dtype = dtype_argument(k, args.get("dtype"))
    if "dtype" in args and dtype is None and not isinstance(args["dtype"].value, Absent):
        return POISON
    if any(isinstance(bound, float) for bound in bounds.values()):
        return _of_floats(k, site, given, bounds, dtype)
    return _of_integers(k, site, given, bounds, dtype)


def _bound_of(value: Value) -> Poly | float | None:
    """A number or size; None for everything else."""
    if isinstance(value, Known) and value.kind == "f":
        return float(value.value)
    return size_of(value)


def _start_and_stop(bounds: Bounds) -> tuple[Poly | float, Poly | float]:
    """The bounds as meant: one alone is `stop`."""
    return (bounds["start"], bounds["stop"]) if "stop" in bounds else (as_poly(0), bounds["start"])


# -- integers ----------------------------------------------------------------------------------------


def _of_integers(
    k: Builder, site: Site, given: Mapping[str, Arg], bounds: Bounds, dtype: DType | None
) -> Value:
    step = integer_argument(k, given["step"], "the step of arange") if "step" in given else 1
    if step == 0:
        _refuse_zero(k, given["step"])
    if not step:
        return POISON
    start, stop = _start_and_stop(bounds)
    assert isinstance(start, Poly) and isinstance(stop, Poly)
    span = stop - start if step > 0 else start - stop
    count = size_argument(k, Size((maximum(span, 0) + (abs(step) - 1)) // abs(step)), site.span)
    return POISON if count is None else _counted(k, site, dtype, count, start, step)


def _refuse_zero(k: Builder, step: Arg) -> None:
    k.error("TC0404", "the step of arange is 0", step.span, label="expected another number")


def _counted(k: Builder, site: Site, dtype: DType | None, count: Poly, start: Poly, step: int) -> Value:
    """`start + step * (0, 1, ..., count - 1)`, wrapped to i64 and then converted."""
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


# -- floats ------------------------------------------------------------------------------------------


def _of_floats(
    k: Builder, site: Site, given: Mapping[str, Arg], bounds: Bounds, dtype: DType | None
) -> Value:
    start, stop = _start_and_stop(bounds)
    step = _number(bounds.get("step", 1.0))
    if step is None:
        integer_argument(k, given["step"], "the step of arange")
        return POISON
    if step == 0:
        _refuse_zero(k, given["step"])
        return POISON
    first, last = _number(start), _number(stop)
    if first is None or last is None:
        count = _symbolic_count(start, stop, step)
        why = f"beside a size, numbers must be fractions of at most {LARGEST_FRACTION}"
    else:
        count = _rounded_count(first, last, step)
        why = "(stop - start) / step is too large, or NaN"
    if count is None:
        message, help = "arange cannot count its elements", "write start + arange(n) * step"
        k.error("TC0410", message, site.span, label=why, help=help)
        return POISON
    require_extent(k, count, site.span)
    common = common_type([a.value for a in given.values() if isinstance(a.value, Known | Size | Tensor)])
    begin = k.size(start, F64, site) if isinstance(start, Poly) else Known(start)
    result = _spaced(k, site, dtype or common.dtype, count, begin, step)
    return replace(result, weak=True) if dtype is None and common.weak else result


def _number(bound: Poly | float | None) -> float | None:
    """The bound as a float; None for one with a symbol. An integer beyond the floats is an infinity."""
    value = bound.constant if isinstance(bound, Poly) else bound
    try:
        return None if value is None else float(value)
    except OverflowError:
        return math.inf


def _rounded_count(start: float, stop: float, step: float) -> Poly | None:
    """ceil((stop - start) / step) in f64, as NumPy has it: rounding may add an element at the end."""
    with np.errstate(all="ignore"):
        quotient = float(np.float64(stop - start) / np.float64(step))
    if not abs(quotient) < 2.0**63:
        return None
    return as_poly(max(math.ceil(quotient), 0))


def _symbolic_count(start: Poly | float, stop: Poly | float, step: float) -> Poly | None:
    """The same exactly; None where the numbers are no small fractions."""
    fractions = [Fraction(n) for n in (start, stop, step) if isinstance(n, float) and math.isfinite(n)]
    if len(fractions) < sum(isinstance(n, float) for n in (start, stop, step)):
        return None
    if any(max(f.denominator, abs(f.numerator)) > LARGEST_FRACTION for f in fractions):
        return None
    unit = math.lcm(*(f.denominator for f in fractions))
    low, high = (n * unit if isinstance(n, Poly) else as_poly(int(Fraction(n) * unit)) for n in (start, stop))
    width = int(Fraction(step) * unit)
    span = high - low if width > 0 else low - high
    return (maximum(span, 0) + (abs(width) - 1)) // abs(width)


def _spaced(k: Builder, site: Site, dtype: DType, count: Poly, start: Known | Tensor, step: float) -> Tensor:
    """`first + i * (second - first)` with the first two elements rounded to `dtype`, and kept.

    The rule of NumPy, which computes f16 in f32 and integers in their own type.
    """
    if isinstance(start, Known):
        next_one: Known | Tensor = Known(float(start.value) + step)
    else:
        next_one = k.elementwise("add", [start, k.constant(Known(step), F64, site)], F64, site)
    wide = _computes_in(dtype)
    first, second = (_rounded(k, site, value, dtype, wide) for value in (start, next_one))
    width = k.elementwise("subtract", [second, first], wide, site)
    shape = (count,)
    steps = k.emit("iota", (), None, I64, shape, site)
    terms = [k.cast(steps, wide, site), k.broadcast(width, shape, site)]
    scaled = k.elementwise("multiply", terms, wide, site)
    result = k.elementwise("add", [scaled, k.broadcast(first, shape, site)], wide, site)
    for position, value in ((1, second), (0, first)):
        here = k.broadcast(k.constant(Known(position), I64, site), shape, site)
        is_here = k.elementwise("equal", [steps, here], BOOL, site)
        result = k.emit("where", [is_here, k.broadcast(value, shape, site), result], None, wide, shape, site)
    converted = convert(k, site, result, dtype)
    assert isinstance(converted, Tensor)
    return converted


def _computes_in(dtype: DType) -> DType:
    if dtype.is_integer:
        return I64
    return F32 if dtype.is_float and dtype != F64 else F64


def _rounded(k: Builder, site: Site, value: Numeric, dtype: DType, wide: DType) -> Tensor:
    """`value`, of f64, as an element of `dtype`, in the type that is computed in."""
    rounded = cast_known(value, dtype) if isinstance(value, Known) else convert(k, site, value, dtype)
    return k.materialize(convert(k, site, rounded, wide), wide, site)
