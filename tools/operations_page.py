"""Write docs/operations.md: the operations and operators of the language, from the tables the compiler reads.

python tools/operations_page.py            rewrite the page
python tools/operations_page.py --check    exit with 1 when the page is out of date
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from array_api import LEFT_OUT, SPELT, STANDARD

from tensorc.operators import OPERATORS, Operator, Typing
from tensorc.sema.operations import LATER, OPERATIONS, Operation

PAGE = Path(__file__).resolve().parent.parent / "docs" / "operations.md"
CONSTANTS = frozenset({"e", "inf", "nan", "pi"})
KINDS = {"b": "bool", "i": "integers", "f": "floats"}
TYPINGS = {
    Typing.SAME: "the operands' common type",
    Typing.FLOAT: "a float; integers become the narrowest that holds them first, as in NumPy",
    Typing.QUOTIENT: "a float; integers become f64 first, as in NumPy",
    Typing.COMPARE: "bool",
    Typing.LOGICAL: "bool",
    Typing.BITS: "the operands' common type",
    Typing.PREDICATE: "bool",
    Typing.WHERE: "the common type of x1 and x2",
}
HEAD = """\
# Operations

Made by `python tools/operations_page.py` from the tables that the compiler itself reads; a test holds the two
together. What each means in the corners is in [language.md](language.md), how exact it is in
[numerics.md](numerics.md).
"""


def page() -> str:
    return "\n".join((HEAD, *_operators(), *_groups(), *_standard()))


def _operators() -> Iterator[str]:
    yield "## Operators\n"
    yield "| spelt | operation | of | gives |\n|---|---|---|---|"
    for row in OPERATORS.values():
        if row.symbol:
            spelt = row.symbol.replace("|", "\\|")
            yield f"| `{spelt}` | {row.name} | {_kinds(row)} | {TYPINGS[row.typing]} |"
    yield "| `@` | matmul | integers, floats | the operands' common type |"
    yield ""


def _kinds(row: Operator) -> str:
    domain = "bif" if row.typing in (Typing.FLOAT, Typing.QUOTIENT) else row.domain
    return ", ".join(KINDS[kind] for kind in "bif" if kind in domain)


def _groups() -> Iterator[str]:
    groups = dict.fromkeys(row.group for row in OPERATIONS.values())
    for group in groups:
        yield f"## {group.capitalize()}\n"
        yield (
            "| operation | meaning | of | gives |\n|---|---|---|---|"
            if group == "elementwise"
            else ("| operation | meaning |\n|---|---|")
        )
        for row in OPERATIONS.values():
            if row.group == group:
                yield _row(row, typed=group == "elementwise")
        yield ""


def _row(row: Operation, typed: bool) -> str:
    named = f"`{signature(row)}` | {row.summary}".replace("||", "\\|\\|")
    operator = OPERATORS.get(row.name)
    if not typed:
        return f"| {named} |"
    if operator is None:
        return f"| {named} | | |"
    return f"| {named} | {_kinds(operator)} | {TYPINGS[operator.typing]} |"


def signature(row: Operation) -> str:
    """`sum(x, *, axis, keepdims)`: in brackets what may be left out, behind `*` what is given by name."""
    given = [*row.required, *(["x1", "..."] if row.variadic else [])]
    given += [f"[{name}]" for name in row.optional]
    if row.keyword_only:
        given += ["*", *row.keyword_only]
    return f"{row.name}({', '.join(given)})"


def _standard() -> Iterator[str]:
    total = sum(len(names) for names in STANDARD.values())
    own = [n for names in STANDARD.values() for n in names if n in OPERATIONS or n in CONSTANTS]
    yield "## Beside the array API standard 2025.12\n"
    yield f"Of its {total} functions and constants {len(own)} are there under their own name,"
    yield f"{len(SPELT)} have another spelling, and {len(LEFT_OUT)} are left out. The extensions"
    yield "(`linalg`, `fft`) are not part of the language.\n"
    yield "| section | by name | spelt differently | left out |\n|---|---|---|---|"
    for section, names in STANDARD.items():
        there = " ".join(n for n in names if n in OPERATIONS or n in CONSTANTS)
        spelt = ", ".join(f"{n}: `{SPELT[n]}`".replace("|", "\\|") for n in names if n in SPELT)
        out = "; ".join(f"{n} ({LEFT_OUT[n]})" for n in names if n in LEFT_OUT)
        yield f"| {section} | {there} | {spelt} | {out} |"
    more = sorted(OPERATIONS.keys() - {n for names in STANDARD.values() for n in names})
    yield f"\nBeyond the standard: {' '.join(more)}."
    yield f"Of a later version, parsed and refused by name: {' '.join(sorted(LATER))}.\n"


def main() -> int:
    text = page()
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") == text:
            return 0
        print("docs/operations.md is out of date: python tools/operations_page.py", file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
