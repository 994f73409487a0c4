"""What a NestProgram must be: statements where they are legal, values before their uses, indices in scope."""

from __future__ import annotations

from collections.abc import Sequence

from tensorc.errors import IRError
from tensorc.index_algebra import Poly
from tensorc.loop_ir.guards import index_polys
from tensorc.loop_ir.program import Axis
from tensorc.loop_schedule.program import (
    Check,
    ColumnReduce,
    ColumnScan,
    Let,
    Matmul,
    Nest,
    NestProgram,
    Parallel,
    ParallelVector,
    RowReduce,
    Scan,
    Serial,
    Single,
    Stmt,
    Store,
    Vector,
)
from tensorc.loop_schedule.walk import read_buffers, written_buffers

TOP_ONLY = (Parallel, ParallelVector, Single, Matmul)


def verify_nest_program(program: NestProgram) -> None:
    """Raise `IRError` unless every nest is legal and every array is written before it is read."""
    arrays = {b.name for b in program.buffers}
    dims = {d.name for d in program.signature.dims}
    # an array without elements needs no writing
    ready = {b.name for b in program.buffers if b.role == "input" or _ZERO in b.shape}
    for nest in program.nests:
        local = {s.buffer for s in nest.scratch}
        _Checker(nest, dims).check(nest.body, frozenset(), top=True)
        for name in (*read_buffers(nest), *written_buffers(nest)):
            if name not in arrays | local:
                raise IRError(nest.name, f"{name} is neither an array nor a scratch")
        own = set(written_buffers(nest))
        for name in read_buffers(nest):
            if name not in ready | own:
                raise IRError(nest.name, f"{name} is read before it is written")
        ready |= own & arrays
    missing = [b.name for b in program.buffers if b.name not in ready]
    if missing and any(n.body for n in program.nests):
        raise IRError(program.signature.name, f"never written: {', '.join(missing)}")


_ZERO = Poly()


class _Checker:
    """Walks one nest with the values and axes in scope."""

    def __init__(self, nest: Nest, dims: set[str]) -> None:
        self.nest = nest
        self.dims = dims
        self.values: set[str] = set()

    def check(
        self,
        body: Sequence[Stmt],
        axes: frozenset[str],
        top: bool = False,
        leaf: bool = False,
        in_order: bool = False,
    ) -> None:
        for s in body:
            if not top and isinstance(s, TOP_ONLY):
                self._fail(f"{type(s).__name__} below the top")
            if leaf and not isinstance(s, Let | Check | Scan | Store):
                self._fail(f"{type(s).__name__} where only values may stand")
            if isinstance(s, RowReduce | ColumnReduce | ColumnScan) and s.parallel and not top:
                self._fail("a parallel reduction or scan below the top")
            if isinstance(s, Scan) and not in_order:
                self._fail(f"{s.name} is a scan outside a loop that runs in order")
            self._statement(s, axes)

    def _statement(self, s: Stmt, axes: frozenset[str]) -> None:
        match s:
            case Let():
                self._let(s, axes)
            case Check():
                self._use(s.value)
            case Scan():
                self._use(s.value)
                self.values.add(s.name)
            case Store(_, index, value, _):
                self._index(index, axes)
                self._use(value)
            case Parallel(loops, body):
                self.check(body, axes | _names(loops))
            case Serial(axis, body):
                self.check(body, axes | {axis.name})
            case Vector(axis, body) | ParallelVector(axis, body):
                in_order = isinstance(s, Vector)
                self.check(body, axes | {axis.name}, leaf=True, in_order=in_order)
            case Single(body):
                self.check(body, axes, leaf=True)
            case RowReduce() | ColumnReduce() | ColumnScan():
                self._fold(s, axes)
            case Matmul():
                pass

    def _fold(self, s: RowReduce | ColumnReduce | ColumnScan, axes: frozenset[str]) -> None:
        match s:
            case RowReduce():
                in_order = not s.parallel and not s.outer
                self.check(s.body, axes | _names((*s.outer, s.inner)), leaf=True, in_order=in_order)
                self._accumulators(s)
            case ColumnScan():
                inside = axes | _names((*s.iterate, s.axis, s.columns))
                self.check(s.body, inside, leaf=True, in_order=True)
            case ColumnReduce():
                kept = axes | _names((*s.iterate, s.columns))
                self.check(s.body, kept | _names((*s.outer, s.inner)), leaf=True)
                self._accumulators(s)
                self.check(s.after, kept, leaf=True)

    def _accumulators(self, s: RowReduce | ColumnReduce) -> None:
        for a in s.accumulators:
            self._use(a.value)
            self.values.add(a.name)

    def _let(self, s: Let, axes: frozenset[str]) -> None:
        for a in s.args:
            self._use(a)
        for index in index_polys(s.attrs):
            self._index(index, axes)
        if s.name in self.values:
            self._fail(f"{s.name} is defined twice")
        self.values.add(s.name)

    def _use(self, name: str) -> None:
        if name not in self.values:
            self._fail(f"{name} is used before its definition")

    def _index(self, index: Poly, axes: frozenset[str]) -> None:
        loose = [a for a in index.axes() if a not in axes] + [d for d in index.dims() if d not in self.dims]
        if loose:
            self._fail(f"index {index} holds {', '.join(loose)}, out of scope")

    def _fail(self, problem: str) -> None:
        raise IRError(self.nest.name, problem)


def _names(axes: Sequence[Axis]) -> frozenset[str]:
    return frozenset(a.name for a in axes)
