"""What checked programs compute and which dtype they give, against NumPy on the same expression."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sema_checking import kernel, result_ops

from tensorc.interp.tensor_interp import interpret

RNG = np.random.default_rng(11)
ARRAYS: dict[str, Any] = {
    "b": np.array([[True, False, True], [False, False, True]]),
    "c": np.array([[False, False, True], [True, False, True]]),
    "i": np.array([[3, -7, 0], [2**31 - 1, 5, -1]], np.int32),
    "j": np.array([[2, 3, -4], [1, -2, 7]], np.int32),
    "l": np.array([[1 << 40, -3, 9], [0, 12, -(1 << 50)]], np.int64),
    "f": RNG.normal(size=(2, 3)).astype(np.float32),
    "g": np.array([[0.5, np.inf, -0.0], [np.nan, 2.0, -3.5]], np.float32),
    "d": RNG.normal(size=(2, 3)),
    "s": np.float32(1.5),
    "n": np.int32(4),
    "v": RNG.normal(size=3).astype(np.float32),
    "t": RNG.normal(size=(2, 3, 4)),
}
PARAMETERS = (
    "b: bool[N, M], c: bool[N, M], i: i32[N, M], j: i32[N, M], l: i64[N, M], f: f32[N, M], g: f32[N, M], "
    "d: f64[N, M], s: f32, n: i32, v: f32[M], t: f64[N, M, K]"
)


def evaluate(expression: str) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (found,) = interpret(kernel(PARAMETERS, expression), ARRAYS, mode="exact")
    return found


def agree(expression: str, expected: Any) -> None:
    """Same dtype, shape and (to f32 rounding) values."""
    found, expected = evaluate(expression), np.asarray(expected)
    dtype = kernel_dtype(expression)
    assert (dtype, found.shape) == (str(expected.dtype), expected.shape)
    if expected.dtype.kind == "f":
        near = {"float16": 1e-3, "float32": 2e-6}.get(dtype, 1e-12)
        np.testing.assert_allclose(found, expected, rtol=near)
    else:
        np.testing.assert_array_equal(found, expected)


def kernel_dtype(expression: str) -> str:
    return result_ops(kernel(PARAMETERS, expression))[0].dtype.numpy


SAME_TEXT = [
    # promotion: strong with strong, weak with strong
    "b + i", "b * f", "i + l", "i + f", "l * d", "f + d", "i / j", "l / i", "b / c", "f / i", "b + c",
    "b * c", "b + 1", "i + 2", "i * 0.5", "f * 2.5", "f + 1", "l * 0.1", "i - 2147483647", "1 / i", "2.5 - b",
    "s * f", "n + i", "n * f", "s + d", "i == 0.5", "i < j", "i > f", "-i", "-f", "+i", "~b", "~i",
    "i & j", "i | 3", "b ^ c", "b & i", "f ** 2", "i ** 2", "i ** 3", "f ** 2.0", "j ** 2.0", "d ** 1.5",
    # shapes
    "f + v", "t * d[:, :, None]", "v * f[0]", "f - v[None]", "s + v",
]  # fmt: skip


@pytest.mark.parametrize("expression", SAME_TEXT)
def test_operators_are_numpys(expression: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = eval(expression, {}, dict(ARRAYS))
    agree(expression, expected)


def a(name: str) -> Any:
    return ARRAYS[name]


CALLS: list[tuple[str, Callable[[], Any]]] = [
    ("abs(i)", lambda: np.abs(a("i"))),
    ("sqrt(i * i)", lambda: np.sqrt(a("i") * a("i"))),
    ("exp(b)", lambda: np.exp(a("b"))),
    ("exp(v)", lambda: np.exp(a("v"))),
    ("maximum(i, l)", lambda: np.maximum(a("i"), a("l"))),
    ("maximum(f, 0)", lambda: np.maximum(a("f"), 0)),
    ("clip(f, -0.5, 0.5)", lambda: np.clip(a("f"), np.float32(-0.5), np.float32(0.5))),
    ("clip(i, 0, 5)", lambda: np.clip(a("i"), 0, 5)),
    ("clip(f, min=0)", lambda: np.maximum(a("f"), 0)),
    ("where(b, i, l)", lambda: np.where(a("b"), a("i"), a("l"))),
    ("where(b, f, 0)", lambda: np.where(a("b"), a("f"), np.float32(0))),
    ("where(b, i, 0.5)", lambda: np.where(a("b"), a("i"), 0.5)),
    ("where(b, -inf, 0) + f", lambda: np.where(a("b"), np.float32(-np.inf), np.float32(0)) + a("f")),
    ("where(b, 1, 0)", lambda: np.where(a("b"), 1, 0)),
    ("b and c", lambda: a("b") & a("c")),
    ("b or not c", lambda: a("b") | ~a("c")),
    ("0 < i < 5", lambda: (a("i") > 0) & (a("i") < 5)),
    ("isnan(g)", lambda: np.isnan(a("g"))),
    ("isfinite(i)", lambda: np.isfinite(a("i"))),
    ("i32(g[0, 0])", lambda: np.int32(0)),
    ("f64(f)", lambda: a("f").astype(np.float64)),
    ("bool(g)", lambda: a("g") != 0),
    ("l.astype(i32)", lambda: a("l").astype(np.int32)),
    ("gelu(d)", lambda: np.vectorize(lambda x: 0.5 * x * (1 + __import__("math").erf(x / 2**0.5)))(a("d"))),
    ("silu(d)", lambda: a("d") / (1 + np.exp(-a("d")))),
    ("f @ v", lambda: a("f") @ a("v")),
    ("v @ f.T", lambda: a("v") @ a("f").T),
    ("v @ v", lambda: a("v") @ a("v")),
    ("f @ f.mT", lambda: a("f") @ a("f").T),
    ("t.mT @ t", lambda: np.swapaxes(a("t"), 1, 2) @ a("t")),
    ("d @ t", lambda: a("d") @ a("t")),
    ("v @ t", lambda: a("v") @ a("t")),
    ("t.mT @ v", lambda: np.swapaxes(a("t"), 1, 2) @ a("v")),
    ("i @ j.T", lambda: a("i") @ a("j").T),
    ("l @ j.T", lambda: a("l") @ a("j").T),
    ("permute_dims(t, (2, 0, 1))", lambda: a("t").transpose(2, 0, 1)),
    ("matrix_transpose(t)", lambda: np.swapaxes(a("t"), 1, 2)),
    ("expand_dims(f, axis=(0, -1))", lambda: np.expand_dims(a("f"), (0, -1))),
    ("squeeze(f[:, None], axis=1)", lambda: a("f")),
    ("broadcast_to(v, (2, M))", lambda: np.broadcast_to(a("v"), (2, 3))),
    ("broadcast_to(1, (2, 3))", lambda: np.broadcast_to(1, (2, 3))),
    ("arange(5)", lambda: np.arange(5)),
    ("arange(2, 11, 3)", lambda: np.arange(2, 11, 3)),
    ("arange(5, -4, -2)", lambda: np.arange(5, -4, -2)),
    ("arange(M, dtype=f32)", lambda: np.arange(3, dtype=np.float32)),
    ("v + arange(M)", lambda: a("v") + np.arange(3).astype(np.float32)),
    ("i + arange(M)", lambda: a("i") + np.arange(3, dtype=np.int32)),
    ("arange(M) * 0.5", lambda: np.arange(3) * 0.5),
    ("v * (arange(M) * 0.1)", lambda: a("v") * (np.arange(3) * 0.1).astype(np.float32)),
    ("zeros((N, 2))", lambda: np.zeros((2, 2))),
    ("ones(4, dtype=i32)", lambda: np.ones(4, np.int32)),
    ("v + zeros(M)", lambda: a("v")),
    ("full((2,), 7)", lambda: np.full((2,), 7)),
    ("full((2,), s)", lambda: np.full((2,), a("s"))),
    ("full_like(f, -inf)", lambda: np.full_like(a("f"), -np.inf)),
    ("zeros_like(i)", lambda: np.zeros_like(a("i"))),
    ("ones_like(b)", lambda: np.ones_like(a("b"))),
    ("sum(f) / N", lambda: a("f").sum() / np.float32(2)),
    ("f * (N - 1) + M", lambda: a("f") * 1 + 3),
    ("N * M", lambda: np.int64(6)),
    ("N / M", lambda: 2 / 3),
    ("f * (1 / N)", lambda: a("f") * np.float32(0.5)),
    ("3 % 2 + 7 // 2 + 2 ** 5", lambda: np.int64(36)),
    ("f + pi", lambda: a("f") + np.float32(np.pi)),
]


@pytest.mark.parametrize(("expression", "expected"), CALLS, ids=[c[0] for c in CALLS])
def test_operations_are_numpys(expression: str, expected: Callable[[], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = expected()
    agree(expression, wanted)


REDUCTIONS = [
    f"{kind}({operand}{axis})"
    for kind in ("sum", "prod", "max", "min", "mean", "var", "std", "any", "all")
    for operand in ("f", "i", "b", "d")
    for axis in ("", ", axis=1", ", axis=-2, keepdims=true", ", axis=(0, 1)", ", axis=()")
    if not (operand == "i" and kind == "prod")
] + [
    f"{kind}({operand}{axis})"
    for kind in ("argmax", "argmin")
    for operand in ("f", "i", "b")
    for axis in ("", ", axis=1", ", axis=0, keepdims=true", ", keepdims=true")
]  # fmt: skip


@pytest.mark.parametrize("expression", REDUCTIONS)
def test_reductions_are_numpys(expression: str) -> None:
    text = expression.replace("true", "True")
    names = {name: getattr(np, name) for name in ("sum", "prod", "max", "min", "mean", "var", "std")}
    names |= {name: getattr(np, name) for name in ("any", "all", "argmax", "argmin")}
    expected = np.asarray(eval(text, names, dict(ARRAYS)))
    agree(expression, expected)


MORE_REDUCTIONS: list[tuple[str, Callable[[], Any]]] = [
    ("f.sum(axis=1)", lambda: a("f").sum(axis=1)),
    ("sum(i, dtype=i32)", lambda: a("i").sum(dtype=np.int32)),
    ("sum(i, dtype=f32)", lambda: a("i").sum(dtype=np.float32)),
    ("sum(f, dtype=f64)", lambda: a("f").sum(dtype=np.float64)),
    ("mean(i, dtype=f32)", lambda: a("i").mean(dtype=np.float32)),
    ("var(f, axis=1, correction=1)", lambda: a("f").var(axis=1, ddof=1)),
    ("std(d, correction=0.5)", lambda: a("d").std(ddof=0.5)),
    ("var(d, axis=(0, 1), correction=1)", lambda: a("d").var(ddof=1)),
    ("count_nonzero(i, axis=1)", lambda: np.count_nonzero(a("i"), axis=1)),
    ("any(g, axis=1)", lambda: a("g").any(axis=1)),
    ("sum(t, axis=(0, 2))", lambda: a("t").sum(axis=(0, 2))),
    ("max(t, axis=(1, -1), keepdims=true)", lambda: a("t").max(axis=(1, 2), keepdims=True)),
    ("sum(permute_dims(t, (2, 0, 1)), axis=1)", lambda: a("t").transpose(2, 0, 1).sum(axis=1)),
    ("argmax(f.T, axis=0)", lambda: a("f").T.argmax(axis=0)),
    ("argmax(f.T)", lambda: a("f").T.argmax()),
    ("max(s)", lambda: a("s")),
    ("argmax(s)", lambda: np.int64(0)),
    ("var(s)", lambda: np.float32(0)),
    ("mean(n)", lambda: np.float64(4)),
    ("sum(n)", lambda: np.int64(4)),
    ("sum(3)", lambda: np.int64(3)),
]


@pytest.mark.parametrize(("expression", "expected"), MORE_REDUCTIONS, ids=[c[0] for c in MORE_REDUCTIONS])
def test_other_reductions_are_numpys(expression: str, expected: Callable[[], Any]) -> None:
    agree(expression, expected())


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_moments_of_nothing_are_nan(dtype: str) -> None:
    program = kernel(f"x: {dtype}[N]", "mean(x), var(x), std(x), sum(x), prod(x), any(x), all(x)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = interpret(program, {"x": np.zeros(0, {"f32": np.float32, "f64": np.float64}[dtype])})
    assert all(np.isnan(v) for v in found[:3])
    assert [float(v) for v in found[3:]] == [0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("kind", ["max", "min", "argmax", "argmin"])
def test_extremes_of_nothing_are_refused_as_numpy_does(kind: str) -> None:
    program = kernel("x: f64[N, D]", f"{kind}(x, axis=1)")
    for shape in ((3, 0), (0, 0), (0, 3), (2, 2)):
        x = np.zeros(shape)
        try:
            expected = getattr(np, kind)(x, axis=1)
        except ValueError:
            with pytest.raises(ValueError, match=f"{kind} needs a non-empty operand"):
                interpret(program, {"x": x})
        else:
            np.testing.assert_array_equal(interpret(program, {"x": x})[0], expected)
