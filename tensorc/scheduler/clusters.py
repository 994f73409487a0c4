"""Clusters: the groups of nodes that fusion grows, with what the tests of a pair need, precomputed.

Dependencies are numbered once per program (`DepTable`), so that the reads and writes of a cluster are sets of
ints and a pair's common data is one intersection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tensorc.loop_ir.program import LoopNode, MatmulNode
from tensorc.scheduler.dependencies import Dep, LoopGroup
from tensorc.scheduler.graph import ProgramGraph
from tensorc.scheduler.nest_shape import NestShape


@dataclass(frozen=True, slots=True, eq=False)
class DepTable:
    """Every distinct dependency of a program under a number; `sizes[k]` in bytes at the figures.

    `reads[n]` and `writes[n]` are the numbers of node `n`'s dependencies.
    """

    deps: tuple[Dep, ...]
    sizes: tuple[int, ...]
    reads: tuple[tuple[int, ...], ...]
    writes: tuple[tuple[int, ...], ...]


def number_deps(graph: ProgramGraph) -> DepTable:
    """Number the dependencies in order of appearance."""
    numbers: dict[Dep, int] = {}

    def number(deps: Sequence[Dep]) -> tuple[int, ...]:
        return tuple(numbers.setdefault(d, len(numbers)) for d in deps)

    reads = tuple(number(own.reads) for own in graph.deps)
    writes = tuple(number(own.writes) for own in graph.deps)
    return DepTable(tuple(numbers), tuple(graph.dep_bytes(d) for d in numbers), reads, writes)


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Nodes that run as one.

    `members`: positions, in execution order; `mask` the same as bits. `ancestors`: the members' (a cluster
    may name its own). `touched`: reads and writes; `reads` leaves out what the cluster writes itself;
    `unmet`: reads of buffers that other nodes write, in order. `first`, `last`: smallest and largest
    position. `group`: the loops of the first reduction among the members, else of the first member. `parts`:
    the sub-nests under shared outer loops (inductor-2.8), `depth` how many loops they share. `shape`: the
    nest, once known.
    """

    name: str
    members: tuple[int, ...]
    mask: int
    ancestors: int
    reads: frozenset[int]
    writes: frozenset[int]
    touched: frozenset[int]
    unmet: tuple[int, ...]
    group: LoopGroup | None
    has_reduction: bool
    first: int
    last: int
    shape: NestShape | None = None
    parts: tuple[Cluster, ...] = ()
    depth: int = 0

    @property
    def is_loop(self) -> bool:
        """False for matrix products and empty nodes, and for scans under inductor-2.8: they are not fused."""
        return self.group is not None


def single_cluster(graph: ProgramGraph, table: DepTable, k: int) -> Cluster:
    """The cluster of node `k` alone."""
    node = graph.nodes[k]
    return Cluster(
        name=node.name,
        members=(k,),
        mask=1 << k,
        ancestors=graph.ancestors[k],
        reads=frozenset(table.reads[k]) - frozenset(table.writes[k]),
        writes=frozenset(table.writes[k]),
        touched=frozenset(table.reads[k]) | frozenset(table.writes[k]),
        unmet=tuple(d for d in table.reads[k] if not graph.is_met(table.deps[d])),
        group=graph.deps[k].group,
        has_reduction=isinstance(node, LoopNode) and node.reduction is not None,
        first=k,
        last=k,
    )


def merge_clusters(graph: ProgramGraph, table: DepTable, a: Cluster, b: Cluster) -> Cluster:
    """`a` then `b` as one cluster, without shape or parts."""
    writes = a.writes | b.writes
    own = {graph.nodes[k].buffer for k in (*a.members, *b.members)}
    unmet = dict.fromkeys((*a.unmet, *b.unmet))
    leading = b if b.has_reduction and not a.has_reduction else a
    return Cluster(
        name=f"{a.name}_{b.name}",
        members=(*a.members, *b.members),
        mask=a.mask | b.mask,
        ancestors=a.ancestors | b.ancestors,
        reads=(a.reads | b.reads) - writes,
        writes=writes,
        touched=a.touched | b.touched,
        unmet=tuple(d for d in unmet if table.deps[d].buffer not in own),
        group=leading.group,
        has_reduction=a.has_reduction or b.has_reduction,
        first=min(a.first, b.first),
        last=max(a.last, b.last),
    )


def with_group(cluster: Cluster, group: LoopGroup) -> Cluster:
    """The same nodes in other loops over the same elements."""
    return replace(cluster, group=group)


def distance(a: Cluster, b: Cluster) -> int:
    """How far apart two clusters stand in the program, in nodes."""
    return max(abs(a.first - b.last), abs(a.last - b.first))


def describe_extern(graph: ProgramGraph, cluster: Cluster) -> str:
    """What kind of node keeps its own nest."""
    node = graph.nodes[cluster.members[0]]
    if isinstance(node, LoopNode):
        return "a scan, a library call of Inductor,"
    return "a matrix product" if isinstance(node, MatmulNode) else "a node without elements"
