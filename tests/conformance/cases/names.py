"""Names, constants and sizes of the generated code."""

from __future__ import annotations

import functools
import locale
import os

import numpy as np

from cases.kit import PROGRAMS, add, f64, i64

# TDSL's own words (and, or, not, true, kernel, ...) are left out
_n81 = 33
add(
    "C81",
    "params",
    "params",
    inputs=lambda: tuple(np.full(3, float(j)) for j in range(_n81)),
    expected=np.full(3, 528.0),
    ref=lambda *a: sum(a),
)
add("C81", "locals", "locals", inputs=(f64([0, 1]),), expected=f64([_n81, _n81 + 1]), ref=lambda x: x + 33)
# `class` is a word of Python too: the results still come back as a tuple
add(
    "C81",
    "results",
    "results",
    inputs=(f64([0, 1]),),
    expected=tuple(f64([j, j + 1]) for j in range(12)),
    ref=lambda x: tuple(x + j for j in range(12)),
)
for _n in (
    "new",
    "main",
    "malloc",
    "printf",
    "struct",
    "errno",
    "_init",
    "operator",
    "signal",
    "tensorc",
    "after_comment",
):
    add("C81", f"kernel_{_n}", _n, inputs=(f64([1, 2]),), expected=f64([2, 3]), ref=lambda x: x + 1)
add("C81", "kernel_argmax", "argmax", inputs=(f64([1, 5, 2]),), expected=i64(1), ref=np.argmax)
add("C81", "kernel_exp", "exp", inputs=(f64([1, 5, 2]),), expected=f64(8), ref=lambda x: x.max() + len(x))
add(
    "C81",
    "shadow",
    "shadow",
    tdsl="C81_shadow.tdsl",
    inputs=(f64([1]), f64([10]), f64([100]), f64([1000])),
    expected=f64([1211]),
    ref=lambda a, b, c, d: a + b + c * 2 + d,
)

add(
    "C82",
    "digits",
    "digits",
    inputs=tuple(f64([j]) for j in range(1, 7)),
    expected=f64([654321]),
    ref=lambda *v: sum(10**k * a for k, a in enumerate(v)),
)


def _locals82(x):
    t = x + 1
    t1 = t * 2
    t11 = t1 * 2 + t
    t_1 = t11 - t1
    return t + t1 + t11 + t_1 + t_1 * t


add("C82", "locals", "locals", inputs=(f64([1, 2]),), expected=f64([34, 60]), ref=_locals82)


def _loop(n, f):
    def g(x):
        for _ in range(n):
            x = f(x)
        return x

    return g


for _n in ("chain", "inlined"):
    add(
        "C84",
        _n,
        _n,
        inputs=(f64([1, -3]),),
        expected=f64([2.0**60, -3 * 2.0**60]),
        ref=_loop(60, lambda x: x + x),
    )
add(
    "C84",
    "fibonacci",
    "fibonacci",
    inputs=(f64([1, -2]),),
    expected=f64([1548008755920, -2 * 1548008755920]),
    ref=lambda x: functools.reduce(lambda p, _: (p[1], p[1] + p[0]), range(58), (x, x))[1],
)
add(
    "C84",
    "reductions",
    "reductions",
    inputs=(f64([1, -3, 0]),),
    expected=f64([1, -67108863, -16777215]),
    ref=_loop(24, lambda r: r + r - r.max()),
)


def s_locale(ctx):
    """The decimal comma of a locale reaches neither the parser nor the emitted code."""
    text = (PROGRAMS / ctx.case.tdsl).read_text()
    before = locale.setlocale(locale.LC_ALL)
    try:
        for k, name in enumerate(("de_DE.UTF-8", "nl_NL.UTF-8", "fr_FR.UTF-8", "C")):
            try:
                locale.setlocale(locale.LC_ALL, name)
            except locale.Error:
                continue
            ctx.check(
                ctx.compile(text + f"# {k} {os.getpid()}\n")["half"](f64([2, 0])), f64([1.00125, 0.00125])
            )
    finally:
        locale.setlocale(locale.LC_ALL, before)


add(
    "C85",
    "value",
    "half",
    inputs=(f64([2, 0]),),
    expected=f64([1.00125, 0.00125]),
    ref=lambda x: x * 0.5 + 1.25e-3,
)
add("C85", "locales", "half", compare="script", script=s_locale, ref=lambda x: x * 0.5 + 1.25e-3)
