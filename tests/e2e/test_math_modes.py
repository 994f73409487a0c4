"""`--math`: the command line, the library, the manifest and the log agree on which mode a kernel has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tensorc
from tensorc.cli.main import run

TEXT = """kernel wave(x: f32[N, D]) -> f32[N, D] {
    y = sin(x) * 3 + x
    return y / sum(abs(y), axis=1, keepdims=true)
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "wave.tdsl"
    path.write_text(TEXT)
    return path


class Call:
    """Runs the command in this process; the text that it prints."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *words: object) -> str:
        status = run([str(w) for w in words])
        captured = self.capsys.readouterr()
        assert status == 0, captured.err
        return captured.out


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return Call(capsys)


def test_explain_counts_what_fast_takes(call: Call, program: Path) -> None:
    taken = [
        "math fast: 3 taken",
        "  function       1  sin (line 2)",
        "  contraction    1  add (line 2)",
        "  reciprocal     1  div (line 3)",
    ]
    assert call("explain", program, "--math=fast").splitlines()[-4:] == taken
    assert "math" not in call("explain", program)
    record = json.loads(call("explain", program, "--math=fast", "--json"))
    assert record["math"] == "fast"
    kinds = [r["kind"] for r in record["kernels"][0]["relaxations"]]
    assert kinds == ["function", "contraction", "reciprocal"]
    strict = json.loads(call("explain", program, "--json"))
    assert strict["math"] == "strict" and strict["kernels"][0]["relaxations"] == []


def test_the_program_after_relaxing_can_be_printed(call: Call, program: Path) -> None:
    fast = call("explain", program, "--math=fast", "--until=relax")
    assert "fast_sin" in fast and "fma" in fast and "reciprocal" in fast
    strict = call("explain", program, "--until=relax")
    assert strict == call("explain", program, "--until=simplify")


def test_the_manifest_names_the_mode(call: Call, program: Path) -> None:
    for mode in ("strict", "fast"):
        printed = call("compile", program, f"--math={mode}", "--emit=json", "-o", "-")
        assert json.loads(printed)["options"]["math"] == mode


@pytest.mark.parametrize("mode", ["strict", "fast"])
def test_run_checks_against_the_interpreter(call: Call, program: Path, mode: str) -> None:
    printed = call("run", program, "x=rand:33x70", f"--math={mode}", "--check")
    assert "agrees with the interpreter" in printed


def test_modes_are_libraries_of_their_own(tmp_path: Path) -> None:
    strict = tensorc.compile(TEXT, cache_dir=tmp_path)
    fast = tensorc.compile(TEXT, cache_dir=tmp_path, math="fast")
    assert strict.library != fast.library
    assert fast["wave"].fusion_log().splitlines()[-4] == "math fast: 3 taken"
    x = np.random.default_rng(0).standard_normal((40, 300)).astype(np.float32)
    a, b = strict["wave"](x), fast["wave"](x)
    assert (a != b).any()
    np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-9)
