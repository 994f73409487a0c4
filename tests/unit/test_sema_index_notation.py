"""Index notation against NumPy: interpreted, and compiled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from sema_checking import kernel, op_names, program_of, result_ops

import tensorc
from tensorc.interp.tensor_interp import interpret

RNG = np.random.default_rng(3)


def f32(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


A, B, C = f32(5, 7), f32(7, 3), f32(3, 7)
V, W, S = f32(12), f32(3), f32(3, 3)
T, U = f32(2, 3, 4), f32(2, 4, 5, 3)
I = np.array([[3, -7, 0], [2, 5, -1]], np.int32)  # noqa: E741
PARAMETERS = (
    "a: f32[H, W], b: f32[W, D], c: f32[D, W], v: f32[N], w: f32[K], s: f32[3, 3], t: f32[P, D, Q], "
    "u: f32[P, Q, L, D], i: i32[2, 3], n: i32"
)
ARRAYS = {"a": A, "b": B, "c": C, "v": V, "w": W, "s": S, "t": T, "u": U, "i": I, "n": np.int32(2)}


def windows(x: Any, k: int, step: int = 1) -> Any:
    return sliding_window_view(x, k)[::step]


# statements that define y, and y
CASES: dict[str, Callable[[], Any]] = {
    "y[p, q] = (a[p, q] + a[p, q + 1]) / 2 for p in H, q in W - 1": lambda: (A[:, :-1] + A[:, 1:]) / 2,
    "y[q, p] = a[p, q] for p in H, q in W": lambda: A.T,
    "y[p, q] = a[p, q] for p in H, q in W": lambda: A,
    "y[p] = a[p, p] for p in H": lambda: np.diagonal(A),
    "y[p] = a[H - 1 - p, -1] for p in H": lambda: A[::-1, -1],
    "y[p, q] = a[p, 0] for p in H, q in 4": lambda: np.repeat(A[:, :1], 4, axis=1),
    "y[p] = v[2 * p + 1] for p in N // 2": lambda: V[1::2],
    "y[p] = v[p + n] for p in N - n": lambda: V[2:],
    "y[p, q] = v[3 * p + q] for p in N // 3, q in 3": lambda: V.reshape(4, 3),
    "y[p, q] = a[p, q] * p + q for p in H, q in W": lambda: A * np.arange(5)[:, None].astype(np.float32)
    + np.arange(7, dtype=np.float32),
    "y[p, q] = where(p == q, 1, 0) for p in 3, q in W": lambda: np.eye(3, 7, dtype=np.int64),
    "y[p, q] = p // 2 + q % 2 - p * q for p in 3, q in 4": lambda: np.fromfunction(
        lambda p, q: p // 2 + q % 2 - p * q, (3, 4), dtype=np.int64
    ),
    "y[p, q] = p <= q < 3 and i[0, p] > 0 for p in 3, q in 4": lambda: np.fromfunction(
        lambda p, q: (p <= q) & (q < 3) & (I[0, p] > 0), (3, 4), dtype=np.int64
    ),
    "y[p] = 1 for p in 3": lambda: np.ones(3, np.int64),
    "y[p] = w[0] for p in 3": lambda: np.repeat(W[0], 3),
    "y[p, q] = v[p] * w[q] for p in N, q in K": lambda: np.outer(V, W),
    "y[p, q] = i[p, q] * 2 - i[p, 0] for p in 2, q in 3": lambda: I * 2 - I[:, :1],
    "y[p] = f64(v[p]) ** 2 for p in N": lambda: V.astype(np.float64) ** 2,
    "y[p] = clip(-v[p], min=0).astype(i32) + (+p) for p in N": lambda: np.maximum(-V, 0).astype(np.int32)
    + np.arange(12, dtype=np.int32),
    # products
    "y[p, q] = sum(a[p, k] * b[k, q] for k in W) for p in H, q in D": lambda: A @ B,
    "y[q, p] = sum(a[p, k] * c[q, k] for k in W) for p in H, q in D": lambda: C @ A.T,
    "y[p] = sum(a[p, k] * c[0, k] for k in W) for p in H": lambda: A @ C[0],
    "y[q] = sum(c[0, k] * a[q, k] for k in W) for q in H": lambda: A @ C[0],
    "y[l, z, p, d] = sum(t[z, p, k] * u[z, k, l, d] for k in Q) for z in P, p in D, l in L, d in D": lambda: (
        np.einsum("zpk,zkld->lzpd", T, U)
    ),
    "y[z, l] = sum(t[z, d, k] * u[z, k, l, d] for d in D, k in Q) for z in P, l in L": lambda: np.einsum(
        "zdk,zkld->zl", T, U
    ),
    "y[p] = sum(a[p, k] * a[p, k] for k in W) for p in H": lambda: (A * A).sum(axis=1),
    "y = sum(v[p] * v[p] for p in N)": lambda: V @ V,
    "y[p, q] = sum(i[p, k] * i[q, k] for k in 3) for p in 2, q in 2": lambda: I.astype(np.int64)
    @ I.astype(np.int64).T,
    "y[p, q] = sum(a[p + x, q + z] * s[x, z] for x in 3, z in 3) for p in H - 2, q in W - 2": (
        lambda: np.einsum("pqxz,xz->pq", sliding_window_view(A, (3, 3)), S)
    ),
    "y[p] = sum(v[2 * p + x] * w[x] for x in K) for p in (N - K) // 2 + 1": lambda: windows(V, 3, 2) @ W,
    # reductions
    "y[p] = max(v[3 * p + x] for x in 3) for p in N // 3": lambda: V.reshape(4, 3).max(axis=1),
    "y[p] = min(a[p, q] for q in W) for p in H": lambda: A.min(axis=1),
    "y = prod(i[p, q] + 1 for p in 2, q in 3)": lambda: (I + 1).prod(),
    "y[q] = any(i[p, q] < 0 for p in 2) for q in 3": lambda: (I < 0).any(axis=0),
    "y[q] = all(i[p, q] < 4 for p in 2) for q in 3": lambda: (I < 4).all(axis=0),
    "y[p] = sum(1 for k in W) for p in 2": lambda: np.array([7, 7]),
    "y = sum(p * q for p in 3, q in 4)": lambda: np.array(18),
    "y[p] = sum(p for k in 3) for p in 4": lambda: np.arange(4) * 3,
    "y[p, q] = a[p, q] / sum(a[p, k] for k in W) for p in H, q in W": lambda: A / A.sum(1, keepdims=True),
    "y[p] = v[p] - max(v[k] for k in N) for p in N": lambda: V - V.max(),
    "y[p] = sum(v[p] for _ in 3) for p in N": lambda: V * 3,
    "y[p] = sum(sum(a[q, k] for k in W) * v[p] for q in H) for p in N": lambda: A.sum() * V,
    "y[p] = sum(max(a[p, q] * b[q, k] for k in D) for q in W) for p in H": lambda: (
        A[:, :, None] * B
    ).max(axis=2).sum(axis=1),
    "y[p] = max(a[p, q] for q in W) == a[p, 0] for p in H": lambda: A.max(axis=1) == A[:, 0],
    # whole arrays beside elements
    "y[p] = v[p] / sum(v) for p in N": lambda: V / V.sum(),
    "y[p] = exp(v)[p] for p in N": lambda: np.exp(V),
    "y[p] = a.shape[0] * v[p] for p in N": lambda: 5 * V,
    # definitions
    "y[p] = dot(a, p, c, 0) for p in H": lambda: A @ C[0],
    "y[p] = twice(silu(v[p])) for p in N": lambda: 2 * V / (1 + np.exp(-V)),
    "y[p] = softened(v)[p] * 2 for p in N": lambda: V / np.abs(V).max() * 2,
    "y = softened(v)": lambda: V / np.abs(V).max(),
    "y[p] = scaled_sum(v[p], w) for p in N": lambda: V * W.sum(),
}  # fmt: skip

DEFINITIONS = """
def dot(x, p, y, q) = sum(x[p, k] * y[q, k] for k in x.shape[1])
def twice(x) {
    both = x + x
    return both
}
def softened(x) {
    r[k] = x[k] / max(abs(x[m]) for m in x.shape[0]) for k in x.shape[0]
    return r
}
def scaled_sum(x, y) = sum(x * y[k] for k in y.shape[0])
"""


def text_of(statements: list[str]) -> str:
    requires = "requires N >= K, N >= n, N >= 1, W >= H, D >= 1, W >= 1"
    bodies = (
        f"kernel k{n}({PARAMETERS}) {requires} {{\n{s}\nreturn y\n}}\n" for n, s in enumerate(statements)
    )
    return DEFINITIONS + "".join(bodies)


@pytest.mark.parametrize("statement", CASES)
def test_interpreted(statement: str) -> None:
    program = program_of(text_of([statement]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = interpret(program, ARRAYS)
    expected = np.asarray(CASES[statement]())
    assert (result_ops(program)[0].dtype.numpy, found.shape) == (str(expected.dtype), expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_compiled(tmp_path: Path) -> None:
    module = tensorc.compile(text_of(list(CASES)), cache_dir=tmp_path)
    for name, (statement, expected) in zip(module, CASES.items(), strict=True):
        found, wanted = module[name](**ARRAYS), np.asarray(expected())
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), statement
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5, err_msg=statement)


# -- what it becomes -------------------------------------------------------------------------------


def shape_of(statement: str, parameters: str = PARAMETERS) -> list[str]:
    program = kernel(parameters, f"{statement}\nreturn y")
    return [str(s) for s in result_ops(program)[0].shape]


def test_sizes_are_symbolic() -> None:
    assert shape_of("y[p, q] = a[p + 1, q] for p in H - 1, q in W") == ["H - 1", "W"]
    assert shape_of("y[q, p] = v[p] for p in N // 2, q in 2 * K") == ["2*K", "(N // 2)"]


def test_what_does_not_change_in_a_loop_is_not_computed_there() -> None:
    program = kernel("v: f32[N]", "y[p] = v[p] / sum(exp(v[k]) for k in N) for p in N\nreturn y")
    assert [len(op.shape) for op in program.ops if op.op in ("exp", "reduce")] == [1, 0]


def test_a_contraction_is_a_matrix_product() -> None:
    matrices = "a: f32[I, K], b: f32[J, K], i: i32[I, K], j: i32[J, K], v: f32[N]"

    def ops(statement: str) -> list[str]:
        return op_names(kernel(matrices, f"{statement}\nreturn y"))

    for order in ("p, q", "q, p"):
        names = ops(f"y[{order}] = sum(a[p, k] * b[q, k] for k in K) for p in I, q in J")
        assert names.count("matmul") == 1 and names.count("view") == 1
    assert "matmul" not in ops("y[p, q] = sum(i[p, k] * j[q, k] for k in K) for p in I, q in J")
    assert "matmul" not in ops("y[p, q] = sum(v[p + k] * b[q, k] for k in K) for p in N - K, q in J")
    assert "matmul" not in ops("y = sum(a[p, k] * a[p, k] for p in I, k in K)")


# -- ranges ----------------------------------------------------------------------------------------


def checks_of(statement: str, parameters: str) -> list[str]:
    program = kernel(parameters, f"{statement}\nreturn y")
    found = (c for c in program.signature.checks if c.kind in ("index", "range"))
    return [f"{c.left} {c.relation} {c.right}" for c in found]


@pytest.mark.parametrize(
    "statement",
    [
        "y[p, q] = x[p + 1, M - 1 - q] for p in N - 1, q in M",
        "y[p] = sum(x[p + u, q] for u in 3, q in M) for p in N - 2",
        "y[p] = v[2 * p + 1] for p in N // 2",
        "y[p, q] = v[3 * p + q] for p in N // 3, q in 3",
        "y[p] = sum(v[3 * p + u] for u in 5) for p in (N - 5) // 3 + 1",
        "y[p] = sum(v[p + u] for u in M) for p in N - M + 1",
        "y[p] = sum(v[2 * p + u] for u in M) for p in (N - M) // 2 + 1",
        "y[p] = v[N - 2 - p] for p in N - 1",
    ],
)
def test_what_is_plainly_in_range_needs_no_check(statement: str) -> None:
    assert checks_of(statement, "x: f32[N, M], v: f32[N]") == []


def test_what_may_be_out_of_range_is_checked_at_the_call() -> None:
    assert checks_of("y[p] = v[p] for p in M", "v: f32[N], w: f32[M]") == ["M - 1 < N"]
    assert checks_of("y[p] = v[p - n] for p in N", "v: f32[N], n: i32")[0] == "-n*min(N, 1) >= 0"


def test_a_call_out_of_range_names_the_index(tmp_path: Path) -> None:
    text = "kernel k(v: f32[N], w: f32[M]) {\ny[p] = v[2 * p + 1] for p in M\nreturn y\n}"
    k = tensorc.compile(text, cache_dir=tmp_path)["k"]
    np.testing.assert_array_equal(k(V, V[:6]), V[1::2])
    with pytest.raises(ValueError, match=r"index 2 \* p \+ 1 must be in range of axis 0, of size N"):
        k(V, V[:7])


def test_nothing_is_checked_where_nothing_is_read(tmp_path: Path) -> None:
    text = "kernel k(v: f32[N], w: f32[M]) {\ny[p] = v[p + 5] for p in M\nreturn y\n}"
    k = tensorc.compile(text, cache_dir=tmp_path)["k"]
    assert k(V[:0], V[:0]).shape == (0,)
    np.testing.assert_array_equal(k(V, V[:7]), V[5:])
    with pytest.raises(ValueError, match=r"index p \+ 5"):
        k(V[:5], V[:1])


def test_a_negative_extent_is_refused(tmp_path: Path) -> None:
    k = tensorc.compile("kernel k(v: f32[N]) {\ny[p] = v[p] for p in N - 3\nreturn y\n}", cache_dir=tmp_path)[
        "k"
    ]
    assert k(V[:3]).shape == (0,)
    with pytest.raises(ValueError, match="N - 3 must not be negative"):
        k(V[:2])


def test_a_sum_of_thousands_of_terms() -> None:
    terms = " + ".join(f"v[p + {n % 7}] * {n}" for n in range(3000))
    program = kernel("v: f32[N]", f"y[p] = {terms} for p in N - 6\nreturn y")
    (found,) = interpret(program, {"v": np.ones(8, np.float32)})
    np.testing.assert_allclose(found, [3000 * 2999 / 2] * 2, rtol=1e-6)
