"""Print diagnostics: for people, one per line, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tensorc.diagnostics.model import Diagnostic, Severity
from tensorc.diagnostics.render_source import Mark, Row, layout_marks
from tensorc.source import Source, Span

_CALL_WIDTH = 60  # characters of a call that are quoted
_CALLS_AT_AN_END = 3  # of a long chain of calls

_STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "headline": "bold",
    "frame": "bold blue",
    "primary": "bold red",
    "secondary": "bold blue",
    "help": "bold cyan",
}


def render_human(diagnostics: Sequence[Diagnostic], color: bool) -> str:
    """Every diagnostic with its source lines, separated by blank lines; "" when there are none."""
    return "".join(_render_block(d, color) + "\n" for d in diagnostics)


def render_short(diagnostics: Sequence[Diagnostic]) -> str:
    """One line per diagnostic: `file:line:column: error[code]: message`."""
    return "".join(_short_line(d) + "\n" for d in diagnostics)


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    """One JSON object per line. Lines and columns count from 1, offsets (in characters) from 0."""
    return "".join(json.dumps(_record(d), ensure_ascii=False) + "\n" for d in diagnostics)


# -- for people ------------------------------------------------------------------------------------


def _render_block(d: Diagnostic, color: bool) -> str:
    headline = _paint(f"{d.severity}[{d.code}]", d.severity.value, color)
    lines = [headline + _paint(f": {d.message}", "headline", color)]
    groups = _group_by_source(d)
    snippets = [layout_marks(source, marks) for source, marks in groups]
    numbers = [row.number for rows in snippets for row in rows if row.number is not None]
    gutter = len(str(max(numbers, default=0))) if numbers else 1
    for k, ((_, marks), rows) in enumerate(zip(groups, snippets, strict=True)):
        arrow = "-->" if k == 0 else ":::"
        lines.append(_paint(f"{'':{gutter}}{arrow} ", "frame", color) + str(marks[0].span))
        lines.append(_paint(f"{'':{gutter}} |", "frame", color))
        lines.extend(_row_line(row, gutter, color, d.severity) for row in rows)
    trailers = _trailers(d)
    if groups and trailers:
        lines.append(_paint(f"{'':{gutter}} |", "frame", color))
    for kind, text in trailers:
        lines.append(_trailer_line(kind, text, gutter, color))
    return "\n".join(lines) + "\n"


def _group_by_source(d: Diagnostic) -> list[tuple[Source, list[Mark]]]:
    """The marks of each source, the one of the diagnostic first."""
    marks = [] if d.span is None else [Mark(d.span, d.label, True)]
    marks.extend(Mark(label.span, label.text, False) for label in d.secondary)
    groups: list[tuple[Source, list[Mark]]] = []
    for mark in marks:
        known = next((g for source, g in groups if source is mark.span.source), None)
        if known is None:
            groups.append((mark.span.source, [mark]))
        else:
            known.append(mark)
    return groups


def _row_line(row: Row, gutter: int, color: bool, severity: Severity) -> str:
    if row.role == "gap":
        return _paint(row.text, "frame", color)
    number = "" if row.number is None else str(row.number)
    frame = _paint(f"{number:>{gutter}} |", "frame", color)
    if not row.text:
        return frame
    role = severity.value if row.role == "primary" else row.role
    indent = len(row.text) - len(row.text.lstrip())
    return f"{frame} {row.text[:indent]}{_paint(row.text[indent:], role, color)}"


def _trailers(d: Diagnostic) -> list[tuple[str, str]]:
    """What follows the source: the calls that led there, the notes, the help."""
    found = [("note", note) for note in _call_notes(() if d.span is None else d.span.via)]
    found.extend(("note", note) for note in d.notes)
    if d.help:
        found.append(("help", d.help))
    return found


def _call_notes(calls: Sequence[Span]) -> list[str]:
    """One note per call, innermost first; of a long chain the two ends."""
    notes = [f"in the call at {call}: `{_quoted_call(call)}`" for call in calls]
    left_out = len(notes) - 2 * _CALLS_AT_AN_END
    if left_out <= 1:
        return notes
    return [*notes[:_CALLS_AT_AN_END], f"... and {left_out} calls between", *notes[-_CALLS_AT_AN_END:]]


def _quoted_call(call: Span) -> str:
    text = " ".join(call.text.split())
    return text if len(text) <= _CALL_WIDTH else text[: _CALL_WIDTH - 1] + "…"


def _trailer_line(kind: str, text: str, gutter: int, color: bool) -> str:
    frame = _paint(f"{'':{gutter}} =", "frame", color)
    head = _paint(kind, "help" if kind == "help" else "headline", color)
    # further lines of a note stand under its first
    indent = "\n" + " " * (gutter + 5 + len(kind))
    return f"{frame} {head}: {text.replace(chr(10), indent)}"


def _paint(text: str, role: str, color: bool) -> str:
    style = _STYLES.get(role, "")
    if not color or not style or not text:
        return text
    from rich.color import ColorSystem
    from rich.style import Style

    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)


# -- for tools -------------------------------------------------------------------------------------


def _short_line(d: Diagnostic) -> str:
    place = "" if d.span is None else f"{d.span}: "
    return f"{place}{d.severity}[{d.code}]: {' '.join(d.message.split())}"


def _record(d: Diagnostic) -> dict[str, object]:
    return {
        "code": d.code,
        "severity": d.severity.value,
        "message": d.message,
        "span": None if d.span is None else _span_record(d.span),
        "label": d.label,
        "secondary": [{"span": _span_record(s.span), "text": s.text} for s in d.secondary],
        "calls": [] if d.span is None else [_span_record(call) for call in d.span.via],
        "notes": list(d.notes),
        "help": d.help,
    }


def _span_record(span: Span) -> dict[str, object]:
    end_line, end_column = span.source.position(max(span.start, span.end))
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": end_line,
        "end_column": end_column,
        "start": span.start,
        "end": span.end,
    }
