"""Check a parsed file: declarations first, then every kernel; all errors in one run."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.diagnostics.model import Diagnostic, DiagnosticBag
from tensorc.sema.declarations import read_declarations
from tensorc.sema.kernels import check_kernel
from tensorc.source import Span
from tensorc.syntax import ast
from tensorc.tensor_ir.program import TensorProgram

NOTHING: Mapping[str, int] = {}


def check_file(
    file: ast.File,
    bag: DiagnosticBag,
    dims: Mapping[str, int] = NOTHING,
    hints: Mapping[str, int] = NOTHING,
) -> tuple[TensorProgram, ...]:
    """One program per kernel without errors; errors and warnings of the whole file go into `bag`.

    `dims` fixes size symbols and `hints` gives figures for estimates, both over what the file says.
    """
    own = DiagnosticBag()
    programs = _check(file, own, dims, hints, parsed=not bag.has_errors)
    for diagnostic in sorted(own.items, key=_place):
        bag.add(diagnostic)
    return programs


def _place(diagnostic: Diagnostic) -> int:
    """Where the user meets a message first: inside a `def`, at the call in the kernel."""
    span = diagnostic.span
    if span is None:
        return 0
    return (span.via[-1] if span.via else span).start


def _check(
    file: ast.File, bag: DiagnosticBag, dims: Mapping[str, int], hints: Mapping[str, int], parsed: bool
) -> tuple[TensorProgram, ...]:
    scope = read_declarations(file, bag, dims, hints)
    kernels = [item for item in file.items if isinstance(item, ast.Kernel)]
    if not kernels and parsed:
        start = Span(file.source, 0, 0)
        bag.error(
            "TC0212",
            f"{file.source.name} has no kernel",
            start,
            help="a kernel is written `kernel name(x: f32[N]) -> f32[N] { return x }`",
        )
    programs = (check_kernel(scope, kernel, bag) for kernel in kernels)
    return tuple(p for p in programs if p is not None)
