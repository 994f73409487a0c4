"""Order, ancestors, dead nodes, and how long large programs take."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hand_made import I0, I1, R0, D, Hand, N, epilogue

from tensorc.errors import IRError
from tensorc.loop_ir.program import LoopProgram
from tensorc.scheduler import events
from tensorc.scheduler.graph import build_graph, depth_first_order, remove_dead_nodes
from tensorc.scheduler.log import render_text
from tensorc.scheduler.policy import POLICIES
from tensorc.scheduler.schedule import schedule_program

FLAT = I0 * D + I1


def diamond() -> LoopProgram:
    h = Hand("diamond")
    h.input("x", N, D)
    a = h.add([("x", FLAT)], (N, D))
    b = h.add([(a, FLAT)], (N, D))
    c = h.add([(a, FLAT)], (N, D))
    h.add([(c, FLAT), (b, FLAT)], (N, D), out=0)
    return h.program()


def test_edges_and_ancestors() -> None:
    graph = build_graph(diamond())
    assert [n.name for n in graph.nodes] == ["op0", "op1", "op2", "op3"]
    assert graph.producers == ((), (0,), (0,), (2, 1))
    assert graph.consumers == ((1, 2), (3,), (3,), ())
    assert graph.ancestors == (0b0, 0b1, 0b1, 0b111)


def test_order_follows_reads_whatever_the_list() -> None:
    program = diamond()
    shuffled = replace(program, nodes=program.nodes[::-1])
    assert [n.name for n in build_graph(shuffled).nodes] == ["op0", "op1", "op2", "op3"]


def test_a_circle_is_an_error() -> None:
    h = Hand("circle")
    h.add([("buf1", I0)], (N,))
    h.add([("buf0", I0)], (N,), out=0)
    with pytest.raises(IRError, match="circle"):
        build_graph(h.program())


def test_two_writers_are_an_error() -> None:
    program = diamond()
    with pytest.raises(IRError, match="written by two nodes"):
        build_graph(replace(program, nodes=(*program.nodes, program.nodes[0])))


def test_depth_first_order_finds_circles_only() -> None:
    assert depth_first_order([0, 1, 2], [(2,), (0, 2), ()]) == (2, 0, 1)
    assert depth_first_order([0, 1], [(1,), (0,)]) is None
    assert depth_first_order([0], [(0,)]) is None


def test_dead_nodes_go_with_their_buffers() -> None:
    h = Hand("dead")
    h.input("x", N)
    unused = h.add([("x", I0)], (N,))
    h.add([(unused, I0)], (N,))
    h.add([("x", I0)], (N,), out=0)
    program = h.program()
    live, dead = remove_dead_nodes(program)
    assert [n.name for n in dead] == ["op0", "op1"]
    assert [b.name for b in live.buffers] == ["x", "buf2"]
    fused = schedule_program(program, "default")
    assert fused.events[:2] == (events.NodeRemoved("op0", "buf0"), events.NodeRemoved("op1", "buf1"))
    assert "removed op0: no result needs buf0\n" in render_text(fused)


def test_a_program_without_dead_nodes_stays_the_same_object() -> None:
    program = epilogue()
    assert remove_dead_nodes(program) == (program, ())
    assert remove_dead_nodes(program)[0] is program


@pytest.mark.parametrize("policy", POLICIES)
def test_a_kernel_without_nodes(policy: str) -> None:
    fused = schedule_program(Hand("empty").program(), policy)
    assert fused.groups == ()
    assert render_text(fused).splitlines()[1:] == [
        "===== attempting fusion (1/10): 0 nodes =====",
        "found 0 possible fusions",
        "completed fusion round (1/10): fused 0 nodes into 0 nodes",
        "===== fusion complete (1 iterations) =====",
    ]


def softmax_layers(count: int) -> LoopProgram:
    h = Hand("layers")
    h.input("x", N, D)
    current = "x"
    for k in range(count):
        m = h.add([(current, I0 * D + R0)], (N,), (D,), kind="max")
        e = h.add([(current, FLAT), (m, I0)], (N, D))
        s = h.add([(e, I0 * D + R0)], (N,), (D,))
        current = h.add([(e, FLAT), (s, I0)], (N, D), out=0 if k == count - 1 else None)
    return h.program()


@pytest.mark.parametrize("policy", POLICIES)
def test_work_grows_with_the_program(policy: str) -> None:
    """Four times the nodes, about four times the decisions; 2,000 nodes take seconds, not minutes."""
    small = schedule_program(softmax_layers(125), policy)
    start = time.process_time()
    large = schedule_program(softmax_layers(500), policy)
    assert time.process_time() - start < 30
    assert len(large.events) < 4.5 * len(small.events)
    assert max(len(g.nodes) for g in large.groups) <= POLICIES[policy].group_nodes
