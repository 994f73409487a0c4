"""The interpreter's bounds hold for an f32 evaluation that rounds as a kernel does."""

from __future__ import annotations

import numpy as np
import pytest
from harness import check_bounds, check_text, lower, run_loops
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_builders import ProgramBuilder

from tensorc.dtypes import F32, I32
from tensorc.interp.scalar_ops import ElementaryLibrary
from tensorc.interp.tensor_interp import compare, interpret, interpret_with_bounds

ARITHMETIC = (
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "remainder",
    "floor_divide",
    "copysign",
    "hypot",
    "atan2",
)
ONE_ROUNDING = ("add", "subtract", "multiply", "divide", "sqrt", "square", "reciprocal", "abs", "negative")
UNARY = (
    "negative",
    "abs",
    "square",
    "sqrt",
    "reciprocal",
    "floor",
    "ceil",
    "trunc",
    "round",
    "relu",
    "sign",
    "exp",
    "log",
    "log1p",
    "expm1",
    "sin",
    "cos",
    "tanh",
    "exp2",
    "log2",
    "log10",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "asinh",
    "acosh",
    "atanh",
    "cbrt",
)
NUMPY_NAMES = {"round": "rint", "atan2": "arctan2"}
NUMPY_NAMES |= {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, 1e30, 16777216.0]


def _step(op: str, args: list[np.ndarray]) -> np.ndarray:
    """`op` as a correct f32 kernel may give it: f64 functions rounded once, f32 arithmetic."""
    if op in ("maximum", "minimum", "remainder", "floor_divide", "copysign", *ONE_ROUNDING):
        return np.asarray(getattr(np, op)(*args), np.float32)
    if op == "relu":
        return np.where(args[0] <= 0, np.float32(0), args[0])
    return np.asarray(getattr(np, NUMPY_NAMES.get(op, op))(*(x.astype(np.float64) for x in args)), np.float32)


def _data(seed: int, size: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=size) * 10.0 ** rng.integers(-3, 4, size)
    small = rng.integers(-9, 10, size).astype(np.float64)
    special = rng.choice(SPECIAL, size)
    return np.choose(rng.integers(0, 3, size), [values, small, special]).astype(np.float32)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.sampled_from(ARITHMETIC + UNARY), st.integers(0, 30), st.integers(0, 30)),
        min_size=1,
        max_size=8,
    ),
    st.integers(0, 10**6),
)
def test_bounds_hold_on_random_expressions(steps: list[tuple[str, int, int]], seed: int) -> None:
    b = ProgramBuilder()
    data = {"x": _data(seed, 64), "y": _data(seed + 1, 64)}
    values = [data["x"], data["y"]]
    numbers = [b.param("x", F32, ("N",)), b.param("y", F32, ("N",))]
    with np.errstate(all="ignore"):
        for op, left, right in steps:
            picked = [left % len(values), right % len(values)][: 1 if op in UNARY else 2]
            numbers.append(b.call(op, *(numbers[k] for k in picked)))
            values.append(_step(op, [values[k] for k in picked]))
        values.append(np.asarray(values[-1] < values[0]))
        numbers.append(b.call("less", numbers[-1], numbers[0]))
        values.append(np.where(values[-1], values[0], values[-2]))
        numbers.append(b.call("where", numbers[-1], numbers[0], numbers[-2]))
    program = b.program(*numbers)
    for mode in ("reference", "exact"):
        expected, bounds = interpret_with_bounds(program, data, mode)
        for number, result, value, bound in zip(numbers, values, expected, bounds, strict=True):
            assert compare(result, value, bound) is None, (mode, program.ops[number].op)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(ONE_ROUNDING), st.integers(0, 30), st.integers(0, 30)), max_size=8),
    st.integers(0, 10**6),
)
def test_exact_mode_has_the_bits_of_f32_arithmetic(steps: list[tuple[str, int, int]], seed: int) -> None:
    b = ProgramBuilder()
    data = {"x": _data(seed, 32), "y": _data(seed + 1, 32)}
    values = [data["x"], data["y"]]
    numbers = [b.param("x", F32, ("N",)), b.param("y", F32, ("N",))]
    with np.errstate(all="ignore"):
        for op, left, right in steps:
            picked = [left % len(values), right % len(values)][: 1 if op in UNARY else 2]
            numbers.append(b.call(op, *(numbers[k] for k in picked)))
            values.append(_step(op, [values[k] for k in picked]))
    found, bounds = interpret_with_bounds(b.program(*numbers), data, "exact")
    for result, value, bound in zip(values, found, bounds, strict=True):
        np.testing.assert_array_equal(value, result)
        assert not bound.any()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(("sum", "prod", "max", "min", "var", "std", "argmax", "any", "all")),
    st.integers(1, 70),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_bounds_hold_on_reductions(kind: str, count: int, through_exp: bool, seed: int) -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("M", "N"))
    data = {"x": _data(seed, 4 * count).reshape(4, count)}
    operand, value = x, data["x"]
    with np.errstate(all="ignore"):
        if through_exp:
            operand, value = b.call("tanh", x), np.asarray(np.tanh(value.astype(np.float64)), np.float32)
        result = _reduce(kind, value)
    expected, bounds = interpret_with_bounds(b.program(b.reduce(kind, operand, 1)), data)
    mismatch = compare(result, expected[0], bounds[0])
    assert mismatch is None, str(mismatch)


def _reduce(kind: str, x: np.ndarray) -> np.ndarray:
    if kind in ("var", "std"):
        return np.asarray(getattr(x.astype(np.float64), kind)(axis=1), np.float32)
    if kind == "sum":  # a plain chain per eight terms, then f64
        blocks = [
            np.cumsum(x[:, k : k + 8], axis=1, dtype=np.float32)[:, -1] for k in range(0, x.shape[1], 8)
        ]
        return np.sum(blocks, axis=0, dtype=np.float64).astype(np.float32)
    if kind == "prod":
        return np.asarray(np.cumprod(x, axis=1, dtype=np.float32)[:, -1])
    return np.asarray(getattr(x, kind)(axis=1))


@pytest.mark.parametrize("depth", [0, 1, 7, 300])
def test_bounds_hold_on_matmul(depth: int) -> None:
    b = ProgramBuilder()
    program = b.program(b.matmul(b.param("x", F32, ("M", "K")), b.param("y", F32, ("K", "N"))))
    data = {"x": _data(1, 5 * depth).reshape(5, depth), "y": _data(2, depth * 6).reshape(depth, 6)}
    data = {k: np.where(np.abs(v) < 1e6, v, np.float32(1)) for k, v in data.items()}
    result = np.zeros((5, 6), np.float32)
    with np.errstate(all="ignore"):
        for k in range(depth):
            result = result + data["x"][:, k, None] * data["y"][None, k]
    (value,), (bound,) = interpret_with_bounds(program, data)
    mismatch = compare(result, value, bound)
    assert mismatch is None, str(mismatch)
    assert np.isfinite(bound).all()


def test_a_wrong_result_is_noticed() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    program = b.program(b.call("exp", b.call("sin", x)), b.cast(x, I32))
    data = {"x": np.linspace(-3, 3, 50, dtype=np.float32)}
    (value, whole), (bound, whole_bound) = interpret_with_bounds(program, data)
    close = value.astype(np.float32)
    assert compare(close, value, bound) is None
    close[17] *= np.float32(1 + 1e-6)
    mismatch = compare(close, value, bound)
    assert mismatch is not None
    assert mismatch.index == (17,)
    wrong = whole.copy()
    wrong[3] += 1
    assert compare(wrong, whole, whole_bound) is not None
    assert len(interpret(program, data)) == 2


FAR_BELOW = """
kernel k(x: f64[N]) { return silu(x), gelu(x) }
kernel unread(i: u8[1], p: f64[1], x: f32[1]) {
    a = take(p, i - 1)
    e[j] = x[j] - x[j + 1] for j in 0
    return x ** a + e
}
"""


def test_results_that_are_subnormal(elementary: ElementaryLibrary) -> None:
    """silu and gelu have digits where the power in them has none."""
    program = check_text(FAR_BELOW)[0]
    x = np.concatenate((np.linspace(-755.0, -700.0, 400), np.linspace(-39.0, -36.0, 400)))
    check_bounds(program, {"x": x}, run_loops(lower(program, "default"), {"x": x}, elementary))


def test_indices_of_what_has_no_elements(elementary: ElementaryLibrary) -> None:
    program = check_text(FAR_BELOW)[1]
    arguments = {"i": np.zeros(1, np.uint8), "p": np.ones(1), "x": np.ones(1, np.float32)}
    check_bounds(program, arguments, run_loops(lower(program, "default"), arguments, elementary))
