"""Interpret a LoopProgram with NumPy, node by node and unfused, with the bits of a compiled kernel.

Scalar operations are `scalar_ops` (elementary functions are the runtime's own), reductions follow
`reduction_trees`, scans `scan_orders`, products `matmul_tree`. The elements that each node loads and stores
are counted from the indices evaluated, so that the log's bytes can be recounted from something other than its
own record.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorc.dtypes import I64
from tensorc.errors import IRError
from tensorc.index_algebra import Poly
from tensorc.interp.binding import BoundCall, bind_arguments
from tensorc.interp.float_values import stored
from tensorc.interp.indices import Indices, evaluate_index, index_mesh
from tensorc.interp.matmul_tree import multiply_matrices
from tensorc.interp.reduction_trees import reduce_columns, reduce_rows
from tensorc.interp.scalar_ops import ElementaryLibrary, apply_cast, apply_operator
from tensorc.interp.scan_orders import scan_in_order
from tensorc.loop_ir.program import (
    Axis,
    Buffer,
    Gather,
    IndexValue,
    Inside,
    Literal,
    Load,
    LoopNode,
    LoopProgram,
    MatmulNode,
    NopNode,
    Place,
    Reduction,
    Role,
    ScalarOp,
    ScalarRef,
    Tree,
)

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class NodeAccesses:
    """Which elements one node loaded and stored: by buffer, a mask over its elements."""

    node: str
    loaded: Mapping[str, Mask]
    stored: Mapping[str, Mask]

    @property
    def loads(self) -> dict[str, int]:
        """Distinct elements loaded, by buffer."""
        return {name: int(np.count_nonzero(mask)) for name, mask in self.loaded.items()}

    @property
    def stores(self) -> dict[str, int]:
        """Distinct elements stored, by buffer."""
        return {name: int(np.count_nonzero(mask)) for name, mask in self.stored.items()}


@dataclass(frozen=True, slots=True, eq=False)
class AccessCounts:
    """The accesses of every node, in order, and the size of an element of every buffer in bytes."""

    nodes: tuple[NodeAccesses, ...]
    element_bytes: Mapping[str, int]

    @property
    def bytes_moved(self) -> int:
        """Bytes that the nodes load and store when each runs by itself."""
        return self.bytes_moved_by([[n.node] for n in self.nodes], frozenset(self.element_bytes))

    def bytes_moved_by(self, groups: Sequence[Sequence[str]], arrays: frozenset[str]) -> int:
        """Bytes that `groups` of nodes move, each group one nest: what several nodes load counts once.

        Only buffers in `arrays` are in memory, and a nest does not load what it stores itself.
        """
        by_name = {n.node: n for n in self.nodes}
        total = 0
        for group in groups:
            members = [by_name[name] for name in group]
            stored = _union(m.stored for m in members)
            loaded = {b: mask for b, mask in _union(m.loaded for m in members).items() if b not in stored}
            for found in (loaded, stored):
                sizes = {b: int(np.count_nonzero(mask)) for b, mask in found.items() if b in arrays}
                total += sum(count * self.element_bytes[b] for b, count in sizes.items())
        return total


def _union(accesses: Iterable[Mapping[str, Mask]]) -> dict[str, Mask]:
    found: dict[str, Mask] = {}
    for masks in accesses:
        for buffer, mask in masks.items():
            found[buffer] = found[buffer] | mask if buffer in found else mask
    return found


def interpret_loops(
    program: LoopProgram, arrays: Mapping[str, object], elementary: ElementaryLibrary
) -> tuple[tuple[Array, ...], AccessCounts]:
    """The results of one call, and what each node accessed.

    Raises:
        TypeError, ValueError: as `bind_arguments`; ValueError also for an integer to a negative power.
        IndexError: a gather's index is out of range.
        IRError: an access out of a buffer, or an element that is not written exactly once.
    """
    run = _Run(program, bind_arguments(program.signature, arrays), elementary)
    with np.errstate(all="ignore"):
        counts = tuple(run.node(node) for node in program.nodes)
    results = [b for b in program.buffers if b.result is not None]
    ordered = sorted(results, key=lambda b: -1 if b.result is None else b.result)
    sizes = {b.name: b.dtype.size for b in program.buffers}
    return tuple(run.array(b) for b in ordered), AccessCounts(counts, sizes)


class _Touched:
    """Which elements of which buffers a node has accessed."""

    def __init__(self) -> None:
        self._masks: dict[str, Mask] = {}

    def mark(self, buffer: str, size: int, index: Indices) -> None:
        mask = self._masks.setdefault(buffer, np.zeros(size, np.bool_))
        mask[index] = True

    def masks(self) -> dict[str, Mask]:
        return dict(self._masks)


class _Run:
    """One evaluation: every buffer's elements in a flat array."""

    def __init__(self, program: LoopProgram, call: BoundCall, elementary: ElementaryLibrary) -> None:
        self._call = call
        self._elementary = elementary
        self._buffers = {b.name: b for b in program.buffers}
        arguments = dict(zip((p.name for p in program.signature.params), call.arguments, strict=True))
        self._scalars = {name: a for name, a in arguments.items() if not a.ndim}
        self._flat: dict[str, Array] = {
            b.name: np.ascontiguousarray(arguments[b.name]).reshape(-1)
            for b in program.buffers
            if b.role is Role.INPUT
        }

    def array(self, buffer: Buffer) -> Array:
        return stored(self._flat[buffer.name], buffer.dtype).reshape(self._call.shape(buffer.shape))

    def node(self, node: LoopNode | MatmulNode | NopNode) -> NodeAccesses:
        """Compute the node's buffer."""
        loads, stores = _Touched(), _Touched()
        if isinstance(node, LoopNode):
            values, index = self._loop(node, loads)
        elif isinstance(node, MatmulNode):
            values, index = self._matmul(node, loads)
        else:
            values = np.empty(0, self._buffers[node.buffer].dtype.carrier)
            index = np.empty(0, np.int64)
        self._store(node.name, node.buffer, values, index, stores)
        return NodeAccesses(node.name, loads.masks(), stores.masks())

    def _extents(self, axes: Sequence[Axis]) -> tuple[int, ...]:
        return self._call.shape(tuple(a.extent for a in axes))

    def _loop(self, node: LoopNode, loads: _Touched) -> tuple[Array, Indices]:
        """The values to store and where, in row-major order of the iteration axes."""
        axes = (*node.iter_axes, *node.reduce_axes)
        extents = self._extents(axes)
        values = self._body(node, axes, extents, loads)
        outer = extents[: len(node.iter_axes)]
        if node.scan is not None and node.tree is not None:
            values = scan_in_order(node.scan.kind, values, node.scan.axis, node.tree)
        elif node.reduction is not None:
            dtype = self._buffers[node.buffer].dtype
            values = _reduce(node.reduction, values, outer, extents[len(outer) :], dtype)
        mesh = index_mesh([a.name for a in node.iter_axes], outer)
        index = np.broadcast_to(evaluate_index(node.store_index, mesh, self._call.dims), outer)
        return values.reshape(-1), index.reshape(-1)

    def _body(self, node: LoopNode, axes: Sequence[Axis], extents: tuple[int, ...], loads: _Touched) -> Array:
        if 0 in extents:  # no iteration, so no access either
            return np.empty(extents, node.body[node.result].dtype.carrier)
        mesh = index_mesh([a.name for a in axes], extents)
        last_use = {k: n for n, op in enumerate(node.body) for k in op.args}
        values: list[Array | None] = []
        for n, op in enumerate(node.body):
            args = [a for a in (values[k] for k in op.args) if a is not None]
            values.append(self._scalar(node, op, args, mesh, loads))
            for k in op.args:
                if last_use[k] == n and k != node.result:
                    values[k] = None
        result = values[node.result]
        assert result is not None, "the result is kept"
        return np.broadcast_to(result, extents)

    def _scalar(
        self, node: LoopNode, op: ScalarOp, args: list[Array], mesh: Mapping[str, Indices], loads: _Touched
    ) -> Array:
        """One scalar operation for all iterations, along the axes it depends on only."""
        match op.attrs:
            case Load():
                return self._load(node.name, op.attrs, mesh, loads)
            case Place():
                return self._place(op.attrs, args[0], args[1] if len(args) > 1 else np.ones((), np.bool_))
            case Gather():
                return self._gather(node.name, op.attrs, args, mesh, loads)
            case ScalarRef(param):
                return self._scalars[param]
            case Literal(value=value):
                return np.asarray(value, op.dtype.carrier)
            case IndexValue(index):
                return apply_cast(evaluate_index(index, mesh, self._call.dims), I64, op.dtype)
            case Inside(guards):
                return self._holds(guards, mesh)
            case None:
                if op.op == "cast":
                    source = node.body[op.args[0]].dtype
                    return apply_cast(args[0], source, op.dtype)
                operand = node.body[op.args[-1]].dtype
                return apply_operator(op.op, args, operand, self._elementary)

    def _load(self, node: str, load: Load, mesh: Mapping[str, Indices], loads: _Touched) -> Array:
        flat = self._flat[load.buffer]
        index = evaluate_index(load.index, mesh, self._call.dims)
        if load.guards:
            return self._load_inside(node, load.buffer, index, self._holds(load.guards, mesh), loads)
        if index.size and (index.min() < 0 or index.max() >= flat.size):
            raise IRError(node, f"{load.buffer}[{load.index}] leaves its {flat.size} elements")
        loads.mark(load.buffer, flat.size, index)
        return flat[index]

    def _holds(self, guards: Sequence[Poly], mesh: Mapping[str, Indices]) -> Mask:
        found = [evaluate_index(g, mesh, self._call.dims) >= 0 for g in guards]
        return functools.reduce(np.logical_and, found)

    def _load_inside(self, node: str, buffer: str, index: Indices, inside: Mask, loads: _Touched) -> Array:
        """The elements where `inside` holds, 0 elsewhere."""
        flat = self._flat[buffer]
        index, inside = np.broadcast_arrays(index, inside)
        used = index[inside]
        if used.size and (used.min() < 0 or used.max() >= flat.size):
            raise IRError(node, f"an access leaves the {flat.size} elements of {buffer}")
        loads.mark(buffer, flat.size, used)
        found = np.zeros(index.shape, flat.dtype)
        found[inside] = flat[used]
        return found

    def _place(self, place: Place, index: Array, inside: Mask) -> Array:
        extent = self._call.shape((place.extent,))[0]
        at = np.where(index < 0, index + extent, index) if place.wraps else index
        if (inside & ((at < 0) | (at >= extent))).any():
            raise IndexError(place.message)
        return np.where(inside, at, -1)

    def _gather(
        self, node: str, gather: Gather, places: list[Array], mesh: Mapping[str, Indices], loads: _Touched
    ) -> Array:
        index = evaluate_index(gather.offset, mesh, self._call.dims)
        inside: Mask = np.ones((), np.bool_)
        for stride, place in zip(gather.strides, places, strict=True):
            index = index + stride.evaluate(self._call.dims) * place
            inside = inside & (place >= 0)
        return self._load_inside(node, gather.buffer, index, inside, loads)

    def _matmul(self, node: MatmulNode, loads: _Touched) -> tuple[Array, Indices]:
        dtype = self._buffers[node.buffer].dtype
        shape = (*self._extents(node.batch), *self._call.shape((node.m, node.n)))
        depth = self._call.shape((node.k,))[0]
        index = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64)
        if 0 in shape or depth == 0:
            return np.zeros(index.size, dtype.carrier), index
        left = self._operand(node, node.left, ("i", node.m), ("k", node.k), loads)
        right = self._operand(node, node.right, ("k", node.k), ("j", node.n), loads)

        def fma(a: Array, b: Array, c: Array) -> Array:
            return apply_operator("fma", [a, b, c], dtype, self._elementary)

        return multiply_matrices(left, right, fma).reshape(-1), index

    def _operand(
        self, node: MatmulNode, load: Load, row: tuple[str, Poly], column: tuple[str, Poly], loads: _Touched
    ) -> Array:
        axes = (*node.batch, Axis(*row), Axis(*column))
        extents = self._extents(axes)
        mesh = index_mesh([a.name for a in axes], extents)
        return np.broadcast_to(self._load(node.name, load, mesh, loads), extents)

    def _store(self, node: str, buffer: str, values: Array, index: Indices, stores: _Touched) -> None:
        target = self._buffers[buffer]
        size = int(np.prod(self._call.shape(target.shape), dtype=np.int64))
        if values.size != size or not np.array_equal(np.sort(index), np.arange(size)):
            raise IRError(node, f"does not write each of the {size} elements of {buffer} once")
        if values.dtype != np.dtype(target.dtype.carrier):
            raise IRError(node, f"stores {values.dtype} in {target.dtype} {buffer}")
        flat = np.empty(size, target.dtype.carrier)
        flat[index] = values
        self._flat[buffer] = flat
        stores.mark(buffer, size, index)


def _reduce(
    reduction: Reduction, values: Array, outer: tuple[int, ...], inner: tuple[int, ...], dtype: Any
) -> Array:
    """Reduce the trailing axes `inner`; the last of them is the tree's innermost."""
    outputs = int(np.prod(outer, dtype=np.int64))
    rest = int(np.prod(inner[:-1], dtype=np.int64))
    merged = np.ascontiguousarray(values).reshape(outputs, rest, inner[-1])
    if reduction.tree is Tree.ROWS:
        return reduce_rows(reduction.kind, merged, dtype, reduction.correction)
    columns = np.ascontiguousarray(np.moveaxis(merged, 0, -1))
    return reduce_columns(reduction.kind, columns, dtype, reduction.correction)
