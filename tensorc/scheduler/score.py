"""What a fusion is worth, in bytes, and the order in which candidates are tried.

Two clusters share a dependency when both touch the same elements in the same order. After fusion its value is
loaded once (a saved load); if one of the two writes it and nobody else needs it in memory, the buffer is gone
and a whole round trip, a store and a load, with it.

What both touch in different orders no element-wise loop can share. A loop over blocks could, as the block
that one order has loaded serves the other too: that is counted apart (`in_blocks`), and saves nothing today.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.loop_ir.program import Role
from tensorc.scheduler.clusters import Cluster, DepTable, distance
from tensorc.scheduler.graph import ProgramGraph

Score = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Saving:
    """Bytes that a fusion no longer moves: `loads` of data that stays in memory, and whole `round_trips`.

    `in_blocks`: bytes of the buffers that both touch, but never in the same order.
    """

    loads: int
    round_trips: int
    in_blocks: int = 0

    @property
    def shared(self) -> int:
        """The bytes of the dependencies both have, each once."""
        return self.loads + self.round_trips // 2


def count_saving(graph: ProgramGraph, table: DepTable, first: Cluster, second: Cluster) -> Saving:
    """The bytes of the dependencies both have, split by what happens to the data."""
    mask = first.mask | second.mask
    loads = round_trips = 0
    for d in first.touched & second.touched:  # sums: the order does not matter
        if _vanishes(graph, table.deps[d].buffer, mask):
            round_trips += 2 * table.sizes[d]
        else:
            loads += table.sizes[d]
    return Saving(loads, round_trips, _shared_in_blocks(table, first, second))


def _shared_in_blocks(table: DepTable, first: Cluster, second: Cluster) -> int:
    same_order = {table.deps[d].buffer for d in first.touched & second.touched}
    left, right = (_touched_bytes(table, cluster) for cluster in (first, second))
    return sum(min(left[b], right[b]) for b in left.keys() & right.keys() - same_order)


def _touched_bytes(table: DepTable, cluster: Cluster) -> dict[str, int]:
    """The bytes of each buffer that a cluster touches: the most that one of its accesses touches."""
    found: dict[str, int] = {}
    for d in cluster.touched:
        buffer = table.deps[d].buffer
        found[buffer] = max(found.get(buffer, 0), table.sizes[d])
    return found


def _vanishes(graph: ProgramGraph, buffer: str, mask: int) -> bool:
    """True when a temporary is written and read by nodes of `mask` only."""
    writer = graph.writer.get(buffer)
    if writer is None or graph.buffers[buffer].role is not Role.TEMPORARY:
        return False
    return all(mask >> k & 1 for k in (writer, *graph.consumers[writer]))


def score_fusion(first: Cluster, second: Cluster, saving: Saving, vertical: bool) -> Score:
    """Larger first: shared bytes, of these what saves a store too, producer with consumer, closeness.

    Neighbours that only read the same data come after them at equal bytes: joined early they keep apart what
    depends on one of them.
    """
    return (saving.shared, saving.round_trips, int(vertical), -distance(first, second))


def score_fusion_inductor(first: Cluster, second: Cluster, saving: Saving) -> Score:
    """Inductor's key: template class, both or neither a reduction, shared bytes, closeness."""
    shared = saving.shared
    same_kind = first.has_reduction == second.has_reduction and shared > 0
    return (2 if shared > 0 else 1, int(same_kind), shared, -distance(first, second))
