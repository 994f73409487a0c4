"""Ranks, empty extents, slices and broadcasting."""

from __future__ import annotations

import itertools

import numpy as np

from cases.kit import LENGTHS, NAN, F, T, add, f32, f64, i32, i64, refuse, zeros

add(
    "C44",
    "whole",
    "whole",
    inputs=(3.0,),
    expected=(f32(3), f32(3), f32(0), i64(0), f32(7)),
    ref=lambda x: (
        np.sum(np.float32(x)),
        np.max(np.float32(x)),
        np.var(np.float32(x)),
        np.argmax(np.float32(x)),
        np.float32(x) * 2 + 1,
    ),
)
add(
    "C44",
    "twice",
    "twice",
    inputs=(f32([1, 2, 3, 4]),),
    expected=(f32(10), f32(20)),
    ref=lambda x: (x.sum().sum(), x.sum().mean() + x.sum()),
)
for _n in ("axis0", "axis_minus1", "scan"):
    refuse("C44", _n, f"C44_{_n}.tdsl", r"axis|rank|scalar|0-d")

add(
    "C45",
    "sums_0x3",
    "sums",
    inputs=(zeros((0, 3)),),
    expected=(zeros(3), zeros(0), np.ones(3), f64(0)),
    ref=lambda x: (x.sum(0), x.sum(1), x.prod(0), x.sum()),
)
add(
    "C45",
    "sums_3x0",
    "sums",
    inputs=(zeros((3, 0)),),
    expected=(zeros(0), zeros(3), zeros(0), f64(0)),
    ref=lambda x: (x.sum(0), x.sum(1), x.prod(0), x.sum()),
)
add("C45", "max_rows_0x3", "max_rows", inputs=(zeros((0, 3)),), expected=zeros(0), ref=lambda x: x.max(1))
add(
    "C45",
    "max_rows_3x0",
    "max_rows",
    inputs=(zeros((3, 0)),),
    compare=("raises", "ValueError", "empty|zero-size|size 0|no identity"),
    ref=lambda x: x.max(1),
)
add(
    "C45",
    "truths",
    "truths",
    inputs=(zeros(0),),
    expected=(T, F, i64(0)),
    ref=lambda x: (x.all(), x.any(), np.count_nonzero(x)),
)
add(
    "C45",
    "moments",
    "moments",
    inputs=(zeros(0),),
    expected=(f64(NAN),) * 3,
    ref=lambda x: tuple(np.float64(0) / np.float64(len(x)) for _ in range(3)),
)
add(
    "C45",
    "moments_rows",
    "moments_rows",
    inputs=(zeros((2, 0), "f4"),),
    expected=(f32([NAN, NAN]),) * 2,
    ref=lambda x: (x.sum(1) / np.float32(0),) * 2,
)
for _n, _in, _f in (
    ("max_all", f64([]), np.max),
    ("min_all", i32([]), np.min),
    ("argmax_all", f64([]), np.argmax),
    ("argmin_rows", zeros((2, 0)), lambda x: x.argmin(1)),
):
    add(
        "C45",
        _n,
        _n,
        inputs=(_in,),
        compare=("raises", "ValueError", "empty|zero-size|size 0|no identity"),
        ref=_f,
    )
add(
    "C45",
    "pointwise",
    "pointwise",
    inputs=(zeros((2, 0, 4)),),
    expected=(zeros((2, 0, 4)), zeros((2, 4, 0))),
    ref=lambda x: (np.exp(x), x.transpose(0, 2, 1) + 1),
)
for _s in ((0, 3), (3, 0), (0, 0)):
    add(
        "C45",
        f"scan_{_s[0]}x{_s[1]}",
        "scan",
        inputs=(zeros(_s),),
        expected=zeros(_s),
        ref=lambda x: x.cumsum(1),
    )
refuse("C45", "provably_empty", "C45_provably_empty.tdsl", "empty|zero-size|size 0|no identity|zero elements")

_a47 = np.arange(28).reshape(4, 7)
add(
    "C47",
    "cuts",
    "cuts",
    inputs=(_a47,),
    ref=lambda a: (a[9:], a[:, 6:3], a[-20:2], a[::-1], a[8:1:-3]),
    expected=(
        zeros((0, 7), "i8"),
        zeros((4, 0), "i8"),
        i64(range(14)).reshape(2, 7),
        i64([*range(21, 28), *range(14, 21), *range(7, 14), *range(7)]).reshape(4, 7),
        i64(range(21, 28)).reshape(1, 7),
    ),
)
add(
    "C47",
    "inferred",
    "inferred",
    inputs=(_a47,),
    ref=lambda a: (a[3:1:-1, ::3], a[-2:, -100:100:2], a[1:1], a[:-5]),
    expected=(
        i64([[21, 24, 27], [14, 17, 20]]),
        i64([[14, 16, 18, 20], [21, 23, 25, 27]]),
        zeros((0, 7), "i8"),
        zeros((0, 7), "i8"),
    ),
)
add(
    "C47",
    "empty_sum",
    "empty_sum",
    inputs=(_a47,),
    expected=(zeros(7, "i8"), i64(0)),
    ref=lambda a: (a[9:].sum(0), a[:, 6:3].sum()),
)

_x48 = f64([[0.5, 1, 1.5, 2, -1, 0.25], [1, 2, 1, 1, -1, 0.5]])
add(
    "C48",
    "weighted",
    "weighted",
    inputs=(f64([1, 2]), _x48),
    expected=f64(13.25),
    ref=lambda w, x: (w[:, None] * x).sum(),
)
add(
    "C48",
    "row",
    "row",
    sweep=lambda: ((f"n={n}", (np.arange(n) * 1.0, np.full((1, n), 2.0))) for n in (0, *LENGTHS)),
    expected=lambda a, b: (np.arange(len(a)) * 2.0)[None],
    ref=lambda a, b: a * b,
)
add(
    "C48",
    "outer_sum",
    "outer_sum",
    inputs=(np.ones((3, 1)), np.ones((1, 4))),
    expected=f64(24),
    ref=lambda a, b: (a + b).sum(),
)
add(
    "C48",
    "outer_sum_sizes",
    "outer_sum",
    sweep=lambda: (
        (f"{n}x{d}", (np.arange(n * 1.0)[:, None], np.arange(d * 2.0)[None]))
        for n in (1, 2, 7, 9, 16)
        for d in (1, 3, 8, 17)
    ),
    expected=lambda a, b: f64(a.sum() * b.size + b.sum() * a.size),
    ref=lambda a, b: (a + b).sum(),
)
add(
    "C48",
    "spread",
    "spread",
    inputs=(2.0,),
    expected=np.full((2, 3), 2, "f4"),
    ref=lambda x: np.broadcast_to(np.float32(x), (2, 1, 3)).sum(1),
)
add(
    "C48",
    "middle",
    "middle",
    inputs=lambda: (np.arange(15, dtype="f4").reshape(3, 1, 5), np.arange(4, dtype="f4").reshape(4, 1) * 100),
    expected=lambda a, b: (a[:, 0] * 4 + 600, np.concatenate([a + 100 * k for k in range(4)], 1)),
    ref=lambda a, b: ((a + b).sum(1), a + b),
)

add(
    "C50",
    "twin",
    "twin",
    inputs=(f32([[4.5, 5.5]]),),
    expected=(f32([[4.5, 5.5]] * 2), f32([[20.25, 30.25]] * 2), f32([4.5, 5.5])),
    ref=lambda p: (v := np.concatenate([p, p]), v * v, v.min(0)),
)
add(
    "C50",
    "twin_sizes",
    "twin",
    sweep=lambda: (
        (f"{n}x{d}", (f32((np.arange(n * d) * 7 % 23 - 11).reshape(n, d)),))
        for n in (1, 2, 5, 9)
        for d in (1, 3, 8, 17)
    ),
    expected=lambda p: (np.tile(p, (2, 1)), np.tile(p * p, (2, 1)), p.min(0)),
    ref=lambda p: (v := np.concatenate([p, p]), v * v, v.min(0)),
)
add(
    "C50",
    "chain",
    "chain",
    sweep=lambda: ((f"n={n}", (np.arange(n) * 1.0,)) for n in LENGTHS),
    expected=lambda p: (
        np.concatenate([p + 1 + 2 * (p[::-1] + 1), 2 * (p + 1) + (p[::-1] + 1)]),
        f64(5 * ((p + 1) ** 2).sum()),
    ),
    ref=lambda p: ((v := np.concatenate([p + 1, (p + 1) * 2])) + v[::-1], (v * v).sum()),
)

for _n in ("dynamic", "fixed"):
    add(
        "C52",
        _n,
        _n,
        sweep=lambda: (
            (f"n={n}", (-np.arange(n, dtype="f4")[:, None],)) for n in (1, 9, 32767, 32768, 40000)
        ),
        expected=lambda a: (zeros(len(a), "i8"),) * 2,
        ref=lambda a: (a.argmin(1), a.argmax(1)),
    )

add(
    "C54",
    "blocks",
    "blocks",
    inputs=(np.arange(24.0),),
    expected=f64([45, 145, 86]),
    ref=lambda x: f64([x[i : i + 10].sum() for i in range(0, 24, 10)]),
)
add(
    "C54",
    "total",
    "total",
    sweep=lambda: ((f"n={n}", (np.arange(n) + 1.0,)) for n in (*range(131), 1000, 4095, 4096, 4097, 65537)),
    expected=lambda x: f64(len(x) * (len(x) + 1) / 2),
    ref=lambda x: x.sum(),
)
add(
    "C54",
    "threads",
    "total",
    sweep=lambda: ((f"n={n}", (np.arange(n) % 1024 * 1.0,)) for n in (1 << 20, (1 << 20) - 1, (1 << 20) + 7)),
    expected=lambda x: f64(sum(x.astype("i8").tolist())),
    ref=lambda x: x.sum(),
    threads=(1, 2, 3, 7),
)
add(
    "C54",
    "scan_threads",
    "scan",
    inputs=lambda: (np.arange(300001) % 7 - 3,),
    expected=lambda x: i64(list(itertools.accumulate(x.tolist()))),
    ref=np.cumsum,
    threads=(1, 2, 3, 7),
)
add(
    "C54",
    "plane",
    "plane",
    sweep=lambda: (
        (f"{n}x{d}", (np.arange(n * d).reshape(n, d),))
        for n in (1, 3, 8, 10, 17, 33)
        for d in (1, 2, 7, 8, 24, 33, 65)
    ),
    expected=lambda x: (
        i64([sum(r) for r in x.tolist()]),
        i64([sum(c) for c in x.T.tolist()]),
        i64(x.size * (x.size - 1) // 2),
    ),
    ref=lambda x: (x.sum(1), x.sum(0), x.sum()),
)
add(
    "C54",
    "scan",
    "scan",
    sweep=lambda: ((f"n={n}", (np.arange(n) + 1,)) for n in (*range(70), 1000, 4097)),
    expected=lambda x: np.arange(1, len(x) + 1) * np.arange(2, len(x) + 2) // 2,
    ref=np.cumsum,
)
