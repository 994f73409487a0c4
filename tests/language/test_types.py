"""Section 2 of the language: types, promotion and weak numbers."""
# ruff: noqa: E501

from __future__ import annotations

import itertools

import numpy as np
import pytest
from promises import Row, compile_rows, messages, only_error, rows_test, same

import tensorc
from tensorc.dtypes import SUPPORTED

F = np.float32
TYPES = {name: np.dtype(t.numpy) for name, t in SUPPORTED.items() if name != "bf16"}
VALUES = {
    "b": [True, False, True, True],
    "i": [3, -7, 1, 100],
    "u": [3, 7, 1, 100],
    "f": [0.5, -2.0, 3.25, 1.0],
}


def array(name: str) -> np.ndarray:
    return np.array(VALUES[TYPES[name].kind], TYPES[name])


PAIRS = list(itertools.combinations_with_replacement(TYPES, 2))
OPS = {
    "+": np.add,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "==": np.equal,
    "<": np.less,
    "where": None,
}


def expected_dtype(op: str, a: str, b: str) -> np.dtype:
    x, y = array(a), array(b)
    with np.errstate(all="ignore"):
        if op == "where":
            return np.where(x == y, x, y).dtype
        return OPS[op](x, y).dtype


@pytest.fixture(scope="module")
def promoted() -> dict[str, object]:
    """One kernel per pair of types: `+ * / == < where` of both, in both orders."""
    rows = []
    for a, b in PAIRS:
        floor = "" if a == b == "bool" else ", x // y"
        rows.append(
            Row(
                f"{a} {b}",
                f"x: {a}[N], y: {b}[N]",
                f"x + y, y + x, x * y, x / y, x == y, x < y, where(x == y, x, y){floor}",
                [],
                0,
            )
        )
    return dict(compile_rows(rows))


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=[f"{a} with {b}" for a, b in PAIRS])
def test_promotion_is_numpys_table(promoted: dict[str, object], a: str, b: str) -> None:
    found = promoted[f"{a} {b}"](array(a), array(b))  # type: ignore[operator]
    with np.errstate(all="ignore"):
        x, y = array(a), array(b)
        wanted = [x + y, y + x, x * y, x / y, x == y, x < y, np.where(x == y, x, y)]
        if not a == b == "bool":
            zero_free = y != 0
            wanted.append(
                np.where(zero_free, x // np.where(zero_free, y, 1), 0).astype(
                    (x // np.where(zero_free, y, np.ones_like(y))).dtype
                )
            )
    for f, e in zip(found, wanted, strict=True):
        assert f.dtype == e.dtype
        if f.dtype.kind == "f" and f.dtype.itemsize == 2:
            np.testing.assert_allclose(f.astype(F), e.astype(F), rtol=2e-3)
        else:
            np.testing.assert_array_equal(f, e)


INTS = np.array([3, -7, 1], np.int32)
BYTES = np.array([3, -7, 1], np.int8)
X = np.array([0.5, -2.0, 3.25], F)
B = np.array([True, False, True])
D = np.array([0.5, -2.0, 3.25])

ROWS = [
    Row("f32 + 1 is f32", "x: f32[N]", "x + 1", [X], lambda x: x + F(1)),
    Row("i32 + 1 is i32", "x: i32[N]", "x + 1", [INTS], lambda x: x + np.int32(1)),
    Row("i32 + 0.5 is f64", "x: i32[N]", "x + 0.5", [INTS], lambda x: x + 0.5),
    Row("bool + 1 is i64", "x: bool[N]", "x + 1", [B], lambda x: x + 1),
    Row("bool * 0.5 is f64", "x: bool[N]", "x * 0.5", [B], lambda x: x * 0.5),
    Row("i32 / 2 is f64", "x: i32[N]", "x / 2", [INTS], lambda x: x / 2),
    Row("f32 with true", "x: f32[N]", "x + true", [X], lambda x: x + True),
    Row("a literal is rounded once", "x: f32[N]", "x * 0.1", [X], lambda x: x * F(0.1)),
    Row("a weak expression stays weak", "x: f32[N]", "x * (0.1 + 0.2), x + (1 + 2)", [X], lambda x: (x * F(0.1 + 0.2), x + F(3))),
    Row("weak and shaped: where", "x: f32[N], b: bool[N]", "x + where(b, -inf, 0)", [X, B], lambda x, b: x + np.where(b, F(-np.inf), F(0))),
    Row("weak and shaped: arange", "x: f32[N], i: i32[N]", "x * arange(N), i * arange(N)", [X, INTS], lambda x, i: (x * np.arange(3, dtype=F), i * np.arange(3, dtype=np.int32))),
    Row("weak and shaped: zeros, ones, full", "x: f32[N]", "x + zeros(N), x * ones(N), x + full(N, 0.5)", [X], lambda x: (x + F(0), x * F(1), x + F(0.5))),
    Row("weak reductions", "x: f32[N], i: i8[N]", "i + max(arange(N)), x + sum(ones(N)), x + mean(arange(N)), x + std(ones(N)) + logsumexp(zeros(N)), x * max(arange(N), keepdims=true), x + sum(0.1)", [X, BYTES],
        lambda x, i: (i + np.int8(2), x + F(3), x + F(1), x + F(np.log(3)), x * F(2), x + F(0.1))),
    Row("weak reductions in index notation", "x: f32[N], i: i8[N]", "i + max(j for j in N), x + sum(1 for j in N), x + sum(j * 0.5 for j in N)", [X, BYTES], lambda x, i: (i + np.int8(2), x + F(3), x + F(1.5))),
    Row("weak products", "x: f32[N], i: i8[N]", "i + arange(N) @ arange(N), x + arange(N) @ ones(N), x + vecdot(arange(N), arange(N)), i + tensordot(arange(N), arange(N), axes=1), x + einsum('i,i->', arange(N), ones(N))".replace("'", '"'), [X, BYTES],
        lambda x, i: (i + np.int8(5), x + F(3), x + F(5), i + np.int8(5), x + F(3))),
    Row("weak scans", "x: f32[N], i: i8[N]", "x + cumulative_sum(arange(N)), i + cumulative_max(arange(N)), concat((x, cumulative_prod(ones(N), include_initial=true)))", [X, BYTES],
        lambda x, i: (x + np.array([0, 1, 3], F), i + np.arange(3, dtype=np.int8), np.concatenate((x, np.ones(4, F))))),
    Row("a weak reduction computes in i64", "i: i8[N]", "i + (sum(arange(N) + 1000) - 3003)", [BYTES], lambda i: i),
    Row("weak reductions meet integers as floats", "i: i32[N]", "i + mean(arange(N)), i + sum(ones(N))", [INTS], lambda i: (i + 1.0, i + 3.0)),
    Row("a dtype makes weak reductions strong", "x: f32[N], i: i8[N]", "x + sum(arange(N), dtype=f64), i + sum(arange(N), dtype=i64), x + cumulative_sum(ones(N), dtype=f64)", [X, BYTES],
        lambda x, i: (x + np.float64(3), i + np.int64(3), x + np.arange(1, 4.0))),
    Row("counts and positions are i64", "i: i8[N]", "i + argmax(arange(N)), i + argmin(arange(N)), i + count_nonzero(arange(N)), any(arange(N)), all(arange(N))", [BYTES],
        lambda i: (i + np.int64(2), i + np.int64(0), i + np.int64(2), np.True_, np.False_)),
    Row("weak reductions are stored as i64 and f64", "b: bool[N]", "max(arange(N)), sum(ones(N)), mean(arange(N)), arange(N) @ arange(N), cumulative_sum(ones(N))", [B],
        (np.int64(2), np.float64(3), np.float64(1), np.int64(5), np.arange(1, 4.0))),
    Row("weak becomes i64 or f64 when stored", "b: bool[N]", "where(b, 1, 0), where(b, 0.5, 0), arange(N), zeros(N), full(N, 2), full(N, 0.5), ones(2)", [B],
        (np.array([1, 0, 1]), np.array([0.5, 0, 0.5]), np.arange(3), np.zeros(3), np.full(3, 2), np.full(3, 0.5), np.ones(2))),
    Row("creation with a dtype is strong", "x: f32[N]", "x * arange(N, dtype=f64), x + zeros(N, dtype=f64)", [X], lambda x: (x * np.arange(3.0), x + np.zeros(3))),
    Row("weak floats meet integers", "i: i32[N]", "i + zeros(N), i * (arange(N) * 0.5)", [INTS], lambda i: (i + np.zeros(3), i * (np.arange(3) * 0.5))),
    Row("a const is weak", "x: f32[N], i: i32[N]", "x * WEAK, i * WEAK", [X, INTS], lambda x, i: (x * F(0.1), i * 0.1)),
    Row("a const with a type is strong", "x: f32[N], i: i32[N]", "x * STRONG, i * THREE", [X, INTS], lambda x, i: (x * np.float64(0.1), i * np.int64(3))),
    Row("arithmetic of typed consts", "x: f32[N]", "x * DOUBLE, THIRD, x + EIGHT", [X], lambda x: (x * (F(0.1) * F(2) + F(1)), F(0.1) / F(3), x + np.int8(8))),
    Row("a strong f32 const is rounded", "x: f64[N]", "x * NARROW", [D], lambda x: x * np.float64(F(0.1))),
    Row("a type on a local checks", "x: f32[N]", "y: f32[N] = x * 2\nreturn y", [X], X * 2),
    Row("a scalar parameter is strong", "x: f32[N], s: f64", "x * s", [X, 0.1], lambda x, s: x * np.float64(0.1)),
    Row("a default of -0.0 keeps its sign", "a: f64 = -0.0, b: f32 = -0.0, c: f16 = -0.0, d: f32 = 0.0, e: f32 = -0", "1 / a, 1 / b, 1 / c, 1 / d, 1 / e", [],
        (np.float64(-np.inf), F(-np.inf), np.float16(-np.inf), F(np.inf), F(np.inf))),
    Row("True and False", "b: bool[N]", "b and True, b or False, max(f64(b), keepdims=True)", [B], lambda b: (b, b, np.array([1.0]))),
    Row("casts", "x: f32[N]", "f64(x), i32(x), i64(x), bool(x), astype(x, f64), x.astype(i32)", [X],
        lambda x: (x.astype(float), x.astype(np.int32), x.astype(np.int64), x != 0, x.astype(float), x.astype(np.int32))),
    Row("casts of literals are strong", "x: i32[N]", "x + i64(1), x * f32(0.5)", [INTS], lambda x: (x + np.int64(1), x * np.float64(F(0.5)))),
    Row("integers in floating functions are f64", "i: i32[N], b: bool[N]", "sqrt(i * i), exp(b)", [INTS, B], lambda i, b: (np.sqrt(i * i), np.exp(b)), ulp=1),
    Row("integers keep their type", "i: i32[N]", "abs(i), -i, i ** 2, square(i), floor(i), round(i), sign(i), maximum(i, 0), clip(i, 0, 2)", [INTS],
        lambda i: (abs(i), -i, i**2, i * i, i, i, np.sign(i), np.maximum(i, 0), np.clip(i, 0, 2))),
    Row("clip with weak bounds of another kind", "i: i32[N]", "clip(i, 0.5, 2.5)", [INTS], lambda i: np.clip(i.astype(float), 0.5, 2.5)),
    Row("clip with a wider bound", "x: f32[N], d: f64[N]", "clip(x, d, 1), clip(x, max=d)", [X, D], lambda x, d: (np.clip(x, d, 1), np.minimum(x, d))),
    Row("clip of bool", "b: bool[N]", "clip(b, false, true)", [B], B),
    Row("sums of integers are i64", "i: i32[N], b: bool[N]", "sum(i), prod(i), sum(b), mean(i), max(i), argmax(i), count_nonzero(b), any(i)", [INTS, B],
        lambda i, b: (i.sum(dtype=np.int64), i.prod(dtype=np.int64), b.sum(dtype=np.int64), i.mean(), i.max(), np.int64(0), np.int64(2), i.any())),
    Row("sums of floats keep their type", "x: f32[N]", "sum(x), mean(x), var(x), std(x), sum(x, dtype=f64)", [X],
        lambda x: (x.sum(), x.mean(), x.var(), x.std(), x.sum(dtype=float)), ulp=1),
    Row("comparison of i64 with f32", "i: i64[N], x: f32[N]", "i == x, i < x", [np.array([2**53 + 1, 1, 0]), X], lambda i, x: (i == x, i < x)),
]  # fmt: skip

kernels, test_promise = rows_test(
    ROWS,
    "const WEAK = 0.1\nconst STRONG: f64 = 0.1\nconst NARROW: f32 = 0.1\nconst THREE: i64 = 3\n"
    "const DOUBLE = NARROW * 2 + 1\nconst THIRD: f32 = NARROW / f32(3)\nconst EIGHT = i8(3) + 5\n",
)

WARNED = [
    ("f32 with i32", "x: f32[N], i: i32[N]", "x * i", True),
    ("f32 with i64", "x: f32[N], i: i64[N]", "i + x", True),
    ("where of f32 and i32", "x: f32[N], i: i32[N], b: bool[N]", "where(b, x, i)", True),
    ("an integer scalar", "x: f32[N], n: i64", "x * n", True),
    ("a matrix product", "x: f32[N, N], i: i32[N, N]", "x @ i", True),
    ("in a def", "x: f32[N], i: i32[N]", "mixed(x, i)", True),
    ("in index notation", "x: f32[N], i: i32[N]", "y[j] = x[j] * i[j] for j in N\nreturn y", True),
    ("a comparison widens nothing", "x: f32[N], i: i32[N]", "x < i", False),
    ("an explicit cast", "x: f32[N], i: i32[N]", "x * f32(i), f64(x) * i", False),
    ("f64 with i32", "x: f64[N], i: i32[N]", "x * i", False),
    ("f32 with f64", "x: f32[N], d: f64[N]", "x * d", False),
    ("a weak integer", "x: f32[N]", "x * 2 + N, x * arange(N)", False),
    ("integers alone", "i: i32[N]", "i / 2 + sqrt(i)", False),
]


@pytest.mark.parametrize(
    ("parameters", "body", "warned"), [w[1:] for w in WARNED], ids=[w[0] for w in WARNED]
)
def test_silent_widening_is_a_warning(parameters: str, body: str, warned: bool) -> None:
    body = body if "return" in body else f"return {body}"
    found = messages(f"def mixed(a, b) = a + b\nkernel k({parameters}) {{\n{body}\n}}")
    assert [(d.code, d.severity.name) for d in found] == [("TC0304", "WARNING")] * warned


REFUSED = [
    ("a local's type never converts", "kernel k(x: f32[N]) {\n y: f64[N] = x\n return y\n}", "TC0301", ["f64"]),
    ("a const's type fits", "const A: i32 = 0.5\nkernel k(x: f32) { return x * A }", "TC0303", ["0.5", "i32"]),
    ("a result's type never converts", "kernel k(x: i32[N]) -> f64[N] { return x }", "TC0305", ["f64(...)"]),
    ("a weak float result is f64", "kernel k(x: f32[N]) -> f32[N] { return zeros(N) }", "TC0305", ["f64"]),
    ("a literal that fits no i32", "kernel k(x: i32[N]) { return x + 2147483648 }", "TC0303", ["2147483648"]),
    ("a literal that overflows f32", "kernel k(x: f32[N]) { return x * 1e39 }", "TC0303", ["1e+39"]),
    ("a dtype parameter without an array", "kernel k[T: f32 | f64](s: T) { return s }", "TC0306", ["no array"]),
    ("and on numbers", "kernel k(x: i32[N]) { return x and x }", "TC0302", ["x != 0"]),
    ("bits of floats", "kernel k(x: f32[N]) { return x | 1 }", "TC0302", []),
    ("minus of bool", "kernel k(b: bool[N]) { return b - b }", "TC0302", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(text: str, code: str, words: list[str]) -> None:
    only_error(text, code, *words)


def test_dtype_parameters_compile_one_symbol_each() -> None:
    text = (
        "kernel scale[T: f32 | f64](x: T[N], by: T = 0.1) -> T[N] { return T(x) * by + zeros(N, dtype=T) }\n"
    )
    module = tensorc.compile(text)
    same(module["scale"](X), X * F(0.1))
    same(module["scale"](D), D * 0.1)
    same(module["scale_f64"](D, 2), D * 2)
    with pytest.raises(TypeError):
        module["scale"](INTS)
    with pytest.raises(TypeError):
        module["scale_f64"](X)
