"""The text of what a stage made, for --until and --print-after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from tensorc.source import Source, Span


def stage_text(stage: str, value: Any) -> str:
    """The value of `stage` as text that ends with a newline."""
    if stage == "parse":
        return "".join(f"{line}\n" for line in _tree_lines(value))
    if stage == "codegen":
        return f"{value}\n"
    return "\n".join(_program_text(stage, program) for program in value)


def _program_text(stage: str, program: Any) -> str:
    if stage in ("check", "widen", "simplify", "relax"):
        from tensorc.tensor_ir.print_ir import print_tensor_program

        text = print_tensor_program(program)
    elif stage == "lower":
        from tensorc.loop_ir.print_ir import print_loop_program

        text = print_loop_program(program)
    elif stage == "schedule":
        from tensorc.scheduler.log import render_text

        text = render_text(program, symbolic=True)
    else:
        from tensorc.loop_schedule.print_nests import print_nest_program

        text = print_nest_program(program)
    return text if text.endswith("\n") else f"{text}\n"


def _tree_lines(root: Any) -> Iterable[str]:
    """One line per node: its class, its plain fields, its place. Sums of thousands of terms are deep: no
    recursion."""
    todo: list[tuple[int, str, Any]] = [(0, "", root)]
    while todo:
        depth, label, value = todo.pop()
        indent = "  " * depth + label
        if isinstance(value, tuple):
            yield f"{indent}({len(value)})"
            todo.extend((depth + 1, "", item) for item in reversed(value))
        elif is_dataclass(value) and not isinstance(value, Span | Source):
            plain, nested = _split_fields(value)
            yield f"{indent}{type(value).__name__}{plain}{_place(value)}"
            todo.extend((depth + 1, f"{name}: ", item) for name, item in reversed(nested))
        else:
            yield f"{indent}{value!r}"


def _split_fields(node: Any) -> tuple[str, list[tuple[str, Any]]]:
    plain, nested = "", []
    for f in fields(node):
        value = getattr(node, f.name)
        if value is None or value == () or isinstance(value, Span | Source):
            continue
        if is_dataclass(value) or isinstance(value, tuple):
            nested.append((f.name, value))
        else:
            plain += f" {f.name}={value!r}"
    return plain, nested


def _place(node: Any) -> str:
    span = getattr(node, "span", None)
    return f"  @{span.line}:{span.column}" if isinstance(span, Span) else ""
