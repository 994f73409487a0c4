"""Reductions of the tensor IR in plain NumPy; floats in float64.

Every function takes the operand with the reduced axes merged into the last one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tensorc.tensor_ir.program import Reduce

Values = npt.NDArray[Any]


def merge_axes(x: Values, axes: tuple[int, ...]) -> Values:
    """`x` with `axes` moved to the end, in order, and merged into one.

    In C order: NumPy adds pairwise along contiguous memory only, and one by one across it.
    """
    kept = [k for k in range(x.ndim) if k not in axes]
    moved = x.transpose(*kept, *axes)
    count = int(np.prod([x.shape[k] for k in axes], dtype=np.int64))
    return np.ascontiguousarray(moved.reshape(*(x.shape[k] for k in kept), count))


def apply_reduction(attrs: Reduce, x: Values) -> Values:
    """Reduce the last axis of `x`.

    Raises:
        ValueError: an argmax, argmin or integer max or min of no elements, where there are results to give.
    """
    if attrs.kind in ("sum", "prod"):
        dtype = {"f": np.float64, "u": np.uint64}.get(x.dtype.kind, np.int64)
        reduce = np.sum if attrs.kind == "sum" else np.prod
        return np.asarray(reduce(x, axis=-1, dtype=dtype))
    if attrs.kind in ("any", "all"):
        return np.asarray((np.any if attrs.kind == "any" else np.all)(x != 0, axis=-1))
    if attrs.kind in ("var", "std"):
        variance = _variance(x.astype(np.float64), attrs.correction)
        return np.sqrt(variance) if attrs.kind == "std" else variance
    if x.shape[-1] == 0 and x.dtype.kind == "f" and attrs.kind in ("max", "min"):
        return np.full(x.shape[:-1], -np.inf if attrs.kind == "max" else np.inf, x.dtype)
    if x.size == 0 and 0 not in x.shape[:-1]:
        raise ValueError(f"{attrs.kind} of no elements")
    if x.shape[-1] == 0:
        return np.empty(x.shape[:-1], np.int64 if attrs.kind.startswith("arg") else x.dtype)
    if attrs.kind in ("argmax", "argmin"):
        return np.asarray((np.argmax if attrs.kind == "argmax" else np.argmin)(x, axis=-1), dtype=np.int64)
    return _extremum(attrs.kind, x)


def _extremum(kind: str, x: Values) -> Values:
    """Maximum or minimum; NaN propagates; -0 is below +0, which NumPy does not promise."""
    if kind == "min" and x.dtype.kind == "f":
        return np.negative(_extremum("max", np.negative(x)))
    found = np.asarray((np.max if kind == "max" else np.min)(x, axis=-1))
    if x.dtype.kind != "f":
        return found
    has_positive_zero = np.any((x == 0) & ~np.signbit(x), axis=-1)
    return np.where((found == 0) & has_positive_zero, 0.0, found)


def _variance(x: Values, correction: float) -> Values:
    """Two passes; by NumPy's rule the divisor is not below 0, so no elements give NaN."""
    count = x.shape[-1]
    mean = np.sum(x, axis=-1, keepdims=True) / np.float64(count)
    squares = np.sum((x - mean) ** 2, axis=-1)
    return np.asarray(squares / np.float64(max(count - correction, 0.0)))
