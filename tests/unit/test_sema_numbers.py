"""Numbers known at compile time: one rounding, exact folding, what fits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from sema_checking import check_text, kernel, program_of, result_ops

from tensorc.dtypes import BOOL, F32, F64, I32, I64, round_to_float
from tensorc.sema.numbers import cast_known, fits, fold, parse_float
from tensorc.sema.values import Known
from tensorc.tensor_ir.program import Constant, TensorProgram


def constants(program: TensorProgram) -> list[int | float]:
    return [op.attrs.value for op in program.ops if isinstance(op.attrs, Constant)]


def test_a_literal_is_rounded_once_to_f32() -> None:
    # just above the middle of two neighbours of f32, and exactly on it once rounded to f64
    text = "1.000000059604644775390626"
    twice = np.float32(float(text))
    assert twice == 1.0
    once = 1.0 + 2.0**-23
    assert constants(kernel("x: f32[N]", f"x * {text}")) == [once]
    assert constants(kernel("x: f32[N]", f"x * -{text}")) == [-once]
    assert constants(kernel("x: f64[N]", f"x * {text}")) == [float(text)]


def test_a_literal_in_a_weak_array_is_rounded_once_too() -> None:
    text = "1.000000059604644775390626"
    program = kernel("x: f32[N], c: bool[N]", f"x + where(c, {text}, 0)")
    assert [op.dtype for op in program.ops if op.op == "where"][-1] == F32
    assert 1.0 + 2.0**-23 in constants(program)
    assert not any(op.op == "cast" for op in program.ops)


@pytest.mark.parametrize("value", [0.1, 1e-45, 1.5e-45, 3.4028234e38, 16777217.0, 1e-50, 2.5, 7e-46])
def test_nearest_f32_is_the_hardwares_rounding(value: float) -> None:
    assert round_to_float(Fraction(value), F32) == float(np.float32(value))
    assert round_to_float(-Fraction(value), F32) == -float(np.float32(value))


def test_nearest_f32_overflows_half_a_step_above_the_largest() -> None:
    largest = Fraction(2) ** 128 - Fraction(2) ** 104
    limit = Fraction(2) ** 128 - Fraction(2) ** 103
    assert round_to_float(limit - Fraction(1, 10**30), F32) == float(largest)
    assert round_to_float(limit, F32) == math.inf


def test_integers_fold_exactly_and_floats_as_f64() -> None:
    assert constants(kernel("x: f64[N]", "x + (2 ** 62 + 2 ** 62 - 1) % 1000")) == [float((2**63 - 1) % 1000)]
    assert constants(kernel("x: f64[N]", "x * (1 / 3)")) == [1 / 3]
    assert constants(kernel("x: f64[N]", "x * (1 - 0.999)")) == [1 - 0.999]
    assert constants(kernel("x: f64[N]", "x + 7 / 4")) == [1.75]
    assert constants(kernel("x: f32[N]", "x + sqrt(2 / pi)")) == [float(np.float32(math.sqrt(2 / math.pi)))]


def test_folds_of_division_follow_the_language() -> None:
    assert fold("floor_divide", (Known(7), Known(0))) is not None
    assert fold("floor_divide", (Known(7), Known(0))).value == 0  # type: ignore[union-attr]
    assert fold("divide", (Known(1), Known(0))).value == math.inf  # type: ignore[union-attr]
    assert fold("floor_divide", (Known(-7), Known(2))).value == -4  # type: ignore[union-attr]


def test_integers_are_exact_up_to_16384_bits() -> None:
    def folded(op: str, *values: int) -> object:
        number = fold(op, tuple(map(Known, values)))
        assert number is not None
        return number.value

    assert folded("left_shift", 1, 5000) == 2**5000
    assert folded("power", 3, 10000) == 3**10000
    assert folded("power", 2, 16383) == 2**16383
    assert folded("right_shift", 2**5000, 4999) == 2
    assert [folded("power", base, 10**30) for base in (0, 1, -1)] == [0, 1, 1]
    # a count that is negative, or beyond every width, as for integers of the program
    assert [folded("left_shift", 5, -1), folded("left_shift", 0, 10**30)] == [0, 0]
    assert [folded("right_shift", a, n) for a in (5, -5) for n in (-1, 10**30)] == [0, 0, -1, -1]


@pytest.mark.parametrize(
    "body",
    [
        "2 ** 16384",
        "(-2) ** 20001",
        "1 << 16384",
        "1 << 10 ** 40",
        "(1 << 20000) >> 19999",
        "2 ** 16000 * 2 ** 16000",
        "square(2 ** 16000)",
        "-(2 ** 16383 + 2 ** 16383)",
        "x + 7 ** 7 ** 7",
        "x + 7 ** 7 ** 7 ** 7",
        "x + N * 10 ** 4000 * 10 ** 4000",
        "sum(x[j] * (j * 10 ** 4000 * 10 ** 4000) for j in N)",
        "x[2 ** 20000]",
        "zeros(2 ** 20000)",
        "x + " + "*".join(["12345678901234567890"] * 3000),
    ],
)
def test_a_longer_integer_is_one_error(body: str) -> None:
    _, bag = check_text(f"kernel k(x: f64[N]) {{ return {body} }}")
    assert [(d.code, d.label) for d in bag.items] == [("TC0303", "it has more than 16384 bits")]
    assert "gives an integer that is too large to compute" in bag.items[0].message


def test_integers_do_not_grow_without_bound() -> None:
    lines = "\n".join(f"const A{n + 1} = A{n} * A{n}" for n in range(40))
    _, bag = check_text(f"const A0 = 2 ** 4000\n{lines}\nkernel k(x: f32) {{ return x }}")
    assert [(d.code, d.span.line) for d in bag.items] == [("TC0303", 4)]


@pytest.mark.parametrize("body", ["10 ** 400 / 1", "N * 2 ** 63", "x * (N + 10 ** 30)"])
def test_an_integer_that_its_type_cannot_hold(body: str) -> None:
    _, bag = check_text(f"kernel k(x: f64[N]) {{ return x + {body} }}")
    assert [d.code for d in bag.items] == ["TC0303"]
    assert "does not fit" in bag.items[0].message


def test_typed_numbers_do_not_fold() -> None:
    assert fold("add", (Known(1.0, F32), Known(2))) is None


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (3e9, I32, 2**31 - 1),
        (-3e9, I32, -(2**31)),
        (math.nan, I32, 0),
        (math.inf, I64, 2**63 - 1),
        (-math.inf, I64, -(2**63)),
        (-1.9, I32, -1),
        (2**31, I32, -(2**31)),
        (math.nan, BOOL, True),
        (0.0, BOOL, False),
        (3, F64, 3.0),
    ],
)
def test_casts_of_numbers(value: float, dtype: object, expected: float) -> None:
    assert cast_known(Known(value), dtype).value == expected  # type: ignore[arg-type]


def test_what_fits() -> None:
    assert fits(Known(2**63 - 1), I64) and not fits(Known(2**63), I64)
    assert fits(Known(-(2**31)), I32) and not fits(Known(-(2**31) - 1), I32)
    assert fits(Known(math.inf), F32) and not fits(Known(1e39), F32)
    assert fits(Known(10**30), F32) and not fits(Known(10**400), F64)


def test_a_huge_exponent_is_read_in_no_time() -> None:
    assert parse_float("1e999999999") is None
    assert parse_float("1e-999999999").value == 0.0  # type: ignore[union-attr]


def test_the_smallest_integers_are_literals() -> None:
    program = kernel("x: i64[N], y: i32[N]", "x > -9223372036854775808, y ^ -2147483648")
    assert constants(program) == [-(2**63), -(2**31)]


def test_typed_constants_are_strong() -> None:
    text = "const A: f32 = 0.1\nconst B = 0.1\nkernel k(x: i32[N], y: f64[N]) { return x * B, y * A, x * A }"
    programs, bag = check_text(text)
    assert [d.code for d in bag.items] == ["TC0304"]
    assert [op.dtype for op in result_ops(programs[0])] == [F64, F64, F64]
    assert float(np.float32(0.1)) in constants(programs[0])


def test_defaults_are_rounded_to_their_parameter() -> None:
    program = program_of(
        "kernel k(x: f32[N], eps: f32 = 0.1, n: i64 = -3, c: bool = true) { return x + eps }"
    )
    assert [p.default for p in program.signature.params] == [None, float(np.float32(0.1)), -3, 1]
