"""LoopProgram: what each element of each buffer is, as loops over scalar expressions.

Every buffer is C-contiguous; an index is one polynomial, the element offset, affine in the node's
axes (`i0, i1, ...` iterate, `r0, r1, ...` reduce) with sizes as coefficients. A node writes exactly one
buffer, once per element. Axes of extent 1 are left out, but a reduction has at least one axis to reduce.

A body is a list of scalar operations in SSA form: operands are positions in the list, so shared
subexpressions are shared and no pass needs recursion.

| op        | attrs        | meaning                                                      |
|-----------|--------------|--------------------------------------------------------------|
| `load`    | `Load`       | an element of a buffer; nothing is read where a guard fails  |
| `place`   | `Place`      | an i64 index along an axis as a place; a second operand says where it counts |
| `gather`  | `Gather`     | the element of a buffer at places that are values, one operand each |
| `scalar`  | `ScalarRef`  | a rank-0 parameter's value                                   |
| `constant`| `Literal`    | a value of the op's dtype                                    |
| `index`   | `IndexValue` | an index or a size as a number; evaluated in i64, then the op's dtype |
| `inside`  | `Inside`     | bool: whether all its guards hold                            |
| `cast`    | None         | to the op's dtype                                            |
| an `OPERATORS` name | None | that operation in the operands' dtype                     |

Arithmetic, reductions and scans are on types that lanes compute in (`tensor_ir/widen` made them so); loads,
`where` and casts are on any.

A guard is a polynomial that must be at least 0, affine in the axes. Where a guard of a load fails, its index
may be out of range: the load then touches no memory, and its value is unspecified. Lowering sees to it that
no such value reaches a result (a `where` on `inside` picks another) or a run-time check.

A scan node combines, along one of its iteration axes, each value with those before it. Reductions and scans
of floats follow a fixed tree (`docs/numerics.md`) that depends only on the node: `rows` when the
operand's last axis is reduced or scanned, `columns` when it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from tensorc.dtypes import DType
from tensorc.index_algebra import Poly
from tensorc.signature import Signature
from tensorc.source import Span


class Role(StrEnum):
    INPUT = "input"
    OUTPUT = "output"
    TEMPORARY = "temporary"


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array of the kernel: a parameter, a result (`buf3`, returned as `result`), or a temporary."""

    name: str
    dtype: DType
    shape: tuple[Poly, ...]
    role: Role
    result: int | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """A loop variable from 0 to `extent` - 1."""

    name: str
    extent: Poly


@dataclass(frozen=True, slots=True)
class Load:
    buffer: str
    index: Poly
    guards: tuple[Poly, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """A check of an index against `extent`: out of range it is -1, and the call fails with an IndexError.

    Where the second operand, a bool, is false the place is -1 too, and nothing fails.
    `wraps`: a negative index counts from the end. `message` and `line` are what the error says.
    """

    extent: Poly
    wraps: bool
    message: str = field(compare=False)
    line: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Gather:
    """`buffer[offset + strides[0] * places[0] + ...]`; nothing is read, and the value is 0, where a place is
    negative. `offset` is affine in the axes, the strides are sizes.
    """

    buffer: str
    offset: Poly
    strides: tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class ScalarRef:
    param: str


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    value: int | float


@dataclass(frozen=True, slots=True)
class IndexValue:
    index: Poly


@dataclass(frozen=True, slots=True)
class Inside:
    guards: tuple[Poly, ...]


ScalarAttrs = Load | Place | Gather | ScalarRef | Literal | IndexValue | Inside | None


@dataclass(frozen=True, slots=True, eq=False)
class ScalarOp:
    """One scalar operation of a body."""

    op: str
    args: tuple[int, ...]
    dtype: DType
    attrs: ScalarAttrs = None


@dataclass(frozen=True, slots=True)
class Origin:
    """A tensor operation that went into a node: as the user wrote it, its name there, its place, its pin."""

    op: str
    name: str
    span: Span
    pin: str = ""


class Tree(StrEnum):
    ROWS = "rows"
    COLUMNS = "columns"


@dataclass(frozen=True, slots=True)
class Reduction:
    """How a reduction node combines its body's values over `reduce_axes` (outermost first)."""

    kind: str
    tree: Tree
    correction: float = 0.0


@dataclass(frozen=True, slots=True)
class Scan:
    """How a scan node combines its body's values along iteration axis number `axis`."""

    kind: str
    axis: int


@dataclass(frozen=True, slots=True, eq=False)
class LoopNode:
    """A pointwise, reduction or scan node; a pointwise one has neither `reduction` nor `scan`.

    The value of `body[result]` (pointwise), its reduction, converted by it to the buffer's dtype, or its
    scan is stored at `store_index` (in the iteration axes) of `buffer`.
    """

    name: str
    buffer: str
    iter_axes: tuple[Axis, ...]
    reduce_axes: tuple[Axis, ...]
    body: tuple[ScalarOp, ...]
    result: int
    store_index: Poly
    reduction: Reduction | None
    origins: tuple[Origin, ...]
    scan: Scan | None = None

    @property
    def tree(self) -> Tree | None:
        """The tree of a reduction or scan."""
        if self.scan is not None:
            return Tree.ROWS if self.scan.axis == len(self.iter_axes) - 1 else Tree.COLUMNS
        return None if self.reduction is None else self.reduction.tree

    def gathered(self) -> tuple[str, ...]:
        """The buffers that the body gathers from, each once, in order."""
        return tuple(dict.fromkeys(op.attrs.buffer for op in self.body if isinstance(op.attrs, Gather)))

    def reads(self) -> tuple[str, ...]:
        """The buffers that the body reads in any way, each once, in order."""
        accesses = (op.attrs.buffer for op in self.body if isinstance(op.attrs, Load | Gather))
        return tuple(dict.fromkeys(accesses))


@dataclass(frozen=True, slots=True, eq=False)
class MatmulNode:
    """`buffer[b, i, j] = sum_k left[b, i, k] * right[b, k, j]`.

    `left` and `right` are loads whose indices are in the axes `b0, b1, ...` (batch), `i`, `k` and `j`, so
    that a transposed or broadcast operand needs no copy. The result is C-contiguous.
    """

    name: str
    buffer: str
    left: Load
    right: Load
    batch: tuple[Axis, ...]
    m: Poly
    k: Poly
    n: Poly
    origins: tuple[Origin, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NopNode:
    """A node that computes nothing: its buffer has no elements."""

    name: str
    buffer: str
    origins: tuple[Origin, ...]


Node = LoopNode | MatmulNode | NopNode


@dataclass(frozen=True, slots=True, eq=False)
class LoopProgram:
    """One kernel. `nodes` are in a valid order; `buffers` hold parameters first, then as written."""

    signature: Signature
    buffers: tuple[Buffer, ...]
    nodes: tuple[Node, ...]

    def buffer(self, name: str) -> Buffer:
        return next(b for b in self.buffers if b.name == name)
