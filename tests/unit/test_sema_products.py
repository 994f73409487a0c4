"""einsum, tensordot, vecdot, outer, and the operations on diagonals, against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sema_checking import kernel, op_names, program_of, result_ops

import tensorc
from tensorc.interp.tensor_interp import interpret

RNG = np.random.default_rng(8)
ARRAYS: dict[str, Any] = {
    "a": RNG.normal(size=(3, 5)).astype(np.float32),
    "b": RNG.normal(size=(5, 4)).astype(np.float32),
    "c": RNG.normal(size=(4, 3)).astype(np.float32),
    "s": RNG.normal(size=(4, 4)).astype(np.float32),
    "t": RNG.normal(size=(2, 3, 5)).astype(np.float32),
    "u": RNG.normal(size=(2, 5, 3, 4)).astype(np.float32),
    "o": RNG.normal(size=(1, 5)).astype(np.float32),
    "v": RNG.normal(size=5).astype(np.float32),
    "w": RNG.normal(size=3).astype(np.float32),
    "d": RNG.normal(size=(3, 5)),
    "i": np.array([[3, -7, 0], [2**31 - 1, 5, -1]], np.int32),
    "j": np.array([[2, 1], [4, -3], [1, 9]], np.int32),
    "p": np.array([[True, False, True], [False, True, True]]),
}
PARAMETERS = (
    "a: f32[M, K], b: f32[K, N], c: f32[N, M], s: f32[N, N], t: f32[B, M, K], u: f32[B, K, M, N], "
    "o: f32[1, K], v: f32[K], w: f32[M], d: f64[M, K], i: i32[2, 3], j: i32[3, 2], p: bool[2, 3]"
)


def a(expression: str) -> Any:
    return eval(expression, {}, dict(ARRAYS))


def ein(text: str, *names: str) -> tuple[str, Callable[[], Any]]:
    return f'einsum("{text}", {", ".join(names)})', lambda: np.einsum(text, *map(a, names))


CASES: dict[str, Callable[[], Any]] = dict(
    [
        ein("mk,kn->mn", "a", "b"),
        ein("mk,kn->nm", "a", "b"),
        ein("mk,kn", "a", "b"),
        ein("mk, kn -> n", "a", "b"),
        ein("mk,kn,nm->", "a", "b", "c"),
        ein("mk,kn,no,m->ko", "a", "b", "s", "w"),
        ein("bmk,bkmn->bn", "t", "u"),
        ein("bmk,bkln->mbln", "t", "u"),
        ein("bmk,ckml->bcl", "t", "u"),
        ein("bmk,bkmn->bmn", "t", "u"),
        ein("mk->km", "a"),
        ein("mk->m", "a"),
        ein("mk", "a"),
        ein("ba", "a"),
        ein("mk->", "a"),
        ein("nn->n", "s"),
        ein("nn", "s"),
        ein("nn,n->n", "s", "s[0]"),
        ein("...k,kn->...n", "t", "b"),
        ein("...k,k", "t", "v"),
        ein("b...,b...->...", "t", "t"),
        ein("...,...", "t", "a"),
        ein("k,m->mk", "v", "w"),
        ein("k,k", "v", "v"),
        ein("mk,mk->m", "a", "a"),
        ein("mk,mk->mk", "a", "o"),
        ein("mk,lk->ml", "a", "o"),
        ein("...m,...m->...m", "a", "o"),
        ein("mk,mk->k", "a", "d"),
        ein("ij,jk->ik", "i", "j"),
        ein("ij->i", "i"),
        ein(",k->k", "v[0]", "v"),
        ("tensordot(a, b, axes=1)", lambda: np.tensordot(a("a"), a("b"), 1)),
        ("tensordot(t, u, axes=((0, 2), (0, 1)))", lambda: np.tensordot(a("t"), a("u"), ((0, 2), (0, 1)))),
        ("tensordot(t, a)", lambda: np.tensordot(a("t"), a("a"))),
        ("tensordot(a, a, axes=(0, 0))", lambda: np.tensordot(a("a"), a("a"), (0, 0))),
        ("tensordot(v, w, axes=0)", lambda: np.tensordot(a("v"), a("w"), 0)),
        ("tensordot(v, v, axes=1)", lambda: np.tensordot(a("v"), a("v"), 1)),
        ("tensordot(i, j, axes=1)", lambda: np.tensordot(a("i"), a("j"), 1)),
        ("tensordot(a, d, axes=(-1, -1))", lambda: np.tensordot(a("a"), a("d"), (-1, -1))),
        ("vecdot(a, a)", lambda: np.vecdot(a("a"), a("a"))),
        ("vecdot(t, a)", lambda: np.vecdot(a("t"), a("a"))),
        ("vecdot(a, a, axis=0)", lambda: np.vecdot(a("a"), a("a"), axis=0)),
        ("vecdot(t, a, axis=-2)", lambda: np.vecdot(a("t"), a("a"), axis=-2)),
        ("vecdot(v, v)", lambda: np.vecdot(a("v"), a("v"))),
        ("vecdot(i, i)", lambda: np.vecdot(a("i"), a("i"))),
        ("outer(v, w)", lambda: np.outer(a("v"), a("w"))),
        ("outer(i[0], v)", lambda: np.outer(a("i")[0], a("v").astype(np.float64))),
        ("outer(p[0], p[1])", lambda: np.outer(a("p")[0], a("p")[1])),
        ("flip(t)", lambda: np.flip(a("t"))),
        ("flip(t, axis=1)", lambda: np.flip(a("t"), 1)),
        ("flip(t, axis=(0, -1)) + t", lambda: np.flip(a("t"), (0, -1)) + a("t")),
        ("flip(v[0])", lambda: a("v")[0]),
        ("sum(flip(a, axis=0), axis=1)", lambda: np.flip(a("a"), 0).sum(axis=1)),
        ("diagonal(a)", lambda: np.diagonal(a("a"))),
        ("diagonal(a, offset=3)", lambda: np.diagonal(a("a"), 3)),
        ("diagonal(a, offset=-1)", lambda: np.diagonal(a("a"), -1)),
        ("diagonal(a, offset=9)", lambda: np.diagonal(a("a"), 9)),
        ("diagonal(a, offset=-9)", lambda: np.diagonal(a("a"), -9)),
        ("diagonal(t, offset=1)", lambda: np.diagonal(a("t"), 1, 1, 2)),
        ("sum(diagonal(s))", lambda: np.trace(a("s"))),
        ("tril(a)", lambda: np.tril(a("a"))),
        ("tril(a, k=2)", lambda: np.tril(a("a"), 2)),
        ("triu(t, k=-1)", lambda: np.triu(a("t"), -1)),
        ("triu(a, k=K)", lambda: np.triu(a("a"), 5)),
        ("triu(i)", lambda: np.triu(a("i"))),
        ("tril(p)", lambda: np.tril(a("p"))),
        ("triu(d / 0)", lambda: np.triu(np.where(a("d") > 0, np.inf, -np.inf))),
        ("eye(3)", lambda: np.eye(3)),
        ("eye(M, K, k=1)", lambda: np.eye(3, 5, 1)),
        ("eye(K, M, k=-2, dtype=i32)", lambda: np.eye(5, 3, -2, np.int32)),
        ("eye(2, None, dtype=bool)", lambda: np.eye(2, dtype=bool)),
        ("s + 2 * eye(N)", lambda: a("s") + 2 * np.eye(4, dtype=np.float32)),
    ]
)


def text_of(expressions: list[str]) -> str:
    kernels = (f"kernel k{n}({PARAMETERS}) {{ return {e} }}\n" for n, e in enumerate(expressions))
    return "".join(kernels)


@pytest.mark.parametrize("expression", CASES)
def test_interpreted(expression: str) -> None:
    expected = np.asarray(CASES[expression]())
    program = program_of(text_of([expression]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = interpret(program, ARRAYS)
    assert (result_ops(program)[0].dtype.numpy, found.shape) == (str(expected.dtype), expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_compiled(tmp_path: Path) -> None:
    module = tensorc.compile(text_of(list(CASES)), cache_dir=tmp_path)
    for name, expression in zip(module, CASES, strict=True):
        found, expected = module[name](**ARRAYS), np.asarray(CASES[expression]())
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), expression
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=expression)


@pytest.mark.parametrize(
    ("expression", "products"),
    [
        ('einsum("mk,kn->mn", a, b)', 1),
        ('einsum("mk,kn->nm", a, b)', 1),
        ('einsum("mk,kn,no->mo", a, b, s)', 2),
        ('einsum("bmk,bkln->bmln", t, u)', 1),
        ('einsum("mk,mk->m", a, a)', 0),
        ('einsum("ij,jk->ik", i, j)', 0),
        ("tensordot(t, u, axes=((0, 2), (0, 1)))", 1),
        ("vecdot(a, a)", 0),
    ],
)
def test_matrix_products_are_found(expression: str, products: int) -> None:
    assert op_names(kernel(PARAMETERS, expression)).count("matmul") == products


def test_sizes_of_diagonals_are_symbolic() -> None:
    (found,) = result_ops(kernel("x: f32[M, N]", "diagonal(x, offset=1)"))
    assert [str(s) for s in found.shape] == ["max(min(N - 1, M), 0)"]
    (found,) = result_ops(kernel("x: f32[N, N]", "diagonal(x)"))
    assert [str(s) for s in found.shape] == ["N"]
