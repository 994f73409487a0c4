"""Bytes: of an array, of what a nest moves, of what a node would move alone.

What is read of an array at one index counts once: the elements are the extents of the axes in the index,
multiplied. Where guards cut an axis, only the part in which they hold counts (`loop_ir/guards.py`). A gather
counts one element for each step of the loops that its place depends on. Several accesses add up, to no more
than the array; so do, apart, those written. Scratch rows stay in cache and do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tensorc.index_algebra import ZERO, Poly, minimum, product
from tensorc.loop_ir.guards import counted_elements, index_polys
from tensorc.loop_ir.program import (
    Buffer,
    Gather,
    Load,
    LoopNode,
    LoopProgram,
    MatmulNode,
    Node,
    NopNode,
    ScalarAttrs,
)
from tensorc.loop_schedule.program import (
    ColumnReduce,
    Let,
    Matmul,
    Nest,
    RowReduce,
    Scan,
    Stmt,
    Store,
    children,
)
from tensorc.loop_schedule.walk import loop_axes

Extents = Mapping[str, Poly]
Axes = frozenset[str]
Access = tuple[Load | Gather, tuple[object, ...]]
"""What is read or written, and for a gather the values of its places."""


@dataclass(slots=True)
class Touched:
    """The accesses by which arrays are read and written, with the number of elements of each."""

    read: dict[Access, Poly] = field(default_factory=dict)
    written: dict[Access, Poly] = field(default_factory=dict)

    def bytes_of(self, buffers: Sequence[Buffer]) -> Poly:
        """Bytes moved of the arrays among `buffers`."""
        total = ZERO
        for found in (self.read, self.written):
            elements: dict[str, Poly] = {}
            for (access, _), count in found.items():
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
    _visit(nest.body, {}, touched, {})
    return touched.bytes_of(buffers)


def node_bytes(program: LoopProgram, node: Node) -> Poly:
    """Bytes a node would read and write as a nest of its own, everything it uses in memory."""
    touched = Touched()
    match node:
        case LoopNode():
            extents = {a.name: a.extent for a in (*node.iter_axes, *node.reduce_axes)}
            depends: list[Axes] = []
            for op in node.body:
                depends.append(_axes_of(op.attrs).union(*(depends[k] for k in op.args)))
                _read(touched, op.attrs, op.args, depends[-1], extents)
            _add(touched.written, Load(node.buffer, node.store_index), extents)
        case MatmulNode():
            _product(node, touched)
        case NopNode():
            pass
    return touched.bytes_of(program.buffers)


def _visit(body: Sequence[Stmt], extents: Extents, touched: Touched, depends: dict[str, Axes]) -> None:
    """Add what `body` touches inside loops of `extents`; `depends`: the axes of each value."""
    for s in body:
        match s:
            case Let():
                depends[s.name] = _axes_of(s.attrs).union(*(depends[a] for a in s.args))
                _read(touched, s.attrs, s.args, depends[s.name], extents)
            case Scan():
                depends[s.name] = frozenset(extents)
            case Store(buffer, index, _, _):
                _add(touched.written, Load(buffer, index), extents)
            case Matmul(node, _):
                _product(node, touched)
            case _:
                inner = {a.name: a.extent for a in loop_axes(s)}
                if isinstance(s, RowReduce | ColumnReduce):
                    kept = (*s.iterate, s.columns) if isinstance(s, ColumnReduce) else ()
                    around = frozenset({*extents, *(a.name for a in kept)})
                    depends.update((a.name, around) for a in s.accumulators)
                _visit(children(s), {**extents, **inner}, touched, depends)


def _axes_of(attrs: ScalarAttrs) -> Axes:
    """The axes that the attributes of an operation hold."""
    return frozenset(name for p in index_polys(attrs) for name in p.axes())


def _read(
    touched: Touched, attrs: ScalarAttrs, args: Sequence[object], depends: Axes, extents: Extents
) -> None:
    if isinstance(attrs, Load):
        _add(touched.read, attrs, extents)
    elif isinstance(attrs, Gather):
        touched.read[attrs, tuple(args)] = product(extents[a] for a in extents if a in depends)


def _product(node: MatmulNode, touched: Touched) -> None:
    extents = {a.name: a.extent for a in node.batch} | {"i": node.m, "k": node.k, "j": node.n}
    for read in (node.left, node.right):
        _add(touched.read, read, extents)
    elements = product(a.extent for a in node.batch) * node.m * node.n
    touched.written[Load(node.buffer, ZERO), ()] = elements


def _add(found: dict[Access, Poly], access: Load, extents: Extents) -> None:
    found[access, ()] = counted_elements(access.index, access.guards, extents)
