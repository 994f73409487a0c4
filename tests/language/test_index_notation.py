"""Section 3 of the language: index notation."""
# ruff: noqa: E501

from __future__ import annotations

import numpy as np
import pytest
from promises import Row, only_error, raises, rows_test

F = np.float32
RNG = np.random.default_rng(5)
X = RNG.integers(-8, 8, size=(4, 5)).astype(F)
W = RNG.integers(-8, 8, size=(2, 3)).astype(F)
A = RNG.integers(-8, 8, size=(4, 5)).astype(F)
B = RNG.integers(-8, 8, size=(5, 3)).astype(F)
V = RNG.integers(-8, 8, size=7).astype(F)


def conv(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return sum(w[u, v] * x[u : u + 3, v : v + 3] for u in range(2) for v in range(3))


def strided(x: np.ndarray) -> np.ndarray:
    return np.array([x[2 * k] + x[2 * k + 1] for k in range(3)], F)


ROWS = [
    Row("a stencil", "x: f32[H, W]", "b[i, j] = (x[i, j] + x[i, j+1]) / 2 for i in H, j in W - 1\nreturn b", [X], lambda x: (x[:, :-1] + x[:, 1:]) / 2),
    Row("a contraction", "a: f32[I, K], b: f32[K, J]", "c[i, j] = sum(a[i, k] * b[k, j] for k in K) for i in I, j in J\nreturn c", [A, B], lambda a, b: a @ b),
    Row("several iterators in a comprehension", "x: f32[H, W], w: f32[P, Q]", "y[i, j] = sum(x[i + u, j + v] * w[u, v] for u in P, v in Q) for i in H - P + 1, j in W - Q + 1\nreturn y", [X, W], conv),
    Row("the six forms", "x: f32[H, W]", "s[i] = sum(x[i, j] for j in W) for i in H\np[i] = prod(x[i, j] for j in W) for i in H\nm[i] = max(x[i, j] for j in W) for i in H\nn[i] = min(x[i, j] for j in W) for i in H\na[i] = any(x[i, j] > 3 for j in W) for i in H\nb[i] = all(x[i, j] > -8 for j in W) for i in H\nreturn s, p, m, n, a, b",
        [X], lambda x: (x.sum(1), x.prod(1), x.max(1), x.min(1), (x > 3).any(1), (x > -8).all(1))),
    Row("a comprehension alone", "x: f32[H, W]", "sum(x[i, j] for i in H, j in W), max(x[i, 0] for i in H)", [X], lambda x: (x.sum(), x[:, 0].max())),
    Row("a comprehension inside of another", "x: f32[H, W]", "max(sum(x[i, j] for j in W) for i in H)", [X], lambda x: x.sum(1).max()),
    Row("the target's order is the result's", "x: f32[H, W]", "y[j, i] = x[i, j] for i in H, j in W\nreturn y", [X], lambda x: x.T),
    Row("strided indices", "v: f32[N]", "y[k] = v[2 * k] + v[2*k + 1] for k in N // 2\nreturn y", [V], strided),
    Row("a strided sum", "v: f32[N]", "y[k] = sum(v[2 * k + u] for u in 2) for k in N // 2\nreturn y", [V], strided),
    Row("from the end, with a size", "v: f32[N]", "y[i] = v[N - 1 - i] for i in N\nreturn y", [V], lambda v: v[::-1]),
    Row("a literal counts from the end", "x: f32[H, W]", "y[i] = x[i, -1] + x[-1, 0] for i in H\nreturn y", [X], lambda x: x[:, -1] + x[-1, 0]),
    Row("an iterator as a value", "x: f32[H, W]", "y[i, j] = x[i, j] * i - j for i in H, j in W\nreturn y", [X], lambda x: x * np.arange(4, dtype=F)[:, None] - np.arange(5, dtype=F)),
    Row("operations on elements", "x: f32[H, W]", "y[i, j] = where(x[i, j] > 0, sqrt(abs(x[i, j])), clip(x[i, j], -2, 0)) for i in H, j in W\nreturn y", [X], lambda x: np.where(x > 0, np.sqrt(abs(x)), np.clip(x, -2, 0))),
    Row("a def on elements", "x: f32[H, W]", "y[i, j] = twice(x[i, j]) for i in H, j in W\nreturn y", [X], lambda x: x + x),
    Row("a cast inside", "x: f32[H, W]", "y[i] = sum(f64(x[i, j]) for j in W) for i in H\nreturn y", [X], lambda x: x.astype(float).sum(1)),
    Row("whole arrays inside", "x: f32[H, W]", "y[i, j] = x[i, j] - mean(x) for i in H, j in W\nreturn y", [X], lambda x: x - x.mean(), ulp=1),
    Row("a literal extent", "v: f32[N]", "y[i] = v[i] for i in 3\nreturn y", [V], lambda v: v[:3]),
    Row("an extent of 0", "v: f32[N]", "y[i] = v[i] for i in 0\nreturn y", [V], np.zeros(0, F)),
    Row("a sum over nothing", "v: f32[N]", "y[i] = sum(v[i + u] for u in 0) for i in N\nreturn y", [V], np.zeros(7, F)),
    Row("a diagonal", "x: f32[N, N]", "d[i] = x[i, i] for i in N\nreturn d", [X[:, :4]], lambda x: x.diagonal()),
    Row("an outer product", "v: f32[N]", "o[i, j] = v[i] * v[j] for i in N, j in N\nreturn o", [V], lambda v: np.outer(v, v)),
    Row("a batched product", "a: f32[H, W, K], b: f32[H, K, J]", "c[n, i, j] = sum(a[n, i, k] * b[n, k, j] for k in K) for n in H, i in W, j in J\nreturn c", [np.ones((2, 3, 4), F), np.ones((2, 4, 5), F)], np.full((2, 3, 5), 4, F)),
    Row("the iterator's name is free afterwards", "v: f32[N]", "y[i] = v[i] for i in N\nz[i] = y[i] * 2 for i in N\ni = z + 1\nreturn i", [V], lambda v: v * 2 + 1),
    Row("in range at the call", "v: f32[N], w: f32[K]", "y[i] = v[i + 1] for i in K\nreturn y", [V, V[:3]], lambda v, w: v[1:4]),
    Row("out of range at the call", "v: f32[N], w: f32[K]", "y[i] = v[i + 1] for i in K\nreturn y + 1", [V, V], raises(ValueError, "i + 1 reaches K", "axis 0 of f32[N]", "N=7", "K=7")),
    Row("a computed index below 0 never counts from the end", "v: f32[N], k: i64", "y[i] = v[minimum(i - k, N - 1)] for i in N\nreturn y", [V, 1], raises(IndexError, "minimum(i - k, N - 1)", "axis 0 of v", "N=7")),
    Row("nor one of a product", "v: f32[N], k: i64", "y[i] = v[i * i - k] for i in 2\nreturn y", [V, 1], raises(IndexError, "i * i - k")),
    Row("a computed index in range", "v: f32[N], k: i64", "y[i] = v[minimum(i + k, N - 1)] for i in N\nreturn y", [V, 2], lambda v, k: v[np.minimum(np.arange(7) + 2, 6)]),
    Row("gathered data counts from the end", "v: f32[N], j: i64[M], k: i64", "y[i] = v[j[i] - k] for i in M\nreturn y", [V, np.array([0, 3]), 1], lambda v, j, k: v[j - 1]),
    Row("nothing is read out of an empty range", "v: f32[N], w: f32[K]", "y[i] = v[i + 7] for i in K\nreturn y", [V, V[:0]], np.zeros(0, F)),
]  # fmt: skip

PREAMBLE = "def twice(x) = x + x\n"
kernels, test_promise = rows_test(ROWS, PREAMBLE)

REFUSED = [
    ("beyond the extent", "y[i] = v[i + 1] for i in N", "TC0404", ["i + 1"]),
    ("below 0", "y[i] = v[i - 1] for i in N", "TC0404", ["i - 1", "-1"]),
    ("below 0 never counts from the end", "y[i] = v[i - 1] for i in 3", "TC0404", []),
    ("an axis too few", "y[i] = x[i] for i in N", "TC0405", ["index every axis"]),
    ("a whole array", "y[i, j] = x[i, j] + v for i in N, j in D", "TC0405", ["whole array"]),
    ("a name that is no iterator", "y[i, k] = x[i, 0] for i in N", "TC0119", ["`k`"]),
    ("an iterator that is not in the brackets", "y[i] = x[i, j] for i in N, j in D", "TC0119", ["`j`"]),
    ("an iterator twice", "y[i, i] = x[i, 0] for i in N", "TC0119", ["twice"]),
    ("keywords in a comprehension", "y = sum(v[i] for i in N, dtype=f64)", "TC0119", ["cast inside"]),
    ("another reduction", "y = mean(v[i] for i in N)", "TC0203", ["sum, prod, max, min, any, all"]),
    ("no ranges", "y[i] = v[i]", "TC0119", ["for i in N"]),
    ("a float index", "y[i] = v[i / 2] for i in N", "TC0404", []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "code", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED]
)
def test_refused(statement: str, code: str, words: list[str]) -> None:
    only_error(f"kernel k(v: f32[N], x: f32[N, D]) {{\n{statement}\nreturn y\n}}", code, *words)
