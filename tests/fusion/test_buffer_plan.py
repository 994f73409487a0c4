"""Which buffers are arrays, how long they live, whose memory they take over."""

from __future__ import annotations

from hand_made import I0, I1, R0, R1, D, Hand, N, epilogue, wall

from tensorc.dtypes import F64, I32
from tensorc.index_algebra import Poly, as_poly
from tensorc.loop_ir.program import LoopProgram
from tensorc.scheduler.buffer_plan import Slot, WorkArray, buffer_lifetimes, plan_buffers
from tensorc.scheduler.schedule import schedule_program

FLAT = I0 * N + I1
TURNED = I1 * N + I0


def turned_chain(count: int) -> LoopProgram:
    """Square pointwise nodes, each reading the one before: a turned read keeps them apart."""
    h = Hand("turned")
    h.input("x", N, N)
    current = "x"
    for k in range(count):
        current = h.add([(current, TURNED)], (N, N), out=0 if k == count - 1 else None)
    return h.program()


def test_a_value_of_one_nest_is_no_array() -> None:
    plan = plan_buffers(schedule_program(epilogue(), "default"))
    assert plan.arguments == ("x", "buf1")
    assert plan.internal == ("buf0",)
    assert plan.arrays == () and plan.slots == ()
    assert plan.allocated() == 0


def test_a_scalar_between_two_nests_is_an_array() -> None:
    fused = schedule_program(wall(), "default")
    plan = plan_buffers(fused)
    assert plan.arrays == (WorkArray("buf0", 0, 1, 0),)
    assert plan.allocated() == 4


def test_memory_of_a_dead_array_is_used_again() -> None:
    fused = schedule_program(turned_chain(5), "default")
    assert len(fused.groups) == 5
    plan = plan_buffers(fused)
    assert [(a.buffer, a.first, a.last, a.slot) for a in plan.arrays] == [
        ("buf0", 0, 1, 0),
        ("buf1", 1, 2, 1),
        ("buf2", 2, 3, 0),
        ("buf3", 3, 4, 1),
    ]
    assert plan.allocated() == 2 * N * N * 4
    assert all(a.in_place_of is None for a in plan.arrays)


def test_a_result_lends_its_memory_until_it_is_written() -> None:
    fused = schedule_program(turned_chain(4), "default")
    plan = plan_buffers(fused, borrow_results=True)
    assert plan.slots[0] == Slot(plan.slots[1].dtype, N * N * 4, host="buf3")
    assert [a.slot for a in plan.arrays] == [0, 1, 2]
    assert plan.allocated() == 2 * N * N * 4
    borrowed = [a for a in plan.arrays if plan.slots[a.slot].host is not None]
    last = {t.buffer.name: t for t in buffer_lifetimes(fused)}
    assert all(a.last < last["buf3"].first for a in borrowed)


def in_place_program(read: Poly, late_reader: bool = False) -> LoopProgram:
    """A full sum parts the nests; the second one reads `buf0` for the last time and stores `buf2`."""
    h = Hand("in_place")
    h.input("x", N, N)
    a = h.add([("x", FLAT)], (N, N))
    s = h.add([(a, R0 * N + R1)], (), (N, N))
    b = h.add([(a, read), (s, as_poly(0))], (N, N))
    if late_reader:
        h.add([(b, FLAT), (a, FLAT)], (N, N), out=1)
    h.add([(b, TURNED)], (N, N), out=0)
    return h.program()


def test_overwriting_needs_the_same_elements() -> None:
    fused = schedule_program(in_place_program(FLAT), "default")
    arrays = {a.buffer: a for a in plan_buffers(fused).arrays}
    assert arrays["buf2"].in_place_of == "buf0"
    assert arrays["buf2"].slot == arrays["buf0"].slot

    fused = schedule_program(in_place_program(TURNED), "default")
    arrays = {a.buffer: a for a in plan_buffers(fused).arrays}
    assert arrays["buf2"].in_place_of is None
    assert arrays["buf2"].slot != arrays["buf0"].slot


def test_overwriting_needs_the_last_read_before_the_write() -> None:
    """In one nest op2 would store over what op3 still reads."""
    fused = schedule_program(in_place_program(FLAT, late_reader=True), "default")
    assert [[n.buffer for n in g.nodes] for g in fused.groups][1] == ["buf2", "buf3"]
    arrays = {a.buffer: a for a in plan_buffers(fused).arrays}
    assert (arrays["buf0"].last, arrays["buf2"].first) == (1, 1)
    assert arrays["buf2"].in_place_of is None


def test_other_dtypes_and_sizes_have_other_slots() -> None:
    h = Hand("kinds")
    h.input("x", N, D)
    column = I1 * D + I0
    a = h.add([("x", column)], (D, N), dtype=I32)
    b = h.add([(a, I1 * N + I0)], (N, D))
    c = h.add([(b, column)], (D, N), dtype=F64)
    h.add([(c, I1 * N + I0)], (N, D), out=0)
    plan = plan_buffers(schedule_program(h.program(), "default"))
    assert len(plan.slots) == len(plan.arrays) == 3
    assert plan.allocated() == N * D * 16


def test_lifetimes_reach_to_the_last_reader() -> None:
    h = Hand("lives")
    h.input("x", N, D)
    s = h.add([("x", R0 * D + I0)], (D,), (N,))
    t = h.add([(s, R0)], (), (D,))
    h.add([("x", I0 * D + I1), (s, I1), (t, as_poly(0))], (N, D), out=0)
    fused = schedule_program(h.program(), "default")
    lives = {x.buffer.name: (x.first, x.last) for x in buffer_lifetimes(fused)}
    assert lives == {"buf0": (0, 2), "buf1": (1, 2), "buf2": (2, 2)}
