"""Scans in the order of the kernels, to the bit (docs/numerics.md, "Scans").

Along the last axis: in each vector of eight, both halves by doubling strides, the first half's end to the
second half, then the carry to all. Along another axis: one element after another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorc.loop_ir.program import Tree

Array = npt.NDArray[Any]
LANES, HALF = 8, 4


def scan_in_order(kind: str, values: Array, axis: int, tree: Tree) -> Array:
    """The scan of `values` along `axis`, in their dtype."""
    moved = np.moveaxis(values, axis, -1)
    if moved.size == 0:
        return values
    wide = moved.astype(np.float64) if kind in ("sum", "prod") and moved.dtype == np.float32 else moved
    combine = _COMBINE[kind]
    found = _by_vectors(wide, combine, kind) if tree is Tree.ROWS else _one_by_one(wide, combine, kind)
    return np.moveaxis(found.astype(values.dtype), -1, axis)


def _identity(kind: str, dtype: np.dtype[Any]) -> Any:
    """What changes no value, not even -0, when combined with it."""
    if kind in ("sum", "prod"):
        return {"sum": dtype.type(-0.0 if dtype.kind == "f" else 0), "prod": dtype.type(1)}[kind]
    if dtype.kind == "f":
        return dtype.type(-np.inf if kind == "max" else np.inf)
    if dtype.kind == "b":
        return np.bool_(kind == "min")
    limits = np.iinfo(dtype)
    return dtype.type(limits.min if kind == "max" else limits.max)


def maximum(a: Array, b: Array) -> Array:
    """The larger value; NaN wins, -0 is below +0."""
    found = np.maximum(a, b)
    if found.dtype.kind != "f":
        return found
    both_negative = np.signbit(a) & np.signbit(b)
    return np.where(found == 0, np.where(both_negative, -0.0, 0.0).astype(found.dtype), found)


def minimum(a: Array, b: Array) -> Array:
    """The smaller value; NaN wins, -0 is below +0."""
    return np.negative(maximum(np.negative(a), np.negative(b))) if a.dtype.kind == "f" else np.minimum(a, b)


_COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": maximum,
    "min": minimum,
}


def _by_vectors(x: Array, combine: Callable[[Array, Array], Array], kind: str) -> Array:
    """Along the last axis of `x`, eight at a time."""
    extent = x.shape[-1]
    none = _identity(kind, x.dtype)
    vectors = -(-extent // LANES)
    padded = np.full((*x.shape[:-1], vectors * LANES), none, x.dtype)
    padded[..., :extent] = x
    halves = padded.reshape(*x.shape[:-1], vectors, 2, HALF)
    for stride in (1, 2):
        moved = np.full_like(halves, none)
        moved[..., stride:] = halves[..., :-stride]
        halves = combine(moved, halves)
    halves[..., 1, :] = combine(halves[..., 0, -1:], halves[..., 1, :])
    lanes = halves.reshape(*x.shape[:-1], vectors, LANES)
    found = np.empty_like(lanes)
    carry = np.full(x.shape[:-1], none, x.dtype)
    for v in range(vectors):
        found[..., v, :] = combine(carry[..., None], lanes[..., v, :])
        carry = combine(carry, lanes[..., v, -1])
    return found.reshape(*x.shape[:-1], vectors * LANES)[..., :extent]


def _one_by_one(x: Array, combine: Callable[[Array, Array], Array], kind: str) -> Array:
    found = np.empty_like(x)
    carry = np.full(x.shape[:-1], _identity(kind, x.dtype), x.dtype)
    for k in range(x.shape[-1]):
        carry = combine(carry, x[..., k])
        found[..., k] = carry
    return found
