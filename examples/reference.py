"""The examples in NumPy: inputs of any size, results in float64, and how far a kernel may be from them.

A bound is elementwise and follows from what the language promises (docs/language.md, "Numbers"): elementary
functions within 1 ulp, one rounding per operation, a sum within (log2 n + 9) units of 2^-24 of the sum of
magnitudes, a product accumulated in f32. It is a worst case: real errors are far below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
Array = NDArray[np.float64]
Judged = tuple[tuple[Array, ...], tuple[Array, ...]]  # results, and how far each element may be off
UNIT = 2.0**-24  # half an ulp of 1.0f: one correctly rounded f32 operation errs by at most this, relatively

erf = np.vectorize(math.erf, otypes=[np.float64])


@dataclass(frozen=True, slots=True)
class Example:
    """One file of this directory; `shapes` are those of its array parameters in terms of the dims.

    `evaluate` maps float64 inputs to (results, bounds), one array each per result.
    """

    name: str
    shapes: tuple[tuple[str, ...], ...]
    sizes: dict[str, int]
    evaluate: Callable[..., Judged]

    @property
    def path(self) -> Path:
        return HERE / f"{self.name}.tdsl"

    def inputs(self, sizes: dict[str, int], seed: int = 0) -> tuple[NDArray[np.float32], ...]:
        """Standard normal f32 arrays for the given sizes."""
        rng = np.random.default_rng(seed)
        return tuple(rng.standard_normal([sizes[d] for d in s]).astype(np.float32) for s in self.shapes)


def sum_unit(count: int) -> float:
    """The relative bound of an f32 sum of `count` terms."""
    return (math.log2(max(count, 1)) + 9) * UNIT


def chain(x: Array) -> Judged:
    y = np.maximum(np.sin(x) + 1, 0)
    return (y,), (np.full_like(y, 4 * UNIT),)


def epilogue(x: Array) -> Judged:
    z = np.sin(x) + 1
    y = np.maximum(z.sum(axis=1), 0) * 2
    columns = x.shape[1]
    bound = 2 * (4 * UNIT * columns + (sum_unit(columns) + UNIT) * np.abs(z).sum(axis=1))
    return (y,), (bound,)


def wall(x: Array) -> Judged:
    y = np.sin(x)
    result = np.maximum(y + y.sum(), 0)
    bound = (sum_unit(x.size) + 4 * UNIT) * np.abs(y).sum() + 4 * UNIT
    return (result,), (np.full_like(result, bound),)


def mismatch(x: Array) -> Judged:
    a, b = np.sin(x), np.cos(x.T)
    return (a, b), (np.full_like(a, 2 * UNIT), np.full_like(b, 2 * UNIT))


def softmax(x: Array) -> Judged:
    shifted = x - x.max(axis=-1, keepdims=True)
    e = np.exp(shifted)
    y = e / e.sum(axis=-1, keepdims=True)
    relative = 2 * np.abs(shifted).max(axis=-1, keepdims=True) * UNIT + sum_unit(x.shape[-1]) + 8 * UNIT
    return (y,), (y * relative + 2.0**-149,)


def layernorm(x: Array, w: Array, b: Array, eps: float = 1e-5) -> Judged:
    mu = x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    normalised = (x - mu) / deviation
    y = normalised * w + b
    mu_error = (sum_unit(x.shape[-1]) + UNIT) * np.abs(x).mean(axis=-1, keepdims=True)
    error = (mu_error + UNIT * np.abs(x - mu)) / deviation + 8 * UNIT * np.abs(normalised)
    return (y,), (error * np.abs(w) + 4 * UNIT * (np.abs(normalised * w) + np.abs(b)),)


def gelu_mlp(x: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Judged:
    t = x @ w1 + b1
    h = 0.5 * t * (1 + erf(t * math.sqrt(0.5)))
    y = h @ w2 + b2
    t_error = (x.shape[1] + 2) * UNIT * (np.abs(x) @ np.abs(w1) + np.abs(b1))
    h_error = 1.13 * t_error + 8 * UNIT * np.abs(t)  # 1.13 bounds the slope of gelu
    bound = h_error @ np.abs(w2) + (w2.shape[0] + 2) * UNIT * (np.abs(h) @ np.abs(w2) + np.abs(b2))
    return (y,), (bound,)


MATRIX = (("N", "D"),)
SQUARE = {"N": 1024, "D": 1024}

EXAMPLES: tuple[Example, ...] = (
    Example("chain", MATRIX, SQUARE, chain),
    Example("epilogue", MATRIX, SQUARE, epilogue),
    Example("wall", MATRIX, SQUARE, wall),
    Example("mismatch", MATRIX, SQUARE, mismatch),
    Example("softmax", MATRIX, SQUARE, softmax),
    Example("layernorm", (("N", "D"), ("D",), ("D",)), SQUARE, layernorm),
    Example(
        "gelu_mlp",
        (("N", "D"), ("D", "H"), ("H",), ("H", "D"), ("D",)),
        {"N": 256, "D": 512, "H": 1024},
        gelu_mlp,
    ),
)
