"""Random programs: groups are nests in a valid order, the events account for every one of them."""

from __future__ import annotations

import pytest
from hand_made import I0, I1, R0, R1, Hand
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorc.index_algebra import Poly, as_poly
from tensorc.loop_ir.program import LoopProgram
from tensorc.loop_schedule.aliasing import may_overwrite
from tensorc.loop_schedule.schedule import schedule_loops
from tensorc.loop_schedule.traffic import array_bytes
from tensorc.loop_schedule.verify import verify_nest_program
from tensorc.loop_schedule.walk import read_buffers as loaded_buffers
from tensorc.loop_schedule.walk import written_buffers
from tensorc.scheduler import events
from tensorc.scheduler.graph import read_buffers
from tensorc.scheduler.log import render_text
from tensorc.scheduler.nest_shape import nest_shape
from tensorc.scheduler.policy import POLICIES
from tensorc.scheduler.schedule import schedule_program

N = 16
FLAT, TURNED = I0 * N + I1, I1 * N + I0
SQUARE_READS = {2: [FLAT, FLAT, FLAT, TURNED], 1: [I0, I1], 0: [as_poly(0)]}
ROW_READS = {2: [I0 * N + R0, I0 * N + R0, R0 * N + I0], 1: [I0, R0], 0: [as_poly(0)]}
FULL_READS = {2: [R0 * N + R1], 1: [R0], 0: [as_poly(0)]}
VECTOR_READS = {1: [I0], 0: [as_poly(0)]}
KINDS = {
    "square": ((N, N), (), SQUARE_READS),
    "rows": ((N,), (N,), ROW_READS),
    "full": ((), (N, N), FULL_READS),
    "vector": ((N,), (), VECTOR_READS),
}


@st.composite
def programs(draw: st.DrawFn) -> LoopProgram:
    h = Hand("random", {})
    h.input("x", N, N)
    h.input("v", N)
    ranks = {"x": 2, "v": 1}
    count = draw(st.integers(1, 9))
    for k in range(count):
        iterate, reduce, reads = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        readable = [name for name, rank in ranks.items() if rank in reads]
        chosen = draw(st.lists(st.sampled_from(readable), min_size=1, max_size=3, unique=True))
        loads: list[tuple[str, Poly]] = [(b, draw(st.sampled_from(reads[ranks[b]]))) for b in chosen]
        out = k if k == count - 1 or draw(st.integers(0, 3)) == 0 else None
        ranks[h.add(loads, iterate, reduce, out=out)] = len(iterate)
    return h.program()


@pytest.mark.parametrize("policy", POLICIES)
@given(program=programs())
@settings(max_examples=150, deadline=None)
def test_groups_and_events(policy: str, program: LoopProgram) -> None:
    fused = schedule_program(program, policy)
    step = {n.buffer: (g, k) for g, group in enumerate(fused.groups) for k, n in enumerate(group.nodes)}
    assert sorted(step) == sorted(n.buffer for n in fused.loop.nodes)
    for number, group in enumerate(fused.groups):
        assert nest_shape(group.nodes) == group.shape
        for k, node in enumerate(group.nodes):
            assert all(step[b] < (number, k) for b in read_buffers(node) if b in step)
    merged = [e for e in fused.events if isinstance(e, events.Fused)]
    assert len(merged) == len(fused.loop.nodes) - len(fused.groups)
    assert sorted(map(id, (f for g in fused.groups for f in g.fusions))) == sorted(map(id, merged))
    rounds = [e for e in fused.events if isinstance(e, events.RoundFinished)]
    assert sum(e.before - e.after for e in rounds) == len(merged)
    assert render_text(fused) == render_text(schedule_program(program, policy))


@given(program=programs())
@settings(max_examples=100, deadline=None)
def test_arrays_in_one_memory_never_live_at_once(program: LoopProgram) -> None:
    nests = schedule_loops(schedule_program(program, "default"))
    verify_nest_program(nests)
    sizes = {b.name: (b.dtype, array_bytes(b)) for b in nests.buffers}
    written = {name: k for k, n in enumerate(nests.nests) for name in written_buffers(n)}
    read = {name: k for k, n in enumerate(nests.nests) for name in loaded_buffers(n)}
    for place in dict.fromkeys(place for _, place in nests.memory):
        held = [name for name, home in nests.memory if home == place]
        assert len({sizes[name] for name in held}) == 1
        for earlier, later in zip(held, held[1:], strict=False):
            in_place = may_overwrite(nests.nests[written[later]], earlier, later)
            assert read[earlier] < written[later] or (read[earlier] == written[later] and in_place)
