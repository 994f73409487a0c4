"""What a message is: a code, a headline, a place, and what would mend it.

Codes: TC01 syntax, 02 names, 03 dtypes, 04 shapes, 05 limits, 06 toolchain, 07 calls,
08 command line, 09 internal, 20-21 fusion reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tensorc.source import Span


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that helps to understand the first ("first assigned here")."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message. `label` stands under the carets (expected / found); only `help` proposes."""

    code: str
    message: str
    span: Span | None
    severity: Severity = Severity.ERROR
    label: str = ""
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""


class CompileError(Exception):
    """The program (or the request to compile it) has errors; `diagnostics` lists all of them."""

    exit_status = 1

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(_one_line(d) for d in self.diagnostics))


class ToolchainError(CompileError):
    """The C++ compiler is missing or failed."""

    exit_status = 3


def _one_line(d: Diagnostic) -> str:
    place = f"{d.span}: " if d.span is not None else ""
    return f"{place}{d.severity}[{d.code}]: {d.message}"


class DiagnosticBag:
    """Collects the messages of one run, so that one run reports all of them."""

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []

    def add(self, diagnostic: Diagnostic) -> None:
        if diagnostic not in self._items:
            self._items.append(diagnostic)

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        secondary: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: str = "",
    ) -> None:
        self.add(Diagnostic(code, message, span, Severity.ERROR, label, secondary, notes, help))

    def warning(self, code: str, message: str, span: Span | None, *, label: str = "", help: str = "") -> None:
        self.add(Diagnostic(code, message, span, Severity.WARNING, label, help=help))

    @property
    def items(self) -> tuple[Diagnostic, ...]:
        return tuple(self._items)

    @property
    def has_errors(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self._items)

    def raise_if_errors(self) -> None:
        """Raise `CompileError` with everything collected, if any of it is an error."""
        if self.has_errors:
            raise CompileError(self._items)
