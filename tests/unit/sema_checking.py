"""Check a source text, for the tests of the checker."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.diagnostics.model import DiagnosticBag
from tensorc.sema.check import check_file
from tensorc.source import Source
from tensorc.syntax.parser import parse_file
from tensorc.tensor_ir.program import TensorOp, TensorProgram
from tensorc.tensor_ir.verify import verify_tensor_program


def check_text(
    text: str, dims: Mapping[str, int] | None = None, hints: Mapping[str, int] | None = None
) -> tuple[tuple[TensorProgram, ...], DiagnosticBag]:
    """The programs of a text and all its messages; every program is verified."""
    bag = DiagnosticBag()
    programs = check_file(parse_file(Source("test.tdsl", text), bag), bag, dims or {}, hints or {})
    for program in programs:
        verify_tensor_program(program)
    return programs, bag


def program_of(text: str, **options: Mapping[str, int]) -> TensorProgram:
    """The only kernel of a text without errors."""
    programs, bag = check_text(text, **options)
    assert not bag.has_errors, [f"{d.span}: {d.code} {d.message}" for d in bag.items]
    (program,) = programs
    return program


def kernel(parameters: str, body: str) -> TensorProgram:
    """The program of a kernel that returns the expressions of `body`."""
    return program_of(
        f"kernel k({parameters}) {{\n{body}\n}}"
        if "return" in body
        else f"kernel k({parameters}) {{ return {body} }}"
    )


def result_ops(program: TensorProgram) -> tuple[TensorOp, ...]:
    return tuple(program.ops[r] for r in program.results)


def op_names(program: TensorProgram) -> list[str]:
    return [op.op for op in program.ops]
