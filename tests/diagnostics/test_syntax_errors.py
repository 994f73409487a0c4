"""Syntax errors: every slip of the table, brackets, what was expected, and several errors in one run."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorc.diagnostics.catalogue import CATALOGUE
from tensorc.diagnostics.model import Diagnostic, DiagnosticBag
from tensorc.source import Source
from tensorc.syntax import ast, explain
from tensorc.syntax.items import split_items
from tensorc.syntax.parser import parse_file
from tensorc.syntax.slips import LOOK_ALIKES, SLIPS, Slip


def errors_of(text: str) -> tuple[Diagnostic, ...]:
    bag = DiagnosticBag()
    parse_file(Source("test.tdsl", text), bag)
    return bag.items


def only_error(marked: str) -> Diagnostic:
    """The one error of the text, which stands exactly where « and » are."""
    start, end = marked.index("«"), marked.index("»") - 1
    found = errors_of(marked.replace("«", "").replace("»", ""))
    assert len(found) == 1, [d.message for d in found]
    assert found[0].span is not None
    assert (found[0].span.start, found[0].span.end) == (start, end), found[0].message
    return found[0]


def block(statements: str) -> str:
    return f"kernel f(x: f32[N]) -> f32[N] {{\n{statements}\n}}\n"


EXACT = {
    "«let» z = x + y": ("an assignment needs no `let`", "write `z = …`"),
    "x «+=» y": ("`+=` is not an assignment", "a name is assigned once: give the new value a new name"),
    "kernel f(x «f32[N]»)": ("`:` is missing between the parameter `x` and its type", "write `x: f32[N]`"),
    "kernel f(x: f32[N]) «f32[N]»": ("`->` is missing before the result type", "write `-> f32[N]`"),
    "«retrun» x": ("`retrun` does not begin a statement", "did you mean `return`?"),
    "return «2x»": ("`2x` is neither a number nor a name", "write `2 * x`"),
    "«z[i]» = x[i]": (
        "the ranges of `z[i]` are missing",
        "index notation ends with them: `… for i in N`; "
        "`update(a, part, (…))` gives a changed copy of an array",
    ),
    "mode=«'edge'»": ('a string is written with `"`', 'write `"edge"`'),
}


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.example.replace("\n", " ")[-50:].strip())
def test_slips(slip: Slip) -> None:
    found = only_error(slip.example)
    assert found.code == slip.code
    # the row that was tried is the row that was told: its words stand in the message
    for part in slip.message.replace("${", "$").split("$"):
        assert part.partition("`")[2].strip("` ") in found.message
    if "$" not in slip.message:
        assert (found.message, found.label) == (slip.message, slip.label)
    if "$" not in slip.help:
        assert found.help == slip.help
    assert "$" not in found.message + found.help
    for part, exact in EXACT.items():
        if part in slip.example:
            assert (found.message, found.help) == exact


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.example.replace("\n", " ")[-50:].strip())
def test_no_row_is_idle(slip: Slip, monkeypatch: pytest.MonkeyPatch) -> None:
    text = slip.example.replace("«", "").replace("»", "")
    told = errors_of(text)
    monkeypatch.setattr(explain, "SLIPS", tuple(row for row in SLIPS if row is not slip))
    without = errors_of(text)
    assert [(d.message, d.help, d.span and d.span.text) for d in told] != [
        (d.message, d.help, d.span and d.span.text) for d in without
    ]


def test_the_exact_messages_are_all_of_slips() -> None:
    assert [part for part in EXACT if not any(part in slip.example for slip in SLIPS)] == []


@pytest.mark.parametrize("character", LOOK_ALIKES)
def test_characters_that_look_like_others(character: str) -> None:
    found = only_error(block(f"    return x «{character}» y"))
    assert found.code == "TC0102"
    assert found.help == f"write `{LOOK_ALIKES[character]}`" or found.help == "write an ordinary space"


@pytest.mark.parametrize(
    ("text", "code", "message", "second"),
    [
        (block("    y = f«(»x\n    return y"), "TC0103", "this `(` is never closed", "3:5"),
        (block("    y = f«(»x\n    z = (y)"), "TC0103", "this `(` is never closed", "3:5"),
        (block("    y = x«[»0\n    return y"), "TC0103", "this `[` is never closed", "3:5"),
        (block("    return «(»x"), "TC0103", "this `(` is never closed", "3:1"),
        ("kernel f«(»x: f32[N] -> f32[N] { return x }", "TC0103", "this `(` is never closed", "1:20"),
        ("def f«(»x", "TC0103", "this `(` is never closed", "1:8"),
        (block("    y = f(x«]»"), "TC0104", "`(` is closed by `]`", "2:10"),
        (block("    y = f(x)«)»"), "TC0104", "`)` closes nothing", ""),
        (block("    return x\n}\n«}»"), "TC0104", "`}` closes nothing", ""),
        ("«)»", "TC0104", "`)` closes nothing", ""),
        ("kernel f(x: f32) «{»\n  return x  # the end\n", "TC0105", "this block is never closed", "2:11"),
        (
            "kernel f(x: f32) «{»\n  return x\nkernel g(x: f32) { return x }\n",
            "TC0105",
            "this block is never closed",
            "2:11",
        ),
    ],
)
def test_brackets(text: str, code: str, message: str, second: str) -> None:
    found = only_error(text)
    assert (found.code, found.message) == (code, message)
    assert ["".join(f"{s.span.line}:{s.span.column}" for s in found.secondary)] == [second]


@pytest.mark.parametrize(
    ("text", "message", "label"),
    [
        (block("    return x * «/» y"), "`/` cannot stand here", "expected an expression"),
        (
            block("    return f(x,«,» y)"),
            "`,` cannot stand here",
            'expected an expression, a string in `"` or `)`',
        ),
        (block("    y = f(x«;» y)"), "`;` cannot stand here", "expected `=`, `,`, `)`, `for` or an operator"),
        (block("    return x[«]»"), "`]` cannot stand here", "expected an expression"),
        (block("    a, b «+» 1 = x"), "`+` cannot stand here", "expected `:`, `=` or `,`"),
        ("kernel«»", "the line ends too early", "expected a name"),
        ("const A =«»\n\ndims N ~ 3\n", "the line ends too early", "expected an expression"),
        (
            "@inline\n«def» f(x) = x\n",
            "the reserved word `def` cannot stand here",
            "expected `@` or `kernel`",
        ),
        ("dims N ~ 3 «M»\n", "the name `M` cannot stand here", "expected the end of the line or `,`"),
        ('import "a" «"b"»\n', 'the string `"b"` cannot stand here', "expected the end of the line"),
        (
            "«x»",
            "the name `x` cannot stand here",
            "expected `kernel`, `def`, `const`, `dims` or `import`",
        ),
    ],
)
def test_what_was_expected(text: str, message: str, label: str) -> None:
    found = only_error(text)
    assert (found.code, found.message, found.label) == ("TC0101", message, label)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        (block("    return f(a=1, «x»)"), "TC0117", "a positional argument follows a keyword argument"),
        (block("    return f(x, a=1, «a=2»)"), "TC0118", "the argument `a` is given twice"),
        (block("    return «007» * x"), "TC0112", "the integer `007` starts with 0"),
        (block(f"    return «{'9' * 5000}»"), "TC0112", "an integer of 5000 digits fits no type"),
        (block("    return «é»"), "TC0102", "`é` cannot stand in a name"),
        (block("    return x «\0» y"), "TC0102", "unexpected character U+0000"),
        (block("    return x «$» y"), "TC0102", "unexpected character `$`"),
    ],
)
def test_errors_that_are_no_slips(text: str, code: str, message: str) -> None:
    found = only_error(text)
    assert (found.code, found.message) == (code, message)


MANY = """\
const A =
dims N ~ x
def f(x) = x +
## This one is right.
@inline
kernel good(x: f32[N]) -> f32[N] { return f(x) }
kernel open(x: f32[N]) -> f32[N] {
    return (x
}
kernel second(x f32[N]) -> f32[N] {
    return x
}
kernl third(x: f32[N]) -> f32[N] {
    return x
}
kernel last(x: f32[N]) -> f32[N] {
return x && x
}
"""


def test_every_item_reports_its_error_and_the_others_are_parsed() -> None:
    bag = DiagnosticBag()
    file = parse_file(Source("test.tdsl", MANY), bag)
    places = [(d.code, d.span.line, d.span.column) for d in bag.items if d.span]
    assert places == [
        ("TC0101", 1, 10),
        ("TC0109", 2, 10),
        ("TC0122", 3, 15),
        ("TC0103", 8, 12),
        ("TC0109", 10, 17),
        ("TC0108", 13, 1),
        ("TC0107", 17, 10),
    ]
    (kernel,) = file.items
    assert isinstance(kernel, ast.Kernel)
    assert (kernel.name, kernel.doc) == ("good", "This one is right.")
    assert kernel.span.start == MANY.index("@inline")


def test_doc_comments_and_decorators_stay_with_their_kernel() -> None:
    pieces = [MANY[a:b] for a, b in split_items(MANY)]
    assert "".join(pieces) == MANY
    assert pieces[3].startswith("## This one is right.\n@inline\nkernel good")


def test_a_decorator_in_a_block_that_is_not_indented_begins_no_item() -> None:
    text = "kernel f(x: f32[N]) {\n@inline\n## a comment\ny = x\nreturn y\n}\n"
    assert errors_of(text) == ()
    assert split_items(text) == ((0, len(text)),)


PROGRAM = """\
dims N ~ 8
const A: f64 = 0.5
def g(x, axis=-1) { return sum(x, axis=axis) }
## A kernel.
kernel f(x: f32[N, N], eps: f32 = 1e-5) -> (a: f32[N], b: f32[N]) requires N > 1 {
    y[i] = sum(x[i, k] for k in N) for i in N  # a comment
    iterate t in 3 with y { y = update(y, y[1:] * t, (1:,)) }
    return g(x), y + eps
}
"""
_INSERTED = st.sampled_from(
    [*"()[]{}:;,.=<>!&|^~@#\"'\\$?+-*/%\n\r\t\0é", "if", "for", "kernel ", "0x", "##", "\n}\n"]
)
_edit = st.tuples(st.integers(0, len(PROGRAM)), st.integers(0, 4), st.one_of(st.just(""), _INSERTED))


@settings(max_examples=300, deadline=None)
@given(st.lists(_edit, min_size=1, max_size=4))
def test_a_damaged_program_gives_messages_and_nothing_else(edits: list[tuple[int, int, str]]) -> None:
    text = PROGRAM
    for at, removed, inserted in edits:
        text = text[:at] + inserted + text[at + removed :]
    bag = DiagnosticBag()
    file = parse_file(Source("test.tdsl", text), bag)
    for item in file.items:
        assert 0 <= item.span.start <= item.span.end <= len(text)
    for found in bag.items:
        assert found.code in CATALOGUE
        assert found.span is not None
        assert 0 <= found.span.start <= found.span.end <= len(text)
        assert found.message
        for raw in ("LPAR", "RSQB", "ANON", "$END", "_NL", "CIRCUMFLEX", "Token("):
            assert raw not in f"{found.message} {found.label} {found.help}"
