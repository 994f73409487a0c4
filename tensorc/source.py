"""Source texts and spans: where every token, node and message comes from.

A `Span` is a half-open range of character offsets in one `Source`. A span that reached its place
through an inlined `def` keeps the call sites in `via`, innermost call first; they have no `via` of their own.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One text: `name` is what messages print (a path as the user gave it, or `<stdin>`).

    `path` is the real path of the file, None for a text that is no file; `standard` marks what ships
    with tensorc.
    """

    name: str
    text: str
    path: str | None = None
    standard: bool = False
    line_starts: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts = [0]
        starts.extend(i + 1 for i, c in enumerate(self.text) if c == "\n")
        object.__setattr__(self, "line_starts", tuple(starts))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (counted from 1) without its line end."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (exclusive) of `source`."""

    source: Source
    start: int
    end: int
    via: tuple[Span, ...] = ()

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def end_line(self) -> int:
        return self.source.position(max(self.start, self.end - 1))[0]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """The range from the start of this span to the end of `other`."""
        return Span(self.source, self.start, max(self.end, other.end), self.via)

    def called_from(self, call: Span) -> Span:
        """The same place, reached through the call of a `def` at `call`."""
        return Span(self.source, self.start, self.end, (*self.via, replace(call, via=()), *call.via))

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"
