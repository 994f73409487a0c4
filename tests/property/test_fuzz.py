"""The fuzzer finds what is wrong, makes it small, and keeps it; a few seeded rounds of it run here."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import campaign
from fuzzing.agreement import Counts, Disagreement, Failure, check_agreement
from fuzzing.campaign import Campaign, replay, run_worker
from fuzzing.shrinking import is_valid, shrink, split_kernels
from programs import HEADER, grow_file

from tensorc.interp.scalar_ops import ElementaryLibrary

KERNEL = """\
kernel k3(p0: f32[N, M], p1: f32[M], s: f32 = 0.75) {
    t0 = p0 * s
    t1 = exp(t0[:, ::-1])
    t2, u2 = spread(t1)
    t3[i] = t1[i, 0] + p1[0] for i in N
    t4 = tanh(u2) - t0
    return t3, t4, t2
}
"""


def test_a_seeded_round_agrees(tmp_path: Path) -> None:
    said: list[str] = []
    run = Campaign("ci", tmp_path, said.append)
    run.run(time.monotonic() + 3600, rounds=1)
    assert said == [] and run.failures == []
    assert run.counts.kernels == 12 and run.counts.calls == 36
    assert run.counts.comparisons > 2 * 36 + 3 * 2 * 36


def test_a_wrong_bit_is_found(elementary: ElementaryLibrary, tmp_path: Path) -> None:
    class Wrong:
        def apply(self, name: str, operands: Any, dtype: Any) -> Any:
            right = elementary.apply(name, operands, dtype)
            return np.nextafter(right, np.inf) if name == "exp" else right

    text = "kernel f(x: f32[N]) { return exp(x) }\nkernel g(x: f32[N]) { return sin(x) }\n"
    good = check_agreement(text, "1", ("default",), elementary, tmp_path)
    assert good == Counts(2, 6, 2 * 6 + 4 * 6)
    with pytest.raises(Disagreement) as found:
        check_agreement(text, "1", ("default",), Wrong(), tmp_path)  # type: ignore[arg-type]
    assert (found.value.failure.kernel, found.value.failure.how) == ("f", "differs")


def test_a_program_shrinks_to_what_fails() -> None:
    (kernel,) = split_kernels(HEADER + KERNEL)
    assert (kernel.name, len(kernel.statements), len(kernel.params)) == ("k3", 5, 3)
    assert is_valid(str(kernel))
    small = shrink(kernel, lambda text: "tanh(" in text, attempts=300)
    assert str(small) == "kernel k3(p0: f32[N, M]) {\n    t4 = tanh(p0)\n    return t4\n}\n" or (
        "tanh(" in str(small) and len(small.statements) == 1 and len(small.params) <= 1
    )


@pytest.mark.parametrize("seed", range(3))
def test_grown_files_are_read_back(seed: int) -> None:
    from random import Random

    text = grow_file(Random(seed), 8)
    kernels = split_kernels(text)
    assert [k.name for k in kernels] == [f"k{n}" for n in range(8)]
    assert all(is_valid(str(k)) for k in kernels)


def test_what_fails_is_kept_and_replayed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(text: str, seed: str, builds: tuple[str, ...], directory: Path) -> Counts | Failure:
        at = text.find(" = sum(")
        if at < 0:
            return Counts(1, 1, 1)
        named = split_kernels(text)
        culprit = next(k.name for k in named if " = sum(" in str(k).split("kernel ", 1)[1])
        return Failure("default", culprit, "differs", f"{culprit}: 1 != 2")

    monkeypatch.setattr(campaign, "run_worker", broken)
    said: list[str] = []
    run = Campaign("planted sum", tmp_path, said.append)
    run.run(time.monotonic() + 3600, rounds=1)
    (path,) = run.failures
    text = path.read_text()
    assert "# default: differs" in text and f"make fuzz REPLAY={path}" in text
    (kernel,) = split_kernels(text)
    assert len(kernel.statements) == 1 and " = sum(" in kernel.statements[0]
    found = replay(path, tmp_path)
    assert isinstance(found, Failure) and found.kernel == kernel.name


def test_a_process_that_dies_has_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    said = 'print(\'{"step": "default", "kernel": "k1"}\', flush=True)'
    worker.write_text(f"import os, signal\n{said}\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    monkeypatch.setattr(campaign, "WORKER", worker)
    found = run_worker("", "1", ("default",), tmp_path)
    assert found == Failure("default", "k1", "SIGSEGV", "")
    worker.write_text(f"import time\n{said}\ntime.sleep(60)\n")
    monkeypatch.setattr(campaign, "TIMEOUT", 0.5)
    found = run_worker("", "1", ("default",), tmp_path)
    assert found == Failure("default", "k1", "hangs", "no end within 0.5 s")
