"""Every reason, each from a program that gives it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from front_end import fuse_text
from hand_made import I0, I1, R0, R1, D, Hand, N, epilogue

from tensorc.diagnostics.catalogue import CATALOGUE
from tensorc.index_algebra import Poly, as_poly
from tensorc.loop_ir.program import LoopProgram
from tensorc.scheduler import events, reasons
from tensorc.scheduler.schedule import schedule_program

FLAT = I0 * D + I1
ROW = I0 * D + R0


def reason_of(
    program: LoopProgram, pair: str, policy: str = "default", again: bool = False
) -> reasons.Reason:
    """The reason given to `first + second` the first time they were looked at."""
    for e in schedule_program(program, policy).events:
        if isinstance(e, events.PairConsidered) and f"{e.first} + {e.second}" == pair and e.again == again:
            return e.reason
    raise AssertionError(f"{pair} was not considered")


def flat_pair(second_index: Poly = FLAT) -> LoopProgram:
    h = Hand("pair")
    h.input("x", N, D)
    a = h.add([("x", FLAT)], (N, D), out=0)
    h.add([(a, second_index), ("x", FLAT)], (N, D), out=1)
    return h.program()


def test_vertical() -> None:
    assert reason_of(flat_pair(), "op0 + op1").code == reasons.VERTICAL


def test_horizontal() -> None:
    h = Hand("horizontal")
    h.input("x", N, D)
    h.add([("x", FLAT)], (N, D), out=0)
    h.add([("x", FLAT)], (N, D), out=1)
    found = reason_of(h.program(), "op0 + op1")
    assert found == reasons.Reason(reasons.HORIZONTAL, "op0 and op1 read the same elements in the same loops")


def test_outer_loops_are_shared_under_the_table() -> None:
    found = reason_of(epilogue(), "op0 + op1", "inductor-2.8")
    assert found.code == reasons.OUTER_LOOP
    assert "1 shared outer loop(s)" in found.sentence


def joint_ranges() -> LoopProgram:
    h = Hand("joint")
    h.input("x", N, D)
    h.input("b", D)
    a = h.add([("x", FLAT)], (N, D))
    h.add([(a, FLAT), ("b", I1)], (N, D), out=0)
    return h.program()


def test_a_flat_loop_is_split_for_its_partner() -> None:
    assert reason_of(joint_ranges(), "op0 + op1", "inductor-2.8").code == reasons.JOINT_RANGES
    assert reason_of(joint_ranges(), "op0 + op1").code == reasons.VERTICAL


def test_a_flat_loop_of_another_shape_is_not_split() -> None:
    h = Hand("flattened", {"N": 8, "D": 4}, fixed=True)
    h.input("x", 32)
    h.input("b", 4)
    a = h.add([("x", I0)], (32,))
    h.add([(a, I0 * 4 + I1), ("b", I1)], (8, 4), out=0)
    assert reason_of(h.program(), "op0 + op1", "inductor-2.8").code == reasons.LOOP_SHAPES


def test_outer_fusions_wait_for_the_others() -> None:
    h = Hand("waits")
    h.input("x", N, D)
    s = h.add([("x", ROW)], (N,), (D,))
    h.add([("x", ROW)], (N,), (D,), out=0)
    h.add([(s, I0)], (N,), out=1)
    fused = schedule_program(h.program(), "inductor-2.8")
    (waiting,) = [e for e in fused.events if isinstance(e, events.PairWaits)]
    assert (waiting.round, waiting.first, waiting.second) == (1, "op0", "op2")
    assert waiting.reason.code == reasons.WAITS
    assert len(fused.groups) == 1


def test_matrix_products_and_empty_nodes_stay_alone() -> None:
    h = Hand("product")
    h.input("x", N, N)
    y = h.matmul("x", "x", N, N, N)
    h.add([(y, I0 * N + I1)], (N, N), out=0)
    found = reason_of(h.program(), "op0 + op1")
    assert found == reasons.Reason(reasons.EXTERN, "op0 is a matrix product with a nest of its own")

    h = Hand("empty")
    z = h.nop()
    h.add([(z, I0)], (0,), out=0)
    assert "a node without elements" in reason_of(h.program(), "op0 + op1").sentence


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
def test_a_full_reduction_finishes_first(policy: str) -> None:
    h = Hand("full")
    h.input("x", N, D)
    s = h.add([("x", R0 * D + R1)], (), (N, D))
    h.add([("x", FLAT), (s, as_poly(0))], (N, D), out=0)
    found = reason_of(h.program(), "op0 + op1", policy)
    assert found == reasons.Reason(
        reasons.FULL_REDUCTION, "every element of op1 needs the finished value of op0"
    )


def test_loop_shapes_differ() -> None:
    h = Hand("shapes")
    h.input("x", N, D)
    h.add([("x", ROW)], (N,), (D,), out=0)
    h.add([("x", R0 * D + R1)], (), (N, D), out=1)
    assert reason_of(h.program(), "op0 + op1").code == reasons.LOOP_SHAPES
    found = reason_of(h.program(), "op0 + op1", "inductor-2.8")
    assert found.sentence == "loop shapes differ, op0 ((1024,), (1024,)) against op1 ((), (1048576,))"


def test_an_element_of_another_step() -> None:
    """Two transposed reads turn the consumer's loops around: equal dependencies, different steps."""
    h = Hand("access", {"N": 64}, fixed=True)
    h.input("x", 64, 64)
    h.input("y", 64, 64)
    a = h.add([("x", I0 * 64 + I1)], (64, 64))
    h.add([(a, I1 * 64 + I0), ("y", I1 * 64 + I0)], (64, 64), out=0)
    for policy in ("default", "inductor-2.8"):
        found = reason_of(h.program(), "op0 + op1", policy)
        assert found.code == reasons.ACCESS


def test_no_shared_data() -> None:
    h = Hand("transposed")
    h.input("x", N, D)
    h.add([("x", FLAT)], (N, D), out=0)
    h.add([("x", I1 * D + I0)], (D, N), out=1)
    found = reason_of(h.program(), "op0 + op1")
    assert found == reasons.Reason(reasons.NO_SHARED_DATA, "no shared data")


def test_memory_deps_differ() -> None:
    reverse = N * D - 1 - FLAT
    found = reason_of(flat_pair(reverse), "op0 + op1")
    assert found.code == reasons.DEPS_DIFFER
    assert found.sentence.startswith("memory deps did not match (MemoryDep('buf0', c0, {c0: 1048576}) is")


def test_intermediate_nodes() -> None:
    h = Hand("between")
    h.input("x", N, D)
    a = h.add([("x", FLAT)], (N, D))
    m = h.add([(a, ROW)], (N,), (D,), kind="max")
    h.add([(a, FLAT), (m, I0)], (N, D), out=0)
    found = reason_of(h.program(), "op0 + op2")
    assert found == reasons.Reason(reasons.INTERMEDIATE_NODES, "intermediate nodes between op0 and op2 (op1)")


def test_a_cycle_through_a_group() -> None:
    """op1 reads op0, op2 feeds op3; once op1 and op2 are one group, op0 and op3 cannot meet."""
    h = Hand("cycle")
    h.input("x", N, D)
    h.input("y", N, D)
    h.input("z", 4)
    a = h.add([("x", FLAT), ("z", as_poly(0))], (N, D))
    h.add([(a, I1 * D + I0), ("y", FLAT), ("z", as_poly(1))], (N, D), out=0)
    c = h.add([("y", FLAT)], (N, D))
    h.add([(c, I1 * D + I0), ("x", FLAT)], (N, D), out=1)
    fused = schedule_program(h.program(), "default")
    refused = [
        e for e in fused.events if isinstance(e, events.PairConsidered) and e.reason.code == reasons.CYCLE
    ]
    assert [(e.first, e.second, e.again) for e in refused][:1] == [("op0", "op3", True)]
    assert refused[0].reason.sentence == "fusing would close a cycle through op1_op2"


def test_wrong_order() -> None:
    """op2 needs op1, so op0 cannot come before op1 any more once it is one group with op2."""
    h = Hand("turned")
    h.input("x", N, D)
    h.input("z", N)
    h.input("w", N)
    h.add([("x", FLAT), ("z", I0), ("w", I0)], (N, D), out=0)
    q = h.add([("z", I0), ("w", I0)], (N,), out=1)
    h.add([("x", FLAT), (q, I0)], (N, D), out=2)
    found = reason_of(h.program(), "op0_op2 + op1", again=True)
    assert found == reasons.Reason(reasons.WRONG_ORDER, "op1 must go before op0_op2")
    (group,) = schedule_program(h.program(), "default").groups
    assert [n.name for n in group.nodes] == ["op1", "op0", "op2"]


def test_small_horizontal_saving() -> None:
    h = Hand("small", {"N": 2, "D": 1024})
    h.input("x", N)
    h.add([("x", I0)], (N,), out=0)
    h.add([("x", I0)], (N,), out=1)
    found = reason_of(h.program(), "op0 + op1")
    assert found == reasons.Reason(reasons.SMALL_SAVING, "a saving of 8 B is below 10 B")


def test_too_far_apart() -> None:
    """Seventy rows of other buffers between two readers of `z`."""
    h = Hand("far")
    h.input("z", N)
    h.add([("z", I0)], (N,), out=0)
    for k in range(70):
        h.input(f"y{k}", D)
        h.add([(f"y{k}", I0)], (D,), out=k + 1)
    h.add([("z", I0)], (N,), out=71)
    found = reason_of(h.program(), "op0 + op71")
    assert found == reasons.Reason(reasons.TOO_FAR, "71 nodes apart, more than 64")


def many_readers(count: int) -> LoopProgram:
    h = Hand("readers")
    h.input("x", N)
    for k in range(count):
        h.add([("x", I0)], (N,), out=k)
    return h.program()


def test_groups_have_a_largest_size() -> None:
    fused = schedule_program(many_readers(66), "default")
    assert [len(g.nodes) for g in fused.groups] == [64, 2]
    codes = [e.reason.code for e in fused.events if isinstance(e, events.PairConsidered)]
    assert reasons.TOO_MANY_NODES in codes


def test_horizontal_groups_have_a_smaller_largest_size_under_the_table() -> None:
    fused = schedule_program(many_readers(20), "inductor-2.8")
    assert [len(g.nodes) for g in fused.groups] == [16, 4]
    codes = [e.reason.code for e in fused.events if isinstance(e, events.PairConsidered)]
    assert reasons.TOO_MANY_HORIZONTAL in codes


def test_peak_of_memory() -> None:
    """Both read a large temporary for the last time and share only four elements."""
    h = Hand("peak", {"N": 4, "D": 1024})
    h.input("x", N, D)
    h.input("y", N)
    a = h.add([("x", I0 * D + I1)], (N, D))
    b = h.add([("x", I1 * D + I0)], (D, N))
    h.add([(a, ROW), ("y", I0)], (N,), (D,), out=0)
    h.add([(b, R0 * N + I0), ("y", I0)], (N,), (D,), out=1)
    found = reason_of(h.program(), "op2 + op3")
    assert found == reasons.Reason(
        reasons.PEAK_MEMORY, "4096 elements of inputs could not be reused, for a saving of 16 B"
    )


def test_outer_fused_groups_take_no_horizontal_partner() -> None:
    h = Hand("outer")
    h.input("x", N, D)
    s = h.add([("x", ROW)], (N,), (D,))
    h.add([(s, I0)], (N,), out=0)
    h.add([("x", FLAT)], (N, D), out=1)
    found = reason_of(h.program(), "op0_op1 + op2", "inductor-2.8")
    assert found == reasons.Reason(
        reasons.OUTER_FUSED, "op0_op1 shares outer loops already and takes no horizontal partner"
    )


def test_outer_fused_groups_keep_their_depth() -> None:
    h = Hand("depth", {"N": 8, "D": 4})
    h.input("x", N, D, 16)
    h.input("w", D, 16)
    inner = (I0 * D + I1) * 16 + R0
    m = h.add([("x", inner), ("w", I1 * 16 + R0)], (N, D), (16,), kind="max")
    s = h.add([("x", inner), (m, I0 * D + I1), ("w", I1 * 16 + R0)], (N, D), (16,))
    h.add([(s, I0 * D + R0)], (N,), (D,), out=0)
    found = reason_of(h.program(), "op0_op1 + op2", "inductor-2.8", again=True)
    assert found == reasons.Reason(
        reasons.OUTER_FUSED, "op0_op1 shares outer loops already and takes no partner of another depth"
    )


def test_codes_have_titles_sentences_and_pages() -> None:
    pages = Path(__file__).parents[2] / "docs" / "errors"
    for code in reasons.REASONS:
        page = (pages / f"{code}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# {code}: ")
        assert CATALOGUE[code] == reasons.REASONS[code]
    constants = {v for k, v in vars(reasons).items() if k.isupper() and re.fullmatch(r"TC2\d\d\d", str(v))}
    assert constants == set(reasons.REASONS)


SCANS = {
    "rows beside a full sum": (
        "(x: f32[N, D]) { return cumulative_sum(x, axis=1), sum(x) }",
        (reasons.SCAN_ORDER, "op0 starts anew in each row or column"),
    ),
    "columns beside rows": (
        "(x: f32[N, D]) { return cumulative_sum(x, axis=0), cumulative_sum(x, axis=1) }",
        (reasons.SCAN_ORDER, "op0 runs along its first axis in order"),
    ),
    "one axis beside rows": (
        "(x: f32[N], y: f32[N, D]) { return cumulative_sum(x)[:, None] * y }",
        (reasons.LOOP_SHAPES, "sweep different spaces"),
    ),
    "turned": (
        "(x: f32[N, N], y: f32[N, N]) { c = cumulative_sum(x, axis=0); return c, c.T + y.T }",
        (reasons.ACCESS, "elsewhere than where the same step wrote it"),
    ),
    "a sum that must be finished": (
        "(x: f32[N]) { s = sum(x); return cumulative_sum(x / s) }",
        (reasons.FULL_REDUCTION, "needs the finished value of op0"),
    ),
}


@pytest.mark.parametrize("name", SCANS)
def test_what_a_scan_is_not_fused_with(name: str) -> None:
    text, (code, words) = SCANS[name]
    fused = fuse_text("t.tdsl", f"kernel f{text}", "default")
    pairs = [e for e in fused.events if isinstance(e, events.PairConsidered)]
    assert pairs[0].reason.code == code
    assert words in pairs[0].reason.sentence


def test_inductor_calls_its_library_for_scans() -> None:
    text = "kernel f(x: f32[N, D]) { return exp(cumulative_sum(sin(x), axis=1)) }"
    fused = fuse_text("t.tdsl", text, "inductor-2.8")
    assert [len(g.nodes) for g in fused.groups] == [1, 1, 1]
    assert not any(isinstance(e, events.PairConsidered) for e in fused.events)
    assert len(fuse_text("t.tdsl", text, "default").groups) == 1
