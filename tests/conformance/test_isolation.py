"""A case that kills or hangs its process is one failing case; those before and after it still count."""

from __future__ import annotations

from pathlib import Path

import pytest
import run_cases

SCRIPT = """\
import json, os, signal, sys, time
keys = json.loads(sys.stdin.read())
def say(*message): os.write(int(sys.argv[2]), (json.dumps(message) + "\\n").encode())
for key in keys:
    say(key)
    if key == "dies": os.kill(os.getpid(), signal.SIGSEGV)
    if key == "hangs": time.sleep(60)
    say(key, "is wrong" if key == "wrong" else None)
"""


def test_a_death_or_a_hang_costs_one_case(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    child = tmp_path / "child.py"
    child.write_text(SCRIPT)
    monkeypatch.setattr(run_cases, "__file__", str(child))
    keys = ["good", "dies", "wrong", "hangs", "last"]
    assert dict(run_cases.run_isolated(keys, timeout=1)) == {
        "good": None,
        "dies": "the process died with SIGSEGV",
        "wrong": "is wrong",
        "hangs": "no answer within 1 s",
        "last": None,
    }
