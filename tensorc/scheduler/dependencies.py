"""What a node reads and writes, in a form in which equal accesses compare equal.

A `MemoryDep` is a buffer, an element index over loops `c0, c1, ...` and those loops' extents. It is
normalised twice, so that equality can be structural:

1. per node: unit loops are dropped, iteration and reduction loops are each ordered by strides, neighbours
   merge where every index of the node allows. What is left is the node's `group`.
2. per access: neighbours merge where this index alone allows, the loops are renamed, trailing loops that the
   index does not use are dropped (leading ones stay).

So a row reduction and a flat loop over the same array have the same dependency on it, `x[c0], c0 < N*D`; a
row statistic read in a loop over rows and columns has the dependency of its write. A transposed access does
not: `x[c0 + D*c1]`. A guarded load depends on the elements it reads where its guards hold: each loop is
cut to that part and begins there at 0, before step 2. What a gather reads is known when its indices are: two
gathers have the same dependency when they compute the same places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from tensorc.index_algebra import Poly, Sym, axis, product
from tensorc.loop_ir.guards import index_polys, shift_to_box
from tensorc.loop_ir.program import (
    Gather,
    IndexValue,
    Inside,
    Literal,
    Load,
    LoopNode,
    MatmulNode,
    Node,
    NopNode,
    ScalarAttrs,
    ScalarOp,
)
from tensorc.scheduler.loop_order import Loops, drop_unit_loops, merge_loops, order_loops
from tensorc.scheduler.sizes import Figures


@dataclass(frozen=True, slots=True)
class MemoryDep:
    """The elements `buffer[index]` for all values of the loops `ranges`, outermost first."""

    buffer: str
    index: Poly
    ranges: tuple[tuple[str, Poly], ...]

    def elements(self) -> Poly:
        """How many elements are touched: the extents of the loops that occur in the index."""
        used = set(self.index.symbols())
        return product(extent for name, extent in self.ranges if Sym(name, axis=True) in used)


@dataclass(frozen=True, slots=True)
class StarDep:
    """The whole of `buffer`, in an order that is not known."""

    buffer: str


@dataclass(frozen=True, slots=True)
class GatherDep:
    """At most `elements` elements of `buffer`, at computed places; equal `places`, equal elements."""

    buffer: str
    elements: Poly
    places: tuple[object, ...]


Dep = MemoryDep | StarDep | GatherDep


@dataclass(frozen=True, slots=True)
class LoopGroup:
    """A node's loops after ordering and merging: the extents of iteration and of reduction loops."""

    iteration: tuple[Poly, ...]
    reduction: tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class NodeDeps:
    """A node's accesses, each once: reads in the order of the body, gathers last. `group` is None without
    loops."""

    group: LoopGroup | None
    reads: tuple[Dep, ...]
    writes: tuple[Dep, ...]


def node_dependencies(node: Node, figures: Figures, fixed: Mapping[Sym, Poly]) -> NodeDeps:
    """The dependencies of one node; `fixed` replaces dims whose size is known."""
    match node:
        case LoopNode():
            return _loop_dependencies(node, figures, fixed)
        case MatmulNode():
            operands = dict.fromkeys((StarDep(node.left.buffer), StarDep(node.right.buffer)))
            return NodeDeps(None, tuple(operands), (StarDep(node.buffer),))
        case NopNode():
            return NodeDeps(None, (), (StarDep(node.buffer),))
        case _:
            assert_never(node)


def _loop_dependencies(node: LoopNode, figures: Figures, fixed: Mapping[Sym, Poly]) -> NodeDeps:
    loads = dict.fromkeys(op.attrs for op in node.body if isinstance(op.attrs, Load))
    others = [p for op in node.body if not isinstance(op.attrs, Load) for p in index_polys(op.attrs)]
    values = dict.fromkeys((*others, *(g for load in loads for g in load.guards)))
    written = [*(load.index for load in loads), node.store_index, *values]
    indices = [p.substitute(fixed) for p in written]

    iteration: Loops = tuple((a.name, a.extent.substitute(fixed)) for a in node.iter_axes)
    reduction: Loops = tuple((a.name, a.extent.substitute(fixed)) for a in node.reduce_axes)
    iteration, plain = drop_unit_loops(iteration, indices)
    as_written = tuple(e for _, e in iteration)
    reduction, plain = drop_unit_loops(reduction, plain)
    accesses = plain[: len(loads) + 1]
    iteration, merged = merge_loops(order_loops(iteration, accesses, figures), plain)
    reduction, merged = merge_loops(order_loops(reduction, accesses, figures), merged)

    loops = (*iteration, *reduction)
    guards = dict(zip(values, merged[len(loads) + 1 :], strict=True))
    reads: list[Dep] = [
        _normalised(Load(load.buffer, p, tuple(guards[g] for g in load.guards)), loops)
        for load, p in zip(loads, merged, strict=False)
    ]
    reads.extend(_gather_dependencies(node, loops, dict(zip(written, merged, strict=True))))
    write = _normalised(Load(node.buffer, merged[len(loads)]), loops)
    # a scan's loops keep their order
    merged_extents = tuple(e for _, e in iteration)
    kept = merged_extents if node.scan is None else as_written
    group = LoopGroup(kept, tuple(e for _, e in reduction))
    return NodeDeps(group, tuple(dict.fromkeys(reads)), (write,))


def _gather_dependencies(node: LoopNode, loops: Loops, merged: Mapping[Poly, Poly]) -> list[Dep]:
    """The gathers of a node, whose indices are `merged` over `loops`; their places as the operations that
    compute them, numbered from 0."""
    names = {Sym(name, axis=True): axis(f"c{k}") for k, (name, _) in enumerate(loops)}
    found: list[Dep] = []
    for position, op in enumerate(node.body):
        if not isinstance(op.attrs, Gather):
            continue
        used = sorted(needed_for(node.body, position))
        number = {k: n for n, k in enumerate(used)}
        places: list[object] = [extent for _, extent in loops]
        axes: set[str] = set()
        for k in used:
            attrs = node.body[k].attrs
            indices = [merged[p] for p in index_polys(attrs)]
            axes.update(name for p in indices for name in p.axes())
            args = tuple(number[a] for a in node.body[k].args)
            key = (_fixed_part(attrs), *(p.substitute(names) for p in indices))
            places.append((node.body[k].op, args, node.body[k].dtype, key))
        elements = product(extent for name, extent in loops if name in axes)
        found.append(GatherDep(op.attrs.buffer, elements, tuple(places)))
    return found


def _fixed_part(attrs: ScalarAttrs) -> object:
    """What attributes say beside indices, comparable between nodes."""
    match attrs:
        case Load(buffer):
            return buffer
        case Gather(buffer, _, strides):
            return buffer, strides
        case Literal(value=value):
            return repr(value)
        case IndexValue() | Inside():
            return None
        case _:
            return attrs


def needed_for(body: Sequence[ScalarOp], position: int) -> set[int]:
    """The operations that the value of one needs, itself included."""
    needed: set[int] = set()
    pending = [position]
    while pending:
        k = pending.pop()
        if k not in needed:
            needed.add(k)
            pending.extend(body[k].args)
    return needed


def _normalised(access: Load, loops: Loops) -> MemoryDep:
    index, cut = shift_to_box(access, loops)
    cut, (index,) = drop_unit_loops(cut, (index,))
    merged, (alone,) = merge_loops(cut, (index,))
    names = {Sym(name, axis=True): axis(f"c{k}") for k, (name, _) in enumerate(merged)}
    renamed = alone.substitute(names)
    ranges = [(f"c{k}", extent) for k, (_, extent) in enumerate(merged)]
    used = set(renamed.axes())
    while ranges and ranges[-1][0] not in used:
        ranges.pop()
    return MemoryDep(access.buffer, renamed, tuple(ranges))


def print_dep(dep: Dep, figures: Figures | None) -> str:
    """`MemoryDep('buf0', c0, {c0: 1024})`: numbers at the figures, names of dims without them."""
    if isinstance(dep, StarDep):
        return f"StarDep('{dep.buffer}')"
    if isinstance(dep, GatherDep):
        return f"GatherDep('{dep.buffer}', {print_size(dep.elements, figures)})"
    ranges = ", ".join(f"{name}: {print_size(extent, figures)}" for name, extent in dep.ranges)
    return f"MemoryDep('{dep.buffer}', {print_size(dep.index, figures)}, {{{ranges}}})"


def print_group(group: LoopGroup, figures: Figures | None) -> str:
    """`((1024,), (1024,))`, as Python prints the tuples."""
    return f"({_tuple_text(group.iteration, figures)}, {_tuple_text(group.reduction, figures)})"


def _tuple_text(sizes: tuple[Poly, ...], figures: Figures | None) -> str:
    texts = [print_size(size, figures) for size in sizes]
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"


def print_size(size: Poly, figures: Figures | None) -> str:
    return str(size if figures is None else figures.applied(size))
