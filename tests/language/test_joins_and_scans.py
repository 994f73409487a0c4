"""Section 3 of the language: scans, and what is joined, padded, rolled, repeated."""
# ruff: noqa: E501

from __future__ import annotations

import math

import numpy as np
import pytest
from promises import Row, compile_rows, only_error, raises, rows_test

F = np.float32
RNG = np.random.default_rng(19)
X = RNG.integers(-9, 9, size=(3, 5)).astype(F)
Y = RNG.integers(-9, 9, size=(3, 5)).astype(F)
V = np.array([3, -1, 4, 1, -5, 9], F)
NAN = np.array([1, 3, np.nan, 5, 2], F)
I = RNG.integers(-9, 9, size=(3, 5)).astype(np.int32)  # noqa: E741
B = X > 0
E = np.zeros((0, 5), F)
ZEROS = np.array([-0.0, 0.0, -0.0], F)

ROWS = [
    Row("scans along an axis", "x: f32[N, D]", "cumulative_sum(x, axis=0), cumulative_sum(x, axis=-1), cumulative_prod(x, axis=1), cumulative_max(x, axis=0), x.cumulative_sum(axis=1)",
        [X], lambda x: (x.cumsum(0), x.cumsum(1), x.cumprod(1), np.maximum.accumulate(x, 0), x.cumsum(1))),
    Row("a scan of rank 1 needs no axis", "v: f32[N]", "cumulative_sum(v), cumulative_prod(v), cumulative_max(v)", [V], lambda v: (v.cumsum(), v.cumprod(), np.maximum.accumulate(v))),
    Row("scans of integers and bool", "i: i32[N, D], b: bool[N, D]", "cumulative_sum(i, axis=1), cumulative_prod(i, axis=0), cumulative_max(i, axis=1), cumulative_sum(b, axis=0), cumulative_sum(i, axis=1, dtype=i32), cumulative_sum(i, axis=1, dtype=f32)",
        [I, B], lambda i, b: (i.cumsum(1, dtype=np.int64), i.cumprod(0, dtype=np.int64), np.maximum.accumulate(i, 1), b.cumsum(0, dtype=np.int64), i.cumsum(1, dtype=np.int32), i.cumsum(1, dtype=F))),
    Row("include_initial", "x: f32[N, D]", "cumulative_sum(x, axis=1, include_initial=true), cumulative_prod(x, axis=0, include_initial=true)", [X],
        lambda x: (np.cumulative_sum(x, axis=1, include_initial=True), np.cumulative_prod(x, axis=0, include_initial=True))),
    Row("a scan of nothing", "e: f32[N, D]", "cumulative_sum(e, axis=0), cumulative_max(e, axis=1), cumulative_sum(e, axis=0, include_initial=true)", [E], (E, E, np.zeros((1, 5), F))),
    Row("a maximum so far keeps nan", "v: f32[N]", "cumulative_max(v)", [NAN], (np.array([1, 3, np.nan, np.nan, np.nan], F),)[0]),
    Row("a maximum so far orders zeros", "v: f32[N]", "cumulative_max(v)", [ZEROS], (np.array([-0.0, 0.0, 0.0], F),)[0]),
    Row("a scan of a computed value", "x: f32[N, D]", "cumulative_sum(x * x, axis=1) / (1 + arange(D)), sum(cumulative_sum(x, axis=0))", [X], lambda x: ((x * x).cumsum(1) / (1 + np.arange(5, dtype=F)), x.cumsum(0).sum())),
    Row("a scan of a flipped array", "x: f32[N, D]", "flip(cumulative_sum(flip(x, axis=1), axis=1), axis=1)", [X], lambda x: x[:, ::-1].cumsum(1)[:, ::-1]),
    Row("joined along an axis", "x: f32[N, D], y: f32[M, D]", "concat((x, y), axis=0), concat((x, y, x), axis=-2), concat((x, y)), concat((x, x), axis=1), concat((x, y), axis=None)",
        [X, Y[:2]], lambda x, y: (np.concat((x, y)), np.concat((x, y, x)), np.concat((x, y)), np.concat((x, x), 1), np.concat((x.ravel(), y.ravel())))),
    Row("one alone, and nothing", "x: f32[N, D], e: f32[M, D]", "concat((x,)), concat((e, x, e)), stack((x,))", [X, E], lambda x, e: (x, x, x[None])),
    Row("joined dtypes promote", "x: f32[N, D], i: i32[N, D], b: bool[N, D]", "concat((x, i)), stack((i, b)), concat((b, f64(x)), axis=1)", [X, I, B], lambda x, i, b: (np.concat((x, i)), np.stack((i, b)), np.concat((b, x.astype(float)), 1))),
    Row("stacked along any axis", "x: f32[N, D], y: f32[N, D]", "stack((x, y)), stack((x, y), axis=1), stack((x, y), axis=2), stack((x, y), axis=-3), stack((sum(x), sum(y)))",
        [X, Y], lambda x, y: (np.stack((x, y)), np.stack((x, y), 1), np.stack((x, y), 2), np.stack((x, y)), np.stack((x.sum(), y.sum())))),
    Row("joined parts of the same array", "v: f32[N]", "concat((v[3:], v[:3])), concat((v[:1], v[1:] - v[:-1]))", [V], lambda v: (np.concat((v[3:], v[:3])), np.concat((v[:1], np.diff(v))))),
    Row("padded", "x: f32[N, D]", "pad(x, 1), pad(x, (1, 2)), pad(x, ((0, 1), (2, 0))), pad(x, ((1, 0), (0, 0)), value=-inf), pad(x, 0)",
        [X], lambda x: (np.pad(x, 1), np.pad(x, (1, 2)), np.pad(x, ((0, 1), (2, 0))), np.pad(x, ((1, 0), (0, 0)), constant_values=-np.inf), x)),
    Row("padded in every mode", "v: f32[N]", 'pad(v, 3, mode="edge"), pad(v, 3, mode="reflect"), pad(v, 3, mode="wrap"), pad(v, 3, mode="constant", value=2), pad(v, ((5, 5),), mode="reflect"), pad(v, ((6, 6),), mode="wrap")',
        [V], lambda v: (np.pad(v, 3, mode="edge"), np.pad(v, 3, mode="reflect"), np.pad(v, 3, mode="wrap"), np.pad(v, 3, constant_values=2), np.pad(v, 5, mode="reflect"), np.pad(v, 6, mode="wrap"))),
    Row("wider than the array", "v: f32[N]", 'pad(v, 6, mode="reflect"), pad(v, 13, mode="reflect"), pad(v, 7, mode="wrap"), pad(v, 20, mode="wrap")',
        [V], lambda v: (np.pad(v, 6, mode="reflect"), np.pad(v, 13, mode="reflect"), np.pad(v, 7, mode="wrap"), np.pad(v, 20, mode="wrap"))),
    Row("of one element", "v: f32[N]", 'pad(v, 2, mode="reflect"), pad(v, 2, mode="wrap"), pad(v, 2, mode="edge")', [V[:1]], (np.full(5, 3, F),) * 3),
    Row("a reflection of nothing", "v: f32[N]", 'pad(v, 1, mode="reflect")', [V[:0]], raises(ValueError, "N is 0")),
    Row("a wrap of nothing", "v: f32[N]", 'pad(v, 1, mode="wrap")', [V[:0]], raises(ValueError, "N is 0")),
    Row("an edge of nothing", "v: f32[N]", 'pad(v, 1, mode="edge")', [V[:0]], raises(ValueError, "N")),
    Row("nothing padded with a value", "v: f32[N]", "pad(v, 2, value=3)", [V[:0]], np.full(4, 3, F)),
    Row("rolled", "x: f32[N, D], n: i64", "roll(x, 1), roll(x, -7), roll(x, 1, axis=0), roll(x, -2, axis=-1), roll(x, (1, 2), axis=(0, 1)), roll(x, 100, axis=1), roll(x, n, axis=1)",
        [X, 3], lambda x, n: (np.roll(x, 1), np.roll(x, -7), np.roll(x, 1, 0), np.roll(x, -2, -1), np.roll(x, (1, 2), (0, 1)), np.roll(x, 100, 1), np.roll(x, 3, 1))),
    Row("rolled nothing", "e: f32[N, D]", "roll(e, 1), roll(e, 2, axis=0)", [E], (E, E)),
    Row("repeated", "x: f32[N, D], n: i64", "repeat(x, 2), repeat(x, 3, axis=0), repeat(x, 2, axis=-1), repeat(x, n, axis=1), repeat(x, 0, axis=0)",
        [X, 2], lambda x, n: (np.repeat(x, 2), np.repeat(x, 3, 0), np.repeat(x, 2, 1), np.repeat(x, 2, 1), np.repeat(x, 0, 0))),
    Row("repeated with a count for each", "w: f32[3]", "repeat(w, (1, 0, 2))", [V[:3]], lambda w: np.repeat(w, (1, 0, 2))),
    Row("tiled", "x: f32[N, D], n: i64", "tile(x, 2), tile(x, (2, 1)), tile(x, (2, 3)), tile(x, (2, 1, 1)), tile(x, (n, 1)), tile(x, (1, 0))",
        [X, 2], lambda x, n: (np.tile(x, 2), np.tile(x, (2, 1)), np.tile(x, (2, 3)), np.tile(x, (2, 1, 1)), np.tile(x, (2, 1)), np.tile(x, (1, 0)))),
    Row("sums of what is joined", "x: f32[N, D], y: f32[N, D]", "sum(concat((x, y), axis=1), axis=1), max(stack((x, y)), axis=0), sum(pad(x, 1), axis=0), concat((x, y)) @ x.T, sum(roll(x, 1, axis=1) * x)",
        [X, Y], lambda x, y: (np.concat((x, y), 1).sum(1), np.maximum(x, y), np.pad(x, 1).sum(0), np.concat((x, y)) @ x.T, (np.roll(x, 1, 1) * x).sum())),
]  # fmt: skip

kernels, test_promise = rows_test(ROWS)

REFUSED = [
    ("a scan without an axis", "cumulative_sum(x)", "TC0403"), ("a scan of a rank-0 value", "cumulative_sum(sum(x))", "TC0403"), ("a scan out of range", "cumulative_sum(x, axis=2)", "TC0403"),
    ("a join of other sizes", "concat((x, x.T), axis=0)", "TC0415"), ("a join out of range", "concat((x, x), axis=2)", "TC0403"), ("a join of other ranks", "concat((x, x[0]))", "TC0405"),
    ("a join without a tuple", "concat(x, x)", "TC0204"), ("a join of nothing", "concat(())", "TC0204"), ("a join of scalars", "concat((1, 2))", "TC0405"),
    ("a stack of other shapes", "stack((x, x.T))", "TC0415"), ("an unknown mode", 'pad(x, 1, mode="mirror")', "TC0307"), ("a negative width", "pad(x, -1)", "TC0410"),
    ("a value that does not fit", "pad(i32(x), 1, value=0.5)", "TC0303"), ("a negative count", "repeat(x, -1)", "TC0410"), ("a float shift", "roll(x, 0.5)", "TC0410"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "code"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(expression: str, code: str) -> None:
    only_error(f"kernel k(x: f32[N, D]) {{ return {expression} }}", code)


@pytest.mark.parametrize("n", [1, 2, 9, 1000, 50_000])
def test_each_prefix_keeps_the_bound_of_sums(n: int) -> None:
    (kernel,) = compile_rows([Row("scan", "x: f32[N]", "cumulative_sum(x)", [], 0)]).values()
    for x in (
        RNG.normal(size=n).astype(F),
        RNG.uniform(size=n).astype(F),
        np.where(np.arange(n) % 2, F(1e8), F(-1e8)),
    ):
        wide = x.astype(np.longdouble)
        count = np.arange(1, n + 1)
        limit = (np.array([math.log2(c) for c in count]) + 9) * 2.0**-24 * np.cumsum(abs(wide))
        assert (abs(kernel(x) - np.cumsum(wide)) <= limit).all()
