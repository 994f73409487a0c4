"""logsumexp, logaddexp, softplus, silu and gelu: exact where exact is due, near elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sema_checking import kernel, result_ops

import tensorc
from tensorc.interp.tensor_interp import interpret

INF, NAN = np.inf, np.nan
HARD = np.array([-INF, -800, -90, -20, -1, -0.0, 0.0, 1e-30, 0.5, 1, 20, 90, 800, INF, NAN])
TEXT = """
kernel plus32(x: f32[N]) { return softplus(x) }
kernel plus64(x: f64[N]) { return softplus(x) }
kernel add32(x: f32[N, 1], y: f32[M]) { return logaddexp(x, y) }
kernel add64(x: f64[N, 1], y: f64[M]) { return logaddexp(x, y) }
kernel sum32(x: f32[N, M]) { return logsumexp(x, axis=1) }
kernel sum64(x: f64[N, M]) { return logsumexp(x, axis=0, keepdims=true) }
kernel total(x: f64[N, M]) { return logsumexp(x) }
kernel integers(x: i32[N]) { return softplus(x), logaddexp(x, 1), logsumexp(x) }
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tensorc.compile(TEXT, cache_dir=tmp_path_factory.mktemp("compositions"))


def both(module: Any, name: str, *arrays: Any) -> Any:
    """What the compiled kernel gives, after a look at the interpreter."""
    found = module[name](*arrays)
    position = list(module).index(name)
    names = [p.name for p in module.unit.tensor[position].signature.params]
    (expected,) = interpret(module.unit.tensor[position], dict(zip(names, arrays, strict=True)), mode="exact")
    np.testing.assert_allclose(found, expected, rtol=1e-6 if found.dtype == np.float32 else 1e-13)
    return found


@pytest.mark.parametrize(("bits", "ulps"), [("32", 2), ("64", 2)])
def test_softplus(module: Any, bits: str, ulps: int) -> None:
    x = HARD.astype(f"float{bits}")
    found = both(module, f"plus{bits}", x)
    with np.errstate(all="ignore"):
        expected = np.logaddexp(np.longdouble(0), x.astype(np.longdouble)).astype(x.dtype)
    np.testing.assert_array_max_ulp(found[:-1], expected[:-1], ulps)
    assert np.isnan(found[-1]) and found[0] == 0 and found[-2] == INF


@pytest.mark.parametrize("bits", ["32", "64"])
def test_logaddexp(module: Any, bits: str) -> None:
    x = HARD.astype(f"float{bits}")
    found = both(module, f"add{bits}", x[:, None], x)
    with np.errstate(invalid="ignore"):
        expected = np.logaddexp(x[:, None], x)
    tolerance = np.finfo(x.dtype).eps
    np.testing.assert_allclose(found, expected, rtol=2 * tolerance, atol=tolerance / 8)


def test_logsumexp(module: Any) -> None:
    rows = np.array(
        [
            [-INF, -INF, -INF],
            [-INF, 3, -INF],
            [INF, 3, -INF],
            [INF, INF, 0],
            [NAN, 1, 2],
            [NAN, INF, -INF],
            [1000, 1000, 1000],
            [-1000, -1001, -1002],
            [1, 2, 3],
        ]
    )
    with np.errstate(invalid="ignore"):
        expected = np.logaddexp.reduce(rows, axis=1)
    np.testing.assert_allclose(both(module, "sum32", rows.astype(np.float32)), expected, rtol=1e-6)
    np.testing.assert_allclose(both(module, "sum64", rows.T.copy()), expected[None], rtol=1e-14)
    np.testing.assert_allclose(
        both(module, "total", rows[6:]), np.logaddexp.reduce(rows[6:].ravel()), rtol=1e-14
    )


def test_integers_compute_in_f64(module: Any) -> None:
    x = np.array([-3, 0, 700], np.int32)
    plus, add, total = module["integers"](x)
    assert {plus.dtype, add.dtype, total.dtype} == {np.dtype(np.float64)}
    np.testing.assert_allclose(plus, np.logaddexp(0, x), rtol=1e-14)
    np.testing.assert_allclose(add, np.logaddexp(1, x), rtol=1e-14)
    np.testing.assert_allclose(total, 700, rtol=1e-14)


def test_logsumexp_of_nothing_is_the_logarithm_of_zero(module: Any) -> None:
    np.testing.assert_array_equal(module["sum32"](np.zeros((2, 0), np.float32)), [-INF, -INF])
    np.testing.assert_array_equal(module["sum64"](np.zeros((0, 3))), [[-INF] * 3])
    assert module["sum32"](np.zeros((0, 2), np.float32)).shape == (0,)
    assert module["total"](np.zeros((0, 3))) == -INF
    fixed = tensorc.compile("kernel k(x: f32[0]) { return logsumexp(x) }")
    assert fixed.k(np.zeros(0, np.float32)) == -INF


def test_types_and_weak_numbers(tmp_path: Path) -> None:
    assert str(result_ops(kernel("x: f32[N]", "logaddexp(x, 0)"))[0].dtype) == "f32"
    assert str(result_ops(kernel("x: f32[N]", "softplus(x) + softplus(1)"))[0].dtype) == "f32"
    assert str(result_ops(kernel("x: bool[N]", "softplus(x)"))[0].dtype) == "f16"
    assert str(result_ops(kernel("x: f32[N], y: f64[N]", "logaddexp(x, y)"))[0].dtype) == "f64"
    assert str(result_ops(kernel("x: f32", "logsumexp(x)"))[0].dtype) == "f32"


def test_elements_of_index_notation(module: Any) -> None:
    program = kernel("x: f64[N]", "y[i] = softplus(x[i]) + logaddexp(x[i], i) for i in N\nreturn y")
    x = np.array([0.5, -1.0])
    (found,) = interpret(program, {"x": x})
    np.testing.assert_allclose(found, np.logaddexp(0, x) + np.logaddexp(x, [0, 1]), rtol=1e-14)
