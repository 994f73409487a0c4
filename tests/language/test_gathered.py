"""Sections 3 and 6 of the language: indices that are data, and divided ones."""
# ruff: noqa: E501

from __future__ import annotations

import numpy as np
import pytest
from promises import Row, compile_rows, only_error, raises, rows_test, same

F = np.float32
RNG = np.random.default_rng(23)
X = RNG.normal(size=(4, 5)).astype(F)
V = RNG.normal(size=7).astype(F)
T = RNG.normal(size=(2, 3, 4))
J = np.array([0, 3, -1, -4, 2, 2], np.int64)
K2 = np.array([[0, -1], [4, 1], [-5, 2]], np.int32)
AT = RNG.integers(-4, 4, size=(2, 5)).astype(np.int64)
U8 = np.array([0, 3, 1], np.uint8)
U64 = np.array([0, 3, 1], np.uint64)
NONE = np.zeros(0, np.int64)


def steps(count: int, f: object) -> np.ndarray:
    return np.array([f(k) for k in range(count)], F)  # type: ignore[operator]


ROWS = [
    Row("take along any axis", "x: f32[N, D], j: i64[M]", "take(x, j, axis=0), take(x, j, axis=1), take(x, j, axis=-1), x.take(j, axis=0)", [X, J],
        lambda x, j: (x.take(j, 0), x.take(j, 1), x.take(j, -1), x.take(j, 0))),
    Row("an index array of any rank", "x: f32[N, D], k: i32[A, B], t: f64[P, Q, R]", "take(x, k, axis=1), take(t, k[0:1] * 0 + 1, axis=1)", [X, K2, T], lambda x, k, t: (x.take(k, 1), t.take(k[0:1] * 0 + 1, 1))),
    Row("one index", "x: f32[N, D], n: i64", "take(x, 2, axis=0), take(x, -1, axis=1), take(x, n, axis=0)", [X, 1], lambda x, n: (x[2], x[:, -1], x[1])),
    Row("take of rank 1 needs no axis", "v: f32[N], j: i64[M]", "take(v, j), sum(take(v, j) * 2)", [V, J], lambda v, j: (v[j], (v[j] * 2).sum()), ulp=16),
    Row("unsigned indices", "v: f32[N], a: u8[M], b: u64[M]", "take(v, a), take(v, b)", [V, U8, U64], lambda v, a, b: (v[a], v[b])),
    Row("other dtypes are gathered", "i: i32[N], b: bool[N], j: i64[M]", "take(i, j), take(b, j)", [np.arange(7, dtype=np.int32), V > 0, J], lambda i, b, j: (i[j], b[j])),
    Row("no indices", "x: f32[N, D], j: i64[M]", "take(x, j, axis=0), take(x, j, axis=1)", [X, NONE], lambda x, j: (x[j], x[:, j])),
    Row("take_along_axis", "x: f32[N, D], a: i64[M, D]", "take_along_axis(x, a, axis=0)", [X, AT], lambda x, a: np.take_along_axis(x, a, 0)),
    Row("take_along_axis of the last axis", "x: f32[N, D], a: i64[N, M]", "take_along_axis(x, a), take_along_axis(x, a, axis=1), take_along_axis(x, a, axis=-1)", [X, AT.reshape(5, 2)[:4]], lambda x, a: (np.take_along_axis(x, a, 1),) * 3),
    Row("an argmax as an index", "x: f32[N, D]", "take_along_axis(x, argmax(x, axis=1, keepdims=true), axis=1)", [X], lambda x: x.max(1, keepdims=True)),
    Row("gathered in index notation", "x: f32[N, D], j: i64[M]", "y[i, k] = x[j[i], k] * 2 for i in M, k in D\nreturn y", [X, J], lambda x, j: x[j] * 2),
    Row("gathered twice", "v: f32[N], j: i64[M], k: i32[A, B]", "y[a, b] = v[j[k[a, b]]] for a in A, b in B\nreturn y", [V, J, K2], lambda v, j, k: v[j[k]]),
    Row("arithmetic on a gathered index", "v: f32[N], j: i64[M]", "y[i] = v[j[i] + 1] for i in M\nreturn y", [V, J], lambda v, j: v[j + 1]),
    Row("a gathered sum", "v: f32[N], j: i64[M]", "sum(v[j[i]] for i in M), max(v[j[i]] for i in M)", [V, J], lambda v, j: (v[j].astype(float).sum().astype(F), v[j].max()), ulp=2),
    Row("divided indices", "v: f32[N]", "y[i] = v[i // 2] for i in 2 * N\nz[i] = v[(i + 1) // 3] for i in N\nreturn y, z", [V], lambda v: (v.repeat(2), v[(np.arange(7) + 1) // 3])),
    Row("remainders", "v: f32[N]", "y[i] = v[i % 3] for i in 9\nreturn y", [V], lambda v: v[np.arange(9) % 3]),
    Row("an index from the end of the other side", "v: f32[N]", "y[i] = v[N - 1 - i // 2] for i in N\nreturn y", [V], lambda v: v[6 - np.arange(7) // 2]),
    Row("an integer value as an index", "x: f32[N, D], v: f32[D]", "x[argmax(x[:, 0])], v[argmin(v)]", [X, V[:5]], lambda x, v: (x[x[:, 0].argmax()], v.min())),
    Row("an upsampling by floor division", "x: f32[H, W]", "y[i, j] = x[i // 2, j // 2] for i in 2 * H, j in 2 * W\nreturn y", [X], lambda x: x.repeat(2, 0).repeat(2, 1)),
    *(
        Row(f"index {bad} of {n} is out of range", "v: f32[N], j: i64[M]", "take(v, j) + 1", [V[:n], np.array([0, bad])], raises(IndexError, "axis 0 of v,", f"N={n}"))
        for n, bad in ((3, 3), (3, -4), (3, 2**40), (3, -(2**63)), (1, 1))
    ),
    Row("out of range on the second axis", "x: f32[N, D], j: i64[M]", "take(x, j, axis=1)", [X, np.array([5])], raises(IndexError, "axis 1 of x,", "D=5")),
    Row("out of range in index notation", "x: f32[N, D], j: i64[M]", "y[i] = x[0, j[i]] for i in M\nreturn y * 2", [X, np.array([0, -6])], raises(IndexError, "axis 1 of x,", "D=5")),
    Row("out of range along an axis", "x: f32[N, D], a: i64[M, D]", "take_along_axis(x, a, axis=0)", [X, AT + 4], raises(IndexError, "x", "axis 0")),
    Row("an unsigned index out of range", "v: f32[N], b: u64[M]", "take(v, b)", [V, np.array([2**64 - 1], np.uint64)], raises(IndexError, "v")),
    Row("a gather from nothing", "v: f32[N], j: i64[M]", "take(v, j)", [V[:0], np.array([0])], raises(IndexError, "v")),
    Row("an iterator below 0 does not count from the end", "v: f32[N], n: i64", "y[i] = v[i - n] for i in 2\nreturn y", [V, 1], raises(ValueError, "i - n")),
]  # fmt: skip

kernels, test_promise = rows_test(ROWS)


def test_out_of_range_in_parallel_and_the_process_survives() -> None:
    (kernel,) = compile_rows(
        [Row("r", "x: f32[N, D], j: i64[M]", "exp(take(x, j, axis=0)) + 1", [], 0)]
    ).values()
    x = np.zeros((300, 400), F)
    j = np.arange(5000) % 300
    for threads in (1, 2):
        same(kernel(x, j, threads=threads), np.full((5000, 400), 2, F))
        for place in (0, 2500, 4999):
            bad = j.copy()
            bad[place] = 300
            with pytest.raises(IndexError, match="axis 0"):
                kernel(x, bad, threads=threads)
        same(kernel(x, j, threads=threads), np.full((5000, 400), 2, F))


REFUSED = [
    ("an axis that is missing", "take(x, j)", "TC0204"), ("an axis out of range", "take(x, j, axis=2)", "TC0403"), ("a float index", "take(x, f32(j), axis=0)", "TC0302"), ("a mask", "x[x > 0]", "TC0503"),
    ("an index array as a subscript", "x[j]", "TC0503"), ("a bool index", "take(x, j > 0, axis=0)", "TC0302"), ("other ranks", "take_along_axis(x, j, axis=0)", "TC0405"), ("take of a scalar", "take(sum(x), j, axis=0)", "TC0405"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "code"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(expression: str, code: str) -> None:
    only_error(f"kernel k(x: f32[N, D], j: i64[M]) {{ return {expression} }}", code)
