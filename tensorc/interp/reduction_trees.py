"""The fixed reduction trees in NumPy, with the bits of the generated kernels (`docs/numerics.md`).

Float sums are left folds of the listed shapes; `ufunc.accumulate` is one, in the operand's dtype.
Padding uses the identity that changes no bit: -0.0 under addition, 1 under multiplication. NaN results agree
as NaN; their sign and payload are outside the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorc.dtypes import DType
from tensorc.operators import REDUCTIONS

Array = NDArray[Any]

LANES = 8
BLOCK = 256
ROW_CHUNK = 16384
COLUMN_BLOCK = 8
COLUMN_CHUNK = 1024

_EXTREMES: Final = {"max": -np.inf, "min": np.inf}


def reduce_rows(kind: str, values: Array, result: DType, correction: float = 0.0) -> Array:
    """Reduce `values` of shape (outputs, m, n), whose last axis is the innermost, to (outputs,).

    Raises ValueError for an argmax, argmin or integer max or min of no elements.
    """
    outputs, m, n = values.shape
    _refuse_empty(kind, m * n, values.dtype)
    with np.errstate(all="ignore"):
        if kind in ("var", "std"):
            return _rows_variance(kind, values, correction).astype(result.numpy)
        if kind in ("sum", "prod") and values.dtype.kind == "f":
            return _rows_float(kind, values).astype(result.numpy)
        return _any_order(kind, values.reshape(outputs, m * n)).astype(result.numpy)


def reduce_columns(kind: str, values: Array, result: DType, correction: float = 0.0) -> Array:
    """Reduce `values` of shape (m, n, outputs), whose last axis is kept, to (outputs,).

    Raises ValueError for an argmax, argmin or integer max or min of no elements.
    """
    m, n, outputs = values.shape
    _refuse_empty(kind, m * n, values.dtype)
    with np.errstate(all="ignore"):
        if kind in ("var", "std"):
            return _columns_variance(kind, values, correction).astype(result.numpy)
        if kind in ("sum", "prod") and values.dtype.kind == "f":
            return _columns_float(kind, values).astype(result.numpy)
        return _any_order(kind, values.reshape(m * n, outputs).T).astype(result.numpy)


def _refuse_empty(kind: str, count: int, dtype: np.dtype[Any]) -> None:
    """A float max or min of nothing is its identity, an infinity: a part of logsumexp, never a result."""
    has_identity = kind in _EXTREMES and dtype.kind == "f"
    if count == 0 and REDUCTIONS[kind].empty_raises and not has_identity:
        raise ValueError(f"{kind} of no elements")


def _any_order(kind: str, flat: Array) -> Array:
    """The kinds whose value no order changes; `flat` is (outputs, count)."""
    match kind:
        case "sum":
            return np.asarray(np.add.reduce(flat, axis=1, dtype=np.int64))
        case "prod":
            return np.asarray(np.multiply.reduce(flat, axis=1, dtype=np.int64))
        case "any":
            return np.asarray(flat.any(axis=1))
        case "all":
            return np.asarray(flat.all(axis=1))
        case "argmax":
            return np.asarray(flat.argmax(axis=1))
        case "argmin":
            return np.asarray(flat.argmin(axis=1))
        case "max" | "min":
            return _extreme(kind, flat)
    raise ValueError(f"no reduction named {kind}")


def _extreme(kind: str, flat: Array) -> Array:
    """NaN wins; a zero is -0 if all (max) or any (min) of the operands have their sign set."""
    reduce = np.maximum.reduce if kind == "max" else np.minimum.reduce
    if flat.dtype.kind != "f":
        return np.asarray(reduce(flat, axis=1))
    value = np.asarray(reduce(flat, axis=1, initial=_EXTREMES[kind]))
    negative = np.signbit(flat)
    signs = negative.all(axis=1) if kind == "max" else negative.any(axis=1)
    zero = np.where(signs, flat.dtype.type(-0.0), flat.dtype.type(0.0))
    return np.where(value == 0, zero, value)


def _fold(kind: str) -> tuple[np.ufunc, float]:
    return (np.add, -0.0) if kind == "sum" else (np.multiply, 1.0)


def _last(ufunc: np.ufunc, values: Array, axis: int) -> Array:
    """The left fold along `axis`, which is not empty."""
    return np.asarray(np.take(ufunc.accumulate(values, axis=axis, dtype=values.dtype), -1, axis=axis))


def _pad(values: Array, axis: int, multiple: int, fill: float) -> Array:
    missing = -values.shape[axis] % multiple
    if missing == 0:
        return values
    widths = [(0, 0)] * values.ndim
    widths[axis] = (0, missing)
    return np.pad(values, widths, constant_values=fill)


def _split(values: Array, axis: int, size: int) -> Array:
    """Cut `axis` into (pieces, size)."""
    shape = values.shape
    return values.reshape(*shape[:axis], shape[axis] // size, size, *shape[axis + 1 :])


def _chunked(groups: Array, n: int, chunk: int, fill: float, per_chunk: int) -> Array:
    """Cut (m, groups per outer index, ...) into (chunks, groups of a chunk, ...), padded with `fill`.

    An outer index longer than `chunk` is cut into pieces of `per_chunk` groups; else a chunk is as many
    outer indices as fit, at least one.
    """
    m, count = groups.shape[:2]
    if n > chunk:
        padded = _split(_pad(groups, 1, per_chunk, fill), 1, per_chunk)
        return padded.reshape(-1, per_chunk, *groups.shape[2:])
    outer = min(max(1, chunk // max(n, 1)), m)
    padded = _split(_pad(groups, 0, outer, fill), 0, outer)
    return padded.reshape(-1, outer * count, *groups.shape[2:])


def _fold_lanes(ufunc: np.ufunc, lanes: Array) -> Array:
    """((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7)) over the last axis."""
    half = ufunc(lanes[..., :4], lanes[..., 4:])
    pair = ufunc(half[..., :2], half[..., 2:])
    return np.asarray(ufunc(pair[..., 0], pair[..., 1]))


def _row_blocks(ufunc: np.ufunc, identity: float, values: Array) -> Array:
    """(outputs, m, n) -> (m, blocks, outputs, 8): each block's four accumulators folded, in f64."""
    full = values.shape[2] // BLOCK * BLOCK
    terms = _split(_split(_split(values[..., :full], 2, BLOCK), 3, 4 * LANES), 4, LANES)
    parts = []
    if full:
        parts.append(_fold_accumulators(ufunc, _last(ufunc, terms, 3)))
    if full < values.shape[2]:
        used = min(4, -(-(values.shape[2] - full) // LANES))
        rest = _pad(values[..., full:], 2, used * LANES, identity)
        terms = _split(_split(rest, 2, used * LANES), 3, LANES)
        parts.append(_fold_accumulators(ufunc, _last(ufunc, terms, 2))[:, :, None])
    return np.moveaxis(np.concatenate(parts, axis=2), 0, 2).astype(np.float64)


def _fold_accumulators(ufunc: np.ufunc, accumulators: Array) -> Array:
    """(a0 + a1) + (a2 + a3) over the axis before the lanes; one that is missing is the identity."""
    a = [accumulators[..., j, :] for j in range(accumulators.shape[-2])]
    pairs = [ufunc(*a[j : j + 2]) if j + 1 < len(a) else a[j] for j in range(0, len(a), 2)]
    return np.asarray(ufunc(*pairs) if len(pairs) == 2 else pairs[0])


def _rows_float(kind: str, values: Array) -> Array:
    ufunc, identity = _fold(kind)
    outputs, m, n = values.shape
    if m * n == 0 or outputs == 0:
        return np.full(outputs, 0.0 if kind == "sum" else 1.0)
    terms = values.astype(np.float64) if kind == "prod" else values
    chunks = _chunked(_row_blocks(ufunc, identity, terms), n, ROW_CHUNK, identity, ROW_CHUNK // BLOCK)
    return _from_start(kind, _last(ufunc, _fold_lanes(ufunc, _last(ufunc, chunks, 1)), 0))


def _columns_float(kind: str, values: Array) -> Array:
    ufunc, identity = _fold(kind)
    m, n, outputs = values.shape
    if m * n == 0 or outputs == 0:
        return np.full(outputs, 0.0 if kind == "sum" else 1.0)
    terms = values.astype(np.float64) if kind == "prod" else values
    full = n // COLUMN_BLOCK * COLUMN_BLOCK
    parts = []
    if full:
        parts.append(_last(ufunc, _split(terms[:, :full], 1, COLUMN_BLOCK), 2))
    if full < n:
        parts.append(_last(ufunc, terms[:, full:], 1)[:, None])
    blocks = np.concatenate(parts, axis=1).astype(np.float64)
    chunks = _chunked(blocks, n, COLUMN_CHUNK, identity, COLUMN_CHUNK // COLUMN_BLOCK)
    return _from_start(kind, _last(ufunc, _last(ufunc, chunks, 1), 0))


def _from_start(kind: str, totals: Array) -> Array:
    """Totals start at +0 or 1, which only a sum of nothing but -0 can tell."""
    return totals + 0.0 if kind == "sum" else totals


def _rows_variance(kind: str, values: Array, correction: float) -> Array:
    def moments(d: Array) -> tuple[Array, Array]:
        """Totals of d and d * d over (outputs, rows, n): vectors in turn to two sets of lanes."""
        padded = _split(_split(_pad(d, 2, 2 * LANES, 0.0), 2, 2 * LANES), 3, LANES)
        vectors = padded.reshape(d.shape[0], -1, 2, LANES)
        sets = [_last(np.add, terms, 1) for terms in (vectors, vectors * vectors)]
        first, second = (_fold_lanes(np.add, s[:, 0] + s[:, 1]) for s in sets)
        return first, second

    return _variance(kind, values, ROW_CHUNK, moments, correction)


def _columns_variance(kind: str, values: Array, correction: float) -> Array:
    def moments(d: Array) -> tuple[Array, Array]:
        rows = d.reshape(d.shape[0], -1)
        return _last(np.add, rows, 1), _last(np.add, rows * rows, 1)

    return _variance(kind, np.moveaxis(values, 2, 0), COLUMN_CHUNK, moments, correction)


def _variance(
    kind: str, values: Array, span: int, moments: Callable[[Array], tuple[Array, Array]], correction: float
) -> Array:
    """Of (outputs, m, n): every chunk's mean and squared distances from it, put together in order."""
    outputs, m, n = values.shape
    if m * n == 0 or outputs == 0:
        return np.full(outputs, np.nan)
    total: tuple[float, Array, Array, Array] | None = None
    for chunk in _chunks(values.astype(np.float64), span):
        count, shift = float(chunk.shape[1] * chunk.shape[2]), chunk[:, 0, 0]
        first, second = moments(chunk - shift[:, None, None])
        mean = first / count
        spread = second - first * mean
        part = (count, shift, mean, np.where(spread < 0, 0.0, spread))
        total = part if total is None else _put_together(total, part)
    assert total is not None
    variance = np.asarray(total[3] / np.float64(max(m * n - correction, 0.0)))
    return np.sqrt(variance) if kind == "std" else variance


def _chunks(values: Array, span: int) -> Iterator[Array]:
    """(outputs, m, n) cut as the chunks of a reduction: parts of a row, or whole rows."""
    _, m, n = values.shape
    rows = 1 if n > span else max(1, span // n)
    for row in range(0, m, rows):
        for begin in range(0, n, span):
            yield values[:, row : row + rows, begin : begin + span]


def _put_together(
    a: tuple[float, Array, Array, Array], b: tuple[float, Array, Array, Array]
) -> tuple[float, Array, Array, Array]:
    """Chan, Golub and LeVeque: count, origin, mean beyond the origin, squared distances of both."""
    count = a[0] + b[0]
    share = b[0] / count
    delta = (b[1] - a[1]) + (b[2] - a[2])
    spread = (a[3] + b[3]) + delta * delta * (a[0] * share)
    return count, a[1], a[2] + delta * share, spread
