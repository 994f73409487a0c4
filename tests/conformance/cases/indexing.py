"""Gathers and large offsets."""

from __future__ import annotations

import numpy as np

from cases.kit import add, b1, f32, f64, i32, i64

_take = lambda ax=0: lambda x, i: np.take(x, i, axis=ax)
add(
    "C73",
    "pick",
    "pick",
    inputs=(i64([10, 20, 30]), i64([-1, 0, -3, 2])),
    expected=i64([30, 10, 10, 30]),
    ref=_take(),
)
add(
    "C73",
    "pick_sizes",
    "pick",
    sweep=lambda: (
        (f"n={n},m={m}", (np.arange(n) * 10, (np.arange(m) * 7) % (2 * n) - n))
        for n in (1, 2, 9, 100)
        for m in (0, 1, 7, 33, 1000)
    ),
    expected=lambda x, i: i64([10 * (int(k) % len(x)) for k in i]),
    ref=_take(),
)
add(
    "C73",
    "i32_plane",
    "pick32",
    inputs=(i64([10, 20, 30]), i32([[0], [-1]])),
    expected=i64([[10], [30]]),
    ref=_take(),
)
add(
    "C73",
    "rows",
    "rows",
    inputs=lambda: (np.arange(35, dtype="f4").reshape(5, 7), i64([4, -5, -1, 0, 2])),
    expected=lambda x, i: f32([x[int(k) % 5].tolist() for k in i]),
    ref=_take(),
)
add(
    "C73",
    "cols",
    "cols",
    inputs=lambda: (np.arange(35, dtype="f4").reshape(5, 7), i32([6, -7, -1, 0])),
    expected=lambda x, i: f32([[r[int(k) % 7] for k in i] for r in x.tolist()]),
    ref=_take(1),
)
add(
    "C73",
    "along",
    "along",
    inputs=lambda: (np.arange(15, dtype="f4").reshape(3, 5), i64([[0, -1], [-5, 4], [2, -3]])),
    expected=f32([[0, 4], [5, 9], [12, 12]]),
    ref=lambda x, i: np.take_along_axis(x, i, 1),
)
for _k in (-4, 3, 2**40, -(2**63)):
    add(
        "C73",
        f"outside_{_k}",
        "pick",
        inputs=(i64([10, 20, 30]), i64([0, _k])),
        compare=("raises", "IndexError", r"\b[xi]\b", "axis"),
        ref=_take(),
    )

_gather = lambda table, rows: np.take(table - 0.5, rows, axis=0)


def s_gather(ctx):
    """Out of range raises IndexError, small or large, serial or parallel; the kernel works again."""
    for n in (1, 8, 40000):
        for m in (1, 9, 34848, 1 << 20):
            for p in sorted({0, m // 2, m - 1}):
                for bad in (n, -n - 1, 2**62):
                    rows = np.zeros(m, np.int64)
                    rows[p] = bad
                    for threads in (1, 2):
                        try:
                            ctx.kernel(np.zeros(n), rows, threads=threads)
                        except IndexError as err:
                            said = str(err)
                        else:
                            raise AssertionError(
                                f"index {bad} into {n} elements (at {p} of {m}, {threads} threads) accepted"
                            )
                        if not getattr(ctx.kernel, "is_reference", False):
                            assert ("table" in said or "rows" in said) and "axis" in said, (
                                f"the message names no operand and axis: {said}"
                            )
        ctx.check(ctx.kernel(np.arange(n) + 0.5, i64([0, -1])), f64([0, n - 1]))


add("C74", "out_of_range", "gather", compare="script", script=s_gather, ref=_gather)
for _n, _args in (("along", (np.zeros((2, 3)), i64([[0, 1], [2, 3]]))), ("total", (np.zeros(4), i64([4])))):
    add(
        "C74",
        _n,
        _n,
        inputs=_args,
        compare=("raises", "IndexError", "table|rows", "axis"),
        ref=(lambda t, r: np.take_along_axis(t, r, 1))
        if _n == "along"
        else (lambda t, r: np.take(t, r).sum()),
    )


def _c76():
    x = np.zeros(2**31 + 16, np.bool_)  # lazily backed: only the touched pages cost memory, if nobody copies
    x[2**31 + 7] = True
    return x, i64([0, 2**31 + 7, -9])


def _c76_rows():
    x = np.zeros((40000, 60000), np.bool_)
    x[39999, -1] = x[35792, -4] = True  # flat offsets above 2^31
    return x, i32([39999, 35792, 0, -1])


add("C76", "pick", "pick", inputs=_c76, expected=b1([0, 1, 1]), ref=_take())
add(
    "C76",
    "rows",
    "rows",
    inputs=_c76_rows,
    expected=b1([[0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]),
    ref=lambda x, i: x[i, -4:],
)
