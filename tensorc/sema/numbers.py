"""Numbers known at compile time: rounding to a dtype, what fits, and folding of weak expressions.

Weak integers fold as Python integers, weak floats as binary64. A literal keeps its exact value until
the dtype it adapts to is known, so that it is rounded once. What is not folded here is None: the
operation is then emitted on constants and happens in the program's own arithmetic.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import ROUND_05UP, Context
from fractions import Fraction
from typing import Final

from tensorc.dtypes import BOOL, F64, I64, DType, round_to_float
from tensorc.sema.values import Known

_MAX_LITERAL_EXPONENT = 5000
_MAX_LITERAL_DIGITS = 2000
MAX_BITS: Final = 8192
"""Of an integer on the way: a longer one fits no dtype, could take unbounded time and memory, and is not
printed by Python."""

_WIDEST: Final = 64


class IntegerTooLongError(Exception):
    """An integer of more than `MAX_BITS` bits, which is not computed."""


def parse_float(text: str) -> Known | None:
    """A float literal; None when it is beyond binary64."""
    plain = text.replace("_", "")
    value = float(plain)
    if math.isinf(value):
        return None
    # further digits only tell on which side of a tie the number is, which the last digit kept says too
    number = Context(_MAX_LITERAL_DIGITS, ROUND_05UP).create_decimal(plain)
    small = abs(number.adjusted()) <= _MAX_LITERAL_EXPONENT
    return Known(value, exact=Fraction(number) if small else None)


def _float_of(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf


def fits(number: Known, dtype: DType) -> bool:
    """True when a weak number may adapt to `dtype`: in range, and finite stays finite."""
    value = number.value
    if dtype.is_integer:
        if isinstance(value, float) and not value.is_integer():
            return False
        return dtype.lowest <= int(value) <= dtype.highest
    if dtype == BOOL:
        return isinstance(value, bool)
    if isinstance(value, float) and not math.isfinite(value):
        return True
    return math.isfinite(float_value(number, dtype))


def float_value(number: Known, dtype: DType) -> float:
    """The number rounded once to a float dtype."""
    value = number.value
    if isinstance(value, float) and (not math.isfinite(value) or value == 0.0):
        return value
    exact = number.exact if number.exact is not None else Fraction(value)
    return round_to_float(exact, dtype)


def _float_of_signed(x: Fraction) -> float:
    magnitude = _float_of(abs(x))
    return -magnitude if x < 0 else magnitude


def constant_value(number: Known, dtype: DType) -> int | float:
    """The value of a `constant` op of `dtype` for a number that fits it."""
    return float_value(number, dtype) if dtype.is_float else int(number.value)


def cast_known(number: Known, dtype: DType) -> Known:
    """An explicit cast: integers wrap, floats saturate, NaN gives 0, anything nonzero is true."""
    value = number.value
    if dtype == BOOL:
        return Known(value != 0, dtype)
    if dtype.is_float:
        return Known(float_value(number, dtype), dtype)
    low, high = dtype.lowest, dtype.highest
    if isinstance(value, float):
        if math.isnan(value):
            return Known(0, dtype)
        if math.isinf(value):
            return Known(high if value > 0 else low, dtype)
        return Known(min(max(int(value), low), high), dtype)
    width = high - low + 1
    return Known((int(value) - low) % width + low, dtype)


def default_dtype(number: Known) -> DType:
    """The dtype a number gets when it is stored."""
    if number.dtype is not None:
        return number.dtype
    return {"b": BOOL, "i": I64, "f": F64}[number.kind]


# -- folding ---------------------------------------------------------------------------------------


def fold(op: str, operands: tuple[Known, ...]) -> Known | None:
    """The weak result of an operation on weak numbers, or None when it is left to the program.

    Raises:
        IntegerTooLongError: the result is an integer too long to compute.
    """
    if any(n.dtype is not None for n in operands):
        return None
    values = tuple(n.value for n in operands)
    if op == "negative" and operands[0].kind != "b":
        exact = operands[0].exact
        return Known(-values[0], exact=None if exact is None else -exact)
    if any(isinstance(v, bool) for v in values):
        return _fold_bools(op, values)
    if all(isinstance(v, int) for v in values):
        return _fold_integers(op, tuple(int(v) for v in values))
    try:
        return _fold_floats(op, tuple(float(v) for v in values))
    except OverflowError:
        return None


def fold_typed(op: str, operands: tuple[Known, ...], dtype: DType) -> Known | None:
    """The same on numbers that have the types of the operation: integers wrap, floats round to `dtype`.

    A float operation is computed in f64 first, which is wide enough that the second rounding changes nothing.
    """
    if op == "cast":
        return cast_known(operands[0], dtype)
    values = tuple(n.value for n in operands)
    if any(isinstance(v, bool) for v in values):
        result = _fold_bools(op, values)
    elif all(isinstance(v, int) for v in values):
        result = _fold_wrapping(op, tuple(int(v) for v in values))
    else:
        result = _fold_floats(op, tuple(float(v) for v in values))
    return None if result is None else cast_known(result, dtype)


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


def _fold_bools(op: str, values: tuple[bool | int | float, ...]) -> Known | None:
    if not all(isinstance(v, bool) for v in values):
        return None
    match op, values:
        case "logical_not", (a,):
            return Known(not a)
        case "logical_and", (a, b):
            return Known(bool(a and b))
        case "logical_or", (a, b):
            return Known(bool(a or b))
    return None


def _fold_integers(op: str, values: tuple[int, ...]) -> Known | None:
    if op in _INTEGER:
        return Known(_short(_INTEGER[op](*values)))
    if op in _COMPARE:
        return Known(_COMPARE[op](*values))
    if op == "divide" and values[1]:
        quotient = _float_of_signed(Fraction(values[0], values[1]))
        return Known(quotient) if math.isfinite(quotient) else None
    try:
        return _fold_floats(op, tuple(float(v) for v in values))
    except OverflowError:
        return None


def _fold_wrapping(op: str, values: tuple[int, ...]) -> Known | None:
    """The integer itself, or another that wraps to the same."""
    match op, values:
        case "left_shift", (a, count):
            return Known(_left_shift(a, min(count, _WIDEST)))
        case "power", (base, exponent):
            return Known(pow(base, exponent, 2**_WIDEST)) if exponent >= 0 else None
    return _fold_integers(op, values)


def _short(value: int) -> int:
    if value.bit_length() > MAX_BITS:
        raise IntegerTooLongError
    return value


def _left_shift(a: int, count: int) -> int:
    if a == 0 or count < 0:
        return 0
    if count > MAX_BITS:
        raise IntegerTooLongError
    return a << count


def _right_shift(a: int, count: int) -> int:
    return a >> (count if 0 <= count < a.bit_length() else a.bit_length())


def _power(base: int, exponent: int) -> int:
    """`base ** exponent` for an exponent that is not negative."""
    if abs(base) > 1 and (base.bit_length() - 1) * exponent >= MAX_BITS:
        raise IntegerTooLongError
    result: int = base**exponent
    return result


_INTEGER: dict[str, Callable[..., int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "negative": operator.neg,
    "abs": abs,
    "square": lambda a: a * a,
    "sign": lambda a: (a > 0) - (a < 0),
    "maximum": max,
    "minimum": min,
    "relu": lambda a: max(a, 0),
    "floor": int,
    "ceil": int,
    "trunc": int,
    "round": int,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bitwise_invert": operator.invert,
    "floor_divide": lambda a, b: a // b if b else 0,
    "remainder": lambda a, b: a % b if b else 0,
    "left_shift": _left_shift,
    "right_shift": _right_shift,
    "power": _power,
}


_FLOAT: dict[str, Callable[..., bool | float]] = {
    **_COMPARE,
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": lambda a, b: a / b if b else a * math.copysign(math.inf, b),
    "negative": operator.neg,
    "abs": abs,
    "square": lambda a: a * a,
    "sqrt": lambda a: math.sqrt(a) if a >= 0 else math.nan,
    "reciprocal": lambda a: 1.0 / a if a else math.copysign(math.inf, a),
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
}


def _fold_floats(op: str, values: tuple[float, ...]) -> Known | None:
    return Known(_FLOAT[op](*values)) if op in _FLOAT else None
