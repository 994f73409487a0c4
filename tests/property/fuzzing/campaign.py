"""Grow files and check them, each in a process of its own, until the time is over; keep what fails, shrunk.

Every choice follows from the seed and the number of the round, so that a round can be run again.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from programs import grow_file

from fuzzing.agreement import BUILDS, Counts, Failure, available
from fuzzing.front_end import run_texts_apart
from fuzzing.shrinking import KernelText, shrink, split_kernels

WORKER = Path(__file__).with_name("worker.py")
KERNELS = 12
ROUNDS = (
    ("default", "inductor", "unfused", "clang"),
    ("default", "portable", "clang"),
    ("default", "inductor", "unfused", "clang"),
    ("sanitized",),
)
"""The builds of a round, in turn. The sanitizers have a round of their own: their runtime comes first."""
TIMEOUT = 300.0
SHRINK_ATTEMPTS = 80
_MARK = "#: "


@dataclass(slots=True)
class Campaign:
    """What a run has done so far."""

    seed: str
    directory: Path
    say: Callable[[str], None]
    texts_per_round: int = 0
    programs: int = 0
    texts: int = 0
    counts: Counts = field(default_factory=Counts)
    failures: list[Path] = field(default_factory=list)

    def run(self, deadline: float, rounds: int | None = None) -> None:
        """Take rounds until `deadline` (of `time.monotonic`), at most `rounds`."""
        number = 0
        while time.monotonic() < deadline and (rounds is None or number < rounds):
            self._round(number)
            self._texts(number)
            number += 1

    def _round(self, number: int) -> None:
        seed = f"{self.seed}.{number}"
        builds = tuple(b for b in ROUNDS[number % len(ROUNDS)] if available(b))
        text = grow_file(Random(f"fuzz {seed}"), KERNELS)
        found = run_worker(text, seed, builds, self.directory)
        self.programs += 1
        if isinstance(found, Counts):
            self.counts += found
            return
        self.say(f"FAILED {seed}: {found.step} {found.kernel}: {found.how}")
        self._keep(text, seed, builds, found)

    def _texts(self, number: int) -> None:
        """Texts for the front end; what it makes of them wrongly is kept beside the programs."""
        if not self.texts_per_round:
            return
        _, faults = run_texts_apart(f"{self.seed}.{number}", self.texts_per_round, self.directory)
        self.texts += self.texts_per_round
        for path in faults:
            self.say(f"FAILED {path}: {path.with_suffix('.txt').read_text(encoding='utf-8')}")
        self.failures.extend(faults)

    def _keep(self, text: str, seed: str, builds: tuple[str, ...], failure: Failure) -> None:
        """Shrink the kernel at fault and write it; the whole file where no single kernel fails alone."""
        kept = text
        builds = (failure.step,) if failure.step in BUILDS else ()
        if failure.step == "sanitized":
            builds = ("sanitized",)

        def outcome(candidate: str) -> Failure | None:
            found = run_worker(candidate, seed, builds, self.directory)
            return found if isinstance(found, Failure) else None

        kernel = _culprit(text, failure, outcome)
        if kernel is not None:
            kept = str(shrink(kernel, lambda t: failure.is_like(outcome(t)), SHRINK_ATTEMPTS))
            failure = outcome(kept) or failure
        path = self.directory / f"{seed}-{failure.kernel or 'file'}.tdsl"
        path.write_text(failure_text(path, kept, seed, builds, failure), encoding="utf-8")
        self.failures.append(path)
        self.say(path.read_text(encoding="utf-8"))


def _culprit(text: str, failure: Failure, outcome: Callable[[str], Failure | None]) -> KernelText | None:
    kernels = split_kernels(text)
    named = [k for k in kernels if k.name == failure.kernel] or list(kernels)
    return next((k for k in named if failure.is_like(outcome(str(k)))), None)


def failure_text(path: Path, text: str, seed: str, builds: tuple[str, ...], failure: Failure) -> str:
    """A failing program with what is needed to run it again in its first lines."""
    lines = failure.message.strip().splitlines()
    return "\n".join(
        (
            _MARK + json.dumps({"seed": seed, "builds": builds}),
            f"# {failure.step}: {failure.how}",
            *(f"#   {line}" for line in lines[-4:]),
            f"# replay: make fuzz REPLAY={path}",
            text,
        )
    )


def replay(path: Path, directory: Path) -> Counts | Failure:
    """Check a file that a campaign has written."""
    text = path.read_text(encoding="utf-8")
    facts = json.loads(text.splitlines()[0].removeprefix(_MARK))
    return run_worker(text, facts["seed"], tuple(facts["builds"]), directory)


def run_worker(text: str, seed: str, builds: tuple[str, ...], directory: Path) -> Counts | Failure:
    """Check a text in a new process; a process that dies or hangs has failed at the step it named last."""
    cache = directory / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "grown.tdsl"
        file.write_text(text, encoding="utf-8")
        command = (sys.executable, str(WORKER), str(file), seed, ",".join(builds), scratch, str(cache))
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=_environment(builds),
            start_new_session=True,
        )
        try:
            said, errors = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            return _died(said, "hangs", f"no end within {TIMEOUT:g} s")
    return _verdict(said, errors, process.returncode)


def _verdict(said: str, errors: str, status: int) -> Counts | Failure:
    last = json.loads(said.splitlines()[-1]) if said.strip() else {}
    if status == 0 and "counts" in last:
        return Counts(**last["counts"])
    if status == 0 and "failure" in last:
        return Failure(**last["failure"])
    how = signal.Signals(-status).name if status < 0 else f"exit {status}"
    return _died(said, how, errors)


def _died(said: str, how: str, message: str) -> Failure:
    last = json.loads(said.splitlines()[-1]) if said.strip() else {}
    return Failure(last.get("step", "start"), last.get("kernel", ""), how, message)


def _environment(builds: tuple[str, ...]) -> dict[str, str]:
    """The sanitizers' runtime must be loaded before anything else."""
    environment = dict(os.environ)
    if "sanitized" not in builds:
        return environment
    runtime = subprocess.run(
        ("g++", "-print-file-name=libasan.so"), capture_output=True, text=True, check=True
    ).stdout.strip()
    return {
        **environment,
        "LD_PRELOAD": str(Path(runtime).resolve()),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1",
    }
