"""Error bounds of reductions and matrix products (see `error_bounds` for what a bound is)."""

from __future__ import annotations

import numpy as np

from tensorc.dtypes import DType
from tensorc.interp.error_bounds import EXACT, Approx, Bounds, Mask, uncertain
from tensorc.interp.tensor_reductions import Values
from tensorc.tensor_ir.program import Reduce

MATMUL_BLOCK = 256


def _unit(dtype: DType) -> float:
    """The rounding unit; doubled for f64, where the interpreter rounds as much as the kernel."""
    return 2.0**-24 if dtype.size == 4 else 2.0**-52


CHUNK = 16384
"""Terms of a chunk of the `rows` tree."""


def _largest(dtype: DType) -> float:
    return float(np.finfo(dtype.numpy).max)


def reduction_bound(attrs: Reduce, x: Approx, value: Values, dtype: DType) -> Bounds:
    """The bound of a reduction over the last axis of `x`, whose floats are of `dtype`."""
    if x.value.dtype.kind != "f":
        return _integer_bound(attrs, x, value)
    if x.value.shape[-1] == 0:
        return EXACT
    bound = np.broadcast_to(x.bound, x.value.shape)
    if attrs.kind == "sum":
        return _sum(x.value, bound, value, dtype)
    if attrs.kind == "prod":
        return _prod(x.value, bound, value, dtype)
    if attrs.kind in ("max", "min"):
        return _extremum(bound, value)
    if attrs.kind in ("argmax", "argmin"):
        return _position(attrs.kind, x.value, bound, value)
    if attrs.kind in ("any", "all"):
        return _truth(attrs.kind, x.value, bound)
    return _spread_of(attrs, x.value, bound, value, dtype)


def _integer_bound(attrs: Reduce, x: Approx, value: Values) -> Bounds:
    if x.exact:
        if attrs.kind in ("var", "std") and x.value.shape[-1]:
            largest = np.max(np.abs(x.value.astype(np.float64)), axis=-1)
            return np.asarray(np.abs(value) * 1e-12 + largest**2 * 1e-15)
        return EXACT
    bound = np.broadcast_to(x.bound, x.value.shape)
    if attrs.kind in ("any", "all"):
        return _truth(attrs.kind, x.value, bound)
    return np.asarray(np.max(uncertain([Approx(x.value, bound)]), axis=-1, initial=0.0))


def _wide_chain(count: int) -> float:
    """The most additions in a row that an f64 accumulator takes for `count` terms: where the inner axis is
    short every outer index of a chunk is one, and so is every chunk."""
    return min(count, CHUNK) + count / CHUNK + 12.0


def _sum(x: Values, bound: Bounds, value: Values, dtype: DType) -> Bounds:
    """(log2 n + 9) units of the sum of magnitudes, in f64 as many as a chain may be long; none for whole
    numbers that every order adds exactly."""
    count = x.shape[-1]
    error: Bounds = np.asarray(np.sum(bound, axis=-1))
    if count == 1:
        return np.where(np.isfinite(value) | np.isinf(error), error, 0.0)
    magnitudes = np.sum(np.abs(x) + bound, axis=-1)
    units = np.log2(count) + 9.0 if dtype.size == 4 else _wide_chain(count)
    found = error + units * _unit(dtype) * magnitudes
    whole = np.all((np.trunc(x) == x) & (bound == 0), axis=-1) & (
        magnitudes <= 2.0 ** (24 if dtype.size == 4 else 53)
    )
    # the sign of a sum of zeros is left open, so it is not quite known
    zeros = np.all(x == 0, axis=-1) & np.any(np.signbit(x), axis=-1)
    found = np.where(whole, np.where(zeros, 2.0**-1074, 0.0), found)
    return _settled(found, x, bound, value, magnitudes >= _largest(dtype) * 0.999)


def _settled(found: Bounds, x: Values, bound: Bounds, value: Values, may_overflow: Values) -> Bounds:
    """Infinite where a partial result may overflow; a non-finite result of non-finite operands is certain."""
    has_special = np.any(~np.isfinite(x), axis=-1)
    doubt = np.any(np.isinf(bound), axis=-1) | (may_overflow & ~has_special)
    finite_part = np.where(np.isfinite(x), np.abs(x) + bound, 0.0)
    # NaN in every order: not where the finite operands overflow against an infinity
    surely_nan = np.any(np.isnan(x), axis=-1) | (np.any(x == np.inf, axis=-1) & np.any(x == -np.inf, axis=-1))
    doubt = doubt | (has_special & (np.sum(finite_part, axis=-1) >= np.finfo(np.float32).max) & ~surely_nan)
    return np.where(doubt, np.inf, np.where(np.isfinite(value), found, 0.0))


def _prod(x: Values, bound: Bounds, value: Values, dtype: DType) -> Bounds:
    """One rounding per factor; order matters only where a partial product leaves the normal range."""
    count = x.shape[-1]
    if count == 1:
        return _sum(x, bound, value, dtype)
    size = np.abs(x)
    error = np.prod(size + bound, axis=-1) - np.abs(value)
    found = np.abs(error) + count * 2.0 * _unit(dtype) * (np.abs(value) + np.abs(error))
    high = np.prod(np.maximum(size + bound, 1.0), axis=-1)
    low = np.prod(np.where(size > bound, np.minimum(size - bound, 1.0), 1.0), axis=-1)
    leaves = (high >= _largest(dtype) * 0.5) | (low <= float(np.finfo(dtype.numpy).tiny) * 4.0)
    special = np.any(~np.isfinite(x), axis=-1)
    signs_known = ~np.any((size <= bound) & (bound > 0), axis=-1)
    doubt = (
        np.any(np.isinf(bound), axis=-1) | (leaves & ~np.any(np.isnan(x), axis=-1)) | (special & ~signs_known)
    )
    return np.where(doubt, np.inf, np.where(np.isfinite(value), found, 0.0))


def _extremum(bound: Bounds, value: Values) -> Bounds:
    found = np.max(bound, axis=-1)
    return np.where(np.isfinite(value) | np.isinf(found), found, 0.0)


def _position(kind: str, x: Values, bound: Bounds, value: Values) -> Bounds:
    """Certain when no other element's interval reaches that of the chosen one."""
    signed = x if kind == "argmax" else -x
    chosen = np.expand_dims(value, -1)
    best = np.take_along_axis(signed, chosen, -1) - np.take_along_axis(bound, chosen, -1)
    others = signed + bound
    np.put_along_axis(others, chosen, -np.inf, -1)
    exact = ~np.any(bound > 0, axis=-1)
    known_nan = np.isnan(best[..., 0]) & ~np.any(np.isinf(bound), axis=-1)
    # an infinite winner that an infinite bound elsewhere may match is not certain either
    apart = np.all(others < best, axis=-1) & ~np.any(np.isinf(bound), axis=-1)
    return np.where(exact | known_nan | apart, 0.0, np.inf)


def _truth(kind: str, x: Values, bound: Bounds) -> Bounds:
    if x.dtype.kind == "f":
        doubt = (np.abs(x) <= bound) & (bound > 0) | np.isinf(bound)
    else:
        doubt = bound > 0
    decisive = (x != 0) if kind == "any" else (x == 0)
    decided = np.any(decisive & ~doubt, axis=-1) | ~np.any(doubt, axis=-1)
    return np.where(decided, 0.0, np.inf)


def _spread_of(attrs: Reduce, x: Values, bound: Bounds, value: Values, dtype: DType) -> Bounds:
    """var and std: f64 sums of squared deviations from each chunk's first element, or from the mean."""
    count = x.shape[-1]
    rest = max(count - attrs.correction, 0.0)
    if rest == 0:
        return np.where(np.any(bound > 0, axis=-1), np.inf, 0.0)
    mean = np.sum(x, axis=-1, keepdims=True) / count
    error = bound + np.mean(bound, axis=-1, keepdims=True)
    deviation = np.abs(x - mean)
    units = _wide_chain(count) * 2.0**-53
    mean_error = units * np.mean(np.abs(x), axis=-1, keepdims=True)
    slack = (2.0 * deviation + error) * error + (2.0 * deviation + mean_error) * mean_error * 2.0
    squares = np.sum(deviation**2, axis=-1)
    # what the kernel adds, before the part of each chunk's mean is taken off: at most this
    summed = squares * (min(count, CHUNK) + 1.0)
    variance = squares / rest
    found = (np.sum(slack, axis=-1) + units * (squares + 3.0 * summed)) / rest
    if attrs.kind == "std":
        low = np.sqrt(np.maximum(variance - found, 0.0))
        found = np.maximum(np.sqrt(variance + found) - np.sqrt(variance), np.sqrt(variance) - low)
    finite_inputs = np.all(np.isfinite(x), axis=-1)
    doubt = np.any(np.isinf(bound), axis=-1) | (finite_inputs & ~np.isfinite(value))
    return np.where(doubt, np.inf, np.where(np.isfinite(value), found, 0.0))


def matmul_bound(a: Approx, b: Approx, value: Values, dtype: DType) -> Bounds:
    """Products added in blocks of k: a chain of a block's length, and one over the blocks' sums."""
    if a.value.dtype.kind != "f":
        return EXACT if a.exact and b.exact else _any_doubt(a, b, value)
    depth = a.value.shape[-1]
    if depth == 0:
        return EXACT
    left, right = np.abs(a.value), np.abs(b.value)
    left_bound, right_bound = np.broadcast_to(a.bound, left.shape), np.broadcast_to(b.bound, right.shape)
    magnitudes = np.matmul(left, right)
    error = np.matmul(left + left_bound, right_bound) + np.matmul(left_bound, right)
    chain = min(depth, MATMUL_BLOCK) + depth / MATMUL_BLOCK + 2.0
    found = error + chain * _unit(dtype) * (magnitudes + error)
    found = found + depth * float(np.finfo(dtype.numpy).smallest_subnormal)  # products that underflow
    special = (
        np.any(~np.isfinite(left), axis=-1)[..., :, None] | np.any(~np.isfinite(right), axis=-2)[..., None, :]
    )
    doubt = np.isnan(error) | np.isinf(error) | (magnitudes >= _largest(dtype) * 0.999)
    # beside infinities too the finite products may overflow, to an infinity of the other sign
    finite = np.matmul(_finite_part(left), _finite_part(right)) < _largest(dtype) * 0.999
    certain = special & finite if a.exact and b.exact else np.zeros((), np.bool_)
    return np.where(certain, 0.0, np.where(special | doubt, np.inf, found))


def _finite_part(x: Values) -> Values:
    return np.where(np.isfinite(x), x, 0.0)


def _any_doubt(a: Approx, b: Approx, value: Values) -> Bounds:
    left, right = np.broadcast_to(a.bound, a.value.shape), np.broadcast_to(b.bound, b.value.shape)
    return np.broadcast_to(np.where(_outer_or(left > 0, right > 0), np.inf, 0.0), value.shape)


def _outer_or(left: Mask, right: Mask) -> Mask:
    """For every row of `left` and column of `right`: is anything in either true?"""
    rows, columns = np.asarray(left.any(axis=-1)), np.asarray(right.any(axis=-2))
    return np.asarray(rows[..., :, None] | columns[..., None, :])
