"""arange of floats has the count and the values of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from promises import same

import tensorc

BOUNDS: list[tuple[float, ...]] = [
    (2.5,),
    (0.0, 5.5),
    (0.5, 4),
    (0, 1, 0.1),
    (1, 1.3, 0.1),  # the quotient rounds up: an element more than one would think
    (0, 0.5, 0.5),
    (0, 0.4, 0.5),
    (0, 1, -0.1),
    (1, 0, -0.25),
    (-3.0, 3, 0.7),
    (0.1, 1, 0.3),
    (-1.1, 2, 1.2),
    (-0.0, 1.0),
    (0, 2**53, 1e15),
    (1e16, 1e16 + 10, 1.5),  # the first two are equal
    (-1e16, 1.0, 1e16),
    (1e-310, 1e-309, 1e-310),
    (0, 1e-3, 1e-6),
]
DTYPES = {
    "": None,
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "i64": np.int64,
    "i32": np.int32,
    "i8": np.int8,
    "u8": np.uint8,
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers(dtype: str) -> None:
    texts, expected = [], []
    for bounds in BOUNDS:
        try:
            with np.errstate(all="ignore"):
                expected.append(np.arange(*bounds, dtype=DTYPES[dtype]))
        except OverflowError:  # NumPy refuses what does not fit an integer type; here it wraps
            continue
        given = ", ".join(map(repr, bounds))
        texts.append(f"arange({given}{', dtype=' * bool(dtype)}{dtype})")
    found = tensorc.compile("kernel k() { return " + ", ".join(texts) + " }").k()
    assert len(texts) > 10
    for text, got, want in zip(texts, found, expected, strict=True):
        assert got.size == want.size, text
        same(got, want)


SIZES = """
kernel k(x: f32[N], n: i32) {
    return (
        arange(0, N, 0.5), arange(0.5, N), arange(N, 0, -0.75), arange(N, N + 1, .125),
        arange(n, 9.5, 0.25, dtype=f32)
    )
}
"""


def test_sizes() -> None:
    call = tensorc.compile(SIZES).k
    for n in (0, 1, 2, 7, 8, 9, 33):
        got = call(np.ones(n, np.float32), 3)
        want = (
            np.arange(0, n, 0.5),
            np.arange(0.5, n),
            np.arange(n, 0, -0.75),
            np.arange(n, n + 1, 0.125),
            np.arange(3, 9.5, 0.25, dtype=np.float32),
        )
        for a, b in zip(got, want, strict=True):
            same(a, b)


EMPTY = """
kernel numbers() {
    return (
        arange(-3), arange(0, -3), arange(-3.0), arange(5, step=2), arange(-5, step=-2), arange(3, step=-1)
    )
}
kernel sizes(x: f32[N]) {
    return (
        arange(N - 5), arange(2, N - 5), arange(N - 5, 0, -1), arange(N - 5, step=2), x[5:] + arange(N - 5),
        sum(arange(N - 5))
    )
}
"""


def test_a_range_to_below_its_start_is_empty() -> None:
    module = tensorc.compile(EMPTY)
    want = (np.arange(-3), np.arange(0, -3), np.arange(-3.0), np.arange(0, 5, 2), np.arange(0, -5, -2))
    for a, b in zip(module.numbers(), (*want, np.arange(0, 3, -1)), strict=True):
        same(a, b)
    for n in (0, 1, 4, 5, 6, 11):
        x = np.ones(n, np.float32)
        want = (
            np.arange(n - 5),
            np.arange(2, n - 5),
            np.arange(n - 5, 0, -1),
            np.arange(0, n - 5, 2),
            x[5:] + np.arange(n - 5).astype(np.float32),
            np.arange(n - 5).sum(),
        )
        for a, b in zip(module.sizes(x), want, strict=True):
            same(a, np.asarray(b))


def test_is_weak_without_a_dtype() -> None:
    x = np.linspace(1, 2, 10, dtype=np.float32)
    got = tensorc.compile("kernel k(x: f32[10]) { return x * arange(0, 1, 0.1) }").k(x)
    same(got, x * np.arange(0, 1, 0.1).astype(np.float32))
