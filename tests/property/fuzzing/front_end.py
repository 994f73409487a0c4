"""The front end on any bytes: located errors with codes, or a program; never a hang, crash or traceback."""

from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzzing.texts import draw_text
from tensorc.diagnostics.model import CompileError, Diagnostic
from tensorc.diagnostics.render import render_human, render_json, render_short
from tensorc.driver import CompileOptions, compile_text
from tensorc.syntax.read import read_source

CODE = re.compile(r"TC\d{4}")
SECONDS = 30
MEMORY = 4 << 30
POLICIES = ("default", "inductor-2.8")


class TooSlowError(Exception):
    """A text took longer than it may."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a text: `ok`, the code of its first error, or what is wrong with the compiler."""

    code: str
    fault: str = ""


def check_bytes(data: bytes, file: Path, seconds: int = SECONDS, until: str = "codegen") -> Verdict:
    """Read the text and run the stages under each policy, within a time; render what is reported."""
    file.write_bytes(data)
    try:
        with _deadline(seconds):
            source = read_source(file)
            for policy in POLICIES:
                unit = compile_text(source, CompileOptions(policy=policy, target="x86-64-v3", until=until))
            fault = _rendered(unit.warnings)
    except CompileError as error:
        if not error.diagnostics:
            return Verdict("", "an error without diagnostics")
        return _check_rendering(error.diagnostics, seconds)
    except TooSlowError:
        return Verdict("", f"no end within {seconds} s")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return Verdict(
            "", f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"[:500]
        )
    return Verdict("ok", fault)


def _check_rendering(diagnostics: Sequence[Diagnostic], seconds: int) -> Verdict:
    try:
        with _deadline(seconds):
            return Verdict(diagnostics[0].code, _rendered(diagnostics))
    except TooSlowError:
        return Verdict("", f"not rendered within {seconds} s")


def _rendered(diagnostics: Iterable[Diagnostic]) -> str:
    """What is wrong with the diagnostics, if anything; each kind of output is made of them."""
    found = tuple(diagnostics)
    for d in found:
        if not CODE.fullmatch(d.code) or not d.message.strip():
            return f"a diagnostic without code or message: {d!r}"
        if d.span is None:
            return f"{d.code} has no place: {d.message}"
        if not 0 <= d.span.start <= d.span.end <= len(d.span.source.text):
            return f"{d.code} is outside the text: {d.span.start}..{d.span.end}"
    texts = (render_human(found, False), render_short(found), render_json(found))
    return "an empty rendering" if found and not all(texts) else ""


@contextmanager
def _deadline(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_texts(
    seed: str, count: int, directory: Path, seconds: int = SECONDS
) -> tuple[dict[str, int], list[Path]]:
    """Check `count` texts in this process; how often each code came, and the files of those at fault."""
    codes: dict[str, int] = {}
    faults: list[Path] = []
    scratch = directory / f"text-{seed}.tdsl"
    for number in range(count):
        data = draw_text(Random(f"text {seed}.{number}"))
        verdict = check_bytes(data, scratch, seconds)
        codes[verdict.code or "fault"] = codes.get(verdict.code or "fault", 0) + 1
        if verdict.fault:
            kept = directory / f"text-{seed}.{number}.tdsl"
            small = shrink_bytes(data, verdict, scratch, seconds)
            kept.write_bytes(small)
            kept.with_suffix(".txt").write_text(f"{verdict.fault}\nreplay: tensorc check {kept}\n")
            faults.append(kept)
    scratch.unlink(missing_ok=True)
    return codes, faults


def shrink_bytes(data: bytes, verdict: Verdict, scratch: Path, seconds: int, attempts: int = 400) -> bytes:
    """A smaller text with the same kind of fault: pieces are cut out, halves first."""
    kind = verdict.fault.split(":")[0]
    size = len(data) // 2
    while size and attempts > 0:
        at = 0
        while at < len(data) and attempts > 0:
            candidate = data[:at] + data[at + size :]
            attempts -= 1
            if check_bytes(candidate, scratch, seconds).fault.split(":")[0] == kind:
                data = candidate
            else:
                at += size
        size //= 2
    return data


def run_texts_apart(seed: str, count: int, directory: Path) -> tuple[dict[str, int], list[Path]]:
    """`run_texts` in a process of its own, with bounded memory; its death is a fault of the last text."""
    command = (sys.executable, __file__, seed, str(count), str(directory))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60 + SECONDS * count)
    if done.returncode == 0:
        said = json.loads(done.stdout)
        return said["codes"], [Path(p) for p in said["faults"]]
    scratch = directory / f"text-{seed}.tdsl"
    scratch.with_suffix(".txt").write_text(f"exit {done.returncode}\n{done.stderr[-2000:]}")
    return {"fault": 1}, [scratch]


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found_codes, found_faults = run_texts(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
    print(json.dumps({"codes": found_codes, "faults": [str(p) for p in found_faults]}))
