"""Section 5 of the language: accuracy of functions and of sums, special values, determinism."""
# ruff: noqa: E501

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from promises import Row, compile_rows, rows_test

F = np.float32
RNG = np.random.default_rng(13)
INF, NAN = math.inf, math.nan

# C Annex F, and the limits of the functions that C does not have: argument -> value
SPECIAL: dict[str, list[tuple[float, float]]] = {
    "sqrt": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-1, NAN)], "rsqrt": [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1, NAN), (4, 0.5)],
    "cbrt": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (-8, -2), (27, 3)], "reciprocal": [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, -0.0)],
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0.0), (1000, INF), (-1000, 0.0)], "exp2": [(0.0, 1), (INF, INF), (-INF, 0.0), (10, 1024), (-1, 0.5)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1)], "log": [(1, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1, NAN)],
    "log2": [(1, 0.0), (8, 3), (0.0, -INF), (INF, INF), (-1, NAN)], "log10": [(1, 0.0), (1000, 3), (0.0, -INF), (INF, INF), (-1, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1, -INF), (INF, INF), (-2, NAN)], "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN)], "cos": [(0.0, 1), (-0.0, 1), (INF, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN)], "asin": [(0.0, 0.0), (-0.0, -0.0), (2, NAN)], "acos": [(1, 0.0), (2, NAN)], "atan": [(0.0, 0.0), (-0.0, -0.0)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)], "cosh": [(0.0, 1), (INF, INF), (-INF, INF)], "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1)],
    "asinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)], "acosh": [(1, 0.0), (INF, INF), (0.5, NAN)], "atanh": [(0.0, 0.0), (-0.0, -0.0), (1, INF), (-1, -INF), (2, NAN)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1)], "erfc": [(INF, 0.0), (-INF, 2), (0.0, 1)], "sigmoid": [(0.0, 0.5), (INF, 1), (-INF, 0.0)],
    "silu": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -0.0)], "gelu": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -0.0)],
    "softplus": [(INF, INF), (-INF, 0.0)], "floor": [(-0.0, -0.0), (INF, INF), (-0.5, -1)], "ceil": [(-0.5, -0.0), (-INF, -INF)], "trunc": [(-0.5, -0.0), (2.9, 2)],
    "round": [(0.5, 0.0), (-0.5, -0.0), (1.5, 2), (2.5, 2), (INF, INF)], "sign": [(0.0, 0.0), (-3, -1), (INF, 1)], "abs": [(-0.0, 0.0), (-INF, INF)],
}  # fmt: skip

PAIRED: dict[str, list[tuple[float, float, float]]] = {
    "x ** y": [(0.0, 0.0, 1), (NAN, 0.0, 1), (1, NAN, 1), (1, INF, 1), (-1, INF, 1), (2, INF, INF), (0.5, INF, 0.0), (2, -INF, 0.0), (0.0, -1, INF), (-0.0, -1, -INF), (-0.0, -2, INF),
               (-0.0, 3, -0.0), (-8, 1 / 3, NAN), (-2, 3, -8), (INF, -1, 0.0), (-INF, 3, -INF), (-INF, 2, INF), (INF, 0.0, 1), (-0.0, 0.5, 0.0), (-INF, 0.5, INF)],
    "atan2(x, y)": [(0.0, 1, 0.0), (-0.0, 1, -0.0), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (1, INF, 0.0), (-1, INF, -0.0), (NAN, 1, NAN)],
    "hypot(x, y)": [(INF, NAN, INF), (NAN, -INF, INF), (3, 4, 5), (0.0, -0.0, 0.0), (1e38, 0.0, 1e38), (NAN, 1, NAN)],
    "logaddexp(x, y)": [(INF, 1, INF), (-INF, -INF, -INF), (INF, -INF, INF), (-INF, 3, 3), (NAN, 1, NAN)],
    "copysign(x, y)": [(1, -0.0, -1), (NAN, -1, NAN), (-INF, 1, INF)],
}  # fmt: skip


def special_rows() -> list[Row]:
    rows = []
    for (name, table), dtype in itertools.product(SPECIAL.items(), ("f32", "f64")):
        t = F if dtype == "f32" else np.float64
        points = [*table, (NAN, NAN)]
        rows.append(
            Row(
                f"{name} of {dtype}",
                f"x: {dtype}[N]",
                f"{name}(x)",
                [np.array([a for a, _ in points], t)],
                np.array([v for _, v in points], t),
            )
        )
    for (expression, triples), dtype in itertools.product(PAIRED.items(), ("f32", "f64")):
        t = F if dtype == "f32" else np.float64
        x, y, v = (np.array(column, t) for column in zip(*triples, strict=True))
        rows.append(Row(f"{expression} of {dtype}", f"x: {dtype}[N], y: {dtype}[N]", expression, [x, y], v))
    return rows


kernels, test_special_values = rows_test(special_rows())


# -- sums ------------------------------------------------------------------------------------------

SIZES = (1, 2, 7, 8, 9, 100, 1000, 4097, 100_000)
DATA: dict[str, Callable[[int], np.ndarray]] = {
    "normal": lambda n: RNG.normal(size=n).astype(F),
    "positive": lambda n: RNG.uniform(size=n).astype(F),
    "one large": lambda n: np.concatenate([[F(2**24)], np.full(n - 1, F(1))]).astype(F),
    "cancelling": lambda n: np.where(np.arange(n) % 2, F(1e8), F(-1e8) + F(64)),
    "falling": lambda n: (1 / (1 + np.arange(n))).astype(F),
}


@pytest.fixture(scope="module")
def sums() -> dict[str, Callable[..., tuple[np.ndarray, ...]]]:
    return dict(
        compile_rows(
            [
                Row("sums", "x: f32[N]", "sum(x), mean(x), var(x), std(x)", [], 0),
                Row("columns", "x: f32[N, D]", "sum(x, axis=0), mean(x, axis=0), sum(x, axis=1)", [], 0),
                Row(
                    "moments",
                    "x: f32[N, D]",
                    "mean(x, axis=1), var(x, axis=1), std(x, axis=1, correction=1), var(x, axis=0)",
                    [],
                    0,
                ),
                Row("matmul", "a: f32[N, K], b: f32[K, M]", "a @ b", [], 0),
            ]
        )
    )


def bound(x: np.ndarray, axis: int | None = None) -> np.ndarray:
    n = x.size if axis is None else x.shape[axis]
    return (math.log2(max(n, 1)) + 9) * 2.0**-24 * abs(x.astype(float)).sum(axis=axis)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("n", SIZES)
def test_sums_keep_their_bound(
    sums: dict[str, Callable[..., tuple[np.ndarray, ...]]], kind: str, n: int
) -> None:
    x = DATA[kind](n)
    total, mean, *_ = sums["sums"](x)
    exact = math.fsum(x.astype(float))
    assert abs(float(total) - exact) <= bound(x)
    assert abs(float(mean) - exact / n) <= bound(x) / n + abs(exact / n) * 2.0**-23


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (1000, 3), (3, 1000), (257, 130)])
def test_sums_of_axes_keep_their_bound(
    sums: dict[str, Callable[..., tuple[np.ndarray, ...]]], kind: str, shape: tuple[int, int]
) -> None:
    x = DATA[kind](shape[0] * shape[1]).reshape(shape)
    columns, means, rows = sums["columns"](x)
    assert (abs(columns - x.astype(float).sum(0)) <= bound(x, 0)).all()
    assert (abs(means - x.astype(float).mean(0)) <= bound(x, 0) / shape[0] + abs(means) * 2.0**-23).all()
    assert (abs(rows - x.astype(float).sum(1)) <= bound(x, 1)).all()


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e18])
@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_moments_are_two_pass(
    sums: dict[str, Callable[..., tuple[np.ndarray, ...]]], scale: float, offset: float
) -> None:
    x = (RNG.normal(size=(5, 333)) + offset).astype(F) * F(scale)
    wide = x.astype(float)
    mean, *spread = sums["moments"](x)
    assert (abs(mean - wide.mean(1)) <= bound(x, 1) / x.shape[1] + abs(wide.mean(1)) * 2.0**-24).all()
    for f, e in zip(spread, (wide.var(1), wide.std(1, ddof=1), wide.var(0)), strict=True):
        with np.errstate(over="ignore", under="ignore"):
            np.testing.assert_allclose(f, e.astype(F), rtol=1e-6, atol=1e-45)


def test_std_is_finite_at_extreme_scales() -> None:
    (kernel,) = compile_rows([Row("std", "x: f32[N]", "std(x), mean(x)", [], 0)]).values()
    for scale in (1e-30, 1e30):
        x = (np.array([1, 2, 3, 4], F) * F(scale)).astype(F)
        std, mean = kernel(x)
        np.testing.assert_allclose(std, x.astype(float).std(), rtol=1e-6)
        np.testing.assert_allclose(mean, x.astype(float).mean(), rtol=1e-6)


def test_matmul_accumulates_in_f32(sums: dict[str, Callable[..., np.ndarray]]) -> None:
    a, b = RNG.normal(size=(13, 300)).astype(F), RNG.normal(size=(300, 17)).astype(F)
    error = abs(sums["matmul"](a, b) - a.astype(float) @ b.astype(float))
    assert (error <= (300 + 2) * 2.0**-24 * (abs(a).astype(float) @ abs(b).astype(float))).all()
