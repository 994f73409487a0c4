"""Whether the loops of two clusters can become one nest: by `nest_shape`, or first by Inductor's CPU table.

Under either policy `nest_shape` has the last word, so that an accepted fusion is one nest in the code.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tensorc.index_algebra import Poly, product
from tensorc.scheduler import reasons
from tensorc.scheduler.clusters import Cluster
from tensorc.scheduler.dependencies import LoopGroup, print_group
from tensorc.scheduler.graph import ProgramGraph
from tensorc.scheduler.nest_shape import NestShape, Refusal, nest_shape
from tensorc.scheduler.reasons import Reason, reason


class Join(StrEnum):
    """How two clusters become one: `inner` one body, `outer` shared outer loops over separate bodies."""

    INNER = "inner"
    OUTER = "outer"


@dataclass(frozen=True, slots=True)
class Joint:
    """The nest of two clusters. `group` replaces the joined loops' group; `depth`: shared outer loops."""

    join: Join
    code: str
    shape: NestShape
    depth: int = 0
    group: LoopGroup | None = None


@dataclass(frozen=True, slots=True)
class _Row:
    """An accepting row of the table."""

    join: Join
    code: str
    depth: int = 0
    group: LoopGroup | None = None


def join_loops(graph: ProgramGraph, first: Cluster, second: Cluster, vertical: bool) -> Joint | Reason:
    """One nest for `first` then `second`, by the shape rule alone."""
    code = reasons.VERTICAL if vertical else reasons.HORIZONTAL
    return _as_nest(graph, first, second, _Row(Join.INNER, code))


def join_loops_inductor(
    graph: ProgramGraph, first: Cluster, second: Cluster, vertical: bool
) -> Joint | Reason:
    """One nest for `first` then `second`, where Inductor's CPU backend would fuse them."""
    row = _vertical_row(graph, first, second) if vertical else _horizontal_row(graph, first, second)
    return row if isinstance(row, Reason) else _as_nest(graph, first, second, row)


def _as_nest(graph: ProgramGraph, first: Cluster, second: Cluster, row: _Row) -> Joint | Reason:
    shape = nest_shape([graph.nodes[k] for k in (*first.members, *second.members)])
    if isinstance(shape, Refusal):
        return Reason(shape.code, shape.sentence)
    return Joint(row.join, row.code, shape, row.depth, row.group)


def _vertical_row(graph: ProgramGraph, first: Cluster, second: Cluster) -> _Row | Reason:
    if not first.has_reduction:
        row = _inner_row(graph, first, second, reasons.VERTICAL)
        if row is not None:
            return row
    depth = _outer_depth(first, second)
    if isinstance(depth, int):
        return _Row(Join.OUTER, reasons.OUTER_LOOP, depth)
    return depth or _shapes_differ(graph, first, second)


def _horizontal_row(graph: ProgramGraph, first: Cluster, second: Cluster) -> _Row | Reason:
    for cluster in (first, second):
        if cluster.parts:
            return reason(reasons.OUTER_FUSED, outer=cluster.name, allowed="no horizontal partner")
    return _inner_row(graph, first, second, reasons.HORIZONTAL) or _shapes_differ(graph, first, second)


def _inner_row(graph: ProgramGraph, first: Cluster, second: Cluster, code: str) -> _Row | None:
    """The table's inner fusions: equal loops, pointwise into a reduction over it, a flat loop split."""
    assert first.group is not None and second.group is not None
    if first.parts or second.parts:
        return None
    v1, r1 = first.group.iteration, first.group.reduction
    v2, r2 = second.group.iteration, second.group.reduction
    if (v1 == v2 and r1 == r2) or (r1 == () and v1 == v2 + r2):
        return _Row(Join.INNER, code)
    group = _split_group(graph, first, second)
    return None if group is None else _Row(Join.INNER, reasons.JOINT_RANGES, group=group)


def _split_group(graph: ProgramGraph, first: Cluster, second: Cluster) -> LoopGroup | None:
    """The loops of two pointwise clusters whose merged loops differ though they were written alike."""
    assert first.group is not None and second.group is not None
    if first.group.reduction or second.group.reduction:
        return None
    v1, v2 = first.group.iteration, second.group.iteration
    if product(v1) != product(v2) or (len(v1) != 1 and len(v2) != 1):
        return None
    flat, split = (first, second) if len(v1) < len(v2) else (second, first)
    if len(flat.members) > 1:
        return None
    written = {_written_shape(graph, k) for k in split.members}
    return split.group if written == {_written_shape(graph, flat.members[0])} else None


def _written_shape(graph: ProgramGraph, k: int) -> tuple[Poly, ...]:
    return graph.buffers[graph.nodes[k].buffer].shape


def _outer_depth(first: Cluster, second: Cluster) -> int | Reason | None:
    """How many outer loops a producer and its consumer share; None when their loops have no common prefix.

    The last sub-nest of `first` is compared with the first one of `second`; clusters that share outer loops
    already keep their depth.
    """
    last = first.parts[-1] if first.parts else first
    next_ = second.parts[0] if second.parts else second
    assert last.group is not None and next_.group is not None
    depths = {c.depth for c in (first, second) if c.parts}
    v1, v2 = last.group.iteration, next_.group.iteration
    if len(depths) > 1:
        return reason(reasons.OUTER_FUSED, outer=first.name, allowed="no partner of another depth")
    if first.parts and second.parts:
        return first.depth
    depth = min(len(v1), len(v2))
    if depth == 0 or v1[:depth] != v2[:depth]:
        return None
    if depths and depth not in depths:
        outer = first if first.parts else second
        return reason(reasons.OUTER_FUSED, outer=outer.name, allowed="no partner of another depth")
    return depth


def _shapes_differ(graph: ProgramGraph, first: Cluster, second: Cluster) -> Reason:
    assert first.group is not None and second.group is not None
    if first.group.reduction and not first.group.iteration:
        read = {d.buffer for k in second.members for d in graph.deps[k].reads}
        full = [k for k in first.members if graph.nodes[k].buffer in read]
        if full:
            value = graph.nodes[full[0]].name
            return reason(reasons.FULL_REDUCTION, second=second.name, value=value)
    return reason(
        reasons.LOOP_SHAPES,
        shape1=f"{first.name} {print_group(first.group, graph.figures)}",
        shape2=f"{second.name} {print_group(second.group, graph.figures)}",
    )
