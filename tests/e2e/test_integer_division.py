"""Quotients and remainders of 64-bit integers: small ones go another way than large ones, with one result."""

from __future__ import annotations

import numpy as np
import pytest

import tensorc

EDGES = np.array([2**50 - 1, 2**50, 2**50 + 1, 2**53, 2**62, 2**63 - 1, 1, 2, 3, 7, 10**15], np.int64)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_64_bits(compiler: str) -> None:
    kernel = tensorc.compile(
        "kernel k(a: i64[N], b: i64[N]) { return a // b, a % b, a // 8, a % 16, a // 3, a % 3 }", cxx=compiler
    )["k"]
    rng = np.random.default_rng(0)
    signed = np.concatenate((EDGES, -EDGES, [0, -(2**63)]))
    pairs = np.stack(np.meshgrid(signed, signed), axis=-1).reshape(-1, 2)
    small = np.stack((rng.integers(-(2**50), 2**50, 4000), rng.integers(-999, 999, 4000)), axis=-1)
    # quotients next to an integer
    factors = rng.integers(1, 2**25, (4000, 2))
    near = np.stack((factors[:, 0] * factors[:, 1] + rng.integers(-1, 2, 4000), factors[:, 1]), axis=-1)
    for chosen in (pairs, small, near, -near, near * [1, -1]):
        a, b = np.ascontiguousarray(chosen.T)
        with np.errstate(all="ignore"):
            expected = (a // b, a % b, a // 8, a % 16, a // 3, a % 3)
        for found, want in zip(kernel(a, b), expected, strict=True):
            np.testing.assert_array_equal(found, want)
