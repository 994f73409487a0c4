"""Errors of the compiler itself, apart from the user's (`diagnostics.model.CompileError`)."""

from __future__ import annotations


class InternalError(Exception):
    """The compiler is at fault: a stage gave the next one something that cannot be."""

    exit_status = 70


class IRError(InternalError):
    """A program breaks a rule of its IR; `where` names the operation or node."""

    def __init__(self, where: str, problem: str) -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{where}: {problem}")
