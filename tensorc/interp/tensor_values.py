"""The values of tensor operations in plain NumPy: one function per operator, floats in float64.

Integers and bools keep their dtype and follow the language contract, section 6. A float operand is
float64, whatever its dtype in the program.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorc.dtypes import DType
from tensorc.interp.float_values import round_integers, truncate_to_integer
from tensorc.operators import FAST

Values = npt.NDArray[Any]

SQRT_HALF, SQRT_HALF_REST = 0.7071067811865476, -4.833646656726457e-17
"""sqrt(1 / 2) in two words."""

_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def apply_operator(op: str, args: list[Values]) -> Values:
    """`op` on arrays of equal shape.

    Raises:
        ValueError: an integer to a negative power.
    """
    kind = args[-1].dtype.kind
    table = {"f": _FLOAT, "i": _INTEGER, "u": _INTEGER, "b": _BOOL}[kind]
    return np.asarray((table.get(op) or _COMMON[op])(*args))


def cast_values(x: Values, source: DType, target: DType) -> Values:
    """`x` cast to `target`; a float to a float is not rounded, an integer is (it has no float64 form)."""
    if target.is_bool:
        return np.not_equal(x, 0)
    if target.is_float:
        return x if source.is_float else round_integers(x, target)
    return truncate_to_integer(x, target) if source.is_float else x.astype(target.numpy)


def _maximum(a: Values, b: Values) -> Values:
    # of two zeros, + gives -0 only when both are
    return np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))


def _minimum(a: Values, b: Values) -> Values:
    return -_maximum(-a, -b)


def _sigmoid(x: Values) -> Values:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def _silu(x: Values) -> Values:
    """In halves below 0: the whole power is subnormal where its product with x still has digits."""
    half = np.exp(-0.5 * np.abs(x))
    found = np.where(x >= 0, x, x * half * half) / (1.0 + half * half)
    return np.where(x == -np.inf, -0.0, found)


def _gelu(x: Values) -> Values:
    """`x * erfc(z) / 2`, `z = -x / sqrt(2)`. Far below 0 the rounding of z shows, as the slope of
    log(erfc) is about -(2 z + 1 / z).
    """
    near = np.clip(x, -40.0, 40.0)
    z = near * -SQRT_HALF
    rounded = _product_error(near, np.full_like(near, -SQRT_HALF), z) - near * SQRT_HALF_REST
    slope = np.where(z > 1.0, 2.0 * z + 1.0 / np.where(z > 1.0, z, 1.0), 0.0)
    tail = 0.5 * _erfc64(z) * (1.0 - slope * rounded)
    return np.where(x == -np.inf, -0.0, np.maximum(x, -40.0) * tail)


def _softplus(x: Values) -> Values:
    return np.asarray(np.logaddexp(0.0, x))


def _erf64(x: Values) -> Values:
    return np.asarray(_erf(x)).astype(np.float64)


def _erfc64(x: Values) -> Values:
    return np.asarray(_erfc(x)).astype(np.float64)


def _fma(a: Values, b: Values, c: Values) -> Values:
    """`a * b + c` with about twice the precision of float64 before the last rounding (Dekker, Knuth)."""
    product = a * b
    total = product + c
    part = total - product
    rest = (product - (total - part)) + (c - part) + _product_error(a, b, product)
    return np.where(np.isfinite(total) & np.isfinite(rest), total + rest, total)


def _product_error(a: Values, b: Values, product: Values) -> Values:
    split = 134217729.0  # 2**27 + 1
    a_high, b_high = a * split - (a * split - a), b * split - (b * split - b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _relu(x: Values) -> Values:
    return np.where(x <= 0, x.dtype.type(0), x)


def _floor_divide(a: Values, b: Values) -> Values:
    opposite = (b == -1) & (b < 0)
    safe = np.where((b == 0) | opposite, b.dtype.type(1), b)
    return np.where(b == 0, a.dtype.type(0), np.where(opposite, np.negative(a), np.floor_divide(a, safe)))


def _remainder(a: Values, b: Values) -> Values:
    whole = (b == 0) | ((b == -1) & (b < 0))
    return np.where(whole, a.dtype.type(0), np.remainder(a, np.where(whole, b.dtype.type(1), b)))


def _float_power(a: Values, b: Values) -> Values:
    """C's pow. Where the exponent is one number, NumPy takes a square root for 0.5, which differs below 0."""
    root = b == 0.5
    found = np.where(root & (a == -np.inf), np.inf, np.power(a, b))
    return np.where(root & (a == 0), 0.0, found)


def _power(a: Values, b: Values) -> Values:
    if (b < 0).any():
        raise ValueError("an integer to a negative power")
    return np.power(a, b)


def _left_shift(a: Values, b: Values) -> Values:
    inside = (b >= 0) & (b < 8 * a.dtype.itemsize)
    return np.where(inside, np.left_shift(a, np.where(inside, b, 0)), a.dtype.type(0))


def _right_shift(a: Values, b: Values) -> Values:
    inside = (b >= 0) & (b < 8 * a.dtype.itemsize)
    sign = np.where(a < 0, ~a.dtype.type(0), a.dtype.type(0))
    return np.where(inside, np.right_shift(a, np.where(inside, b, 0)), sign)


def _same(x: Values) -> Values:
    return x


Function = Callable[..., Any]

_COMMON: dict[str, Function] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "where": np.where,
}

_FLOAT: dict[str, Function] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "power": _float_power,
    "negative": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "square": np.square,
    "maximum": _maximum,
    "minimum": _minimum,
    "relu": _relu,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "reciprocal": lambda x: 1.0 / x,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "fma": _fma,
    "copysign": np.copysign,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": _erf64,
    "erfc": _erfc64,
    "cbrt": np.cbrt,
    "hypot": np.hypot,
    "sigmoid": _sigmoid,
    "silu": _silu,
    "gelu": _gelu,
    "softplus": _softplus,
    "logaddexp": np.logaddexp,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}
_FLOAT |= {fast: _FLOAT[strict] for strict, fast in FAST.items()}

_INTEGER: dict[str, Function] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "power": _power,
    "negative": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "square": np.square,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "relu": _relu,
    "floor": _same,
    "ceil": _same,
    "trunc": _same,
    "round": _same,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_invert": np.invert,
    "left_shift": _left_shift,
    "right_shift": _right_shift,
}

_BOOL: dict[str, Function] = {
    "add": np.logical_or,
    "multiply": np.logical_and,
    "abs": _same,
    "maximum": np.logical_or,
    "minimum": np.logical_and,
    "floor": _same,
    "ceil": _same,
    "trunc": _same,
    "round": _same,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_not": np.logical_not,
    "bitwise_and": np.logical_and,
    "bitwise_or": np.logical_or,
    "bitwise_xor": np.logical_xor,
    "bitwise_invert": np.logical_not,
}
