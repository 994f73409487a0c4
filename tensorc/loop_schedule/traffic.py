"""Bytes: of an array, of what a nest moves, of what a node would move alone.

What is read of an array at one index counts once: the elements are the extents of the axes in the index,
multiplied. Where guards cut an axis, only the part in which they hold counts (`loop_ir/guards.py`). Several
indices add up, to no more than the array; so do, apart, those written. Scratch rows stay in cache and do not
count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tensorc.index_algebra import ZERO, Poly, minimum, product
from tensorc.loop_ir.guards import counted_elements
from tensorc.loop_ir.program import Buffer, Load, LoopNode, LoopProgram, MatmulNode, Node, NopNode
from tensorc.loop_schedule.program import (
    Let,
    Matmul,
    Nest,
    Stmt,
    Store,
    children,
)
from tensorc.loop_schedule.walk import loop_axes

Extents = Mapping[str, Poly]


@dataclass(slots=True)
class Touched:
    """The accesses by which arrays are read and written, with the number of elements of each."""

    read: dict[Load, Poly] = field(default_factory=dict)
    written: dict[Load, Poly] = field(default_factory=dict)

    def bytes_of(self, buffers: Sequence[Buffer]) -> Poly:
        """Bytes moved of the arrays among `buffers`."""
        total = ZERO
        for found in (self.read, self.written):
            elements: dict[str, Poly] = {}
            for access, count in found.items():
                elements[access.buffer] = elements.get(access.buffer, ZERO) + count
            for b in buffers:
                if b.name in elements:
                    total = total + minimum(elements[b.name], product(b.shape)) * b.dtype.size
        return total


def array_bytes(buffer: Buffer) -> Poly:
    """The size of a whole buffer in bytes."""
    return product(buffer.shape) * buffer.dtype.size


def total_bytes(buffers: Iterable[Buffer]) -> Poly:
    """The sizes of arrays, added."""
    total = ZERO
    for b in buffers:
        total = total + array_bytes(b)
    return total


def moved_bytes(buffers: Sequence[Buffer], nest: Nest) -> Poly:
    """Bytes a nest reads and writes of the arrays `buffers`."""
    touched = Touched()
    _visit(nest.body, {}, touched)
    return touched.bytes_of(buffers)


def node_bytes(program: LoopProgram, node: Node) -> Poly:
    """Bytes a node would read and write as a nest of its own, everything it uses in memory."""
    touched = Touched()
    match node:
        case LoopNode():
            extents = {a.name: a.extent for a in (*node.iter_axes, *node.reduce_axes)}
            for op in node.body:
                if isinstance(op.attrs, Load):
                    _add(touched.read, op.attrs, extents)
            _add(touched.written, Load(node.buffer, node.store_index), extents)
        case MatmulNode():
            _product(node, touched)
        case NopNode():
            pass
    return touched.bytes_of(program.buffers)


def _visit(body: Sequence[Stmt], extents: Extents, touched: Touched) -> None:
    for s in body:
        match s:
            case Let():
                if isinstance(s.attrs, Load):
                    _add(touched.read, s.attrs, extents)
            case Store(buffer, index, _, _):
                _add(touched.written, Load(buffer, index), extents)
            case Matmul(node, _):
                _product(node, touched)
            case _:
                inner = {a.name: a.extent for a in loop_axes(s)}
                _visit(children(s), {**extents, **inner}, touched)


def _product(node: MatmulNode, touched: Touched) -> None:
    extents = {a.name: a.extent for a in node.batch} | {"i": node.m, "k": node.k, "j": node.n}
    for read in (node.left, node.right):
        _add(touched.read, read, extents)
    elements = product(a.extent for a in node.batch) * node.m * node.n
    touched.written[Load(node.buffer, ZERO)] = elements


def _add(found: dict[Load, Poly], access: Load, extents: Extents) -> None:
    found[access] = counted_elements(access.index, access.guards, extents)
