"""Whether two clusters may fuse: legality only, as a reason. Profit is `score`'s business.

The tests run in a fixed order, Inductor's, and the first that fails gives the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.index_algebra import Poly
from tensorc.loop_ir.program import Role
from tensorc.scheduler import reasons
from tensorc.scheduler.clusters import Cluster, DepTable, describe_extern, distance
from tensorc.scheduler.dependencies import Dep, GatherDep, MemoryDep, print_dep
from tensorc.scheduler.graph import ProgramGraph
from tensorc.scheduler.partition import Partition
from tensorc.scheduler.policy import FusionPolicy
from tensorc.scheduler.reasons import Reason, reason
from tensorc.scheduler.score import Saving, count_saving
from tensorc.scheduler.shape_rules import Joint, join_loops, join_loops_inductor


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What the tests of a pair look at besides the pair; `partition` is the state of the round."""

    graph: ProgramGraph
    table: DepTable
    policy: FusionPolicy
    partition: Partition


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The answer for a pair.

    `saving` is None when a test before the count refused; `joint` is the nest, None when refused.
    """

    reason: Reason
    vertical: bool
    saving: Saving | None = None
    joint: Joint | None = None


def can_fuse(scene: Scene, first: Cluster, second: Cluster) -> Verdict:
    """Whether `first` then `second` may be one nest, apart from cycles through other clusters.

    *Requires*: two different clusters.
    """
    vertical = bool(first.mask & second.ancestors)
    early = _refuse_pair(scene, first, second)
    if early is not None:
        return Verdict(early, vertical)
    saving = count_saving(scene.graph, scene.table, first, second)
    shared = saving.shared
    refused = _refuse_size(scene, first, second, shared)
    if refused is None and vertical:
        refused = _refuse_vertical(scene, first, second)
    elif refused is None:
        refused = _refuse_horizontal(scene.policy, first, second, shared)
    if refused is not None:
        return Verdict(refused, vertical, saving)
    join = join_loops_inductor if scene.policy.inductor_rules else join_loops
    joint = join(scene.graph, first, second, vertical)
    if isinstance(joint, Reason):
        return Verdict(joint, vertical, saving)
    allowed = reason(joint.code, first=first.name, second=second.name, depth=joint.depth)
    return Verdict(allowed, vertical, saving, joint)


def find_cycle(scene: Scene, first: Cluster, second: Cluster) -> Reason | None:
    """The refusal when a third cluster lies on a path between the two."""
    through = scene.partition.path_through_others(first, second)
    return None if through is None else reason(reasons.CYCLE, through=through.name)


def _refuse_pair(scene: Scene, first: Cluster, second: Cluster) -> Reason | None:
    for cluster in (first, second):
        if not cluster.is_loop:
            what = describe_extern(scene.graph, cluster)
            return reason(reasons.EXTERN, extern=cluster.name, what=what)
    if second.mask & first.ancestors:
        return reason(reasons.WRONG_ORDER, first=first.name, second=second.name)
    written = {scene.table.deps[d].buffer for d in first.writes}
    for read in (scene.table.deps[d] for d in second.unmet):
        if isinstance(read, GatherDep) and read.buffer in written:
            return reason(reasons.GATHERED, second=second.name, buffer=read.buffer, first=first.name)
    return None


def _refuse_size(scene: Scene, first: Cluster, second: Cluster, shared: int) -> Reason | None:
    if shared == 0:
        return reason(reasons.NO_SHARED_DATA)
    count, limit = len(first.members) + len(second.members), scene.policy.group_nodes
    if count > limit:
        return reason(reasons.TOO_MANY_NODES, count=count, limit=limit)
    kept = _kept_elements(scene, first, second)
    if kept > scene.policy.kept_per_saved * shared:
        return reason(reasons.PEAK_MEMORY, kept=kept, shared=shared)
    return None


def _kept_elements(scene: Scene, first: Cluster, second: Cluster) -> int:
    """Elements of temporaries that could be reused between the two if they stayed apart.

    Inductor's measure: kinds of temporaries (by dtype and size) that both read as the only reader, each once.
    """
    if not (first.unmet and second.unmet):
        return 0
    common = _reusable_inputs(scene, first) & _reusable_inputs(scene, second)
    return sum(elements for _, elements in common)


def _reusable_inputs(scene: Scene, cluster: Cluster) -> set[tuple[str, int]]:
    graph = scene.graph
    found: set[tuple[str, int]] = set()
    for d in cluster.unmet:
        buffer = graph.buffers[scene.table.deps[d].buffer]
        if buffer.role is Role.TEMPORARY and len(graph.consumers[graph.writer[buffer.name]]) == 1:
            elements = 1
            for extent in buffer.shape:
                elements *= graph.figures.of(extent)
            found.add((buffer.dtype.name, elements))
    return found


def _refuse_vertical(scene: Scene, first: Cluster, second: Cluster) -> Reason | None:
    """The producer must write what the consumer reads, and nothing may have to run between them."""
    graph, deps = scene.graph, scene.table.deps
    written = {deps[d].buffer: deps[d] for d in sorted(first.writes)}
    elsewhere: list[Dep] = []
    for read in (deps[d] for d in second.unmet):
        write = written.get(read.buffer)
        if write is None:
            elsewhere.append(read)
        elif not _is_covered(read, write):
            names = {"read": print_dep(read, graph.figures), "written": print_dep(write, graph.figures)}
            return reason(reasons.DEPS_DIFFER, **names)
    for read in elsewhere:
        between = scene.partition.cluster_of(graph.writer[read.buffer])
        if first.mask & between.ancestors:
            return reason(
                reasons.INTERMEDIATE_NODES, first=first.name, second=second.name, between=between.name
            )
    return None


def _is_covered(read: Dep, write: Dep) -> bool:
    """True when each step reads the element the same step of the writer wrote; more inner loops are fine."""
    if not (isinstance(read, MemoryDep) and isinstance(write, MemoryDep)):
        return False
    return read.index == write.index and _extents(read)[: len(write.ranges)] == _extents(write)


def _extents(dep: MemoryDep) -> tuple[Poly, ...]:
    return tuple(extent for _, extent in dep.ranges)


def _refuse_horizontal(policy: FusionPolicy, first: Cluster, second: Cluster, shared: int) -> Reason | None:
    if shared < policy.horizontal_saving:
        return reason(reasons.SMALL_SAVING, shared=shared, threshold=policy.horizontal_saving)
    apart = distance(first, second)
    if apart > policy.horizontal_distance:
        return reason(reasons.TOO_FAR, distance=apart, limit=policy.horizontal_distance)
    count = len(first.members) + len(second.members)
    if count > policy.horizontal_nodes:
        return reason(reasons.TOO_MANY_HORIZONTAL, count=count, limit=policy.horizontal_nodes)
    return None
