"""Kernels at -O0 under the address and undefined-behaviour sanitizers: no finding, the same bits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "sanitized_calls.py"
RUNTIMES = {"g++": "libasan.so", "clang++": "libclang_rt.asan-x86_64.so"}


def _run(compiler: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The script in a process that loads the sanitizer's runtime before anything else, as it demands."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    command = (compiler, f"-print-file-name={RUNTIMES[compiler]}")
    runtime = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not Path(runtime).is_absolute():
        pytest.skip(f"{compiler} has no address sanitizer here")
    environment = {
        **os.environ,
        "LD_PRELOAD": str(Path(runtime).resolve()),
        "ASAN_OPTIONS": "detect_leaks=0",  # the Python interpreter leaks at its end
        "UBSAN_OPTIONS": "halt_on_error=1",
    }
    return subprocess.run(
        (sys.executable, str(SCRIPT), compiler, *arguments),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=300,
    )


@pytest.mark.parametrize("compiler", RUNTIMES)
def test_grown_kernels_have_no_findings(compiler: str, tmp_path: Path) -> None:
    done = _run(compiler, "grown", "1", "12", str(tmp_path))
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "24 calls\n"


@pytest.mark.parametrize("compiler", RUNTIMES)
def test_examples_have_no_findings(compiler: str, tmp_path: Path) -> None:
    done = _run(compiler, "examples", str(tmp_path))
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "14 calls\n"


@pytest.mark.parametrize("compiler", RUNTIMES)
def test_indices_out_of_range_read_nothing(compiler: str, tmp_path: Path) -> None:
    done = _run(compiler, "gathers", str(tmp_path))
    assert done.returncode == 0, done.stderr[-4000:]
    # six kernels, 19 + 8 + 3 + 1 positions, four indices; sums of no columns read nothing
    assert done.stdout == f"{6 * 31 * 4 - 3 * 4} refused\n"


@pytest.mark.parametrize("compiler", RUNTIMES)
def test_a_read_past_the_end_is_a_finding(compiler: str, tmp_path: Path) -> None:
    done = _run(compiler, "broken", str(tmp_path))
    assert done.returncode != 0
    assert "heap-buffer-overflow" in done.stderr
