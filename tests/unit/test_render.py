"""Diagnostics as they are printed: the layout of marks, and the two forms for tools."""

import json

import pytest

from tensorc.diagnostics.model import Diagnostic, Label, Severity
from tensorc.diagnostics.render import render_human, render_json, render_short
from tensorc.source import Source, Span

SOURCE = Source(
    "a.tdsl",
    """\
kernel bad(a: f32[3], b: f32[4]) -> f32[3] {
\tz = a + b
    # 名前 stands in a comment, z = a + g(
    w = a + g(
        b,

        a,
        b)
    return z
}
""",
)
LIBRARY = Source("std/nn.tdsl", "def g(x, y) = x + y\n")


def span(text: str, source: Source = SOURCE, via: tuple[Span, ...] = ()) -> Span:
    start = source.text.index(text)
    return Span(source, start, start + len(text), via)


def printed(*diagnostics: Diagnostic) -> str:
    return render_human(diagnostics, color=False)


def test_labels_notes_and_help() -> None:
    found = Diagnostic(
        "TC0401",
        "the shapes f32[3] and f32[4] do not broadcast",
        span("a + b"),
        label="3 against 4",
        secondary=(Label(span("a: f32[3]"), "`a` is here"), Label(span("b: f32[4]"), "`b` is here")),
        notes=("sizes are compared from the last axis\nto the first",),
        help="slice one of them",
    )
    assert (
        printed(found)
        == """\
error[TC0401]: the shapes f32[3] and f32[4] do not broadcast
 --> a.tdsl:2:6
  |
1 | kernel bad(a: f32[3], b: f32[4]) -> f32[3] {
  |            ---------  --------- `b` is here
  |            |
  |            `a` is here
2 |     z = a + b
  |         ^^^^^ 3 against 4
  |
  = note: sizes are compared from the last axis
          to the first
  = help: slice one of them

"""
    )


def test_wide_characters_take_two_columns() -> None:
    assert (
        printed(Diagnostic("TC0101", "wide", span("z = a + g("), label="here"))
        == """\
error[TC0101]: wide
 --> a.tdsl:3:31
  |
3 |     # 名前 stands in a comment, z = a + g(
  |                                 ^^^^^^^^^^ here

"""
    )


def test_a_tab_reaches_to_the_next_stop() -> None:
    source = Source("t", "ab\tc\td\n")
    assert printed(Diagnostic("TC0101", "tab", Span(source, 3, 6))).splitlines()[3:] == [
        "1 | ab  c   d",
        "  |     ^^^^^",
        "",
    ]


def test_combining_and_control_characters() -> None:
    source = Source("t", "e\u0301 \0 \u202e x\n")
    assert printed(Diagnostic("TC0102", "odd", span("x", source))).splitlines()[3:] == [
        "1 | e\u0301 \u2400 \ufffd x",
        "  |       ^",
        "",
    ]


def test_a_span_of_a_few_lines_shows_them_all() -> None:
    call = "g(\n        b,\n\n        a,\n        b)"
    source = Source("t", "w = g(\n    b)\n")
    assert printed(Diagnostic("TC0204", "two", Span(source, 4, 13), label="2 arguments")).splitlines()[
        3:
    ] == [
        "1 | w = g(",
        "  |     ^^",
        "2 |     b)",
        "  |     ^^ 2 arguments",
        "",
    ]
    assert (
        printed(Diagnostic("TC0204", "many", span(call), label="3 arguments"))
        == """\
error[TC0204]: many
 --> a.tdsl:4:13
  |
4 |     w = a + g(
  |             ^^
5 |         b,
  |         ^^
6 |
7 |         a,
  |         ^^
8 |         b)
  |         ^^ 3 arguments

"""
    )


def test_lines_between_are_left_out() -> None:
    found = Diagnostic("TC0202", "twice", span("return z"), secondary=(Label(span("a + b"), "first"),))
    assert printed(found).splitlines()[3:] == [
        "2 |     z = a + b",
        "  |         ----- first",
        "...",
        "9 |     return z",
        "  |     ^^^^^^^^",
        "",
    ]


def test_marks_that_overlap_stand_below_one_another() -> None:
    found = Diagnostic(
        "TC0301",
        "overlap",
        span("a + b"),
        label="the sum",
        secondary=(Label(Span(SOURCE, 50, 51), "left"), Label(span("z"), "target")),
    )
    assert printed(found).splitlines()[3:] == [
        "2 |     z = a + b",
        "  |     -   ^^^^^ the sum",
        "  |     |",
        "  |     target",
        "  |         - left",
        "",
    ]


def test_calls_that_led_there_and_a_second_file() -> None:
    call = span("g(\n        b,\n\n        a,\n        b)")
    found = Diagnostic(
        "TC0401",
        "via",
        span("x + y", LIBRARY, via=(call,)),
        secondary=(Label(span("a + b"), "used here"),),
    )
    assert (
        printed(found)
        == """\
error[TC0401]: via
 --> std/nn.tdsl:1:15
  |
1 | def g(x, y) = x + y
  |               ^^^^^
 ::: a.tdsl:2:6
  |
2 |     z = a + b
  |         ----- used here
  |
  = note: in the call at a.tdsl:4:13: `g( b, a, b)`

"""
    )


@pytest.mark.parametrize(("count", "notes"), [(7, 7), (8, 7), (2000, 7)])
def test_of_a_long_chain_of_calls_the_ends_are_shown(count: int, notes: int) -> None:
    chain = tuple(span("a + b") for _ in range(count))
    lines = printed(Diagnostic("TC0401", "deep", span("x + y", LIBRARY, via=chain))).splitlines()
    found = [line for line in lines if "= note:" in line]
    assert len(found) == notes
    assert [line for line in found if "calls between" in line] == (
        [f"  = note: ... and {count - 6} calls between"] if count > 7 else []
    )


def test_no_place_and_a_place_at_the_end() -> None:
    assert printed(Diagnostic("TC0801", "there is no file `x`", None, help="check the path")) == (
        "error[TC0801]: there is no file `x`\n  = help: check the path\n\n"
    )
    end = len(SOURCE.text)
    assert printed(Diagnostic("TC0105", "end", Span(SOURCE, end, end), label="here")).splitlines()[1:] == [
        "  --> a.tdsl:11:1",
        "   |",
        "11 |",
        "   | ^ here",
        "",
    ]
    assert printed() == ""


def test_a_long_line_is_cut_to_a_window() -> None:
    source = Source("long", "x = " + " + ".join(f"a{k}" for k in range(3000)) + "\n")
    for name in ("a0", "a1500", "a2999"):
        _, _, _, text, marks, _ = printed(
            Diagnostic("TC0201", "far", span(name, source), label="here")
        ).splitlines()
        assert len(text) < 150
        start = marks.index("^")
        assert text[start : start + len(name)] == name
        assert marks.endswith(" here")


def test_colour_changes_no_text() -> None:
    found = Diagnostic("TC0304", "widens", span("a + b"), Severity.WARNING, "f64", help="cast it")
    coloured = render_human([found], color=True)
    assert coloured != printed(found)
    assert "\x1b[1;33mwarning[TC0304]\x1b[0m" in coloured
    plain = coloured
    while "\x1b" in plain:
        before, _, rest = plain.partition("\x1b[")
        plain = before + rest.partition("m")[2]
    assert plain == printed(found)


def test_short_lines() -> None:
    assert (
        render_short([Diagnostic("TC0401", "a", span("a + b")), Diagnostic("TC0801", "b\nc", None)])
        == "a.tdsl:2:6: error[TC0401]: a\nerror[TC0801]: b c\n"
    )


def test_json_lines() -> None:
    call = span("return z")
    found = Diagnostic(
        "TC0401",
        'a "b"\n',
        span("x + y", LIBRARY, via=(call,)),
        Severity.WARNING,
        "label",
        (Label(span("a + b"), "é"),),
        ("note",),
        "help",
    )
    first, second = render_json([found, Diagnostic("TC0801", "c", None)]).splitlines()
    place = {
        "file": "std/nn.tdsl",
        "line": 1,
        "column": 15,
        "end_line": 1,
        "end_column": 20,
        "start": 14,
        "end": 19,
    }
    record = json.loads(first)
    assert record["span"] == place
    assert record["calls"][0]["line"] == 9
    assert record["secondary"][0]["text"] == "é"
    assert record["secondary"][0]["span"]["file"] == "a.tdsl"
    assert (record["code"], record["severity"], record["message"]) == ("TC0401", "warning", 'a "b"\n')
    assert (record["label"], record["notes"], record["help"]) == ("label", ["note"], "help")
    assert json.loads(second)["span"] is None
