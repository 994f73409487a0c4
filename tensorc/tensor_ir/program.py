"""TensorProgram: one kernel as a list of whole-array operations.

Value `k` is the result of `ops[k]`; operands come earlier in the list. Shapes are tuples of sizes
(`Poly` over the dims). Broadcasting and casts are explicit: the operands of an elementwise
operation have its shape, and the dtype its operator computes in.

| op            | attrs          | meaning                                                          |
|---------------|----------------|------------------------------------------------------------------|
| `param`       | `ParamRef`     | the parameter's array, or its value (rank 0)                     |
| `constant`    | `Constant`     | a scalar of the op's dtype, rank 0                               |
| `size`        | `SizeValue`    | a size as a scalar of the op's dtype, rank 0                     |
| `iota`        | None           | `0, 1, ..., n - 1` along the only axis, dtype i64                |
| an `OPERATORS` name | None     | elementwise                                                      |
| `cast`        | None           | elementwise; float to integer truncates, saturates, NaN gives 0  |
| `view`        | `View`         | `result[i0, i1, ...] = operand[index]`, index affine in the axes |
| `reshape`     | None           | the operand's elements in row-major order, as many               |
| `concat`      | `Concat`       | the operands one after the other along an axis                   |
| `gather`      | `Gather`       | `result[i0, i1, ...] = operands[0][places]`: data-dependent places |
| `reduce`      | `Reduce`       | the listed axes are dropped                                      |
| `scan`        | `Scan`         | each element combined with those before it along one axis        |
| `matmul`      | None           | `[..., M, K] @ [..., K, N]`, equal batch axes                    |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tensorc.dtypes import DType
from tensorc.index_algebra import Poly
from tensorc.signature import Signature
from tensorc.source import Span

Shape = tuple[Poly, ...]

EQUAL_SIZES = "equal_sizes"
"""The kind of a view of a parameter that only writes its sizes in another way; a call has checked them."""


@dataclass(frozen=True, slots=True)
class ParamRef:
    """Position in the signature's parameters."""

    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """`value` is exact: an int (also for bool), or a float that was rounded once to the dtype."""

    value: int | float


@dataclass(frozen=True, slots=True)
class SizeValue:
    size: Poly


@dataclass(frozen=True, slots=True)
class View:
    """`index` holds one `Poly` per operand axis, in the result's axes `i0, i1, ...`.

    `kind` is the user's operation (permute_dims, slice, broadcast_to, ...), for printing.
    """

    kind: str
    index: tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class GatheredPlace:
    """The index along one axis of a gather's source: `operands[operand]`, an i64 of the result's shape.

    `checked`: where it is out of range the call fails with an IndexError that says `message`; without it
    the index is known to be in range. `wraps`: a negative index counts from the end.
    """

    operand: int
    checked: bool
    wraps: bool
    message: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Gather:
    """One place per axis of the source: a `Poly` in the result's axes (in range), or what an operand says.

    `kind` is the user's operation, as in `View`. An element is read only where every place is in range.
    """

    kind: str
    places: tuple[Poly | GatheredPlace, ...]


@dataclass(frozen=True, slots=True)
class Reduce:
    """`kind` names a `REDUCTIONS` row; `axes` are sorted, non-negative, at least one."""

    kind: str
    axes: tuple[int, ...]
    correction: float = 0.0


@dataclass(frozen=True, slots=True)
class Scan:
    """`kind` names one of `SCANS`: `result[.., k, ..]` is the reduction of `operand[.., :k + 1, ..]`."""

    kind: str
    axis: int


@dataclass(frozen=True, slots=True)
class Concat:
    """One or more operands of equal dtype and extents, but for those along `axis`, which add up."""

    axis: int


class Pin(StrEnum):
    """What the user fixed about a value: stored in a buffer of its own, or computed where it is used."""

    MATERIALIZE = "materialize"
    INLINE = "inline"


Attrs = ParamRef | Constant | SizeValue | View | Concat | Gather | Reduce | Scan | None


@dataclass(frozen=True, slots=True, eq=False)
class TensorOp:
    """One operation. `name` is the user's name of the value, "" if it has none.

    `origin` is the operation as the user wrote it (`relu`, `softmax`'s `exp`, ...), for logs: several
    ops may come from one (a `mean` is a sum and a division), and one from several (`mul sum`). `pin`
    overrules the choice of what is stored.
    """

    op: str
    operands: tuple[int, ...]
    attrs: Attrs
    dtype: DType
    shape: Shape
    span: Span
    origin: str
    name: str = ""
    pin: Pin | None = None


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A freedom that `math=fast` took (`relax.py`), and of which operation."""

    kind: str
    origin: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TensorProgram:
    """One kernel. `results[k]` is the value of the signature's result `k`."""

    signature: Signature
    ops: tuple[TensorOp, ...]
    results: tuple[int, ...]
    span: Span
    relaxations: tuple[Relaxation, ...] = ()
