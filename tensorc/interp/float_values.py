"""Values of the float types in NumPy arrays: rounding to a type, and bf16, which NumPy does not have.

A bf16 array holds bits (uint16), or is of `ml_dtypes.bfloat16`; interpreters carry its values as float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorc.dtypes import BF16, F16, F64, DType

Array = NDArray[Any]


def round_values(x: Array, dtype: DType) -> Array:
    """float64 values rounded once to a float type, to nearest even; again as float64."""
    if dtype == F64:
        return x
    with np.errstate(all="ignore"):
        if dtype != BF16:
            return np.asarray(x.astype(dtype.numpy).astype(np.float64))
        exponent = np.maximum(np.frexp(x)[1] - 1, dtype.min_exponent) - dtype.precision + 1
        rounded = np.ldexp(np.rint(np.ldexp(x, -exponent)), exponent)
        limit = np.ldexp(1.0, dtype.max_exponent + 1)
        rounded = np.where(np.abs(rounded) >= limit, np.copysign(np.inf, rounded), rounded)
        return np.where(np.isfinite(x), rounded, x)


def round_integers(x: Array, dtype: DType) -> Array:
    """Integers or bools rounded once to a float type, as float64."""
    if x.dtype.kind == "b" or x.dtype.itemsize <= 4:
        return round_values(x.astype(np.float64), dtype)
    if dtype not in (F16, BF16):
        return np.asarray(x.astype(dtype.numpy).astype(np.float64))
    # rounded to odd on the way: the low 11 bits become one, which tells whether any was set
    sticky = (x & ~x.dtype.type(0x7FF)) | np.where(
        x & x.dtype.type(0x7FF), x.dtype.type(0x800), x.dtype.type(0)
    )
    size = np.where(x < 0, ~x, x) if x.dtype.kind == "i" else x
    return round_values(np.where(size >> x.dtype.type(53), sticky, x).astype(np.float64), dtype)


def truncate_to_integer(x: Array, dtype: DType) -> Array:
    """Floats as values of an integer type: truncated, saturated, NaN gives 0."""
    wide = np.trunc(x.astype(np.float64))
    inside = (wide >= dtype.lowest) & (wide < float(dtype.highest + 1))
    whole = np.where(inside, wide, 0.0).astype(dtype.numpy)
    low, high = whole.dtype.type(dtype.lowest), whole.dtype.type(dtype.highest)
    return np.where(wide >= float(dtype.highest + 1), high, np.where(wide < dtype.lowest, low, whole))


def is_array_of(array: Array, dtype: DType) -> bool:
    """True for an array of the type; one of bf16 holds its bits or is of ml_dtypes."""
    return array.dtype == np.dtype(dtype.numpy) or (dtype == BF16 and array.dtype.name == "bfloat16")


def carried(array: Array, dtype: DType) -> Array:
    """An array of the type as the numbers it holds, in its carrier."""
    if dtype != BF16:
        return array
    bits = array.view(np.uint16) if array.dtype.name == "bfloat16" else array
    return np.asarray(bits.astype(np.uint32) << 16).view(np.float32)


def stored(values: Array, dtype: DType) -> Array:
    """Numbers in the type's carrier as an array of the type."""
    if dtype != BF16:
        return values
    return (
        np.asarray(np.ascontiguousarray(values).view(np.uint32) >> 16).astype(np.uint16).reshape(values.shape)
    )
