"""Numbers that arithmetic of typed constants gives.

Such arithmetic is emitted like any other, as operations on constants, and read from them here.
"""

from __future__ import annotations

from tensorc.sema.builder import Builder
from tensorc.sema.numbers import fold_typed
from tensorc.sema.values import Known, Tensor, Value
from tensorc.tensor_ir.program import Constant, TensorOp


def as_number(k: Builder, value: Value) -> Value:
    """The number that a scalar is, where it is arithmetic of constants; any other value as it is."""
    if not isinstance(value, Tensor) or value.shape:
        return value
    numbers: list[Known | None] = []
    for op in k.ops[: value.id + 1]:
        operands = [numbers[n] for n in op.operands]
        found = tuple(n for n in operands if n is not None)
        numbers.append(_number_of(op, found) if len(found) == len(operands) else None)
    number = numbers[value.id]
    if number is None:
        return value
    return Known(number.value) if value.weak else number


def _number_of(op: TensorOp, operands: tuple[Known, ...]) -> Known | None:
    if isinstance(op.attrs, Constant):
        value = op.attrs.value
        return Known(bool(value) if op.dtype.is_bool else value, op.dtype)
    return fold_typed(op.op, operands, op.dtype) if operands and not op.shape else None
