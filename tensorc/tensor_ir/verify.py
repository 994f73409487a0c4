"""Verify a TensorProgram: one rule per operation says what is legal (see `program`).

Runs at stage borders. A rule returns the problem as a sentence, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tensorc.dtypes import BOOL, F64, I64, SUPPORTED, U64, DType
from tensorc.errors import IRError
from tensorc.index_algebra import ONE, ZERO, Poly, product
from tensorc.operators import OPERATORS, REDUCTIONS, SCANS, Operator, Typing
from tensorc.signature import Signature
from tensorc.tensor_ir.program import (
    Concat,
    Constant,
    Gather,
    GatheredPlace,
    ParamRef,
    Reduce,
    Scan,
    SizeValue,
    TensorOp,
    TensorProgram,
    View,
)

Rule = Callable[[TensorOp, Sequence[TensorOp], Signature], str | None]


def verify_tensor_program(p: TensorProgram) -> None:
    """Check every operation and the results against the table of rules.

    Raises:
        IRError: naming the first value that is not legal.
    """
    dims = frozenset(d.name for d in p.signature.dims)
    for position, op in enumerate(p.ops):
        problem = _op_problem(p, position, op, dims)
        if problem is not None:
            raise IRError(f"kernel {p.signature.name}, value %{position} = {op.op}", problem)
    problem = _results_problem(p)
    if problem is not None:
        raise IRError(f"kernel {p.signature.name}, results", problem)


def _op_problem(p: TensorProgram, position: int, op: TensorOp, dims: frozenset[str]) -> str | None:
    rule = _RULES.get(op.op) or (_elementwise if op.op in OPERATORS else None)
    if rule is None:
        return "no such operation"
    if op.dtype.name not in SUPPORTED:
        return f"dtype {op.dtype} cannot be computed with"
    late = [f"%{k}" for k in op.operands if not 0 <= k < position]
    if late:
        return f"operand {late[0]} is not an earlier value"
    arity = len(op.operands) if op.op == "gather" else _ARITY.get(op.op)
    expected = arity if arity is not None else OPERATORS[op.op].arity
    if op.op == "concat":
        expected = max(len(op.operands), 1)
    if len(op.operands) != expected:
        return f"has {len(op.operands)} operands, expected {expected}"
    foreign = _foreign_variable(op.shape, dims, axes=())
    if foreign:
        return f"its shape holds {foreign}, which is not a dim of the kernel"
    return rule(op, [p.ops[k] for k in op.operands], p.signature)


def _foreign_variable(sizes: Iterable[Poly], dims: frozenset[str], axes: Sequence[str]) -> str:
    """The first variable of `sizes` that is neither a dim nor one of `axes`; "" if there is none."""
    for size in sizes:
        for symbol in size.symbols():
            if symbol.name not in (axes if symbol.axis else dims):
                return symbol.name
    return ""


def _results_problem(p: TensorProgram) -> str | None:
    if len(p.results) != len(p.signature.results):
        return f"{len(p.results)} values for {len(p.signature.results)} results"
    for value, result in zip(p.results, p.signature.results, strict=True):
        if not 0 <= value < len(p.ops):
            return f"{result.name} is %{value}, which does not exist"
        op = p.ops[value]
        if op.dtype != result.dtype:
            return f"{result.name} is {op.dtype}, the signature says {result.dtype}"
        if len(op.shape) != len(result.shape):
            return f"{result.name} has rank {len(op.shape)}, the signature says {len(result.shape)}"
    return None


def _param(op: TensorOp, _: Sequence[TensorOp], signature: Signature) -> str | None:
    if not isinstance(op.attrs, ParamRef) or not 0 <= op.attrs.position < len(signature.params):
        return "its attrs are not a parameter's position"
    param = signature.params[op.attrs.position]
    if op.dtype != param.dtype or op.shape != param.shape:
        return f"type differs from parameter {param.name}"
    return None


def _constant(op: TensorOp, _: Sequence[TensorOp], __: Signature) -> str | None:
    if not isinstance(op.attrs, Constant):
        return "its attrs are not a Constant"
    if op.shape:
        return "a constant has rank 0"
    if isinstance(op.attrs.value, float) is not op.dtype.is_float:
        return f"{op.attrs.value!r} is not a value of {op.dtype}"
    if isinstance(op.attrs.value, int) and not fits_integer(op.attrs.value, op.dtype):
        return f"{op.attrs.value} does not fit {op.dtype}"
    return None


def fits_integer(value: int, dtype: DType) -> bool:
    """True when `value` is representable in the integer or bool type `dtype`."""
    if dtype.is_bool:
        return value in (0, 1)
    return dtype.lowest <= value <= dtype.highest


def _size(op: TensorOp, _: Sequence[TensorOp], signature: Signature) -> str | None:
    if not isinstance(op.attrs, SizeValue):
        return "its attrs are not a SizeValue"
    if op.shape or op.dtype.is_bool:
        return "a size is a number of rank 0"
    foreign = _foreign_variable((op.attrs.size,), frozenset(d.name for d in signature.dims), ())
    return f"it holds {foreign}, which is not a dim of the kernel" if foreign else None


def _iota(op: TensorOp, _: Sequence[TensorOp], __: Signature) -> str | None:
    if op.attrs is not None:
        return "takes no attrs"
    return None if len(op.shape) == 1 and op.dtype == I64 else "is not a one-dimensional i64"


def _cast(op: TensorOp, operands: Sequence[TensorOp], _: Signature) -> str | None:
    if op.attrs is not None:
        return "takes no attrs"
    return None if operands[0].shape == op.shape else "its operand has another shape"


def _elementwise(op: TensorOp, operands: Sequence[TensorOp], _: Signature) -> str | None:
    if op.attrs is not None:
        return "takes no attrs"
    for k, operand in enumerate(operands):
        if operand.shape != op.shape:
            return f"operand {k} has another shape"
    return operand_types_problem(OPERATORS[op.op], [o.dtype for o in operands], op.dtype)


def operand_types_problem(row: Operator, operands: Sequence[DType], result: DType) -> str | None:
    """What is wrong with an operator's dtypes, or None; shared by the two IRs' verifiers."""
    if row.typing is Typing.WHERE:
        if operands[0] != BOOL:
            return "its condition is not bool"
        operands = operands[1:]
    computed = operands[0]
    if any(t != computed for t in operands):
        return f"operands differ in dtype: {', '.join(map(str, operands))}"
    if computed.domain not in row.domain:
        return f"does not exist for {computed}"
    gives_bool = row.typing in (Typing.COMPARE, Typing.LOGICAL, Typing.PREDICATE)
    expected = BOOL if gives_bool else computed
    return None if result == expected else f"gives {expected}, not {result}"


def _view(op: TensorOp, operands: Sequence[TensorOp], signature: Signature) -> str | None:
    if not isinstance(op.attrs, View):
        return "its attrs are not a View"
    source = operands[0]
    if op.dtype != source.dtype:
        return "changes the dtype"
    if len(op.attrs.index) != len(source.shape):
        return f"{len(op.attrs.index)} indices for an operand of rank {len(source.shape)}"
    axes = [f"i{k}" for k in range(len(op.shape))]
    dims = frozenset(d.name for d in signature.dims)
    foreign = _foreign_variable(op.attrs.index, dims, axes)
    return f"an index holds {foreign}, which is neither a dim nor an axis" if foreign else None


def _gather(op: TensorOp, operands: Sequence[TensorOp], signature: Signature) -> str | None:
    if not isinstance(op.attrs, Gather) or len(operands) < 2:
        return "is not a Gather of a source and at least one index"
    source, indices = operands[0], operands[1:]
    if op.dtype != source.dtype:
        return "changes the dtype"
    if len(op.attrs.places) != len(source.shape):
        return f"{len(op.attrs.places)} places for a source of rank {len(source.shape)}"
    if any(i.dtype != I64 or i.shape != op.shape for i in indices):
        return "an index is not an i64 of its shape"
    gathered = [p for p in op.attrs.places if isinstance(p, GatheredPlace)]
    if sorted(p.operand for p in gathered) != list(range(1, len(operands))):
        return "its indices are not each the place along one axis"
    if any(p.wraps and not p.checked for p in gathered):
        return "an index that wraps is checked"
    axes = [f"i{k}" for k in range(len(op.shape))]
    dims = frozenset(d.name for d in signature.dims)
    foreign = _foreign_variable((p for p in op.attrs.places if isinstance(p, Poly)), dims, axes)
    return f"a place holds {foreign}, which is neither a dim nor an axis" if foreign else None


def _reshape(op: TensorOp, operands: Sequence[TensorOp], _: Signature) -> str | None:
    if op.attrs is not None:
        return "has attrs"
    if op.dtype != operands[0].dtype:
        return "changes the dtype"
    # counts that are not plainly equal are compared at the call
    difference = (product(op.shape) - product(operands[0].shape)).constant
    return "changes the number of elements" if difference else None


def _concat(op: TensorOp, operands: Sequence[TensorOp], _: Signature) -> str | None:
    if not isinstance(op.attrs, Concat) or not 0 <= op.attrs.axis < len(op.shape):
        return "its attrs are not a Concat along one of its axes"
    at = op.attrs.axis
    for operand in operands:
        if operand.dtype != op.dtype:
            return "changes the dtype"
        if len(operand.shape) != len(op.shape):
            return "operands differ in rank"
        if (*operand.shape[:at], *operand.shape[at + 1 :]) != (*op.shape[:at], *op.shape[at + 1 :]):
            return "operands differ in another axis"
    total = sum((operand.shape[at] for operand in operands), ZERO)
    return None if total == op.shape[at] else f"axis {at} is {op.shape[at]}, its operands have {total}"


def _reduce(op: TensorOp, operands: Sequence[TensorOp], _: Signature) -> str | None:
    if not isinstance(op.attrs, Reduce) or op.attrs.kind not in REDUCTIONS:
        return "its attrs are not a Reduce of a known kind"
    source, axes = operands[0], op.attrs.axes
    if not axes or list(axes) != sorted(set(axes)) or axes[0] < 0 or axes[-1] >= len(source.shape):
        return f"axes {axes} are not sorted axes of an operand of rank {len(source.shape)}"
    if op.shape != tuple(s for k, s in enumerate(source.shape) if k not in axes):
        return "its shape is not the operand's without the reduced axes"
    expected = reduction_dtype(op.attrs.kind, source.dtype)
    return None if op.dtype == expected else f"gives {expected}, not {op.dtype}"


def reduction_dtype(kind: str, operand: DType) -> DType:
    """The dtype that a reduction of `operand` gives (see `operators.ReductionKind`)."""
    if kind in ("any", "all"):
        return BOOL
    if kind in ("argmax", "argmin"):
        return I64
    if kind in ("sum", "prod"):
        return operand if operand.is_float else U64 if operand.is_unsigned else I64
    if kind in ("var", "std"):
        return operand if operand.is_float else F64
    return operand


def _scan(op: TensorOp, operands: Sequence[TensorOp], _: Signature) -> str | None:
    if not isinstance(op.attrs, Scan):
        return "its attrs are not a Scan"
    source = operands[0]
    if not 0 <= op.attrs.axis < len(source.shape):
        return f"axis {op.attrs.axis} is no axis of an operand of rank {len(source.shape)}"
    if source.shape[op.attrs.axis] == ONE:
        return "scans an axis of extent 1"
    if op.shape != source.shape or op.dtype != source.dtype:
        return "its type is not its operand's"
    return scan_problem(op.attrs.kind, op.dtype)


def scan_problem(kind: str, dtype: DType) -> str | None:
    """What stands against a scan of `kind` of values of `dtype`."""
    if kind not in SCANS:
        return f"there is no scan {kind}"
    narrow = not dtype.is_float and (dtype.is_bool or dtype.size < I64.size)
    return f"a scan of {kind} accumulates in 64 bits" if kind in ("sum", "prod") and narrow else None


def _matmul(op: TensorOp, operands: Sequence[TensorOp], _: Signature) -> str | None:
    left, right = operands
    if left.dtype != op.dtype or right.dtype != op.dtype:
        return "operands and result differ in dtype"
    if len(left.shape) < 2 or len(left.shape) != len(right.shape):
        return "operands are not of one rank, at least 2"
    if left.shape[:-2] != right.shape[:-2] or left.shape[-1] != right.shape[-2]:
        return "batch axes or contracted sizes differ"
    expected = (*left.shape[:-1], right.shape[-1])
    return None if op.shape == expected else "its shape is not [..., M, N]"


_RULES: dict[str, Rule] = {
    "param": _param,
    "constant": _constant,
    "size": _size,
    "iota": _iota,
    "cast": _cast,
    "view": _view,
    "gather": _gather,
    "reshape": _reshape,
    "concat": _concat,
    "reduce": _reduce,
    "scan": _scan,
    "matmul": _matmul,
}
_ARITY = {
    "param": 0,
    "constant": 0,
    "size": 0,
    "iota": 0,
    "cast": 1,
    "view": 1,
    "reshape": 1,
    "concat": 1,
    "reduce": 1,
    "scan": 1,
    "matmul": 2,
}
