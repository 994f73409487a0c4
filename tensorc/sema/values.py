"""What an expression can be while a kernel is checked.

| class      | what it is                                                                 |
|------------|----------------------------------------------------------------------------|
| `Tensor`   | a value of the program under construction                                  |
| `Known`    | a number the compiler knows; weak unless it has a dtype                    |
| `Size`     | a size that depends on dims; a weak integer                                |
| `Index`    | inside index notation: an index in the iterators; a weak integer           |
| `Element`  | inside index notation: a value for each step of some iterators             |
| `Sequence` | a tuple, or the results of a `def`                                         |
| `Absent`   | `None`                                                                     |
| `TypeName` | a dtype used as a value (`astype(x, f32)`)                                 |
| `Text`     | a string                                                                   |
| `Poison`   | the value of an erroneous expression: it silences what follows from it     |
"""

from __future__ import annotations

from collections.abc import Sequence as Items
from dataclasses import dataclass, field
from fractions import Fraction

from tensorc.dtypes import DType
from tensorc.index_algebra import Poly
from tensorc.source import Span
from tensorc.tensor_ir.program import Shape


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """Value `id` of the program. `weak` values still adapt to a strong dtype they meet.

    `size` is set on integer scalars that can serve as sizes (`kernel grid(n: i64) -> f32[n]`).
    """

    id: int
    dtype: DType
    shape: Shape
    weak: bool = False
    size: Poly | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A number. `exact` is what the literal says where `value`, a float, is already rounded.

    `dtype` is None for weak numbers; a bool without dtype stays out of promotion's way too.
    """

    value: bool | int | float
    dtype: DType | None = None
    exact: Fraction | None = None

    @property
    def kind(self) -> str:
        if isinstance(self.value, bool):
            return "b"
        return "i" if isinstance(self.value, int) else "f"


@dataclass(frozen=True, slots=True, eq=False)
class Size:
    poly: Poly


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A polynomial in the iterators `i0, i1, ...`, numbered from the outside in: affine, with `//` and `%` by
    positive sizes. It holds at least one iterator."""

    poly: Poly


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """`tensor` has one axis per iterator in `axes` (sorted, at least one); `index` as in `Tensor.size`."""

    tensor: Tensor
    axes: tuple[int, ...]
    index: Poly | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    items: tuple[Value, ...]
    poisoned: bool = field(init=False)

    def __post_init__(self) -> None:
        # found once, from the items: tuples nest as deep as a program likes
        object.__setattr__(self, "poisoned", any(map(is_poisoned, self.items)))


@dataclass(frozen=True, slots=True, eq=False)
class Absent:
    pass


@dataclass(frozen=True, slots=True, eq=False)
class TypeName:
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Poison:
    pass


Numeric = Tensor | Known | Size
Value = Tensor | Known | Size | Index | Element | Sequence | Absent | TypeName | Text | Poison

POISON = Poison()


@dataclass(frozen=True, slots=True, eq=False)
class Arg:
    """An evaluated operand and where it is written."""

    value: Value
    span: Span


def is_poisoned(value: Value) -> bool:
    """True for an erroneous value, also inside a tuple."""
    if isinstance(value, Sequence):
        return value.poisoned
    return isinstance(value, Poison)


def size_of(value: Value) -> Poly | None:
    """The value as a size, when it can be one."""
    match value:
        case Known(v) if isinstance(v, int) and not isinstance(v, bool):
            return Poly([((), v)])
        case Size(poly):
            return poly
        case Tensor():
            return value.size
    return None


def type_text(dtype: DType, shape: Items[Poly]) -> str:
    """`f32[N, 3]`, `f32` for rank 0."""
    return f"{dtype}[{', '.join(map(str, shape))}]" if shape else str(dtype)


def describe(value: Value) -> str:
    """The value's type as messages print it."""
    match value:
        case Tensor(_, dtype, shape, weak):
            text = type_text(dtype, shape)
            return f"{text} (weak)" if weak else text
        case Known(v, dtype):
            return number_text(v) if dtype is None else f"{dtype}({number_text(v)})"
        case Size(poly):
            return f"the size {poly}"
        case Index():
            return "an index"
        case Element(tensor):
            return f"an element of {tensor.dtype}"
        case Sequence(items):
            return f"a tuple of {len(items)}"
        case Absent():
            return "None"
        case TypeName(dtype):
            return f"the dtype {dtype}"
        case Text(text):
            return f'"{text}"'
        case Poison():
            return "an erroneous value"


_LONGEST_INTEGER = 256


def number_text(value: bool | int | float) -> str:
    if isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER:
        return f"an integer of {value.bit_length()} bits"
    return str(value).lower() if isinstance(value, bool) else repr(value)
