"""NaN, infinities and signed zeros."""

from __future__ import annotations

import math

import numpy as np

from cases.kit import (
    INF,
    LENGTHS,
    NAN,
    F,
    T,
    add,
    b1,
    f16,
    f32,
    f64,
    i32,
    i64,
    pair,
    reduce_max,
    reduce_min,
    tiled,
    tiled2,
    tmax,
    tmin,
)


def _one_nan(t):
    def gen():
        for n in LENGTHS:
            for p in range(n):
                x = np.arange(n).astype(t)
                x[p] = NAN
                yield f"n={n},p={p}", (x,)

    return gen


_nan_like = lambda k: lambda x: (x.dtype.type(NAN),) * k if k > 1 else x.dtype.type(NAN)
add("C17", "max_f32", "max_f32", sweep=_one_nan("f4"), expected=_nan_like(1), ref=np.max)
add("C17", "min_f32", "min_f32", sweep=_one_nan("f4"), expected=_nan_like(1), ref=np.min)
add("C17", "both_f64", "both_f64", sweep=_one_nan("f8"), expected=_nan_like(2), ref=pair(np.max, np.min))
add("C17", "both_f16", "both_f16", sweep=_one_nan("f2"), expected=_nan_like(2), ref=pair(np.max, np.min))
add(
    "C17",
    "no_nan",
    "both_f64",
    inputs=(f64([4, -9, 12.5, 0.75]),),
    expected=(f64(12.5), f64(-9)),
    ref=pair(np.max, np.min),
)


def _c17_plane():
    for n, d in [(1, 1), (3, 5), (7, 17), (9, 33), (16, 8), (40, 3)]:
        for p in range(0, n * d, 1 if n * d < 60 else 7):
            x = np.arange(n * d, dtype=np.float32)
            x[p] = NAN
            yield f"{n}x{d},p={p}", (x.reshape(n, d),)


def _fold_nan(axis):
    def f(x):
        bad = np.isnan(x).any(axis=axis)
        return (
            np.where(bad, np.float32(NAN), np.where(np.isnan(x), -1, x).max(axis).astype("f4")),
            np.where(bad, np.float32(NAN), np.where(np.isnan(x), 1e9, x).min(axis).astype("f4")),
        )

    return f


for _name, _axis in (("rows", 1), ("cols", 0)):
    add(
        "C17",
        _name,
        _name,
        sweep=_c17_plane,
        expected=_fold_nan(_axis),
        ref=lambda x, a=_axis: (x.max(a), x.min(a)),
    )


def _c17_large():
    for p in (0, 77777, (1 << 20) - 1):
        x = np.arange(1 << 20, dtype=np.float32)
        x[p] = NAN
        yield f"n=2^20,p={p}", (x,)


add("C17", "threads", "max_f32", sweep=_c17_large, expected=_nan_like(1), ref=np.max, threads=(1, 2, 3))
add(
    "C17",
    "running",
    "running",
    sweep=_one_nan("f4"),
    ref=np.maximum.accumulate,
    expected=lambda x: np.where(np.arange(len(x)) >= np.isnan(x).argmax(), np.float32(NAN), x),
)

_a18, _b18 = [NAN, 1, -2, 5, NAN, 0.5], [3, NAN, 4, -5, NAN, 0.5]
_w18 = f32([NAN, NAN, 4, 5, NAN, 0.5]), f32([NAN, NAN, -2, -5, NAN, 0.5])
add("C18", "pair", "pair", inputs=(f32(_a18), f32(_b18)), expected=_w18, ref=pair(np.maximum, np.minimum))
add(
    "C18",
    "pair_swapped",
    "pair",
    inputs=(f32(_b18), f32(_a18)),
    expected=_w18,
    ref=pair(np.maximum, np.minimum),
)
for _t, _n in (("f4", "pair"), ("f8", "pair64")):
    add(
        "C18",
        f"{_n}_lengths",
        _n,
        sweep=tiled2(_a18, _b18, _t),
        expected=pair(tmax, tmin),
        ref=pair(np.maximum, np.minimum),
    )
add(
    "C18",
    "scalar_nan",
    "scalar",
    sweep=lambda: ((f"n={n}", (np.arange(n, dtype=np.float32), NAN)) for n in LENGTHS),
    expected=lambda a, s: (np.full(len(a), NAN, np.float32),) * 4,
    ref=lambda a, s: (np.maximum(a, s), np.maximum(s, a), np.minimum(a, s), np.minimum(s, a)),
)
add(
    "C18",
    "scalar",
    "scalar",
    sweep=lambda: ((l, (x, 0.75)) for l, (x,) in tiled([NAN, 1, -2, 0.75], "f4")()),
    expected=lambda a, s: (
        (np.where(np.isnan(a), a, f32(np.clip(a, 0.75, None))),) * 2
        + (np.where(np.isnan(a), a, f32(np.clip(a, None, 0.75))),) * 2
    ),
    ref=lambda a, s: (np.maximum(a, s), np.maximum(s, a), np.minimum(a, s), np.minimum(s, a)),
)
add(
    "C18",
    "relu_clip",
    "one",
    inputs=(f32([NAN, 1, -2, 5]),),
    expected=(f32([NAN, 1, 0, 5]), f32([NAN, 1, -1, 1]), f32([NAN, 1, 0, 5])),
    ref=lambda a: (np.maximum(a, np.float32(0)), np.clip(a, -1, 1), np.maximum(a, np.float32(0))),
)


def _c18_one(t="f4"):
    for n in LENGTHS:
        for p in range(n):
            a = (np.arange(n) % 5 - 2.5).astype(t)
            a[p] = NAN
            yield f"n={n},p={p}", (a,)


add(
    "C18",
    "relu_clip_positions",
    "one",
    sweep=_c18_one,
    expected=lambda a: tuple(
        np.where(np.isnan(a), a, f32([h(float(v)) for v in a]))
        for h in (lambda v: max(v, 0.0), lambda v: min(max(v, -1.0), 1.0), lambda v: max(v, 0.0))
    ),
    ref=lambda a: (np.maximum(a, np.float32(0)), np.clip(a, -1, 1), np.maximum(a, np.float32(0))),
)
for _lo, _hi in ((NAN, 1.0), (-1.0, NAN), (NAN, NAN)):
    add(
        "C18",
        f"bounds_{_lo}_{_hi}",
        "bounds",
        inputs=lambda lo=_lo, hi=_hi: (f32(np.arange(19) - 9), lo, hi),
        expected=lambda a, lo, hi: np.full(len(a), NAN, np.float32),
        ref=lambda a, lo, hi: np.minimum(np.maximum(a, np.float32(lo)), np.float32(hi)),
    )

_m20 = np.zeros((3, 6, 2), bool)
_m20[:, 2:, :] = True
_arg = pair(np.argmax, np.argmin)
add(
    "C20",
    "middle",
    "middle",
    inputs=(_m20,),
    expected=(np.full((3, 2), 2), np.zeros((3, 2), np.int64)),
    ref=lambda m: (m.argmax(1), m.argmin(1)),
)
add("C20", "flat", "flat", inputs=(b1([1, 1, 0, 1]),), expected=(i64(0), i64(2)), ref=_arg)


def _c20():
    for n in LENGTHS:
        for p in range(n):
            m = np.zeros(n, bool)
            m[p:] = True
            yield f"n={n},first true {p}", (m,)
            yield f"n={n},first false {p}", (~m,)


add(
    "C20",
    "positions",
    "flat",
    sweep=_c20,
    ref=_arg,
    expected=lambda m: (
        i64(m.tolist().index(True) if m.any() else 0),
        i64(m.tolist().index(False) if not m.all() else 0),
    ),
)
add(
    "C20",
    "computed",
    "computed",
    sweep=tiled([-1, NAN, 0, 2, 3], "f4"),
    expected=lambda x: _arg((x > 0).astype("i4")),
    ref=lambda x: _arg(x > 0),
)

_x21 = [-2, -0.0, 3, NAN, 5, -6, 7, 8, 9]
for _t, _n in ((f32, "gate"), (f64, "gate64")):
    _d = _t(0).dtype
    add(
        "C21",
        _n,
        _n,
        inputs=(_t(_x21),),
        expected=(_t([-0.0, -0.0, 3, NAN, 5, -0.0, 7, 8, 9]), _t([1, 1, 2, 1, 2, 1, 2, 2, 2])),
        ref=lambda x: (x * (x >= 0), (x > 0).astype(x.dtype) + x.dtype.type(1)),
    )
    add(
        "C21",
        _n + "_lengths",
        _n,
        sweep=tiled(_x21, _d),
        ref=lambda x: (x * (x >= 0), (x > 0).astype(x.dtype) + x.dtype.type(1)),
        expected=lambda x: (
            np.array([NAN if v != v else v * 1.0 if v >= 0 else v * 0.0 for v in x.tolist()], x.dtype),
            np.array([2 if v > 0 else 1 for v in x.tolist()], x.dtype),
        ),
    )
add(
    "C21",
    "count",
    "count",
    sweep=tiled2([1, 2, NAN, -1, 0, 5], [1, 1, 0, NAN, -0.0, 9], "f4"),
    expected=lambda x, y: (
        i64(sum(p > q for p, q in zip(x, y, strict=False))),
        i32([1 if p > q else 2 if p == q else 0 for p, q in zip(x, y, strict=False)]),
    ),
    ref=lambda x, y: ((x > y).sum(), (x > y).astype("i4") + (x == y).astype("i4") * np.int32(2)),
)

# TDSL says -0 orders below +0 (NumPy returns one
# operand or the other)
for _t, _n in (("f4", "pair"), ("f8", "pair64")):
    add(
        "C23",
        _n,
        _n,
        sweep=tiled2([-0.0, 0.0, -0.0, 0.0, 1, -0.0], [0.0, -0.0, -0.0, 0.0, 0.0, -1], _t, LENGTHS),
        expected=lambda a, b: (
            np.array(
                [
                    min(p, q, key=lambda v: (v, math.copysign(1, v)))
                    for p, q in zip(a.tolist(), b.tolist(), strict=False)
                ],
                a.dtype,
            ),
            np.array(
                [
                    max(p, q, key=lambda v: (v, math.copysign(1, v)))
                    for p, q in zip(a.tolist(), b.tolist(), strict=False)
                ],
                a.dtype,
            ),
        ),
        ref=pair(tmin, tmax),
    )


def _c23(flip):
    def gen():
        for n in LENGTHS:
            for p in range(n):
                x = np.full(n, -0.0 if flip else 0.0, np.float32)
                x[p] = 0.0 if flip else -0.0
                yield f"n={n},p={p}", (x,)

    return gen


for _flip in (False, True):
    add(
        "C23",
        f"whole_{'plus' if _flip else 'minus'}",
        "whole",
        sweep=_c23(_flip),
        expected=lambda x: (
            f32(-0.0 if np.signbit(x).any() else 0.0),
            f32(-0.0 if np.signbit(x).all() else 0.0),
        ),
        ref=pair(reduce_min, reduce_max),
    )
add(
    "C23",
    "columns",
    "cols",
    inputs=lambda: (np.where(np.arange(9 * 11).reshape(9, 11) % 10 == 3, np.float32(-0.0), np.float32(0)),),
    expected=lambda x: (
        np.where(np.signbit(x).any(0), f32(-0.0), f32(0)),
        np.where(np.signbit(x).all(0), f32(-0.0), f32(0)),
    ),
    ref=lambda x: (reduce_min(x, 0), reduce_max(x, 0)),
)
add(
    "C23",
    "relu_clip",
    "floor_at_zero",
    sweep=tiled([-0.0, 0.0, -1, 0.5, 2], "f4"),
    expected=lambda x: (
        np.where(x > 0, x, np.float32(0)),
        np.where(x > 1, np.float32(1), np.where(x > 0, x, np.float32(0))),
    ),
    ref=lambda x: (tmax(x, np.float32(0)), tmin(tmax(x, np.float32(0)), np.float32(1))),
)

_a24, _b24 = [6.25, -6.25, 0, 1e20, 4294967296, -0.0, -7.5, 1e10], [INF, -INF, INF, 3, 3, 1, 2, 7]
_w24 = [6.25, -6.25, 0, 2, 1, 0, 0.5, 10**10 % 7]
add("C24", "rem32", "rem32", inputs=(f32(_a24), f32(_b24)), expected=f32(_w24), ref=np.remainder)
add(
    "C24",
    "signs_differ",
    "rem64",
    inputs=(f64([6.25, -6.25]), f64([-INF, INF])),
    expected=f64([-INF, INF]),
    ref=np.remainder,
)


def _py_rem(a, b):
    def one(x, y):
        if x != x or y != y or math.isinf(x) or y == 0:
            return NAN
        r = math.fmod(x, y)
        return (r + y if (r < 0) != (y < 0) else r) if r else math.copysign(0.0, y)

    return np.array([one(float(x), float(y)) for x, y in zip(a, b, strict=False)]).astype(a.dtype)


_more = (
    [1e20, 5.5, -5.5, 2.0**31, 7, -7, 1, -1, INF, NAN, 3, 1e-40, 1e30, 0.75, -0.75],
    [3, INF, -INF, 3, 0.7, 0.7, 0, 0, 2, 1, NAN, 1, 1e-3, 0.25, 0.25],
)
for _t, _n in (("f4", "rem32"), ("f8", "rem64")):
    add(
        "C24",
        _n + "_lengths",
        _n,
        sweep=tiled2(_a24 + _more[0], _b24 + _more[1], _t),
        expected=_py_rem,
        ref=np.remainder,
    )
add(
    "C24",
    "constants",
    "rem_const",
    sweep=tiled([1e20, -1e20, 7.5, -7.5, 0.0, 4294967296, -1, 1e-40], "f4"),
    expected=lambda a: (
        _py_rem(a, np.full_like(a, 3)),
        _py_rem(a, np.full_like(a, -2.5)),
        _py_rem(a, np.full_like(a, INF)),
    ),
    ref=lambda a: (
        np.remainder(a, np.float32(3)),
        np.remainder(a, np.float32(-2.5)),
        np.remainder(a, np.float32(INF)),
    ),
)
add(
    "C24",
    "quotients",
    "quo64",
    inputs=(
        f64([7.5, -7.5, 7.5, -7.5, 6.25, -6.25, 1e20, 1, -1, 0, INF, 0.3, -0.0, 1]),
        f64([2, 2, -2, -2, INF, INF, 3, 0, 0, 0, 1, 0.1, 1, 0.1]),
    ),
    expected=f64([3, -4, -4, 3, 0, -1, 33333333333333331968.0, INF, -INF, NAN, NAN, 2, -0.0, 9]),
    ref=np.floor_divide,
)

_x26 = [NAN, 1, INF, -INF, -NAN, 0, 2, 3, NAN]
_w26 = lambda t: (
    b1([1, 0, 0, 0, 1, 0, 0, 0, 1]),
    b1([1, 0, 0, 0, 1, 0, 0, 0, 1]),
    t([0, 1, INF, -INF, 0, 0, 2, 3, 0]),
    b1([0, 0, 1, 1, 0, 0, 0, 0, 0]),
    b1([0, 1, 0, 0, 0, 1, 1, 1, 0]),
)
_r26 = lambda x: (np.isnan(x), x != x, np.where(np.isnan(x), x.dtype.type(0), x), np.isinf(x), np.isfinite(x))
for _t, _n in ((f32, "tests"), (f64, "tests64")):
    add("C26", _n, _n, inputs=(_t(_x26),), expected=_w26(_t), ref=_r26)
    add(
        "C26",
        _n + "_lengths",
        _n,
        sweep=tiled(_x26, _t(0).dtype),
        ref=_r26,
        expected=lambda x: (
            n := b1([math.isnan(v) for v in x]),
            n,
            np.array([0 if math.isnan(v) else v for v in x], x.dtype),
            b1([math.isinf(v) for v in x]),
            b1([math.isfinite(v) for v in x]),
        ),
    )
add(
    "C26",
    "counts",
    "counts",
    sweep=tiled(_x26, "f4"),
    ref=lambda x: (np.isnan(x).sum(), np.isinf(x).sum()),
    expected=lambda x: (i64(sum(math.isnan(v) for v in x)), i64(sum(math.isinf(v) for v in x))),
)


def _r27(x):
    t = x.dtype.type
    return (
        np.where(x > 0, x, t(NAN)),
        np.maximum(x, t(-INF)),
        np.minimum(x, t(INF)),
        np.where(x < 0, t(-INF), t(0)),
    )


for _t, _n in ((f32, "c32"), (f64, "c64")):
    _x = _t([1, -1, 0] * 3)
    add("C27", _n, _n, inputs=(_x,), expected=(_t([1, NAN, NAN] * 3), _x, _x, _t([0, -INF, 0] * 3)), ref=_r27)
    add(
        "C27",
        _n + "_lengths",
        _n,
        sweep=tiled([1, -1, 0], _x.dtype),
        ref=_r27,
        expected=lambda x: (
            np.array([v if v > 0 else NAN for v in x], x.dtype),
            x,
            x,
            np.array([-INF if v < 0 else 0 for v in x], x.dtype),
        ),
    )
add(
    "C27",
    "c16",
    "c16",
    inputs=(f16([1, -1, 0] * 5),),
    expected=(f16([1, NAN, NAN] * 5), f16([-INF, -1, -INF] * 5)),
    ref=lambda x: (np.where(x > 0, x, np.float16(NAN)), np.where(x < 0, x, np.float16(-INF))),
)
add(
    "C27",
    "filled",
    "filled",
    sweep=tiled([1], "f4"),
    expected=lambda x: np.full(len(x), -INF, np.float32),
    ref=lambda x: np.full_like(x, -INF),
)

_truth = pair(np.any, np.all)
for _label, _v, _w in (
    ("nan", [NAN], (T, T)),
    ("nan_and_one", [NAN, 1], (T, T)),
    ("zeros", [0.0, -0.0], (F, F)),
    ("subnormal", [1e-45, 2], (T, T)),
    ("nan_and_zero", [0, NAN], (T, F)),
):
    add("C29", _label, "truth32", inputs=(f32(_v),), expected=tuple(map(b1, _w)), ref=_truth)
add(
    "C29",
    "f64",
    "truth64",
    sweep=tiled([0.0, -0.0, 0, 0, 5e-324, 0, NAN], "f8"),
    ref=_truth,
    expected=lambda x: (b1(any(v != 0 for v in x.tolist())), b1(all(v != 0 for v in x.tolist()))),
)


def _c29():
    for n in LENGTHS:
        for p in range(n):
            m = np.zeros(n, bool)
            yield f"n={n},none", (m,)
            m = m.copy()
            m[p] = True
            yield f"n={n},only {p}", (m,)
            yield f"n={n},all but {p}", (~m,)


# bool products accumulate in i64 and return it
add(
    "C29",
    "mask",
    "mask",
    sweep=_c29,
    expected=lambda m: (
        b1(sum(m.tolist()) > 0),
        b1(sum(m.tolist()) == len(m)),
        i64(sum(m.tolist()) == len(m)),
    ),
    ref=lambda m: (m.any(), m.all(), m.prod()),
)
add(
    "C29",
    "mask2",
    "mask2",
    inputs=lambda: (np.arange(17 * 19).reshape(17, 19) % 18 != 0,),
    expected=lambda m: (m.sum(1) > 0, m.sum(0) == 17, i64(m.sum(0) == 17)),
    ref=lambda m: (m.any(1), m.all(0), m.prod(0)),
)
