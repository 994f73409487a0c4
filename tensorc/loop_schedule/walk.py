"""Reading a nest: its statements in order, what it loads and stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from tensorc.index_algebra import Poly
from tensorc.loop_ir.program import Axis, Gather, Load
from tensorc.loop_schedule.program import (
    Check,
    ColumnReduce,
    ColumnScan,
    Let,
    Matmul,
    Nest,
    Parallel,
    ParallelVector,
    RowReduce,
    Scan,
    Serial,
    Stmt,
    Store,
    Vector,
    children,
)

S = TypeVar("S", bound=Stmt)


def walk(body: Sequence[Stmt]) -> Iterator[Stmt]:
    """Every statement, outer before inner."""
    for s in body:
        yield s
        yield from walk(children(s))


def used_values(body: Sequence[Stmt]) -> set[str]:
    """The values that statements use, wherever they are declared."""
    found: set[str] = set()
    for s in walk(body):
        match s:
            case Let():
                found.update(s.args)
            case Store() | Check() | Scan():
                found.add(s.value)
            case RowReduce() | ColumnReduce():
                found.update(a.value for a in s.accumulators)
            case _:
                pass
    return found


def needed_only(body: Sequence[S], used: set[str]) -> list[S]:
    """The statements of one body without the values that nothing in it uses, nor `used`, which grows."""
    kept: list[S] = []
    for s in reversed(body):
        if isinstance(s, Let):
            if s.name not in used:
                continue
            used.update(s.args)
        elif isinstance(s, Store | Check | Scan):
            used.add(s.value)
        kept.append(s)
    return kept[::-1]


def loop_axes(s: Stmt) -> tuple[Axis, ...]:
    """The axes that a statement loops over."""
    match s:
        case Parallel(axes, _):
            return axes
        case Serial(axis, _) | Vector(axis, _) | ParallelVector(axis, _):
            return (axis,)
        case RowReduce():
            return (*s.outer, s.inner)
        case ColumnReduce():
            return (*s.iterate, s.columns, *s.outer, s.inner)
        case ColumnScan():
            return (*s.iterate, s.axis, s.columns)
        case _:
            return ()


def loads_in(body: Sequence[Stmt]) -> list[Load]:
    """Every load, in order."""
    found: list[Load] = []
    for s in walk(body):
        if isinstance(s, Let) and isinstance(s.attrs, Load):
            found.append(s.attrs)
        elif isinstance(s, Matmul):
            found.extend((s.node.left, s.node.right))
    return found


def gathers_in(body: Sequence[Stmt]) -> list[Gather]:
    """Every gather, in order."""
    return [s.attrs for s in walk(body) if isinstance(s, Let) and isinstance(s.attrs, Gather)]


def stores_in(body: Sequence[Stmt]) -> list[tuple[str, Poly | None]]:
    """(buffer, index) of every store, in order; the index of a product's result is None."""
    found: list[tuple[str, Poly | None]] = []
    for s in walk(body):
        if isinstance(s, Store):
            found.append((s.buffer, s.index))
        elif isinstance(s, Matmul):
            found.append((s.node.buffer, None))
    return found


def read_buffers(nest: Nest) -> tuple[str, ...]:
    """The buffers a nest loads from, scratch included, each once."""
    reads: list[Load | Gather] = [*loads_in(nest.body), *gathers_in(nest.body)]
    return tuple(dict.fromkeys(read.buffer for read in reads))


def written_buffers(nest: Nest) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name, _ in stores_in(nest.body)))
