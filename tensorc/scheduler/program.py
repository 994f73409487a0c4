"""FusedProgram: the nodes of a kernel in groups, each one loop nest, and the record of every decision."""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.loop_ir.program import LoopProgram, Node
from tensorc.scheduler.dependencies import NodeDeps
from tensorc.scheduler.events import Event, Fused
from tensorc.scheduler.nest_shape import NestShape
from tensorc.scheduler.sizes import Figures


@dataclass(frozen=True, slots=True, eq=False)
class FusedGroup:
    """Nodes that become one loop nest, in execution order.

    `name`: `fused_`, the origins in order, and the group's number. `fusions` are the decisions that made the
    group, oldest first; each one's reason is its proof of legality.
    """

    name: str
    nodes: tuple[Node, ...]
    shape: NestShape
    fusions: tuple[Fused, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FusedProgram:
    """One kernel. `loop` holds the live nodes, in dependency order, with `deps` in the same order.

    `groups` are in execution order; every node is in exactly one.
    """

    loop: LoopProgram
    policy: str
    figures: Figures
    deps: tuple[NodeDeps, ...]
    groups: tuple[FusedGroup, ...]
    events: tuple[Event, ...]
