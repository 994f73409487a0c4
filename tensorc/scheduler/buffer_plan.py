"""Where the buffers of a fused program live: arguments, values inside one nest, or arrays with shared memory.

A temporary that one group both writes and reads needs no array: the loop schedule keeps it in registers or a
row scratch. The others are work arrays from the group that writes them to the last one that reads them. An
array takes over the memory of a dead one of the same dtype and size; equal dtypes, so that no element is ever
accessed under two types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensorc.dtypes import DType
from tensorc.index_algebra import Poly, as_poly, product
from tensorc.loop_ir.program import Buffer, Role
from tensorc.scheduler.dependencies import Dep, MemoryDep, NodeDeps
from tensorc.scheduler.program import FusedGroup, FusedProgram


@dataclass(frozen=True, slots=True)
class WorkArray:
    """A temporary in memory: written by group `first`, last read by group `last`, stored in `slot`.

    `in_place_of` names the array it overwrites, element by element, in the group that reads that one last.
    """

    buffer: str
    first: int
    last: int
    slot: int
    in_place_of: str | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """Memory of `size` bytes for elements of `dtype`. `host` is the result whose memory it is, if any."""

    dtype: DType
    size: Poly
    host: str | None = None


@dataclass(frozen=True, slots=True)
class BufferPlan:
    """`arguments`: parameters and results; `internal`: temporaries of one group; `arrays`: the others.

    `slots` are what has to be allocated (or borrowed from results) for the arrays.
    """

    arguments: tuple[str, ...]
    internal: tuple[str, ...]
    arrays: tuple[WorkArray, ...]
    slots: tuple[Slot, ...]

    def allocated(self) -> Poly:
        """Bytes of work memory, borrowed slots left out."""
        total = as_poly(0)
        for slot in self.slots:
            if slot.host is None:
                total = total + slot.size
        return total


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The groups in which a buffer is first written and last used."""

    buffer: Buffer
    first: int
    last: int


def buffer_lifetimes(fused: FusedProgram) -> tuple[Lifetime, ...]:
    """The lifetimes of every buffer that a node writes, in order of writing."""
    found: dict[str, tuple[int, int]] = {}
    reads = {n.name: own.reads for n, own in zip(fused.loop.nodes, fused.deps, strict=True)}
    for number, group in enumerate(fused.groups):
        for node in group.nodes:
            found[node.buffer] = (number, number)
    for number, group in enumerate(fused.groups):
        for node in group.nodes:
            for dep in reads[node.name]:
                if dep.buffer in found:
                    found[dep.buffer] = (found[dep.buffer][0], max(found[dep.buffer][1], number))
    buffers = {b.name: b for b in fused.loop.buffers}
    ordered = sorted(found, key=lambda name: found[name][0])
    return tuple(Lifetime(buffers[name], *found[name]) for name in ordered)


def plan_buffers(fused: FusedProgram, borrow_results: bool = False) -> BufferPlan:
    """The plan of a fused program.

    `borrow_results`: a work array may live in the memory of a result that is written only afterwards;
    *requires* that no result may overlap a parameter.
    """
    lifetimes = buffer_lifetimes(fused)
    temporaries = [t for t in lifetimes if t.buffer.role is Role.TEMPORARY]
    hosts = [t for t in lifetimes if t.buffer.role is Role.OUTPUT] if borrow_results else []
    pool = _Pool(fused, hosts)
    arrays = tuple(pool.place(t) for t in temporaries if t.first != t.last)
    return BufferPlan(
        arguments=tuple(b.name for b in fused.loop.buffers if b.role is not Role.TEMPORARY),
        internal=tuple(t.buffer.name for t in temporaries if t.first == t.last),
        arrays=arrays,
        slots=tuple(pool.slots),
    )


class _Pool:
    """Slots and the array that holds each last, as arrays are placed in the order they are written."""

    def __init__(self, fused: FusedProgram, hosts: list[Lifetime]) -> None:
        self.slots: list[Slot] = []
        self._groups = fused.groups
        self._deps = {n.name: own for n, own in zip(fused.loop.nodes, fused.deps, strict=True)}
        self._hosts = {t.buffer.name: t for t in hosts}
        self._holders: list[WorkArray] = []

    def place(self, t: Lifetime) -> WorkArray:
        """In the array it may overwrite, else in the slot freed last, else in a result, else anew."""
        slot, in_place_of = self._overwritten(t) or self._freed(t) or (len(self.slots), None)
        placed = WorkArray(t.buffer.name, t.first, t.last, slot, in_place_of)
        if slot == len(self.slots):
            self.slots.append(self._new_slot(t))
            self._holders.append(placed)
        self._holders[slot] = placed
        return placed

    def _overwritten(self, t: Lifetime) -> tuple[int, str | None] | None:
        for slot in self._fitting(t):
            old = self._holders[slot]
            if old.last == t.first and can_overwrite(
                self._groups[t.first], self._deps, old.buffer, t.buffer.name
            ):
                return slot, old.buffer
        return None

    def _freed(self, t: Lifetime) -> tuple[int, str | None] | None:
        free = [slot for slot in self._fitting(t) if self._holders[slot].last < t.first]
        return (max(free, key=lambda slot: self._holders[slot].last), None) if free else None

    def _fitting(self, t: Lifetime) -> list[int]:
        key = (t.buffer.dtype, buffer_size(t.buffer))
        return [
            k
            for k, slot in enumerate(self.slots)
            if (slot.dtype, slot.size) == key and (slot.host is None or t.last < self._hosts[slot.host].first)
        ]

    def _new_slot(self, t: Lifetime) -> Slot:
        dtype, size = t.buffer.dtype, buffer_size(t.buffer)
        taken = {slot.host for slot in self.slots}
        for name, host in self._hosts.items():
            fits = host.buffer.dtype == dtype and buffer_size(host.buffer) == size
            if fits and name not in taken and t.last < host.first:
                return Slot(dtype, size, name)
        return Slot(dtype, size)


def can_overwrite(group: FusedGroup, deps: Mapping[str, NodeDeps], old: str, new: str) -> bool:
    """Whether `new` may be written over `old` within `group`, which reads `old` for the last time.

    Every read of `old` there must be of the very element that is then written, and no node after the writer
    of `new` may read `old`. Both buffers must have the same dtype and size; `deps` goes by node name.
    """
    writer = next((k for k, n in enumerate(group.nodes) if n.buffer == new), None)
    if writer is None:
        return False
    write = deps[group.nodes[writer].name].writes[0]
    for k, node in enumerate(group.nodes):
        reads = [d for d in deps[node.name].reads if d.buffer == old]
        if reads and k > writer:
            return False
        if not all(_same_elements(read, write) for read in reads):
            return False
    return True


def _same_elements(read: Dep, write: Dep) -> bool:
    if not (isinstance(read, MemoryDep) and isinstance(write, MemoryDep)):
        return False
    return read.index == write.index and read.ranges == write.ranges


def buffer_size(buffer: Buffer) -> Poly:
    """Bytes of a whole buffer."""
    return product(buffer.shape) * buffer.dtype.size
