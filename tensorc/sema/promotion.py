"""The dtype that operands compute in: NumPy 2's promotion, with weak numbers adapting to strong ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensorc.dtypes import BOOL, F32, F64, I64, DType, promote
from tensorc.sema.values import Known, Numeric, Size, Tensor


@dataclass(frozen=True, slots=True)
class Common:
    """`widened`: an f32 operand becomes f64 because it meets an integer tensor."""

    dtype: DType
    weak: bool
    widened: bool = False


def strong_dtype(value: Numeric) -> DType | None:
    """The dtype a value insists on, None for weak ones."""
    match value:
        case Tensor(_, dtype, _, weak):
            return None if weak else dtype
        case Known(_, dtype):
            return dtype
        case Size():
            return None


def kind_of(value: Numeric) -> str:
    match value:
        case Tensor(_, dtype):
            return dtype.kind
        case Known(_, dtype):
            return value.kind if dtype is None else dtype.kind
        case Size():
            return "i"


def common_type(operands: Sequence[Numeric]) -> Common:
    """The promoted dtype of all operands; weak when every operand is."""
    strong = [d for d in map(strong_dtype, operands) if d is not None]
    weak_kinds = {kind_of(v) for v in operands if strong_dtype(v) is None}
    if not strong:
        dtype = F64 if "f" in weak_kinds else I64 if "i" in weak_kinds else BOOL
        return Common(dtype, weak=dtype != BOOL)
    dtype = strong[0]
    for other in strong[1:]:
        dtype = promote(dtype, other)
    widened = F32 in strong and F64 not in strong and dtype == F64
    if "f" in weak_kinds and not dtype.is_float:
        dtype = F64
    elif "i" in weak_kinds and dtype == BOOL:
        dtype = I64
    return Common(dtype, weak=False, widened=widened)


def storage_type(value: Numeric) -> DType:
    """The dtype the value has when it is stored: weak integers i64, weak floats f64."""
    return common_type([value]).dtype
