"""The order of clusters within a round, against brute force on random graphs."""

from __future__ import annotations

from hand_made import I0, Hand, N
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorc.scheduler.clusters import Cluster, merge_clusters, number_deps, single_cluster
from tensorc.scheduler.graph import ProgramGraph, build_graph
from tensorc.scheduler.partition import Partition


@st.composite
def graphs_and_merges(draw: st.DrawFn) -> tuple[ProgramGraph, list[tuple[int, int]]]:
    size = draw(st.integers(2, 9))
    h = Hand("random")
    h.input("x", N)
    for k in range(size):
        sources = draw(st.sets(st.integers(0, k - 1), max_size=3)) if k else set()
        loads = [(f"buf{s}", I0) for s in sorted(sources)] or [("x", I0)]
        h.add(loads, (N,), out=k)
    nodes = st.integers(0, size - 1)
    return build_graph(h.program()), draw(st.lists(st.tuples(nodes, nodes), max_size=8))


def has_path_through_others(graph: ProgramGraph, clusters: list[Cluster], a: Cluster, b: Cluster) -> bool:
    """Whether the graph of clusters gets a circle when `a` and `b` become one."""
    number = {k: c.first for c in clusters for k in c.members}
    number |= {k: a.first for k in b.members}
    edges = {
        (number[source], number[k])
        for k, sources in enumerate(graph.producers)
        for source in sources
        if number[source] != number[k]
    }
    left = {number[k] for k in number}
    while left:
        free = {n for n in left if not any(s in left for s, t in edges if t == n)}
        if not free:
            return True
        left -= free
    return False


def assert_valid(graph: ProgramGraph, partition: Partition) -> None:
    position = {k: p for p, c in enumerate(partition.clusters()) for k in c.members}
    assert sorted(position) == list(range(len(graph.nodes)))
    for k, sources in enumerate(graph.producers):
        assert all(position[source] <= position[k] for source in sources)


@given(graphs_and_merges())
@settings(max_examples=200, deadline=None)
def test_cycles_and_order_agree_with_brute_force(case: tuple[ProgramGraph, list[tuple[int, int]]]) -> None:
    graph, merges = case
    table = number_deps(graph)
    partition = Partition(graph, [single_cluster(graph, table, k) for k in range(len(graph.nodes))])
    for x, y in merges:
        a, b = partition.cluster_of(x), partition.cluster_of(y)
        if a is b:
            continue
        through = partition.path_through_others(a, b)
        expected = has_path_through_others(graph, list(partition.clusters()), a, b)
        assert (through is not None) == expected
        if through is not None:
            assert through is not a and through is not b
            continue
        count = len(partition)
        partition.merge(a, b, merge_clusters(graph, table, a, b))
        assert len(partition) == count - 1
        assert_valid(graph, partition)
