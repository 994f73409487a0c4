"""Section 2 of the language: narrow integers, unsigned ones, f16 and bf16."""
# ruff: noqa: E501

from __future__ import annotations

import math

import numpy as np
import pytest
from promises import Row, compile_rows, only_error, raises, rows_test

F = np.float32
H = np.float16
RNG = np.random.default_rng(17)
A, B, C = (RNG.normal(size=37).astype(H) for _ in range(3))
BIG = (RNG.uniform(size=5000) * 8).astype(H)
GRID = RNG.normal(size=(7, 33)).astype(H)
U8 = np.array([0, 1, 2, 3, 200, 254, 255], np.uint8)
I8 = np.array([0, 1, -1, 127, -128, -127, 5], np.int8)
U32 = np.array([0, 1, 2**31, 2**32 - 1], np.uint32)
U64 = np.array([0, 1, 2**63, 2**64 - 1, 2**63 - 1], np.uint64)
I64 = np.array([0, -1, 2**63 - 1, -(2**63), 2**63 - 1], np.int64)
ODD = np.array([0.0, -0.0, 6e-8, -6e-5, 65504, np.inf, -np.inf, np.nan, 1], H)


def bf16(x: np.ndarray) -> np.ndarray:
    """The bits of the nearest bf16 of f32 values, ties to even."""
    bits = np.asarray(x, F).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(x), np.uint16(0x7FC0), rounded)


def wide(bits: np.ndarray) -> np.ndarray:
    return (np.asarray(bits).view(np.uint16).astype(np.uint32) << 16).view(F)


ROWS = [
    Row("f16 rounds after every operation", "a: f16[N], b: f16[N], c: f16[N]", "a * b + c, (a + b) - c, a / b, a - b * c, a * a * a", [A, B, C], lambda a, b, c: (a * b + c, (a + b) - c, a / b, a - b * c, a * a * a)),
    Row("a stored f16 is the same value", "a: f16[N], b: f16[N], c: f16[N]", "@materialize p = a * b\nreturn p + c, a * b + c", [A, B, C], lambda a, b, c: (a * b + c, a * b + c)),
    Row("f16 with weak numbers stays f16", "a: f16[N]", "a + 1, a * 0.1, 2 - a, maximum(a, 0), where(a > 0, a, 0), a * arange(N)", [A], lambda a: (a + H(1), a * H(0.1), H(2) - a, np.maximum(a, H(0)), np.where(a > 0, a, H(0)), a * np.arange(37).astype(H))),
    Row("functions of f16", "a: f16[N]", "exp(a), sin(a), sqrt(abs(a)), tanh(a)", [A], lambda a: tuple(f(x.astype(F)).astype(H) for f, x in ((np.exp, a), (np.sin, a), (np.sqrt, abs(a)), (np.tanh, a))), ulp=1),
    Row("sums of f16 accumulate wide and round once", "a: f16[N]", "sum(a), mean(a), max(a), argmax(a)", [BIG], lambda a: (H(a.astype(float).sum()), H(a.astype(float).mean()), a.max(), a.argmax()), ulp=1),
    Row("sums of a product round the product", "a: f16[N], b: f16[N]", "sum(a * b)", [A[:1], B[:1]], lambda a, b: (a * b)[0]),
    Row("sums of f16 over axes", "a: f16[N, D]", "sum(a, axis=0), sum(a, axis=1), var(a, axis=1), std(a, axis=0), prod(a, axis=1)", [GRID],
        lambda a: (a.astype(float).sum(0).astype(H), a.astype(float).sum(1).astype(H), a.astype(float).var(1).astype(H), a.astype(float).std(0).astype(H), a.astype(float).prod(1).astype(H)), ulp=1),
    Row("a sum of ones goes on past 2048", "n: i64", "sum(ones(n, dtype=f16)), cumulative_sum(ones(n, dtype=f16))[n - 1]", [5000], (H(5000), H(5000))),
    Row("a f16 sum in another type", "a: f16[N]", "sum(a, dtype=f32), mean(a, dtype=f64)", [BIG], lambda a: (F(a.astype(float).sum()), np.float64(a.astype(float).mean())), ulp=8),
    Row("f16 keeps subnormals, zeros, infinities", "a: f16[N]", "a, -a, a / 2, a * 2, abs(a), isnan(a), isinf(a), a == a", [ODD], lambda a: (a, -a, a / H(2), a * H(2), abs(a), np.isnan(a), np.isinf(a), a == a)),
    Row("casts to f16 round once", "x: f32[N], d: f64[N], i: i32[N]", "f16(x), f16(d), f16(i), f32(f16(x))", [np.array([1 + 2**-11, 65519.996, 65520, 1e-8], F), np.array([1 + 2**-11 + 2**-40, 65519.99999, 2.0**-25 * (1 + 1e-12), -1e300]), np.array([2049, 65519, 65520, -3], np.int32)],
        lambda x, d, i: (x.astype(H), d.astype(H), i.astype(H), x.astype(H).astype(F))),
    Row("f16 to integers saturates", "a: f16[N]", "i8(a), u8(a), i16(a), u16(a), i32(a), bool(a)", [ODD], lambda a: (
        np.array([0, 0, 0, 0, 127, 127, -128, 0, 1], np.int8), np.array([0, 0, 0, 0, 255, 255, 0, 0, 1], np.uint8), np.array([0, 0, 0, 0, 32767, 32767, -32768, 0, 1], np.int16),
        np.array([0, 0, 0, 0, 65504, 65535, 0, 0, 1], np.uint16), np.array([0, 0, 0, 0, 65504, 2**31 - 1, -(2**31), 0, 1], np.int32), a != 0)),
    Row("f16 // and %", "a: f16[N], b: f16[N]", "a // b, a % b", [A, B], lambda a, b: (a // b, a % b)),
    Row("narrow integers wrap", "u: u8[N], i: i8[N]", "u + u, u - 1, u * 3, i + i, i * i, -i, -u, ~u, ~i, abs(i)", [U8, I8], lambda u, i: (u + u, u - np.uint8(1), u * np.uint8(3), i + i, i * i, -i, -u, ~u, ~i, abs(i))),
    Row("chained narrow arithmetic wraps in between", "u: u8[N]", "(u + u) // 2, (u * 2 + 1) >> 1, u + 100 - 100", [U8], lambda u: ((u + u) // np.uint8(2), (u * np.uint8(2) + np.uint8(1)) >> np.uint8(1), u)),
    Row("sums of unsigned are u64", "u: u8[N], w: u32[N]", "sum(u), prod(u[1:]), sum(w), cumulative_sum(u), mean(u), max(u), argmax(u), sum(u, dtype=u8)", [U8, np.resize(U32, 7)],
        lambda u, w: (u.sum(), u[1:].prod(), w.sum(), np.cumsum(u, dtype=np.uint64), u.mean(), u.max(), u.argmax(), u.sum(dtype=np.uint8))),
    Row("sums of narrow signed are i64", "i: i8[N]", "sum(i), prod(i), min(i), cumulative_sum(i), mean(i), var(i)", [I8], lambda i: (i.sum(), i.prod(), i.min(), np.cumsum(i, dtype=np.int64), i.mean(), i.var())),
    Row("comparisons of i64 and u64 are exact", "u: u64[N], i: i64[N]", "u == i, u != i, u < i, u <= i, u > i, i >= u, i < u", [U64, I64], lambda u, i: (u == i, u != i, u < i, u <= i, u > i, i >= u, i < u)),
    Row("u64 arithmetic", "u: u64[N]", "u + u, u // 3, u % 10, u >> 1, u << 63, f64(u), f32(u), u * u, max(u), u + 9223372036854775808", [U64],
        lambda u: (u + u, u // np.uint64(3), u % np.uint64(10), u >> np.uint64(1), u << np.uint64(63), u.astype(float), u.astype(F), u * u, u.max(), u + np.uint64(2**63))),
    Row("integer casts wrap", "i: i64[N]", "i8(i), u8(i), i16(i), u16(i), u32(i), u64(i)", [np.array([-1, 128, 255, 256, -129, 2**40 + 3])], lambda i: tuple(i.astype(t) for t in (np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64))),
    Row("u32 with i32 is i64", "u: u32[N], i: i32[N]", "u + i, u < i, maximum(u, i)", [U32, np.array([-1, 1, 5, -(2**31)], np.int32)], lambda u, i: (u + i, u < i, np.maximum(u, i))),
    Row("bits of unsigned", "u: u8[N], b: bool[N]", "u & 15, u | 128, u ^ 255, u & b, u << 1, u >> 7", [U8, U8 > 2], lambda u, b: (u & np.uint8(15), u | np.uint8(128), u ^ np.uint8(255), u & b, u << np.uint8(1), u >> np.uint8(7))),
    Row("narrow scalars", "u: u8[N], k: u8, h: f16 = 0.1", "u + k, h", [U8, 250], lambda u, k: (u + np.uint8(250), H(0.1))),
    Row("a narrow scalar that does not fit", "u: u8[N], k: u8", "u + k", [U8, 256], raises(ValueError, "'k'", "256", "u8")),
    Row("integer products keep the type", "u: u8[N], i: i16[N]", "u @ u, i @ i", [U8, I8.astype(np.int16) * 100], lambda u, i: (u @ u, i @ i)),
    Row("relu, clip, sign of unsigned", "u: u8[N]", "relu(u), clip(u, 2, 100), sign(u), maximum(u, 3), abs(u), floor(u)", [U8], lambda u: (u, np.clip(u, 2, 100), np.sign(u), np.maximum(u, np.uint8(3)), u, u)),
    Row("unsigned powers", "u: u8[N]", "u ** 2, u ** 3, u ** u", [U8], lambda u: (u**2, u**3, u**u)),
]  # fmt: skip

kernels, test_promise = rows_test(ROWS)

BRAIN = [
    Row("rounds", "a: bf16[N], b: bf16[N], c: bf16[N]", "a * b + c", [], 0),
    Row("weak", "a: bf16[N]", "a * 0.1 + 1", [], 0),
    Row("sum", "a: bf16[N]", "sum(a), mean(a), max(a)", [], 0),
    Row("cast", "x: f32[N], d: f64[N]", "bf16(x), bf16(d)", [], 0),
    Row("with f32", "a: bf16[N], x: f32[N]", "a + x", [], 0),
    Row("with f64", "a: bf16[N], d: f64[N]", "a + d", [], 0),
    Row("with f16", "a: bf16[N], h: f16[N]", "a + h", [], 0),
    Row("with i8", "a: bf16[N], i: i8[N]", "a + i", [], 0),
    Row("with i16", "a: bf16[N], i: i16[N]", "a + i", [], 0),
    Row("with i32", "a: bf16[N], i: i32[N]", "a + i", [], 0),
    Row("with bool", "a: bf16[N], b: bool[N]", "a * b", [], 0),
    Row("exp", "a: bf16[N]", "exp(a)", [], 0),
]


@pytest.fixture(scope="module")
def brain() -> dict[str, object]:
    return dict(compile_rows(BRAIN))


def test_bf16_rounds_after_every_operation(brain: dict[str, object]) -> None:
    a, b, c = (bf16(v.astype(F)) for v in (A, B, C))
    found = brain["rounds"](a, b, c)  # type: ignore[operator]
    product = wide(bf16(wide(a) * wide(b)))
    np.testing.assert_array_equal(found.view(np.uint16), bf16(product + wide(c)))
    found = brain["weak"](a)  # type: ignore[operator]
    np.testing.assert_array_equal(
        found.view(np.uint16), bf16(wide(bf16(wide(a) * wide(bf16(F(0.1))))) + F(1))
    )


def test_bf16_sums_round_once(brain: dict[str, object]) -> None:
    a = bf16(np.full(3000, 1.0, F))
    total, mean, top = brain["sum"](a)  # type: ignore[operator]
    assert [float(wide(v)) for v in (total, mean, top)] == [float(wide(bf16(F(3000)))), 1.0, 1.0]


def test_casts_to_bf16_round_once(brain: dict[str, object]) -> None:
    d = np.array([1 + 2**-8, 1 + 2**-8 + 2**-40, 1e39, -1e300, 1e-40, math.nan])
    with np.errstate(over="ignore"):
        x = d.astype(F)
    found, once = brain["cast"](x, d)  # type: ignore[operator]
    np.testing.assert_array_equal(found.view(np.uint16)[:5], bf16(x)[:5])
    # f64 to f32 first would round the second value down to a tie
    assert wide(once)[:2].tolist() == [1.0, 1 + 2**-7]


def test_bf16_promotes_as_documented(brain: dict[str, object]) -> None:
    a = bf16(A.astype(F))
    others = {
        "f32": (A.astype(F), np.float32), "f64": (A.astype(float), np.float64), "f16": (A, np.float32), "i16": (np.arange(37, dtype=np.int16), np.float32),
        "i32": (np.arange(37, dtype=np.int32), np.float64),
    }  # fmt: skip
    for name, (other, wanted) in others.items():
        found = brain[f"with {name}"](a, other)  # type: ignore[operator]
        assert found.dtype == wanted, name
        np.testing.assert_array_equal(found, (wide(a).astype(wanted) + other.astype(wanted)))
    for name, other in (("i8", np.arange(37, dtype=np.int8)), ("bool", A > 0)):
        found = brain[f"with {name}"](a, other)  # type: ignore[operator]
        assert found.dtype.itemsize == 2
        assert found.dtype != np.float16


REFUSED = [
    ("u8 + 256", "u: u8[N]", "u + 256", "TC0303"), ("u8 + -1", "u: u8[N]", "u + -1", "TC0303"), ("i8 + 128", "i: i8[N]", "i + 128", "TC0303"),
    ("2**63 with i64", "i: i64[N]", "i + 9223372036854775808", "TC0303"), ("2**64 with u64", "u: u64[N]", "u + 18446744073709551616", "TC0303"),
    ("f16 * 1e5", "h: f16[N]", "h * 1e5", "TC0303"), ("u8 ** -1", "u: u8[N]", "u ** -1", "TC0302"), ("bits of f16", "h: f16[N]", "h & 1", "TC0302"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "expression", "code"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED]
)
def test_refused(parameters: str, expression: str, code: str) -> None:
    only_error(f"kernel k({parameters}) {{ return {expression} }}", code)
