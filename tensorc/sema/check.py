"""Check a parsed file: declarations first, then every kernel; all errors in one run."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.diagnostics.model import Diagnostic, DiagnosticBag
from tensorc.sema.declarations import check_kernel_names, read_declarations
from tensorc.sema.generics import check_instances, instance_names
from tensorc.sema.kernels import check_uncalled
from tensorc.source import Source, Span
from tensorc.syntax import ast
from tensorc.syntax.imports import load_imports
from tensorc.tensor_ir.program import TensorProgram

NOTHING: Mapping[str, int] = {}


def check_file(
    file: ast.File,
    bag: DiagnosticBag,
    dims: Mapping[str, int] = NOTHING,
    hints: Mapping[str, int] = NOTHING,
) -> tuple[TensorProgram, ...]:
    """One program per kernel without errors; errors and warnings of the whole file go into `bag`.

    `dims` fixes sizes that the file leaves open, `hints` gives figures for estimates, before the file's.
    """
    if file.imported is None:
        file = load_imports(file, bag)
    own = DiagnosticBag()
    programs = _check(file, own, dims, hints, parsed=not bag.has_errors)
    told: set[tuple[object, ...]] = set()
    for diagnostic in sorted(own.items, key=lambda d: _place(d, file.source)):
        # what is wrong in a `def` whoever calls it is told once
        span = diagnostic.span
        place = (span.source.name, span.start, span.end) if span is not None else ()
        what = (diagnostic.code, diagnostic.message, diagnostic.label, *place)
        if what not in told:
            bag.add(diagnostic)
        told.add(what)
    return programs


def _place(diagnostic: Diagnostic, source: Source) -> int:
    """Where the user meets a message first: inside a `def`, at the call in the kernel.

    What is wrong in an imported file as such comes before all of this one.
    """
    if diagnostic.span is None:
        return -1
    span = diagnostic.span.via[-1] if diagnostic.span.via else diagnostic.span
    return span.start if span.source is source else -1


def _check(
    file: ast.File, bag: DiagnosticBag, dims: Mapping[str, int], hints: Mapping[str, int], parsed: bool
) -> tuple[TensorProgram, ...]:
    scope = read_declarations(file, bag, dims, hints)
    check_kernel_names(file, bag, instance_names)
    kernels = [item for item in file.items if isinstance(item, ast.Kernel)]
    if not kernels and parsed:
        start = Span(file.source, 0, 0)
        bag.error(
            "TC0212",
            f"{file.source.name} has no kernel",
            start,
            help="a kernel is written `kernel name(x: f32[N]) -> f32[N] { return x }`",
        )
    programs = tuple(p for kernel in kernels for p in check_instances(scope, kernel, bag))
    check_uncalled(scope, bag)
    return programs
