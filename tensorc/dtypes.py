"""The element types and NumPy 2's promotion among them.

`bool i32 i64 f32 f64` can be computed with; the others parse and are refused by the checker.
A bool is one byte, 0 or 1. Integers wrap (two's complement); floats are IEEE 754 binary32/64.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DType:
    """One element type. `kind` is b (bool), i, u or f; `size` in bytes; `c` its C type."""

    name: str
    kind: str
    size: int
    numpy: str
    c: str

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"


BOOL = DType("bool", "b", 1, "bool", "uint8_t")
I32 = DType("i32", "i", 4, "int32", "int32_t")
I64 = DType("i64", "i", 8, "int64", "int64_t")
F32 = DType("f32", "f", 4, "float32", "float")
F64 = DType("f64", "f", 8, "float64", "double")

SUPPORTED: dict[str, DType] = {t.name: t for t in (BOOL, I32, I64, F32, F64)}
LATER = ("i8", "i16", "u8", "u16", "u32", "u64", "f16", "bf16")

_PROMOTION_ORDER = {"bool": 0, "i32": 1, "i64": 2, "f32": 3, "f64": 4}


def promote(a: DType, b: DType) -> DType:
    """NumPy 2's `result_type` of two strong types: an integer with f32 gives f64."""
    if a == b:
        return a
    low, high = sorted((a, b), key=lambda t: _PROMOTION_ORDER[t.name])
    if high == F32 and low.is_integer:
        return F64
    return high
