# ruff: noqa: E501
"""Section 1 of the language: what a file is made of."""

from __future__ import annotations

import numpy as np
import pytest
from promises import Row, errors, messages, only_error, raises, rows_test

import tensorc

F = np.float32
X = np.array([[1.5, -2.0, 0.25], [3.0, 0.5, -1.0]], F)
V = np.array([1.0, 2.0, 4.0], F)

PREAMBLE = """
# a comment
## not a docstring: no kernel follows
dims N ~ 1024,
     D ~ 2
dims FOUR = 4,
    EIGHT =
        FOUR * 2
const HALF = 0.5
const STRONG: f64 = 0.5
const THREE =
  3
def twice(x) = x + x
def scaled(x, by=HALF, plus=0) = x * by + plus
def spread(x, axis=-1) {
    low = min(x, axis=axis, keepdims=true); high = max(x, axis=axis, keepdims=true)
    return low, high
}
def width(x) {
    low, high = spread(x)
    return high - low
}
def forward(x) = backward(x) + 1
def backward(x) = x * 2
def with_size(x) = x * x.shape[0]
def hides(exp) = exp + 1
"""

ROWS = [
    Row("a hint is never a size", "x: f32[N, D]", "x + 1", [X], lambda x: x + 1),
    Row("dims = fixes a size", "x: f32[FOUR]", "x", [np.zeros(3, F)], raises(ValueError, "4", "3")),
    Row("a fixed size as a value", "x: f32[FOUR]", "x * EIGHT", [np.ones(4, F)], np.full(4, 8, F)),
    Row("a const adapts", "x: f32[N]", "x * HALF", [V], lambda x: x * F(0.5)),
    Row("a const with a type is strong", "x: f32[N]", "x * STRONG", [V], lambda x: x.astype(float) * 0.5),
    Row("an integer const is a size", "x: f32[THREE]", "x", [V], V),
    Row("a def takes every shape", "x: f32[N, D]", "twice(x)", [X], lambda x: x + x),
    Row("a def takes every dtype", "x: i64[N]", "twice(x)", [np.arange(3)], lambda x: x + x),
    Row("a def takes a scalar", "x: f32", "twice(x)", [F(2)], F(4)),
    Row("a def has defaults", "x: f32[N]", "scaled(x)", [V], V * F(0.5)),
    Row("a def takes keywords", "x: f32[N]", "scaled(x, plus=1, by=2)", [V], V * 2 + 1),
    Row("a def returns several values", "x: f32[N, D]", "a, b = spread(x)\nreturn a, b", [X],
        lambda x: (x.min(1, keepdims=True), x.max(1, keepdims=True))),
    Row("a def uses several values", "x: f32[N, D]", "width(x)", [X], lambda x: np.ptp(x, 1, keepdims=True)),
    Row("defs stand in any order", "x: f32[N]", "forward(x)", [V], V * 2 + 1),
    Row("a def reads shapes", "x: f32[N]", "with_size(x)", [V], V * 3),
    Row("a parameter of a def hides an operation", "x: f32[N]", "hides(x)", [V], V + 1),
    Row("newlines inside brackets are free", "x: f32[N,\n D],\n y: f32[\nN, D\n]", "maximum(\n  x,\n\n  y # comment\n)",
        [X, -X], lambda x, y: np.maximum(x, y)),
    Row("a newline after = ends nothing", "x: f32[N]", "y =\n\n  x + 1\nreturn y", [V], V + 1),
    Row("a newline after a comma ends nothing", "x: f32[N]", "return x,\n   x + 1", [V], (V, V + 1)),
    Row("a newline before for ends nothing", "x: f32[N]", "y[i] = x[i] * 2\n  for i in N\nreturn y", [V], V * 2),
    Row("a newline after an iterator's comma", "x: f32[N, D]", "y[j, i] = x[i, j] for i in N,\n j in D\nreturn y",
        [X], X.T),
    Row("; ends a statement", "x: f32[N]", "; y = x + 1; z = y * 2;; return z;", [V], (V + 1) * 2),
    Row("_ is thrown away", "x: f32[N]", "_ = x + 1\n_ = x + 2\nreturn x", [V], V),
    Row("carriage returns", "x: f32[N]", "y = x + 1\r\n\treturn y\r\n", [V], V + 1),
    Row("trailing commas", "x: f32[N],", "maximum(x, 0,)", [V], V),
    Row("scalars by value", "x: f32[N], eps: f32", "x + eps", [V, 0.5], V + F(0.5)),
    Row("scalars have defaults", "x: f32[N], eps: f32 = 0.5, n: i32 = -2", "x * n + eps", [V], V.astype(float) * -2 + 0.5),
    Row("results are fresh", "x: f32[N]", "x", [V], V),
    Row("a view is a fresh C-contiguous result", "x: f32[N, D]", "x.T", [X], X.T),
    Row("a rank-0 result is a 0-d array", "x: f32[N]", "sum(x)", [V], np.array(7, F)),
    Row("a number is a result", "x: f32[N]", "1, 0.5, true, N", [V],
        (np.int64(1), np.float64(0.5), np.True_, np.int64(3))),
    Row("one array twice in the results", "x: f32[N]", "x, x", [V], (V, V)),
]  # fmt: skip

kernels, test_promise = rows_test(ROWS, PREAMBLE)


def test_results_share_no_memory_with_anything() -> None:
    module = tensorc.compile("kernel k(x: f32[N]) { return x, x, x[1:] }\n")
    found = module["k"](V)
    for array in found:
        assert not np.shares_memory(array, V)
    assert not np.shares_memory(found[0], found[1])


def test_the_docstring_is_the_block_right_above() -> None:
    text = """
## far away

## first line
##   second line
kernel a(x: f32[N]) { return x }
## elsewhere

kernel b(x: f32[N]) { ## inside
    return x ## behind
}
"""
    module = tensorc.compile(text)
    assert module["a"].__doc__ == "first line\n  second line"
    assert module["b"].__doc__ is None


def test_kernels_have_their_own_namespace() -> None:
    text = """
const relu = 3
def scale(x) = x * 2
kernel argmax(x: f32[N]) { return argmax(x) }
kernel scale(x: f32[N]) { return scale(x) }
kernel sum(x: f32[N]) { return sum(x) + max(x) }
"""
    assert [d.code for d in messages(text)] == ["TC0208"]
    module = tensorc.compile(text)
    assert module["argmax"](V) == 2
    assert module["sum"](V) == 11
    np.testing.assert_array_equal(module["scale"](V), V * 2)


RESERVED = "import const dims def kernel requires return for in and or not true false None iterate with"


@pytest.mark.parametrize("word", RESERVED.split())
def test_reserved_words_are_no_names(word: str) -> None:
    only_error(f"kernel k({word}: f32[N]) {{ return {word} }}", "TC0110", word)


@pytest.mark.parametrize("word", ["if", "while", "let", "fn", "var", "type", "size", "axis", "print", "T"])
def test_no_other_word_is_reserved(word: str) -> None:
    assert not errors(f"kernel k({word}: f32[N]) {{ return {word} + 1 }}")


HIDING = [
    ("a def", "def exp(x) = x\nkernel k(x: f32) { return exp(x) }"),
    ("a const", "const sum = 1\nkernel k(x: f32) { return x + sum }"),
    ("a parameter", "kernel k(sum: f32) { return sum }"),
    ("a local", "kernel k(x: f32) {\n sum = x + 1\n return sum\n}"),
    ("a parameter of a def", "def f(exp) = exp\nkernel k(x: f32) { return f(x) }"),
    ("a definition by index", "kernel k(x: f32[N]) {\n sum[i] = x[i] for i in N\n return sum\n}"),
    ("a dtype", "kernel k(x: f32) {\n f64 = x + 1\n return f64\n}"),
]


@pytest.mark.parametrize("text", [t for _, t in HIDING], ids=[n for n, _ in HIDING])
def test_hiding_an_operation_is_a_warning(text: str) -> None:
    assert [(d.code, d.severity.name) for d in messages(text)] == [("TC0208", "WARNING")]


REFUSED = [
    ("kernels do not call each other", "kernel a(x: f32) { return x }\nkernel b(x: f32) { return a(x) }",
     "TC0203", ["`a` is a kernel", "def"]),
    ("a def may not recurse", "def f(x) = f(x - 1)\nkernel k(x: f32) { return f(x) }", "TC0206", ["`f`"]),
    ("defs may not recurse in a circle", "def f(x) = g(x)\ndef g(x) = f(x)\nkernel k(x: f32) { return f(x) }",
     "TC0206", []),
    ("a name is assigned once", "kernel k(x: f32) {\n y = x\n y = x + 1\n return y\n}", "TC0202", ["`y`"]),
    ("a parameter is assigned already", "kernel k(x: f32) {\n x = x + 1\n return x\n}", "TC0202", ["`x`"]),
    ("an iteration defines once", "kernel k(x: f32[N]) {\n y[i] = x[i] for i in N\n y[i] = x[i] for i in N\n return y\n}",
     "TC0202", ["`y`"]),
    ("two defs", "def f(x) = x\ndef f(x) = x\nkernel k(x: f32) { return f(x) }", "TC0207", ["`f`"]),
    ("a written result is checked", "kernel k(x: f32[N]) -> f64[N] { return x }", "TC0305", ["f64", "f32"]),
    ("a written shape is checked", "kernel k(x: f32[N, 4]) -> f32[N, 3] { return x[:, :2] }", "TC0406", []),
    ("several results are named", "kernel k(x: f32) -> (f32, f32) { return x, x }", "TC0109", ["names"]),
    ("values for every name", "def f(x) { return x, x }\nkernel k(x: f32) {\n a, b, c = f(x)\n return a + b + c\n}",
     "TC0210", ["3 names", "2 values"]),
    ("parameters are not called out", "kernel k(out: f32) { return out }", "TC0207", ["`out`"]),
    ("parameters are not called threads", "kernel k(threads: f32) { return threads }", "TC0207", ["`threads`"]),
    ("parameters are not called copy", "kernel k(copy: f32) { return copy }", "TC0207", ["`copy`"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(text: str, code: str, words: list[str]) -> None:
    only_error(text, code, *words)


def test_a_second_assignment_points_at_the_first() -> None:
    found = only_error("kernel k(x: f32) {\n y = x\n y = x + 1\n return y\n}", "TC0202")
    assert found.span is not None and found.span.line == 3
    assert [s.span.line for s in found.secondary] == [2]


RESULT_NAMES = """
kernel named(x: f32) -> (class: f32, b: f32, _c: f32) { return x, x + 1, x + 2 }
kernel unnamed(x: f32) { return x, x + 1 }
"""


def test_names_of_results() -> None:
    module = tensorc.compile(RESULT_NAMES)
    found = module["named"](1)
    assert (found.class_, found.b, found[2]) == (1, 2, 3)
    found = module["unnamed"](1)
    assert (found.out0, found.out1) == (1, 2)
