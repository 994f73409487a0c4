"""Print a TensorProgram as text, one value per line.

    kernel rows(x: f32[N, D]) -> (out: f32[N])
      %0 = param x : f32[N, D]
      %1 = reduce.sum %0 axes=(1,) : f32[N]  # s, line 2
      return %1

A comment gives the user's name of the value, what the user wrote (if that is another operation), the line.
"""

from __future__ import annotations

from tensorc.index_algebra import Poly
from tensorc.signature import Signature
from tensorc.tensor_ir.program import (
    Concat,
    Constant,
    Gather,
    GatheredPlace,
    ParamRef,
    Reduce,
    Scan,
    SizeValue,
    TensorOp,
    TensorProgram,
    View,
)


def print_tensor_program(p: TensorProgram) -> str:
    """The program's text; equal programs print equal text."""
    lines = [heading_text(p.signature)]
    lines.extend(f"  %{k} = {_op_text(op, p.signature)}" for k, op in enumerate(p.ops))
    lines.append(f"  return {', '.join(f'%{k}' for k in p.results)}")
    return "\n".join(lines) + "\n"


def type_text(dtype: object, shape: tuple[Poly, ...]) -> str:
    """`f32[N, D]`, or `f32` for rank 0."""
    return f"{dtype}[{', '.join(map(str, shape))}]" if shape else str(dtype)


def heading_text(signature: Signature) -> str:
    """`kernel name(parameters) -> (results)`, with types as inferred."""
    params = ", ".join(f"{p.name}: {type_text(p.dtype, p.shape)}" for p in signature.params)
    results = ", ".join(
        f"{signature.result_name(k)}: {type_text(r.dtype, r.shape)}" for k, r in enumerate(signature.results)
    )
    return f"kernel {signature.name}({params}) -> ({results})"


def _op_text(op: TensorOp, signature: Signature) -> str:
    head, tail = _attrs_text(op, signature)
    operands = " ".join(f"%{k}" for k in op.operands)
    words = " ".join(word for word in (head, operands, tail) if word)
    return f"{words} : {type_text(op.dtype, op.shape)}{_comment(op)}"


def _attrs_text(op: TensorOp, signature: Signature) -> tuple[str, str]:
    """What stands before and after the operands."""
    match op.attrs:
        case ParamRef(position):
            return f"param {signature.params[position].name}", ""
        case Constant(value=value):
            return f"constant {value!r}", ""
        case SizeValue(size):
            return f"size ({size})", ""
        case View(kind, index):
            return f"view.{kind}", f"[{', '.join(map(str, index))}]"
        case Concat(axis):
            return "concat", f"axis={axis}"
        case Gather(kind, places):
            return f"gather.{kind}", f"[{', '.join(map(_place_text, places))}]"
        case Reduce(kind, axes, correction):
            extra = f" correction={correction!r}" if correction else ""
            return f"reduce.{kind}", f"axes={axes}{extra}"
        case Scan(kind, axis):
            return f"scan.{kind}", f"axis={axis}"
        case None:
            return op.op, ""


def _place_text(place: Poly | GatheredPlace) -> str:
    """`i0 + 1`, `#1` for the first index operand: `#1 wraps`, `#1 in range` where it is not checked."""
    if isinstance(place, Poly):
        return str(place)
    how = " wraps" if place.wraps else "" if place.checked else " in range"
    return f"#{place.operand}{how}"


def _comment(op: TensorOp) -> str:
    """`# name = origin, line n`; nothing for a parameter, whose name is in the line itself."""
    if op.op == "param":
        return ""
    shown = op.attrs.kind if isinstance(op.attrs, View | Gather | Reduce | Scan) else op.op
    origin = op.origin if op.origin not in ("", shown) else ""
    label = " = ".join(part for part in (op.name, origin) if part)
    pin = f"@{op.pin}" if op.pin else ""
    return f"  # {', '.join(part for part in (label, f'line {op.span.line}', pin) if part)}"
