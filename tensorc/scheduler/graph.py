"""The dependency graph of a LoopProgram: edges by buffer, order, ancestors, users.

A node that reads a buffer depends on the node that writes it; reads of parameters are met from the start.
Sets of nodes are bit masks over positions in `ProgramGraph.nodes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from tensorc.errors import IRError
from tensorc.loop_ir.program import Buffer, LoopNode, LoopProgram, MatmulNode, Node, NopNode, Role
from tensorc.scheduler.dependencies import Dep, GatherDep, MemoryDep, NodeDeps, node_dependencies
from tensorc.scheduler.sizes import Figures, choose_figures, fixed_sizes


@dataclass(frozen=True, slots=True, eq=False)
class ProgramGraph:
    """`nodes` in topological order; the other tuples go by position in it.

    `producers[k]`: positions whose buffers node `k` reads, each once, in the order of its reads;
    `consumers` is the reverse; `ancestors[k]`: mask of everything `k` transitively depends on.
    """

    program: LoopProgram
    figures: Figures
    nodes: tuple[Node, ...]
    deps: tuple[NodeDeps, ...]
    producers: tuple[tuple[int, ...], ...]
    consumers: tuple[tuple[int, ...], ...]
    ancestors: tuple[int, ...]
    writer: dict[str, int]
    buffers: dict[str, Buffer]

    def is_met(self, dep: Dep) -> bool:
        """True for data that is there before the kernel starts."""
        return dep.buffer not in self.writer

    def dep_bytes(self, dep: Dep) -> int:
        """Bytes of the distinct elements a dependency touches, at the figures."""
        buffer = self.buffers[dep.buffer]
        if isinstance(dep, MemoryDep):
            return self.figures.of(dep.elements()) * buffer.dtype.size
        whole = buffer_bytes(buffer, self.figures)
        if isinstance(dep, GatherDep):
            return min(self.figures.of(dep.elements) * buffer.dtype.size, whole)
        return whole


def buffer_bytes(buffer: Buffer, figures: Figures) -> int:
    """The size of a whole buffer, at the figures."""
    elements = 1
    for extent in buffer.shape:
        elements *= figures.of(extent)
    return elements * buffer.dtype.size


def build_graph(program: LoopProgram) -> ProgramGraph:
    """Dependencies, edges, a topological order and ancestors of a program without dead nodes.

    Raises:
        IRError: nodes depend on each other in a circle, or two write one buffer.
    """
    figures = choose_figures(program.signature)
    fixed = fixed_sizes(program.signature)
    deps = [node_dependencies(node, figures, fixed) for node in program.nodes]
    order = topological_order(program.nodes, deps)
    nodes = tuple(program.nodes[k] for k in order)
    ordered = tuple(deps[k] for k in order)
    writer = {node.buffer: k for k, node in enumerate(nodes)}
    producers = tuple(
        tuple(dict.fromkeys(writer[d.buffer] for d in own.reads if d.buffer in writer)) for own in ordered
    )
    consumers: list[list[int]] = [[] for _ in nodes]
    ancestors: list[int] = []
    for k, sources in enumerate(producers):
        mask = 0
        for source in sources:
            consumers[source].append(k)
            mask |= ancestors[source] | 1 << source
        ancestors.append(mask)
    return ProgramGraph(
        program=replace(program, nodes=nodes),
        figures=figures,
        nodes=nodes,
        deps=ordered,
        producers=producers,
        consumers=tuple(tuple(c) for c in consumers),
        ancestors=tuple(ancestors),
        writer=writer,
        buffers={b.name: b for b in program.buffers},
    )


def topological_order(nodes: Sequence[Node], deps: Sequence[NodeDeps]) -> tuple[int, ...]:
    """Positions so that every node follows what it reads: roots as given, operands by buffer name.

    Raises:
        IRError: as `build_graph`.
    """
    writer: dict[str, int] = {}
    for k, node in enumerate(nodes):
        if writer.setdefault(node.buffer, k) != k:
            raise IRError(node.name, f"{node.buffer} is written by two nodes")
    sources = [tuple(writer[b] for b in sorted({d.buffer for d in own.reads}) if b in writer) for own in deps]
    order = depth_first_order(range(len(nodes)), sources)
    if order is None:
        raise IRError(nodes[0].name, "the nodes depend on each other in a circle")
    return order


def depth_first_order(roots: Sequence[int], sources: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Post-order of a depth-first walk from `roots` along `sources`; None when there is a circle."""
    result: list[int] = []
    state = [0] * len(sources)  # 0 not seen, 1 on the stack, 2 done
    for root in roots:
        stack = [root]
        while stack:
            k = stack[-1]
            if state[k] == 0:
                state[k] = 1
                pending = [s for s in sources[k] if state[s] != 2]
                if any(state[s] == 1 for s in pending):
                    return None
                stack.extend(reversed(pending))
                continue
            stack.pop()
            if state[k] == 1:
                state[k] = 2
                result.append(k)
    return tuple(result)


def remove_dead_nodes(program: LoopProgram) -> tuple[LoopProgram, tuple[Node, ...]]:
    """Drop every node whose value no result needs, with its buffer; also the dropped nodes.

    *Requires*: one writer per buffer. *Ensures*: the same program object when nothing is dead.
    """
    writer = {node.buffer: node for node in program.nodes}
    pending = [b.name for b in program.buffers if b.role is Role.OUTPUT]
    needed: set[str] = set()
    while pending:
        name = pending.pop()
        if name in needed or name not in writer:
            continue
        needed.add(name)
        pending.extend(read_buffers(writer[name]))
    dead = tuple(n for n in program.nodes if n.buffer not in needed)
    if not dead:
        return program, ()
    gone = {n.buffer for n in dead}
    return (
        replace(
            program,
            nodes=tuple(n for n in program.nodes if n.buffer not in gone),
            buffers=tuple(b for b in program.buffers if b.name not in gone),
        ),
        dead,
    )


def read_buffers(node: Node) -> tuple[str, ...]:
    """The buffers a node reads, each once, in order."""
    match node:
        case LoopNode():
            return node.reads()
        case MatmulNode():
            return tuple(dict.fromkeys((node.left.buffer, node.right.buffer)))
        case NopNode():
            return ()
        case _:
            assert_never(node)
