"""Section 6 of the language: what is defined where C++ or NumPy is not."""
# ruff: noqa: E501

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from promises import Row, compile_rows, only_error, raises, rows_test

from tensorc.dtypes import SUPPORTED

F = np.float32
INTEGERS = [n for n, t in SUPPORTED.items() if t.is_integer]
FLOATS = [n for n in ("f32", "f64", "f16") if n in SUPPORTED]


def numpy_type(name: str) -> np.dtype:
    return np.dtype(SUPPORTED[name].numpy)


def edges(name: str) -> np.ndarray:
    info = np.iinfo(numpy_type(name))
    low, high = int(info.min), int(info.max)
    values = {low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 63, 64} | ({-1, -2, -3, -7} if low else set())
    return np.array(sorted(v for v in values if low <= v <= high), dtype=numpy_type(name))


def pairs(name: str) -> tuple[np.ndarray, np.ndarray]:
    e = edges(name)
    a, b = (np.array(v) for v in zip(*itertools.product(e, e), strict=True))
    return a.astype(e.dtype), b.astype(e.dtype)


def wrapped(values: list[int], name: str) -> np.ndarray:
    """Exact integers, wrapped to the type."""
    info = np.iinfo(numpy_type(name))
    low, width = int(info.min), int(info.max) - int(info.min) + 1
    return np.array([(v - low) % width + low for v in values], dtype=numpy_type(name))


@pytest.fixture(scope="module")
def integer_kernels() -> dict[str, object]:
    rows = []
    for t in INTEGERS:
        rows.append(
            Row(
                t,
                f"a: {t}[N], b: {t}[N]",
                "a + b, a - b, a * b, a // b, a % b, a << b, a >> b, -a, abs(a), square(a), a ** 3",
                [],
                0,
            )
        )
        rows.append(Row(f"{t} by a scalar", f"a: {t}[N], b: {t}", "a // b, a % b, a << b, a >> b", [], 0))
        rows.append(
            Row(
                f"{t} by literals",
                f"a: {t}[N]",
                "a // 0, a % 0, a // 3, a % 7, a << 0, a >> 1, a << 100, a >> 100",
                [],
                0,
            )
        )
        rows.append(Row(f"{t} from floats", "x: f32[N], y: f64[N]", f"{t}(x), {t}(y), x.astype({t})", [], 0))
    return dict(compile_rows(rows))


def model(t: str, a: list[int], b: list[int]) -> dict[str, np.ndarray]:
    bits = numpy_type(t).itemsize * 8
    shifts = [(x, y) if 0 <= y < bits else (x, None) for x, y in zip(a, b, strict=True)]
    return {
        "//": wrapped([x // y if y else 0 for x, y in zip(a, b, strict=True)], t),
        "%": wrapped([x % y if y else 0 for x, y in zip(a, b, strict=True)], t),
        "<<": wrapped([0 if y is None else x << y for x, y in shifts], t),
        ">>": wrapped([(-1 if x < 0 else 0) if y is None else x >> y for x, y in shifts], t),
    }


@pytest.mark.parametrize("t", INTEGERS)
def test_integers_wrap_and_never_trap(integer_kernels: dict[str, object], t: str) -> None:
    a, b = pairs(t)
    x, y = [int(v) for v in a], [int(v) for v in b]
    found = integer_kernels[t](a, b)  # type: ignore[operator]
    m = model(t, x, y)
    both = list(zip(x, y, strict=True))
    expected = [
        wrapped([p + q for p, q in both], t), wrapped([p - q for p, q in both], t), wrapped([p * q for p, q in both], t),
        m["//"], m["%"], m["<<"], m[">>"], wrapped([-p for p in x], t), wrapped([abs(p) for p in x], t), wrapped([p * p for p in x], t), wrapped([p**3 for p in x], t),
    ]  # fmt: skip
    for name, f, e in zip(
        ("+", "-", "*", "//", "%", "<<", ">>", "neg", "abs", "square", "**"), found, expected, strict=True
    ):
        np.testing.assert_array_equal(f, e, err_msg=name)


@pytest.mark.parametrize("t", INTEGERS)
def test_scalar_divisors_and_counts(integer_kernels: dict[str, object], t: str) -> None:
    a = edges(t)
    x = [int(v) for v in a]
    for b in x:
        found = integer_kernels[f"{t} by a scalar"](a, b)  # type: ignore[operator]
        for name, f, e in zip(
            ("//", "%", "<<", ">>"), found, model(t, x, [b] * len(x)).values(), strict=True
        ):
            np.testing.assert_array_equal(f, e, err_msg=f"{name} {b}")


@pytest.mark.parametrize("t", INTEGERS)
def test_literal_divisors_and_counts(integer_kernels: dict[str, object], t: str) -> None:
    a = edges(t)
    x = [int(v) for v in a]
    found = integer_kernels[f"{t} by literals"](a)  # type: ignore[operator]
    zero = [0] * len(x)
    expected = [
        zero,
        zero,
        [v // 3 for v in x],
        [v % 7 for v in x],
        x,
        [v >> 1 for v in x],
        zero,
        [-1 if v < 0 else 0 for v in x],
    ]
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_array_equal(f, wrapped(e, t))


@pytest.mark.parametrize("t", INTEGERS)
def test_floats_saturate(integer_kernels: dict[str, object], t: str) -> None:
    info = np.iinfo(numpy_type(t))
    y = np.array(
        [
            np.nan,
            np.inf,
            -np.inf,
            1e30,
            -1e30,
            0.9,
            -0.9,
            2.5,
            -2.5,
            127.5,
            128,
            255.9,
            256,
            -129,
            32768,
            65536,
            2.0**31,
            2.0**32,
            2.0**53,
            2.0**63,
            2.0**64,
            -(2.0**31),
            -(2.0**63),
            -0.0,
        ]
    )
    x = y.astype(F)

    def saturated(v: float) -> int:
        return (
            0
            if math.isnan(v)
            else int(info.max)
            if v >= float(info.max)
            else int(info.min)
            if v <= float(info.min)
            else int(v)
        )

    found = integer_kernels[f"{t} from floats"](x, y)  # type: ignore[operator]
    for f, source in zip(found, (x, y, x), strict=True):
        np.testing.assert_array_equal(f, np.array([saturated(float(v)) for v in source], numpy_type(t)))
    for k, v in enumerate(y):  # the scalar way and every tail
        np.testing.assert_array_equal(
            integer_kernels[f"{t} from floats"](x[k : k + 1], y[k : k + 1])[1], [saturated(float(v))]
        )  # type: ignore[operator]


QUOTIENTS = np.array(
    [0.0, -0.0, 1, -1, 5.5, -5.5, 7, -7, 3, -3, 0.1, 1e-40, 1e30, -1e30, 3e38, np.inf, -np.inf, np.nan], F
)
P, Q = (np.array(v, F) for v in zip(*itertools.product(QUOTIENTS, QUOTIENTS), strict=True))
NAN = np.array([1, np.nan, -0.0, 0.0, 3, np.nan, -np.inf], F)
ZEROS = np.array([0.0, -0.0], F)


def tmax(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(
        (a == 0) & (b == 0), np.where(np.signbit(a) & np.signbit(b), F(-0.0), F(0.0)), np.maximum(a, b)
    )


def tmin(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(
        (a == 0) & (b == 0), np.where(np.signbit(a) | np.signbit(b), F(-0.0), F(0.0)), np.minimum(a, b)
    )


def remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Python's %, exact in f64, with NumPy's values for a divisor of zero and infinite operands."""
    with np.errstate(all="ignore"):
        return np.remainder(a, b)


def quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.floor_divide(a, b)


ROWS = [
    Row("float // and %", "a: f32[N], b: f32[N]", "a // b, a % b", [P, Q], lambda a, b: (quotient(a, b), remainder(a, b))),
    Row("float // and % in f64", "a: f64[N], b: f64[N]", "a // b, a % b", [P.astype(float), Q.astype(float)], lambda a, b: (quotient(a, b), remainder(a, b))),
    Row("large quotients are exact", "a: f64[N]", "a % 3, a // 3", [np.array([1e15 + 1, 1e16, -1e17, 2.0**70])], lambda a: (np.array([math.fmod(math.fmod(v, 3) + 3, 3) for v in a]), np.floor_divide(a, 3))),
    Row("maximum and minimum", "a: f32[N], b: f32[N]", "maximum(a, b), minimum(a, b), maximum(b, a)", [P, Q], lambda a, b: (tmax(a, b), tmin(a, b), tmax(a, b))),
    Row("relu", "a: f32[N]", "relu(a)", [QUOTIENTS], lambda a: tmax(a, np.zeros_like(a))),
    Row("clip keeps nan and lets the upper bound win", "a: f32[N]", "clip(a, -1, 1), clip(a, 0, 0.0), clip(a, 3, 1), clip(a, nan, 1), clip(a, 0, nan)", [QUOTIENTS],
        lambda a: (np.clip(a, -1, 1), np.where(np.isnan(a), a, F(0)), np.where(np.isnan(a), a, F(1)), a * F(np.nan), a * F(np.nan))),
    Row("max and min of an axis", "a: f32[N]", "max(a), min(a), argmax(a), argmin(a)", [NAN], (F(np.nan), F(np.nan), np.int64(1), np.int64(1))),
    Row("max and min of zeros", "a: f32[N]", "max(a), min(a), argmax(a), argmin(a), max(-a), min(-a)", [ZEROS], (F(0), F(-0.0), np.int64(0), np.int64(0), F(0), F(-0.0))),
    Row("the first of equals", "a: f32[N], i: i32[N]", "argmax(a), argmin(a), argmax(i), argmin(i)", [np.array([1, 3, 3, 1], F), np.array([1, 3, 3, 1], np.int32)], (np.int64(1), np.int64(0), np.int64(1), np.int64(0))),
    Row("argmax of bool", "b: bool[N]", "argmax(b), argmin(b)", [np.array([False, True, True, False])], (np.int64(1), np.int64(0))),
    Row("empty sums", "a: f32[N]", "sum(a), prod(a), any(a), all(a), count_nonzero(a), logsumexp(a)", [ZEROS[:0]], (F(0), F(1), np.False_, np.True_, np.int64(0), F(-np.inf))),
    Row("empty means", "a: f32[N]", "mean(a), var(a), std(a)", [ZEROS[:0]], (F(np.nan), F(np.nan), F(np.nan))),
    *(Row(f"empty {f}", "a: f32[N]", f"{f}(a)", [ZEROS[:0]], raises(ValueError, f, "N")) for f in ("max", "min", "argmax", "argmin")),
    Row("empty max of an axis", "a: f32[N, D]", "max(a, axis=1)", [np.zeros((3, 0), F)], raises(ValueError, "max", "D")),
    Row("empty max without results", "a: f32[N, D]", "max(a, axis=1)", [np.zeros((0, 3), F)], np.zeros(0, F)),
    Row("the full reduction of a scalar", "s: f32", "sum(s), max(s), mean(s), argmin(s)", [F(2.5)], (F(2.5), F(2.5), F(2.5), np.int64(0))),
    Row("an integer power", "i: i32[N], j: i32[N]", "i ** j", [np.array([2, -3, 0, 7], np.int32), np.array([31, 3, 0, 13], np.int32)], lambda i, j: wrapped([int(a) ** int(b) for a, b in zip(i, j, strict=True)], "i32")),
    Row("a negative power at the call", "i: i32[N], j: i32[N]", "i ** j", [np.array([2, 3], np.int32), np.array([1, -1], np.int32)], raises(ValueError, "negative power")),
    Row("a negative power of a float", "x: f32[N], j: i32[N]", "f64(x) ** j, x ** -1", [np.array([2, 4], F), np.array([-1, -2], np.int32)], (np.array([0.5, 0.0625]), np.array([0.5, 0.25], F))),
    Row("i64 with f64 comparisons", "i: i64[N], d: f64[N]", "i == d", [np.array([2**53 + 1, 3]), np.array([2.0**53, 3])], lambda i, d: i == d),
    Row("extreme literals", "i: i64[N]", "i + -9223372036854775808, i * 9223372036854775807, i + 0x7fffffffffffffff", [np.array([1, 0])],
        lambda i: (i + np.int64(-(2**63)), i * np.int64(2**63 - 1), wrapped([2**63, 2**63 - 1], "i64"))),
    Row("inf and nan", "x: f32[N]", "x + inf, x + -inf, x * nan, maximum(x, -inf)", [ZEROS], lambda x: (x + F(np.inf), x - F(np.inf), x * F(np.nan), x)),
    Row("folded as at run time", "", "7 // 0, 7 % 0, -7 // 2, -7 % 2, 7 // -2, i32(3e9), i32(nan), i64(-inf), i32(2.9), -7.5 // 2, -7.5 % 2, maximum(-0.0, 0.0), 1.0 / 0, 1 / 0", [],
        (np.int64(0), np.int64(0), np.int64(-4), np.int64(1), np.int64(-4), np.int32(2**31 - 1), np.int32(0), np.int64(-(2**63)), np.int32(2), np.float64(-4), np.float64(0.5), np.float64(0.0), np.float64(np.inf), np.float64(np.inf))),
    Row("square roots and logs out of their domain", "x: f32[N]", "sqrt(x), log(x), x ** 0.5", [np.array([-1, -0.0, 0, np.inf], F)], lambda x: (np.sqrt(x), np.log(x), np.array([np.nan, 0, 0, np.inf], F))),
]  # fmt: skip

kernels, test_promise = rows_test(ROWS)

REFUSED = [
    ("an integer to a negative literal", "x: i32[N]", "x ** -1", "TC0302"),
    ("an axis of a rank-0 value", "s: f32", "sum(s, axis=0)", "TC0403"),
    ("a maximum that is empty for every size", "x: f32[0]", "max(x)", "TC0408"),
    ("an argmax that is empty for every size", "x: f32[N, 0]", "argmax(x, axis=1)", "TC0408"),
    ("a literal that no type holds", "x: f32[N]", "x + 1, 18446744073709551616", "TC0303"),
    ("a literal that no f64 holds", "x: f32[N]", "x + 1e999", "TC0303"),
    ("two symbols", "x: f32[N], y: f32[M]", "x + y", "TC0402"),
]


@pytest.mark.parametrize(
    ("parameters", "expression", "code"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED]
)
def test_refused(parameters: str, expression: str, code: str) -> None:
    only_error(f"kernel k({parameters}) {{ return {expression} }}", code)
