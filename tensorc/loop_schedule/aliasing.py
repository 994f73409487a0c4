"""When one array may be written over another: work arrays that share memory, results that are an input.

The test is on the loops as they stand, not on the order of nodes: sweeps of a nest may have been reordered.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorc.index_algebra import Poly, Sym
from tensorc.loop_ir.program import Axis, Load, Role
from tensorc.loop_schedule.program import (
    ColumnReduce,
    Let,
    Matmul,
    Nest,
    NestProgram,
    Parallel,
    Stmt,
)
from tensorc.loop_schedule.walk import gathers_in, loads_in, read_buffers, stores_in, walk, written_buffers


def may_overwrite(nest: Nest, old: str, new: str) -> bool:
    """Whether storing `new` into `old`'s memory (same dtype and shape) leaves `nest`'s result the same.

    *Requires*: nothing after this nest reads `old`. True when no element of `old` is read after the element
    of `new` in its place is stored, by any thread: `old` is read at the very indices that are then stored,
    or in an earlier sweep of the same outer step.
    """
    if old not in read_buffers(nest):
        return True
    if any(isinstance(s, ColumnReduce | Matmul) for s in walk(nest.body)):
        return False
    if any(gather.buffer == old for gather in gathers_in(nest.body)):
        return False
    for s in nest.body:
        if isinstance(s, Let) and any(read.buffer == old for read in loads_in([s])):
            # each thread loads what no loop changes when it starts, and another may have stored there
            return False
        if isinstance(s, Parallel):
            return _may_overwrite_in(s.body, s.axes, old, new)
    return _may_overwrite_in(nest.body, (), old, new)


def _may_overwrite_in(body: Sequence[Stmt], axes: Sequence[Axis], old: str, new: str) -> bool:
    stored: Poly | None = None
    earlier: list[Load] = []
    for s in body:
        reads = [read for read in loads_in([s]) if read.buffer == old]
        if stored is not None and reads:
            return False
        writes = [index for name, index in stores_in([s]) if name == new]
        if not writes:
            earlier.extend(reads)
            continue
        stored = writes[0]
        # the stores of a body, which stand behind its loads, are of elements of the same step
        if any(not isinstance(w, Poly) for w in writes) or any(r.index not in writes for r in reads):
            return False
    if stored is None:
        return False
    # a guard may keep a read of another step in bounds
    return all(not r.guards and _same_step(r.index, stored, axes) for r in earlier)


def _same_step(index: Poly, stored: Poly, axes: Sequence[Axis]) -> bool:
    variables = [Sym(a.name, axis=True) for a in axes]
    return all(index.coefficient(v) == stored.coefficient(v) for v in variables)


def safe_inputs(program: NestProgram) -> tuple[tuple[int, ...], ...]:
    """For each result the positions of the parameters whose array may be exactly that result (`out=x`)."""
    return tuple(
        tuple(
            position
            for position, p in enumerate(program.signature.params)
            if p.shape == r.shape and p.shape and p.dtype == r.dtype and _safe(program, p.name, k)
        )
        for k, r in enumerate(program.signature.results)
    )


def _safe(program: NestProgram, param: str, result: int) -> bool:
    location = _locations(program)
    name = next(b.name for b in program.buffers if b.role is Role.OUTPUT and b.result == result)
    finished = True
    for number, nest in enumerate(program.nests):
        finished = finished or nest.barrier
        if any(location.get(w, w) == name for w in written_buffers(nest)):
            if name not in written_buffers(nest) or not finished:
                return False
            later = program.nests[number + 1 :]
            return may_overwrite(nest, param, name) and not any(param in read_buffers(n) for n in later)
        if param in read_buffers(nest):
            finished = False
    return True


def _locations(program: NestProgram) -> dict[str, str]:
    return dict(program.memory)
