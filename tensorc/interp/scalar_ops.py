"""Every scalar operation and cast on NumPy arrays, with the bits of the runtime's lanes.

Operands and results are arrays of the operation's own dtype; NaN results agree as NaN. Elementary functions,
float powers and f64 fma come from the runtime itself, through an `ElementaryLibrary`. The semantics are the
operator table's: integers wrap, division floors, by zero gives 0; NaN wins in extremes, -0 orders below +0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorc.dtypes import DType
from tensorc.interp.elementary_library import ElementaryLibrary
from tensorc.interp.float_values import round_integers, round_values, truncate_to_integer
from tensorc.operators import OPERATORS

__all__ = ["ElementaryLibrary", "apply_cast", "apply_operator"]

Array = NDArray[Any]
Function = Callable[..., Any]


def apply_operator(op: str, args: Sequence[Array], dtype: DType, elementary: ElementaryLibrary) -> Array:
    """`op` computed in `dtype`, the dtype of its (last) operand.

    Raises ValueError for an integer to a negative power.
    """
    if (
        OPERATORS[op].elementary
        or (dtype.is_float and op == "power")
        or (dtype.name == "f64" and op == "fma")
    ):
        return elementary.apply(op, args, dtype)
    table = {"f": _FLOAT, "i": _INTEGER, "b": _BOOL}[dtype.domain]
    with np.errstate(all="ignore"):
        return np.asarray((table.get(op) or _COMMON[op])(*args))


def apply_cast(x: Array, source: DType, target: DType) -> Array:
    """Truncating and saturating to integers with NaN to 0, rounding to floats, `!= 0` to bool.

    Of arrays in the types' carriers: bf16 as float32.
    """
    if target.is_bool:
        return np.asarray(x != 0)
    if source.is_float and target.is_integer:
        return truncate_to_integer(x, target)
    if target.is_integer:
        return x.astype(target.numpy)
    rounded = round_values(x.astype(np.float64), target) if source.is_float else round_integers(x, target)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(rounded.astype(target.carrier))


def _maximum(a: Array, b: Array) -> Array:
    both_zero = (a == 0) & (b == 0)
    # of two zeros, + gives -0 only when both are
    return np.where(both_zero, a + b, np.maximum(a, b))


def _minimum(a: Array, b: Array) -> Array:
    return np.negative(_maximum(np.negative(a), np.negative(b)))


def _float_divmod(a: Array, b: Array) -> tuple[Array, Array]:
    """Python's rules on top of the exact C remainder; the divisor is not zero."""
    zero, half, one = a.dtype.type(0), a.dtype.type(0.5), a.dtype.type(1)
    rest = np.fmod(a, b)
    quotient = (a - rest) / b
    wrong_side = (rest != 0) & ((b < 0) != (rest < 0))
    quotient = np.where(wrong_side, quotient - one, quotient)
    whole = np.floor(quotient)
    whole = np.where(quotient - whole > half, whole + one, whole)
    whole = np.where(quotient == 0, np.copysign(zero, a / b), whole)
    remainder = np.where(wrong_side, rest + b, rest)
    return whole, np.where(rest == 0, np.copysign(zero, b), remainder)


def _float_floor_divide(a: Array, b: Array) -> Array:
    return np.where(b == 0, a / b, _float_divmod(a, b)[0])


def _float_remainder(a: Array, b: Array) -> Array:
    return np.where(b == 0, np.fmod(a, b), _float_divmod(a, b)[1])


def _f32_fma(a: Array, b: Array, c: Array) -> Array:
    """One rounding: the f64 sum of the exact product and c is made odd where it is inexact.

    Source: S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums" (2008).
    """
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    even = (total.view(np.int64) & 1) == 0
    inexact = np.isfinite(total) & (error != 0) & even
    away = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.asarray(total.view(np.int64) + np.where(inexact, away, 0)).view(np.float64)
    return odd.astype(np.float32)


def _integer_floor_divide(a: Array, b: Array) -> Array:
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = np.floor_divide(a, safe)
    if b.dtype.kind == "i":
        quotient = np.where(b == -1, np.negative(a), quotient)
    return np.where(b == 0, b.dtype.type(0), quotient)


def _integer_remainder(a: Array, b: Array) -> Array:
    rest: Array = a - _integer_floor_divide(a, b) * b
    return np.where(b == 0, b.dtype.type(0), rest)


def _integer_power(a: Array, b: Array) -> Array:
    if np.any(b < 0):
        raise ValueError("an integer to a negative power")
    base, exponent = np.broadcast_arrays(a, b)
    square, left, result = base.copy(), exponent.copy(), np.ones_like(base)
    while left.any():
        result = np.where(left & 1, result * square, result)
        square = square * square
        left = left >> 1
    return result


def _left_shift(a: Array, count: Array) -> Array:
    inside = (count >= 0) & (count < a.dtype.itemsize * 8)
    return np.where(inside, np.left_shift(a, np.where(inside, count, 0)), a.dtype.type(0)).astype(a.dtype)


def _right_shift(a: Array, count: Array) -> Array:
    last = a.dtype.itemsize * 8 - 1
    inside = (count >= 0) & (count <= last)
    shifted = np.right_shift(a, np.where(inside, count, last).astype(a.dtype))
    return np.asarray(shifted) if a.dtype.kind == "i" else np.where(inside, shifted, a.dtype.type(0))


def _same(x: Array) -> Array:
    return x.copy()


_COMMON: Mapping[str, Function] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "negative": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "square": np.square,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "where": np.where,
}

_FLOAT: Mapping[str, Function] = {
    "divide": np.divide,
    "floor_divide": _float_floor_divide,
    "remainder": _float_remainder,
    "maximum": _maximum,
    "minimum": _minimum,
    "relu": lambda x: _maximum(x, np.zeros_like(x)),
    "sqrt": np.sqrt,
    "rsqrt": lambda x: x.dtype.type(1) / np.sqrt(x),
    "reciprocal": lambda x: x.dtype.type(1) / x,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "fma": _f32_fma,
    "copysign": np.copysign,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}

_WHOLE: Mapping[str, Function] = {
    "maximum": np.maximum,
    "minimum": np.minimum,
    **dict.fromkeys(("floor", "ceil", "trunc", "round"), _same),
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_invert": np.invert,
}

_INTEGER: Mapping[str, Function] = {
    **_WHOLE,
    "relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "floor_divide": _integer_floor_divide,
    "remainder": _integer_remainder,
    "power": _integer_power,
    "left_shift": _left_shift,
    "right_shift": _right_shift,
}

_BOOL: Mapping[str, Function] = {
    **_WHOLE,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_not": np.logical_not,
}
