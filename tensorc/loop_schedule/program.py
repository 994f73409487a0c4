"""NestProgram: the loops as they will be emitted.

A nest is a list of statements. Names of values (`v0, v1, ...`) are unique within their nest; a value is a
vector of eight lanes, uniform where it does not depend on a vector axis. Indices are polynomials in the axes
of the enclosing loops.

| statement      | meaning                                                                              |
|----------------|--------------------------------------------------------------------------------------|
| `Let`          | a value: a load, a constant, an operation                                            |
| `Check`        | a condition on a value, in every active lane; the call fails where it does not hold  |
| `Scan`         | the running value along the axis of the enclosing loop, which runs in order          |
| `Store`        | a value to a buffer: eight elements in a vector loop, one elsewhere                  |
| `Parallel`     | the outermost loops, their product divided among the threads                         |
| `Serial`       | one loop, in order                                                                   |
| `Vector`       | eight neighbours a step, the last step partial                                       |
| `ParallelVector` | a vector loop divided among the threads                                            |
| `RowReduce`    | the `rows` tree over `outer` and `inner` axes, with a body of `Let` and `Store`        |
| `ColumnReduce` | the `columns` tree for strips of neighbouring outputs, then `after` for each of them  |
| `ColumnScan`   | for strips of neighbouring columns, the loop `axis` in order, a vector loop inside     |
| `Single`       | statements that one thread runs                                                      |
| `Matmul`       | a matrix product                                                                     |

Values, checks and stores may stand anywhere, a `Scan` directly in a `Vector`, `RowReduce`, `ColumnScan` only.
`Parallel` without axes is one step, which one thread runs. `Parallel`, `ParallelVector`, `Single`, `Matmul`
and reductions and scans marked `parallel` stand only at the top of a nest; `Vector`, `RowReduce`,
`ColumnReduce` and `ColumnScan` hold no other loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.dtypes import DType
from tensorc.index_algebra import Poly
from tensorc.loop_ir.program import Axis, Buffer, MatmulNode, ScalarAttrs
from tensorc.scheduler.nest_shape import NestShape
from tensorc.signature import Signature


@dataclass(frozen=True, slots=True, eq=False)
class Let:
    """`name = op(args)`; `attrs` as in a loop node's body."""

    name: str
    op: str
    args: tuple[str, ...]
    dtype: DType
    operand_dtype: DType
    attrs: ScalarAttrs


@dataclass(frozen=True, slots=True)
class RuntimeFailure:
    """What a call reports when a check fails: a Python exception's name, a sentence, the source line."""

    kind: str
    message: str
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """`condition` names the runtime's test: `nonnegative` (of an exponent, or of a place in range)."""

    condition: str
    value: str
    dtype: DType
    failure: RuntimeFailure


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """`name`: `value` of this step combined with those of the steps before it."""

    name: str
    kind: str
    value: str
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    buffer: str
    index: Poly
    value: str
    dtype: DType


@dataclass(frozen=True, slots=True, eq=False)
class Parallel:
    axes: tuple[Axis, ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Serial:
    axis: Axis
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Vector:
    axis: Axis
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ParallelVector:
    axis: Axis
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Accumulator:
    """One reduction of `value` (of `dtype`); its result is the value `name` of dtype `result`."""

    name: str
    kind: str
    value: str
    dtype: DType
    result: DType
    correction: float


@dataclass(frozen=True, slots=True, eq=False)
class RowReduce:
    outer: tuple[Axis, ...]
    inner: Axis
    body: tuple[Stmt, ...]
    accumulators: tuple[Accumulator, ...]
    parallel: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ColumnReduce:
    """`iterate` are the kept axes before the vector axis `columns` (looped over only when `parallel`)."""

    iterate: tuple[Axis, ...]
    columns: Axis
    outer: tuple[Axis, ...]
    inner: Axis
    body: tuple[Stmt, ...]
    accumulators: tuple[Accumulator, ...]
    after: tuple[Stmt, ...]
    parallel: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScan:
    """`iterate` are the axes besides `axis` and the vector axis, looped over only when `parallel`."""

    iterate: tuple[Axis, ...]
    axis: Axis
    columns: Axis
    body: tuple[Stmt, ...]
    parallel: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Single:
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Matmul:
    node: MatmulNode
    dtype: DType


Leaf = Let | Check | Scan
Reduce = RowReduce | ColumnReduce
Stmt = Leaf | Store | Parallel | Serial | Vector | ParallelVector | Reduce | ColumnScan | Single | Matmul


@dataclass(frozen=True, slots=True)
class Scratch:
    """Memory of one thread for one step of the nest's outer loops: `extent` elements for `buffer`."""

    buffer: str
    dtype: DType
    extent: Poly


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """One loop nest. `registers` are buffers that live in registers only.

    `barrier`: every thread must have finished the nests before. `work` estimates vector operations
    times eight, to decide whether threads pay.
    """

    name: str
    nodes: tuple[str, ...]
    shape: NestShape
    body: tuple[Stmt, ...]
    scratch: tuple[Scratch, ...]
    registers: tuple[str, ...]
    barrier: bool
    work: Poly


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that nest `maker` stores in result `buffer`'s memory and nest `user` reads back: `extra_bytes`
    moved more, `cost` operations an element less than computing it again."""

    maker: str
    user: str
    buffer: str
    cost: int
    extra_bytes: Poly


@dataclass(frozen=True, slots=True, eq=False)
class NestProgram:
    """One kernel. `buffers` are the arrays that exist in memory; `memory` maps a temporary to the array
    whose memory it uses (itself when it has its own). `unfused_bytes` is what the nodes would move one by
    one.
    """

    signature: Signature
    buffers: tuple[Buffer, ...]
    memory: tuple[tuple[str, str], ...]
    nests: tuple[Nest, ...]
    unfused_bytes: Poly
    kept: tuple[Kept, ...] = ()

    def failures(self) -> tuple[RuntimeFailure, ...]:
        """Everything a call may report, each once: status 16 is the first."""
        found = (s.failure for nest in self.nests for s in _checks(nest.body))
        return tuple(dict.fromkeys(found))

    def buffer(self, name: str) -> Buffer:
        return next(b for b in self.buffers if b.name == name)


def children(s: Stmt) -> tuple[Stmt, ...]:
    """The statements directly inside `s`, in the order they run."""
    match s:
        case Parallel(_, body) | Serial(_, body) | Vector(_, body) | ParallelVector(_, body) | Single(body):
            return body
        case RowReduce() | ColumnScan():
            return s.body
        case ColumnReduce():
            return (*s.body, *s.after)
        case Let() | Check() | Scan() | Store() | Matmul():
            return ()


def _checks(body: tuple[Stmt, ...]) -> list[Check]:
    found: list[Check] = []
    for s in body:
        if isinstance(s, Check):
            found.append(s)
        found.extend(_checks(children(s)))
    return found
