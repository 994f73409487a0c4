"""Integer arithmetic, casts and literals."""

from __future__ import annotations

import math

import numpy as np

from cases.kit import (
    INF,
    LENGTHS,
    MAX,
    MIN,
    NAN,
    add,
    b1,
    f32,
    f64,
    i32,
    i64,
    refuse,
    saturate,
    tiled,
    tiled2,
    u32,
    u64,
)

_x30 = np.full(9, MAX["i4"], np.int32)
add(
    "C30",
    "widen",
    "widen",
    inputs=(_x30,),
    expected=(np.full(9, -2), np.full(9, 1), np.full(9, 2147483647), np.zeros(9, bool)),
    ref=lambda x: (
        (x + x).astype("i8"),
        (x * x).astype("i8"),
        (-x - np.int32(2)).astype("i8"),
        x + np.int32(1) > x,
    ),
)


def _wrap(v, t):
    info = np.iinfo(t)
    return np.array([(int(e) - int(info.min)) % 2**info.bits + int(info.min) for e in v], t)


_ints = lambda x: [int(v) for v in x]
add(
    "C30",
    "widen_lengths",
    "widen",
    sweep=tiled([MAX["i4"], MIN["i4"], 1, -1, 0, 65536, 46341], "i4"),
    expected=lambda x: (
        _wrap([v + v for v in _ints(x)], "i4").astype("i8"),
        _wrap([v * v for v in _ints(x)], "i4").astype("i8"),
        _wrap([-v - 2 for v in _ints(x)], "i4").astype("i8"),
        b1([v != MAX["i4"] for v in _ints(x)]),
    ),
    ref=lambda x: (
        (x + x).astype("i8"),
        (x * x).astype("i8"),
        (-x - np.int32(2)).astype("i8"),
        x + np.int32(1) > x,
    ),
)
add(
    "C30",
    "small",
    "small",
    sweep=lambda: (
        (l, (x.astype("i1"), y))
        for l, (x, y) in tiled2([127, -128, 64, -1, 12], [32767, -32768, 256, -1, 182], "i2")()
    ),
    expected=lambda x, y: (
        _wrap([2 * v for v in _ints(x)], "i1"),
        _wrap([v * v for v in _ints(x)], "i1").astype("i8"),
        _wrap([v * v for v in _ints(y)], "i2"),
        b1([v != 32767 for v in _ints(y)]),
    ),
    ref=lambda x, y: (x + x, (x * x).astype("i8"), y * y, y + np.int16(1) > y),
)
add(
    "C30",
    "unsigned",
    "unsigned",
    sweep=lambda: (
        (l, (x.astype("u1"), y)) for l, (x, y) in tiled2([0, 255, 128, 1], [0, 2**32 - 1, 65536, 1], "u4")()
    ),
    expected=lambda x, y: (
        _wrap([v - 1 for v in _ints(x)], "u1"),
        _wrap([2 * v for v in _ints(x)], "u1").astype("i8"),
        _wrap([v - 1 for v in _ints(y)], "u4"),
        _wrap([v * v for v in _ints(y)], "u4").astype("u8"),
    ),
    ref=lambda x, y: (x - np.uint8(1), (x + x).astype("i8"), y - np.uint32(1), (y * y).astype("u8")),
)
add(
    "C30",
    "wide",
    "wide",
    sweep=tiled([MAX["i8"], MIN["i8"], 3037000500, -1, 0], "i8"),
    expected=lambda x: (_wrap([v * v + v for v in _ints(x)], "i8"), b1([v != MAX["i8"] for v in _ints(x)])),
    ref=lambda x: (x * x + x, x + 1 > x),
)

_div = lambda a, b: (a // b, a % b)


def _exact_div(a, b):
    """Python's floor division; by zero gives 0; wrapped to the type."""
    t = a.dtype
    ab = [(int(x), int(y)) for x, y in zip(a.ravel(), np.broadcast_to(b, a.shape).ravel(), strict=False)]
    return (
        _wrap([x // y if y else 0 for x, y in ab], t).reshape(a.shape),
        _wrap([x % y if y else 0 for x, y in ab], t).reshape(a.shape),
    )


for _t, _n in (("i1", "d8"), ("i2", "d16"), ("i4", "d32"), ("i8", "d64")):
    _m, _d = MIN[_t], np.dtype(_t)
    add(
        "C31",
        _n,
        _n,
        inputs=(np.array([_m, _m, 7], _d), np.array([-1, 1, -1], _d)),
        expected=(np.array([_m, _m, -7], _d), np.zeros(3, _d)),
        ref=_div,
    )
    add(
        "C31",
        _n + "_lengths",
        _n,
        sweep=tiled2([_m, 7, _m, _m + 1, -1], [-1, -2, 2, -1, _m], _d, LENGTHS),
        expected=_exact_div,
        ref=_div,
    )
add(
    "C31",
    "by_minus_one",
    "by_minus_one",
    sweep=lambda: ((l, (x, -1)) for l, (x,) in tiled([MIN["i8"], 7, 0, -1], "i8")()),
    expected=lambda a, d: _exact_div(a, -1) * 2,
    ref=lambda a, d: _div(a, np.int64(-1)) * 2,
)

for _t, _n in (("i4", "d32"), ("i8", "d64"), ("u1", "du8")):
    add(
        "C32",
        _n,
        _n,
        sweep=tiled2([1, 255 if _t == "u1" else -5, 0, 7, 9], [0, 0, 0, 2, 0], _t, LENGTHS),
        expected=_exact_div,
        ref=_div,
    )
add(
    "C32",
    "all_zero",
    "d64",
    inputs=(i64([1, -5, 0]), i64([0, 0, 0])),
    expected=(i64([0, 0, 0]), i64([0, 0, 0])),
    ref=_div,
)
add(
    "C32",
    "by_scalar",
    "by_scalar",
    inputs=(i64([1, -5, 0, 7] * 5), 0),
    expected=(np.zeros(20, "i8"), np.zeros(20, "i8")),
    ref=lambda a, d: _div(a, np.int64(d)),
)
add(
    "C32",
    "by_folded_zero",
    "by_folded_zero",
    inputs=(i32([1, -5, 0, 7] * 5),),
    expected=(np.zeros(20, "i4"), np.zeros(20, "i4")),
    ref=lambda a: _div(a, a - a),
)

_a34, _b34 = [-7, 7, -7, 7, -1, 0, 6, -6, -8], [2, -2, -2, 2, 3, -5, 3, 3, 3]
add(
    "C34",
    "table",
    "d64",
    inputs=(i64(_a34), i64(_b34)),
    expected=(i64([-4, -4, 3, 3, -1, 0, 2, -2, -3]), i64([1, -1, -1, 1, 2, 0, 0, 0, 1])),
    ref=_div,
)
add("C34", "lengths", "d64", sweep=tiled2(_a34, _b34, "i8"), expected=_exact_div, ref=_div)
add(
    "C34",
    "every_i8_pair",
    "d8",
    inputs=lambda: (
        np.repeat(np.arange(-128, 128), 256).astype("i1"),
        np.tile(np.arange(-128, 128), 256).astype("i1"),
    ),
    expected=_exact_div,
    ref=_div,
)
_edge32 = [*list(range(-41, 42)), MIN["i4"], MIN["i4"] + 1, MAX["i4"], MAX["i4"] - 1, 10**9, -(10**9)]
_edge64 = [*list(range(-41, 42)), MIN["i8"], MIN["i8"] + 1, MAX["i8"], 10**18, -(10**18), 2**53 + 1]
_c34 = lambda pairs: (
    lambda x: tuple(_exact_div(x, d)[k] for d, k in pairs),
    lambda x: tuple(_div(x, x.dtype.type(d))[k] for d, k in pairs),
)
for _n, _v, _t, _pairs in (
    ("consts32", _edge32, "i4", ((3, 0), (3, 1), (-3, 0), (-3, 1), (4, 0), (8, 1), (-8, 1))),
    ("consts64", _edge64, "i8", ((10, 0), (10, 1), (-7, 0), (4096, 1))),
):
    add("C34", _n, _n, inputs=(np.array(_v, _t),), expected=_c34(_pairs)[0], ref=_c34(_pairs)[1])
add(
    "C34",
    "unsigned",
    "unsigned",
    inputs=(u32([0, 1, 9, 10, 11, 2**31, 2**32 - 1, 2**32 - 6, 99999999] * 3),),
    expected=lambda x: _exact_div(x, 10),
    ref=lambda x: _div(x, np.uint32(10)),
)

_shift = lambda a, s: (a << s, a >> s)


def _exact_shift(a, s):
    """TDSL: too large or negative counts empty the word, arithmetically to the right."""
    t, bits = a.dtype, a.dtype.itemsize * 8
    av, sv = _ints(a), _ints(np.broadcast_to(s, a.shape))
    far = lambda n: n < 0 or n >= bits
    return (
        _wrap([0 if far(n) else v << n for v, n in zip(av, sv, strict=False)], t),
        _wrap([(-1 if v < 0 else 0) if far(n) else v >> n for v, n in zip(av, sv, strict=False)], t),
    )


add(
    "C36",
    "table64",
    "s64",
    inputs=(i64([1, 1, -1, -8, 5]), i64([63, 64, 64, 1, 200])),
    expected=(i64([-(2**63), 0, 0, -16, 0]), i64([0, 0, -1, -4, 0])),
    ref=_shift,
)
add(
    "C36",
    "table32",
    "s32",
    inputs=(i32([1, -1]), i32([32, 32])),
    expected=(i32([0, 0]), i32([0, -1])),
    ref=_shift,
)
add(
    "C36",
    "negative_count",
    "s64",
    inputs=(i64([8, -8]), i64([-1, -1])),
    expected=(i64([0, 0]), i64([0, -1])),
    ref=_shift,
)
for _n, _t in (("s64", "i8"), ("s32", "i4"), ("s8", "i1"), ("su32", "u4")):
    _s = [0, 1, 7, 8, 15, 31, 32, 33, 63, 64, 100] + ([] if _t == "u4" else [-1, -64])
    _v = [1, 5, 77, 100, 3] if _t == "u4" else [1, -1, -8, 5, 100]
    add(
        "C36",
        _n + "_lengths",
        _n,
        sweep=tiled2(np.repeat(_v, len(_s)), _s * len(_v), _t),
        expected=_exact_shift,
        ref=_shift,
    )
add(
    "C36",
    "every_i8",
    "s8",
    inputs=lambda: (
        np.repeat(np.arange(-128, 128), 24).astype("i1"),
        np.tile(np.arange(-4, 20), 256).astype("i1"),
    ),
    expected=_exact_shift,
    ref=_shift,
)
add(
    "C36",
    "constants",
    "consts",
    sweep=tiled([1, -1, 5, MIN["i4"], MAX["i4"]], "i4"),
    expected=lambda a: (
        _exact_shift(a, 31)[0],
        np.zeros_like(a),
        _exact_shift(a, 31)[1],
        np.where(a < 0, np.int32(-1), np.int32(0)),
    ),
    ref=lambda a: (a << np.int32(31), a << np.int32(32), a >> np.int32(31), a >> np.int32(40)),
)
for _s in (-1, 0, 3, 63, 64, 1000):
    add(
        "C36",
        f"by_scalar_{_s}",
        "by_scalar",
        inputs=(i64([1, -1, -8, 5, 2**40] * 3), _s),
        expected=_exact_shift,
        ref=lambda a, s: _shift(a, np.int64(s)),
    )

_a38 = i32([1, 6, 7, MAX["i4"], MAX["i4"]])
add(
    "C38",
    "ints",
    "ints",
    inputs=(_a38,),
    expected=(i64(3), i64(4294967308), _wrap([42 * MAX["i4"] ** 2], "i8")[0], i64(3)),
    ref=lambda a: ((a > 6).sum(), a.sum(), a.prod(), np.count_nonzero(a > 6)),
)
add(
    "C38",
    "ints_lengths",
    "ints",
    sweep=tiled([1, 6, 7, MAX["i4"], MIN["i4"], -1], "i4"),
    expected=lambda a: (
        i64(sum(v > 6 for v in _ints(a))),
        i64(sum(_ints(a))),
        _wrap([math.prod(_ints(a))], "i8")[0],
        i64(sum(v > 6 for v in _ints(a))),
    ),
    ref=lambda a: ((a > 6).sum(), a.sum(), a.prod(), np.count_nonzero(a > 6)),
)
add(
    "C38",
    "rows",
    "rows",
    inputs=lambda: (np.where(np.arange(9 * 13).reshape(9, 13) % 4 == 0, np.int32(MAX["i4"]), np.int32(5)),),
    expected=lambda a: (
        i64([sum(v > 6 for v in r) for r in a.tolist()]),
        i64([sum(c) for c in a.T.tolist()]),
    ),
    ref=lambda a: ((a > 6).sum(1), a.sum(0)),
)


def _c38_narrow():
    for n in (1, 2, 31, 33, 300):
        yield (
            f"n={n}",
            (
                np.full(n, -128, "i1"),
                np.full(n, 255, "u1"),
                np.full(n, 32767, "i2"),
                np.full(n, 2**32 - 1, "u4"),
            ),
        )


add(
    "C38",
    "narrow",
    "narrow",
    sweep=_c38_narrow,
    expected=lambda a, b, c, d: (
        i64(-128 * len(a)),
        u64(255 * len(a)),
        i64(32767 * len(a)),
        u64((2**32 - 1) * len(a)),
    ),
    ref=lambda a, b, c, d: (a.sum(), b.sum(), c.sum(), d.sum()),
)
add(
    "C38",
    "scan",
    "scan",
    sweep=lambda: (
        (f"n={n}", (np.full(n, MAX["i4"], "i4"), np.arange(n) % 3 != 1)) for n in (*LENGTHS, 1000)
    ),
    expected=lambda a, m: (
        MAX["i4"] * np.arange(1, len(a) + 1),
        i64([sum(m[: k + 1].tolist()) for k in range(len(m))]),
    ),
    ref=lambda a, m: (np.cumsum(a), np.cumsum(m)),
)
add(
    "C38",
    "either",
    "either",
    sweep=tiled2([0, 0, 1, 1], [0, 1, 0, 1], "?"),
    expected=lambda p, q: (np.logical_or(p, q), np.logical_and(p, q)),
    ref=lambda p, q: (p + q, p * q),
)

# TDSL fixes saturation with NaN -> 0 (x86 NumPy gives the smallest integer)
add(
    "C40",
    "in_range",
    "to_i32",
    inputs=(f32([1.9, -1.9, 2147483520, -2147483648, 0.99999994, -0.0]),),
    expected=i32([1, -1, 2147483520, -2147483648, 0, 0]),
    ref=lambda x: x.astype("i4"),
)
_bad = [NAN, INF, -INF, 3e9, -3e9]
add(
    "C40",
    "out_of_range",
    "to_i32",
    sweep=tiled(_bad, "f4", LENGTHS),
    ref=lambda x: saturate(x, "i4"),
    expected=lambda x: i32(
        [
            {"nan": 0, "inf": MAX["i4"], "-inf": MIN["i4"]}.get(str(v), MAX["i4"] if v > 0 else MIN["i4"])
            for v in x
        ]
    ),
)


def _clamp(t):
    lo, hi = int(np.iinfo(t).min), int(np.iinfo(t).max)

    def f(x):
        return np.array(
            [
                0 if math.isnan(v) else hi if v == INF else lo if v == -INF else min(max(int(v), lo), hi)
                for v in map(float, x)
            ],
            t,
        )

    return f


for _n, _t, _src, _v in (
    ("to_i32", "i4", "f4", [2147483647, -2147483904, 1e38, -1e38, 0.5, -0.5]),
    ("to_i64", "i8", "f8", [1e19, -1e19, 9.223372036854775e18, -9.223372036854776e18, 2.0**53 + 2, -1.5]),
    ("to_i8", "i1", "f4", [127.9, 128, -128.9, -129, 300, -300]),
    ("to_u8", "u1", "f4", [255.9, 256, -0.9, -1, 1e10, -1e10, 254.5]),
    ("to_u64", "u8", "f8", [1.8446744073709552e19, 1.8446744073709550e19, 9.3e18, -1, -0.5, 1e30]),
    ("to_i16", "i2", "f2", [32768, -32768, 65504, -65504, 0.5, 2047]),
):
    add(
        "C40",
        _n,
        _n,
        sweep=tiled(_bad[:3] + _v, _src),
        expected=_clamp(_t),
        ref=lambda x, t=_t: saturate(x, t),
    )
add(
    "C40",
    "to_bool",
    "to_bool",
    sweep=tiled([NAN, 0.5, -0.0, 0.0, 5e-324, INF], "f8"),
    expected=lambda x: b1([v != 0 for v in x.tolist()]),
    ref=lambda x: x.astype(bool),
)
for _v, _w in ((NAN, 0), (3e9, MAX["i4"]), (-INF, MIN["i4"]), (-1.9, -1)):
    add(
        "C40", f"one_{_v}", "one", inputs=(_v,), expected=i32(_w), ref=lambda x: saturate(np.float32(x), "i4")
    )
add(
    "C40",
    "folded",
    "folded",
    sweep=tiled([0, 1, -5], "i4", (1, 8, 9, 17)),
    expected=lambda x: tuple(np.full(len(x), v, "i4") for v in (MAX["i4"], MIN["i4"], 0, MAX["i4"], -1)),
    ref=lambda x: tuple(x * np.int32(0) + saturate(v, "i4") for v in (3e9, -3e9, NAN, INF, -1.9)),
)

add(
    "C41",
    "mixed",
    "mixed",
    inputs=(i32([0, 1, 2]),),
    expected=(b1([1, 0, 0]), f64([0, 1.9, 3.8]), b1([0, 0, 0]), f64([0.5, 1.5, 2.5])),
    ref=lambda i: (i < 0.5, i * 1.9, i == 0.5, i + 0.5),
)
add(
    "C41",
    "mixed_lengths",
    "mixed",
    sweep=tiled([0, 1, 2, -1, MAX["i4"], MIN["i4"]], "i4"),
    ref=lambda i: (i < 0.5, i * 1.9, i == 0.5, i + 0.5),
    expected=lambda i: (
        b1([v < 0.5 for v in _ints(i)]),
        f64([v * 1.9 for v in _ints(i)]),
        np.zeros(len(i), bool),
        f64([v + 0.5 for v in _ints(i)]),
    ),
)
add(
    "C41",
    "lossy",
    "lossy",
    inputs=(i64([2**53 + 1, 2**53 + 2, 3]), f64([2.0**53, 2.0**53, 3])),
    expected=b1([1, 0, 1]),
    ref=lambda i, x: i == x,
)
add(
    "C41",
    "exact",
    "exact",
    inputs=(i64([2**53 + 1, 2**62 + 1, -1]), i64([2**53, 2**62 + 2, -1])),
    expected=(b1([0, 0, 1]), b1([0, 1, 0])),
    ref=lambda i, j: (i == j, i < j),
)
add(
    "C41",
    "against_scalar",
    "against_scalar",
    inputs=(i32([0, 1, 2, -1] * 5), 0.5),
    expected=(b1([1, 0, 0, 1] * 5), f64([0, 0.5, 1, -0.5] * 5)),
    ref=lambda i, s: (i < s, i * np.float64(s)),
)

add(
    "C43",
    "extremes",
    "extremes",
    inputs=(i64([MIN["i8"], 0, MAX["i8"]]),),
    expected=(
        b1([0, 1, 1]),
        i64([0, MIN["i8"], -1]),
        i64([1, MIN["i8"] + 1, 0]),
        i64([MIN["i8"], 0, MAX["i8"]]),
    ),
    ref=lambda x: (x > MIN["i8"], x ^ np.int64(MIN["i8"]), x - np.int64(MAX["i8"]), np.maximum(x, MIN["i8"])),
)
add(
    "C43",
    "extremes32",
    "extremes32",
    inputs=(i32([MIN["i4"], 0, MAX["i4"]]),),
    expected=(b1([0, 1, 1]), i32([0, MIN["i4"], -1]), i32([1, MIN["i4"] + 1, 0])),
    ref=lambda x: (x > MIN["i4"], x ^ np.int32(MIN["i4"]), x - np.int32(MAX["i4"])),
)
add(
    "C43",
    "hex",
    "hex",
    inputs=(i64([-1, MIN["i8"], 5]),),
    expected=i64([MAX["i8"], 0, 5]),
    ref=lambda x: x & np.int64(MAX["i8"]),
)
_range = r"range|overflow|too (large|big|small)|does not fit|fit in|i64|i32"
refuse("C43", "too_big", "C43_too_big.tdsl", "9223372036854775808", _range)
refuse("C43", "too_small", "C43_too_small.tdsl", "9223372036854775809", _range)
refuse("C43", "too_big_i32", "C43_too_big_i32.tdsl", "3000000000", _range)
