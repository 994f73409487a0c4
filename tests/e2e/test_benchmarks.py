"""`make bench` on tiny arrays: every program in the engines that are always there, errors beside times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("chain", "epilogue", "wall", "softmax", "layernorm")


def test_suite_measures_every_program(tmp_path: Path) -> None:
    suite = [sys.executable, ROOT / "benchmarks" / "suite.py", "--engines", "tensorc", "numpy"]
    small = ["--rows", "16", "--columns", "24", "--rounds", "2", "--calls", "3", "--output", tmp_path]
    done = subprocess.run([*suite, *small], capture_output=True, text=True, check=False)
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
