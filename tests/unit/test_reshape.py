"""reshape: the same elements in row-major order, from whatever stands before it, into whatever follows."""

from __future__ import annotations

import numpy as np
import pytest

import tensorc

TEXT = """
kernel flat(x: f32[N, C, H, W]) { return reshape(x, (N, C * H * W)) }
kernel pool(x: f32[N, 2 * H]) -> f32[N, H] { return max(reshape(x, (N, H, 2)), axis=2) }
kernel split(x: f32[N, 3 * H]) { return sum(reshape(x * 2 + 1, (N, 3, H)), axis=2) }
kernel turned(x: f32[N, C]) { return reshape(x.T, (N * C,)) + 1 }
kernel heads(x: f32[N, 3 * H], y: f32[N, 3 * H]) {
    q = permute_dims(reshape(x, (N, 3, H)), (1, 0, 2))
    k = permute_dims(reshape(y, (N, 3, H)), (1, 0, 2))
    return q @ k.mT
}
kernel twice(x: f64[6, 4]) {
    return reshape(reshape(x, (2, 12)), (8, 3)) * 2, reshape(reshape(sin(x), (24,)), (4, 6)).T
}
kernel weak(x: f32[N]) { return reshape(arange(N), (N, 1)) * x }
kernel scalar(x: f32) { return reshape(x, (1, 1)) }
kernel one(x: f32[1, 1]) { return reshape(x, ()) }
kernel sums(x: f32[N, M]) {
    y = reshape(exp(x), (M, N))
    return sum(y, axis=0), sum(y, axis=1), y
}
"""


@pytest.fixture(scope="module")
def module() -> tensorc.Module:
    return tensorc.compile(TEXT)


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("rows", [0, 1, 4, 9])
def test_against_numpy(module: tensorc.Module, rows: int) -> None:
    x = floats(rows, 3, 5, 6)
    np.testing.assert_array_equal(module.flat(x), x.reshape(rows, 90))
    x = floats(rows, 10)
    np.testing.assert_array_equal(module.pool(x), x.reshape(rows, 5, 2).max(axis=2))
    x = floats(rows, 15)
    np.testing.assert_allclose(module.split(x), (x * 2 + 1).reshape(rows, 3, 5).sum(axis=2), 1e-5, 1e-5)
    x = floats(rows, 7)
    np.testing.assert_array_equal(module.turned(x), x.T.reshape(-1) + 1)
    np.testing.assert_array_equal(
        module.weak(x[:, 0]), np.arange(rows, dtype=np.float32).reshape(rows, 1) * x[:, 0]
    )


def test_products_read_reshaped_operands(module: tensorc.Module) -> None:
    x, y = floats(4, 6), floats(4, 6) + 1
    q, k = (a.reshape(4, 3, 2).transpose(1, 0, 2) for a in (x, y))
    np.testing.assert_allclose(module.heads(x, y), q @ k.transpose(0, 2, 1), 1e-5, 1e-6)


def test_chains_and_scalars(module: tensorc.Module) -> None:
    x = floats(6, 4).astype(np.float64)
    first, second = module.twice(x)
    np.testing.assert_array_equal(first, x.reshape(8, 3) * 2)
    np.testing.assert_allclose(second, np.sin(x).reshape(4, 6).T, 1e-14)
    np.testing.assert_array_equal(module.scalar(3.5), [[3.5]])
    assert module.one(floats(1, 1)).shape == ()


def test_reductions_of_a_reshaped_value(module: tensorc.Module) -> None:
    x = floats(6, 35)
    y = np.exp(x.astype(np.float64)).reshape(35, 6)
    for found, expected in zip(module.sums(x), (y.sum(axis=0), y.sum(axis=1), y), strict=True):
        np.testing.assert_allclose(found, expected, 1e-5)


@pytest.mark.parametrize(
    ("body", "words", "help"),
    [
        ("reshape(x, (N, 5))", "f32[N, 4] does not reshape to (N, 5)", ""),
        ("reshape(x, (5 * N,))", "f32[N, 4] does not reshape to (5*N,)", ""),
        ("reshape(x, (2, 2 * N + 1))", "f32[N, 4] does not reshape to (2, 2*N + 1)", ""),
    ],
)
def test_never_as_many_elements(body: str, words: str, help: str) -> None:
    with pytest.raises(tensorc.CompileError) as caught:
        tensorc.compile(f"kernel f(x: f32[N, 4]) {{ return {body} }}")
    first = caught.value.diagnostics[0]
    assert (first.code, first.message, first.help) == ("TC0409", words, help)


def test_sizes_that_only_the_call_knows() -> None:
    module = tensorc.compile(
        """
        kernel fold(x: f32[M], w: f32[N, K]) { return reshape(x * 2, (N, K)) + w }
        kernel halves(x: f32[N, C, H]) { return reshape(x, (N, C * H // 2, 2)) }
        kernel even(x: f32[H, W]) { return max(reshape(x[: H // 2 * 2], (H // 2, 2, W)), axis=1) }
        """
    )
    x, w = floats(6), floats(2, 3)
    np.testing.assert_array_equal(module.fold(x, w), x.reshape(2, 3) * 2 + w)
    with pytest.raises(ValueError, match=r"must keep the number of elements, M, but M is 6, K\*N is 8"):
        module.fold(x, floats(2, 4))
    y = floats(2, 3, 4)
    np.testing.assert_array_equal(module.halves(y), y.reshape(2, 6, 2))
    with pytest.raises(ValueError, match="must keep the number of elements"):
        module.halves(floats(1, 3, 3))
    for rows in (0, 1, 2, 7):
        z = floats(rows, 3)
        expected = z[: rows // 2 * 2].reshape(rows // 2, 2, 3).max(axis=1)
        np.testing.assert_array_equal(module.even(z), expected)
