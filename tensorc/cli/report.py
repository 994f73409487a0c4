"""Tells the user what went wrong, in the format asked for; an internal error also as a file."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tensorc import __version__

if TYPE_CHECKING:
    from tensorc.diagnostics.model import Diagnostic

FORMATS = ("human", "short", "json")


@dataclass(slots=True)
class Reporter:
    """How messages are printed; the options of a command fill it in before anything can fail."""

    format: str = "human"
    color: str = "auto"

    def wants_color(self) -> bool:
        if self.color != "auto":
            return self.color == "always"
        return sys.stderr.isatty() and not os.environ.get("NO_COLOR")

    def show(self, diagnostics: Sequence[Diagnostic]) -> None:
        """Print messages: JSON on standard output, one object a line; the others on standard error."""
        if not diagnostics:
            return
        from tensorc.diagnostics.render import render_human, render_json, render_short

        if self.format == "json":
            sys.stdout.write(render_json(diagnostics))
        elif self.format == "short":
            sys.stderr.write(render_short(diagnostics))
        else:
            sys.stderr.write(render_human(diagnostics, self.wants_color()))


def write_report(error: BaseException, argv: Sequence[str]) -> str:
    """Save what is needed to find an internal error; returns the file's path.

    Raises:
        OSError: there is no place to write to.
    """
    handle, path = tempfile.mkstemp(prefix="tensorc-report-", suffix=".txt")
    lines = [
        f"tensorc {__version__}",
        f"Python {sys.version}",
        f"{platform.platform()} {platform.machine()}",
        f"command: tensorc {' '.join(argv)}",
        "",
        "".join(traceback.format_exception(error)),
        *_program_texts(argv),
    ]
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as f:
        f.write("\n".join(lines))
    return path


def _program_texts(argv: Sequence[str]) -> list[str]:
    found: list[str] = []
    for word in argv:
        if word.endswith(".tdsl") and os.path.isfile(word):
            with open(word, encoding="utf-8", errors="backslashreplace") as f:
                found.extend((f"===== {word}", f.read()))
    return found
