"""Codes, catalogue and pages agree, and the pages' programs do what the pages say."""

import re
from pathlib import Path

import pytest

from tensorc.diagnostics.catalogue import CATALOGUE
from tensorc.diagnostics.model import DiagnosticBag
from tensorc.scheduler.reasons import REASONS
from tensorc.sema.check import check_file
from tensorc.source import Source
from tensorc.syntax.parser import parse_file
from tensorc.syntax.slips import SLIPS

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "errors").glob("TC*.md")}
EXAMPLE = re.compile(r"This program raises it:\n\n```tdsl\n(.*?)\n```", re.DOTALL)
MENDED = re.compile(r"## How to mend it\n.*?```tdsl\n(.*?)\n```", re.DOTALL)
WITH_EXAMPLE = sorted(code for code in PAGES if EXAMPLE.search(PAGES[code]))


def codes_of(text: str) -> set[str]:
    """The codes of all messages about a program."""
    bag = DiagnosticBag()
    file = parse_file(Source("page.tdsl", text), bag)
    if not bag.has_errors:
        check_file(file, bag)
    return {d.code for d in bag.items}


def test_every_code_in_the_source_is_in_the_catalogue() -> None:
    used = {
        (code, str(path.relative_to(ROOT)))
        for path in sorted((ROOT / "tensorc").rglob("*.py"))
        if path.name != "catalogue.py"
        for code in re.findall(r"\bTC\d{4}\b", path.read_text(encoding="utf-8"))
    }
    assert sorted((code, path) for code, path in used if code not in CATALOGUE) == []


def test_every_code_has_a_page_with_its_title_and_every_page_a_code() -> None:
    assert sorted(PAGES) == sorted(CATALOGUE)
    wrong = [code for code, title in CATALOGUE.items() if not PAGES[code].startswith(f"# {code}: {title}\n")]
    assert wrong == []


def test_the_list_of_pages_is_complete() -> None:
    listed = re.findall(
        r"^- \[(TC\d{4})\]\((TC\d{4})\.md\): (.*)$", (ROOT / "docs/errors/index.md").read_text(), re.M
    )
    assert [code for code, target, _ in listed if code != target] == []
    assert {code: title for code, _, title in listed} == CATALOGUE


def test_the_reasons_of_the_fusion_log_have_their_titles() -> None:
    fusion = {code: title for code, title in CATALOGUE.items() if code.startswith(("TC20", "TC21"))}
    assert fusion == REASONS


def test_every_code_of_a_slip_and_of_the_checker_s_rules_has_an_example() -> None:
    rules = {code for code in CATALOGUE if code.startswith(("TC02", "TC03", "TC04"))}
    assert sorted(({slip.code for slip in SLIPS} | rules) - set(WITH_EXAMPLE)) == []


@pytest.mark.parametrize("code", WITH_EXAMPLE)
def test_the_example_of_a_page_raises_its_code_alone(code: str) -> None:
    example = EXAMPLE.search(PAGES[code])
    assert example is not None
    assert codes_of(example.group(1)) == {code}


@pytest.mark.parametrize("code", sorted(code for code in PAGES if MENDED.search(PAGES[code])))
def test_the_mended_program_of_a_page_raises_nothing(code: str) -> None:
    mended = MENDED.search(PAGES[code])
    assert mended is not None
    assert codes_of(mended.group(1) + "\n") == set()
