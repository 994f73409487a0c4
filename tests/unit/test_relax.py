"""`math=fast`: which freedoms are taken, where, and what keeps its meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sema_checking import kernel

import tensorc
from tensorc.tensor_ir.program import Constant, TensorProgram
from tensorc.tensor_ir.relax import relax_program, render_relaxations
from tensorc.tensor_ir.simplify import simplify_program
from tensorc.tensor_ir.verify import verify_tensor_program

Floats = npt.NDArray[np.floating[Any]]


def relaxed(parameters: str, body: str, has_fma: bool = True) -> TensorProgram:
    simple = simplify_program(kernel(parameters, body))
    p = relax_program(simple, has_fma)
    verify_tensor_program(p)
    assert relax_program(p, has_fma) is p, "a relaxed program stays as it is"
    return p


def names(p: TensorProgram) -> list[str]:
    return [op.op for op in p.ops if op.op not in ("param", "constant", "view", "size")]


def constants(p: TensorProgram) -> list[float]:
    return [float(op.attrs.value) for op in p.ops if isinstance(op.attrs, Constant)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x * y + z", ["fma"]),
        ("z + x * y", ["fma"]),
        ("x * y - z", ["negative", "fma"]),
        ("z - x * y", ["negative", "fma"]),
        ("square(x) + z", ["fma"]),
        ("x * y + y * z", ["multiply", "fma"]),
        ("(x * y + z) * x + y", ["fma", "fma"]),
        ("x + y + z", ["add", "add"]),
    ],
)
def test_a_product_with_one_sum_is_contracted(body: str, expected: list[str]) -> None:
    assert names(relaxed("x: f32[N], y: f32[N], z: f32[N]", body)) == expected
    assert names(relaxed("x: f64[N], y: f64[N], z: f64[N]", body)) == expected


def test_a_product_with_another_user_or_a_pin_is_not_contracted() -> None:
    assert names(relaxed("x: f32[N]", "p = x * x * x\nreturn p + 1, p")) == ["multiply", "multiply", "add"]
    twice = relaxed("x: f32[N], y: f32[N]", "p = x * y\nreturn (p + 1) / (p + 2)")
    assert names(twice) == ["multiply", "add", "add", "divide"]
    pinned = "@materialize p = x * y\nreturn p + 1"
    assert names(relaxed("x: f32[N], y: f32[N]", pinned)) == ["multiply", "add"]


def test_nothing_is_contracted_without_the_instruction_or_on_integers() -> None:
    assert names(relaxed("x: f32[N]", "x * 3 + 1", has_fma=False)) == ["multiply", "add"]
    assert names(relaxed("x: i32[N]", "x * 3 + 1")) == ["multiply", "add"]
    assert names(relaxed("x: i32[N]", "(x + 3) + 1")) == ["add", "add"]


def test_a_constant_divisor_becomes_a_factor() -> None:
    p = relaxed("x: f32[N]", "x / 3")
    assert names(p) == ["multiply"] and constants(p) == [float(np.float32(1 / 3))]


@pytest.mark.parametrize("divisor", ["0.0", "inf", "nan", "1e-38", "3e38", "1e-45"])
def test_a_divisor_whose_reciprocal_is_not_ordinary_stays(divisor: str) -> None:
    assert names(relaxed("x: f32[N]", f"x / {divisor}")) == ["divide"]


def test_a_divisor_of_several_elements_is_inverted_once() -> None:
    by_row = relaxed("x: f32[N, D], d: f32[N]", "x / d[:, None]")
    assert "divide" not in names(by_row) and names(by_row).count("reciprocal") == 1
    assert names(relaxed("x: f32[N], d: f32", "x / d")).count("reciprocal") == 1
    assert names(relaxed("x: f32[N, D], d: f32[N, D]", "x / d")) == ["divide"]
    assert names(relaxed("x: f32[N], d: f32[N]", "x / d[::-1]")) == ["divide"]
    shared = relaxed("x: f32[N, D], y: f32[N, D], d: f32[N, 1]", "x / d + y / d")
    assert names(shared).count("reciprocal") == 1


def test_a_size_is_inverted_without_a_scale() -> None:
    assert names(relaxed("x: f32[N, D]", "x / N")) == ["reciprocal", "multiply"]


def test_constants_meet() -> None:
    p = relaxed("x: f32[N]", "(x * 3) * 5")
    assert names(p) == ["multiply"] and constants(p) == [15.0]
    p = relaxed("x: f32[N]", "(x + 3) - 5")
    assert names(p) == ["add"] and constants(p) == [-2.0]
    assert names(relaxed("x: f32[N]", "(x * 1e30) * 1e30")) == ["multiply", "multiply"]
    assert names(relaxed("x: f32[N]", "(x * inf) * 2")) == ["multiply", "multiply"]
    assert names(relaxed("x: f32[N]", "5 - (3 - x)")) == ["subtract", "subtract"]


def test_functions_have_cheaper_forms_on_f32() -> None:
    assert names(relaxed("x: f32[N]", "sin(x) + tan(x)")) == ["fast_sin", "fast_tan", "add"]
    assert names(relaxed("x: f64[N]", "sin(x) + tan(x)")) == ["sin", "tan", "add"]
    assert names(relaxed("x: f32[N]", "x ** 3")) == ["square", "multiply"]
    assert names(relaxed("x: f32[N]", "x ** 6")) == ["power"]


def test_what_was_taken_is_told() -> None:
    p = relaxed("x: f32[N]", "sin(x) * 3 + x / 7")
    told = [(r.kind, r.origin) for r in p.relaxations]
    assert told == [("function", "sin"), ("reciprocal", "div"), ("contraction", "add")]
    assert render_relaxations(p).splitlines() == [
        "math fast: 3 taken",
        "  function       1  sin (line 1)",
        "  reciprocal     1  div (line 1)",
        "  contraction    1  add (line 1)",
    ]
    assert render_relaxations(relaxed("x: f32[N]", "x + 1")) == "math fast: 0 taken"


SPECIAL = [0.0, -0.0, 1e-45, 1e-40, 1.2e-38, 1e-30, 1.0, -3.7, 1e20, 1e30, 2e38, 3.4e38]
SPECIAL += [np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_quotients_keep_their_meaning(dtype: str) -> None:
    text = f"kernel k(x: {dtype}[D], d: {dtype}[N]) {{ return x / d[:, None] }}"
    values = np.array(SPECIAL, np.float32 if dtype == "f32" else np.float64)
    if dtype == "f64":
        values = np.concatenate([values, [5e-324, 1e-310, 2.3e-308, 1e300, 1.7e308]])
    strict = tensorc.compile(text)["k"](values, values)
    fast = tensorc.compile(text, math="fast")["k"](values, values)
    assert_close(fast, strict)


def assert_close(fast: Floats, strict: Floats) -> None:
    """Equal in class and sign, and within 3 units in the last place."""
    np.testing.assert_array_equal(np.isnan(fast), np.isnan(strict))
    finite = np.isfinite(strict)
    np.testing.assert_array_equal(fast[~finite & ~np.isnan(strict)], strict[~finite & ~np.isnan(strict)])
    np.testing.assert_array_equal(np.signbit(fast[finite]), np.signbit(strict[finite]))
    error = np.abs(fast[finite].astype(np.longdouble) - strict[finite]) / np.spacing(np.abs(strict[finite]))
    assert error.max() <= 3, (fast[finite][error.argmax()], strict[finite][error.argmax()])


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="math='loose' is not one of 'strict', 'fast'"):
        tensorc.compile("kernel k(x: f32[N]) { return x }", math="loose")
