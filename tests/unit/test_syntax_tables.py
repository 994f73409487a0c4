"""The grammar has no conflicts, and the cache of its tables never gets in the way."""

import os
import threading
from pathlib import Path

import lark
import pytest

from tensorc.syntax import tables
from tensorc.syntax.tables import build_parser, grammar_text, load_parser

PROGRAM = "kernel f(x: f32[N]) -> f32[N] { y[i] = x[\n i] for i in N; return y }\n"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    directory = tmp_path_factory.mktemp("tables")
    load_parser(directory)
    (path,) = directory.iterdir()
    return path.read_bytes()


def fill(directory: Path, content: bytes) -> Path:
    """A cache directory whose one entry has the right name and `content`."""
    path = directory / f"grammar-{tables._cache_key(grammar_text())}.tables"
    path.write_bytes(content)
    return path


def test_the_grammar_has_no_conflicts_and_no_colliding_terminals() -> None:
    strict = build_parser(grammar_text(), strict=True)
    assert strict.parse(PROGRAM).data == "start"


def test_every_rule_builds_something() -> None:
    from tensorc.syntax.build import BINARY, RULES, UNARY

    parser = tables.tdsl_parser()
    made = {rule.alias or rule.origin.name for rule in parser.rules}
    made = {name for name in made if not name.startswith("_")}
    inlined = {rule.origin.name for rule in parser.rules if rule.options.expand1 and not rule.alias}
    assert made - inlined == {*BINARY, *RULES, *UNARY}


def test_tables_come_from_the_cache(tmp_path: Path, stored: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, stored)

    def refuse(*_: object, **__: object) -> lark.Lark:
        raise AssertionError("built although the tables are stored")

    monkeypatch.setattr(tables, "build_parser", refuse)
    assert load_parser(tmp_path).parse(PROGRAM).data == "start"


@pytest.mark.parametrize("damage", ["empty", "half", "last", "zeros", "other"])
def test_damaged_tables_are_built_anew(tmp_path: Path, stored: bytes, damage: str) -> None:
    content = {
        "empty": b"",
        "half": stored[: len(stored) // 2],
        "last": stored[:-1],
        "zeros": bytes(4096) + stored[4096:],
        "other": b"not tables",
    }[damage]
    path = fill(tmp_path, content)
    assert load_parser(tmp_path).parse(PROGRAM).data == "start"
    mended = tables._load_tables(path)
    assert mended is not None
    assert mended.parse(PROGRAM).data == "start"


def test_a_place_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert load_parser(file / "below").parse(PROGRAM).data == "start"
    assert file.read_text() == ""


def test_a_full_disk_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert load_parser(tmp_path).parse(PROGRAM).data == "start"
    assert list(tmp_path.iterdir()) == []


def test_the_grammar_of_a_wheel_is_found_beside_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tdsl.lark").write_text("start: \n", encoding="utf-8")
    monkeypatch.setattr(tables.resources, "files", lambda _: tmp_path)
    assert grammar_text() == "start: \n"


def test_threads_parse_at_once() -> None:
    results: list[object] = []
    parser = tables.tdsl_parser()

    def work() -> None:
        results.extend(parser.parse(PROGRAM).data for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["start"] * 80
