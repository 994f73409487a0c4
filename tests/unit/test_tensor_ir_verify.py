from __future__ import annotations

from dataclasses import replace

import pytest
from ir_builders import ProgramBuilder, i

from tensorc.diagnostics.model import CompileError
from tensorc.dtypes import BOOL, F32, F64, I32, I64, DType
from tensorc.errors import InternalError, IRError
from tensorc.index_algebra import as_poly, dim
from tensorc.tensor_ir.program import Constant, Reduce, TensorOp, TensorProgram
from tensorc.tensor_ir.verify import verify_tensor_program


def _softmax() -> tuple[ProgramBuilder, TensorProgram]:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", "D"))
    m = b.view(b.reduce("max", x, 1), (i(0),), ("N", "D"), "broadcast_to")
    e = b.call("exp", b.call("subtract", x, m))
    s = b.view(b.reduce("sum", e, 1), (i(0),), ("N", "D"), "broadcast_to")
    return b, b.program(b.call("divide", e, s))


def test_a_legal_program_passes() -> None:
    verify_tensor_program(_softmax()[1])


def test_internal_and_user_errors_are_different_types() -> None:
    assert issubclass(IRError, InternalError)
    assert not issubclass(IRError, CompileError)
    assert not issubclass(CompileError, InternalError)


def _with_op(position: int, **changes: object) -> TensorProgram:
    p = _softmax()[1]
    ops = list(p.ops)
    ops[position] = replace(ops[position], **changes)
    return replace(p, ops=tuple(ops))


@pytest.mark.parametrize(
    ("position", "changes", "problem"),
    [
        (3, {"op": "no_such"}, "no such operation"),
        (3, {"operands": (0,)}, "has 1 operands"),
        (3, {"operands": (0, 3)}, "%3 is not an earlier value"),
        (3, {"operands": (0, 1)}, "another shape"),
        (3, {"dtype": F64}, "gives f32, not f64"),
        (3, {"shape": (dim("N"), dim("Q"))}, "holds Q"),
        (3, {"attrs": Constant(1.0)}, "takes no attrs"),
        (1, {"attrs": Reduce("maximum", (1,))}, "known kind"),
        (1, {"attrs": Reduce("max", ())}, "not sorted axes"),
        (1, {"attrs": Reduce("max", (2,))}, "not sorted axes"),
        (1, {"attrs": Reduce("max", (0,))}, "without the reduced axes"),
        (1, {"attrs": Reduce("argmax", (1,))}, "gives i64, not f32"),
        (2, {"dtype": F64}, "changes the dtype"),
        (0, {"dtype": F64}, "differs from parameter x"),
    ],
)
def test_an_illegal_op_is_named(position: int, changes: dict[str, object], problem: str) -> None:
    with pytest.raises(IRError, match=problem) as caught:
        verify_tensor_program(_with_op(position, **changes))
    assert f"%{position}" in caught.value.where


@pytest.mark.parametrize(
    ("op", "dtypes"),
    [
        ("divide", (I32, I32)),
        ("bitwise_and", (F32, F32)),
        ("add", (F32, F64)),
        ("logical_not", (I32,)),
        ("subtract", (BOOL, BOOL)),
        ("where", (F32, F32, F32)),
        ("isnan", (I64,)),
    ],
)
def test_operators_exist_for_their_domain_only(op: str, dtypes: tuple[DType, ...]) -> None:
    b = ProgramBuilder()
    operands = [b.param(f"p{k}", t, ("N",)) for k, t in enumerate(dtypes)]
    with pytest.raises(IRError):
        verify_tensor_program(b.program(b.call(op, *operands)))


@pytest.mark.parametrize(("value", "dtype"), [(1, F32), (1.0, I32), (2, BOOL), (1 << 31, I32)])
def test_a_constant_fits_its_dtype(value: float, dtype: DType) -> None:
    b = ProgramBuilder()
    with pytest.raises(IRError):
        verify_tensor_program(b.program(b.constant(value, dtype)))


def test_view_indices_use_the_axes_of_the_result() -> None:
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", "D"))
    with pytest.raises(IRError, match="i1"):
        verify_tensor_program(b.program(b.view(x, (i(0), i(1)), ("N",))))
    b = ProgramBuilder()
    with pytest.raises(IRError, match="1 indices for an operand of rank 2"):
        verify_tensor_program(b.program(b.view(b.param("x", F32, ("N", "D")), (i(0),), ("N",))))


def test_matmul_contracts_equal_sizes() -> None:
    b = ProgramBuilder()
    left, right = b.param("a", F32, ("M", "K")), b.param("b", F32, ("N", "K"))
    with pytest.raises(IRError, match="contracted"):
        verify_tensor_program(b.program(b.matmul(left, right)))


def test_results_match_the_signature() -> None:
    p = _softmax()[1]
    wrong = (replace(p.signature.results[0], dtype=F64),)
    with pytest.raises(IRError, match="out0 is f32"):
        verify_tensor_program(replace(p, signature=replace(p.signature, results=wrong)))
    with pytest.raises(IRError, match="out0 has rank 1"):
        verify_tensor_program(replace(p, results=(1,)))
    with pytest.raises(IRError, match="2 values for 1 results"):
        verify_tensor_program(replace(p, results=(1, 1)))


def test_a_size_is_a_number() -> None:
    b = ProgramBuilder()
    b.param("x", F32, ("N",))
    verify_tensor_program(b.program(b.size("N", F32)))
    with pytest.raises(IRError, match="number"):
        verify_tensor_program(b.program(b.size(as_poly(4), BOOL)))


def test_iota_is_i64() -> None:
    b = ProgramBuilder()
    program = b.program(b.iota(4))
    verify_tensor_program(program)
    op: TensorOp = replace(program.ops[0], dtype=I32)
    with pytest.raises(IRError, match="i64"):
        verify_tensor_program(replace(program, ops=(op,)))
