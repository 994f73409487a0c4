"""Errors of f64 results of the elementary functions against mpmath, and pairs of f64 arguments."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

Pairs64 = NDArray[np.float64]

REFERENCE: dict[str, Callable[[mp.mpf], mp.mpf]] = {
    "exp": mp.exp,
    "exp2": lambda x: mp.mpf(2) ** x,
    "expm1": mp.expm1,
    "log": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2),
    "log10": lambda x: mp.log(x) / mp.log(10),
    "log1p": mp.log1p,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "silu": lambda x: x / (1 + mp.exp(-x)),
    "gelu": lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2,
    "softplus": lambda x: mp.log1p(mp.exp(x)),
}
PAIR_REFERENCE: dict[str, Callable[[mp.mpf, mp.mpf], mp.mpf]] = {
    "atan2": mp.atan2,
    "hypot": mp.hypot,
    "power": mp.power,
    "logaddexp": lambda x, y: max(x, y) + mp.log1p(mp.exp(-abs(x - y))),
}
FLOOR = {"logaddexp": 1 / 8}
"""Below it in magnitude errors count in its ulp: what two terms of opposite sign leave of each other."""
DOMAIN = {
    "log": (0.0, math.inf),
    "log2": (0.0, math.inf),
    "log10": (0.0, math.inf),
    "log1p": (-1.0, math.inf),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
    "acosh": (1.0, math.inf),
    "atanh": (-1.0, 1.0),
}
"""Closed intervals outside of which a function is NaN."""
POLES = {
    **{(name, 0.0): -math.inf for name in ("log", "log2", "log10")},
    ("log1p", -1.0): -math.inf,
    ("atanh", 1.0): math.inf,
    ("atanh", -1.0): -math.inf,
}
NOT_ZERO_AT_ZERO = frozenset(("exp", "exp2", "cos", "cosh", "acos", "sigmoid", "softplus", "erfc"))
FAR = 1e5
LIMITS: dict[str, tuple[float | None, float | None]] = {
    "exp": (0.0, math.inf),
    "exp2": (0.0, math.inf),
    "expm1": (-1.0, math.inf),
    "sinh": (-math.inf, math.inf),
    "cosh": (math.inf, math.inf),
    "sigmoid": (0.0, 1.0),
    "erfc": (2.0, 0.0),
    "silu": (-0.0, None),
    "gelu": (-0.0, None),
    "softplus": (0.0, None),
}
"""Values below -FAR and above FAR, where the reference would need a number of a million digits; None is x."""
OVERFLOW = mp.mpf(2) ** 1024 * (1 - mp.mpf(2) ** -54)


def ulp_f64(exact: mp.mpf) -> mp.mpf:
    """Spacing of doubles around `exact`."""
    magnitude = abs(exact)
    if magnitude < mp.mpf(2) ** -1022:
        return mp.mpf(2) ** -1074
    return mp.mpf(2) ** (int(mp.floor(mp.log(magnitude, 2))) - 52)


def distance_f64(exact: mp.mpf, y: float) -> float:
    """Error of y in ulp; infinite when its class or sign is wrong."""
    if math.isnan(y):
        return math.inf
    if exact != 0 and math.copysign(1, y) != mp.sign(exact):
        return math.inf
    if math.isinf(y):
        return 0.0 if abs(exact) >= OVERFLOW else math.inf
    return float(abs(mp.mpf(y) - exact) / ulp_f64(exact))


def error_f64(name: str, x: float, y: float) -> float:
    """Error of y = name(x) in ulp, x finite; infinite when its class or sign is wrong."""
    low, high = DOMAIN.get(name, (-math.inf, math.inf))
    if not low <= x <= high:
        return 0.0 if math.isnan(y) else math.inf
    if (name, x) in POLES:
        return 0.0 if y == POLES[name, x] else math.inf
    if x == 0.0 and name not in NOT_ZERO_AT_ZERO:
        return 0.0 if y == x and math.copysign(1, y) == math.copysign(1, x) else math.inf
    if name in LIMITS and abs(x) > FAR:
        limit = LIMITS[name][x > 0]
        return 0.0 if y == (x if limit is None else limit) else math.inf
    return distance_f64(REFERENCE[name](mp.mpf(x)), y)


def pair_error_f64(name: str, x: float, y: float, z: float) -> float:
    """Error of z = name(x, y) in ulp, both finite and not 0, a negative base only with a whole exponent."""
    if name == "power" and abs(y * math.log2(abs(x))) > 4096 and abs(x) != 1:
        large = (y > 0) == (abs(x) > 1)
        sign = -1.0 if x < 0 and math.fmod(y, 2) != 0 else 1.0
        return 0.0 if z == sign * (math.inf if large else 0.0) else math.inf
    exact = PAIR_REFERENCE[name](mp.mpf(x), mp.mpf(y))
    if abs(exact) < FLOOR.get(name, 0):
        return float(abs(mp.mpf(z) - exact) / ulp_f64(mp.mpf(FLOOR[name])))
    return distance_f64(exact, z)


def sample_pairs_f64(name: str, count: int, seed: int) -> Pairs64:
    """`count` pairs each of any size, of moderate size, and of each kind hard for `name`; none special."""
    generator = np.random.default_rng(seed)
    signs = generator.choice((-1.0, 1.0), (count, 2))
    any_size = signs * np.ldexp(
        generator.uniform(1, 2, (count, 2)), generator.integers(-1074, 1024, (count, 2))
    )
    moderate = generator.normal(0, 5, (count, 2))
    if name == "power":
        parts = [np.abs(any_size), np.abs(moderate), *_power_pairs(generator, count)]
    else:
        ratio = signs[:, 0] * np.exp2(generator.uniform(-70, 70, count))
        size = np.ldexp(signs[:, 1], generator.integers(-1070, 950, count)) * generator.uniform(1, 2, count)
        near = np.stack([size * generator.uniform(0.35, 2.8, count), size], axis=1)
        parts = [any_size, moderate, np.stack([size * ratio, size], axis=1), near]
    pairs = np.concatenate(parts)
    return pairs[np.isfinite(pairs).all(axis=1) & (pairs != 0).all(axis=1)]


def _power_pairs(generator: np.random.Generator, count: int) -> list[Pairs64]:
    """Results of every size from bases of every size, of bases close to 1, and of negative bases."""
    found: list[Pairs64] = []
    for spread in (1000, 20, 1, 1e-3, 1e-8):
        base = np.exp2(generator.uniform(-spread, spread, count))
        base[base == 1] = 2
        found.append(np.stack([base, generator.uniform(-1076, 1025, count) / np.log2(base)], axis=1))
    negative = -np.exp2(generator.uniform(-4, 4, count))
    found.append(np.stack([negative, generator.integers(-300, 301, count).astype(np.float64)], axis=1))
    return found
