"""Scalar operations on constants, in pure Python, with the bits the runtime would compute.

Only operations that IEEE 754 or integer arithmetic fix exactly are here. Elementary functions, `power` and
float `//` and `%` are left to the runtime, so that a folded and an unfolded program cannot differ.

An f32 value is a Python float that binary32 represents. `+ - * /` and `sqrt` on such values, computed in
binary64 and rounded once to binary32, give the correctly rounded result (53 >= 2 * 24 + 2 bits: the
second rounding is innocuous; Figueroa, "When is double rounding innocuous?", 1995).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction

from tensorc.dtypes import DType, computation_type, round_to_float

Number = int | float


def fold_operator(op: str, args: Sequence[Number], operand: DType, result: DType) -> Number | None:
    """The value of `op` on constants of dtype `operand`, as a value of `result`; None if not folded."""
    if op == "where":
        return args[1] if args[0] else args[2]
    if op in ("left_shift", "right_shift"):
        return _shift(op, int(args[0]), int(args[1]), operand)
    table = _FLOAT if operand.is_float else _BOOL if operand.is_bool else _INTEGER
    function = table.get(op) or _ANY.get(op)
    if function is None:
        return None
    # what computes in a wider type is rounded there first; wrapping twice is wrapping once
    wide = computation_type(operand) if result.is_float else result
    return round_to(round_to(function(*args), wide), result)


def fold_cast(value: Number, result: DType) -> Number:
    """`value` cast to `result`: float to integer truncates, saturates, NaN gives 0; NaN is true."""
    if result.is_bool:
        return int(value != 0)
    if result.is_float or isinstance(value, int):
        return round_to(value, result)
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return result.highest if value > 0 else result.lowest
    return max(result.lowest, min(result.highest, math.trunc(value)))


def round_to(value: Number, dtype: DType) -> Number:
    """A result brought into its dtype: integers wrap, floats round to nearest even."""
    if dtype.is_bool:
        return int(bool(value))
    if dtype.is_integer:
        return (int(value) - dtype.lowest) % (1 << (8 * dtype.size)) + dtype.lowest
    if dtype.size == 8:
        return _to_binary64(value)
    if dtype.size == 4:
        return _to_binary32(value)
    if value == 0 or not math.isfinite(value):
        return float(value)
    return round_to_float(Fraction(value), dtype)


def _to_binary64(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:  # an int beyond binary64
        return math.copysign(math.inf, value)


def _to_binary32(value: Number) -> float:
    if isinstance(value, int):
        value = _round_bits(value, 24)
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _round_bits(value: int, bits: int) -> int:
    """`value` to `bits` significant bits, ties to even: going through binary64 would round twice."""
    shift = abs(value).bit_length() - bits
    if shift <= 0:
        return value
    low = abs(value) & ((1 << shift) - 1)
    high = abs(value) >> shift
    half = 1 << (shift - 1)
    high += low > half or (low == half and high & 1 == 1)
    return (high << shift) * (1 if value > 0 else -1)


def _shift(op: str, value: int, count: int, dtype: DType) -> Number:
    inside = 0 <= count < 8 * dtype.size
    if op == "left_shift":
        return round_to(value << count, dtype) if inside else 0
    return value >> count if inside else (-1 if value < 0 else 0)


def _divide(a: float, b: float) -> float:
    if b != 0.0 or math.isnan(a):
        return a / b if b != 0.0 else a
    if a == 0.0:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _sqrt(a: float) -> float:
    return math.nan if a < 0.0 else math.sqrt(a)


def _maximum(a: float, b: float) -> float:
    """NaN propagates; -0 orders below +0."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return a if math.copysign(1.0, a) > 0 else b
    return max(a, b)


def _minimum(a: float, b: float) -> float:
    return -_maximum(-a, -b)


def _integral(rounding: Callable[[float], int]) -> Callable[[float], float]:
    """`rounding` on floats: non-finite values stay, a zero result keeps the operand's sign."""

    def apply(a: float) -> float:
        return math.copysign(float(rounding(a)), a) if math.isfinite(a) else a

    return apply


def _sign(a: float) -> float:
    return a if math.isnan(a) else float((a > 0) - (a < 0))


def _same(a: Number) -> Number:
    return a


_ANY: dict[str, Callable[..., Number]] = {
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
}

_FLOAT: dict[str, Callable[..., Number]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": _divide,
    "negative": lambda a: -a,
    "abs": abs,
    "sign": _sign,
    "square": lambda a: a * a,
    "maximum": _maximum,
    "minimum": _minimum,
    "relu": lambda a: 0.0 if a <= 0.0 else a,
    "sqrt": _sqrt,
    "reciprocal": lambda a: _divide(1.0, a),
    "floor": _integral(math.floor),
    "ceil": _integral(math.ceil),
    "trunc": _integral(math.trunc),
    "round": _integral(round),
    "copysign": math.copysign,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
}

_INTEGER: dict[str, Callable[..., Number]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b if b else 0,
    "remainder": lambda a, b: a % b if b else 0,
    "negative": lambda a: -a,
    "abs": abs,
    "sign": lambda a: (a > 0) - (a < 0),
    "square": lambda a: a * a,
    "maximum": max,
    "minimum": min,
    "relu": lambda a: max(a, 0),
    "floor": _same,
    "ceil": _same,
    "trunc": _same,
    "round": _same,
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
    "bitwise_invert": lambda a: ~a,
}

_BOOL: dict[str, Callable[..., Number]] = {
    "add": lambda a, b: a | b,
    "multiply": lambda a, b: a & b,
    "abs": _same,
    "maximum": lambda a, b: a | b,
    "minimum": lambda a, b: a & b,
    "floor": _same,
    "ceil": _same,
    "trunc": _same,
    "round": _same,
    "logical_and": lambda a, b: a & b,
    "logical_or": lambda a, b: a | b,
    "logical_not": lambda a: 1 - a,
    "bitwise_and": lambda a, b: a & b,
    "bitwise_or": lambda a, b: a | b,
    "bitwise_xor": lambda a, b: a ^ b,
    "bitwise_invert": lambda a: 1 - a,
}
