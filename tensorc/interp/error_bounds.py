"""How far a compiled kernel's value may be from the interpreter's: running error analysis, elementwise.

A bound is 0 where the kernel must give the very value, and infinite where it may give anything: where a
discontinuity (a comparison, `floor`, a cast to int, an index of a maximum) lies within the operands'
bounds, or an overflow may or may not happen. A non-finite value has a bound of 0 or infinity.

Source: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., sections 2.2 and 3.3; the
units per operation are the promises of the language contract, section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorc.dtypes import DType
from tensorc.interp.float_values import round_values
from tensorc.interp.tensor_values import Values, apply_operator, cast_values
from tensorc.operators import FAST, OPERATORS, Typing

Bounds = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

EXACT: Bounds = np.zeros(())


@dataclass(frozen=True, slots=True, eq=False)
class Approx:
    """An array of values and, broadcastable to it, an absolute bound per element."""

    value: Values
    bound: Bounds

    @property
    def exact(self) -> bool:
        return not self.bound.any()


HALF_ULPS = {
    **{op: 1 for op in ("add", "subtract", "multiply", "divide", "sqrt", "square", "reciprocal", "fma")},
    "remainder": 1,
    **{name: 2 for name, row in OPERATORS.items() if row.elementary},
    "power": 2,
    "rsqrt": 3,
    **{name: 4 for name in ("sigmoid", "silu", "gelu", "softplus")},
    **dict.fromkeys(FAST.values(), 8),
}
"""Rounding error of one f32 operation, in halves of a unit in the last place; what is not here is exact."""

REFERENCE_HALF_ULPS = 10
"""What the f64 functions of the C library and of NumPy may be off by, in halves of a unit: glibc states 5
units for erfc, NumPy 4 for its vector functions. Beside an f32 result it is nothing."""

ROUNDED_EXACTLY = frozenset(
    ("add", "subtract", "multiply", "divide", "sqrt", "square", "reciprocal", "remainder")
)
"""Operations whose f64 result, and whose f32 result by way of float64, IEEE 754 fixes to the bit."""


def half_ulps_of(op: str, dtype: DType) -> float:
    """The rounding error of one operation that computes in `dtype`, as `rounding_error` takes it."""
    own = HALF_ULPS.get(op, 0)
    if dtype.size < 8 or not (op == "power" or OPERATORS[op].elementary):
        return own
    return own + REFERENCE_HALF_ULPS / 2  # which doubles it


def rounding_error(value: Values, half_ulps: float, dtype: DType) -> Bounds:
    """`half_ulps` halves of a unit in the last place of `value` in `dtype`, down to subnormals."""
    relative = 2.0**-dtype.precision
    # float64 has no half of its smallest number
    smallest = max(np.ldexp(1.0, dtype.min_exponent - dtype.precision), 2.0**-1074)
    # the interpreter's own float64 rounding: negligible beside f32, as large as the kernel's for f64
    own = 2.0 if dtype.size == 8 else 1.0 + 1e-6
    found = np.maximum(np.abs(value) * relative, smallest) * (half_ulps * own)
    return np.where(np.isfinite(value), found, 0.0)


def representable(value: Values, dtype: DType) -> Mask:
    """Where `value` (float64) is a value of `dtype`."""
    return np.asarray((round_values(value, dtype) == value) | np.isnan(value))


def uncertain(args: Sequence[Approx]) -> Bounds:
    """Infinite where any operand is not exactly known."""
    doubt = np.zeros((), np.bool_)
    for arg in args:
        doubt = doubt | (arg.bound > 0)
    return np.where(doubt, np.inf, 0.0)


def propagated_bound(op: str, args: Sequence[Approx], value: Values) -> Bounds:
    """The error that the operands' errors alone cause in `value`, the result of operator `op`."""
    if all(a.exact for a in args):
        special = _INEXACT_FROM_EXACT.get(op)
        return EXACT if special is None or value.dtype.kind != "f" else special(args, value)
    rule = _RULES.get(op)
    if args[-1].value.dtype.kind != "f" and op not in ("where", "logical_and", "logical_or"):
        return uncertain(args)
    if rule is None:
        return uncertain(args) if len(args) != 1 or _gives_bool(op) else monotone(op, args[0], value)
    found = rule(args, value)
    if op in _TAKES_BRANCHES:
        return np.where(np.isnan(found), np.inf, found)
    unknown = np.zeros((), np.bool_)
    for arg in args:
        unknown = unknown | np.isinf(arg.bound)
    return np.where(unknown | np.isnan(found), np.inf, found)


_TAKES_BRANCHES = frozenset(("where", "logical_and", "logical_or"))


def _gives_bool(op: str) -> bool:
    return OPERATORS[op].typing in (Typing.PREDICATE, Typing.COMPARE, Typing.LOGICAL)


def monotone(op: str, x: Approx, value: Values) -> Bounds:
    """The spread over `x - bound .. x + bound` of a function that is monotone there."""
    return spread(lambda v: apply_operator(op, [v]), x, value)


def spread(function: Callable[[Values], Values], x: Approx, value: Values) -> Bounds:
    """The larger distance of `function` at the two ends from `value`, infinite where it is not defined."""
    low = _distance(function(x.value - x.bound), value)
    high = _distance(function(x.value + x.bound), value)
    return np.where(np.isinf(x.bound), np.inf, np.maximum(low, high))


def _distance(a: Values, b: Values) -> Bounds:
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    gap = np.abs(a.astype(np.float64) - b)
    return np.where(same, 0.0, np.where(np.isnan(gap), np.inf, gap))


def cast_bound(x: Approx, value: Values, source: DType, target: DType) -> Bounds:
    """The error of a cast to `target` that the operand's error causes."""
    if x.exact:
        return EXACT
    if not source.is_float:
        return uncertain([x])
    if target.is_float:
        return x.bound
    if target.is_bool:
        return np.where((np.abs(x.value) > x.bound) | (x.bound == 0) | _known_nan(x), 0.0, np.inf)
    moved = spread(lambda v: cast_values(v, source, target), x, value)
    return np.where(moved > 0, np.inf, 0.0)


def _known_nan(x: Approx) -> Mask:
    return np.asarray(np.isnan(x.value) & np.isfinite(x.bound))


def _sum_of_bounds(args: Sequence[Approx], value: Values) -> Bounds:
    a, b = args
    return _from_finite(a.bound + b.bound, args, value)


def _from_finite(found: Bounds, args: Sequence[Approx], value: Values) -> Bounds:
    """`found`, except where the result is not finite: certain only if an operand was not either."""
    operand_finite = np.ones((), np.bool_)
    doubt = np.zeros((), np.bool_)
    for arg in args:
        operand_finite = operand_finite & np.isfinite(arg.value)
        doubt = doubt | (arg.bound > 0)
    overflow = np.where(operand_finite & doubt, np.inf, 0.0)
    return np.where(np.isfinite(value), found, overflow)


def _product(args: Sequence[Approx], value: Values) -> Bounds:
    a, b = args
    found = np.abs(a.value) * b.bound + np.abs(b.value) * a.bound + a.bound * b.bound
    found = _from_finite(found, args, value)
    # infinity times a number of unknown sign
    doubt = (np.isinf(a.value) & _may_be_zero(b)) | (np.isinf(b.value) & _may_be_zero(a))
    return np.where(doubt, np.inf, found)


def _may_be_zero(x: Approx) -> Mask:
    return np.asarray((np.abs(x.value) <= x.bound) & (x.bound > 0))


def _square(args: Sequence[Approx], value: Values) -> Bounds:
    (x,) = args
    return _from_finite((2.0 * np.abs(x.value) + x.bound) * x.bound, args, value)


def _quotient(args: Sequence[Approx], value: Values) -> Bounds:
    a, b = args
    found = (a.bound + np.abs(value) * b.bound) / (np.abs(b.value) - b.bound)
    finite = np.where(np.isinf(b.value), 0.0, found)
    result = np.where(np.isfinite(value), finite, 0.0)
    # a divisor that may be zero, or a number of unknown sign over zero
    doubt = _may_be_zero(b) | ((b.value == 0) & _may_be_zero(a))
    overflow = ~np.isfinite(value) & np.isfinite(a.value) & (b.value != 0) & ((a.bound > 0) | (b.bound > 0))
    return np.where(doubt | (overflow & ~np.isnan(b.value)), np.inf, result)


def _reciprocal(args: Sequence[Approx], value: Values) -> Bounds:
    return _quotient((Approx(np.ones_like(value), EXACT), args[0]), value)


def _one_sided(args: Sequence[Approx], value: Values) -> Bounds:
    """rsqrt: monotone, but undefined at and below zero."""
    doubt = (args[0].value <= args[0].bound) & (args[0].value >= -args[0].bound) & (args[0].bound > 0)
    return np.where(doubt, np.inf, monotone("rsqrt", args[0], value))


def _passed_on(args: Sequence[Approx], value: Values) -> Bounds:
    """Functions that move by at most as much as their argument."""
    return args[0].bound


def _gate(args: Sequence[Approx], value: Values) -> Bounds:
    """silu and gelu: slopes up to 1.13 in magnitude."""
    return _from_finite(1.13 * args[0].bound, args, value)


def _gelu(args: Sequence[Approx], value: Values) -> Bounds:
    return _gate(args, value) + _subnormal_erfc(args, value)


def _subnormal_erfc(args: Sequence[Approx], value: Values) -> Bounds:
    """The interpreter multiplies x by an erfc that is subnormal below -37.5: a few units of it, times x."""
    return np.where((args[0].value < -37.0) & np.isfinite(value), 2.0**-1067, 0.0)


def _log_of_sum(args: Sequence[Approx], value: Values) -> Bounds:
    """logaddexp moves by at most the larger error, and has one of its own where its terms leave little."""
    moved = np.maximum(args[0].bound, args[1].bound)
    return _from_finite(moved, args, value) + _cancellation(args, value)


def _cancellation(args: Sequence[Approx], value: Values) -> Bounds:
    return np.where(np.abs(value) < 0.25, 2.0**-31, 0.0)


def _sign(args: Sequence[Approx], value: Values) -> Bounds:
    return np.where(_may_be_zero(args[0]), 2.0, 0.0)


def _larger_bound(args: Sequence[Approx], value: Values) -> Bounds:
    """maximum and minimum move by at most the larger error."""
    return np.where(np.isnan(value), 0.0, np.maximum(args[0].bound, args[1].bound))


def _compare(args: Sequence[Approx], value: Values) -> Bounds:
    a, b = args
    error = a.bound + b.bound
    with np.errstate(invalid="ignore"):
        decided = (np.abs(a.value - b.value) > error) | (error == 0)
    decided = decided | _known_nan(a) | _known_nan(b)
    decided = decided | ((np.isinf(a.value) | np.isinf(b.value)) & np.isfinite(error))
    return np.where(decided, 0.0, np.inf)


def _isnan(args: Sequence[Approx], value: Values) -> Bounds:
    return np.where(np.isinf(args[0].bound), np.inf, 0.0)


def _where(args: Sequence[Approx], value: Values) -> Bounds:
    c, a, b = args
    taken = np.where(c.value, a.bound, b.bound)
    other = np.where(c.value, b.bound, a.bound)
    jump = (
        _distance(a.value, b.value)
        if a.value.dtype.kind == "f"
        else np.where(a.value == b.value, 0.0, np.inf)
    )
    either = np.maximum(taken, jump + other)
    return np.where(c.bound > 0, either, taken)


def _logical_and(args: Sequence[Approx], value: Values) -> Bounds:
    a, b = args
    certainly_false = ((a.bound == 0) & ~a.value) | ((b.bound == 0) & ~b.value)
    return np.where(certainly_false, 0.0, uncertain(args))


def _logical_or(args: Sequence[Approx], value: Values) -> Bounds:
    a, b = args
    certainly_true = ((a.bound == 0) & a.value) | ((b.bound == 0) & b.value)
    return np.where(certainly_true, 0.0, uncertain(args))


def _fma(args: Sequence[Approx], value: Values) -> Bounds:
    a, b, c = args
    product = a.value * b.value
    return _from_finite(_product((a, b), product) + c.bound, args, value)


def _copysign(args: Sequence[Approx], value: Values) -> Bounds:
    x, sign = args
    found = np.where(_may_be_zero(sign), 2.0 * np.abs(value) + x.bound, x.bound)
    return np.maximum(found, _nan_sign_doubt(args, value))


def _nan_sign_doubt(args: Sequence[Approx], value: Values) -> Bounds:
    """copysign with a NaN, whose sign no compiler promises."""
    return np.where(np.isnan(args[1].value), 2.0 * np.abs(value), 0.0)


def _power(args: Sequence[Approx], value: Values) -> Bounds:
    """Monotone in each argument for a positive base; for a negative one only whole exact powers are known."""
    x, y = args
    corners = [
        _distance(apply_operator("power", [x.value + s * x.bound, y.value + t * y.bound]), value)
        for s in (-1, 1)
        for t in (-1, 1)
    ]
    found = np.maximum(np.maximum(corners[0], corners[1]), np.maximum(corners[2], corners[3]))
    one_side = (x.value - x.bound > 0) | ((x.value + x.bound < 0) & (y.bound == 0))
    known = one_side | ((x.bound == 0) & (y.bound == 0))
    return np.where(known, found, np.inf)


def _tangent(args: Sequence[Approx], value: Values) -> Bounds:
    """Rising between its poles; a fall shows that one lies within the bound."""
    (x,) = args
    low, high = np.tan(x.value - x.bound), np.tan(x.value + x.bound)
    within = (x.bound < 1.5) & (low <= value) & (value <= high)
    return np.where(within, np.maximum(high - value, value - low), np.inf)


def _angle(args: Sequence[Approx], value: Values) -> Bounds:
    """A disc of radius e at distance r is seen under asin(e / r) <= e / r * pi / 2 to either side.

    Unknown where it holds the origin, or reaches over the negative x axis, where the angle jumps.
    """
    y, x = args
    distance, radius = np.hypot(x.value, y.value), np.hypot(x.bound, y.bound)
    jump = (np.abs(y.value) <= y.bound) & (y.bound > 0) & (x.value - x.bound <= 0)
    seen = np.where(radius == 0, 0.0, radius / distance * (np.pi / 2))
    return np.where(jump | ((radius >= distance) & (radius > 0)), np.inf, seen)


def _floor_divide(args: Sequence[Approx], value: Values) -> Bounds:
    a, b = args
    quotient = a.value / b.value
    error = _quotient(args, quotient)
    moved = spread(np.floor, Approx(quotient, error), np.floor(quotient))
    return np.where(uncertain(args) == 0, 0.0, moved) + _large_quotient_error(args, value)


def _large_quotient_error(args: Sequence[Approx], value: Values) -> Bounds:
    """Subtracting the remainder, dividing and flooring round where the quotient has more than 24 bits."""
    return np.where(np.isfinite(value) & (np.abs(value) >= 2.0**24), np.abs(value) * 2.0**-22, 0.0)


def _remainder(args: Sequence[Approx], value: Values) -> Bounds:
    a, b = args
    quotient = np.floor_divide(a.value, b.value)
    moved = _floor_divide(args, quotient)
    found = a.bound + np.abs(quotient) * b.bound
    return np.where(uncertain(args) == 0, 0.0, np.where(moved > 0, np.inf, found))


Rule = Callable[[Sequence[Approx], Any], Bounds]

_RULES: dict[str, Rule] = {
    "add": _sum_of_bounds,
    "subtract": _sum_of_bounds,
    "multiply": _product,
    "divide": _quotient,
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "power": _power,
    "negative": _passed_on,
    "abs": _passed_on,
    "relu": _passed_on,
    "sign": _sign,
    "square": _square,
    "maximum": _larger_bound,
    "minimum": _larger_bound,
    "rsqrt": _one_sided,
    "reciprocal": _reciprocal,
    "fma": _fma,
    "copysign": _copysign,
    "sin": _passed_on,
    "cos": _passed_on,
    "tan": _tangent,
    "atan2": _angle,
    "hypot": _sum_of_bounds,
    "silu": _gate,
    "gelu": _gelu,
    "logaddexp": _log_of_sum,
    "equal": _compare,
    "not_equal": _compare,
    "less": _compare,
    "less_equal": _compare,
    "greater": _compare,
    "greater_equal": _compare,
    "isnan": _isnan,
    "isinf": _isnan,
    "isfinite": _isnan,
    "where": _where,
    "logical_and": _logical_and,
    "logical_or": _logical_or,
}
_RULES |= {fast: _RULES[strict] for strict, fast in FAST.items() if strict in _RULES}
"""Operators that are neither monotone functions of one operand nor plainly undecided."""

_INEXACT_FROM_EXACT: dict[str, Rule] = {
    "copysign": _nan_sign_doubt,
    "floor_divide": _large_quotient_error,
    "gelu": _subnormal_erfc,
    "logaddexp": _cancellation,
}
"""Float operators with an error of their own that is not a rounding."""
