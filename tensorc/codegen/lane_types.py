"""How the lanes hold each dtype, which functions compute on it, and the functions that a cast is made of.

Lanes are of five kinds: bool, i32, i64, f32, f64. The narrow integers stand in i32 lanes, within their range;
f16 and bf16 in f32 lanes that hold one of their values; u32 and u64 are the bits of i32 and i64. Every cast
rounds once: a step called `odd` rounds to odd, after which a rounding to half the bits is the only one.
"""

from __future__ import annotations

from tensorc.dtypes import BF16, BOOL, F16, F32, F64, I32, I64, U32, U64, DType, computation_type, holds

_COMPARISONS = ("less", "less_equal", "greater", "greater_equal")
_EXTREMES = ("maximum", "minimum", "relu")
_UNSIGNED_OPERATIONS = frozenset(
    (*_COMPARISONS, *_EXTREMES, "floor_divide", "remainder", "right_shift", "power", "abs", "sign")
)
"""What differs between lanes of u32 and i32, u64 and i64; all else is the same on the bits."""


def lane_type(dtype: DType) -> DType:
    """The type of the lanes that hold a dtype."""
    return {U32: I32, U64: I64}.get(dtype, computation_type(dtype))


def operation_type(op: str, dtype: DType) -> DType:
    """The type in the name of the runtime's function for `op` on a dtype."""
    return dtype if dtype in (U32, U64) and op in _UNSIGNED_OPERATIONS else lane_type(dtype)


def cast_steps(source: DType, target: DType) -> tuple[str, ...]:
    """The runtime functions that make a value of `target` of one of `source`, in order."""
    if source == target:
        return ()
    if target == BOOL:
        return (f"tc_cast_{lane_type(source)}_bool",)
    if target.is_integer:
        return _float_to_integer(source, target) if source.is_float else _integer_to_integer(source, target)
    if target in (F16, BF16):
        exact = () if holds(target, source) else (f"tc_round_{target}",)
        return (*_to_f32_lanes(source), *exact)
    return _to_wide_float(source, target)


def _integer_to_integer(source: DType, target: DType) -> tuple[str, ...]:
    lanes = lane_type(target)
    steps: tuple[str, ...] = ()
    if source == BOOL:
        steps = (f"tc_cast_bool_{lanes}",)
    elif source == U32 and lanes == I64:
        steps = ("tc_cast_u32_i64",)
    elif lane_type(source) != lanes:
        steps = (f"tc_cast_{lane_type(source)}_{lanes}",)
    narrow = target not in (U32, U64) and target != lanes
    return (*steps, f"tc_wrap_{target}") if narrow and not holds(target, source) else steps


def _float_to_integer(source: DType, target: DType) -> tuple[str, ...]:
    lanes = lane_type(source)
    if target in (U32, U64):
        return (*(("tc_cast_f32_f64",) if lanes == F32 else ()), f"tc_cast_f64_{target}")
    steps = (f"tc_cast_{lanes}_{lane_type(target)}",)
    return steps if target == lane_type(target) else (*steps, f"tc_clamp_{target}")


def _to_wide_float(source: DType, target: DType) -> tuple[str, ...]:
    """To f32 or f64, rounded once."""
    if source == U32:
        return ("tc_cast_u32_i64", f"tc_cast_i64_{target}")
    if source == U64:
        return (f"tc_cast_u64_{target}",)
    lanes = lane_type(source)
    return () if lanes == target else (f"tc_cast_{lanes}_{target}",)


def _to_f32_lanes(source: DType) -> tuple[str, ...]:
    """To f32 lanes such that rounding them to f16 or bf16 is the only rounding."""
    if holds(F32, source):
        return _to_wide_float(source, F32)
    if source in (I64, U64):
        return (f"tc_odd_{source}_f64", "tc_odd_f64_f32")
    return (*_to_wide_float(source, F64), "tc_odd_f64_f32")
