"""Column reductions whose body has elementary functions: its copies are rows of a strip, not neighbours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import tensorc

TEXT = """
kernel of_rows(x: f32[N, D]) { e = exp(x - max(x, axis=0)); return sum(e, axis=0), max(sin(x), axis=0) }
kernel of_planes(x: f32[B, N, D]) { return sum(exp(x), axis=1), var(tanh(x), axis=(0, 1)) }
kernel of_doubles(x: f64[N, D]) { return sum(exp(x), axis=0), max(sin(x), axis=0) }
"""


@pytest.fixture(scope="module", params=["native", "generic"])
def module(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tensorc.Module:
    cache: Path = tmp_path_factory.mktemp("cache")
    return tensorc.compile(TEXT, target=request.param, cache_dir=cache)


def _random(*shape: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 24, 1030])
@pytest.mark.parametrize("columns", [1, 8, 16, 17, 40, 130])
def test_rows_of_a_strip(module: tensorc.Module, rows: int, columns: int) -> None:
    x = _random(rows, columns)
    wide = x.astype(np.float64)
    total, top = module.of_rows(x)
    np.testing.assert_allclose(total, np.exp(wide - wide.max(axis=0)).sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(top, np.sin(wide).max(axis=0), rtol=1e-5, atol=1e-6)
    total, top = module.of_doubles(wide)
    np.testing.assert_allclose(total, np.exp(wide).sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(top, np.sin(wide).max(axis=0), rtol=1e-13)


@pytest.mark.parametrize("columns", [8, 17, 48])
def test_rows_of_several_planes(module: tensorc.Module, columns: int) -> None:
    x = _random(3, 20, columns)
    wide = x.astype(np.float64)
    total, variance = module.of_planes(x)
    np.testing.assert_allclose(total, np.exp(wide).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(variance, np.tanh(wide).var(axis=(0, 1)), rtol=1e-5)
