"""Section 4 of the language: what the compiler may not change, and what it may."""
# ruff: noqa: E501

from __future__ import annotations

import numpy as np
import pytest
from promises import Row, compile_rows, rows_test, same

import tensorc

F = np.float32
RNG = np.random.default_rng(9)
A, B, X, Y = (RNG.normal(size=37).astype(F) for _ in range(4))
ODD = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-40, -1e-45, 3e38, 1.0], F)
NINTH = np.full(9, F(1.1))
TINY = np.array([1e-45, 3e-39, -1.1754942e-38, 1.1754944e-38], F)

ROWS = [
    Row("no hidden fma", "a: f32[N], b: f32[N], x: f32[N], y: f32[N]", "a*x + b*y, a*x - y, a - b*x", [A, B, X, Y], lambda a, b, x, y: (a * x + b * y, a * x - y, a - b * x)),
    Row("no hidden fma in a sum of a product", "a: f32[N], x: f32[N]", "sum(a * x)", [A[:5], X[:5]], lambda a, x: np.float32(sum_in_order(a * x))),
    Row("no hidden fma in f64", "a: f64[N], x: f64[N]", "a*x + a", [A.astype(float) / 3, X.astype(float) / 3], lambda a, x: a * x + a),
    Row("sums stay as they are written", "a: f32[N], b: f32[N], x: f32[N]", "(a + b) + x, a + (b + x), a + b - a", [A * 1e8, B, X], lambda a, b, x: ((a + b) + x, a + (b + x), a + b - a)),
    Row("products stay as they are written", "a: f32[N], b: f32[N]", "a * 3 * b, a * (3 * b), a * b / b, 2 * a * 3", [A, B], lambda a, b: (a * 3 * b, a * (3 * b), a * b / b, F(2) * a * F(3))),
    Row("x*0, x-x and x/x of any x", "x: f32[N]", "x * 0, x - x, x / x, x + 0, 0 - x, x * 1", [ODD], lambda x: (x * 0, x - x, x / x, x + 0, 0 - x, x)),
    Row("sqrt(x*x) is not abs(x)", "x: f32[N]", "sqrt(x * x), sqrt(x) ** 2", [np.array([1e-30, 1e30, -3], F)], lambda x: (np.sqrt(x * x), np.sqrt(x) * np.sqrt(x))),
    Row("a division is a division", "x: f32[N], s: f32", "x / 3, x / 10, x / s, x / 0.1", [A, 7], lambda x, s: (x / F(3), x / F(10), x / F(7), x / F(0.1))),
    Row("a division by a power of two", "x: f32[N]", "x / 8", [A], lambda x: x / F(8)),
    Row("exp(log(x)) stays", "x: f32[N]", "any(exp(log(x)) != x)", [abs(A)], np.True_),
    Row("signed zeros", "x: f32[N]", "-x, x + x, x * -1, 0 * x, abs(x), x - 0, -(x - x)", [np.array([0.0, -0.0], F)], lambda x: (-x, x + x, x * -1, 0 * x, abs(x), x - F(0), -(x - x))),
    Row("subnormals", "x: f32[N]", "x / 2, x * 0.5, x + x, abs(x), x - 1e-45, x != 0", [TINY], lambda x: (x / F(2), x * F(0.5), x + x, abs(x), x - F(1e-45), x != 0)),
    Row("subnormal sums", "x: f32[N]", "sum(x), max(x), min(x)", [TINY], lambda x: (x.sum(), x.max(), x.min())),
    Row("comparisons with nan", "x: f32[N]", "x == x, x != x, x < x, not (x < x), x >= x", [ODD], lambda x: (x == x, x != x, x < x, ~(x < x), x >= x)),
    Row("nan and infinity tests", "x: f32[N]", "isnan(x), isinf(x), isfinite(x)", [ODD], lambda x: (np.isnan(x), np.isinf(x), np.isfinite(x))),
    Row("a where does not mix", "x: f32[N]", "where(x > 0, log(x), 0), where(isnan(x), 0, x) * 2", [ODD], lambda x: (np.where(x > 0, np.log(x.astype(float)).astype(F), F(0)), np.where(np.isnan(x), F(0), x) * 2), ulp=1),
    Row("fma is asked for by name", "a: f32[N], b: f32[N], x: f32[N]", "fma(a, b, x)", [A, B, X], lambda a, b, x: (a.astype(float) * b + x).astype(F), ulp=1),
]  # fmt: skip


def sum_in_order(values: np.ndarray) -> np.float32:
    total = F(0)
    for v in values:
        total = F(total + v)
    return total


kernels, test_promise = rows_test(ROWS)

ELEMENTS = Row(
    "elements",
    "x: f32[N], y: f32[N]",
    "exp(x) * y + sin(y), x / y, tanh(x) - log(abs(y)), x ** y, sigmoid(x)",
    [],
    0,
)
REDUCED = Row(
    "reduced",
    "x: f32[N, D]",
    "sum(x), sum(x, axis=0), sum(x, axis=1), mean(exp(x), axis=1), var(x, axis=0), max(x, axis=1), x @ x.T, logsumexp(x, axis=1)",
    [],
    0,
)


@pytest.fixture(scope="module")
def builds() -> list[tuple[str, dict[str, object]]]:
    """The two kernels under every option that must not matter."""
    options = [
        ("default", {}), ("O0", {"opt_level": 0}), ("O3", {"opt_level": 3}), ("inductor", {"policy": "inductor-2.8"}), ("serial", {"threads": "none"}),
    ]  # fmt: skip
    return [(name, dict(compile_rows([ELEMENTS, REDUCED], **kw))) for name, kw in options]


def test_an_element_depends_on_its_operands_only(builds: list[tuple[str, dict[str, object]]]) -> None:
    """Not on its position, the length, the alignment, the threads or the level of optimisation."""
    x, y = (RNG.normal(size=2048).astype(F) for _ in range(2))
    wanted = builds[0][1]["elements"](x, y)  # type: ignore[operator]
    for _, kernels in builds:
        for length in (1, 2, 7, 8, 9, 17, 100):
            for start in (0, 1, 3, 1900):
                found = kernels["elements"](x[start:][:length], y[start:][:length], threads=2)  # type: ignore[operator]
                for f, w in zip(found, wanted, strict=True):
                    same(f, w[start : start + length])


@pytest.mark.parametrize("shape", [(1, 1), (3, 17), (64, 40), (5, 1000), (700, 9), (0, 4), (300, 300)])
def test_the_same_bits_in_every_build(
    builds: list[tuple[str, dict[str, object]]], shape: tuple[int, int]
) -> None:
    x = RNG.normal(size=shape).astype(F)
    if shape[1] == 0 or shape[0] == 0:
        x = np.zeros(shape, F)
    wanted = builds[0][1]["reduced"](x, threads=1)  # type: ignore[operator]
    for _, kernels in builds:
        for threads in (1, 2):
            for f, w in zip(kernels["reduced"](x, threads=threads), wanted, strict=True):  # type: ignore[operator]
                same(f, w)


def test_the_floating_mode_of_the_process_is_untouched() -> None:
    module = tensorc.compile("kernel k(x: f32[N]) { return exp(x) * 1e-40, sum(x / 3) }\n")
    before = np.float32(1e-40) * np.float32(0.5)
    with np.errstate(all="raise"):
        module["k"](np.array([np.nan, np.inf, 1e-45, 1000], F))
        assert np.float32(2) / np.float32(3) == F(2 / 3)
    assert np.float32(1e-40) * np.float32(0.5) == before != 0


def test_fused_or_not_the_value_is_the_same() -> None:
    fused, apart = (
        compile_rows(
            [
                Row(
                    "r",
                    "a: f32[N], x: f32[N], y: f32[N]",
                    f"{pin}p = a * x\n{pin}q = p + y\nreturn q * 3 - p",
                    [],
                    0,
                )
            ]
        )["r"]
        for pin in ("", "@materialize ")
    )
    same(fused(A, X, Y), apart(A, X, Y))
    same(fused(A, X, Y), (A * X + Y) * F(3) - A * X)
