"""What fusing and reusing buffers must keep."""

from __future__ import annotations

import math

import numpy as np

from cases.kit import LENGTHS, add, b1, every, f32, f64, i32, i64

add(
    "C63",
    "by_max",
    "by_max",
    inputs=(f64([0, 2, 4, 8]),),
    expected=f64([0, 0.25, 0.5, 1]),
    ref=lambda a: a / a.max(),
)
add(
    "C63",
    "by_max_lengths",
    "by_max",
    sweep=lambda: ((f"n={n}", (np.roll(np.arange(n) + 1.0, n // 2),)) for n in (*LENGTHS, 5000)),
    expected=lambda a: np.array([v / len(a) for v in a.tolist()]),
    ref=lambda a: a / a.max(),
)
add(
    "C63",
    "threads",
    "by_max",
    inputs=lambda: (np.roll(np.arange(1 << 20) + 1.0, 1000),),
    expected=lambda a: a / 2**20,
    ref=lambda a: a / a.max(),
    threads=(1, 2, 3),
)
_std63 = lambda a: (c := a - a.mean()) / np.sqrt((c**2).mean())
add(
    "C63",
    "standard",
    "standard",
    inputs=(f64([1, 2, 3, 4]),),
    expected=f64([-1.3416407864998738, -0.4472135954999579, 0.4472135954999579, 1.3416407864998738]),
    compare=("rtol", 1e-15),
    ref=_std63,
)
add(
    "C63",
    "standard_lengths",
    "standard",
    sweep=lambda: ((f"n={n}", (np.arange(n) * 7 % 11 + 0.5,)) for n in LENGTHS[1:]),
    compare=("rtol", 1e-13, 1e-14),
    expected=lambda a: f64(
        [
            (v - math.fsum(a) / len(a))
            / math.sqrt(math.fsum((w - math.fsum(a) / len(a)) ** 2 for w in a) / len(a))
            for v in a
        ]
    ),
    ref=_std63,
)
add(
    "C63",
    "two_level",
    "two_level",
    sweep=lambda: (
        (f"{n}x{d}", (f32((np.arange(n * d) * 17 % 41).reshape(n, d)),))
        for n in (1, 3, 8, 17)
        for d in (1, 5, 8, 33)
    ),
    expected=lambda a: f32(
        [[v - max(r) - min(min(q) - max(q) for q in a.tolist()) for v in r] for r in a.tolist()]
    ),
    ref=lambda a: (r := a - a.max(1, keepdims=True)) - r.min(),
)

for _n in ("diff", "indexed"):
    add(
        "C64",
        _n,
        _n,
        sweep=lambda: ((f"n={n}", (np.arange(n) * 1.0,)) for n in (*LENGTHS, 1000)),
        expected=lambda x: 2.0 * np.arange(len(x) - 1) + 1,
        ref=lambda x: np.diff(x * x),
    )
add(
    "C64",
    "mirror",
    "mirror",
    sweep=lambda: ((f"n={n}", (np.arange(n) * 1.0,)) for n in (0, *LENGTHS, 1000)),
    expected=lambda x: f64([k * k + (len(x) - 1 - k) ** 2 + 2 for k in range(len(x))]),
    ref=lambda x: (c := x * x + 1) + c[::-1],
)
add(
    "C64",
    "threads",
    "diff",
    inputs=lambda: (np.arange(1 << 19) * 1.0,),
    expected=lambda x: 2.0 * np.arange(len(x) - 1) + 1,
    ref=lambda x: np.diff(x * x),
    threads=(1, 2, 3),
)
add(
    "C64",
    "blur",
    "blur",
    sweep=lambda: (
        (f"{h}x{w}", ((np.arange(h * w) * 29 % 97 * 1.0).reshape(h, w),))
        for h in (2, 3, 5, 9)
        for w in (2, 3, 8, 17, 35)
    ),
    expected=lambda x: np.array(
        [[x[i : i + 3, j : j + 3].sum() for j in range(x.shape[1] - 2)] for i in range(x.shape[0] - 2)]
    ).reshape(x.shape[0] - 2, x.shape[1] - 2),
    ref=lambda x: (r := x[:, :-2] + x[:, 1:-1] + x[:, 2:])[:-2] + r[1:-1] + r[2:],
)


def _shared(x):
    z = np.exp(x)
    a = z / z.sum()
    b = z + a
    return a, b, np.concatenate([z, a]).sum(), z.max()


add(
    "C66",
    "shared",
    "shared",
    inputs=(np.zeros(4),),
    expected=(np.full(4, 0.25), np.full(4, 1.25), f64(5), f64(1)),
    ref=_shared,
)
add(
    "C66",
    "shared_lengths",
    "shared",
    sweep=lambda: ((f"n={n}", (np.zeros(n),)) for n in (*LENGTHS, 1024, 5000)),
    expected=lambda x: (
        np.full(len(x), 1 / len(x)),
        np.full(len(x), 1 + 1 / len(x)),
        f64(len(x) + 1),
        f64(1),
    ),
    compare=("rtol", 1e-13),
    ref=_shared,
)
add(
    "C66",
    "views",
    "views",
    sweep=lambda: ((f"n={n}", (np.arange(n * n).reshape(n, n) * 1.0,)) for n in (1, 2, 5, 8, 17, 33)),
    expected=lambda x: (2 * x + 2 * x.T + 1, np.ones_like(x), 2 * x[-1]),
    ref=lambda x: ((y := x * 2) + (z := y.T + 1), z - y.T, y.max(0)),
)

_s68 = [(17, 3, 19), (18, 2, 33), (1, 1, 1), (9, 1, 7), (8, 8, 8), (33, 5, 15), (2, 70, 31)]
add(
    "C68",
    "sums",
    "sums",
    sweep=lambda: ((str(s), (f32(np.arange(math.prod(s)) % 61).reshape(s),)) for s in _s68),
    expected=lambda x: (f32(x.astype("i8").sum(0)), f32(x.astype("i8").sum(1)), f32(x.astype("i8").sum(1).T)),
    ref=lambda x: (x.sum(0), x.sum(1), x.transpose(2, 0, 1).sum(2)),
)


def s_guard(ctx):
    """Nothing is written outside out=."""
    for s in _s68:
        x = f32(np.arange(math.prod(s)) % 61).reshape(s)
        n = s[1] * s[2]
        room = np.full(n + 128, 12345.0, np.float32)
        ctx.kernel(x, out=room[64 : 64 + n].reshape(s[1], s[2]))
        ctx.check(room[64 : 64 + n].reshape(s[1], s[2]), f32(x.astype("i8").sum(0)))
        assert (room[:64] == 12345).all() and (room[64 + n :] == 12345).all(), (
            f"wrote outside the output for {s}"
        )


add("C68", "guard", "first", compare="script", script=s_guard, ref=lambda x: x.sum(0))


def _views69(f):
    def g(x):
        y = f(x)
        z = y.reshape(56, 7)
        return y.sum((1, 2)), z.max(1), (z * 2).reshape(8, 49).T

    return g


_x69 = (np.arange(392) * 5 % 13 - 6.0).reshape(8, 7, 7)
add(
    "C69",
    "views",
    "views",
    inputs=(_x69,),
    expected=_views69(every(math.tanh)),
    compare=("rtol", 1e-14, 1e-13),
    ref=_views69(np.tanh),
)
add(
    "C69",
    "exact",
    "exact",
    inputs=(_x69,),
    expected=lambda x: (
        f64([sum(3 * v - 1 for v in r) for r in x.reshape(8, 49).tolist()]),
        f64([3 * max(r) - 1 for r in x.reshape(56, 7).tolist()]),
        f64([[6 * v - 2 for v in c] for c in x.reshape(8, 49).T.tolist()]),
    ),
    ref=_views69(lambda x: x * 3 - 1),
)


def _zigzag(x):
    a = x * 2
    s = a.sum(1)
    b = x + s[:, None]
    t = b.max(0)
    return b + (a - t), s, t


add(
    "C70",
    "small",
    "zigzag",
    inputs=(f64([[1, -1, 2], [0.5, 0, -3]]),),
    expected=(f64([[2, -2, 4], [-8.5, -8, -20]]), f64([4, -5]), f64([5, 3, 6])),
    ref=_zigzag,
)
add(
    "C70",
    "sizes",
    "zigzag",
    sweep=lambda: (
        (f"{n}x{d}", ((np.arange(n * d) * 11 % 19 - 9.0).reshape(n, d),))
        for n in (1, 2, 7, 16, 33)
        for d in (1, 3, 8, 17)
    ),
    expected=lambda x: (
        (s := 2 * x @ np.ones(x.shape[1])),
        (t := np.array([max(x[i, j] + s[i] for i in range(len(x))) for j in range(x.shape[1])])),
        (
            np.array(
                [[3 * v + si - tj for v, tj in zip(r, t, strict=False)] for r, si in zip(x, s, strict=False)]
            ),
            s,
            t,
        ),
    )[2],
    ref=_zigzag,
)

_d71 = np.arange(9) % 2 == 0
add(
    "C71",
    "masks",
    "masks",
    inputs=(np.arange(9), i32(range(8, -1, -1)), np.full(9, 1.5), _d71),
    expected=(b1([0, 0, 1, 0, 1, 0, 1, 0, 0]), f64([1.5, 8.5, 3.5, 6.5, 5.5, 4.5, 7.5, 2.5, 9.5])),
    ref=lambda a, b, c, d: ((a > 1) & (b > 1) & (c > 1) & d, np.where(d, a, b) + c),
)


def _c71():
    for n in LENGTHS:
        k = np.arange(n)
        yield (
            f"n={n}",
            (
                (k * 37 % 256 - 128).astype("i1"),
                (k % 5 - 2).astype("f4"),
                k * 1000003,
                (k * 977).astype("u2"),
                (k % 3 - 1) / 4,
            ),
        )


add(
    "C71",
    "widths",
    "widths",
    sweep=_c71,
    ref=lambda p, q, r, s, t: (p + q * t - s, np.where(q > 0, r, p) + s, np.where(t > 0, q, p.astype("f4"))),
    expected=lambda p, q, r, s, t: (
        f64([int(a) + float(b) * float(d) - int(c) for a, b, c, d in zip(p, q, s, t, strict=False)]),
        i64([(int(c) if b > 0 else int(a)) + int(d) for a, b, c, d in zip(p, q, r, s, strict=False)]),
        f32([b if d > 0 else a for a, b, d in zip(p, q, t, strict=False)]),
    ),
)
