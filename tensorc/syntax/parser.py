"""Parse a source text into its AST, with one error per item that does not parse.

A text that parses as a whole is done. One that does not is cut where items begin, and each piece is
parsed on its own, at its true place: an error costs one item, and every item can report one.
"""

from __future__ import annotations

import lark

from tensorc.diagnostics.model import Diagnostic, DiagnosticBag
from tensorc.source import Source
from tensorc.syntax import ast
from tensorc.syntax.build import Builder
from tensorc.syntax.explain import explain_error
from tensorc.syntax.items import declared_names, split_items
from tensorc.syntax.tables import tdsl_parser


def parse_file(source: Source, bag: DiagnosticBag) -> ast.File:
    """The AST of `source`; syntax errors go into `bag`, and the items that have them are left out."""
    # the grammar ends a statement with a newline; spans are cut back to the text the user wrote
    text = source.text if source.text.endswith("\n") else source.text + "\n"
    builder = Builder(source)
    broken: frozenset[str] = frozenset()
    items, error = _parse_piece(builder, text, 0, len(text))
    if error is not None:
        items, broken = _parse_pieces(builder, text, error)
    for diagnostic in sorted(builder.errors, key=lambda d: d.span.start if d.span else 0):
        bag.add(diagnostic)
    return ast.File(source, items, broken=broken)


def _parse_pieces(
    builder: Builder, text: str, whole: Diagnostic
) -> tuple[tuple[ast.Item, ...], frozenset[str]]:
    """Parse item by item; also the names that the broken ones would declare.

    `whole` is the error of the whole text, for the case that no item has one.
    """
    items: list[ast.Item] = []
    broken: set[str] = set()
    errors: list[Diagnostic] = []
    for start, end in split_items(text):
        parsed, error = _parse_piece(builder, text, start, end)
        items.extend(parsed)
        if error is not None:
            errors.append(error)
            broken |= declared_names(text[start:end])
    builder.errors.extend(errors or [whole])
    return tuple(items), frozenset(broken)


def _parse_piece(
    builder: Builder, text: str, start: int, end: int
) -> tuple[tuple[ast.Item, ...], Diagnostic | None]:
    """The items in `text[start:end]`, or none and the reason."""
    parser = tdsl_parser()
    try:
        tree = parser.parse(lark.TextSlice(text, start, end))
    except lark.UnexpectedInput as error:
        return (), explain_error(builder.source, text, start, end, error, parser)
    return builder.build_items(tree), None
