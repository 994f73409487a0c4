"""Print a NestProgram as text, and its loop structure in one line.

kernel epilogue
  nest fused_sin_add_sum_relu_mul_0: rows
    v2 = constant 1.0 : f32
    parallel i0 < N
      reduce rows j0 < D: v4 = sum v3
        v0 = load x[j0 + D*i0] : f32
"""

from __future__ import annotations

from collections.abc import Sequence

from tensorc.loop_ir.print_ir import gather_text, guards_text
from tensorc.loop_ir.program import Axis, Gather, IndexValue, Inside, Literal, Load, Place, ScalarRef
from tensorc.loop_schedule.program import (
    Accumulator,
    Check,
    ColumnReduce,
    ColumnScan,
    Let,
    Matmul,
    Nest,
    NestProgram,
    Parallel,
    ParallelVector,
    RowReduce,
    Scan,
    Serial,
    Single,
    Stmt,
    Store,
    Vector,
)


def print_nest_program(program: NestProgram) -> str:
    """The program's text; equal programs print equal text."""
    lines = [f"kernel {program.signature.name}"]
    lines.extend(f"  {name} in the memory of {place}" for name, place in program.memory if name != place)
    for nest in program.nests:
        if nest.barrier:
            lines.append("  barrier")
        lines.append(f"  nest {nest.name}: {nest.shape.kind}")
        lines.extend(f"    scratch {s.buffer}: {s.dtype}[{s.extent}]" for s in nest.scratch)
        lines.extend(_statements(nest.body, 2))
    return "\n".join(lines) + "\n"


def _statements(body: Sequence[Stmt], depth: int) -> list[str]:
    lines: list[str] = []
    for s in body:
        lines.append("  " * depth + _head(s))
        match s:
            case ColumnReduce():
                lines.extend(_statements(s.body, depth + 1))
                if s.after:
                    lines.append("  " * depth + "then")
                    lines.extend(_statements(s.after, depth + 1))
            case Let() | Check() | Scan() | Store() | Matmul():
                pass
            case _:
                lines.extend(_statements(s.body, depth + 1))
    return lines


def _head(s: Stmt) -> str:
    match s:
        case Let():
            return f"{s.name} = {_let(s)} : {s.dtype}"
        case Check(condition, value, _, failure):
            return f"check {condition} {value} else {failure.kind}"
        case Store(buffer, index, value, _):
            return f"{buffer}[{index}] = {value}"
        case Scan():
            return f"{s.name} = scan {s.kind} {s.value} : {s.dtype}"
        case RowReduce() | ColumnReduce() | ColumnScan():
            return ("parallel " if s.parallel else "") + _fold_head(s)
        case Single():
            return "one thread"
        case Matmul(node, _):
            sizes = "*".join(f"[{size}]" for size in (node.m, node.k, node.n))
            return f"{node.buffer} = matmul {node.left.buffer} {node.right.buffer} {sizes}"
        case _:
            return _loop_head(s)


def _loop_head(s: Parallel | Serial | Vector | ParallelVector) -> str:
    match s:
        case Parallel((), _):
            return "one step"
        case Parallel(axes, _):
            return f"parallel {_axes(axes)}"
        case Serial(axis, _):
            return f"for {_axes((axis,))}"
        case Vector(axis, _):
            return f"vector {_axes((axis,))}"
        case ParallelVector(axis, _):
            return f"parallel vector {_axes((axis,))}"


def _fold_head(s: RowReduce | ColumnReduce | ColumnScan) -> str:
    match s:
        case RowReduce():
            return f"reduce rows {_axes((*s.outer, s.inner))}: {_accumulators(s.accumulators)}"
        case ColumnReduce():
            kept, reduced = _axes((*s.iterate, s.columns)), _axes((*s.outer, s.inner))
            return f"reduce columns {kept} over {reduced}: {_accumulators(s.accumulators)}"
        case ColumnScan():
            return f"columns {_axes((*s.iterate, s.columns))} in order of {_axes((s.axis,))}"


def _let(s: Let) -> str:
    match s.attrs:
        case Load(buffer, index, guards):
            return f"load {buffer}[{index}]" + (f" if {guards_text(guards)}" if guards else "")
        case Inside(guards):
            return f"inside {guards_text(guards)}"
        case Place(extent, wraps):
            where = f" if {s.args[1]}" if len(s.args) > 1 else ""
            return f"place {s.args[0]} of {extent}{' wraps' if wraps else ''}{where}"
        case Gather():
            return f"gather {gather_text(s.attrs, s.args)}"
        case ScalarRef(param):
            return f"scalar {param}"
        case Literal(value):
            return f"constant {value!r}"
        case IndexValue(index):
            return f"index {index}"
        case None:
            return " ".join((s.op, *s.args))


def _axes(axes: Sequence[Axis]) -> str:
    return ", ".join(f"{a.name} < {a.extent}" for a in axes)


def _accumulators(accumulators: Sequence[Accumulator]) -> str:
    return ", ".join(f"{a.name} = {a.kind} {a.value}" for a in accumulators)


def nest_structure(nest: Nest) -> str:
    """The loops of a nest in one line: `i0{ j0(sum) ; j0 }` is an outer loop with a sum and a map inside."""
    return _structure(nest.body)


def _structure(body: Sequence[Stmt]) -> str:
    parts: list[str] = []
    for s in body:
        match s:
            case Parallel(axes, inner):
                parts.append(f"{_loop(axes)}{{ {_structure(inner)} }}")
            case Serial(axis, inner):
                parts.append(f"{axis.name}{{ {_structure(inner)} }}")
            case Vector(axis, body) | ParallelVector(axis, body):
                parts.append(axis.name + _scans(body))
            case ColumnScan():
                parts.append(f"{_loop((*s.iterate, s.columns))}{{ {s.axis.name}{_scans(s.body)} }}")
            case RowReduce():
                kinds = " ".join(a.kind for a in s.accumulators)
                parts.append(f"{_loop((*s.outer, s.inner))}({kinds}){_scans(s.body)}")
            case ColumnReduce():
                kinds = " ".join(a.kind for a in s.accumulators)
                kept = _loop((*s.iterate, s.columns))
                parts.append(f"{kept}{{ {_loop((*s.outer, s.inner))}({kinds}) }}")
            case Matmul():
                parts.append("matmul")
            case Let() | Check() | Scan() | Store() | Single():
                pass
    return " ; ".join(parts)


def _scans(body: Sequence[Stmt]) -> str:
    """`[sum]`: the scans that run along a loop."""
    kinds = [s.kind for s in body if isinstance(s, Scan)]
    return f"[{' '.join(kinds)}]" if kinds else ""


def _loop(axes: Sequence[Axis]) -> str:
    return ",".join(a.name for a in axes)
