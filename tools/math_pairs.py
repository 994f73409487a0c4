"""Pairs of f32 arguments for the elementary functions of two operands."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BINARY = ("atan2", "hypot", "power", "logaddexp")
Pairs = NDArray[np.float32]

_WHOLE = (0, 1, 2, 3, 9, 10, 38, 40, 130, 149, 150, 16777215, 16777216, 1e9, 1e10, 1e30, 3e38)
_BROKEN = (0.5, 1 / 3, 2.5, 0.99999994, 1.0000001, 8388607.5, 1e-30, 1e-40, 1e-45, np.inf)


def special_pairs() -> Pairs:
    """Every two of the numbers around which a special value or a path begins, with both signs, and NaN."""
    values = [sign * v for v in (*_WHOLE, *_BROKEN) for sign in (1, -1)]
    grid = np.meshgrid(np.array([*values, np.nan], np.float32), np.array([*values, np.nan], np.float32))
    return np.stack([g.ravel() for g in grid], axis=1)


def sample_pairs(name: str, count: int, seed: int) -> Pairs:
    """The special pairs, and `count` of any bits, of moderate size, and of each kind hard for `name`."""
    generator = np.random.default_rng(seed)
    any_bits = generator.integers(0, 2**32, (count, 2), dtype=np.uint64).astype(np.uint32).view(np.float32)
    moderate = generator.normal(0, 5, (count, 2)).astype(np.float32)
    parts = [special_pairs(), any_bits, moderate]
    if name == "power":
        parts += _power_pairs(generator, count)
    elif name == "logaddexp":
        parts += _near_pairs(generator, count)
    else:
        ratio = generator.normal(0, 1, count) * np.exp2(generator.uniform(-30, 30, count))
        size = np.exp2(generator.uniform(-126, 96, count))
        parts.append(np.stack([size * ratio, size], axis=1).astype(np.float32))
    return np.concatenate(parts)


def _near_pairs(generator: np.random.Generator, count: int) -> list[Pairs]:
    """Neighbours of any size, and pairs whose powers add up to about 1."""
    size = generator.choice((-1, 1), count) * np.exp2(generator.uniform(-20, 20, count))
    near = np.stack([size, size + generator.normal(0, 20, count)], axis=1)
    low = generator.uniform(-20, -0.7, count)
    cancelling = np.stack([low, np.log1p(-np.exp(low))], axis=1)
    return [near.astype(np.float32), cancelling.astype(np.float32)]


def _power_pairs(generator: np.random.Generator, count: int) -> list[Pairs]:
    """Results of every size from bases of every size, of bases close to 1, and of negative bases."""
    exponents: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for spread in (120, 20, 1, 0.01, 1e-5):
        base = np.exp2(generator.uniform(-spread, spread, count)).astype(np.float32).astype(np.float64)
        base[base == 1] = 2
        exponents.append((base, generator.uniform(-151, 129, count) / np.log2(base)))
    negative = -np.exp2(generator.uniform(-4, 4, count))
    exponents.append((negative, generator.integers(-40, 41, count).astype(np.float64)))
    return [np.stack(pair, axis=1).astype(np.float32) for pair in exponents]
