"""Rounding, accumulation and constants."""

from __future__ import annotations

import math

import numpy as np

from cases.kit import (
    INF,
    LENGTHS,
    add,
    down,
    f16,
    f32,
    f64,
    sum_bound,
    tiled,
    tiled2,
    two_pass,
)

# f64 accumulators, so the result is the f64 value rounded once; 1 ulp is allowed
add(
    "C01",
    "pair",
    "var1",
    inputs=(f32([4096.5, 4096.25]),),
    expected=f64(0.03125),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(lambda x: two_pass(x, ddof=1)),
)
add(
    "C01",
    "four",
    "var1",
    inputs=(f32([1e4, 10001, 10002, 10003]),),
    expected=f64(5 / 3),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(lambda x: two_pass(x, ddof=1)),
)


def _c01():
    for n in LENGTHS[1:]:
        yield f"n={n}", (f32(4096 + (np.arange(n) * 7 % 5) / 4),)
        yield f"n={n} negative mean", (f32(-1e6 + (np.arange(n) * 3 % 7)),)


def _c01_plane():
    for n, d in [(1, 2), (3, 5), (5, 8), (2, 33), (17, 9), (64, 3)]:
        yield f"{n}x{d}", (f32(30000 + (np.arange((n + 1) * d).reshape(n + 1, d) * 5 % 11) / 8),)


add(
    "C01",
    "lengths",
    "var1",
    sweep=_c01,
    expected=lambda x: np.var(x.astype("f8"), ddof=1),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(lambda x: two_pass(x, ddof=1)),
)
add(
    "C01",
    "rows",
    "var_rows",
    sweep=_c01_plane,
    expected=lambda x: np.var(x.astype("f8"), axis=1),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(lambda x: two_pass(x, axis=1)),
)
add(
    "C01",
    "columns",
    "var_cols",
    sweep=_c01_plane,
    expected=lambda x: np.var(x.astype("f8"), axis=0, ddof=1),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(lambda x: two_pass(x, axis=0, ddof=1)),
)

for _name, _scale, _want in (
    ("large", 1e30, 1.2909944487358056e30),
    ("small", 1e-30, 1.2909944487358056e-30),
):
    add(
        "C02",
        _name,
        "std1",
        inputs=(f32([1, 2, 3, 4]) * np.float32(_scale),),
        expected=f64(_want),
        dtype="f4",
        compare=("rtol", 2e-7),
        ref=down(lambda x: np.sqrt(two_pass(x, ddof=1))),
    )


def _c02():
    for n in LENGTHS[1:]:
        for s in (1e30, 1.0, 1e-30):
            yield f"n={n},scale={s}", (f32((np.arange(n) * 5 % 9 + 1.0) * s),)


add(
    "C02",
    "lengths",
    "std1",
    sweep=_c02,
    expected=lambda x: np.std(x.astype("f8"), ddof=1),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(lambda x: np.sqrt(two_pass(x, ddof=1))),
)
add(
    "C02",
    "rows",
    "std_rows",
    inputs=lambda: (f32(np.arange(1, 36).reshape(5, 7) % 6) * f32([[1e30], [1], [1e-30], [1e18], [1e-20]]),),
    expected=lambda x: np.std(x.astype("f8"), axis=1),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(lambda x: np.sqrt(two_pass(x, axis=1))),
)
add(
    "C02",
    "mean_1e5",
    "var0",
    inputs=(np.float32(1e5) + f32([-1, 0, 1, 0] * 64),),
    expected=f32(0.5),
    ref=down(two_pass),
)


def _c03():
    yield "2^24 then ones", (f32(np.concatenate([[2.0**24], np.ones(4096)])),)
    yield "ones then 2^24", (f32(np.concatenate([np.ones(4096), [2.0**24]])),)
    for n in (*LENGTHS, 255, 1000, 4097, 100003):
        yield f"1.3 x {n}", (np.full(n, 1.3, np.float32),)
        yield f"mixed signs, {n}", (f32(((np.arange(n) * 7919) % 1009 - 500) / 7),)


def _c03_plane():
    for n, d in [(300, 200), (3, 4097), (4097, 3), (1, 1), (5, 40), (40, 5)]:
        yield f"{n}x{d}", (np.full((n, d), 1.3, np.float32),)


# 16781312 exactly is not promised, the pairwise bound is (an f32 running
# total is out by 4096)
add(
    "C03",
    "total",
    "total",
    sweep=_c03,
    expected=lambda x: x.astype("f8").sum(),
    dtype="f4",
    compare=("abs", sum_bound),
    ref=lambda x: np.float32(math.fsum(map(float, x))),
)
add(
    "C03",
    "total2",
    "total2",
    sweep=_c03_plane,
    expected=lambda x: x.astype("f8").sum(),
    dtype="f4",
    compare=("abs", sum_bound),
    ref=lambda x: np.float32(math.fsum(map(float, x.ravel()))),
)
for _name, _axis in (("rows", 1), ("cols", 0)):
    add(
        "C03",
        _name,
        _name,
        sweep=_c03_plane,
        expected=lambda x, a=_axis: x.astype("f8").sum(axis=a),
        dtype="f4",
        compare=("abs", lambda x, a=_axis: sum_bound(x, a)),
        ref=lambda x, a=_axis: f32([math.fsum(map(float, r)) for r in np.moveaxis(x, a, -1)]),
    )
add(
    "C03",
    "average",
    "average",
    sweep=_c03,
    expected=lambda x: x.astype("f8").mean(),
    dtype="f4",
    compare=("abs", lambda x: sum_bound(x) / x.size),
    ref=lambda x: np.float32(math.fsum(map(float, x)) / x.size),
)

_ones16 = lambda n: lambda: (np.ones(n, np.float16),)
_sum16 = lambda x: np.float16(math.fsum(map(float, x)))
# large enough to be worth threads: the same bits whatever their number
add(
    "C03",
    "threads",
    "total",
    inputs=lambda: (f32((np.arange(1 << 20) * 7919 % 1009 - 300) / 7),),
    expected=lambda x: x.astype("f8").sum(),
    dtype="f4",
    compare=("abs", sum_bound),
    ref=lambda x: np.float32(math.fsum(x.tolist())),
    threads=(1, 2, 3, 5),
)
add("C05", "sum_20000", "sum16", inputs=_ones16(20000), expected=f16(20000), ref=_sum16)
add(
    "C05", "sum_70000", "sum16", inputs=_ones16(70000), expected=f16(INF), ref=_sum16
)  # 70000 is above the f16 range
add(
    "C05",
    "mean_70000",
    "mean16",
    inputs=_ones16(70000),
    expected=f16(1),
    ref=lambda x: np.float16(math.fsum(map(float, x)) / len(x)),
)
add(
    "C05",
    "rows",
    "rows16",
    inputs=lambda: (np.ones((3, 5000), np.float16) * f16([[1], [2], [0.5]]),),
    expected=f16([5000, 10000, 2500]),
    ref=lambda x: x.sum(1, dtype=np.float64).astype("f2"),
)
# 20096 = 157 * 128 is a bf16 number; a bf16 running total stops at 256
add(
    "C05",
    "bf16",
    "sum_bf16",
    inputs=lambda: (np.ones(20096, np.float32),),
    expected=f32(20096),
    ref=lambda x: np.float32(x.sum(dtype="f8")),
)

_tenth = lambda t: (
    lambda: ((f"n={n}", (np.full(n, 0.1, t), np.full(n, -0.1, t), np.full(n, 0.3, t))) for n in LENGTHS)
)
_zeros = lambda *a: np.zeros_like(a[0])
add("C06", "axbx_f32", "axbx", sweep=_tenth(np.float32), expected=_zeros, ref=lambda a, b, x: a * x + b * x)
add("C06", "axbx_f64", "axbx64", sweep=_tenth(np.float64), expected=_zeros, ref=lambda a, b, x: a * x + b * x)
add(
    "C06",
    "squares",
    "squares",
    sweep=lambda: ((l, (x, x)) for l, (x,) in tiled([0.1, 0.7, 1 / 3, 1e10, 1e-10], "f4")()),
    expected=_zeros,
    ref=lambda p, q: p * p - q * q,
)
add(
    "C06",
    "split",
    "split",
    sweep=lambda: ((l, (x, x[::-1].copy())) for l, (x,) in tiled([0.1, 0.7, 1 / 3, 3e9], "f4")()),
    expected=_zeros,
    ref=lambda a, x: a * x - a * x,
)


def _c06_fused():
    for label, (a, x) in tiled2([0.1, 0.7, 1 / 3, 1.1], [0.3, 0.9, 1 / 7, 1.3], "f4")():
        yield label, (a, x, -(a * x))


# the residue of the product is exact in f64, so this is the correctly rounded fma
add(
    "C06",
    "explicit_fma",
    "fused",
    sweep=_c06_fused,
    expected=lambda a, x, c: f32(a.astype("f8") * x.astype("f8") + c.astype("f8")),
    ref=lambda a, x, c: f32(a.astype("g") * x.astype("g") + c.astype("g")),
)

_masked = lambda s, m: (t := s + np.float32(-1e30) * (np.float32(1) - np.float32(m))) - t.max()
add("C07", "open", "masked", inputs=(f32([0.875, 0.25]), 1.0), expected=f32([0, -0.625]), ref=_masked)
add("C07", "closed", "masked", inputs=(f32([0.875, 0.25]), 0.0), expected=f32([0, 0]), ref=_masked)
add(
    "C07",
    "lengths",
    "masked",
    sweep=lambda: ((f"n={n}", (f32(np.arange(n) / 8), 1.0)) for n in LENGTHS),
    expected=lambda s, m: f32((np.arange(len(s)) - (len(s) - 1)) / 8),
    ref=_masked,
)
add(
    "C07",
    "shift_back",
    "shift_back",
    sweep=tiled([1, 3, 4, 5, 8, 12, -7, 0.5], "f4"),
    expected=lambda x: f32(np.float32(x.astype("f8") + 1e8).astype("f8") - 1e8),
    ref=lambda x: (x + np.float32(1e8)) - np.float32(1e8),
)
