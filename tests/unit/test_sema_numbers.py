"""Numbers known at compile time: one rounding, exact folding, what fits."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from sema_checking import check_text, kernel, program_of, result_ops

from tensorc.dtypes import BOOL, F32, F64, I32, I64, SUPPORTED, DType, round_to_float
from tensorc.sema.numbers import cast_known, fits, fold, fold_typed, parse_float
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


@pytest.mark.parametrize("correction", ["2 ** 8000", "inf", "-inf", "nan"])
def test_a_correction_is_finite(correction: str) -> None:
    _, bag = check_text(f"kernel k(x: f64[N]) {{ return var(x, correction={correction}) }}")
    assert [(d.code, d.label) for d in bag.items] == [("TC0303", "expected a finite number of f64")]


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


def test_integers_are_exact_up_to_8192_bits() -> None:
    def folded(op: str, *values: int) -> object:
        number = fold(op, tuple(map(Known, values)))
        assert number is not None
        return number.value

    assert folded("left_shift", 1, 5000) == 2**5000
    assert folded("power", 3, 5000) == 3**5000
    assert folded("power", 2, 8191) == 2**8191
    assert folded("right_shift", 2**5000, 4999) == 2
    assert [folded("power", base, 10**30) for base in (0, 1, -1)] == [0, 1, 1]
    # a count that is negative, or beyond every width, as for integers of the program
    assert [folded("left_shift", 5, -1), folded("left_shift", 0, 10**30)] == [0, 0]
    assert [folded("right_shift", a, n) for a in (5, -5) for n in (-1, 10**30)] == [0, 0, -1, -1]


@pytest.mark.parametrize(
    "body",
    [
        "2 ** 8192",
        "(-2) ** 20001",
        "1 << 8192",
        "1 << 10 ** 40",
        "(1 << 20000) >> 19999",
        "2 ** 8000 * 2 ** 8000",
        "square(2 ** 8000)",
        "-(2 ** 8191 + 2 ** 8191)",
        "x + 7 ** 7 ** 7",
        "x + 7 ** 7 ** 7 ** 7",
        "x + N * 10 ** 2000 * 10 ** 2000",
        "sum(x[j] * (j * 10 ** 2000 * 10 ** 2000) for j in N)",
        "x[2 ** 20000]",
        "zeros(2 ** 20000)",
        "x + " + "*".join(["12345678901234567890"] * 3000),
    ],
)
def test_a_longer_integer_is_one_error(body: str) -> None:
    _, bag = check_text(f"kernel k(x: f64[N]) {{ return {body} }}")
    assert [(d.code, d.label) for d in bag.items] == [("TC0303", "it has more than 8192 bits")]
    assert "gives an integer that is too large to compute" in bag.items[0].message


def test_integers_do_not_grow_without_bound() -> None:
    lines = "\n".join(f"const A{n + 1} = A{n} * A{n}" for n in range(40))
    _, bag = check_text(f"const A0 = 2 ** 4000\n{lines}\nkernel k(x: f32) {{ return x }}")
    assert [(d.code, d.span.line) for d in bag.items] == [("TC0303", 3)]


@pytest.mark.parametrize(
    "body",
    [
        "10 ** 400 / 1",
        "N * 2 ** 63",
        "x * (N + 10 ** 30)",
        "zeros(2 ** 8000)",
        "zeros((N, 2 ** 8000, N * 2 ** 8000))",
        "reshape(zeros((2 ** 8000, 2 ** 8000)), (2 ** 8000, N))",
        "arange(2 ** 8000)",
        "sum(x[i] for i in 2 ** 8000)",
    ],
)
def test_an_integer_that_its_type_cannot_hold(body: str) -> None:
    _, bag = check_text(f"kernel k(x: f64[N]) {{ return x + {body} }}")
    assert [d.code for d in bag.items] == ["TC0303"]
    assert "does not fit" in bag.items[0].message


def test_typed_numbers_do_not_fold() -> None:
    assert fold("add", (Known(1.0, F32), Known(2))) is None


FLOATS = (0.1, -0.1, 3.0, 1e-3, -7.0, 0.0, -0.0, math.inf, 1e-20, 6e4, -1e30)
INTEGERS = (0, 1, -1, 7, -7, 100, 127, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**64 - 1)
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
UNARY = {"negative": np.negative, "abs": np.abs, "square": np.square}


@pytest.mark.parametrize("dtype", [d for d in SUPPORTED.values() if not d.is_bool], ids=str)
def test_typed_numbers_compute_as_numpy_does(dtype: DType) -> None:
    of = np.dtype(ml_dtypes.bfloat16 if dtype.name == "bf16" else dtype.numpy).type
    binary = {**BINARY, "divide": np.divide} if dtype.is_float else BINARY
    unary = {**UNARY, "sqrt": np.sqrt} if dtype.is_float else UNARY
    numbers = [cast_known(Known(v), dtype) for v in (FLOATS if dtype.is_float else INTEGERS)]
    pairs = [(op, f, (a, b)) for op, f in binary.items() for a in numbers for b in numbers]
    singles = [(op, f, (a,)) for op, f in unary.items() for a in numbers]
    with np.errstate(all="ignore"):
        for op, function, operands in (*pairs, *singles):
            found = fold_typed(op, operands, dtype)
            expected = function(*(of(n.value) for n in operands))
            assert found is not None
            assert found.dtype == dtype
            assert str(of(found.value)) == str(expected) or math.isnan(expected), (op, operands)


def test_typed_integers_wrap_and_shift_as_in_a_program() -> None:
    def folded(op: str, *values: int) -> object:
        number = fold_typed(op, tuple(Known(v, I32) for v in values), I32)
        return None if number is None else number.value

    assert [folded("left_shift", 1, n) for n in (31, 32, 10**6, -1)] == [-(2**31), 0, 0, 0]
    wrapped = [(pow(3, n, 2**32) + 2**31) % 2**32 - 2**31 for n in (21, 10**6)]
    assert [folded("power", 3, n) for n in (21, 10**6)] == wrapped
    assert folded("power", 3, -1) is None
    assert [folded("floor_divide", a, b) for a, b in ((7, 0), (-(2**31), -1), (-7, 2))] == [0, -(2**31), -4]


def test_constants_of_typed_constants() -> None:
    text = """
        const A: f32 = 0.1
        const B = A * 3 + 1
        const C: f64 = f64(A) / 3
        const D: i8 = 100
        const E = D + 100
        const F = -E > 0 and not D == 3
        const G: f16 = f16(A) * 3
        dims S = D // 3
        kernel k(x: f32[S], y: i8[S], e: f32 = A * 2) requires F { return B, C, E, G, x + e }
    """
    programs, bag = check_text(text)
    assert not bag.items
    narrow = np.float32(0.1)
    results = result_ops(programs[0])[:4]
    assert [op.dtype.name for op in results] == ["f32", "f64", "i8", "f16"]
    values = [op.attrs.value for op in results if isinstance(op.attrs, Constant)]
    expected = (narrow * np.float32(3) + 1, float(narrow) / 3, -56, np.float16(narrow) * np.float16(3))
    assert values == list(map(float, expected))
    assert programs[0].signature.params[2].default == float(narrow * 2)
    assert [d.fixed for d in programs[0].signature.dims] == [33]


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("const A: f32 = 0.1; const B: f64 = A", "TC0301", "the type says f64, but the value is f32"),
        ("const A: i8 = 1; const B: i16 = A + 1", "TC0301", "the type says i16, but the value is i8(2)"),
        ("const A: i8 = 1; const B = A + 300", "TC0303", "300 does not fit i8"),
        ("const A: f32 = 0.1; const B = exp(A)", "TC0307", "not known at compile time"),
        ("const A: f32 = 0.1; const B = sum(full(3, A))", "TC0307", "not known at compile time"),
    ],
)
def test_what_typed_constants_cannot_be(text: str, code: str, words: str) -> None:
    _, bag = check_text(f"{text}\nkernel k(x: f32) {{ return x }}")
    assert [d.code for d in bag.items] == [code]
    assert words in bag.items[0].message


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
