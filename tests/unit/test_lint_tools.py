"""The size budget and the word check find what they are for."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    module = load_tool("size_budget")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


@pytest.mark.parametrize(("lines", "found"), [(40, []), (41, [False]), (60, [False]), (61, [True])])
def test_function_limits(budget: ModuleType, tmp_path: Path, lines: int, found: list[bool]) -> None:
    path = tmp_path / "a.py"
    path.write_text("def f():\n" + "    x = 1\n" * (lines - 1))
    assert [finding.hard for finding in budget.measure_file(path)] == found


@pytest.mark.parametrize(("lines", "found"), [(400, []), (401, [False]), (601, [True])])
def test_file_limits(budget: ModuleType, tmp_path: Path, lines: int, found: list[bool]) -> None:
    path = tmp_path / "a.h"
    path.write_text("//\n" * lines)
    assert [finding.hard for finding in budget.measure_file(path)] == found


def test_a_docstring_is_not_counted(budget: ModuleType) -> None:
    (node,) = ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n').body
    assert budget.measure_function(node) == 2


def test_words_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = load_tool("forbidden_words")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    path = tmp_path / "a.py"
    path.write_text("ok = 1\n# TO" + "DO later\npath = '/ho" + "me/someone'\nmethodology = 1\n")
    assert [line.split(": ")[0] for line in module.find_words(path)] == ["a.py:2", "a.py:3"]
