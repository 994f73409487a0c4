"""Strides, alignment, aliasing and guards."""

from __future__ import annotations

import functools
import math

import numpy as np

from cases.kit import LENGTHS, add, f32, f64


def _layouts(square=False):
    """The same small integers in every memory order."""
    for n, d in ((3, 3), (17, 17)) if square else ((4, 3), (1, 9), (17, 33), (64, 40)):
        a = (np.arange(n * d) * 5 % 64).astype("f4").reshape(n, d)
        yield f"{n}x{d} C", (a,)
        yield f"{n}x{d} Fortran", (np.asfortranarray(a),)
        yield f"{n}x{d} transposed", (a.T.copy().T,)
        yield f"{n}x{d} window", (np.pad(a, ((2, 1), (3, 2)))[2:-1, 3:-2],)
        yield f"{n}x{d} every other", (np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],)
        yield f"{n}x{d} reversed", (a[::-1, ::-1].copy()[::-1, ::-1],)


_mean_rows = lambda x: (
    f32([math.fsum(r) / len(r) for r in x.tolist()]),
    f32([max(c) for c in x.T.tolist()]),
    f32(math.fsum(x.ravel().tolist())),
)
add(
    "C55",
    "reduce",
    "reduce",
    sweep=_layouts,
    expected=_mean_rows,
    compare=("ulp", 1),
    ref=lambda x: (x.mean(1, dtype="f8").astype("f4"), x.max(0), x.sum()),
)
add(
    "C55",
    "symmetric",
    "symmetric",
    sweep=functools.partial(_layouts, True),
    expected=lambda x: f32(
        [[p + q for p, q in zip(r, c, strict=False)] for r, c in zip(x.tolist(), x.T.tolist(), strict=False)]
    ),
    ref=lambda x: x + x.T,
)
add(
    "C55",
    "same",
    "same",
    sweep=_layouts,
    expected=lambda x: (
        f32([[2 * v for v in r] for r in x.tolist()]),
        f32(list(zip(*x.tolist(), strict=False))),
    ),
    ref=lambda x: (x * 2, x.T),
)
add(
    "C55",
    "product",
    "product",
    sweep=lambda: (
        (l, (x, np.asfortranarray(np.arange(x.shape[1] * 5, dtype="f4").reshape(-1, 5) % 7)))
        for l, (x,) in _layouts()
    ),
    expected=lambda x, y: f32(x.astype("i8") @ y.astype("i8")),
    ref=lambda x, y: x @ y,
)


def _c57(t, offsets):
    def gen():
        size = np.dtype(t).itemsize
        for n in (1, 7, 8, 17, 40):
            raw = np.arange(1, n + 1).astype(t).tobytes()
            for off in offsets:
                buf = bytearray(off * size) + raw
                yield f"n={n},offset={off} elements", (np.frombuffer(buf, t, n, offset=off * size),)

    return gen


add(
    "C57",
    "element_aligned",
    "twice",
    sweep=_c57("f4", range(9)),
    expected=lambda x: np.arange(2, 2 * len(x) + 1, 2).astype("f4"),
    ref=lambda x: x + x,
)
add(
    "C57",
    "element_aligned_sum",
    "total",
    sweep=_c57("f8", range(9)),
    expected=lambda x: f64(len(x) * (len(x) + 1) / 2),
    ref=np.sum,
)


def s_misaligned(ctx):
    """Right values, or a clean refusal."""
    for off in range(1, 8):
        buf = bytearray(off) + np.arange(17, dtype="f4").tobytes() + bytes(8)
        x = np.frombuffer(buf, "f4", 17, offset=off)
        try:
            got = ctx.kernel(x)
        except (TypeError, ValueError):
            assert off % 4, f"an element-aligned array (offset {off} bytes) was refused"
            continue
        ctx.check(got, np.arange(17, dtype="f4") * 2)


add("C57", "byte_offsets", "twice", compare="script", script=s_misaligned, ref=lambda x: x + x)


def s_out_alias(ctx):
    """out= that overlaps an input: the value semantics hold, or ValueError and nothing is written."""

    def trial(name, out, args, want):
        was = out.copy()
        try:
            got = ctx[name](*args, out=out)
        except ValueError:
            ctx.check(out, was)
            return
        ctx.check(out, want)
        assert got is None or np.shares_memory(got, out), "the result is not the out= array"

    for n in (2, 6, 9, 40, 5000):
        a, b = np.arange(n), np.arange(n) + 3
        trial("axpy", a, (a, b), a + 2 * b)
        trial("axpy", b, (a, b), a + 2 * b)
        x = np.arange(n) * 1.0
        trial("mirror", x, (x,), np.full(n, n - 1.0))
        x = np.arange(n) * 1.0
        trial("mirror", x[::-1], (x,), np.full(n, n - 1.0))
        x = np.arange(n + 1) * 1.0
        trial("mirror", x[1:], (x[:-1],), np.full(n, n - 1.0))
        x = np.full(n, 4.0)
        trial("normalise", x, (x,), np.full(n, 1 / n))


add(
    "C58",
    "out_alias",
    "axpy",
    compare="script",
    script=s_out_alias,
    ref={"axpy": lambda a, b: a + 2 * b, "mirror": lambda x: x[::-1] + x, "normalise": lambda x: x / x.sum()},
)


def s_out(ctx):
    """out= is filled and returned; a wrong shape or type is refused."""
    a = np.arange(7)
    out = np.full(7, -1)
    got = ctx.kernel(a, a + 1, out=out)
    ctx.check(out, 3 * a + 2)
    assert got is None or got is out or np.shares_memory(got, out), "the result is not the out= array"


add("C58", "out", "axpy", compare="script", script=s_out, ref=lambda a, b: a + 2 * b)
add(
    "C60",
    "thrice",
    "muladd",
    sweep=lambda: ((f"n={n}", (x, x, x)) for n in LENGTHS for x in [np.arange(n, dtype="f4")]),
    expected=lambda c, a, b: f32([v + v * v for v in c.tolist()]),
    ref=lambda c, a, b: c + a * b,
)
add(
    "C60",
    "twice",
    "products",
    sweep=lambda: (
        (f"n={n}", (x, x))
        for n in (1, 2, 5, 8, 17)
        for x in [(np.arange(n * n) % 5).astype("f4").reshape(n, n)]
    ),
    expected=lambda a, b: (f32(a.astype("i8") @ a.astype("i8")), np.zeros_like(a)),
    ref=lambda a, b: (a @ b, a - b),
)


def s_readonly(ctx):
    x = np.arange(20)
    x.flags.writeable = False
    ctx.check(ctx.kernel(x), np.arange(1, 21))
    out = np.zeros(20, "i8")
    out.flags.writeable = False
    try:
        ctx.kernel(np.arange(20), out=out)
    except ValueError:
        assert not out.any(), "a read-only out= was written"
        return
    raise AssertionError("a read-only out= was accepted, want ValueError")


def s_byteswapped(ctx):
    """Converted, or refused with a message; never reinterpreted."""
    for x in (np.arange(20, dtype=">i8"), np.arange(20, dtype=">i8")[::-1]):
        try:
            got = ctx.kernel(x)
        except (TypeError, ValueError) as err:
            message = str(err)
            assert "x" in message, f"the message does not name the argument: {message}"
            continue
        ctx.check(got.astype("i8"), x.astype("i8") + 1)


add("C61", "readonly", "next", compare="script", script=s_readonly, ref=lambda x: x + 1)
add("C61", "byteswapped", "next", compare="script", script=s_byteswapped, ref=lambda x: x + 1)
