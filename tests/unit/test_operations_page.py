"""docs/operations.md: in step with the tables, nothing of the standard forgotten, every spelling compiles."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import array_api  # noqa: E402
import operations_page  # noqa: E402

from tensorc.diagnostics.model import DiagnosticBag  # noqa: E402
from tensorc.sema.check import check_file  # noqa: E402
from tensorc.sema.operations import LATER, OPERATIONS  # noqa: E402
from tensorc.source import Source  # noqa: E402
from tensorc.syntax.parser import parse_file  # noqa: E402

HEAD = "kernel f(x: f32[N, M], y: f32[N, M], i: i32[N], j: i32[N], b: bool[N], c: bool[N], v: f32[K])"


def test_the_page_is_what_the_tables_say() -> None:
    assert (ROOT / "docs" / "operations.md").read_text(encoding="utf-8") == operations_page.page()


def test_every_operation_has_a_group_and_a_meaning() -> None:
    assert [row.name for row in OPERATIONS.values() if not row.group or not row.summary] == []


def test_every_function_of_the_standard_is_there_once() -> None:
    names = [name for section in array_api.STANDARD.values() for name in section]
    assert len(names) == len(set(names))
    known = OPERATIONS.keys() | operations_page.CONSTANTS
    for name in names:
        places = (name in known, name in array_api.SPELT, name in array_api.LEFT_OUT)
        assert sum(places) == 1 or name in LATER, (name, places)


@pytest.mark.parametrize("name", array_api.SPELT)
def test_other_spellings_compile(name: str) -> None:
    bag = DiagnosticBag()
    file = parse_file(Source("page.tdsl", f"{HEAD} {{ return {array_api.SPELT[name]} }}"), bag)
    check_file(file, bag)
    assert not bag.has_errors, bag.items
