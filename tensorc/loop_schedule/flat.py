"""Nests of pointwise nodes over one space: adjacent axes merge, the last one becomes the vector axis.

*Rewrite*: `for i0 { for i1 { y[i0*D + i1] = f(x[i0*D + i1]) } }` -> `for c { y[c] = f(x[c]) }`
(loop collapsing, where every index allows it). Guards follow (`stretch_guards`) where that merges more.

*Rewrite*: `for c0 { for c1 < 2 { y[2*c0 + c1] = f(x[c0], c1) } }` ->
`for c0 { y[2*c0] = f(x[c0], 0); y[2*c0 + 1] = f(x[c0], 1) }` (unrolling, where a last axis would not fill
a vector): its neighbour becomes the vector axis, and stores take steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from tensorc.index_algebra import ONE, ZERO, Poly, Sym, as_poly, axis
from tensorc.loop_ir.guards import index_polys
from tensorc.loop_ir.program import Axis, Buffer, Inside, Load, LoopNode, ScalarAttrs
from tensorc.loop_schedule.program import Parallel, ParallelVector, Single, Stmt, Store, Vector
from tensorc.loop_schedule.values import Names, Scope
from tensorc.loop_schedule.walk import needed_only

VECTOR: Final = 8
FEW_VECTORS: Final = 2
MOST_VALUES: Final = 256
"""In all copies of an unrolled body."""


def build_flat(
    nodes: Sequence[LoopNode], buffers: Mapping[str, Buffer], arrays: frozenset[str]
) -> tuple[Stmt, ...]:
    """The statements of a flat nest; buffers outside `arrays` stay in registers."""
    rename, axes = merge_axes(nodes)
    stretched = [stretch_guards(n) for n in nodes]
    flatter = merge_axes(stretched)
    if len(flatter[1]) < len(axes):
        nodes, (rename, axes) = stretched, flatter
    unrolled = axes[-1] if _is_unrolled(nodes, axes) else None
    if unrolled is not None:
        axes = axes[:-1]
    names = Names()
    levels = {a.name: 1 for a in axes[:-1]} | ({axes[-1].name: 2} if axes else {})
    top = Scope(names, {})
    step = Scope(names, {a.name: 1 for a in axes[:-1]}, top)
    scope = Scope(names, levels, step)
    stores: list[Store] = []
    for fixed in _copies(unrolled):
        made: dict[str, str] = {}
        for node in nodes:
            axes_of_node = zip(node.iter_axes, rename, strict=True)
            places = {Sym(a.name, axis=True): p.substitute(fixed) for a, p in axes_of_node}
            value = scope.add_body(node, places, partial(_resolve, made))
            made[node.buffer] = value
            if node.buffer in arrays:
                index = node.store_index.substitute(places)
                stores.append(Store(node.buffer, index, value, buffers[node.buffer].dtype))
    outside, outer, inner = top.take(0), step.take(1), scope.take(2)
    if unrolled is not None:
        used = {s.value for s in stores}
        inner, outer, outside = (needed_only(leaves, used) for leaves in (inner, outer, outside))
    if not axes:
        return (*outside, Single(tuple(stores)))
    if len(axes) == 1:
        return (*outside, ParallelVector(axes[0], (*outer, *inner, *stores)))
    return (*outside, Parallel(axes[:-1], (*outer, Vector(axes[-1], (*inner, *stores)))))


def _resolve(made: Mapping[str, str], load: Load) -> str | Load:
    return made.get(load.buffer, load)


def _is_unrolled(nodes: Sequence[LoopNode], axes: Sequence[Axis]) -> bool:
    """True where the last axis leaves lanes of a vector empty and the one before it does not."""
    if len(axes) < 2:
        return False
    inner, outer = (a.extent.constant for a in (axes[-1], axes[-2]))
    if inner is None or not 2 <= inner < VECTOR or (outer is not None and outer < FEW_VECTORS * VECTOR):
        return False
    return inner * sum(len(n.body) for n in nodes) <= MOST_VALUES


def _copies(unrolled: Axis | None) -> Iterable[dict[Sym, Poly]]:
    """What stands for the unrolled axis in each copy of the bodies."""
    if unrolled is None:
        return ({},)
    count = unrolled.extent.constant
    assert count is not None
    return ({Sym(unrolled.name, axis=True): as_poly(k)} for k in range(count))


def merge_axes(
    nodes: Sequence[LoopNode], apart: int | None = None
) -> tuple[tuple[Poly, ...], tuple[Axis, ...]]:
    """For each axis of the nodes its place in the merged axes, and the merged axes.

    Two neighbours merge when in every index the outer one's coefficient is the inner one's times its extent;
    axis number `apart` merges with no other.
    """
    extents = [a.extent for a in nodes[0].iter_axes]
    groups: list[list[int]] = []
    for k in range(len(extents)):
        if groups and apart not in (k - 1, k) and all(_merges(n, groups[-1][-1], k) for n in nodes):
            groups[-1].append(k)
        else:
            groups.append([k])
    axes = tuple(Axis(f"c{g}", _extent(extents, members)) for g, members in enumerate(groups))
    places: list[Poly] = []
    for g, members in enumerate(groups):
        # within a merged group only the last axis carries the place: the others' terms are multiples of its
        places.extend(ZERO for _ in members[:-1])
        places.append(axis(f"c{g}"))
    return tuple(places), axes


def stretch_guards(node: LoopNode) -> LoopNode:
    """The node with its guards said of all axes behind the one that they are about.

    *Rewrite*: `i0 - N >= 0` -> `D*i0 + i1 - D*N >= 0` where `0 <= i1 < D`: the same elements, and a
    condition on the merged axis.
    """
    body = tuple(replace(op, attrs=_stretched_attrs(op.attrs, node.iter_axes)) for op in node.body)
    return replace(node, body=body)


def _stretched_attrs(attrs: ScalarAttrs, axes: Sequence[Axis]) -> ScalarAttrs:
    match attrs:
        case Load(buffer, index, guards):
            return Load(buffer, index, tuple(_stretched(g, axes) for g in guards))
        case Inside(guards):
            return Inside(tuple(_stretched(g, axes) for g in guards))
        case _:
            return attrs


def _stretched(guard: Poly, axes: Sequence[Axis]) -> Poly:
    names = guard.axes()
    factor = guard.coefficient(Sym(names[0], axis=True)).constant if len(names) == 1 else None
    if factor not in (1, -1):
        return guard
    size, within = ONE, ZERO
    for a in reversed(axes):
        if a.name == names[0]:
            break
        within = within + axis(a.name) * size
        size = size * a.extent
    # at most n for the one axis is at most (n + 1) * size - 1 for all of them
    return guard * size + within if factor > 0 else guard * size + (size - 1) - within


def _extent(extents: Sequence[Poly], members: Sequence[int]) -> Poly:
    total = extents[members[0]]
    for k in members[1:]:
        total = total * extents[k]
    return total


def _merges(node: LoopNode, outer: int, inner: int) -> bool:
    a, b = (Sym(node.iter_axes[k].name, axis=True) for k in (outer, inner))
    extent = node.iter_axes[inner].extent
    indices = [p for op in node.body for p in index_polys(op.attrs)]
    return all(i.coefficient(a) == i.coefficient(b) * extent for i in (*indices, node.store_index))
