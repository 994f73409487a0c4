"""The command as a process: signals, streams that are closed or full, a directory that is gone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import ROOT, executable, place

__all__ = ["place"]  # the directory of every test here


def heed_signals() -> None:
    """What a shell starts in the background ignores SIGINT, and so does everything that it starts."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it has not come to be")


def is_running(process: int) -> bool:
    """Whether there is such a process; one that has ended but was not waited for is none."""
    command = ["ps", "-o", "stat=", "-p", str(process)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return said.strip()[:1] not in ("", "Z")


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
@pytest.mark.parametrize("heeds", [True, False], ids=["willing", "stubborn"])
def test_signals_stop_the_compiler_and_leave_nothing(
    tmp_path: Path, number: signal.Signals, status: int, heeds: bool
) -> None:
    """Nor do the compiler's children go on, and one that ignores the request is ended by force."""
    real = shutil.which("g++") or shutil.which("clang++")
    probe = f'for a in "$@"; do [ "$a" = -dM ] && exec {real} "$@"; done'
    started = tmp_path / "started"
    trap = "" if heeds else "trap '' TERM INT HUP; "
    fake = executable("slow-cxx", f"{probe}\n{trap}sleep 60 & echo $! > {started}; wait; sleep 60")
    command = [sys.executable, "-m", "tensorc", "compile", "one.tdsl", "-o", "out/k.so", "--cxx", str(fake)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heed_signals)
    try:
        wait_until(lambda: started.exists() and started.read_text().endswith("\n"))
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == status
    assert err.strip() == ""
    assert list(Path("out").iterdir()) == []
    wait_until(lambda: not is_running(int(started.read_text())))


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    program = (
        "import signal\nfrom tensorc.cli.main import heed_requests\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\nheed_requests()\n"
        "print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, callable(signal.getsignal(signal.SIGTERM)))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout == "True True\n"


def test_native_code_ends_at_once() -> None:
    """It raises no exception: while a kernel runs, the signal does what it does to any process."""
    program = (
        "import os, signal\nfrom tensorc.api import Kernel\nfrom tensorc.cli.main import main\n"
        "called = Kernel.__call__\n"
        "def ended(self, *args, **named):\n"
        "    called(self, *args, **named)\n    os.kill(os.getpid(), signal.SIGTERM)\n"
        "Kernel.__call__ = ended\n"
        "main(['run', 'one.tdsl'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], preexec_fn=heed_signals, check=False)
    assert done.returncode == -signal.SIGTERM


def test_reader_that_goes_away() -> None:
    command = f"{sys.executable} -m tensorc compile one.tdsl -o - --emit=cpp | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0


def through_shell(words: str) -> subprocess.CompletedProcess[str]:
    """`tensorc WORDS` with the redirections of a shell."""
    command = f"{sys.executable} -W error -m tensorc {words}"
    return subprocess.run(["bash", "-c", command], input="", capture_output=True, text=True, check=False)


PRINTING = (
    "--help",
    "explain TC0402",
    "explain one.tdsl",
    "check --types one.tdsl",
    "compile one.tdsl -o - --emit=cpp",
    "compile one.tdsl --until=lower",
    "run one.tdsl --check",
)


@pytest.mark.parametrize("words", PRINTING)
def test_output_that_is_closed_is_not_missed(words: str) -> None:
    for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
        done = through_shell(f"{words} {closed}")
        assert (done.returncode, done.stderr) == (0, ""), closed


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [*PRINTING, "check --error-format=json wrong.tdsl"])
def test_output_that_takes_no_more(words: str) -> None:
    done = through_shell(f"{words} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "error: cannot write the output: No space left on device\n"
    assert through_shell(f"{words} > /dev/full 2>&1").returncode == 2


@pytest.mark.parametrize("target", ["&-", "/dev/full"])
def test_messages_that_are_lost_leave_the_status(target: str) -> None:
    if target == "/dev/full" and not Path(target).exists():
        pytest.skip("needs /dev/full")
    for words, status in (("check wrong.tdsl", 1), ("check missing.tdsl", 2), ("compile", 2)):
        done = through_shell(f"{words} 2>{target}")
        assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def test_standard_input_that_is_closed_is_empty() -> None:
    done = through_shell("check - <&-")
    assert done.returncode == 1 and "error[TC0114]: `<stdin>` is empty" in done.stderr


def test_a_working_directory_that_is_gone() -> None:
    inside = "import os, sys; os.chdir('gone'); os.rmdir('../gone'); os.execv(sys.argv[1], sys.argv[1:])"
    for words, code in (
        (["check", "../one.tdsl"], "TC0801"),
        (["compile", str(Path("one.tdsl").resolve())], "TC0604"),
    ):
        Path("gone").mkdir()
        command = [sys.executable, "-c", inside, sys.executable, "-m", "tensorc", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"error[{code}]") and "Traceback" not in done.stderr
