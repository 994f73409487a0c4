from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_builders import ProgramBuilder, i

from tensorc.dtypes import BOOL, F32, F64, I32, I64, DType
from tensorc.tensor_ir.constant_fold import fold_cast, fold_operator
from tensorc.tensor_ir.print_ir import print_tensor_program
from tensorc.tensor_ir.program import Constant, TensorProgram, View
from tensorc.tensor_ir.simplify import simplify_program
from tensorc.tensor_ir.verify import verify_tensor_program


def _simplified(p: TensorProgram) -> TensorProgram:
    verify_tensor_program(p)
    q = simplify_program(p)
    verify_tensor_program(q)
    assert simplify_program(q) is q, "a simplified program stays as it is"
    return q


def _names(p: TensorProgram) -> list[str]:
    return [op.op for op in p.ops]


def test_a_program_without_work_is_returned_itself() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    p = b.program(b.call("exp", x))
    assert simplify_program(p) is p


def test_equal_ops_merge_and_keep_a_user_name() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    p = _simplified(b.program(b.call("add", b.call("exp", x), b.call("exp", x, name="e"))))
    assert _names(p) == ["param", "exp", "add"]
    assert p.ops[2].operands == (1, 1)
    assert p.ops[1].name == "e"


def test_constants_of_different_sign_or_type_do_not_merge() -> None:
    b = ProgramBuilder()
    p = _simplified(b.program(b.constant(0.0), b.constant(-0.0), b.constant(0.0, F64), b.constant(0.0)))
    assert p.results == (0, 1, 2, 0)


@pytest.mark.parametrize(
    ("op", "result", "number"), [("floor_divide", "right_shift", 3), ("remainder", "bitwise_and", 7)]
)
def test_integers_are_not_divided_by_powers_of_two(op: str, result: str, number: int) -> None:
    for divisor in (8, 1 << 62, 6, -8, 0, 1):
        b = ProgramBuilder()
        x = b.param("x", I64, ("N",))
        splat = b.view(b.constant(divisor, I64), (), ("N",), "broadcast_to")
        p = _simplified(b.program(b.call(op, x, splat)))
        if divisor in (8, 1 << 62):
            assert op not in _names(p)
            assert _names(p)[-1] == result
        elif divisor != 1:
            assert _names(p)[-1] == op
        if divisor == 8:
            assert [o.attrs.value for o in p.ops if isinstance(o.attrs, Constant)] == [number]


def test_dead_ops_go_and_dead_params_stay() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    b.param("unused", F32, ("N",))
    b.call("exp", x)
    p = _simplified(b.program(b.call("sin", x)))
    assert _names(p) == ["param", "param", "sin"]


def test_constants_fold_through_broadcasts() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    two_pi = b.call("multiply", b.splat(2.0, ("N",)), b.splat(3.140625, ("N",)))
    p = _simplified(b.program(b.call("multiply", x, two_pi)))
    constants = [op.attrs.value for op in p.ops if isinstance(op.attrs, Constant)]
    assert constants == [6.28125]
    assert _names(p) == ["param", "constant", "view", "multiply"]


def test_views_compose_and_the_identity_goes() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", "D"))
    t = b.view(x, (i(1), i(0)), ("D", "N"), "permute_dims")
    back = b.view(t, (i(1), i(0)), ("N", "D"), "permute_dims")
    step = b.view(t, (i(0) * 2 + 1, i(1)), (3, "N"))
    p = _simplified(b.program(back, step))
    assert p.results[0] == 0
    attrs = p.ops[p.results[1]].attrs
    assert isinstance(attrs, View)
    assert attrs.index == (i(1), i(0) * 2 + 1)


def test_a_view_that_only_renames_the_size_stays() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    b.param("y", F32, ("M",))
    assert _names(_simplified(b.program(b.view(x, (i(0),), ("M",))))) == ["param", "param", "view"]


@pytest.mark.parametrize(
    ("op", "value", "dtype", "gone"),
    [
        ("multiply", 1.0, F32, True),
        ("divide", 1.0, F32, True),
        ("add", -0.0, F32, True),
        ("subtract", 0.0, F32, True),
        ("add", 0, I32, True),
        ("floor_divide", 1, I64, True),
        ("power", 1.0, F32, True),
        ("multiply", 1, BOOL, True),
        ("logical_and", 1, BOOL, True),
        ("add", 0.0, F32, False),
        ("subtract", -0.0, F32, False),
        ("multiply", 0.0, F32, False),
        ("multiply", -1.0, F32, False),
        ("multiply", 0, I32, False),
        ("floor_divide", 1.0, F32, False),
        ("power", 0.0, F32, False),
        ("power", 0.5, F64, False),
        ("maximum", -math.inf, F32, False),
    ],
)
def test_only_neutral_operands_go(op: str, value: float, dtype: DType, gone: bool) -> None:
    b = ProgramBuilder()
    x = b.param("x", dtype, ("N",))
    p = _simplified(b.program(b.call(op, x, b.splat(value, ("N",), dtype))))
    assert (p.results == (0,)) is gone
    if not gone:
        assert p.ops[-1].op == op


def test_neutral_on_the_left() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    one = b.splat(1.0, ("N",))
    p = _simplified(b.program(b.call("multiply", one, x), b.call("divide", one, x)))
    assert p.results[0] == 0
    assert p.ops[p.results[1]].op == "divide"


def test_casts() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    n = b.param("n", I64, ("N",))
    same = b.cast(x, F32)
    round_trip = b.cast(b.cast(x, F64), F32)
    through = b.cast(b.cast(x, F64), I32)
    lossy = b.cast(b.cast(n, F64), I64)
    p = _simplified(b.program(same, round_trip, through, lossy))
    assert p.results[:2] == (0, 0)
    assert p.ops[p.results[2]].operands == (0,)
    assert p.ops[p.ops[p.results[3]].operands[0]].dtype == F64


def test_double_inverse_and_where() -> None:
    b = ProgramBuilder()
    x, c = b.param("x", F32, ("N",)), b.param("c", BOOL, ("N",))
    y = b.call("exp", x)
    p = _simplified(
        b.program(
            b.call("negative", b.call("negative", x)),
            b.call("where", c, x, x),
            b.call("where", b.splat(0, ("N",), BOOL), y, x),
            b.call("logical_not", b.call("logical_not", c)),
        )
    )
    assert p.results == (0, 0, 0, 1)


@pytest.mark.parametrize(
    ("divisor", "dtype", "factor"),
    [
        (8.0, F32, 0.125),
        (-0.5, F64, -2.0),
        (3.0, F32, None),
        (0.0, F32, None),
        (math.inf, F32, None),
        (2.0**-140, F32, None),
        (2.0**127, F32, None),
        (2.0**126, F32, 2.0**-126),
        (math.nan, F64, None),
    ],
)
def test_division_by_a_power_of_two(divisor: float, dtype: DType, factor: float | None) -> None:
    b = ProgramBuilder()
    x = b.param("x", dtype, ("N",))
    p = _simplified(b.program(b.call("divide", x, b.splat(divisor, ("N",), dtype))))
    assert p.ops[-1].op == ("divide" if factor is None else "multiply")
    if factor is not None:
        assert [op.attrs.value for op in p.ops if isinstance(op.attrs, Constant)] == [factor]


def test_square_and_fixed_sizes() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    p = _simplified(b.program(b.call("power", x, b.splat(2.0, ("N",))), b.size(16777217, F32)))
    assert p.ops[p.results[0]].op == "square"
    constant = p.ops[p.results[1]].attrs
    assert isinstance(constant, Constant)
    assert constant.value == 16777216.0


def test_a_sum_of_thousands_of_terms() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N",))
    total = x
    for _ in range(3000):
        total = b.call("add", total, x)
    assert len(_simplified(b.program(total)).ops) == 3001


def test_text_is_the_same_for_equal_programs() -> None:
    def text() -> str:
        b = ProgramBuilder()
        x = b.param("x", F32, ("N",))
        return print_tensor_program(simplify_program(b.program(b.call("exp", b.call("abs", x)))))

    assert text() == text()


_BINARY = ("add", "subtract", "multiply", "divide", "equal", "less", "greater_equal", "copysign")
_UNARY = (
    "negative",
    "abs",
    "square",
    "sqrt",
    "reciprocal",
    "floor",
    "ceil",
    "trunc",
    "round",
    "sign",
    "isnan",
)
_FLOATS32 = st.floats(width=32) | st.sampled_from([0.0, -0.0, 1.0, -0.5, 2.5, 3.4e38, 1e-45])


def _assert_same(folded: float | None, expected: np.generic) -> None:
    assert folded is not None
    np.testing.assert_equal(float(folded), float(expected))
    assert math.isnan(folded) or np.signbit(folded) == np.signbit(float(expected))


def _rounded(value: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float32(value))


@given(st.sampled_from(_BINARY), _FLOATS32, _FLOATS32)
def test_f32_folding_has_numpys_bits(op: str, a: float, b: float) -> None:
    a, b = _rounded(a), _rounded(b)
    with np.errstate(all="ignore"):
        expected = getattr(np, op)(np.float32(a), np.float32(b))
    folded = fold_operator(op, (a, b), F32, F32 if expected.dtype == np.float32 else BOOL)
    _assert_same(folded, expected)


@given(st.sampled_from(_UNARY), _FLOATS32)
def test_f32_unary_folding_has_numpys_bits(op: str, a: float) -> None:
    a = _rounded(a)
    with np.errstate(all="ignore"):
        expected = getattr(np, {"round": "rint"}.get(op, op))(np.float32(a))
    folded = fold_operator(op, (a,), F32, F32 if op != "isnan" else BOOL)
    _assert_same(folded, expected)


@given(
    st.sampled_from(("add", "subtract", "multiply")),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**31), 2**31 - 1),
)
def test_i32_folding_wraps(op: str, a: int, b: int) -> None:
    expected = getattr(np, op)(np.array([a], np.int32), np.array([b], np.int32))[0]
    assert fold_operator(op, (a, b), I32, I32) == int(expected)


@pytest.mark.parametrize(
    ("op", "args", "value"),
    [
        ("floor_divide", (-7, 2), -4),
        ("floor_divide", (7, 0), 0),
        ("floor_divide", (-(2**31), -1), -(2**31)),
        ("remainder", (-7, 2), 1),
        ("remainder", (7, -2), -1),
        ("remainder", (7, 0), 0),
        ("remainder", (-(2**31), -1), 0),
        ("left_shift", (1, 31), -(2**31)),
        ("left_shift", (1, 32), 0),
        ("left_shift", (1, -1), 0),
        ("right_shift", (-8, 1), -4),
        ("right_shift", (-8, 40), -1),
        ("right_shift", (8, -1), 0),
        ("abs", (-(2**31),), -(2**31)),
        ("power", (2, 3), None),
    ],
)
def test_i32_corners(op: str, args: tuple[int, ...], value: int | None) -> None:
    assert fold_operator(op, args, I32, I32) == value


@pytest.mark.parametrize(
    ("value", "dtype", "result"),
    [
        (1e10, I32, 2**31 - 1),
        (-1e10, I32, -(2**31)),
        (math.nan, I32, 0),
        (math.inf, I64, 2**63 - 1),
        (-math.inf, I64, -(2**63)),
        (-1.9, I32, -1),
        (math.nan, BOOL, 1),
        (-0.0, BOOL, 0),
        (2**40 + 1, I32, 1),
        (2**24 + 1, F32, 2.0**24),
        (2**54 + 2**30 + 1, F32, 2.0**54 + 2.0**31),
        (1e39, F32, math.inf),
    ],
)
def test_cast_corners(value: float, dtype: DType, result: float) -> None:
    assert fold_cast(value, dtype) == result


@given(st.integers(-(2**63), 2**63 - 1))
def test_i64_to_f32_rounds_once(value: int) -> None:
    assert fold_cast(value, F32) == float(np.int64(value).astype(np.float32))


def test_maximum_corners() -> None:
    for args in ((0.0, -0.0), (-0.0, 0.0)):
        high, low = fold_operator("maximum", args, F32, F32), fold_operator("minimum", args, F32, F32)
        assert math.copysign(1.0, high or 0.0) == 1.0
        assert math.copysign(1.0, low if low is not None else 1) == -1.0
    assert math.isnan(fold_operator("maximum", (math.nan, 1.0), F32, F32) or 0)
    assert math.isnan(fold_operator("minimum", (1.0, math.nan), F32, F32) or 0)
    assert math.copysign(1.0, fold_operator("relu", (-0.0,), F32, F32) or 0.0) == 1.0
