"""The NumPy mirror of the lanes against independent oracles: integers, fractions, NumPy where defined."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from lanes_harness import NUMPY, assert_same_bits

from tensorc.dtypes import F32, F64, SUPPORTED
from tensorc.interp.scalar_ops import ElementaryLibrary, apply_cast, apply_operator
from tensorc.operators import OPERATORS

FLOAT_VALUES = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -7.0, 0.3, 0.1, 1e-40, -1e-45, 1e10, 1e20, -1e20),
    *(3.4028234663852886e38, 1.1754943508222875e-38, 2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**24 + 2),
    *(math.inf, -math.inf, math.nan, 7.5, 6.25, 4294967296.0, 1e30, 1e-3, 0.75, -0.75, 9007199254740993.0),
)


@pytest.fixture(scope="module")
def elementary(tmp_path_factory: pytest.TempPathFactory) -> ElementaryLibrary:
    return ElementaryLibrary.build(tmp_path_factory.mktemp("elementary"))


def float_pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    values = np.array(FLOAT_VALUES).astype(NUMPY[dtype])
    a, b = np.meshgrid(values, values)
    return a.ravel(), b.ravel()


def integer_pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    info = np.iinfo(NUMPY[dtype])
    width = info.bits
    values = [
        0,
        1,
        -1,
        2,
        -2,
        3,
        7,
        -7,
        63,
        64,
        65,
        31,
        32,
        33,
        200,
        46341,
        10**9 + 7,
        width - 1,
        width,
        -width,
    ]
    values += [info.min, info.min + 1, info.max, info.max - 1]
    a, b = np.meshgrid(np.array(values, NUMPY[dtype]), np.array(values, NUMPY[dtype]))
    return a.ravel(), b.ravel()


def _wrap(value: int, bits: int) -> int:
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


INTEGER_ORACLES = {
    "add": lambda a, b, w: a + b,
    "subtract": lambda a, b, w: a - b,
    "multiply": lambda a, b, w: a * b,
    "floor_divide": lambda a, b, w: a // b if b else 0,
    "remainder": lambda a, b, w: a % b if b else 0,
    "left_shift": lambda a, b, w: a << b if 0 <= b < w else 0,
    "right_shift": lambda a, b, w: a >> b if 0 <= b < w else -(a < 0),
    "maximum": lambda a, b, w: max(a, b),
    "minimum": lambda a, b, w: min(a, b),
    "bitwise_and": lambda a, b, w: a & b,
    "bitwise_or": lambda a, b, w: a | b,
    "bitwise_xor": lambda a, b, w: a ^ b,
    "negative": lambda a, b, w: -a,
    "abs": lambda a, b, w: abs(a),
    "square": lambda a, b, w: a * a,
    "sign": lambda a, b, w: (a > 0) - (a < 0),
    "relu": lambda a, b, w: max(a, 0),
    "bitwise_invert": lambda a, b, w: ~a,
}


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("op", sorted(INTEGER_ORACLES))
def test_integers_wrap_and_floor(elementary: ElementaryLibrary, op: str, dtype: str) -> None:
    a, b = integer_pairs(dtype)
    bits = np.iinfo(a.dtype).bits
    want = [_wrap(INTEGER_ORACLES[op](int(x), int(y), bits), bits) for x, y in zip(a, b, strict=True)]
    found = apply_operator(op, [a, b][: OPERATORS[op].arity], SUPPORTED[dtype], elementary)
    assert_same_bits(found, np.array(want, a.dtype), f"{op} {dtype}")


@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_integer_power(elementary: ElementaryLibrary, dtype: str) -> None:
    a, b = integer_pairs(dtype)
    a, b = a[b >= 0], b[b >= 0]
    bits = np.iinfo(a.dtype).bits
    want = [_wrap(pow(int(x), int(y), 1 << bits), bits) for x, y in zip(a, b, strict=True)]
    assert_same_bits(
        apply_operator("power", [a, b], SUPPORTED[dtype], elementary), np.array(want, a.dtype), dtype
    )
    with pytest.raises(ValueError, match="negative power"):
        apply_operator("power", [a[:1], a[:1] * 0 - 1], SUPPORTED[dtype], elementary)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(("op", "function"), [("floor_divide", np.floor_divide), ("remainder", np.remainder)])
def test_float_division_is_numpys(
    elementary: ElementaryLibrary, op: str, function: np.ufunc, dtype: str
) -> None:
    a, b = float_pairs(dtype)
    with np.errstate(all="ignore"):
        want = function(a, b)
    assert_same_bits(apply_operator(op, [a, b], SUPPORTED[dtype], elementary), want, f"{op} {dtype}")


def test_remainder_of_a_large_quotient_is_exact(elementary: ElementaryLibrary) -> None:
    a, b = np.array([1e20, -1e20, 1e300]), np.array([3.0, 7.0, 0.7])
    want = [float(Fraction(x) % Fraction(y)) for x, y in zip(a, b, strict=True)]
    assert_same_bits(apply_operator("remainder", [a, b], F64, elementary), np.array(want), "remainder")


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_extremes_of_nan_and_zeros(elementary: ElementaryLibrary, dtype: str) -> None:
    def order(x: float) -> tuple[float, float]:
        return x, math.copysign(1, x)

    a, b = float_pairs(dtype)
    for op, pick in (("maximum", max), ("minimum", min)):
        want = [
            math.nan if x != x or y != y else pick(float(x), float(y), key=order)
            for x, y in zip(a, b, strict=True)
        ]
        assert_same_bits(
            apply_operator(op, [a, b], SUPPORTED[dtype], elementary), np.array(want, a.dtype), op
        )
    relu = apply_operator("relu", [a], SUPPORTED[dtype], elementary)
    assert_same_bits(relu, np.where(np.isnan(a), a, np.where(a > 0, a, a.dtype.type(0))), "relu")
    sign = apply_operator("sign", [a], SUPPORTED[dtype], elementary)
    want = np.where(np.isnan(a), a, (a > 0).astype(a.dtype) - (a < 0).astype(a.dtype))
    assert_same_bits(sign, want, "sign")


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_fma_rounds_once(elementary: ElementaryLibrary, dtype: str) -> None:
    rng = np.random.default_rng(1)
    kind = NUMPY[dtype]
    a, b = (rng.standard_normal(2000).astype(kind) for _ in range(2))
    near = -(a * b) * np.where(np.arange(2000) % 2, 1, 1 + np.finfo(kind).eps).astype(kind)
    c = np.where(np.arange(2000) % 3, near, rng.standard_normal(2000).astype(kind) * 1e-9).astype(kind)
    found = apply_operator("fma", [a, b, c], SUPPORTED[dtype], elementary)
    for x, y, z, r in zip(a.tolist(), b.tolist(), c.tolist(), found, strict=True):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        half_gap = Fraction(float(np.spacing(np.abs(r)))) / 2
        assert abs(Fraction(float(r)) - exact) <= half_gap
    half = np.array([1 + 2.0**-12], np.float32)
    tie = apply_operator("fma", [half, half, np.array([2.0**-60], np.float32)], F32, elementary)
    assert tie[0] == np.float32(1 + 2.0**-11 + 2.0**-23)  # a double rounding would tie to even


CASTS = [
    (
        "f32",
        "i32",
        [1.9, -1.9, 2147483520.0, 2.0**31, -(2.0**31), -3e9, math.nan, math.inf, -math.inf, -0.0, 1e30],
    ),
    ("f64", "i32", [2147483647.9, 2147483648.0, -2147483648.9, -2147483649.0, math.nan, math.inf, -math.inf]),
    (
        "f64",
        "i64",
        [2.0**63, 2.0**63 - 1024, -(2.0**63), -(2.0**63) - 2048, math.nan, math.inf, -math.inf, -1.5],
    ),
    ("f32", "i64", [2.0**63, 2.0**62, -(2.0**63), -1e30, math.nan, math.inf, 0.99999994]),
]


@pytest.mark.parametrize(("source", "target", "values"), CASTS)
def test_float_to_integer_saturates(source: str, target: str, values: list[float]) -> None:
    info = np.iinfo(NUMPY[target])
    x = np.array(values, NUMPY[source])

    def one(v: float) -> int:
        if v != v:
            return 0
        if math.isinf(v):
            return int(info.max if v > 0 else info.min)
        return int(min(max(math.trunc(v), info.min), info.max))

    want = np.array([one(float(v)) for v in x], NUMPY[target])
    assert_same_bits(apply_cast(x, SUPPORTED[source], SUPPORTED[target]), want, f"{source} to {target}")


def test_casts_to_bool_and_between_integers() -> None:
    x = np.array([math.nan, 0.5, -0.0, 0.0, 5e-324, math.inf])
    assert apply_cast(x, F64, SUPPORTED["bool"]).tolist() == [True, True, False, False, True, True]
    wide = np.array([2**32 + 5, -1, 2**31], np.int64)
    assert apply_cast(wide, SUPPORTED["i64"], SUPPORTED["i32"]).tolist() == [5, -1, -(2**31)]


def test_library_is_cached(tmp_path: Path) -> None:
    first = ElementaryLibrary.build(tmp_path)
    stamp = {p: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    second = ElementaryLibrary.build(tmp_path)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.iterdir()} == stamp
    assert first.names == second.names
    assert {f"{name}_{t}" for name in ("exp", "power", "fma") for t in ("f32", "f64")} <= first.names


def test_every_elementary_row_is_in_the_library(elementary: ElementaryLibrary) -> None:
    for name in (n for n, row in OPERATORS.items() if row.elementary):
        for dtype in (F32, F64)[: 1 if OPERATORS[name].strict else 2]:  # the fast forms are of f32
            x = np.linspace(0.1, 0.9, 21).reshape(3, 7).astype(dtype.numpy)
            operands = [x, x[::-1]][: OPERATORS[name].arity]
            y = apply_operator(name, operands, dtype, elementary)
            assert y.shape == x.shape
            for i in (0, 20):  # the value does not depend on the position or on the array
                one = [v.ravel()[i : i + 1] for v in operands]
                alone = apply_operator(name, one, dtype, elementary)
                assert_same_bits(alone, y.ravel()[i : i + 1], f"{name}_{dtype}")


def test_power_special_values(elementary: ElementaryLibrary) -> None:
    nan, inf = math.nan, math.inf
    x = np.array([2, -2, 0.0, -0.0, 1, nan, inf, -inf, -1, -8, 0, 2, -1.5], np.float32)
    y = np.array([-149, 3, -1, -3, nan, 0, -1, 3, inf, 1 / 3, 0, 128, 0.5], np.float32)
    want = np.array([2.0**-149, -8, inf, -inf, 1, 1, 0, -inf, 1, nan, 1, inf, nan], np.float32)
    assert_same_bits(apply_operator("power", [x, y], F32, elementary), want, "power")
    wide = [x.astype(np.float64), y.astype(np.float64)]
    want64 = np.array([2.0**-149, -8, inf, -inf, 1, 1, 0, -inf, 1, nan, 1, 2.0**128, nan])
    assert_same_bits(apply_operator("power", wide, F64, elementary), want64, "power")


def test_failing_compiler_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="failed on the elementary functions"):
        ElementaryLibrary.build(tmp_path, target=("-march=no-such-machine",))
