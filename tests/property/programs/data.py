"""Sizes and arrays to call a kernel with: odd vector tails, empty axes, strides, special values."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from programs.growing import EXTENTS
from tensorc.dtypes import DType
from tensorc.index_algebra import Poly
from tensorc.interp.float_values import round_values, stored
from tensorc.signature import Signature

LONG = (257, 1030)
FLOAT_SPECIALS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, -1e30, 0.5, 1.0, 88.0, -104.0)
WIDE_SPECIALS = (5e-324, -1e-310, 1e308, -1e200, 2.0**53, -(2.0**63), 1e-160, 709.7, -745.0, 2.0**31)
"""What only f64 holds, or what is at the edge of a cast or a function there."""


def draw_sizes(random: Random, signature: Signature) -> dict[str, int]:
    """A value for every dim: mostly odd vector tails, now and then an empty axis, or one long one."""
    free = [d.name for d in signature.dims if d.fixed is None]
    sizes = {name: random.choice(EXTENTS[1:]) if random.randrange(12) else 0 for name in free}
    if any(len(p.shape) == 3 for p in signature.params):
        sizes = {name: min(size, 17) for name, size in sizes.items()}
    once = [name for name in free if all(_uses(p.shape, name) <= 1 for p in signature.params)]
    if once and random.randrange(5) == 0:
        sizes[random.choice(once)] = random.choice(LONG)
    return sizes


def _uses(shape: tuple[Poly, ...], name: str) -> int:
    return sum(name in size.dims() for size in shape)


def draw_arguments(random: Random, signature: Signature, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Arrays for every parameter, half of them strided; scalars only sometimes."""
    rng = np.random.default_rng(random.randrange(1 << 30))
    found: dict[str, Any] = {}
    calm = random.randrange(3) > 0  # two calls of three have no specials, else NaN hides everything
    for p in signature.params:
        if not p.shape:
            if random.randrange(2):
                found[p.name] = 5 if p.dtype.is_integer else 1.25
            continue
        shape = tuple(s.evaluate(sizes) for s in p.shape)
        values = _draw(rng, p.dtype, shape, calm)
        found[p.name] = _strided(random, values) if random.randrange(2) else values
    return found


def _draw(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], calm: bool) -> npt.NDArray[Any]:
    if dtype.is_bool:
        return np.asarray(rng.random(shape) < 0.5)
    if not dtype.is_float:
        info = np.iinfo(dtype.numpy)
        small = rng.integers(max(-9, info.min), 10, shape)
        wide = rng.integers(info.min, info.max, shape, dtype.numpy, endpoint=True)
        return np.where(rng.random(shape) < (1.0 if calm else 0.7), small.astype(dtype.numpy), wide)
    values = np.where(rng.random(shape) < 0.6, rng.normal(size=shape), rng.integers(-4, 5, shape))
    if not calm:
        special = rng.choice(FLOAT_SPECIALS + (WIDE_SPECIALS if dtype.size == 8 else ()), shape)
        values = np.where(rng.random(shape) < 0.15, special, values)
    with np.errstate(over="ignore"):
        rounded = round_values(values.astype(np.float64), dtype)
        return stored(np.asarray(rounded, dtype.carrier), dtype)


def _strided(random: Random, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same values in other memory: spread and reversed, transposed, or off the element's alignment."""
    match random.randrange(4):
        case 0 | 1:
            wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
            view = wide[..., ::-2]
        case 2:
            view = np.empty(values.shape[::-1], values.dtype).T
        case _:
            memory = np.empty(values.nbytes + 1, np.uint8)
            view = memory[1:].view(values.dtype).reshape(values.shape)
    view[...] = values
    return view
