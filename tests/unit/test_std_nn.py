"""std/nn.tdsl, compiled and interpreted, against formulas in f64."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sema_checking import program_of

import tensorc
from tensorc.interp.tensor_interp import interpret
from tensorc.syntax.imports import STANDARD

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 5)) * 3
Y = RNG.normal(size=(3, 5))
W = RNG.normal(size=5)
P = np.abs(Y) / np.abs(Y).sum(axis=-1, keepdims=True)
Q, K, V = (RNG.normal(size=s) for s in ((2, 3, 4), (2, 3, 4), (2, 3, 5)))
ARRAYS = {"x": X, "y": Y, "w": W, "p": P, "q": Q, "k": K, "v": V}
PARAMETERS = (
    "x: {t}[N, D], y: {t}[N, D], w: {t}[D], p: {t}[N, D], q: {t}[B, S, H], k: {t}[B, S, H], v: {t}[B, S, E]"
)


def softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def centred(x: Any, axis: Any = -1) -> Any:
    return x - x.mean(axis=axis, keepdims=True)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def bce(x: Any, t: Any) -> Any:
    return -(t * np.log(sigmoid(x)) + (1 - t) * np.log(sigmoid(-x))).mean()


def gelu(x: Any) -> Any:
    from math import erf

    return 0.5 * x * (1 + np.vectorize(erf)(x / 2**0.5))


SCORES = Q @ np.swapaxes(K, 1, 2) / 2
ERROR = np.abs(X - Y)

CASES: dict[str, Callable[[], Any]] = {
    "softmax(x)": lambda: softmax(X),
    "softmax(x, axis=0)": lambda: softmax(X, 0),
    "log_softmax(x)": lambda: np.log(softmax(X)),
    "layernorm(x)": lambda: centred(X) / np.sqrt(X.var(axis=-1, keepdims=True) + 1e-5),
    "layernorm(x, w, w, eps=1e-3)": lambda: (
        centred(X) / np.sqrt(X.var(axis=-1, keepdims=True) + 1e-3) * W + W
    ),
    "layernorm(x, axis=(0, 1))": lambda: centred(X, (0, 1)) / np.sqrt(X.var() + 1e-5),
    "rmsnorm(x, w)": lambda: X / np.sqrt((X * X).mean(axis=-1, keepdims=True) + 1e-6) * W,
    "standardize(x, axis=0, correction=1)": lambda: centred(X, 0) / X.std(axis=0, ddof=1),
    "l2_normalize(x)": lambda: X / np.sqrt((X * X).sum(axis=-1, keepdims=True)),
    "gelu_tanh(x)": lambda: 0.5 * X * (1 + np.tanh((2 / np.pi) ** 0.5 * (X + 0.044715 * X**3))),
    "quick_gelu(x)": lambda: X * sigmoid(1.702 * X),
    "leaky_relu(x)": lambda: np.where(X > 0, X, 0.01 * X),
    "elu(x, alpha=2)": lambda: np.where(X > 0, X, 2 * (np.exp(X) - 1)),
    "selu(x)": lambda: 1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * (np.exp(X) - 1)),
    "hard_sigmoid(x)": lambda: np.clip(X / 6 + 0.5, 0, 1),
    "hard_swish(x)": lambda: X * np.clip(X / 6 + 0.5, 0, 1),
    "hard_tanh(x)": lambda: np.clip(X, -1, 1),
    "softsign(x)": lambda: X / (1 + abs(X)),
    "log_sigmoid(x)": lambda: np.log(sigmoid(X)),
    "mish(x)": lambda: X * np.tanh(np.logaddexp(0, X)),
    "tanh_shrink(x)": lambda: X - np.tanh(X),
    "swiglu(x, y)": lambda: X * sigmoid(X) * Y,
    "geglu(x, y)": lambda: gelu(X) * Y,
    "attention(q, k, v)": lambda: softmax(SCORES) @ V,
    "causal_attention(q, k, v)": lambda: softmax(np.where(np.tri(3) > 0, SCORES, -np.inf)) @ V,
    "mse(x, y)": lambda: ((X - Y) ** 2).mean(),
    "rmse(x, y)": lambda: ((X - Y) ** 2).mean() ** 0.5,
    "mae(x, y)": lambda: ERROR.mean(),
    "huber(x, y, delta=0.5)": lambda: np.where(ERROR <= 0.5, 0.5 * ERROR**2, 0.5 * (ERROR - 0.25)).mean(),
    "binary_cross_entropy(x, p)": lambda: bce(X, P),
    "cross_entropy(x, p)": lambda: -(P * np.log(softmax(X))).sum(axis=-1).mean(),
    "kl_divergence(log_softmax(x), log_softmax(y))": lambda: (
        (softmax(X) * (np.log(softmax(X)) - np.log(softmax(Y)))).sum(axis=-1).mean()
    ),
    "cosine_similarity(x, y)": lambda: (
        (X * Y).sum(axis=-1) / np.sqrt((X * X).sum(axis=-1) * (Y * Y).sum(axis=-1))
    ),
}


def text(dtype: str, expressions: list[str]) -> str:
    heads = PARAMETERS.format(t=dtype)
    kernels = (f"kernel k{n}({heads}) {{ return {e} }}\n" for n, e in enumerate(expressions))
    return 'import "std/nn.tdsl"\n' + "".join(kernels)


def test_every_definition_is_tested() -> None:
    defined = set(re.findall(r"^def (\w+)", (STANDARD / "nn.tdsl").read_text(), re.MULTILINE))
    called = {name for e in CASES for name in re.findall(r"(\w+)\(", e)}
    assert defined - called == set()


@pytest.mark.parametrize("expression", CASES)
def test_formula(expression: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = interpret(program_of(text("f64", [expression])), ARRAYS)
    np.testing.assert_allclose(found, CASES[expression](), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("dtype", "tolerance"), [("f32", 2e-5), ("f64", 1e-12)])
def test_compiled(dtype: str, tolerance: float, tmp_path: Path) -> None:
    module = tensorc.compile(text(dtype, list(CASES)), cache_dir=tmp_path)
    arrays = {n: a.astype({"f32": np.float32, "f64": np.float64}[dtype]) for n, a in ARRAYS.items()}
    for kernel, (expression, expected) in zip(module, CASES.items(), strict=True):
        found = module[kernel](**arrays)
        assert found.dtype == arrays["x"].dtype, expression
        np.testing.assert_allclose(found, expected(), rtol=tolerance, atol=tolerance, err_msg=expression)


def test_extremes() -> None:
    names = ["softmax", "log_softmax", "gelu_tanh", "log_sigmoid", "elu", "softsign"]
    module = tensorc.compile(
        'import "std/nn.tdsl"\n' + "".join(f"kernel {n}(x: f32[N]) {{ return {n}(x) }}\n" for n in names)
    )
    x = np.array([-3e38, -1000, -0.0, 1000], np.float32)
    np.testing.assert_array_equal(module["softmax"](x), [0, 0, 0, 1])
    np.testing.assert_array_equal(module["log_softmax"](x), np.float32([-3e38, -2000, -1000, 0]))
    np.testing.assert_array_equal(module["gelu_tanh"](x), [-0.0, -0.0, 0, 1000])
    np.testing.assert_array_equal(module["log_sigmoid"](x), np.float32([-3e38, -1000, -np.log(2), 0]))
    np.testing.assert_array_equal(module["elu"](x), [-1, -1, 0, 1000])
    np.testing.assert_array_equal(module["softsign"](x), np.float32([-1, -1000 / 1001, 0, 1000 / 1001]))
