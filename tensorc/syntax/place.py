"""Where a parse stopped: what stands around the place, in a form that rules can be matched against."""

from __future__ import annotations

import re
from dataclasses import dataclass

import lark

CLOSER = {"(": ")", "[": "]", "{": "}"}
ITEM_WORDS = ("kernel", "def", "dims", "const", "import")
_SCAN = re.compile(r'"[^"\n]*"|#[^\n]*|[()\[\]{}]|\b(?:kernel|def|dims|const|import)\b')
_CONTEXT = 600  # characters of context a rule sees: enough for a header, small enough for any regex


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a syntax error.

    `kind` is a terminal's text (`(`, `kernel`) or name (NAME, INT, FLOAT, STRING, CMP, _NL), or
    `character`, or `end`; `accepts` holds what could have stood there, in the same words. `section` is
    the item whose head the place is in, `block` inside braces, `file` between items. `openers` are the
    offsets of the brackets open there, outermost first. `before` ends where `after` starts; comments
    are blanked in it.
    """

    start: int
    end: int
    kind: str
    accepts: frozenset[str]
    section: str
    openers: tuple[int, ...]
    before: str
    after: str

    @property
    def found(self) -> str:
        return self.after[: self.end - self.start]


def locate(text: str, start: int, end: int, error: lark.UnexpectedInput, parser: lark.Lark) -> Place:
    """The place where the parse of `text[start:end]` stopped."""
    words = {t.name: _word(t) for t in parser.terminals}
    accepts: frozenset[str] = frozenset()
    if isinstance(error, lark.UnexpectedToken):
        kind = "end" if error.token.type == "$END" else words[error.token.type]
        accepts = frozenset(words.get(name, name) for name in error.accepts or ())
        size = len(error.token)
        at = error.token.start_pos or start
    else:
        kind, size, at = "character", 1, error.pos_in_stream or start
    if kind == "end":
        at = end
    section, openers, blanked = _scan(text, start, at)
    if kind in ("end", "_NL"):
        # point behind the last word, not at a line end that may stand behind a comment
        at = start + len(blanked.rstrip())
        blanked, size = blanked.rstrip(), 0
    return Place(
        at, at + size, kind, accepts, section, openers, blanked[-_CONTEXT:], text[at : end + 1][:_CONTEXT]
    )


def _word(terminal: lark.lexer.TerminalDef) -> str:
    return terminal.pattern.value if terminal.pattern.type == "str" else terminal.name


def _scan(text: str, start: int, at: int) -> tuple[str, tuple[int, ...], str]:
    """The section at `at`, the brackets open there, and the text of its item so far, uncommented."""
    stack: list[int] = []
    section = "file"
    pieces: list[str] = []
    done = start
    for match in _SCAN.finditer(text, start, at):
        found = match.group()
        if found.startswith("#"):
            pieces += (text[done : match.start()], " " * len(found))
            done = match.end()
        elif found in CLOSER:
            stack.append(match.start())
            section = "block" if found == "{" else section
        elif found in CLOSER.values():
            if stack and CLOSER[text[stack[-1]]] == found:
                stack.pop()
            section = "file" if found == "}" and not stack else section
        elif found in ITEM_WORDS and not stack:
            section = found
    pieces.append(text[done:at])
    return section, tuple(stack), "".join(pieces)


def closing_offset(text: str, opener: int, end: int) -> int | None:
    """Where the bracket at `opener` is closed, or None: at the end, or where another kind closes."""
    expected = [CLOSER[text[opener]]]
    for match in _SCAN.finditer(text, opener + 1, end):
        found = match.group()
        if found in CLOSER:
            expected.append(CLOSER[found])
        elif found in CLOSER.values():
            if expected.pop() != found:
                return None
            if not expected:
                return match.start()
    return None
