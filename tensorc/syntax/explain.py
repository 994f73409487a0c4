"""Turn an error of the parser into a message in the words of the language.

Brackets come first (a missing one makes everything behind it look wrong), then the table of slips,
then characters that no token begins with, then what was expected and what was found.
"""

from __future__ import annotations

import re
from string import Template

import lark

from tensorc.diagnostics.model import Diagnostic, Label
from tensorc.source import Source, Span
from tensorc.syntax.place import CLOSER, ITEM_WORDS, Place, closing_offset, locate
from tensorc.syntax.slips import LOOK_ALIKES, SLIPS, Slip

_STATEMENT = re.compile(r"(?:return|iterate)\b|[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*\s*(?::[^=\n]*)?=(?!=)")
_EXPRESSION = ("NAME", "INT", "FLOAT", "true", "True", "false", "False", "None", "(", "-", "+", "~", "not")
_OPERATORS = (
    *("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "CMP", "and", "or"),
    *("(", "[", "."),
)
_ORDER = (
    *("NAME", "INT", "STRING", "_NL", "end"),
    *(":", "=", ",", "->", "(", ")", "[", "]", "{", "}", ";", "|", "~", "for", "in", "with", "requires"),
)
_WORDS = {
    "NAME": "a name",
    "INT": "an integer",
    "FLOAT": "a number",
    "STRING": 'a string in `"`',
    "CMP": "a comparison",
    "_NL": "the end of the line",
    "$END": "the end of the file",
}


def explain_error(
    source: Source, text: str, start: int, end: int, error: lark.UnexpectedInput, parser: lark.Lark
) -> Diagnostic:
    """The diagnostic for `error`, which stopped the parse of `text[start:end]`."""
    place = locate(text, start, end, error, parser)
    return (
        _explain_bracket(source, text, end, place)
        or _explain_slip(source, place)
        or _explain_character(source, place)
        or _explain_token(source, place)
    )


def _span(source: Source, start: int, end: int) -> Span:
    size = len(source.text)
    return Span(source, min(start, size), min(end, size))


# -- brackets --------------------------------------------------------------------------------------


def _explain_bracket(source: Source, text: str, end: int, place: Place) -> Diagnostic | None:
    """A bracket that is never closed, closes nothing or closes another kind."""
    if not place.openers:
        if place.kind in CLOSER.values():
            return Diagnostic(
                "TC0104",
                f"`{place.kind}` closes nothing",
                _span(source, place.start, place.end),
                label="no bracket is open here",
            )
        return None
    opener = place.openers[-1]
    bracket = text[opener]
    if _is_reserved_inside(text, end, opener, place):
        return None
    if place.kind in CLOSER.values() and place.kind != CLOSER[bracket] and place.kind != "}":
        return _explain_mismatch(source, place, bracket, opener)
    ends_here = place.kind in ("end", "}", "{", "return", "iterate", *ITEM_WORDS)
    if bracket == "{":
        unclosed = ends_here and closing_offset(text, opener, end) is None
    else:
        unclosed = place.kind != CLOSER[bracket] and (ends_here or _breaks_off(text, end, opener, place))
    return _explain_unclosed(source, place, bracket, opener) if unclosed else None


def _is_reserved_inside(text: str, end: int, opener: int, place: Place) -> bool:
    """True for a reserved word inside of a line and of closed brackets: it was meant as a name."""
    inside = text[opener] != "{" and closing_offset(text, opener, end) is not None
    return inside and place.kind in ("return", "iterate", *ITEM_WORDS) and not _is_first_on_line(place)


def _is_first_on_line(place: Place) -> bool:
    return "\n" in place.before[len(place.before.rstrip()) :]


def _breaks_off(text: str, end: int, opener: int, place: Place) -> bool:
    """True when a bracket that is never closed was left open before the line of `place`."""
    first_on_line = _is_first_on_line(place)
    if closing_offset(text, opener, end) is not None:
        begins = place.kind in ("NAME", "return", "iterate") and _STATEMENT.match(place.after) is not None
        return first_on_line and begins and "=" not in place.accepts
    return first_on_line or place.kind == "->"


def _explain_mismatch(source: Source, place: Place, bracket: str, opener: int) -> Diagnostic:
    opened = Label(_span(source, opener, opener + 1), f"this `{bracket}` is open")
    span = _span(source, place.start, place.end)
    if bracket == "{":
        return Diagnostic(
            "TC0104", f"`{place.kind}` closes nothing", span, label="no bracket of its kind is open here"
        )
    message = f"`{bracket}` is closed by `{place.kind}`"
    return Diagnostic("TC0104", message, span, label=f"expected `{CLOSER[bracket]}`", secondary=(opened,))


def _explain_unclosed(source: Source, place: Place, bracket: str, opener: int) -> Diagnostic:
    span = _span(source, opener, opener + 1)
    closer = CLOSER[bracket]
    if place.kind == "end":
        stopped = Label(_span(source, place.start, place.end), f"`{closer}` is missing by here")
    else:
        found = _found(place)
        stopped = Label(_span(source, place.start, place.end), f"{found} comes before the `{closer}`")
    if bracket == "{":
        return Diagnostic(
            "TC0105", "this block is never closed", span, label="opened here", secondary=(stopped,)
        )
    return Diagnostic(
        "TC0103", f"this `{bracket}` is never closed", span, label="opened here", secondary=(stopped,)
    )


# -- the table of slips ----------------------------------------------------------------------------


def _explain_slip(source: Source, place: Place) -> Diagnostic | None:
    for slip in SLIPS:
        matched = _match(slip, place)
        if matched is None:
            continue
        start, end, groups = matched
        return Diagnostic(
            slip.code,
            Template(slip.message).substitute(groups),
            _span(source, start, end),
            label=Template(slip.label).substitute(groups),
            help=Template(slip.help).substitute(groups),
        )
    return None


def _match(slip: Slip, place: Place) -> tuple[int, int, dict[str, str]] | None:
    """The range to mark and the words the slip's texts may use, when the slip is the one made."""
    if slip.section and place.section not in slip.section.split():
        return None
    if slip.kind and place.kind not in slip.kind.split():
        return None
    if not place.accepts.issuperset(slip.accepts):
        return None
    gap = "" if slip.adjacent else r"\s*"
    before = re.search(rf"(?:{slip.before}){gap}\Z", place.before)
    after = re.match(slip.after, place.after)
    if before is None or after is None:
        return None
    start, end = place.start, place.start + after.end()
    if not slip.after:
        end = place.end
    offset = place.start - len(place.before)
    if "here" in before.re.groupindex:
        start = offset + before.start("here")
        end = offset + before.end("here") if slip.only_here else end
    groups = {**before.groupdict(), **after.groupdict(), "found": place.found}
    return start, end, {name: value or "" for name, value in groups.items()}


# -- characters and tokens -------------------------------------------------------------------------


def _explain_character(source: Source, place: Place) -> Diagnostic | None:
    if place.kind != "character":
        return None
    span = _span(source, place.start, place.end)
    character = place.found
    if character in LOOK_ALIKES:
        meant = LOOK_ALIKES[character]
        help = f"write {f'`{meant}`' if meant.strip() else 'an ordinary space'}"
        return Diagnostic("TC0102", f"`{_visible(character)}` is not part of the language", span, help=help)
    if character.isalpha():
        return Diagnostic(
            "TC0102",
            f"`{character}` cannot stand in a name",
            span,
            help="names consist of the letters a-z and A-Z, digits and `_`",
        )
    return Diagnostic("TC0102", f"unexpected character {_visible(character, quoted=True)}", span)


def _visible(character: str, *, quoted: bool = False) -> str:
    """The character as it can be shown: control characters and odd spaces as their number."""
    shown = character if character.isprintable() and not character.isspace() else f"U+{ord(character):04X}"
    return f"`{shown}`" if quoted and shown == character else shown


def _explain_token(source: Source, place: Place) -> Diagnostic:
    match place.kind:
        case "end" if not place.after.strip():
            message = "the file ends too early"
        case "end" | "_NL":
            message = "the line ends too early"
        case _:
            message = f"{_found(place)} cannot stand here"
    label = f"expected {_expected(place)}"
    return Diagnostic("TC0101", message, _span(source, place.start, place.end), label=label)


def _expected(place: Place) -> str:
    """What could stand at the place, in words: kinds of things rather than every token."""
    accepts = set(place.accepts)
    words: list[str] = []
    if accepts.issuperset(ITEM_WORDS):
        return "`kernel`, `def`, `const`, `dims` or `import`"
    if "return" in accepts:
        return "a statement or `}`" if "}" in accepts else "a statement"
    # a line may end where a statement may; elsewhere a newline is only allowed, not expected
    accepts.discard(";" if ";" in accepts else "_NL")
    if accepts.issuperset(("NAME", "INT", "(", "-")):
        words.append("an expression")
        accepts.difference_update(_EXPRESSION, (":", "..."))
    if accepts.issuperset(("+", "*", "CMP", "and")):
        accepts.difference_update(_OPERATORS)
        words.extend((*_listed(accepts), "an operator"))
    else:
        words.extend(_listed(accepts))
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _listed(accepts: set[str]) -> list[str]:
    ordered = sorted(accepts, key=lambda a: (_ORDER.index(a) if a in _ORDER else len(_ORDER), a))
    return [_WORDS.get(word, f"`{word}`") for word in ordered]


def _found(place: Place) -> str:
    match place.kind:
        case "NAME":
            return f"the name `{place.found}`"
        case "INT" | "FLOAT":
            return f"the number `{place.found}`"
        case "STRING":
            return f"the string `{place.found}`"
        case word if word.isalpha() and word != "CMP":
            return f"the reserved word `{place.found}`"
        case _:
            return f"`{place.found}`"
