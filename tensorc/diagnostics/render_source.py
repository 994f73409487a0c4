"""Lay out source lines with marks under them, in terminal columns.

A tab reaches to the next multiple of four columns, wide characters take two, combining ones none, and
control characters show as their pictures. A long line is cut to a window around what is marked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from tensorc.source import Source, Span

TAB = 4
WIDEST = 140  # columns of source text that are shown of one line
SHOWN_LINES = 4  # a span of more lines shows its first two and its last two


@dataclass(frozen=True, slots=True)
class Mark:
    """A span to mark, with the text that stands at its end; `primary` marks with carets."""

    span: Span
    text: str
    primary: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One printed row: `number` is a line number or None; `role` says how to colour `text`."""

    number: int | None
    text: str
    role: str  # "source", "primary", "secondary" or "gap"


@dataclass(frozen=True, slots=True)
class _Segment:
    """The part of a mark in one line, in columns counted from 0; `text` only in its last line."""

    line: int
    start: int
    end: int
    text: str
    primary: bool


@dataclass(frozen=True, slots=True)
class _Layout:
    """A source line as shown. `columns[i]` is where character i begins; one more entry for the end."""

    text: str
    columns: tuple[int, ...]


def layout_marks(source: Source, marks: Sequence[Mark]) -> tuple[Row, ...]:
    """The rows for the lines of `source` that `marks` touch, in order, with gaps between them."""
    layouts: dict[int, _Layout] = {}
    segments: list[_Segment] = []
    for mark in marks:
        for number in _shown_lines(mark.span):
            layout = layouts.setdefault(number, _lay_out(source.line(number)))
            segments.append(_segment(mark, number, layout))
    rows: list[Row] = []
    previous: int | None = None
    for number in sorted(layouts):
        if previous is not None and number == previous + 2:
            rows.append(Row(previous + 1, _lay_out(source.line(previous + 1)).text[:WIDEST], "source"))
        elif previous is not None and number > previous + 2:
            rows.append(Row(None, "...", "gap"))
        rows.extend(_line_rows(number, layouts[number], [s for s in segments if s.line == number]))
        previous = number
    return tuple(rows)


def _shown_lines(span: Span) -> tuple[int, ...]:
    first, last = span.line, span.end_line
    if last - first < SHOWN_LINES:
        return tuple(range(first, last + 1))
    return (first, first + 1, last - 1, last)


def _lay_out(line: str) -> _Layout:
    shown: list[str] = []
    columns = [0]
    for character in line:
        if character == "\t":
            text = " " * (TAB - columns[-1] % TAB)
            width = len(text)
        else:
            text, width = _shown(character), _width(character)
        shown.append(text)
        columns.append(columns[-1] + width)
    return _Layout("".join(shown), tuple(columns))


def _shown(character: str) -> str:
    """Control characters as their Unicode pictures; direction marks, which reorder a line, as `?`."""
    if ord(character) < 32:
        return chr(0x2400 + ord(character))
    if character == "\x7f":
        return "\u2421"
    category = unicodedata.category(character)
    return "\ufffd" if category in ("Cc", "Cf", "Cs", "Zl", "Zp") else character


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _segment(mark: Mark, number: int, layout: _Layout) -> _Segment:
    source = mark.span.source
    offset = source.line_starts[number - 1]
    size = len(layout.columns) - 1
    first, last = number == mark.span.line, number == mark.span.end_line
    line = source.line(number)
    start = mark.span.start - offset if first else len(line) - len(line.lstrip())
    end = mark.span.end - offset if last else size
    begin = layout.columns[min(start, size)]
    stop = max(layout.columns[min(max(end, start), size)], begin + 1)
    return _Segment(number, begin, stop, mark.text if last else "", mark.primary)


def _line_rows(number: int, layout: _Layout, segments: list[_Segment]) -> list[Row]:
    text, segments = _cut(layout, segments)
    rows = [Row(number, text.rstrip(), "source")]
    # overlapping marks get rows of their own; the primary mark stands nearest to the line
    waiting = sorted(segments, key=lambda s: (not s.primary, s.start))
    while waiting:
        together: list[_Segment] = []
        for segment in waiting:
            if all(segment.end <= s.start or s.end <= segment.start for s in together):
                together.append(segment)
        rows.extend(_mark_rows(sorted(together, key=lambda s: s.start)))
        waiting = [s for s in waiting if s not in together]
    return rows


def _cut(layout: _Layout, segments: list[_Segment]) -> tuple[str, list[_Segment]]:
    """Cut a long line to a window in which the first primary mark (else the first mark) begins."""
    width = layout.columns[-1]
    if width <= WIDEST:
        return layout.text, segments
    leading = min(segments, key=lambda s: (not s.primary, s.start))
    start = max(0, min(leading.start - WIDEST // 3, width - WIDEST))
    # the row's text holds one character per column except where characters are wide or combining
    first = next(i for i, column in enumerate(layout.columns) if column >= start)
    last = max(i for i, column in enumerate(layout.columns) if column <= start + WIDEST)
    expanded = _pieces(layout)
    text = ("…" if first else "") + "".join(expanded[first:last])
    text += "…" if last < len(expanded) else ""
    shift = layout.columns[first] - (1 if first else 0)
    limit = layout.columns[last] - shift
    moved = []
    for s in segments:
        begin = min(max(s.start - shift, 0), limit)
        moved.append(_Segment(s.line, begin, max(min(s.end - shift, limit), begin + 1), s.text, s.primary))
    return text, moved


def _pieces(layout: _Layout) -> list[str]:
    """What each character of the line shows as."""
    pieces: list[str] = []
    at = 0
    for begin, end in zip(layout.columns, layout.columns[1:], strict=False):
        # only a tab shows as more than one character
        size = end - begin if layout.text[at : at + 1] == " " else 1
        pieces.append(layout.text[at : at + size])
        at += size
    return pieces


def _mark_rows(segments: list[_Segment]) -> list[Row]:
    """The row of carets and dashes for segments that do not overlap, and the rows of their texts."""
    role = "primary" if any(s.primary for s in segments) else "secondary"
    underline = ""
    for s in segments:
        underline = underline.ljust(s.start) + ("^" if s.primary else "-") * (s.end - s.start)
    if segments[-1].text:
        underline += f" {segments[-1].text}"
    rows = [Row(None, underline, role)]
    hanging = [s for s in segments[:-1] if s.text]
    if hanging:
        rows.append(Row(None, _bars(hanging), role))
    while hanging:
        segment = hanging.pop()
        rows.append(Row(None, _bars(hanging).ljust(segment.start) + segment.text, role))
    return rows


def _bars(segments: list[_Segment]) -> str:
    text = ""
    for s in segments:
        text = text.ljust(s.start) + "|"
    return text
