"""Extents around every boundary of the loops (lanes, steps, blocks, strips, chunks) in each kind of nest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tensorc.api import Module, load_unit
from tensorc.driver import CompileOptions
from tensorc.source import Source

Array = npt.NDArray[Any]
ROW = (0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 255, 256, 257, 16383, 16384, 16385)
COLUMN = (0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 257)

# integer values: sums are exact in any order, so NumPy's bits are the right ones
KERNELS: dict[str, tuple[str, Callable[[Array], tuple[Array, ...]]]] = {
    "flat": ("f32[N]", lambda x: (x * 2 + 1, x[::-1])),
    "whole": ("f32[N]", lambda x: (x.sum(), x * x, np.asarray((x * x).sum()))),
    "rows": ("f32[A, N]", lambda x: (x.sum(1), x - x.sum(1, keepdims=True), (x * x).sum(1))),
    "columns": ("f32[N, A]", lambda x: (x.sum(0), x - x.sum(0), (x * x).sum(0))),
    "wide": ("f32[A, N]", lambda x: (x.sum(0), x + x.sum(0))),
    "last_two": ("f32[A, B, N]", lambda x: (x.sum((1, 2)), x - x.sum((1, 2), keepdims=True))),
    "first_two": ("f32[A, N, B]", lambda x: (x.sum((0, 1)), x.sum(1), x.sum((0, 2)))),
    "all_three": ("f32[A, B, N]", lambda x: (x.sum(), np.asarray((x * x).sum()))),
    "transposed": ("f32[A, N]", lambda x: (x.T + 1,)),
}
BODIES = {
    "flat": "x * 2 + 1, x[::-1]",
    "whole": "sum(x), x * x, sum(x * x)",
    "rows": "sum(x, axis=1), x - sum(x, axis=1, keepdims=true), sum(x * x, axis=1)",
    "columns": "sum(x, axis=0), x - sum(x, axis=0), sum(x * x, axis=0)",
    "wide": "sum(x, axis=0), x + sum(x, axis=0)",
    "last_two": "sum(x, axis=(1, 2)), x - sum(x, axis=(1, 2), keepdims=true)",
    "first_two": "sum(x, axis=(0, 1)), sum(x, axis=1), sum(x, axis=(0, 2))",
    "all_three": "sum(x), sum(x * x)",
    "transposed": "x.T + 1",
}
EXTREMES = """
kernel extremes(x: f32[A, N]) {
    return max(x, axis=1), min(x, axis=0), argmax(x, axis=1), argmin(x, axis=0), max(x), argmin(x)
}
kernel tests(x: bool[A, N]) { return any(x, axis=1), all(x, axis=0), any(x), all(x), sum(x, axis=1) }
kernel spread(x: f64[A, N]) { return var(x, axis=1), mean(x, axis=0), std(x), var(x, axis=0, correction=1) }
"""
TEXT = (
    "".join(f"kernel {n}(x: {KERNELS[n][0]}) {{ return {body} }}\n" for n, body in BODIES.items()) + EXTREMES
)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    options = CompileOptions(target="native", opt_level=1, cxx_flags=("-Wall", "-Wextra", "-Werror"))
    return load_unit(Source("edges", TEXT), options, tmp_path_factory.mktemp("edges"))


def _shapes(kernel: str) -> list[tuple[int, ...]]:
    """A is small, or large enough for threads; B is tiny beside a huge N and huge beside a tiny one."""
    match kernel:
        case "flat" | "whole":
            return [(n,) for n in (*ROW, 270001)]
        case "rows" | "transposed":
            return [(a, n) for n in ROW for a in (1, 3)] + [(1100, n) for n in (1, 9, 257)] + [(0, 5)]
        case "columns":
            return [(n, a) for n in (*ROW[:-3], 1023, 1024, 1025, 2049) for a in (1, 9)] + [
                (5, 0),
                (257, 1100),
            ]
        case "wide":
            return [(a, n) for n in COLUMN for a in (1, 9, 1030)] + [(0, 9), (17, 16385)]
        case _:
            return _shapes_of_three(kernel)


def _shapes_of_three(kernel: str) -> list[tuple[int, ...]]:
    tails = [(b, n) for n in (0, 1, 7, 8, 33, 257) for b in (1, 3, 70)] + [(2, 16385), (5000, 1), (2100, 9)]
    if kernel == "first_two":
        return [(a, n, b) for a in (1, 3) for b, n in tails] + [(0, 3, 4), (40, 90, 90)]
    return [(a, b, n) for a in (1, 3) for b, n in tails] + [(0, 3, 4), (40, 90, 90)]


def _check(module: Module, kernel: str, x: Array, expected: tuple[Array, ...]) -> None:
    for threads in (1, 2):
        found = module[kernel](x, threads=threads)
        results = found if isinstance(found, tuple) else (found,)
        for k, (got, want) in enumerate(zip(results, expected, strict=True)):
            assert np.shape(got) == np.shape(want)
            assert np.array_equal(got, want), (kernel, x.shape, threads, k)


@pytest.mark.parametrize("kernel", KERNELS)
def test_sums_and_maps(module: Module, kernel: str) -> None:
    random = np.random.default_rng(5)
    for shape in _shapes(kernel):
        x = random.integers(-3, 4, shape).astype(np.float32)
        _check(module, kernel, x, KERNELS[kernel][1](x))


SHAPES_2 = [(a, n) for n in (*ROW[1:-2], 16385) for a in (1, 3)] + [
    (1030, 1),
    (1030, 9),
    (300, 257),
    (1100, 300),
]


def test_extremes(module: Module) -> None:
    random = np.random.default_rng(6)
    for shape in SHAPES_2:
        x = random.integers(-9, 9, shape).astype(np.float32)
        expected = (x.max(1), x.min(0), x.argmax(1), x.argmin(0), x.max(), x.argmin())
        _check(module, "extremes", x, expected)


def test_extremes_at_every_place(module: Module) -> None:
    """The only extreme moves through lanes, steps and tails."""
    for n in (1, 8, 33, 70, 300):
        for at in range(n):
            x = np.zeros((1, n), np.float32)
            x[0, at] = 1
            found = module["extremes"](x, threads=1)
            assert found[2][0] == at
            assert module["extremes"](-x.T.copy(), threads=1)[3][0] == at


def test_logical(module: Module) -> None:
    random = np.random.default_rng(7)
    for shape in [*SHAPES_2, (0, 3), (3, 0)]:
        for share in (0.0, 0.02, 0.98, 1.0):
            x = random.random(shape) < share
            _check(module, "tests", x, (x.any(1), x.all(0), x.any(), x.all(), x.sum(1)))


def test_spread(module: Module) -> None:
    random = np.random.default_rng(8)
    for shape in [s for s in SHAPES_2 if s[0] > 1]:
        x = random.standard_normal(shape) + 100
        expected = (x.var(1), x.mean(0), x.std(), x.var(0, ddof=1))
        for threads in (1, 2):
            for got, want in zip(module["spread"](x, threads=threads), expected, strict=True):
                assert np.allclose(got, want, rtol=1e-10, atol=1e-12), shape
