"""`make bench` on tiny arrays: every program in the engines that are always there, errors beside times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("chain", "epilogue", "wall", "softmax", "layernorm")


SMALL = ("--rows", "16", "--columns", "24", "--rounds", "2", "--calls", "3", "--output")


def test_strictness_has_a_ratio_for_every_program(tmp_path: Path) -> None:
    suite = [sys.executable, ROOT / "benchmarks" / "suite.py", "--strictness", *SMALL, tmp_path]
    done = subprocess.run(suite, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "results.json").read_text())
    assert tuple(figures) == PROGRAMS
    assert all(set(by_engine) == {"tensorc", "tensorc-fast"} for by_engine in figures.values())
    rows = [line.split("|") for line in (tmp_path / "results.md").read_text().splitlines() if "|" in line][2:]
    ratios = [[float(r) for r in row[5].split("/")] for row in rows]
    assert len(ratios) == 2 * len(PROGRAMS) and all(len(r) == 2 and min(r) > 0 for r in ratios)


def test_suite_measures_every_program(tmp_path: Path) -> None:
    suite = [sys.executable, ROOT / "benchmarks" / "suite.py", "--engines", "tensorc", "numpy"]
    done = subprocess.run([*suite, *SMALL, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

    figures = json.loads((tmp_path / "results.json").read_text())
    assert tuple(figures) == PROGRAMS
    for by_engine in figures.values():
        assert set(by_engine) == {"tensorc", "numpy"}
        for cell in by_engine.values():
            assert 0 <= cell["error"] < 1e-4
            assert {mode: len(times) for mode, times in cell["times"].items()} == {"fresh": 6, "reused": 6}
    table = (tmp_path / "results.md").read_text()
    assert table in done.stdout + "\n"
    assert sum(line.startswith("| ") for line in table.splitlines()) == 2 + 2 * len(PROGRAMS)
