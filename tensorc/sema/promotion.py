"""The dtype that operands compute in: NumPy 2's promotion, with weak numbers adapting to strong ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensorc.dtypes import BOOL, F32, F64, I64, DType, float_of, promote
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
            return dtype.domain
        case Known(_, dtype):
            return value.kind if dtype is None else dtype.domain
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


def float_type(operands: Sequence[Numeric]) -> Common:
    """The dtype that a float function of integers and bool computes in.

    Each operand finds its own first, as in NumPy: i8 with u8 is f16, though their sum would be i16.
    """
    common = common_type(operands)
    strong = [d for d in map(strong_dtype, operands) if d is not None]
    if common.dtype.is_float or not strong:
        return Common(
            common.dtype if common.dtype.is_float else F64, common.weak or not strong, common.widened
        )
    dtype = float_of(strong[0] if any(not d.is_bool for d in strong) else common.dtype)
    for other in strong[1:]:
        dtype = promote(dtype, float_of(other))
    return Common(dtype, weak=False)


def storage_type(value: Numeric) -> DType:
    """The dtype the value has when it is stored: weak integers i64, weak floats f64."""
    return common_type([value]).dtype
