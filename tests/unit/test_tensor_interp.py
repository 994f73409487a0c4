from __future__ import annotations

import math

import numpy as np
import pytest
from ir_builders import ProgramBuilder, i
from sema_checking import kernel

from tensorc.dtypes import BOOL, F32, F64, I32, I64, DType
from tensorc.index_algebra import as_poly, dim
from tensorc.interp.tensor_interp import compare, interpret, interpret_with_bounds
from tensorc.tensor_ir.program import Scan

RNG = np.random.default_rng(7)


def _f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_softmax_is_numpys() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", "D"))
    m = b.view(b.reduce("max", x, 1), (i(0),), ("N", "D"), "broadcast_to")
    e = b.call("exp", b.call("subtract", x, m))
    s = b.view(b.reduce("sum", e, 1), (i(0),), ("N", "D"), "broadcast_to")
    data = RNG.normal(size=(5, 9)).astype(np.float32)
    (result,) = interpret(b.program(b.call("divide", e, s)), {"x": data})
    wide = data.astype(np.float64)
    expected = np.exp(wide - wide.max(1, keepdims=True))
    np.testing.assert_allclose(result, expected / expected.sum(1, keepdims=True), rtol=1e-14)


def test_views_index_the_operand() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", "D"))
    program = b.program(
        b.view(x, (i(1), i(0)), ("D", "N"), "permute_dims"),
        b.view(x, (dim("N") - 1 - i(0), as_poly(1)), ("N",)),
        b.view(x, (i(0) * 2 + 1, i(2)), (2, 3, "D"), "broadcast_to"),
        b.view(x, (i(0) // dim("D"), i(0) % dim("D")), (dim("N") * dim("D"),), "reshape"),
    )
    data = np.arange(20, dtype=np.float32).reshape(5, 4)
    found = interpret(program, {"x": data})
    expected = (data.T, data[::-1, 1], np.broadcast_to(data[1:4:2, None], (2, 3, 4)), data.reshape(-1))
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_reductions_over_several_axes() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", "M", "K"))
    kinds = ("sum", "prod", "max", "min", "var", "std", "argmax", "argmin", "any", "all")
    program = b.program(*(b.reduce(kind, x, 0, 2) for kind in kinds))
    data = RNG.normal(size=(2, 3, 4)).astype(np.float32)
    wide = data.astype(np.float64)
    merged = wide.transpose(1, 0, 2).reshape(3, 8)
    for kind, result in zip(kinds, interpret(program, {"x": data}), strict=True):
        expected = getattr(merged, kind)(axis=1)
        np.testing.assert_allclose(result.astype(np.float64), expected, rtol=1e-13, err_msg=kind)


def test_reductions_of_integers_and_bools() -> None:
    b = ProgramBuilder()
    x, c = b.param("x", I32, ("N",)), b.param("c", BOOL, ("N",))
    program = b.program(
        b.reduce("sum", x, 0), b.reduce("sum", c, 0), b.reduce("var", x, 0), b.reduce("prod", x, 0)
    )
    total, count, variance, product = interpret(
        program, {"x": np.array([2**31 - 1, 2**31 - 1, 3], np.int32), "c": np.array([True, False, True])}
    )
    assert total == 2**32 + 1 and total.dtype == np.int64
    assert count == 2
    assert variance.dtype == np.float64
    assert product == (3 * (2**31 - 1) ** 2 + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize(
    ("kind", "value"),
    [("sum", 0.0), ("prod", 1.0), ("var", math.nan), ("std", math.nan), ("any", 0), ("all", 1)],
)
def test_empty_reductions_give_the_identity(kind: str, value: float) -> None:
    b = ProgramBuilder()
    (result,) = interpret(b.program(b.reduce(kind, b.param("x", F32, ("N",)), 0)), {"x": _f32()})
    np.testing.assert_array_equal(result, value)


@pytest.mark.parametrize(("kind", "dtype"), [("max", I32), ("min", I32), ("argmax", F32), ("argmin", F32)])
def test_extreme_of_nothing_raises(kind: str, dtype: DType) -> None:
    b = ProgramBuilder()
    program = b.program(b.reduce(kind, b.param("x", dtype, ("N", "M")), 1))
    with pytest.raises(ValueError, match="of no elements"):
        interpret(program, {"x": np.zeros((2, 0), dtype.numpy)})
    assert interpret(program, {"x": np.zeros((0, 0), dtype.numpy)})[0].shape == (0,)


@pytest.mark.parametrize(("kind", "identity"), [("max", -math.inf), ("min", math.inf)])
def test_float_extreme_of_nothing_is_its_identity(kind: str, identity: float) -> None:
    b = ProgramBuilder()
    program = b.program(b.reduce(kind, b.param("x", F32, ("N", "M")), 1))
    assert interpret(program, {"x": np.zeros((2, 0), np.float32)})[0].tolist() == [identity] * 2


def test_argmax_takes_the_first_and_nan_wins() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", "M"))
    program = b.program(b.reduce("argmax", x, 1), b.reduce("argmin", x, 1))
    data = np.stack([_f32(1, 3, 3, 0, 0), _f32(-0.0, 0.0, -0.0, 0.0, 0.0), _f32(5, math.nan, 9, math.nan, 1)])
    high, low = interpret(program, {"x": data})
    assert high.tolist() == [1, 0, 1]
    assert low.tolist() == [3, 0, 1]


def test_zeros_are_ordered_by_sign() -> None:
    b = ProgramBuilder()
    x, y = b.param("x", F32, ("N",)), b.param("y", F32, ("N",))
    program = b.program(
        b.call("maximum", x, y),
        b.call("minimum", x, y),
        b.reduce("max", x, 0),
        b.reduce("min", x, 0),
        b.call("relu", y),
    )
    found = interpret(program, {"x": _f32(0.0, -0.0), "y": _f32(-0.0, 0.0)})
    assert [np.signbit(f).tolist() for f in found] == [
        [False, False],
        [True, True],
        False,
        True,
        [False, False],
    ]


def _binary(op: str, left: list[int], right: list[int]) -> list[int]:
    b = ProgramBuilder()
    x, y = b.param("x", I32, ("N",)), b.param("y", I32, ("N",))
    (found,) = interpret(
        b.program(b.call(op, x, y)), {"x": np.array(left, np.int32), "y": np.array(right, np.int32)}
    )
    assert found.dtype == np.int32
    return found.tolist()


LOW = -(2**31)


def test_integer_corners() -> None:
    assert _binary("add", [2**31 - 1], [1]) == [LOW]
    assert _binary("multiply", [LOW], [-1]) == [LOW]
    assert _binary("floor_divide", [7, -7, 7, LOW, 5], [2, 2, -2, -1, 0]) == [3, -4, -4, LOW, 0]
    assert _binary("remainder", [7, -7, 7, LOW, 5], [2, 2, -2, -1, 0]) == [1, 1, -1, 0, 0]
    assert _binary("left_shift", [1, 1, 1, 3], [31, 32, -1, 1]) == [LOW, 0, 0, 6]
    assert _binary("right_shift", [-8, -8, 8, -8], [1, 32, -1, -1]) == [-4, -1, 0, -1]
    assert _binary("power", [3, -2, 0], [3, 3, 0]) == [27, -8, 1]
    with pytest.raises(ValueError, match="negative power"):
        _binary("power", [2], [-1])


def test_casts_truncate_and_saturate() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    narrow, wide, truth = interpret(
        b.program(b.cast(x, I32), b.cast(x, I64), b.cast(x, BOOL)),
        {"x": _f32(-1.9, 3e9, -3e9, math.nan, math.inf, -math.inf, -0.0, 1e19)},
    )
    assert narrow.tolist() == [-1, 2**31 - 1, LOW, 0, 2**31 - 1, LOW, 0, 2**31 - 1]
    assert wide.tolist() == [-1, 3000000000, -3000000000, 0, 2**63 - 1, -(2**63), 0, 2**63 - 1]
    assert truth.tolist() == [True, True, True, True, True, True, False, True]


def test_powers_of_one_half_are_not_square_roots() -> None:
    b = ProgramBuilder()
    x = b.param("x", F64, ("N",))
    (found,) = interpret(
        b.program(b.call("power", x, b.splat(0.5, ("N",), F64))), {"x": np.array([-math.inf, -0.0, 4.0])}
    )
    assert found.tolist() == [math.inf, 0.0, 2.0]
    assert not np.signbit(found[1])


def test_i64_to_f32_rounds_once() -> None:
    b = ProgramBuilder()
    x = b.param("x", I64, ("N",))
    value = 2**54 + 2**30 + 1
    (found,) = interpret(b.program(b.cast(x, F32)), {"x": np.array([value])})
    assert found[0] == 2.0**54 + 2.0**31


def test_reference_values_are_not_rounded_and_exact_ones_are() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    program = b.program(b.call("subtract", b.call("add", x, b.splat(1.0, ("N",))), b.splat(1.0, ("N",))))
    data = {"x": _f32(1e-9)}
    assert interpret(program, data)[0][0] == pytest.approx(float(np.float32(1e-9)), rel=1e-6)
    assert interpret(program, data, mode="exact")[0][0] == 0.0


def test_f32_overflows_in_the_reference_too() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    squared = b.call("square", x)
    (found,) = interpret(b.program(b.call("divide", squared, squared)), {"x": _f32(1e30)})
    assert math.isnan(found[0])


def test_scalar_parameters_and_sizes() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    eps = b.param("eps", F32, (), default=0.5)
    program = b.program(b.call("add", x, b.view(eps, (), ("N",))), b.size(dim("N") * 2 - 1, F64), b.iota("N"))
    total, number, iota = interpret(program, {"x": _f32(1, 2)})
    assert total.tolist() == [1.5, 2.5] and number == 3.0 and iota.tolist() == [0, 1]
    assert interpret(program, {"x": _f32(1), "eps": 2})[0].tolist() == [3.0]


@pytest.mark.parametrize(
    ("arrays", "error", "text"),
    [
        ({}, TypeError, "'x' is missing"),
        ({"x": np.zeros((2, 3), np.float32), "y": 1}, TypeError, "no parameter is called 'y'"),
        ({"x": np.zeros((2, 3))}, TypeError, "is float64, expected f32"),
        ({"x": np.zeros(3, np.float32)}, ValueError, "rank 1, expected 2"),
        ({"x": np.zeros((2, 3), np.float32)}, ValueError, "shape"),
    ],
)
def test_bad_arguments(arrays: dict[str, object], error: type[Exception], text: str) -> None:
    b = ProgramBuilder()
    program = b.program(b.param("x", F32, ("N", dim("N") * 2)))
    with pytest.raises(error, match=text):
        interpret(program, arrays)


def test_matmul_batches_and_wraps() -> None:
    b = ProgramBuilder()
    x, y = b.param("x", I32, ("B", "M", "K")), b.param("y", I32, ("B", "K", "N"))
    left = RNG.integers(LOW, 2**31, (2, 3, 4)).astype(np.int32)
    right = RNG.integers(LOW, 2**31, (2, 4, 5)).astype(np.int32)
    (found,) = interpret(b.program(b.matmul(x, y)), {"x": left, "y": right})
    expected = (left.astype(object) @ right.astype(object) + 2**31) % 2**32 - 2**31
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, expected.astype(np.int64))


def test_exact_steps_have_no_bound_and_a_sum_has_the_promised_one() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    doubled = b.call("add", x, x)
    program = b.program(doubled, b.reduce("sum", doubled, 0))
    data = RNG.normal(size=1024).astype(np.float32)
    (_, total), (step, spread) = interpret_with_bounds(program, {"x": data})
    assert not step.any()
    magnitudes = np.abs(2.0 * data.astype(np.float64)).sum()
    assert float(spread) == pytest.approx(19 * 2.0**-24 * magnitudes, rel=1e-3)
    assert abs(float(total) - (2.0 * data.astype(np.float64)).sum()) < 1e-9


def test_decisions_within_the_bound_are_open() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    e = b.call("exp", x)
    program = b.program(
        b.call("less", e, b.splat(float(np.float32(np.exp(2.0))), ("N",))),
        b.cast(e, I32),
        b.call("floor", e),
        b.call("where", b.call("greater", e, b.splat(1.0, ("N",))), x, b.splat(0.0, ("N",))),
        b.call("where", b.call("greater", e, b.splat(1.0, ("N",))), x, b.splat(9.0, ("N",))),
    )
    _, (less, cast, floor, near, far) = interpret_with_bounds(program, {"x": _f32(1.0, 2.0, 0.0)})
    assert less.tolist() == [0.0, math.inf, 0.0]
    assert cast.tolist() == [0.0, 0.0, math.inf]
    assert floor.tolist() == [0.0, 0.0, 1.0]
    assert near.tolist() == [0.0, 0.0, 0.0]
    assert far.tolist() == [0.0, 0.0, 9.0]


def test_argmax_is_open_only_between_near_values() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", "M"))
    program = b.program(b.reduce("argmax", b.call("exp", x), 1))
    _, (bound,) = interpret_with_bounds(
        program, {"x": np.stack([_f32(1, 2, 3), _f32(1, 3, np.nextafter(3, 4))])}
    )
    assert bound.tolist() == [0.0, math.inf]


def test_overflow_within_the_bound_is_open() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    (value,), (bound,) = interpret_with_bounds(
        b.program(b.call("exp", x)), {"x": _f32(88.0, 100.0, math.inf, math.nan)}
    )
    assert value[1] == math.inf and bound[1] == 0.0
    assert bound[0] > 0 and bound[2] == 0.0 and bound[3] == 0.0
    largest = b.splat(float(np.finfo(np.float32).max), ("N",))
    product = b.program(b.call("multiply", b.call("tanh", x), largest))
    _, (bound,) = interpret_with_bounds(product, {"x": _f32(20.0, 1.0)})
    assert bound[0] == math.inf and math.isfinite(bound[1])


def test_finite_terms_that_overflow_against_an_infinity_are_open() -> None:
    """Added one after another 1e308 + 1e308 - inf is NaN, in another order -inf."""
    b = ProgramBuilder()
    x = b.param("x", F64, ("N", "M"))
    program = b.program(b.reduce("sum", x, 1), b.op("scan", (x,), Scan("sum", 1), F64, b.ops[x].shape))
    rows = np.array([[1e308, 1e308, -math.inf], [math.inf, 1e308, -math.inf], [1.0, 1.0, -math.inf]])
    _, (total, prefixes) = interpret_with_bounds(program, {"x": rows})
    assert total.tolist() == [math.inf, 0.0, 0.0]
    assert prefixes[:, 2].tolist() == [math.inf, 0.0, 0.0]


def test_compare_names_the_first_difference() -> None:
    value, bound = np.array([[1.0, math.nan], [math.inf, 2.0]]), np.full((2, 2), 0.25)
    assert compare(np.array([[1.2, math.nan], [math.inf, 1.8]], np.float32), value, bound) is None
    found = compare(np.array([[1.2, math.nan], [-math.inf, 9.0]], np.float32), value, bound)
    assert found is not None and found.index == (1, 0) and "expected inf" in str(found)
    assert compare(np.array([[1.2, 0.0], [math.inf, 2.0]]), value, bound) is not None
    assert compare(np.array([1, 2]), np.array([1, 3]), np.array([0.0, math.inf])) is None
    assert compare(np.array([1, 2]), np.array([1, 3]), np.array([0.0, 0.0])) is not None
    with pytest.raises(ValueError, match="shape"):
        compare(np.zeros(2), np.zeros(3), np.zeros(3))


@pytest.mark.parametrize("axis", [0, 1])
def test_f64_sums_are_pairwise_along_every_axis(axis: int) -> None:
    b = ProgramBuilder()
    program = b.program(b.reduce("sum", b.param("x", F64, ("N", "M")), axis))
    x = np.random.default_rng(1).normal(size=(3000, 3) if axis == 0 else (3, 3000)) + 1e3
    (found,) = interpret(program, {"x": x})
    exact = np.sum(x.astype(np.longdouble), axis=axis)
    assert np.max(np.abs(found - exact) / exact) < 4 * 2.0**-53


def test_one_bound_for_a_whole_part_counts_when_it_is_joined() -> None:
    program = kernel("x: f32[N]", "concat((zeros((2,)), mean(x, keepdims=true)))")
    _, (bound,) = interpret_with_bounds(program, {"x": RNG.normal(size=9).astype(np.float32)})
    assert (bound > 0).tolist() == [False, False, True]
