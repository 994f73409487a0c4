"""The renderings of events: remarks, rows of accesses, places, names, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from front_end import fuse_text
from hand_made import I0, I1, R0, D, Hand, N, epilogue, wall

from tensorc.loop_ir.program import Origin
from tensorc.scheduler import events, reasons
from tensorc.scheduler.log import article, event_lines, render_json, render_text, saving_words
from tensorc.scheduler.names import MAX_NAME, group_name, origin_words, place_words
from tensorc.scheduler.schedule import schedule_program
from tensorc.scheduler.score import Saving
from tensorc.source import Source, Span


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (8, "an"), (80, "an"), (8192, "an"), (11, "an"), (18, "an"), (11000, "an"), (18432, "an"),
        (1, "a"), (4096, "a"), (1100, "a"), (1800, "a"), (110, "a"), (118000, "a"), (7, "a"), (19, "a"),
    ],
)  # fmt: skip
def test_article(number: int, expected: str) -> None:
    assert article(number) == expected


def test_savings_in_words() -> None:
    assert list(saving_words(Saving(0, 0))) == []
    assert list(saving_words(Saving(4, 16))) == ["removes a 16 B round trip", "saves 4 B of loads"]


def test_long_lines_push_the_remark_to_the_right() -> None:
    reason = reasons.reason(reasons.HORIZONTAL, first="a", second="b")
    names = "op0_op1_op2_op3_op4_op5", "op6_op7_op8_op9_op10"
    fused = events.Fused(1, *names, "horizontal", "inner", "flat", Saving(8, 0), reason)
    (line,) = event_lines(fused)
    assert line == f"fusing {names[0]} with {names[1]}  horizontal; saves 8 B of loads"


def test_reads_of_inputs_and_of_buffers_have_their_own_rows() -> None:
    lines = render_text(schedule_program(wall(), "default")).splitlines()
    assert lines[3:6] == [
        "  op1  Pointwise       group ((1048576,), ())   return: line 1   origins add",
        "       reads  MemoryDep('x', c0, {c0: 1048576})",
        "       unmet  MemoryDep('buf0', 0, {})                writes  MemoryDep('buf1', c0, {c0: 1048576})",
    ]


def test_a_node_without_reads_has_its_write_alone() -> None:
    h = Hand("filled")
    h.nop(out=0)
    lines = render_text(schedule_program(h.program(), "default")).splitlines()
    assert lines[1:3] == ["  op0  Nop     return: line 1   origins zeros", "       writes StarDep('buf0')"]


def test_sizes_without_a_hint_are_named() -> None:
    h = Hand("assumed", {"N": None})
    h.input("x", N)
    h.add([("x", I0)], (N,), out=0)
    text = render_text(schedule_program(h.program(), "default"))
    assert "no hint for N: figures take 1024\n" in text
    assert "group ((1024,), ())" in text


def test_places_in_the_source() -> None:
    source = Source("k.tdsl", "a\nb\nc\nd\n")

    def origin(op: str, name: str, line: int, call: int | None = None) -> Origin:
        span = Span(source, 2 * line - 2, 2 * line - 1)
        return Origin(
            op, name, span if call is None else span.called_from(Span(source, 2 * call - 2, 2 * call - 1))
        )

    assert place_words((origin("sin", "z", 2), origin("sum", "s", 3)), False) == "z, s: lines 2-3"
    assert place_words((origin("relu", "", 4),), True) == "return: line 4"
    assert place_words((origin("exp", "a", 1), origin("mul", "", 2)), True) == "a, return: lines 1-2"
    assert place_words((origin("exp", "a", 1),), True) == "a: line 1"
    assert place_words((origin("exp", "", 1),), False) == "line 1"
    assert place_words((origin("exp", "e", 1, call=4),), False) == "e: line 4"
    assert place_words((), False) == ""


def test_a_product_written_as_a_sum_shows_both() -> None:
    product = "c[i, j] = sum(a[i, k] * b[k, j] for k in K) for i in I, j in J"
    text = f"kernel f(a: f32[I, K], b: f32[K, J]) {{ {product}; return c }}"
    log = render_text(fuse_text("t.tdsl", text, "default"))
    assert "op0  Matmul     c: line 1   origins mul sum" in log


def test_group_names_are_short_identifiers() -> None:
    h = Hand("names")
    h.input("x", N)
    h.add([("x", I0)], (N,), out=0, origins=[("multiply", "", 1), ("a b", "", 1), ("multiply", "", 1)])
    (node,) = h.nodes
    assert origin_words(node) == ("mul", "a_b")
    assert group_name([node], 3) == "fused_mul_a_b_3"
    h.add([("x", I0)], (N,), out=1, origins=[(f"operation{k}", "", 1) for k in range(50)])
    name = group_name(h.nodes, 12)
    assert name.isidentifier() and len(name) <= MAX_NAME + len("_12")
    assert name.startswith("fused_mul_a_b_operation0_operation1")


def test_json_holds_every_event_as_plain_data() -> None:
    fused = schedule_program(epilogue(), "inductor-2.8")
    found = json.loads(json.dumps(render_json(fused)))
    assert [e["event"] for e in found] == [type(e).__name__ for e in fused.events]
    (pair,) = [e for e in found if e["event"] == "PairConsidered" and not e["again"]]
    assert pair == {
        "event": "PairConsidered",
        "round": 1,
        "first": "op0",
        "second": "op1",
        "kind": "vertical",
        "saving": {"shared": 4096, "loads": 0, "round_trips": 8192, "in_blocks": 0},
        "reason": {
            "code": "TC2003",
            "sentence": "op1 uses what op0 computes, in 1 shared outer loop(s)",
        },
        "score": [2, 0, 4096, -1],
        "again": False,
    }
    (merged,) = [e for e in found if e["event"] == "Fused"]
    assert (merged["join"], merged["nest"], merged["kind"]) == ("outer", "rows", "vertical")


def test_refusals_at_the_last_moment_are_printed() -> None:
    h = Hand("turned")
    h.input("x", N, D)
    h.input("z", N)
    h.input("w", N)
    h.add([("x", I0 * D + I1), ("z", I0), ("w", I0)], (N, D), out=0)
    q = h.add([("z", I0), ("w", I0)], (N,), out=1)
    h.add([("x", I0 * D + I1), (q, I0)], (N, D), out=2)
    lines = render_text(schedule_program(h.program(), "default")).splitlines()
    assert "cannot fuse op0_op2 with op1: op1 must go before op0_op2" in lines


def test_a_load_saved_is_not_called_a_round_trip() -> None:
    """The producer's buffer is a result: it stays in memory, only its load goes."""
    h = Hand("kept")
    h.input("x", N, D)
    s = h.add([("x", I0 * D + R0)], (N,), (D,), out=0)
    h.add([(s, I0)], (N,), out=1)
    fused = schedule_program(h.program(), "default")
    (merged,) = [e for e in fused.events if isinstance(e, events.Fused)]
    assert merged.saving == Saving(loads=4096, round_trips=0)


def test_the_log_in_the_documentation_is_the_log() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fusion.md").read_text(encoding="utf-8")
    assert f"```text\n{render_text(schedule_program(epilogue(), 'default'))}```" in page
