"""Slices: every element and every size as NumPy's, for all small sizes and bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sema_checking import kernel, program_of, result_ops

from tensorc.index_algebra import as_poly, dim
from tensorc.interp.tensor_interp import interpret
from tensorc.sema.slices import _backward, _forward, _from_start

BOUNDS = (None, -4, -2, -1, 0, 1, 2, 5)


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -3])
def test_literal_bounds_on_a_symbolic_axis(step: int) -> None:
    n = dim("N")
    for start, stop in itertools.product(BOUNDS, repeat=2):
        first = None if start is None else _from_start(as_poly(start), n)
        last = None if stop is None else _from_start(as_poly(stop), n)
        found = (_forward if step > 0 else _backward)(n, first, last, step)
        for extent in range(9):
            expected = range(extent)[start:stop:step]
            count = found.size.evaluate({"N": extent})
            assert count == len(expected), (start, stop, step, extent)
            if count:
                assert found.start.evaluate({"N": extent}) == expected[0], (start, stop, step, extent)
                assert found.step == step


@pytest.mark.parametrize("step", [1, 2, -1, -2])
def test_bounds_whose_sign_is_unknown_count_from_the_end_when_negative(step: int) -> None:
    n, a, b = dim("N"), dim("A") - dim("B"), dim("C") - dim("D")
    found = (_forward if step > 0 else _backward)(n, _from_start(a, n), _from_start(b, n), step)
    for extent, start, stop in itertools.product(range(5), range(-6, 7), range(-6, 7)):
        sizes = {"N": extent, "A": max(start, 0), "B": max(-start, 0), "C": max(stop, 0), "D": max(-stop, 0)}
        expected = range(extent)[start:stop:step]
        assert found.size.evaluate(sizes) == len(expected)
        if expected:
            assert found.start.evaluate(sizes) == expected[0]


@pytest.mark.parametrize(
    ("parameter", "subscript", "shape"),
    [
        ("x: f32[N]", "x[1:-1]", "max(N - 2, 0)"),
        ("x: f32[N]", "x[1:]", "max(N - 1, 0)"),
        ("x: f32[N]", "x[:-2]", "max(N - 2, 0)"),
        ("x: f32[N]", "x[::2]", "((N + 1) // 2)"),
        ("x: f32[N]", "x[::-1]", "N"),
        ("x: f32[N]", "x[1::2]", "(N // 2)"),
        ("x: f32[2 * H]", "x[::2]", "H"),
        ("x: f32[2 * H]", "x[1::2]", "H"),
        ("x: f32[2 * H]", "x[::-2]", "H"),
        ("x: f32[3 * H + 1]", "x[::3]", "H + 1"),
        ("x: f32[4 * H]", "x[1::2]", "2*H"),
        ("x: f32[2 * H]", "x[:H]", "H"),
        ("x: f32[2 * H]", "x[H:]", "H"),
        ("x: f32[N + 2]", "x[1:-1]", "N"),
        ("x: f32[N + K]", "x[K:]", "N"),
        ("x: f32[10]", "x[2:7:2]", "3"),
        ("x: f32[10]", "x[20:]", "0"),
    ],
)
def test_sizes_have_their_closed_form(parameter: str, subscript: str, shape: str) -> None:
    program = kernel(parameter + (", k: f32[K]" if "K" in parameter else ""), subscript)
    assert str(result_ops(program)[0].shape[0]) == shape


def test_neighbours_have_one_size() -> None:
    program = kernel("x: f32[H, W]", "x[:, :-2] + x[:, 1:-1] + x[:, 2:]")
    assert [str(s) for s in result_ops(program)[0].shape] == ["H", "max(W - 2, 0)"]


SUBSCRIPTS = [
    "x[1]",
    "x[-1, 2]",
    "x[:, None, 1:3]",
    "x[..., 0]",
    "x[None, ..., ::-1]",
    "x[1:, ..., -3:-1]",
    "x[::2, 1, ::-2]",
    "x[8:1:-3, :, 6:3]",
    "x[-100:100, 1:1]",
    "x[...]",
    "x[0, 0, 0]",
]


@pytest.mark.parametrize("subscript", SUBSCRIPTS)
@pytest.mark.parametrize("sizes", ["4, 3, 5", "N, M, K"])
def test_elements_are_numpys(subscript: str, sizes: str) -> None:
    x = np.arange(60.0).reshape(4, 3, 5)
    (found,) = interpret(kernel(f"x: f64[{sizes}]", subscript), {"x": x})
    expected = eval(subscript, {"x": x})
    np.testing.assert_array_equal(found, expected)
    assert found.shape == np.shape(expected)


def test_an_integer_parameter_is_a_bound() -> None:
    program = kernel("x: f64[N], n: i64", "x[n:], x[:n], x[n + 1:]")
    x = np.arange(5.0)
    for n in range(7):
        found = interpret(program, {"x": x, "n": n})
        for result, expected in zip(found, (x[n:], x[:n], x[n + 1 :]), strict=True):
            np.testing.assert_array_equal(result, expected)
    assert [(b.dim, b.axis) for b in program.signature.bindings] == [("n", None), ("N", 0)]


def test_an_index_that_may_be_out_of_range_is_checked_at_the_call() -> None:
    program = kernel("x: f64[N]", "x[3], x[-2]")
    checks = [(c.kind, str(c.left), c.relation, str(c.right)) for c in program.signature.checks]
    assert checks == [("index", "3", "<", "N"), ("index", "N - 2", ">=", "0")]
    with pytest.raises(ValueError, match="index 3"):
        interpret(program, {"x": np.arange(3.0)})


def test_shape_is_a_tuple_of_sizes() -> None:
    program = program_of("kernel k(x: f64[N, 4]) { return x.shape[0] + x.shape[-1], zeros(x.shape) }")
    total, zeros = interpret(program, {"x": np.ones((3, 4))})
    assert total == 7
    assert zeros.shape == (3, 4)
