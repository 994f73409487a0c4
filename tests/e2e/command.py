"""The command line in tests: a directory with programs to call it in, and ways to call it."""

from __future__ import annotations

import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tensorc.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
SOFTMAX = ROOT / "examples" / "softmax.tdsl"

ONE = """## Twice.
kernel double(x: f32[N], a: f32 = 2) -> f32[N] requires N >= 1 { return a * x }
"""
TWO = ONE + "kernel grid(n: i64) -> f64[n] { return zeros(n) }\n"
WRONG = "kernel f(x: f32[N]) -> f32[N] {\n    return x + y\n}\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each test has a directory of its own; kernels of all tests share a cache."""
    for name in ("CXX", "CXXFLAGS", "TENSORC_TARGET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TENSORC_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("tmp")))
    monkeypatch.setenv("TMPDIR", tempfile.gettempdir())
    monkeypatch.chdir(tmp_path)
    Path("one.tdsl").write_text(ONE)
    Path("two.tdsl").write_text(TWO)
    Path("wrong.tdsl").write_text(WRONG)
    return tmp_path


def tensorc(*words: object, given: bytes | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tensorc", *map(str, words)],
        input=given,
        capture_output=True,
        check=False,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in out + err
    return subprocess.CompletedProcess(words, done.returncode, out, err)


def call(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run the command in this process: status, output, messages."""
    status = run([str(w) for w in words])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.out + captured.err
    return status, captured.out, captured.err


def files() -> set[str]:
    return {p.name for p in Path().iterdir() if not p.name.endswith(".tdsl")}


def executable(name: str, body: str) -> Path:
    path = Path(name).absolute()
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
