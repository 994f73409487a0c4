"""The clusters of one fusion round in an order, kept valid as clusters merge.

Ranks are a topological order of the clusters. Merging two can only close a cycle through clusters ranked
between them, so the search for one is local, and so is the repair of the order (dynamic topological sort).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tensorc.scheduler.clusters import Cluster
from tensorc.scheduler.graph import ProgramGraph


class Partition:
    """Which cluster every node is in, as a round goes on."""

    def __init__(self, graph: ProgramGraph, clusters: Sequence[Cluster]) -> None:
        self._graph = graph
        self._ranked: list[Cluster | None] = list(clusters)
        self._rank: dict[int, int] = {}
        self._cluster_of: list[Cluster] = [clusters[0]] * len(graph.nodes) if clusters else []
        for rank, cluster in enumerate(clusters):
            self._place(cluster, rank)

    def __len__(self) -> int:
        return sum(c is not None for c in self._ranked)

    def cluster_of(self, node: int) -> Cluster:
        return self._cluster_of[node]

    def clusters(self) -> tuple[Cluster, ...]:
        """The clusters in a valid order."""
        return tuple(c for c in self._ranked if c is not None)

    def path_through_others(self, a: Cluster, b: Cluster) -> Cluster | None:
        """A third cluster on a path between `a` and `b`, None when merging them closes no cycle."""
        low, high = sorted((a, b), key=self._rank_of)
        for cluster in self._reached(low, high):
            if any(self._cluster_of[n] is high for k in cluster.members for n in self._graph.consumers[k]):
                return cluster
        return None

    def merge(self, a: Cluster, b: Cluster, merged: Cluster) -> None:
        """Put `merged` for `a` and `b`.

        *Requires*: no path between them through others. *Ensures*: the order is valid.
        """
        low, high = sorted((a, b), key=self._rank_of)
        after = list(self._reached(low, high))
        later = {c.first for c in after}
        begin, end = self._rank_of(low), self._rank_of(high)
        between = [c for c in self._ranked[begin + 1 : end] if c is not None]
        before = [c for c in between if c.first not in later]
        behind = [c for c in between if c.first in later]
        self._ranked[begin : end + 1] = [None] * (end + 1 - begin)
        for rank, cluster in enumerate((*before, merged, *behind), begin):
            self._ranked[rank] = cluster
            self._place(cluster, rank)

    def _place(self, cluster: Cluster, rank: int) -> None:
        self._rank[cluster.first] = rank
        for node in cluster.members:
            self._cluster_of[node] = cluster

    def _rank_of(self, cluster: Cluster) -> int:
        return self._rank[cluster.first]

    def _reached(self, low: Cluster, high: Cluster) -> Iterator[Cluster]:
        """The clusters ranked below `high` that depend on `low`, `low` left out."""
        limit = self._rank_of(high)
        seen = {low.first}
        pending = [low]
        while pending:
            cluster = pending.pop()
            if cluster is not low:
                yield cluster
            for node in cluster.members:
                for consumer in self._graph.consumers[node]:
                    found = self._cluster_of[consumer]
                    if found.first not in seen and self._rank_of(found) < limit:
                        seen.add(found.first)
                        pending.append(found)
