"""Whether a list of nodes can be one loop nest, and which: the shape rule of the default policy.

`nest_shape` is the single truth about what `loop_schedule` can build, so that a fusion in the log is a nest
in the code. Nodes come in execution order. The kinds:

- `flat`: pointwise nodes over one iteration space; values pass in registers.
- `rows`: the nodes share their first `shared` iteration axes; inside one step of those, each node sweeps the
  axes it has left. Reduced values are registers of the outer loop, swept values a row scratch.
- `columns`: reductions over outer axes whose last axis is kept, vectors along that axis, and pointwise nodes
  on their results.
- `whole`: full reductions of one space in one sweep (with pointwise nodes of that space), and scalar nodes on
  the results when the sweep is complete.
- `scan`: scans and pointwise nodes of one space, one step after another. Scans along an axis before the last
  one: vectors along the last axis, columns divided among the threads. Scans along the only axis: one thread
  sweeps it, full reductions and scalar nodes on their results included. (Scans along the last of several axes
  make `rows`.)
- `matmul`, `nop`: one node alone.

A node may read a buffer of the nest only where the same outer step has written it, so no node may gather from
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tensorc.index_algebra import Poly, Sym, as_poly, product
from tensorc.loop_ir.guards import always_holds, box
from tensorc.loop_ir.program import Axis, Load, LoopNode, MatmulNode, Node, NopNode, Tree


class NestKind(StrEnum):
    FLAT = "flat"
    ROWS = "rows"
    COLUMNS = "columns"
    WHOLE = "whole"
    SCAN = "scan"
    MATMUL = "matmul"
    NOP = "nop"


@dataclass(frozen=True, slots=True)
class NestShape:
    """The nest a list of nodes makes. `shared` counts the outer iteration axes all of them have."""

    kind: NestKind
    shared: int = 0


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the nodes are no nest: a reason code of `reasons` and a sentence."""

    code: str
    sentence: str


EXTERN = "TC2101"
FULL_REDUCTION = "TC2102"
LOOP_SHAPES = "TC2103"
ACCESS = "TC2104"
SCAN_ORDER = "TC2116"
GATHERED = "TC2117"


def nest_shape(nodes: Sequence[Node]) -> NestShape | Refusal:
    """The nest of `nodes` (in execution order), or the reason there is none."""
    if len(nodes) == 1:
        return _alone(nodes[0])
    loops = [n for n in nodes if isinstance(n, LoopNode)]
    if len(loops) != len(nodes):
        other = next(n for n in nodes if not isinstance(n, LoopNode))
        what = "a matrix product" if isinstance(other, MatmulNode) else "a node without elements"
        return Refusal(EXTERN, f"{other.name} is {what} with a nest of its own")
    gathered = _gathered(loops)
    if gathered is not None:
        return gathered
    scans = [n for n in loops if n.scan is not None]
    if scans:
        return _scans(loops, scans)
    if all(not n.reduce_axes for n in loops):
        flat = _flat(loops)
        if flat is not None:
            return flat
    if any(n.reduction is not None and not n.iter_axes for n in loops):
        return _whole(loops)
    columns = _columns(loops)
    return columns if columns is not None else _rows(loops)


def _gathered(nodes: list[LoopNode]) -> Refusal | None:
    writers = {n.buffer: n for n in nodes}
    for node in nodes:
        for buffer in node.gathered():
            if buffer in writers:
                writer = writers[buffer].name
                sentence = f"{node.name} gathers from {buffer}, which {writer} must have completed"
                return Refusal(GATHERED, sentence)
    return None


def _alone(node: Node) -> NestShape:
    match node:
        case MatmulNode():
            return NestShape(NestKind.MATMUL)
        case NopNode():
            return NestShape(NestKind.NOP)
        case LoopNode():
            depth = len(node.iter_axes)
            if node.scan is not None:
                in_rows = node.tree is Tree.ROWS and depth > 1
                return NestShape(NestKind.ROWS, depth - 1) if in_rows else NestShape(NestKind.SCAN, depth)
            if node.reduction is None:
                return NestShape(NestKind.FLAT, depth)
            if not node.iter_axes:
                return NestShape(NestKind.WHOLE)
            columns = node.reduction.tree is Tree.COLUMNS
            return NestShape(NestKind.COLUMNS if columns else NestKind.ROWS, depth)


def _flat(nodes: list[LoopNode]) -> NestShape | None:
    depth = len(nodes[0].iter_axes)
    if not _same_space(nodes) or not _reads_where_written(nodes, depth):
        return None
    return NestShape(NestKind.FLAT, depth)


def _same_space(nodes: list[LoopNode]) -> bool:
    """No reductions, and all nodes iterate over the same extents."""
    extents = _extents(nodes[0].iter_axes)
    return all(not n.reduce_axes and _extents(n.iter_axes) == extents for n in nodes)


def _scans(nodes: list[LoopNode], scans: list[LoopNode]) -> NestShape | Refusal:
    """A nest with scans: columns of one space, one sweep of the only axis, or rows."""
    first = scans[0]
    along = {n.scan.axis for n in scans if n.scan is not None}
    if first.tree is Tree.COLUMNS and len(along) == 1 and _same_space(nodes):
        depth = len(first.iter_axes)
        if _reads_where_written(nodes, depth):
            return NestShape(NestKind.SCAN, depth)
        if not _outer_axes(first):
            return Refusal(ACCESS, "an element is read elsewhere than where the same step wrote it")
    if any(n.reduction is not None and not n.iter_axes for n in nodes) or len(first.iter_axes) == 1:
        return _in_order(nodes, scans)
    return _rows(nodes)


def _in_order(nodes: list[LoopNode], scans: list[LoopNode]) -> NestShape | Refusal:
    """One sweep of one axis, with full reductions of it and scalar nodes on the finished values."""
    alone = next((n for n in scans if len(n.iter_axes) > 1), None)
    if alone is not None:
        return Refusal(
            SCAN_ORDER, f"{alone.name} starts anew in each row or column, a full reduction sweeps all of them"
        )
    shape = _whole(nodes)
    return shape if isinstance(shape, Refusal) else NestShape(NestKind.SCAN, 1)


def _whole(nodes: list[LoopNode]) -> NestShape | Refusal:
    sweep = [n for n in nodes if n.iter_axes or n.reduction is not None]
    first = next(n for n in nodes if n.scan is not None or (n.reduction is not None and not n.iter_axes))
    space = _extents(first.iter_axes or first.reduce_axes)
    finished = {n.buffer: n for n in nodes if not n.iter_axes}
    for node in sweep:
        for read in loads(node):
            if read.buffer in finished:
                source = finished[read.buffer]
                return Refusal(
                    FULL_REDUCTION,
                    f"every element of {node.name} needs the finished value of {source.name}",
                )
    for node in sweep:
        if _extents(node.iter_axes + node.reduce_axes) != space:
            return Refusal(LOOP_SHAPES, f"{first.name} and {node.name} sweep different spaces")
        if node.iter_axes and node.reduce_axes:
            return Refusal(LOOP_SHAPES, f"{first.name} is a full reduction, {node.name} a partial one")
    swept = {n.buffer for n in sweep if n.iter_axes}
    scalars = [n for n in nodes if not n.iter_axes and n.reduction is None]
    picks_element = any(read.buffer in swept for n in scalars for read in loads(n))
    if picks_element or not _reads_where_written(sweep, len(space)):
        return Refusal(ACCESS, "an element is read elsewhere than where the same step wrote it")
    return NestShape(NestKind.WHOLE)


def _columns(nodes: list[LoopNode]) -> NestShape | None:
    reductions = [n for n in nodes if n.reduction is not None]
    if not reductions or any(n.tree is not Tree.COLUMNS for n in reductions):
        return None
    outer = _extents(reductions[0].iter_axes)
    inner = _extents(reductions[0].reduce_axes)
    if any(_extents(n.iter_axes) != outer for n in nodes):
        return None
    if any(_extents(n.reduce_axes) != inner for n in reductions):
        return None
    made = {n.buffer for n in nodes}
    if any(read.buffer in made for n in reductions for read in loads(n)):
        return None
    if not _reads_where_written(nodes, len(outer)):
        return None
    return NestShape(NestKind.COLUMNS, len(outer))


def _rows(nodes: list[LoopNode]) -> NestShape | Refusal:
    depth = min(_outer_axes(n) for n in nodes)
    while depth and any(_extents(n.iter_axes[:depth]) != _extents(nodes[0].iter_axes[:depth]) for n in nodes):
        depth -= 1
    if not depth:
        first = next((n for n in nodes if n.scan is not None and not n.scan.axis), None)
        if first is not None:
            return Refusal(SCAN_ORDER, f"{first.name} runs along its first axis in order: no loop outside it")
        return Refusal(LOOP_SHAPES, "the loop shapes differ")
    for shared in range(depth, 0, -1):
        if _reads_where_written(nodes, shared):
            return NestShape(NestKind.ROWS, shared)
    if _reads_under_guards(nodes):
        return Refusal(
            ACCESS, "a read under a condition is not shown to stay in the outer step that writes it"
        )
    return Refusal(ACCESS, "an element is read in another outer step than the one that writes it")


def _reads_under_guards(nodes: list[LoopNode]) -> bool:
    made = {n.buffer for n in nodes}
    return any(read.guards and read.buffer in made for n in nodes for read in loads(n))


def _outer_axes(node: LoopNode) -> int:
    """How many of a node's iteration axes may be outer loops.

    A scan runs its axis in order; a reduction by columns needs its last iteration axis for vectors.
    """
    if node.scan is not None:
        return node.scan.axis
    return len(node.iter_axes) - (1 if node.tree is Tree.COLUMNS else 0)


def _reads_where_written(nodes: list[LoopNode], shared: int) -> bool:
    """Every read of a buffer of the nest stays in the outer step (of `shared` axes) that wrote it.

    A buffer is written row-major over its node's axes, so it is enough that the reader's index has the
    writer's strides on the shared axes: an index within bounds cannot leave the step by its other axes. A
    guarded index is within bounds only where its guards hold, so there the rest of it must be shown to stay.
    """
    writers: dict[str, LoopNode] = {}
    for node in nodes:
        own = (*node.iter_axes, *node.reduce_axes)
        for read in loads(node):
            writer = writers.get(read.buffer)
            if writer is not None and not _same_step(read, own, writer.iter_axes, shared):
                return False
        writers[node.buffer] = node
    return True


def _same_step(read: Load, axes: Sequence[Axis], written: Sequence[Axis], shared: int) -> bool:
    if len(axes) < shared or len(written) < shared:
        return False
    for k in range(shared):
        stride = product(a.extent for a in written[k + 1 :])
        if read.index.coefficient(Sym(axes[k].name, axis=True)) != stride:
            return False
    if shared < len(written):
        return not read.guards or _stays_in_step(read, axes, written, shared)
    places = {Sym(a.name, axis=True): as_poly(0) for a in axes[:shared]}
    return read.index.substitute(places) == 0


def _stays_in_step(read: Load, axes: Sequence[Axis], written: Sequence[Axis], shared: int) -> bool:
    """Whether the part of a guarded index that the shared axes leave is inside what one step writes."""
    places = {Sym(a.name, axis=True): as_poly(0) for a in axes[:shared]}
    rest = read.index.substitute(places)
    size = product(a.extent for a in written[shared:])
    extents = {a.name: a.extent for a in axes}
    ranges = box(read.guards, extents)
    if ranges is None:
        return False
    return always_holds(rest, ranges) and always_holds(size - 1 - rest, ranges)


def loads(node: LoopNode) -> list[Load]:
    """The loads of a node's body, in order."""
    return [op.attrs for op in node.body if isinstance(op.attrs, Load)]


def _extents(axes: Sequence[Axis]) -> tuple[Poly, ...]:
    return tuple(a.extent for a in axes)
