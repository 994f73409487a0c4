"""Gathers in the IRs: what is legal, how they print, and which passes must know them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tensorc.driver import CompileOptions, compile_text
from tensorc.errors import IRError
from tensorc.index_algebra import ONE, axis, dim
from tensorc.loop_ir.print_ir import print_loop_program
from tensorc.loop_ir.program import Gather, LoopNode, LoopProgram, Place, Tree
from tensorc.loop_ir.verify import verify_loop_program
from tensorc.loop_schedule.aliasing import may_overwrite
from tensorc.loop_schedule.print_nests import print_nest_program
from tensorc.loop_schedule.walk import read_buffers
from tensorc.source import Source
from tensorc.tensor_ir.print_ir import print_tensor_program
from tensorc.tensor_ir.program import Gather as TensorGather
from tensorc.tensor_ir.program import GatheredPlace, TensorProgram
from tensorc.tensor_ir.verify import verify_tensor_program

ROWS = "kernel k(x: f32[N, D], i: i64[M]) -> f32[M, D] { return take(x, i, axis=0) }\n"


def _unit(text: str = ROWS) -> tuple[TensorProgram, LoopProgram]:
    unit = compile_text(Source("t", text), CompileOptions(until="loops"))
    return unit.tensor[0], unit.fused[0].loop


def _changed(p: TensorProgram, **changes: object) -> TensorProgram:
    ops = tuple(replace(op, **changes) if op.op == "gather" else op for op in p.ops)
    return replace(p, ops=ops)


def test_what_a_gather_prints() -> None:
    tensors, loops = _unit()
    assert "gather.take %0 %2 [#1 wraps, i1] : f32[M, D]" in print_tensor_program(tensors)
    text = print_loop_program(loops)
    assert "place %0 of N wraps : i64" in text
    assert "gather x[i1 + D*%1] : f32" in text
    divided, _ = _unit("kernel k(x: f32[N]) { y[i] = x[i // 2] for i in 2 * N\n return y }")
    assert "[#1 in range]" in print_tensor_program(divided)


PLACE = GatheredPlace(1, True, True, "")


@pytest.mark.parametrize(
    ("attrs", "problem"),
    [
        (None, "is not a Gather"),
        (TensorGather("take", (PLACE,)), "1 places for a source of rank 2"),
        (TensorGather("take", (axis("i0"), axis("i1"))), "not each the place"),
        (TensorGather("take", (PLACE, PLACE)), "not each the place"),
        (TensorGather("take", (replace(PLACE, operand=2), axis("i1"))), "not each the place"),
        (TensorGather("take", (replace(PLACE, checked=False), axis("i1"))), "that wraps is checked"),
        (TensorGather("take", (PLACE, axis("i2"))), "i2, which is neither a dim nor an axis"),
    ],
)
def test_tensor_gathers_that_are_not_legal(attrs: object, problem: str) -> None:
    tensors, _ = _unit()
    verify_tensor_program(tensors)
    with pytest.raises(IRError, match=problem):
        verify_tensor_program(_changed(tensors, attrs=attrs))


def test_an_index_is_an_i64_of_the_result_s_shape() -> None:
    tensors, _ = _unit()
    narrow = replace(
        tensors, ops=tuple(replace(op, operands=(0, 1)) if op.op == "gather" else op for op in tensors.ops)
    )
    with pytest.raises(IRError, match="an index is not an i64 of its shape"):
        verify_tensor_program(narrow)


@pytest.mark.parametrize(
    ("op", "changes", "problem"),
    [
        ("place", {"args": ()}, "not the place of one index"),
        ("place", {"args": (0, 0)}, "where it counts is no bool"),
        ("place", {"attrs": Place(axis("i0"), True, "", 1)}, "i0"),
        ("gather", {"args": ()}, "a stride for each place"),
        ("gather", {"attrs": Gather("y", axis("i1"), (dim("D"),))}, "reads y"),
        ("gather", {"attrs": Gather("x", axis("i7"), (dim("D"),))}, "i7"),
        ("gather", {"attrs": Gather("x", axis("i1"), (axis("i1"),))}, "i1"),
        ("gather", {"attrs": Gather("x", axis("i1"), (ONE, ONE))}, "a stride for each place"),
        ("gather", {"attrs": Gather("i", axis("i1"), (ONE,))}, "loads f32 from i64"),
    ],
)
def test_loop_gathers_that_are_not_legal(op: str, changes: dict[str, object], problem: str) -> None:
    _, loops = _unit()
    verify_loop_program(loops)
    node = loops.nodes[0]
    assert isinstance(node, LoopNode)
    body = tuple(replace(s, **changes) if s.op == op else s for s in node.body)
    with pytest.raises(IRError, match=problem):
        verify_loop_program(replace(loops, nodes=(replace(node, body=body),)))


def test_what_is_gathered_from_is_read_and_never_overwritten_by_its_nest() -> None:
    unit = compile_text(
        Source("t", "kernel k(x: f32[N], i: i64[N]) -> f32[N] { return take(x, i) + x }\n"),
        CompileOptions(until="loops"),
    )
    (nest,) = unit.nests[0].nests
    assert set(read_buffers(nest)) == {"i", "x"}
    assert not may_overwrite(nest, "x", "buf0")
    assert "gather x[" in print_nest_program(unit.nests[0])


def test_an_index_is_checked_in_the_outermost_loop_that_it_allows() -> None:
    unit = compile_text(Source("t", ROWS), CompileOptions(until="loops"))
    lines = print_nest_program(unit.nests[0]).splitlines()
    check = next(line for line in lines if "nonnegative" in line)
    gather = next(line for line in lines if "gather" in line)
    assert len(check) - len(check.lstrip()) < len(gather) - len(gather.lstrip())


def test_a_bag_of_rows_adds_up_whole_rows() -> None:
    """The gather has its axes in the order of memory, and the reduction keeps the last one."""
    body = "y[b, j] = sum(x[i[b, a], j] for a in M) for b in B, j in D\n return y"
    _, loops = _unit(f"kernel k(x: f32[N, D], i: i64[B, M]) {{ {body} }}")
    (node,) = loops.nodes
    assert isinstance(node, LoopNode)
    assert node.tree is Tree.COLUMNS
    assert node.gathered() == ("x",)
