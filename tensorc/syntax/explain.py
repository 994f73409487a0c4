"""Turn an error of the parser into a message in the words of the language."""

from __future__ import annotations

import lark

from tensorc.diagnostics.model import Diagnostic
from tensorc.source import Source, Span


def explain_error(
    source: Source, text: str, start: int, end: int, error: lark.UnexpectedInput, parser: lark.Lark
) -> Diagnostic:
    """The diagnostic for `error`, which stopped the parse of `text[start:end]`."""
    at = min(error.pos_in_stream or start, len(source.text))
    return Diagnostic("TC0101", f"unexpected `{text[at : at + 1]}`", Span(source, at, min(at + 1, len(source.text))))
