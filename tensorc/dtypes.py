"""The element types, what each of them holds, and NumPy 2's promotion among them.

A bool is one byte, 0 or 1. Integers wrap (two's complement). Floats are IEEE 754 binary16/32/64, and bf16:
the upper half of a binary32.

Not every type has lane arithmetic. `bool i32 i64 u32 u64 f32 f64` compute as themselves; the others are kept
in memory and compute in a wider type (`COMPUTES_IN`), rounded or wrapped after every operation.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class DType:
    """One element type. `kind` is b (bool), i, u or f; `size` in bytes.

    `numpy` is the type of its arrays, `c` that of its elements in memory, `carrier` a NumPy type that holds
    its values as numbers; bf16 is no NumPy type, so its arrays hold bits. For floats: `precision` in bits,
    and the exponents of the smallest normal and the largest power of two.
    """

    name: str
    kind: str
    size: int
    numpy: str
    c: str
    carrier: str
    precision: int = 0
    min_exponent: int = 0
    max_exponent: int = 0

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

    @property
    def is_unsigned(self) -> bool:
        return self.kind == "u"

    @property
    def domain(self) -> str:
        """The kind as operators list theirs: b, i (any integer) or f."""
        return "i" if self.is_integer else self.kind

    @property
    def lowest(self) -> int:
        """The smallest integer of an integer type."""
        return -(1 << (8 * self.size - 1)) if self.kind == "i" else 0

    @property
    def highest(self) -> int:
        """The largest integer of an integer type."""
        return (1 << (8 * self.size - (self.kind == "i"))) - 1

    @property
    def scalar_c(self) -> str:
        """The C type of a parameter that is passed by value: a float that is no C type is a `float`."""
        return "float" if self in (F16, BF16) else self.c


def _integer(name: str, kind: str, size: int) -> DType:
    numpy = f"{'u' if kind == 'u' else ''}int{8 * size}"
    return DType(name, kind, size, numpy, f"{numpy}_t", numpy)


BOOL = DType("bool", "b", 1, "bool", "uint8_t", "bool")
I8, I16, I32, I64 = (_integer(f"i{8 * n}", "i", n) for n in (1, 2, 4, 8))
U8, U16, U32, U64 = (_integer(f"u{8 * n}", "u", n) for n in (1, 2, 4, 8))
F16 = DType("f16", "f", 2, "float16", "uint16_t", "float16", 11, -14, 15)
BF16 = DType("bf16", "f", 2, "uint16", "uint16_t", "float32", 8, -126, 127)
F32 = DType("f32", "f", 4, "float32", "float", "float32", 24, -126, 127)
F64 = DType("f64", "f", 8, "float64", "double", "float64", 53, -1022, 1023)

SUPPORTED: dict[str, DType] = {
    t.name: t for t in (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64)
}

COMPUTES_IN: dict[DType, DType] = {
    **dict.fromkeys((I8, I16, U8, U16), I32),
    **dict.fromkeys((F16, BF16), F32),
}
"""The types without lane arithmetic, and the one that each of them computes in."""


def computation_type(dtype: DType) -> DType:
    """The type in which operations on `dtype` are carried out."""
    return COMPUTES_IN.get(dtype, dtype)


def promote(a: DType, b: DType) -> DType:
    """NumPy 2's `result_type` of two strong types: an integer with f32 gives f64.

    bf16 with an integer gives what f16 would, itself where that is f16; with f16 it gives f32.
    """
    if a == b or b.is_bool:
        return a
    if a.is_bool:
        return b
    if a.is_integer and b.is_integer:
        return _promote_integers(a, b)
    if a.is_float and b.is_float:
        return F32 if {a, b} == {F16, BF16} else max(a, b, key=lambda t: t.size)
    number, whole = (a, b) if a.is_float else (b, a)
    needed = float_of(whole)
    return number if needed == F16 else promote(number, needed)


def _promote_integers(a: DType, b: DType) -> DType:
    if a.kind == b.kind:
        return max(a, b, key=lambda t: t.size)
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if signed.size > unsigned.size:
        return signed
    return {U8: I16, U16: I32, U32: I64, U64: F64}[unsigned]


def float_of(dtype: DType) -> DType:
    """The float type in which NumPy evaluates a float function of `dtype`: the narrowest that holds it."""
    if dtype.is_float:
        return dtype
    return {1: F16, 2: F32}.get(dtype.size, F64)


def holds(dtype: DType, other: DType) -> bool:
    """True when every value of `other` is one of `dtype`, so that a cast to it loses nothing."""
    if dtype == other or (other.is_bool and not dtype.is_bool):
        return True
    if dtype.is_bool or (other.is_float and not dtype.is_float):
        return False
    if other.is_float:
        return dtype.precision >= other.precision and dtype.min_exponent <= other.min_exponent
    if dtype.is_integer:
        return dtype.lowest <= other.lowest and other.highest <= dtype.highest
    # the lowest integer is a power of two
    return other.highest.bit_length() <= dtype.precision and other.highest.bit_length() <= dtype.max_exponent


def round_to_float(x: Fraction, dtype: DType) -> float:
    """`x` rounded once to a float type: to nearest, ties to even, overflow to infinity. Zero gives +0."""
    if x == 0:
        return 0.0
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, dtype.min_exponent) - dtype.precision + 1)
    rounded = round(size / unit) * unit
    value = float("inf") if rounded >= Fraction(2) ** (dtype.max_exponent + 1) else float(rounded)
    return -value if x < 0 else value
