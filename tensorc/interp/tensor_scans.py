"""Scans of the tensor IR in plain NumPy, and how far a kernel's may be from them (see `error_bounds`).

Every function works along the last axis; floats are in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tensorc.dtypes import DType
from tensorc.interp.error_bounds import EXACT, Approx, Bounds

Values = npt.NDArray[Any]


def apply_scan(kind: str, x: Values) -> Values:
    """The scan of `x`: the first element as it is, then each combined with what is before it."""
    if kind in ("sum", "prod"):
        dtype = x.dtype if x.dtype.kind in "fu" else np.int64
        accumulate = np.add.accumulate if kind == "sum" else np.multiply.accumulate
        return np.asarray(accumulate(x, axis=-1, dtype=dtype))
    if x.dtype.kind != "f":
        return np.asarray((np.maximum if kind == "max" else np.minimum).accumulate(x, axis=-1))
    if kind == "min":
        return np.negative(apply_scan("max", np.negative(x)))
    found = np.maximum.accumulate(x, axis=-1)
    has_positive_zero = np.logical_or.accumulate((x == 0) & ~np.signbit(x), axis=-1)
    # the sign of a zero is that of -0 until a +0 comes
    return np.where(found == 0, np.where(has_positive_zero, 0.0, -0.0), found)


def scan_bound(kind: str, x: Approx, value: Values, dtype: DType) -> Bounds:
    """The bound of each prefix of a scan, before the result is rounded to `dtype`.

    Sums and products are carried in f64 whatever the dtype: only leaving the range of f64 is in doubt.
    """
    bound = np.broadcast_to(x.bound, x.value.shape)
    if x.value.dtype.kind != "f":
        doubt = np.logical_or.accumulate(bound > 0, axis=-1)
        return np.where(doubt, np.inf, 0.0) if doubt.any() else EXACT
    if kind in ("max", "min"):
        found = np.maximum.accumulate(bound, axis=-1)
        return np.where(np.isfinite(value) | np.isinf(found), found, 0.0)
    found, leaves = (_sum if kind == "sum" else _prod)(x.value, bound, value, dtype)
    found[..., 0], leaves[..., 0] = bound[..., 0], False
    doubt = np.logical_or.accumulate(np.isinf(bound), axis=-1) | leaves
    return np.where(doubt, np.inf, np.where(np.isfinite(value), found, 0.0))


def _sum(x: Values, bound: Bounds, value: Values, dtype: DType) -> tuple[Bounds, Values]:
    """For f32 what the language promises, else a chain of additions; and where another order may overflow."""
    count = np.arange(1, x.shape[-1] + 1, dtype=np.float64)
    units = (np.log2(count) + 9.0) * 2.0**-24 if dtype.size == 4 else count * 2.0**-52
    magnitudes = np.cumsum(np.abs(x) + bound, axis=-1)
    found = np.cumsum(bound, axis=-1) + units * magnitudes
    whole = np.logical_and.accumulate((np.trunc(x) == x) & (bound == 0), axis=-1)
    found = np.where(whole & (magnitudes <= 2.0 ** (24 if dtype.size == 4 else 53)), 0.0, found)
    # beside an infinity, finite terms may overflow to the other one
    finite = np.cumsum(np.where(np.isfinite(x), np.abs(x) + bound, 0.0), axis=-1)
    nan, high, low = (np.logical_or.accumulate(p, axis=-1) for p in (np.isnan(x), x == np.inf, x == -np.inf))
    return found, (finite >= float(np.finfo(np.float64).max) * 0.999) & ~(nan | (high & low))


def _prod(x: Values, bound: Bounds, value: Values, dtype: DType) -> tuple[Bounds, Values]:
    """One rounding per factor; order matters only where a partial product leaves the normal range."""
    size = np.abs(x)
    error = np.abs(np.cumprod(size + bound, axis=-1) - np.abs(value))
    count = np.arange(1, x.shape[-1] + 1, dtype=np.float64)
    found = error + (count + 2.0) * 2.0**-52 * (np.abs(value) + error)
    high = np.cumprod(np.maximum(size + bound, 1.0), axis=-1)
    low = np.cumprod(np.where(size > bound, np.minimum(size - bound, 1.0), 1.0), axis=-1)
    limits = np.finfo(np.float64)
    leaves = (high >= float(limits.max) * 0.5) | (low <= float(limits.tiny) * 4.0)
    leaves &= ~np.logical_or.accumulate(np.isnan(x), axis=-1)
    special = np.logical_or.accumulate(~np.isfinite(x), axis=-1)
    open_sign = np.logical_or.accumulate((size <= bound) & (bound > 0), axis=-1)
    return found, leaves | (special & open_sign)
