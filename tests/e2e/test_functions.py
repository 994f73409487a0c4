"""Every elementary function of the language, compiled: dtypes, special values, wrong calls."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import tensorc
from tensorc.operators import OPERATORS


def gelu(x):
    """In more digits than f64: far below 0, erfc shows how its argument was rounded."""
    if x == 0 or not abs(x) < 1e4:
        return -0.0 if x < 0 else x
    with mp.workprec(120):
        return float(x * mp.erfc(-mp.mpf(x) / mp.sqrt(2)) / 2)


NUMPY_NAMES = {"atan2": "arctan2"} | {
    f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
}
OWN = {
    "erf": np.vectorize(math.erf, otypes="d"),
    "erfc": np.vectorize(math.erfc, otypes="d"),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: np.where(x == -np.inf, -0.0, x / (1 + np.exp(-x))),
    "gelu": np.vectorize(gelu, otypes="d"),
    "softplus": lambda x: np.logaddexp(0, x),
}
ELEMENTARY = tuple(row for row in OPERATORS.values() if row.elementary and not row.strict)
VALUES = (
    0.0,
    -0.0,
    0.3,
    -0.3,
    0.9,
    1.0,
    -1.0,
    1.7,
    -2.5,
    7.0,
    30.0,
    -30.0,
    1e5,
    1e-30,
    math.inf,
    -math.inf,
    math.nan,
)
TYPES = ("f32", "f64", "i32")


def text() -> str:
    lines = []
    for row in ELEMENTARY:
        for dtype in TYPES:
            parameters = ", ".join(f"{p}: {dtype}[N]" for p in "xy"[: row.arity])
            call = f"{row.name}({', '.join('xy'[: row.arity])})"
            lines.append(f"kernel {row.name}_{dtype}({parameters}) {{ return {call} }}")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def module():
    return tensorc.compile(text())


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("row", ELEMENTARY, ids=[row.name for row in ELEMENTARY])
def test_values_are_numpys(module, row, dtype):
    x, y = (g.ravel() for g in np.meshgrid(VALUES, VALUES))
    if dtype == "i32":
        x, y = (np.nan_to_num(v, nan=2, posinf=3, neginf=-3).astype(np.int32) for v in (x, y))
    operands = [v.astype({"f32": np.float32, "f64": np.float64, "i32": np.int32}[dtype]) for v in (x, y)]
    operands = operands[: row.arity]
    found = module[f"{row.name}_{dtype}"](*operands)
    function = OWN.get(row.name) or getattr(np, NUMPY_NAMES.get(row.name, row.name))
    with np.errstate(all="ignore"):
        exact = function(*(v.astype(np.float64) for v in operands))
        expected = exact.astype(np.float32 if dtype == "f32" else np.float64)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=3e-7 if dtype == "f32" else 1e-15, atol=0)
    zeros = expected == 0
    assert np.array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))


@pytest.mark.parametrize("name", ["atan2", "hypot"])
def test_functions_of_two_operands_need_two(name):
    with pytest.raises(tensorc.CompileError) as caught:
        tensorc.compile(f"kernel k(x: f32[N]) {{ return {name}(x) }}")
    assert [d.code for d in caught.value.diagnostics] == ["TC0204"]


def test_mixed_operands_promote():
    module = tensorc.compile("kernel k(x: f32[N], y: f64[N]) { return atan2(x, 2), hypot(x, y) }")
    x, y = np.array([1, -2, 3], np.float32), np.array([0.5, 4, -4])
    angle, size = module["k"](x, y)
    assert angle.dtype == np.float32 and size.dtype == np.float64
    np.testing.assert_allclose(angle, np.arctan2(x, np.float32(2)), rtol=3e-7)
    np.testing.assert_allclose(size, np.hypot(x.astype(np.float64), y), rtol=1e-15)
