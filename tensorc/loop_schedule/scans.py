"""Nests of scans and pointwise nodes of one space: columns that run in order, or one sweep of one axis.

*Rewrite*: `for i0 { for i1 { y[i0, i1] = scan_i0 f(x[i0, i1]) } }` -> `for strips of i1 { for i0 { for i1 in
the strip { c[i1] = c[i1] + f(x[i0, i1]); y[i0, i1] = c[i1] } } }` (loop tiling and interchange).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensorc.index_algebra import Poly, Sym, axis
from tensorc.loop_ir.program import Axis, Buffer, LoopNode, Tree
from tensorc.loop_schedule.flat import merge_axes
from tensorc.loop_schedule.program import (
    Accumulator,
    ColumnScan,
    Parallel,
    RowReduce,
    Stmt,
    Store,
    Vector,
)
from tensorc.loop_schedule.values import Names, Scope
from tensorc.loop_schedule.whole import accumulator, finish_scalars


def build_scan(
    nodes: Sequence[LoopNode], buffers: Mapping[str, Buffer], arrays: frozenset[str]
) -> tuple[Stmt, ...]:
    """The statements of a `scan` nest; buffers outside `arrays` stay in registers."""
    first = next(n for n in nodes if n.scan is not None)
    if first.tree is Tree.COLUMNS:
        return _columns(nodes, first, buffers, arrays)
    return _in_order(nodes, buffers, arrays)


def _columns(
    nodes: Sequence[LoopNode], first: LoopNode, buffers: Mapping[str, Buffer], arrays: frozenset[str]
) -> tuple[Stmt, ...]:
    assert first.scan is not None
    rename, axes = merge_axes(nodes, apart=first.scan.axis)
    scanned = next(a for a in axes if axis(a.name) == rename[first.scan.axis])
    names = Names()
    top = Scope(names, {})
    scope = Scope(names, {a.name: 1 for a in axes}, top)
    sweep = _Sweep(scope, buffers, arrays)
    for node in nodes:
        places = {Sym(a.name, axis=True): p for a, p in zip(node.iter_axes, rename, strict=True)}
        sweep.add(node, places)
    iterate = tuple(a for a in axes[:-1] if a is not scanned)
    nest = ColumnScan(iterate, scanned, axes[-1], (*scope.take(1), *sweep.stores), parallel=True)
    return (*top.take(0), nest)


def _in_order(
    nodes: Sequence[LoopNode], buffers: Mapping[str, Buffer], arrays: frozenset[str]
) -> tuple[Stmt, ...]:
    """One step, in which one thread sweeps the axis; full reductions on the way, scalar nodes after it."""
    first = next(n for n in nodes if n.scan is not None)
    swept = Axis("j0", first.iter_axes[0].extent)
    names = Names()
    top = Scope(names, {})
    scope = Scope(names, {swept.name: 1}, top)
    sweep = _Sweep(scope, buffers, arrays)
    accumulators: list[Accumulator] = []
    for node in nodes:
        if not node.iter_axes and node.reduction is None:
            continue
        own = (*node.iter_axes, *node.reduce_axes)
        value = sweep.add(node, {Sym(own[0].name, axis=True): axis(swept.name)})
        if node.reduction is not None:
            accumulators.append(accumulator(node, value, names, 0, buffers))
    body = (*scope.take(1), *sweep.stores)
    loop = RowReduce((), swept, body, tuple(accumulators)) if accumulators else Vector(swept, body)
    finish = finish_scalars(nodes, accumulators, Scope(names, {}), buffers, arrays)
    return (*top.take(0), Parallel((), (loop, *finish)))


class _Sweep:
    """The nodes of one loop body: what each gives, and what is stored."""

    def __init__(self, scope: Scope, buffers: Mapping[str, Buffer], arrays: frozenset[str]) -> None:
        self.scope = scope
        self.buffers = buffers
        self.arrays = arrays
        self.made: dict[str, str] = {}
        self.stores: list[Store] = []

    def add(self, node: LoopNode, places: Mapping[Sym, Poly]) -> str:
        """Add a node's body, and what a scan or pointwise node gives; the body's value."""
        value = self.scope.add_body(node, places, lambda load: self.made.get(load.buffer, load))
        if node.reduction is not None:
            return value
        result = value if node.scan is None else self.scope.add_scan(node, value)
        self.made[node.buffer] = result
        if node.buffer in self.arrays:
            index = node.store_index.substitute(places)
            self.stores.append(Store(node.buffer, index, result, self.buffers[node.buffer].dtype))
        return value
