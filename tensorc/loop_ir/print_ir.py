"""Print a LoopProgram as text: its buffers, then each node with its loops and its body.

kernel rows(x: f32[N, D]) -> (out: f32[N])
  input x: f32[N, D]
  output 0 buf0: f32[N]
  op0: buf0[i0] = sum.rows %1 for i0 < N over r0 < D  # sin sum, line 2
    %0 = load x[r0 + D*i0] : f32
    %1 = sin %0 : f32
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorc.index_algebra import Poly
from tensorc.loop_ir.program import (
    Axis,
    Buffer,
    Gather,
    IndexValue,
    Inside,
    Literal,
    Load,
    LoopNode,
    LoopProgram,
    MatmulNode,
    Node,
    NopNode,
    Origin,
    Place,
    ScalarOp,
    ScalarRef,
)
from tensorc.tensor_ir.print_ir import heading_text, type_text


def print_loop_program(p: LoopProgram) -> str:
    """The program's text; equal programs print equal text."""
    lines = [heading_text(p.signature)]
    lines.extend(f"  {_buffer_text(b)}" for b in p.buffers)
    for node in p.nodes:
        lines.append(f"  {node.name}: {_node_text(node)}  # {_origins_text(node.origins)}")
        if isinstance(node, LoopNode):
            lines.extend(f"    %{k} = {_scalar_text(op)}" for k, op in enumerate(node.body))
    return "\n".join(lines) + "\n"


def _buffer_text(b: Buffer) -> str:
    result = f" {b.result}" if b.result is not None else ""
    return f"{b.role}{result} {b.name}: {type_text(b.dtype, b.shape)}"


def _node_text(node: Node) -> str:
    match node:
        case LoopNode():
            return _loop_text(node)
        case MatmulNode():
            extents = [*node.batch, Axis("i", node.m), Axis("j", node.n)]
            operands = f"{_load_text(node.left)} {_load_text(node.right)}"
            return f"{node.buffer} = matmul {operands}{_axes_text('for', extents)} over k < {node.k}"
        case NopNode():
            return f"{node.buffer} = nop"


def _loop_text(node: LoopNode) -> str:
    target = f"{node.buffer}[{node.store_index}]"
    loops = _axes_text("for", node.iter_axes) + _axes_text("over", node.reduce_axes)
    if node.scan is not None:
        along = f"along {node.iter_axes[node.scan.axis].name}"
        return f"{target} = scan {node.scan.kind}.{node.tree} %{node.result} {along}{loops}"
    if node.reduction is None:
        return f"{target} = %{node.result}{loops}"
    kind = f"{node.reduction.kind}.{node.reduction.tree}"
    extra = f" correction={node.reduction.correction!r}" if node.reduction.correction else ""
    return f"{target} = {kind} %{node.result}{extra}{loops}"


def _axes_text(word: str, axes: Sequence[Axis]) -> str:
    return f" {word} {', '.join(f'{a.name} < {a.extent}' for a in axes)}" if axes else ""


def _load_text(load: Load) -> str:
    return f"{load.buffer}[{load.index}]" + (f" if {guards_text(load.guards)}" if load.guards else "")


def guards_text(guards: Sequence[Poly]) -> str:
    """`i0 - 2 >= 0 and N - i0 >= 0`"""
    return " and ".join(f"{g} >= 0" for g in guards)


def gather_text(gather: Gather, places: Sequence[str]) -> str:
    """`x[i0 + D*%3]`: what a gather reads, its places by name."""
    terms = [str(gather.offset)] if gather.offset.terms else []
    for stride, place in zip(gather.strides, places, strict=True):
        simple = len(stride.terms) == 1
        terms.append(place if stride == 1 else f"{stride if simple else f'({stride})'}*{place}")
    return f"{gather.buffer}[{' + '.join(terms)}]"


def _scalar_text(op: ScalarOp) -> str:
    return f"{_head_text(op)} : {op.dtype}"


def _head_text(op: ScalarOp) -> str:
    match op.attrs:
        case Load():
            return f"load {_load_text(op.attrs)}"
        case Place(extent, wraps):
            where = f" if %{op.args[1]}" if len(op.args) > 1 else ""
            return f"place %{op.args[0]} of {extent}{' wraps' if wraps else ''}{where}"
        case Gather():
            return f"gather {gather_text(op.attrs, [f'%{k}' for k in op.args])}"
        case ScalarRef(param):
            return f"scalar {param}"
        case Literal(value=value):
            return f"constant {value!r}"
        case IndexValue(index):
            return f"index ({index})"
        case Inside(guards):
            return f"inside {guards_text(guards)}"
        case None:
            return " ".join([op.op, *(f"%{k}" for k in op.args)])


def _origins_text(origins: Sequence[Origin]) -> str:
    """The operations, the user's names, and the lines they stand on."""
    words = " ".join(o.op for o in origins)
    names = ", ".join(dict.fromkeys(o.name for o in origins if o.name))
    lines = sorted({o.span.line for o in origins})
    span = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]}-{lines[-1]}"
    return ", ".join(part for part in (words, names, span) if part)
