"""LoopProgram to FusedProgram: order, rounds of fusion, named groups.

*Requires*: one writer per buffer, no circles. *Ensures*: every live node is in exactly one group; each group
is a nest by `nest_shape`; groups follow what they read.
"""

from __future__ import annotations

from tensorc.errors import InternalError
from tensorc.loop_ir.program import LoopProgram, Node
from tensorc.scheduler.clusters import Cluster
from tensorc.scheduler.events import Event, Fused, NodeRemoved, SizeAssumed
from tensorc.scheduler.graph import ProgramGraph, build_graph, remove_dead_nodes
from tensorc.scheduler.names import group_name
from tensorc.scheduler.nest_shape import NestShape, Refusal, nest_shape
from tensorc.scheduler.policy import POLICIES
from tensorc.scheduler.program import FusedGroup, FusedProgram
from tensorc.scheduler.rounds import run_rounds


def schedule_program(program: LoopProgram, policy: str) -> FusedProgram:
    """Group the nodes of a kernel under a policy of `POLICIES`.

    Raises:
        KeyError: no such policy.
        IRError: the program's nodes depend on each other in a circle.
    """
    live, dead = remove_dead_nodes(program)
    graph = build_graph(live)
    clusters, decisions = run_rounds(graph, POLICIES[policy])
    removed: list[Event] = [NodeRemoved(n.name, n.buffer) for n in dead]
    assumed = [SizeAssumed(d, graph.figures.values[d]) for d in graph.figures.assumed]
    return FusedProgram(
        loop=graph.program,
        policy=policy,
        figures=graph.figures,
        deps=graph.deps,
        groups=_groups(graph, clusters, decisions),
        events=(*removed, *assumed, *decisions),
    )


def _groups(
    graph: ProgramGraph, clusters: tuple[Cluster, ...], decisions: tuple[Event, ...]
) -> tuple[FusedGroup, ...]:
    fusions: dict[str, tuple[Fused, ...]] = {}
    for event in decisions:
        if isinstance(event, Fused):
            earlier = (*fusions.pop(event.first, ()), *fusions.pop(event.second, ()))
            fusions[f"{event.first}_{event.second}"] = (*earlier, event)
    groups = []
    for number, cluster in enumerate(clusters):
        nodes = tuple(graph.nodes[k] for k in cluster.members)
        groups.append(
            FusedGroup(
                group_name(nodes, number), nodes, _shape(cluster, nodes), fusions.get(cluster.name, ())
            )
        )
    return tuple(groups)


def _shape(cluster: Cluster, nodes: tuple[Node, ...]) -> NestShape:
    shape = cluster.shape or nest_shape(nodes)
    if isinstance(shape, Refusal):
        raise InternalError(f"{cluster.name} is no loop nest: {shape.sentence}")
    return shape
