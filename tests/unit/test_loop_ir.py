from __future__ import annotations

from dataclasses import replace

import pytest
from ir_builders import SPAN, ProgramBuilder, i

from tensorc.dtypes import F32, F64
from tensorc.errors import IRError
from tensorc.index_algebra import Poly, axis, dim
from tensorc.loop_ir.print_ir import print_loop_program
from tensorc.loop_ir.program import (
    Axis,
    Buffer,
    IndexValue,
    Literal,
    Load,
    LoopNode,
    LoopProgram,
    MatmulNode,
    NopNode,
    Origin,
    Reduction,
    Role,
    ScalarOp,
    ScalarRef,
    Scan,
    Tree,
)
from tensorc.loop_ir.verify import verify_loop_program

N, D = dim("N"), dim("D")
I0, R0 = axis("i0"), axis("r0")
ORIGINS = (Origin("sum", "s", SPAN),)


def _program() -> LoopProgram:
    """s = sum(sin(x), axis=1); out = s * eps + i0."""
    b = ProgramBuilder()
    x = b.param("x", F32, ("N", "D"))
    b.param("eps", F32)
    total = b.reduce("sum", b.call("sin", x), 1)
    signature = b.program(total).signature
    rows = LoopNode(
        "op0",
        "buf0",
        (Axis("i0", N),),
        (Axis("r0", D),),
        (ScalarOp("load", (), F32, Load("x", D * I0 + R0)), ScalarOp("sin", (0,), F32)),
        1,
        I0,
        Reduction("sum", Tree.ROWS),
        ORIGINS,
    )
    body = (
        ScalarOp("load", (), F32, Load("buf0", I0)),
        ScalarOp("scalar", (), F32, ScalarRef("eps")),
        ScalarOp("multiply", (0, 1), F32),
        ScalarOp("index", (), F32, IndexValue(I0)),
        ScalarOp("add", (2, 3), F32),
    )
    last = LoopNode("op1", "buf1", (Axis("i0", N),), (), body, 4, I0, None, ORIGINS)
    buffers = (
        Buffer("x", F32, (N, D), Role.INPUT),
        Buffer("buf0", F32, (N,), Role.TEMPORARY),
        Buffer("buf1", F32, (N,), Role.OUTPUT, 0),
    )
    return LoopProgram(signature, buffers, (rows, last))


def test_text() -> None:
    assert print_loop_program(_program()) == (
        "kernel test(x: f32[N, D], eps: f32) -> (out0: f32[N])\n"
        "  input x: f32[N, D]\n"
        "  temporary buf0: f32[N]\n"
        "  output 0 buf1: f32[N]\n"
        "  op0: buf0[i0] = sum.rows %1 for i0 < N over r0 < D  # sum, s, line 1\n"
        "    %0 = load x[D*i0 + r0] : f32\n"
        "    %1 = sin %0 : f32\n"
        "  op1: buf1[i0] = %4 for i0 < N  # sum, s, line 1\n"
        "    %0 = load buf0[i0] : f32\n"
        "    %1 = scalar eps : f32\n"
        "    %2 = multiply %0 %1 : f32\n"
        "    %3 = index (i0) : f32\n"
        "    %4 = add %2 %3 : f32\n"
    )


def test_text_of_matmul_and_nop() -> None:
    p = _program()
    left, right = Load("x", axis("i") * D + axis("k")), Load("x", axis("k") * D + axis("j"))
    matmul = MatmulNode("op0", "buf0", left, right, (Axis("b0", N),), N, D, N, ORIGINS)
    text = print_loop_program(replace(p, nodes=(matmul, NopNode("op1", "buf1", ORIGINS))))
    assert "op0: buf0 = matmul x[D*i + k] x[j + D*k] for b0 < N, i < N, j < N over k < D  #" in text
    assert "op1: buf1 = nop  #" in text


def test_a_legal_program_passes() -> None:
    verify_loop_program(_program())


def _changed(node: int, **changes: object) -> LoopProgram:
    p = _program()
    nodes = list(p.nodes)
    nodes[node] = replace(nodes[node], **changes)  # type: ignore[arg-type]
    return replace(p, nodes=tuple(nodes))


def _body(node: int, position: int, op: ScalarOp) -> LoopProgram:
    body = list(_program().nodes[node].body)  # type: ignore[union-attr]
    body[position] = op
    return _changed(node, body=tuple(body))


def _load(buffer: str, index: Poly) -> ScalarOp:
    return ScalarOp("load", (), F32, Load(buffer, index))


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (_changed(0, buffer="x"), "input or already written"),
        (_changed(1, buffer="buf0"), "input or already written"),
        (_changed(0, buffer="none"), "no buffer"),
        (_changed(0, origins=()), "no origin"),
        (_changed(0, reduce_axes=()), "r0, which is neither"),
        (_changed(1, reduce_axes=(Axis("r0", D),)), "pointwise and has reduction axes"),
        (_changed(0, reduce_axes=(Axis("i0", D),)), "one name"),
        (_changed(0, store_index=R0), "r0, which is neither"),
        (_changed(0, reduction=Reduction("mean", Tree.ROWS)), "no reduction mean"),
        (_changed(0, reduction=Reduction("argmax", Tree.ROWS)), "stores i64 in f32 buf0"),
        (_changed(1, result=9), "does not exist"),
        (_changed(0, scan=Scan("sum", 0)), "a scan and a reduction"),
        (_changed(1, scan=Scan("sum", 7)), "scans axis 7"),
        (_changed(1, scan=Scan("mean", 0)), "no scan mean"),
        (_body(0, 0, _load("buf1", I0)), "buf1, which is not written before"),
        (_body(0, 0, _load("x", dim("Q") + I0)), "Q, which is neither"),
        (_body(0, 0, _load("x", I0 * R0)), "not affine"),
        (_body(0, 0, _load("x", I0 // 2)), "not affine"),
        (_body(0, 0, ScalarOp("load", (), F64, Load("x", I0))), "loads f64 from f32 x"),
        (_body(0, 1, ScalarOp("sin", (1,), F32)), "not an earlier value"),
        (_body(0, 1, ScalarOp("sinus", (0,), F32)), "no such operation"),
        (_body(0, 1, ScalarOp("add", (0,), F32)), "has 1 operands"),
        (_body(0, 1, ScalarOp("less", (0, 0), F32)), "gives bool, not f32"),
        (_body(1, 1, ScalarOp("scalar", (), F32, ScalarRef("x"))), "x is not a f32 scalar"),
        (_body(1, 1, ScalarOp("constant", (), F32, Literal(1))), "not a value of f32"),
        (_body(1, 4, ScalarOp("cast", (2,), F64)), "stores f64 in f32 buf1"),
    ],
)
def test_an_illegal_node_is_named(program: LoopProgram, problem: str) -> None:
    with pytest.raises(IRError, match=problem) as caught:
        verify_loop_program(program)
    assert "op" in caught.value.where


def test_buffers_match_the_signature() -> None:
    p = _program()
    with pytest.raises(IRError, match="not a parameter"):
        verify_loop_program(replace(p, buffers=(replace(p.buffers[0], dtype=F64), *p.buffers[1:])))
    with pytest.raises(IRError, match="give the results"):
        verify_loop_program(replace(p, buffers=(*p.buffers[:2], replace(p.buffers[2], result=1))))
    with pytest.raises(IRError, match="temporary and has result 0"):
        verify_loop_program(replace(p, buffers=(*p.buffers[:2], replace(p.buffers[2], role=Role.TEMPORARY))))
    with pytest.raises(IRError, match="no node writes buf1"):
        verify_loop_program(replace(p, nodes=p.nodes[:1]))


def test_matmul_operands_use_their_own_axes() -> None:
    p = _program()
    good, bad = Load("x", axis("i") * D + axis("k")), Load("x", axis("i") * D + axis("j"))
    right = Load("x", axis("k") * D + axis("j"))
    node = MatmulNode("op0", "buf0", good, right, (), N, D, N, ORIGINS)
    verify_loop_program(replace(p, nodes=(node, p.nodes[1])))
    with pytest.raises(IRError, match="j, which is neither"):
        verify_loop_program(replace(p, nodes=(replace(node, left=bad), p.nodes[1])))
    assert i(0) == I0
