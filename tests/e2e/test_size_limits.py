"""Sizes beyond 64 bits: the call is refused, or its result is right; nothing is read or written elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorc

PROGRAM = """
kernel product_start(x: f32[N], n: i64, m: i64) { return x[n * m :] }
kernel product_stop(x: f32[N], n: i64, m: i64) { return x[: n * m] }
kernel triple(x: f32[N], n: i64) { return x[3 * n :], x[: 3 * n] }
kernel cube(x: f32[N], n: i64) { return x[: n * n * n] }
kernel counted(n: i64) { return sum(1 for i in n * n * n) }
kernel square(n: i64) { return sum(1 for i in n, j in n) }
kernel padded(x: f32[N], n: i64) { return sum(pad(x, n)), pad(x, n)[:3] }
kernel rolled(x: f32[N], n: i64) { return roll(x, n * n) }
kernel ranged(n: i64) { return sum(arange(n * n)) }
kernel checked(x: f32[N], n: i64) requires n * n > 7 { return x + 1 }
kernel unsigned(x: f32[N], n: u64) requires n > 100 { return x + 1 }
kernel plain(x: f32[N], n: i64) { return x[n:], x[:n], x[:n:2], x[N - n :] }
"""
BIG = 2**63 - 1
REFUSED: list[tuple[str, tuple[Any, ...]]] = [
    ("product_start", (2**32, 2**32)),
    ("product_start", (BIG, BIG)),
    ("product_stop", (2**32, 2**32)),
    ("product_stop", (2**31, 2**32)),
    ("triple", (2**62,)),
    ("triple", (BIG,)),
    ("cube", (2**22,)),
    ("padded", (2**62,)),
    ("rolled", (2**32 + 1,)),
    ("checked", (2**32,)),
    ("unsigned", (2**63,)),
]


@pytest.fixture(scope="module")
def module() -> tensorc.Module:
    return tensorc.compile(PROGRAM)


@pytest.mark.parametrize(("kernel", "sizes"), REFUSED)
@pytest.mark.parametrize("length", [0, 5, 100_000])
def test_refused(module: tensorc.Module, kernel: str, sizes: tuple[Any, ...], length: int) -> None:
    x = np.arange(length, dtype=np.float32)
    with pytest.raises(ValueError, match=r"the sizes of this call are too large \(.*n=\d+"):
        module[kernel](x, *sizes)


@pytest.mark.parametrize("kernel", ["counted", "square", "ranged"])
def test_refused_without_arrays(module: tensorc.Module, kernel: str) -> None:
    with pytest.raises(ValueError, match=r"too large \(n=4294967296\)"):
        module[kernel](2**32)


def test_large_and_right(module: tensorc.Module) -> None:
    x = np.arange(100_000, dtype=np.float32)
    for n in (0, 1, 99_999, 100_000, 2**40, 2**62):
        found = module.plain(x, n)
        for f, wanted in zip(
            found, (x[n:], x[:n], x[:n:2], x[x.size - n :] if n <= x.size else x), strict=True
        ):
            np.testing.assert_array_equal(f, wanted)
    for n in (0, 3, 2**31):
        np.testing.assert_array_equal(module.product_stop(x, n, n), x[: n * n])
        np.testing.assert_array_equal(module.cube(x, n % 2**20), x[: (n % 2**20) ** 3])


@pytest.mark.parametrize(
    "body",
    [
        "x[18446744073709551616 :] + 1",
        "x[: 18446744073709551616]",
        "x[-9223372036854775808 :]",
        "tile(x, 18446744073709551616)[:3]",
        "x + N * 18446744073709551616",
    ],
)
def test_numbers_of_more_than_64_bits(body: str) -> None:
    with pytest.raises(tensorc.CompileError, match="TC0303"):
        tensorc.compile(f"kernel k(x: f32[N]) {{ return {body} }}")


def test_an_extent_that_no_array_can_have() -> None:
    module = tensorc.compile("kernel k(x: f32[M, N]) { return sum(x, axis=0) }")
    wide = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (0, 2**50), (4, 4))
    with pytest.raises((ValueError, MemoryError)):
        module.k(wide)
