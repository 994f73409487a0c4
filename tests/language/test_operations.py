"""Section 3 of the language: every operator and operation, in every written form, against NumPy."""
# ruff: noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from promises import Row, errors, rows_test

from tensorc.sema.operations import OPERATIONS

F = np.float32
RNG = np.random.default_rng(3)
X = RNG.normal(size=(3, 4)).astype(F)
Y = RNG.normal(size=(3, 4)).astype(F)
T = RNG.normal(size=(2, 3, 4))
V = np.array([1.5, -2.0, 0.25, 3.0], F)
I = RNG.integers(-9, 9, size=(3, 4)).astype(np.int32)  # noqa: E741
J = RNG.integers(1, 9, size=(3, 4)).astype(np.int32)
B = X > 0
C = Y > 0
Z = RNG.normal(size=(1, 3, 1)).astype(F)
E = np.zeros((0, 4), F)
S = F(1.5)

PARAMETERS = {
    "x": ("f32[N, D]", X), "y": ("f32[N, D]", Y), "t": ("f64[K, N, D]", T), "v": ("f32[D]", V), "i": ("i32[N, D]", I),
    "j": ("i32[N, D]", J), "b": ("bool[N, D]", B), "c": ("bool[N, D]", C), "z": ("f32[1, N, 1]", Z), "e": ("f32[M, D]", E),
    "s": ("f32", S),
}  # fmt: skip


def row(expression: str, expected: Callable[..., object], names: str, ulp: int = 0) -> Row:
    used = names.split()
    parameters = ", ".join(f"{n}: {PARAMETERS[n][0]}" for n in used)
    return Row(expression, parameters, expression, [PARAMETERS[n][1] for n in used], expected, ulp)


def scalar(function: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.vectorize(function, otypes=[float])(np.asarray(x, float)).astype(np.asarray(x).dtype)


OPERATORS = [
    row("x + y, x - y, x * y, x / y", lambda x, y: (x + y, x - y, x * y, x / y), "x y"),
    row("i // j, i % j, i // -j, i % -j", lambda i, j: (i // j, i % j, i // -j, i % -j), "i j"),
    row("x // y, x % y", lambda x, y: (x // y, x % y), "x y"),
    row("i ** 3, i ** 0, x ** 2, abs(x) ** 0.5", lambda i, x: (i**3, i**0, x * x, np.sqrt(abs(x))), "i x", 1),
    row("-x, +x, -i, --i, -x ** 2", lambda x, i: (-x, x, -i, i, -(x * x)), "x i"),
    row("2 ** 3 ** 2, (2 ** 3) ** 2, -2 ** 2", lambda: (np.int64(512), np.int64(64), np.int64(-4)), ""),
    row("x == y, x != y, x < y, x <= y, x > y, x >= y", lambda x, y: (x == y, x != y, x < y, x <= y, x > y, x >= y), "x y"),
    row("0 < x < 1, 0 < x <= y != 1", lambda x, y: ((x > 0) & (x < 1), (x > 0) & (x <= y) & (y != 1)), "x y"),
    row("b and c, b or c, not b, not b and c or b", lambda b, c: (b & c, b | c, ~b, (~b & c) | b), "b c"),
    row("b & c, b | c, b ^ c, ~b, b == c, b < c", lambda b, c: (b & c, b | c, b ^ c, ~b, b == c, b < c), "b c"),
    row("i & j, i | j, i ^ j, ~i, i << 2, i >> 1, i & 3 | 4 ^ 1", lambda i, j: (i & j, i | j, i ^ j, ~i, i << 2, i >> 1, i & 3 | 4 ^ 1), "i j"),
    row("i + j << 1 & 7, (i & 1) == 1", lambda i, j: (((i + j) << 1) & 7, (i & 1) == 1), "i j"),
    row("x @ y.T, x.T @ x, v @ v, x @ v, v @ x.T, matmul(x, y.T)", lambda x, y, v: (x @ y.T, x.T @ x, v @ v, x @ v, v @ x.T, x @ y.T), "x y v", 8),
    row("t @ t.mT, t.mT @ t, f64(x) @ t.mT", lambda t, x: (t @ t.swapaxes(1, 2), t.swapaxes(1, 2) @ t, x.astype(float) @ t.swapaxes(1, 2)), "t x", 64),
    row("i @ j.T", lambda i, j: i @ j.T, "i j"),
]  # fmt: skip

ELEMENTWISE = [
    row("abs(x), sign(x), negative(x), square(x), sqrt(abs(x)), reciprocal(x)", lambda x: (abs(x), np.sign(x), -x, x * x, np.sqrt(abs(x)), 1 / x), "x"),
    row("rsqrt(square(x)), cbrt(x)", lambda x: ((1 / np.sqrt((x * x).astype(float))).astype(F), np.cbrt(x.astype(float)).astype(F)), "x", 2),
    *(
        row(f"{name}(x), {name}(f64(x))", lambda x, f=numpy: (getattr(np, f)(x.astype(float)).astype(F), getattr(np, f)(x.astype(float))), "x", 2)
        for name, numpy in (("exp", "exp"), ("exp2", "exp2"), ("expm1", "expm1"), ("sin", "sin"), ("cos", "cos"), ("tan", "tan"), ("atan", "arctan"),
                            ("sinh", "sinh"), ("cosh", "cosh"), ("tanh", "tanh"), ("asinh", "arcsinh"))
    ),
    *(
        row(f"{name}(abs(x))", lambda x, f=name: getattr(np, f)(abs(x).astype(float)).astype(F), "x", 1)
        for name in ("log", "log2", "log10", "log1p")
    ),
    row("asin(clip(x, -1, 1)), acos(clip(x, -1, 1)), atanh(clip(x, -0.9, 0.9)), acosh(1 + abs(x))",
        lambda x: (np.arcsin(np.clip(x, -1, 1).astype(float)).astype(F), np.arccos(np.clip(x, -1, 1).astype(float)).astype(F),
                   np.arctanh(np.clip(x, F(-0.9), F(0.9)).astype(float)).astype(F), np.arccosh((1 + abs(x)).astype(float)).astype(F)), "x", 1),
    row("erf(x), erfc(x)", lambda x: (scalar(math.erf)(x), scalar(math.erfc)(x)), "x", 1),
    row("sigmoid(x), silu(x)", lambda x: (scalar(lambda v: 1 / (1 + math.exp(-v)))(x), scalar(lambda v: v / (1 + math.exp(-v)))(x)), "x", 2),
    row("relu(x), relu(i)", lambda x, i: (np.maximum(x, 0), np.maximum(i, 0)), "x i"),
    row("gelu(x)", scalar(lambda v: 0.5 * v * math.erfc(-v / math.sqrt(2))), "x", 2),
    row("softplus(x)", scalar(lambda v: math.log1p(math.exp(-abs(v))) + max(v, 0)), "x", 2),
    row("floor(x), ceil(x), trunc(x), round(x)", lambda x: (np.floor(x), np.ceil(x), np.trunc(x), np.round(x)), "x"),
    row("round(x * 2 / 2), round(i / 2)", lambda x, i: (np.round(x * 2 / 2), np.round(i / 2)), "x i"),
    row("maximum(x, y), minimum(x, y), maximum(x1=x, x2=0), minimum(i, 3)", lambda x, y, i: (np.maximum(x, y), np.minimum(x, y), np.maximum(x, 0), np.minimum(i, 3)), "x y i"),
    row("atan2(x, y), hypot(x, y)", lambda x, y: (np.arctan2(x.astype(float), y).astype(F), np.hypot(x.astype(float), y).astype(F)), "x y", 1),
    row("logaddexp(x, y)", lambda x, y: np.logaddexp(x.astype(float), y).astype(F), "x y", 2),
    row("fma(f64(x), f64(y), 1)", lambda x, y: np.vectorize(lambda a, b: float(np.longdouble(a) * b + 1))(x.astype(float), y.astype(float)), "x y"),
    row("copysign(x, y), copysign(1, x)", lambda x, y: (np.copysign(x, y), np.copysign(F(1), x)), "x y"),
    row("isnan(x / 0 * 0), isinf(x / 0), isfinite(x), isnan(i)", lambda x, i: (np.isnan(x / 0 * 0), np.isinf(x / 0), np.isfinite(x), np.isnan(i)), "x i"),
    row("where(b, x, y), where(b, x, 0), where(b, 1, y), where(x > 0, i, j)", lambda b, x, y, i, j: (np.where(b, x, y), np.where(b, x, F(0)), np.where(b, F(1), y), np.where(x > 0, i, j)), "b x y i j"),
    row("where(true, x, y), where(condition=b, x1=x, x2=y)", lambda x, y, b: (x, np.where(b, x, y)), "x y b"),
    row("clip(x, -0.5, 0.5), clip(x, 0), clip(x, None, 1), clip(x, max=1), clip(x, min=0, max=1), clip(x), clip(x, v, y)",
        lambda x, v, y: (np.clip(x, F(-0.5), F(0.5)), np.maximum(x, 0), np.minimum(x, 1), np.minimum(x, 1), np.clip(x, 0, 1), x, np.clip(x, v, y)), "x v y"),
    row("x.exp().log(), x.abs().sqrt(), x.clip(0, 1), x.maximum(y), x.astype(f64)",
        lambda x, y: (np.log(np.exp(x)), np.sqrt(abs(x)), np.clip(x, 0, 1), np.maximum(x, y), x.astype(float)), "x y", 2**20),
    row("x + v, x * v[0], s * x, x + x[:, 0][:, None], x + z[0]", lambda x, v, s, z: (x + v, x * v[0], s * x, x + x[:, 0][:, None], x + z[0]), "x v s z"),
]  # fmt: skip

REDUCTIONS = [
    row(f"{f}(x), {f}(x, axis=0), {f}(x, axis=-1, keepdims=true), {f}(x, axis=(0, 1)), {f}(x, axis=None), x.{f}(axis=1), {f}(i, axis=1), {f}(x=x, axis=(1, 0), keepdims=true)",
        lambda x, i, f=f: (getattr(x, f)(), getattr(x, f)(axis=0), getattr(x, f)(axis=-1, keepdims=True), getattr(x, f)(), getattr(x, f)(), getattr(x, f)(axis=1),
                           getattr(np, f)(i, axis=1), getattr(np, f)(x, axis=(0, 1), keepdims=True)), "x i", 16)
    for f in ("sum", "prod", "max", "min", "mean", "var", "std")
] + [
    row("any(b), all(b, axis=0), any(x, axis=1), all(i), any(b, axis=(0, 1), keepdims=true)", lambda b, x, i: (b.any(), b.all(0), x.any(1), i.all(), b.any(keepdims=True)), "b x i"),
    row("argmax(x), argmin(x), argmax(x, axis=0), argmin(x, axis=-1, keepdims=true), argmax(b, axis=1), argmax(x, axis=None, keepdims=true)",
        lambda x, b: (x.argmax(), x.argmin(), x.argmax(0), x.argmin(-1, keepdims=True), b.argmax(1), x.argmax(keepdims=True)), "x b"),
    row("count_nonzero(i), count_nonzero(b, axis=0), count_nonzero(x, axis=1, keepdims=true)", lambda i, b, x: (np.int64(np.count_nonzero(i)), np.count_nonzero(b, axis=0), np.count_nonzero(x, axis=1, keepdims=True)), "i b x"),
    row("logsumexp(x), logsumexp(x, axis=1), logsumexp(x, axis=(0, 1), keepdims=true)",
        lambda x: (np.log(np.exp(x.astype(float)).sum()).astype(F), np.log(np.exp(x.astype(float)).sum(1)).astype(F), np.log(np.exp(x.astype(float)).sum(keepdims=True)).astype(F)), "x", 2),
    row("var(x, correction=1), std(x, axis=0, correction=1), var(x, axis=1, correction=0.5), var(x, correction=1.0)",
        lambda x: (x.var(ddof=1), x.std(0, ddof=1), x.var(1, ddof=0.5), x.var(ddof=1)), "x", 4),
    row("sum(t, axis=(0, 2)), max(t, axis=(-1, 0)), mean(t, axis=1), sum(x, axis=())", lambda t, x: (t.sum((0, 2)), t.max((2, 0)), t.mean(1), x), "t x", 8),
    row("sum(i, dtype=i32), sum(i, dtype=f32), prod(b, dtype=f32), mean(i, dtype=f32), sum(x, dtype=f64), mean(x, dtype=f64)",
        lambda i, b, x: (i.sum(dtype=np.int32), i.sum(dtype=F), b.prod(dtype=F), i.mean(dtype=F), x.sum(dtype=float), x.mean(dtype=float)), "i b x", 2),
    row("sum(s), max(s), argmax(s), mean(s), var(s), all(s), count_nonzero(s), logsumexp(s)", lambda s: (s, s, np.int64(0), s, F(0), np.True_, np.int64(1), s), "s"),
    row("sum(e, axis=0), prod(e, axis=0), any(e, axis=0), all(e, axis=0), max(e, axis=1), count_nonzero(e), logsumexp(e, axis=0)",
        lambda e: (np.zeros(4, F), np.ones(4, F), np.zeros(4, bool), np.ones(4, bool), np.zeros(0, F), np.int64(0), np.full(4, -np.inf, F)), "e"),
    row("mean(e, axis=0), var(e, axis=0), std(e), mean(e, axis=1)", lambda e: (np.full(4, np.nan, F), np.full(4, np.nan, F), F(np.nan), np.zeros(0, F)), "e"),
]  # fmt: skip

LAYOUT = [
    row("permute_dims(t, (2, 0, 1)), permute_dims(t, axes=(-1, 0, -2)), t.permute_dims((0, 2, 1))", lambda t: (t.transpose(2, 0, 1), t.transpose(2, 0, 1), t.swapaxes(1, 2)), "t"),
    row("matrix_transpose(t), t.mT, x.mT, x.T, x.T.T", lambda t, x: (t.swapaxes(1, 2), t.swapaxes(1, 2), x.T, x.T, x), "t x"),
    row("expand_dims(x, axis=0), expand_dims(x, 1), expand_dims(x, axis=-1), expand_dims(x, axis=(0, 2)), expand_dims(x, axis=(-1, 0)), expand_dims(x, axis=(-2, -4)), expand_dims(s, axis=0), expand_dims(x, axis=())",
        lambda x, s: (x[None], x[:, None], x[..., None], np.expand_dims(x, (0, 2)), np.expand_dims(x, (-1, 0)), np.expand_dims(x, (-2, -4)), np.array([s]), x), "x s"),
    row("squeeze(z, axis=0), squeeze(z, 2), squeeze(z, axis=(0, -1)), squeeze(z, axis=(-3,)), z.squeeze(axis=-1)", lambda z: (z[0], z[:, :, 0], z[0, :, 0], z[0], z[:, :, 0]), "z"),
    row("reshape(x, (N * D,)), reshape(x, N * D), reshape(x, (D, N)), x.reshape((1, N, 2, D // 2)), reshape(x.T, (N, D)), reshape(s, (1, 1))",
        lambda x, s: (x.ravel(), x.ravel(), x.reshape(4, 3), x.reshape(1, 3, 2, 2), x.T.reshape(3, 4), s.reshape(1, 1)), "x s"),
    row("broadcast_to(v, (N, D)), broadcast_to(s, (2, 2)), broadcast_to(z, (2, N, 5)), broadcast_to(v, x.shape)", lambda v, s, z, x: (np.broadcast_to(v, (3, 4)), np.full((2, 2), s), np.broadcast_to(z, (2, 3, 5)), np.broadcast_to(v, (3, 4))), "v s z x"),
    row("concat((x, y), axis=0), concat((x, y), axis=-1), concat((v, v, v)), stack((x, y)), stack((x, y), axis=-1), concat((x, f64(y)), axis=1)",
        lambda x, y, v: (np.concat((x, y)), np.concat((x, y), 1), np.concat((v, v, v)), np.stack((x, y)), np.stack((x, y), -1), np.concat((x, y.astype(float)), 1)), "x y v"),
    row("flip(x), flip(x, axis=0), flip(x, axis=-1), flip(t, axis=(0, -1)), x.flip(axis=1)", lambda x, t: (x[::-1, ::-1], x[::-1], x[:, ::-1], t[::-1, :, ::-1], x[:, ::-1]), "x t"),
    row("roll(x, 1), roll(x, 2, axis=0), roll(x, -1, axis=1), roll(x, (1, 2), axis=(0, 1)), repeat(x, 2), repeat(x, 2, axis=0), tile(x, (2, 1)), tile(v, 3)",
        lambda x, v: (np.roll(x, 1), np.roll(x, 2, 0), np.roll(x, -1, 1), np.roll(x, (1, 2), (0, 1)), np.repeat(x, 2), np.repeat(x, 2, 0), np.tile(x, (2, 1)), np.tile(v, 3)), "x v"),
    row('pad(x, ((1, 1), (0, 0))), pad(x, ((0, 0), (2, 1)), mode="constant", value=7), pad(x, ((1, 1), (1, 1)), mode="edge"), pad(x, ((1, 2), (0, 1)), mode="reflect"), pad(v, ((1, 2),), mode="wrap")',
        lambda x, v: (np.pad(x, ((1, 1), (0, 0))), np.pad(x, ((0, 0), (2, 1)), constant_values=7), np.pad(x, 1, mode="edge"), np.pad(x, ((1, 2), (0, 1)), mode="reflect"), np.pad(v, (1, 2), mode="wrap")), "x v"),
    row("tril(x), triu(x), tril(x, k=1), triu(x, k=-1), tril(t, k=-1)", lambda x, t: (np.tril(x), np.triu(x), np.tril(x, 1), np.triu(x, -1), np.tril(t, -1)), "x t"),
    row("diagonal(x), diagonal(x, offset=1), diagonal(x, offset=-1), diagonal(t)", lambda x, t: (x.diagonal(), x.diagonal(1), x.diagonal(-1), t.diagonal(axis1=1, axis2=2)), "x t"),
    row("x[1:-1, ::2], x[:, None], x[..., 0], x[0], x[-1], x[0, 1], x[None, ..., None], t[:, 1:, ::-1], x[::-2, 3:0:-1], t[..., 1:2], x[-2:], s[...], x[0][1]",
        lambda x, t, s: (x[1:-1, ::2], x[:, None], x[..., 0], x[0], x[-1], x[0, 1], x[None, ..., None], t[:, 1:, ::-1], x[::-2, 3:0:-1], t[..., 1:2], x[-2:], s, x[0, 1]), "x t s"),
    row("x.shape[0] * 2, x.shape[-1], zeros(x.shape)", lambda x: (np.int64(6), np.int64(4), np.zeros((3, 4))), "x"),
]  # fmt: skip

CREATION = [
    row("arange(5), arange(2, 7), arange(2, 11, 3), arange(9, 0, -2), arange(5, 2), arange(3, dtype=f32), arange(start=1, stop=4), arange(0)",
        lambda: (np.arange(5), np.arange(2, 7), np.arange(2, 11, 3), np.arange(9, 0, -2), np.arange(5, 2), np.arange(3, dtype=F), np.arange(1, 4), np.arange(0)), ""),
    row("full((2, 3), 7), full(3, s), full((), 2.5), full((2,), true), full((2,), 1, dtype=f32), zeros(()), zeros((2, 0)), ones((2,), dtype=bool), zeros(2, dtype=i32)",
        lambda s: (np.full((2, 3), 7), np.full(3, s), np.float64(2.5), np.full(2, True), np.ones(2, F), np.float64(0), np.zeros((2, 0)), np.ones(2, bool), np.zeros(2, np.int32)), "s"),
    row("full_like(x, 2), zeros_like(i), ones_like(b), zeros_like(x, dtype=f64), full_like(x, s), ones_like(x=x)", lambda x, i, b, s: (np.full_like(x, 2), np.zeros_like(i), np.ones_like(b), np.zeros((3, 4)), np.full_like(x, s), np.ones_like(x)), "x i b s"),
    row("eye(3), eye(2, 3), eye(3, k=1), eye(2, 4, k=-1, dtype=i32), eye(3, n_cols=2)", lambda: (np.eye(3), np.eye(2, 3), np.eye(3, k=1), np.eye(2, 4, k=-1, dtype=np.int32), np.eye(3, 2)), ""),
    row("x * pi, x * e_, x + inf, x * nan, pi, e, -inf", lambda x: (x * F(np.pi), x * F(np.e), x + F(np.inf), x * F(np.nan), np.pi, np.e, -np.inf), "x"),
]  # fmt: skip

PRODUCTS = [
    row("tensordot(x, y), tensordot(x, y.T, axes=1), tensordot(x, y, axes=((0,), (0,))), tensordot(t, y, axes=((1, 2), (0, 1))), tensordot(v, v, axes=0)",
        lambda x, y, t, v: (np.tensordot(x.astype(float), y).astype(F), x @ y.T, np.tensordot(x, y, ((0,), (0,))), np.tensordot(t, y, ((1, 2), (0, 1))), np.multiply.outer(v, v)), "x y t v", 64),
    row("vecdot(x, y), vecdot(x, v), vecdot(x, y, axis=-1), vecdot(x, y, axis=-2), outer(v, x[0])",
        lambda x, y, v: (np.vecdot(x, y), np.vecdot(x, v), np.vecdot(x, y), np.vecdot(x.T, y.T), np.outer(v, x[0])), "x y v", 16),
    row('einsum("ij,kj->ik", x, y), einsum("ij->ji", x), einsum("ij->", x), einsum("ij,ij->i", x, y), einsum("i,j->ij", v, v), einsum("bij,bkj->bik", t, t), einsum("ij,j", x, v), einsum("...j,j->...", t, f64(v))',
        lambda x, y, v, t: (x @ y.T, x.T, x.sum(), (x * y).sum(1), np.outer(v, v), t @ t.swapaxes(1, 2), x @ v, t @ v.astype(float)), "x y v t", 64),
    row('einsum("ij,jk,k->i", x, y.T, y[:, 0])',
        lambda x, y: (x @ y.T) @ y[:, 0], "x y", 64),
]  # fmt: skip

ROWS = [*OPERATORS, *ELEMENTWISE, *REDUCTIONS, *LAYOUT, *CREATION, *PRODUCTS]
kernels, test_promise = rows_test(ROWS, "const e_ = e\n")

NAMES = """
abs sign negative square sqrt rsqrt cbrt reciprocal exp exp2 expm1 log log2 log10 log1p logaddexp sin cos tan asin acos atan atan2
sinh cosh tanh asinh acosh atanh erf erfc sigmoid silu relu gelu softplus floor ceil trunc round maximum minimum clip hypot fma
copysign isnan isinf isfinite where astype sum prod max min mean var std all any argmax argmin count_nonzero logsumexp
permute_dims matrix_transpose expand_dims squeeze reshape broadcast_to concat stack flip roll repeat tile pad tril triu diagonal
arange full zeros ones full_like zeros_like ones_like eye matmul tensordot vecdot outer einsum
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_every_operation_has_a_row(name: str) -> None:
    assert name in OPERATIONS
    assert name == "astype" or any(f"{name}(" in r.promise for r in ROWS)


REFUSED = [
    ("axis= out of range", "sum(x, axis=2)", "TC0403"), ("an axis twice", "sum(x, axis=(0, -2))", "TC0411"),
    ("two axes of argmax", "argmax(x, axis=(0, 1))", "TC0403"), ("a size that is not 1", "squeeze(x, axis=0)", "TC0406"),
    ("too few axes", "permute_dims(x, (0,))", "TC0405"), ("an axis of permute_dims twice", "permute_dims(x, (0, 0))", "TC0411"),
    ("expand_dims out of range", "expand_dims(x, axis=3)", "TC0403"), ("expand_dims twice", "expand_dims(x, axis=(0, -4))", "TC0411"),
    ("flip out of range", "flip(x, axis=2)", "TC0403"), (".T of rank 3", "x[None].T", "TC0405"), (".mT of rank 1", "x[0].mT", "TC0405"),
    ("elements that do not fit", "reshape(zeros((2, 3)), (4, 2))", "TC0409"), ("a broadcast that is none", "broadcast_to(x, (2, D))", "TC0409"),
    ("inner sizes", "x @ x", "TC0407"), ("@ of a scalar", "x @ 2", "TC0405"), ("a step of 0", "x[::0]", "TC0404"),
    ("too many indices", "x[0, 0, 0]", "TC0405"), ("an index of a fixed axis", "zeros(3)[3]", "TC0404"),
    ("a string as a value", 'x + "a"', "TC0106"), ("max of two", "max(x, x)", "TC0204"), ("sum over a number", "sum(x, 1)", "TC0204"),
    ("an axis of a rank-0 value", "sum(sum(x), axis=0)", "TC0403"), ("einsum of other sizes", 'einsum("ij,jk->ik", x, x)', "TC0407"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "code"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(expression: str, code: str) -> None:
    assert [d.code for d in errors(f"kernel k(x: f32[N, D]) {{ return {expression} }}")] == [code]
