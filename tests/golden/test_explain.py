"""The fusion logs of the examples, and every level's text of one of them, as a reader sees them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(sys.executable).with_name("tensorc")
NAMES = sorted(p.stem for p in (ROOT / "examples").glob("*.tdsl"))
LEVELS = ("check", "simplify", "lower", "schedule", "loops")


def explain(*arguments: str) -> str:
    """What `tensorc explain` prints, run where paths look as in the documentation."""
    command = [TOOL, "explain", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_fusion_log(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"fusion_log/{name}.txt", explain("--fusion-log", f"examples/{name}.tdsl"))


@pytest.mark.parametrize("level", LEVELS)
def test_levels_of_epilogue(level: str, golden: Callable[[str, str], None]) -> None:
    golden(f"epilogue/{level}.txt", explain("--until", level, "examples/epilogue.tdsl"))


def test_symbolic_log(golden: Callable[[str, str], None]) -> None:
    golden("fusion_log/softmax_symbolic.txt", explain("--fusion-log", "--symbolic", "examples/softmax.tdsl"))
