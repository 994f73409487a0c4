"""The rounds of fusion: find pairs, order them by score, fuse greedily, until nothing changes.

A fused group is a candidate of the next round, so chains grow; within a round every pair is looked at again
as the groups then stand, since an earlier fusion may have moved or merged its nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tensorc.loop_ir.program import LoopNode
from tensorc.scheduler import events, reasons
from tensorc.scheduler.can_fuse import Scene, Verdict, can_fuse, find_cycle
from tensorc.scheduler.clusters import Cluster, DepTable, merge_clusters, number_deps, single_cluster
from tensorc.scheduler.events import Event
from tensorc.scheduler.graph import ProgramGraph, depth_first_order
from tensorc.scheduler.partition import Partition
from tensorc.scheduler.policy import FusionPolicy
from tensorc.scheduler.reasons import reason
from tensorc.scheduler.score import Score, score_fusion, score_fusion_inductor
from tensorc.scheduler.shape_rules import Join, Joint


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An allowed pair of a round."""

    first: Cluster
    second: Cluster
    verdict: Verdict
    joint: Joint
    score: Score


def run_rounds(graph: ProgramGraph, policy: FusionPolicy) -> tuple[tuple[Cluster, ...], tuple[Event, ...]]:
    """The final clusters, in a valid order, and everything that was decided on the way."""
    table = number_deps(graph)
    singles = (single_cluster(graph, table, k) for k in range(len(graph.nodes)))
    clusters = tuple(_without_loops(c) if _is_call(graph, policy, c) else c for c in singles)
    log: list[Event] = []
    for number in range(1, policy.rounds + 1):
        before = len(clusters)
        log.append(events.RoundStarted(number, policy.rounds, before))
        clusters = _run_round(graph, table, policy, clusters, number, log)
        log.append(events.RoundFinished(number, policy.rounds, before, len(clusters)))
        if len(clusters) in (before, 1):
            break
    log.append(events.FusionFinished(number))
    return clusters, tuple(log)


def _is_call(graph: ProgramGraph, policy: FusionPolicy, cluster: Cluster) -> bool:
    """Inductor has no loops for scans on CPU: it calls a function of its library."""
    node = graph.nodes[cluster.first]
    return policy.inductor_rules and isinstance(node, LoopNode) and node.scan is not None


def _without_loops(cluster: Cluster) -> Cluster:
    return replace(cluster, group=None)


def _run_round(
    graph: ProgramGraph,
    table: DepTable,
    policy: FusionPolicy,
    clusters: tuple[Cluster, ...],
    number: int,
    log: list[Event],
) -> tuple[Cluster, ...]:
    scene = Scene(graph, table, policy, Partition(graph, clusters))
    candidates = _find_candidates(scene, clusters, number, log)
    if policy.inductor_rules:
        candidates = _keep_best_class(candidates, number, log)
    log.append(events.CandidatesFound(number, len(candidates)))
    # stable: equal scores keep the order in which the pairs were found
    for candidate in sorted(candidates, key=lambda c: c.score, reverse=True):
        _fuse_if_still_allowed(scene, candidate, number, log)
    return _in_order(scene)


def _find_candidates(
    scene: Scene, clusters: tuple[Cluster, ...], number: int, log: list[Event]
) -> list[Candidate]:
    found: list[Candidate] = []
    for first, second in pairs_by_buffer(scene, clusters):
        verdict = can_fuse(scene, first, second)
        score = _score(scene.policy, first, second, verdict)
        log.append(_considered(scene, first, second, verdict, score, number))
        if verdict.joint is not None and score is not None:
            found.append(Candidate(first, second, verdict, verdict.joint, score))
    return found


def pairs_by_buffer(scene: Scene, clusters: tuple[Cluster, ...]) -> Iterator[tuple[Cluster, Cluster]]:
    """Pairs that touch a common buffer, each once: buffer by buffer, a cluster with those soon after it.

    Inductor leaves out nodes without loops here; otherwise they are candidates, to be refused in the log.
    """
    by_buffer: dict[str, list[Cluster]] = {}
    for cluster in clusters:
        if cluster.is_loop or not scene.policy.inductor_rules:
            for name in _touched_buffers(scene, cluster):
                by_buffer.setdefault(name, []).append(cluster)
    seen: set[tuple[int, int]] = set()
    for group in by_buffer.values():
        for k, first in enumerate(group):
            for second in group[k + 1 : k + 1 + scene.policy.partners]:
                pair = (first.first, second.first)
                if pair not in seen:
                    seen.add(pair)
                    yield first, second


def _touched_buffers(scene: Scene, cluster: Cluster) -> tuple[str, ...]:
    """The buffers of a cluster, reads first, in the order of its nodes."""
    deps = [d for k in cluster.members for d in scene.table.reads[k]]
    deps += [d for k in cluster.members for d in scene.table.writes[k]]
    return tuple(dict.fromkeys(scene.table.deps[d].buffer for d in deps if d in cluster.touched))


def _score(policy: FusionPolicy, first: Cluster, second: Cluster, verdict: Verdict) -> Score | None:
    if verdict.joint is None or verdict.saving is None:
        return None
    if policy.inductor_rules:
        return score_fusion_inductor(first, second, verdict.saving)
    return score_fusion(first, second, verdict.saving, verdict.vertical)


def _keep_best_class(candidates: list[Candidate], number: int, log: list[Event]) -> list[Candidate]:
    """Outer-loop fusions are tried only in rounds without any other candidate."""
    inner = [c for c in candidates if c.joint.join is Join.INNER]
    if not inner:
        return candidates
    for c in candidates:
        if c.joint.join is Join.OUTER:
            names = {"first": c.first.name, "second": c.second.name}
            log.append(events.PairWaits(number, **names, reason=reason(reasons.WAITS, **names)))
    return inner


def _fuse_if_still_allowed(scene: Scene, candidate: Candidate, number: int, log: list[Event]) -> None:
    first = scene.partition.cluster_of(candidate.first.members[0])
    second = scene.partition.cluster_of(candidate.second.members[0])
    if first is second:
        return
    verdict = candidate.verdict
    if first is not candidate.first or second is not candidate.second:
        verdict = can_fuse(scene, first, second)
    if verdict.joint is not None:
        cycle = find_cycle(scene, first, second)
        if cycle is not None:
            verdict = replace(verdict, reason=cycle, joint=None)
    score = _score(scene.policy, first, second, verdict)
    log.append(_considered(scene, first, second, verdict, score, number, again=True))
    if verdict.joint is None:
        return
    kind = events.VERTICAL if verdict.vertical else events.HORIZONTAL
    joint, saving = verdict.joint, verdict.saving
    assert saving is not None
    log.append(
        events.Fused(
            number,
            first.name,
            second.name,
            kind,
            joint.join.value,
            joint.shape.kind.value,
            saving,
            verdict.reason,
        )
    )
    scene.partition.merge(first, second, _joined(scene, first, second, joint))


def _joined(scene: Scene, first: Cluster, second: Cluster, joint: Joint) -> Cluster:
    merged = merge_clusters(scene.graph, scene.table, first, second)
    group = merged.group if joint.group is None else joint.group
    if joint.join is Join.INNER:
        return replace(merged, shape=joint.shape, group=group)
    parts = (*(first.parts or (first,)), *(second.parts or (second,)))
    return replace(merged, shape=joint.shape, group=group, parts=parts, depth=joint.depth)


def _considered(
    scene: Scene,
    first: Cluster,
    second: Cluster,
    verdict: Verdict,
    score: Score | None,
    number: int,
    again: bool = False,
) -> Event:
    kind = events.VERTICAL if verdict.vertical else events.HORIZONTAL
    return events.PairConsidered(
        number, first.name, second.name, kind, verdict.saving, verdict.reason, score, again
    )


def _in_order(scene: Scene) -> tuple[Cluster, ...]:
    """By first node, then so that every cluster follows what it reads (operands by buffer name)."""
    clusters = sorted(scene.partition.clusters(), key=lambda c: c.first)
    position = {c.first: k for k, c in enumerate(clusters)}
    deps = scene.table.deps
    sources = []
    for cluster in clusters:
        read = sorted({deps[d].buffer for d in cluster.unmet})
        owners = (scene.partition.cluster_of(scene.graph.writer[name]) for name in read)
        sources.append(tuple(dict.fromkeys(position[owner.first] for owner in owners)))
    order = depth_first_order(range(len(clusters)), sources)
    assert order is not None, "a merge closed a cycle"
    return tuple(clusters[k] for k in order)
