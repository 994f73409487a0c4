"""The seed's four programs: nodes, figures and log lines, word for word."""

from __future__ import annotations

import pytest
from hand_made import chain, epilogue, mismatch, wall

from tensorc.loop_ir.program import LoopProgram
from tensorc.scheduler.log import render_text
from tensorc.scheduler.nest_shape import NestKind
from tensorc.scheduler.policy import POLICIES
from tensorc.scheduler.schedule import schedule_program

EPILOGUE_LOG = """\
epilogue  examples/epilogue.tdsl:1
  op0  Reduction(sum)  group ((1024,), (1024,))   z, s: lines 2-3   origins sin add sum
       reads  MemoryDep('x', c0, {c0: 1048576})       writes  MemoryDep('buf0', c0, {c0: 1024})
  op1  Pointwise       group ((1024,), ())        return: line 4    origins relu mul
       unmet  MemoryDep('buf0', c0, {c0: 1024})       writes  MemoryDep('buf1', c0, {c0: 1024})
===== attempting fusion (1/10): 2 nodes =====
op0 and op1 has 4096 shared data
found 1 possible fusions
fusing op0 with op1                                 vertical; removes an 8192 B round trip
completed fusion round (1/10): fused 2 nodes into 1 nodes
===== fusion complete (1 iterations) =====
"""


def decisions(program: LoopProgram, policy: str) -> list[str]:
    """The log from the first round on."""
    lines = render_text(schedule_program(program, policy)).splitlines()
    return lines[next(k for k, line in enumerate(lines) if line.startswith("=====")) :]


@pytest.mark.parametrize("policy", POLICIES)
def test_epilogue_is_one_group(policy: str) -> None:
    fused = schedule_program(epilogue(), policy)
    assert [n.name for g in fused.groups for n in g.nodes] == ["op0", "op1"]
    (group,) = fused.groups
    assert group.name == "fused_sin_add_sum_relu_mul_0"
    assert group.shape.kind is NestKind.ROWS and group.shape.shared == 1
    assert [f.reason.allows for f in group.fusions] == [True]


def test_epilogue_log() -> None:
    assert render_text(schedule_program(epilogue(), "default")) == EPILOGUE_LOG


def test_epilogue_log_differs_between_policies_in_the_score_line_alone() -> None:
    lines = decisions(epilogue(), "inductor-2.8")
    lines.remove("score of op0 and op1: (2, 0, 4096, -1)")
    assert lines == decisions(epilogue(), "default")


@pytest.mark.parametrize("policy", POLICIES)
def test_chain_has_one_node_and_no_candidate(policy: str) -> None:
    assert decisions(chain(), policy) == [
        "===== attempting fusion (1/10): 1 nodes =====",
        "found 0 possible fusions",
        "completed fusion round (1/10): fused 1 nodes into 1 nodes",
        "===== fusion complete (1 iterations) =====",
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_wall_shares_much_and_is_refused_with_a_reason(policy: str) -> None:
    text = render_text(schedule_program(wall(), policy))
    assert "group ((), (1048576,))" in text and "group ((1048576,), ())" in text
    assert decisions(wall(), policy) == [
        "===== attempting fusion (1/10): 2 nodes =====",
        "op0 and op1 has 4194308 shared data",
        "cannot fuse op0 with op1: every element of op1 needs the finished value of op0",
        "found 0 possible fusions",
        "completed fusion round (1/10): fused 2 nodes into 2 nodes",
        "===== fusion complete (1 iterations) =====",
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_mismatch_shares_nothing(policy: str) -> None:
    text = render_text(schedule_program(mismatch(), policy))
    assert "MemoryDep('x', c0, {c0: 1048576})" in text
    assert "MemoryDep('x', c0 + 1024*c1, {c0: 1024, c1: 1024})" in text
    assert decisions(mismatch(), policy)[1:4] == [
        "op0 and op1 has 0 shared data                       4194304 in blocks: touched in two orders",
        "cannot fuse op0 with op1: no shared data",
        "found 0 possible fusions",
    ]


def test_symbolic_log_keeps_the_names_of_sizes() -> None:
    text = render_text(schedule_program(mismatch(), "default"), symbolic=True)
    assert "MemoryDep('x', c0, {c0: D*N})" in text
    assert "MemoryDep('x', c0 + D*c1, {c0: D, c1: N})" in text
    assert "group ((D, N), ())" in text
