"""FusedProgram to NestProgram: groups become nests, intermediates registers, scratch or arrays.

*Requires*: groups whose nodes `nest_shape` accepts. *Ensures*: one nest per group, in order; a buffer that
only its own nest reads is no array; barriers stand only before nests that read what another one wrote.
"""

from __future__ import annotations

from tensorc.index_algebra import ONE, ZERO, Poly, as_poly, product
from tensorc.loop_ir.program import Gather, LoopNode, LoopProgram, MatmulNode, Node, NopNode, Role
from tensorc.loop_schedule.columns import build_columns
from tensorc.loop_schedule.flat import build_flat
from tensorc.loop_schedule.keep_values import keep_values
from tensorc.loop_schedule.memory import place_barriers, share_memory
from tensorc.loop_schedule.program import Kept, Matmul, Nest, NestProgram, Scratch, Stmt
from tensorc.loop_schedule.rows import build_rows
from tensorc.loop_schedule.scans import build_scan
from tensorc.loop_schedule.traffic import node_bytes
from tensorc.loop_schedule.whole import build_whole
from tensorc.operators import OPERATORS
from tensorc.scheduler.nest_shape import NestKind
from tensorc.scheduler.program import FusedGroup, FusedProgram

GATHER_COST = 8
"""A gather next to an operation of cost 1: eight loads for one."""


def schedule_loops(fused: FusedProgram) -> NestProgram:
    """Build the nest of every group and decide where every buffer lives."""
    program = fused.loop
    arrays = _array_names(program, fused.groups)
    buffers = tuple(b for b in program.buffers if b.name in arrays)
    nests = tuple(_nest(program, group, arrays) for group in fused.groups)
    kept: tuple[Kept, ...] = ()
    if fused.policy == "default":
        nests, kept = keep_values(nests, buffers)
    memory = share_memory(buffers, nests)
    unfused = ZERO
    for node in program.nodes:
        unfused = unfused + node_bytes(program, node)
    return NestProgram(program.signature, buffers, memory, place_barriers(nests, dict(memory)), unfused, kept)


def _nest(program: LoopProgram, group: FusedGroup, arrays: frozenset[str]) -> Nest:
    body, scratch = _build(program, group, arrays)
    kept = {s.buffer for s in scratch} | arrays
    registers = tuple(n.buffer for n in group.nodes if n.buffer not in kept)
    names = tuple(n.name for n in group.nodes)
    return Nest(group.name, names, group.shape, body, scratch, registers, False, _work(group.nodes))


def _array_names(program: LoopProgram, groups: tuple[FusedGroup, ...]) -> frozenset[str]:
    """Buffers that must exist in memory: parameters, results, and what crosses from nest to nest."""
    home = {node.buffer: k for k, group in enumerate(groups) for node in group.nodes}
    names = {b.name for b in program.buffers if b.role is not Role.TEMPORARY}
    for k, group in enumerate(groups):
        for node in group.nodes:
            names.update(r for r in reads_of(node) if home.get(r, k) != k)
    return frozenset(names)


def reads_of(node: Node) -> list[str]:
    """The buffers a node reads, in order of first appearance."""
    match node:
        case LoopNode():
            return list(node.reads())
        case MatmulNode():
            return list(dict.fromkeys((node.left.buffer, node.right.buffer)))
        case NopNode():
            return []


def _build(
    program: LoopProgram, group: FusedGroup, arrays: frozenset[str]
) -> tuple[tuple[Stmt, ...], tuple[Scratch, ...]]:
    buffers = {b.name: b for b in program.buffers}
    first = group.nodes[0]
    if isinstance(first, MatmulNode):
        return (Matmul(first, buffers[first.buffer].dtype),), ()
    if isinstance(first, NopNode):
        return (), ()
    nodes = [n for n in group.nodes if isinstance(n, LoopNode)]
    match group.shape.kind:
        case NestKind.FLAT:
            return build_flat(nodes, buffers, arrays), ()
        case NestKind.WHOLE:
            return build_whole(nodes, buffers, arrays), ()
        case NestKind.SCAN:
            return build_scan(nodes, buffers, arrays), ()
        case NestKind.COLUMNS:
            return build_columns(nodes, buffers, arrays), ()
        case NestKind.ROWS:
            return build_rows(nodes, group.shape.shared, buffers, arrays)
        case NestKind.MATMUL | NestKind.NOP:
            raise AssertionError("handled above")


def _work(nodes: tuple[Node, ...]) -> Poly:
    """Elementwise operations of a nest, weighted by cost: a sum over nodes of elements times operations."""
    total = ZERO
    for node in nodes:
        if isinstance(node, MatmulNode):
            total = total + product(a.extent for a in node.batch) * node.m * node.n * node.k
        elif isinstance(node, LoopNode):
            cost = 1 + sum(OPERATORS[op.op].cost for op in node.body if op.op in OPERATORS)
            cost += GATHER_COST * sum(1 for op in node.body if isinstance(op.attrs, Gather))
            extents = product(a.extent for a in (*node.iter_axes, *node.reduce_axes))
            total = total + extents * as_poly(cost)
    return total if total != ZERO else ONE
