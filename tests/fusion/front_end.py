"""From a .tdsl file of `programs/` to a FusedProgram."""

from __future__ import annotations

from pathlib import Path

from tensorc.diagnostics.model import DiagnosticBag
from tensorc.lowering.lower import lower_program
from tensorc.scheduler.program import FusedProgram
from tensorc.scheduler.schedule import schedule_program
from tensorc.sema.check import check_file
from tensorc.source import Source
from tensorc.syntax.parser import parse_file
from tensorc.tensor_ir.simplify import simplify_program
from tensorc.tensor_ir.widen import widen_program

PROGRAMS = Path(__file__).parent / "programs"


def fuse_file(name: str, policy: str) -> FusedProgram:
    """The only kernel of `programs/NAME.tdsl`, scheduled under `policy`.

    Raises:
        CompileError: the front end refuses the file.
    """
    path = PROGRAMS / f"{name}.tdsl"
    return fuse_text(path.name, path.read_text(encoding="utf-8"), policy)


def fuse_text(name: str, text: str, policy: str) -> FusedProgram:
    """As `fuse_file`, from a text."""
    bag = DiagnosticBag()
    file = parse_file(Source(name, text), bag)
    bag.raise_if_errors()
    programs = check_file(file, bag)
    bag.raise_if_errors()
    (program,) = programs
    return schedule_program(lower_program(simplify_program(widen_program(program)), policy), policy)
