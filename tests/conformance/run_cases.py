#!/usr/bin/env python3
"""Run the conformance cases against the installed tensorc.

    python tests/conformance/run_cases.py                 every case
    python tests/conformance/run_cases.py --only C17      one case id (also C17/label, or several: C17,C18)
    python tests/conformance/run_cases.py --list          what there is

One line per failing case, then `N passed, M failed`; exit status 1 if any failed. The cases run in a child
process, so a kernel that dies or hangs is a failing case and not the end of the run.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from cases import CASES
from running import verdict

Verdict = tuple[str, str | None]
"""A case's key, and None or what is wrong with it."""


def run_here(keys: Sequence[str]) -> Iterator[Verdict]:
    """Run the cases in this process."""
    import tensorc

    cases = {c.key: c for c in CASES}
    modules: dict[str, object] = {}
    for key in keys:
        yield key, verdict(cases[key], tensorc, modules)


def run_isolated(keys: Sequence[str], timeout: float) -> Iterator[Verdict]:
    """Run the cases in a child process, the rest in a new one after a death or `timeout` s of silence."""
    pending = list(keys)
    while pending:
        with _Child(pending, timeout) as child:
            yield from child.verdicts()
        pending = [key for key in pending if key not in child.done]
        if pending:
            lost = child.current or pending[0]
            pending.remove(lost)
            yield lost, child.end()


@dataclass
class _Child:
    """A process that runs `keys` in order and reports on a pipe."""

    keys: Sequence[str]
    timeout: float
    done: set[str] = field(default_factory=set)
    current: str | None = None
    silent: bool = False

    def __enter__(self) -> _Child:
        self._read, write = os.pipe()
        self._log: IO[bytes] = tempfile.TemporaryFile()
        command = (sys.executable, __file__, "--report-to", str(write))
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            pass_fds=(write,),
            start_new_session=True,
        )
        os.close(write)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(self.keys).encode())
        self._process.stdin.close()
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        if self._process.poll() is None and (self.silent or failure is not None):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._read)
        self._log.seek(0)
        self._said = self._log.read().decode(errors="replace")
        self._log.close()

    def verdicts(self) -> Iterator[Verdict]:
        rest = b""
        deadline = time.monotonic() + self.timeout
        while len(self.done) < len(self.keys):
            if not select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self.silent = True
                return
            chunk = os.read(self._read, 65536)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            deadline = time.monotonic() + self.timeout
            for line in lines:
                key, *said = json.loads(line)
                self.current = None if said else key
                if said:
                    self.done.add(key)
                    yield key, said[0]

    def end(self) -> str:
        """What happened to a child that did not finish, with the last line it wrote."""
        status = self._process.returncode
        if self.silent:
            why = f"no answer within {self.timeout:g} s"
        elif status < 0:
            why = f"the process died with {signal.Signals(-status).name}"
        else:
            why = f"the process exited with {status}"
        lines = [x.strip() for x in self._said.splitlines() if x.strip()]
        return f"{why} ({lines[-1][:200]})" if lines else why


def report_to(descriptor: int) -> None:
    """Run the cases named on standard input; a line `[key]` begins one, `[key, verdict]` ends it."""
    os.set_inheritable(descriptor, False)  # a process that a case starts must not keep the pipe open
    keys = json.loads(sys.stdin.read())
    results = run_here(keys)
    for key in keys:
        os.write(descriptor, (json.dumps([key]) + "\n").encode())
        os.write(descriptor, (json.dumps(next(results)) + "\n").encode())


def select_cases(only: Sequence[str]) -> list[str]:
    """The keys of the cases that `--only` names by id or key; all where it names none."""
    wanted = [w.strip() for o in only for w in o.split(",") if w.strip()]
    keys = [c.key for c in CASES if not wanted or c.id in wanted or c.key in wanted]
    if not keys:
        sys.exit("no such case: " + ", ".join(wanted))
    return keys


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the conformance cases against the installed tensorc.")
    parser.add_argument("--only", metavar="ID", action="append", default=[], help="case id or id/label")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds per case")
    parser.add_argument("--in-process", action="store_true", help="no child process (for a debugger)")
    parser.add_argument("--report-to", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report_to is not None:
        report_to(options.report_to)
        return 0
    keys = select_cases(options.only)
    cases = {c.key: c for c in CASES}
    if options.list:
        for key in keys:
            print(f"{key:34} {cases[key].tdsl:26} {cases[key].kernel or '-':20} {cases[key].kind}")
        return 0
    failed = 0
    for key, said in run_here(keys) if options.in_process else run_isolated(keys, options.timeout):
        if said is not None:
            failed += 1
            print(f"FAIL {key}: {said} -- {cases[key].kind}", flush=True)
    print(f"{len(keys) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
