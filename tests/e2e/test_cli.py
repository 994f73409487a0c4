"""The command line as a user meets it: what it writes, what it says, and its exit statuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tensorc import __version__
from tensorc.cli import options
from tensorc.cli.main import run
from tensorc.driver import MATH_MODES, POLICIES, SANITIZERS, STAGE_NAMES

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


# -- help, version ----------------------------------------------------------------------------------


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "--version") == (0, f"tensorc {__version__}\n", "")
    status, out, _ = call(capsys, "--help")
    assert status == 0
    assert all(c in out for c in ("compile", "check", "explain", "run", "doctor"))
    for command in ("compile", "check", "explain", "run", "doctor"):
        assert call(capsys, command, "--help")[0] == 0
    assert tensorc("--version").stdout == f"tensorc {__version__}\n"


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["compile", "--help"], ["run", "--help"]])
def test_help_and_version_are_light(words: list[str]) -> None:
    program = (
        "import sys\nfrom tensorc.cli.main import run\n"
        f"run({words!r})\nprint([m for m in ('sympy', 'numpy', 'lark') if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.endswith("[]\n")


def test_lists_that_are_spelled_out_are_the_drivers() -> None:
    assert options.STAGES == STAGE_NAMES
    assert options.POLICIES == POLICIES
    assert options.MATH_MODES == MATH_MODES
    assert options.SANITIZERS == SANITIZERS


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["compile"],
        ["compile", "one.tdsl", "--nonsense"],
        ["compile", "one.tdsl", "--emit=exe"],
        ["compile", "one.tdsl", "--emit=cpp="],
        ["compile", "one.tdsl", "-O", "9"],
        ["compile", "one.tdsl", "--dim", "N"],
        ["compile", "one.tdsl", "--dim", "N=-1"],
        ["compile", "one.tdsl", "--dim", f"N={'1' * 5000}"],
        ["compile", "one.tdsl", "-o", "-"],
        ["compile", "one.tdsl", "-o", "out/"],
        ["compile", "-"],
        ["explain", "TC9999"],
        ["explain", "one.tdsl", "--json", "--fusion-log"],
        ["run", "one.tdsl", "--threads", "0"],
        ["run", "one.tdsl", "--until", "lower"],
    ],
)
def test_usage_errors(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    status, out, err = call(capsys, *words)
    assert status == 2
    assert out == ""
    assert err.startswith("error: ") and len(err.splitlines()) <= 3
    assert files() == set()


# -- compile ----------------------------------------------------------------------------------------


def test_compile_writes_four_files_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = call(capsys, "compile", "one.tdsl", "-o", "build/kernel.so")
    assert (status, err) == (0, "")
    (line,) = out.splitlines()
    assert line.startswith("double(x: f32[N], a: f32 = 2.0) -> f32[N] requires N >= 1: 1 loop nest (")
    assert line.endswith(" -> build/kernel.{so,py,pyi,h}")
    assert {p.name for p in Path("build").iterdir()} == {"kernel.so", "kernel.py", "kernel.pyi", "kernel.h"}


def test_compiled_kernel_runs_without_tensorc() -> None:
    assert tensorc("compile", SOFTMAX, "-o", "kernel.so").returncode == 0
    blocked = "import sys; sys.modules['tensorc'] = None; sys.path.insert(0, '.')\n"
    program = blocked + (
        "import kernel, numpy as np\n"
        "y = kernel.softmax(np.zeros((2, 4), np.float32))\n"
        "print(y.tolist(), kernel.softmax.signature)\n"
    )
    said = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(
        "[[0.25, 0.25, 0.25, 0.25], [0.25, 0.25, 0.25, 0.25]] softmax(x: f32[N, D])"
    )


def test_default_name_and_stdin(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "compile", "one.tdsl", "--threads=none")[0] == 0
    assert files() == {"one.so", "one.py", "one.pyi", "one.h"}
    done = tensorc("compile", "-", "-o", "piped", given=ONE.encode())
    assert done.returncode == 0, done.stderr
    assert Path("piped.so").exists()


def test_emit(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "compile", "one.tdsl", "--emit=h,json", "--emit=cpp", "-o", "k.so")[0] == 0
    assert files() == {"k.h", "k.json", "k.cpp"}
    assert json.loads(Path("k.json").read_text())["kernels"][0]["name"] == "double"
    status, out, _ = call(capsys, "compile", "one.tdsl", "-o", "only.cpp")
    assert status == 0 and "only.cpp" in files() and "only.so" not in files()
    assert call(capsys, "compile", "one.tdsl", "-o", "so/n.so", "--emit=so,cpp=src/n.cc,h=n.hh")[0] == 0
    assert Path("so/n.so").exists() and Path("src/n.cc").exists() and Path("n.hh").exists()
    assert len(list(Path("so").iterdir())) == 1
    status, out, _ = call(capsys, "compile", "one.tdsl", "-o", "-", "--emit=h")
    assert "int32_t tdsl_double(" in out
    status, out, _ = call(capsys, "compile", "one.tdsl", "-o", "-", "--emit=h", "--prefix=my_")
    assert "int32_t my_double(" in out


@pytest.mark.parametrize("stage", STAGE_NAMES)
def test_until_prints_a_stage(capsys: pytest.CaptureFixture[str], stage: str) -> None:
    status, out, err = call(capsys, "compile", "two.tdsl", "--until", stage)
    assert (status, err) == (0, "")
    assert "double" in out and "grid" in out and out.endswith("\n")
    assert files() == set()


def test_print_after_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("compile", "one.tdsl", "-o", "-", "--emit=h", "--print-after=lower", "--time-stages")
    status, out, err = call(capsys, *words)
    assert status == 0 and out.startswith("/*")
    assert "===== after lower =====" in err
    assert all(re.search(rf"^{stage} +\d+\.\d ms$", err, re.MULTILINE) for stage in STAGE_NAMES)


def test_deep_programs_print(capsys: pytest.CaptureFixture[str]) -> None:
    terms = " + ".join(["x"] * 3000)
    Path("deep.tdsl").write_text(f"kernel f(x: f32[N]) -> f32[N] {{ return {terms} }}\n")
    status, out, err = call(capsys, "compile", "deep.tdsl", "--until=parse")
    assert (status, err) == (0, "")
    assert len(out.splitlines()) > 6000


def test_options_reach_the_compiler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    real = shutil.which("g++") or shutil.which("clang++")
    fake = executable("cxx", f'echo "$@" >> {tmp_path}/said; exec {real} "$@"')
    words = ("--cxx", fake, "-O", "1", "-g", "--target=generic", "--threads=none", "--sanitize=undefined")
    assert call(capsys, "compile", "one.tdsl", "-o", "k.so", *words)[0] == 0
    said = Path("said").read_text()
    assert all(f" {flag} " in said for flag in ("-g", "-fsanitize=undefined")) and "-O1" in said
    assert "-march" not in said and "-fopenmp" not in said


# -- bad input --------------------------------------------------------------------------------------


def executable(name: str, body: str) -> Path:
    path = Path(name).absolute()
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_program_errors(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = call(capsys, "check", "wrong.tdsl")
    assert (status, out) == (1, "")
    assert "error[TC0201]" in err and "wrong.tdsl:2:16" in err and "^" in err
    status, out, err = call(capsys, "check", "wrong.tdsl", "--error-format=short")
    assert err.startswith("wrong.tdsl:2:16: error[TC0201]: ") and len(err.splitlines()) == 1
    status, out, err = call(capsys, "compile", "wrong.tdsl", "--error-format=json", "-o", "k.so")
    assert (status, err) == (1, "")
    assert json.loads(out)["code"] == "TC0201"
    assert files() == set()


def test_colour(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\x1b[" not in call(capsys, "check", "wrong.tdsl")[2]
    assert "\x1b[" in call(capsys, "check", "wrong.tdsl", "--color=always")[2]


def test_syntax_and_names_in_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("both.tdsl").write_text(f"kernel g(x: f32[N] {{ return x }}\n{WRONG}")
    status, _, err = call(capsys, "check", "both.tdsl", "--error-format=short")
    assert status == 1
    codes = re.findall(r"error\[(TC\d\d)", err)
    assert {"TC01", "TC02"} <= set(codes)


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"", 1, "TC0114"),
        (b"\xff\xfe\x00", 1, "TC0113"),
        (b"kernel f(x: f32[N]", 1, "TC01"),
        (b"# x\n", 1, "TC02"),
    ],
)
def test_files_that_are_no_programs(data: bytes, status: int, code: str) -> None:
    for words, given in ((["check", "-"], data), (["check", "bad.tdsl"], None)):
        Path("bad.tdsl").write_bytes(data)
        done = tensorc(*words, given=given)
        assert done.returncode == status
        assert f"error[{code}" in done.stderr
    Path("bad.tdsl").unlink()


def test_files_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    for path in ("nowhere.tdsl", "."):
        status, _, err = call(capsys, "compile", path, "-o", "k.so")
        assert status == 2 and "error[TC0801]" in err


def test_missing_compiler(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = call(capsys, "compile", "one.tdsl", "--cxx", "no-such-compiler")
    assert status == 3 and "error[TC0601]" in err and "no-such-compiler" in err
    monkeypatch.setenv("PATH", "/nowhere")
    status, _, err = call(capsys, "compile", "one.tdsl")
    assert status == 3 and "no C++ compiler found" in err and "apt-get install g++" in err
    # what needs no compiler works without one
    assert call(capsys, "compile", "one.tdsl", "--emit=h,cpp")[0] == 0


def test_failing_compiler(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = shutil.which("g++") or shutil.which("clang++")
    probe = f'for a in "$@"; do [ "$a" = -dM ] && exec {real} "$@"; done'
    fake = executable("failing-cxx", f"{probe}\necho 'kernel.cpp:1:1: error: no' >&2; exit 1")
    monkeypatch.setenv("CXX", str(fake))
    status, out, err = call(capsys, "compile", "one.tdsl", "-o", "k.so")
    assert (status, out) == (3, "")
    headline = err.splitlines()[0]
    assert headline.startswith("error[TC0602]: the C++ compiler") and "kernel.cpp:1:1" not in headline
    assert "command: " in err and "kernel.cpp:1:1: error: no" in err
    assert Path(re.findall(r"kept in (\S+)", err)[0]).read_text().count("tdsl_double")
    assert files() == {"failing-cxx"}
    monkeypatch.setenv("CXX", str(executable("broken-cxx", "exit 1")))
    status, _, err = call(capsys, "run", "one.tdsl", "x=rand:3")
    assert status == 3 and "error[TC0603]" in err


def test_unwritable_output(capsys: pytest.CaptureFixture[str]) -> None:
    Path("taken.so").mkdir()
    Path("file").write_text("")
    for output in ("taken.so", "file/kernel.so", "/proc/kernel.so", f"{'a' * 300}.so"):
        status, out, err = call(capsys, "compile", "one.tdsl", "-o", output)
        assert (status, out) == (2, "")
        assert "error[TC0604]: cannot write" in err
    assert files() == {"taken.so", "file"}


def test_pipes_are_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    for words in (["compile", "--emit=h=pipe"], ["compile", "--emit=so=pipe"], ["run", "-o", "pipe"]):
        status, _, err = call(capsys, words[0], "one.tdsl", *words[1:])
        assert status == 2
        assert "error[TC0604]: cannot write 'pipe': it is not a regular file" in err
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode) and files() == {"pipe"}


def test_the_module_has_the_name_that_was_asked_for() -> None:
    """Though its library lies elsewhere, at the end of a symbolic link."""
    Path("far").mkdir()
    Path("kernel.so").symlink_to("far/other.so")
    assert tensorc("compile", "one.tdsl", "-o", "kernel.so").returncode == 0
    assert Path("kernel.so").is_symlink() and Path("far/other.so").exists()
    program = "import sys; sys.path.insert(0, '.'); import kernel; print(kernel.double.signature)"
    said = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("double(x: f32[N]")


def test_the_program_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("one.tdsl").read_bytes()
    for words in (["-o", "one.tdsl"], ["--emit=cpp=./one.tdsl"]):
        status, _, err = call(capsys, "compile", "one.tdsl", *words)
        assert status == 2 and "one.tdsl is the program itself" in err
    assert Path("one.tdsl").read_bytes() == before and files() == set()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--emit=py=a.q,pyi=a.q"], "a.q is the place of two kinds, py and pyi"),
        (["--emit=so=./a.q", "--emit=h=b/../a.q"], "a.q is the place of two kinds, so and h"),
        (["--emit=h=link.h,pyi=real.h"], "real.h is the place of two kinds, h and pyi"),
        (["-o", "k.so", "--emit=so,h=k.so"], "k.so is the place of two kinds, so and h"),
        (["--emit=py=a.py,py=b.py"], "'py' has two places"),
        (["--emit=py", "-o", "x.py"], "x.py would load itself: give the name of its library, -o x.so"),
        (["-o", "x.py"], "x.py would load itself"),
        (["-o", "-", "--emit=h=k.h"], "-o - prints: leave out the path of --emit"),
    ],
)
def test_one_place_for_each_kind(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    Path("b").mkdir()
    Path("link.h").symlink_to("real.h")
    status, out, err = call(capsys, "compile", "one.tdsl", *words)
    assert (status, out) == (2, "")
    assert err.startswith("error: ") and said in err
    assert files() == {"b", "link.h"}


def test_a_module_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Its library is what -o names, or what would be built by default; the same kind twice is one."""
    for words, library in ((["-o", "x.so"], "x.so"), (["--emit=py"], "one.so"), (["-o", "x.pyx"], "x.pyx")):
        assert call(capsys, "compile", "one.tdsl", "--emit=py", *words)[0] == 0
        assert f'"{library}"' in Path(library).with_suffix(".py").read_text().replace("'", '"')


def test_modules_that_hide_what_they_need(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = call(capsys, "compile", "one.tdsl", "-o", "numpy.so")
    assert status == 2 and "would hide the numpy it needs" in err and files() == set()
    assert call(capsys, "compile", "one.tdsl", "--emit=h", "-o", "numpy.h")[0] == 0


def test_values_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    for words, code in (
        (["--target=z80"], "TC0605"),
        (["--prefix=a-b"], "TC0805"),
        (["--dim=Q=3"], "TC0802"),
        (["--hint=Q=3"], "TC0802"),
        (["--dim=N=3", "--dim=N=4"], "TC0802"),
        (["--hint=N=3", "--hint=N=3"], "TC0802"),
        (["--dim=N=99999999999999999999"], "TC0802"),
        (["--hint=N=140737488355328"], "TC0802"),
    ):
        status, _, err = call(capsys, "compile", "one.tdsl", *words)
        assert status == 2 and f"error[{code}]" in err
    assert files() == set()


def test_largest_sizes_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--dim=N=140737488355327", "--hint=N=0"]
    assert call(capsys, "check", "one.tdsl", *words)[0] == 0


def test_a_size_that_the_file_fixes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("fixed.tdsl").write_text("dims N = 4\nkernel f(x: f32[N]) { return x }\n")
    assert call(capsys, "check", "fixed.tdsl", "--dim=N=4", "--hint=N=9")[0] == 0
    status, _, err = call(capsys, "check", "fixed.tdsl", "--dim=N=7")
    assert status == 2 and "error[TC0802]: the size N is 4 in the program, not 7" in err


def test_internal_error_writes_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import tensorc.driver

    def fail(*_: object) -> None:
        raise RuntimeError("out of cheese")

    monkeypatch.setattr(tensorc.driver, "compile_text", fail)
    status, out, err = call(capsys, "check", "one.tdsl")
    assert (status, out) == (70, "")
    assert err.startswith("error[TC0901]: internal error: RuntimeError: out of cheese\n")
    path = Path(err.split()[-1])
    report = path.read_text()
    path.unlink()
    assert "out of cheese" in report and "Traceback" in report and ONE in report and __version__ in report


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


# -- check, explain, doctor -------------------------------------------------------------------------


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "check", "two.tdsl") == (0, "", "")
    status, out, _ = call(capsys, "check", "two.tdsl", "--types")
    assert out.splitlines()[1] == "grid(n: i64) -> f64[n]"
    Path("widens.tdsl").write_text("kernel f(x: f32[N], k: i32[N]) { return x * k }\n")
    status, _, err = call(capsys, "check", "widens.tdsl")
    assert status == 0 and "warning[" in err


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    epilogue = ROOT / "examples" / "epilogue.tdsl"
    status, out, err = call(capsys, "explain", epilogue, "--fusion-log")
    assert (status, err) == (0, "")
    assert "op0 and op1 has 4096 shared data" in out and "1 nest, 0 B of intermediates" in out
    assert call(capsys, "explain", epilogue)[1] == out
    assert "{c0: D*N}" in call(capsys, "explain", epilogue, "--symbolic")[1]
    assert "512 shared data" in call(capsys, "explain", epilogue, "--hint", "N=128")[1]
    record = json.loads(call(capsys, "explain", epilogue, "--json")[1])
    assert record["kernels"][0]["name"] == "epilogue" and record["kernels"][0]["events"]


def test_explain_one_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = call(capsys, "explain", "two.tdsl", "-k", "grid")
    assert status == 0 and "double" not in out
    status, _, err = call(capsys, "explain", "two.tdsl", "-k", "other")
    assert status != 0 and "error[TC0804]" in err and "double, grid" in err


def test_explain_a_code(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = call(capsys, "explain", "TC0601")
    assert status == 0 and out.startswith("# TC0601")


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = call(capsys, "doctor")
    assert status == 0
    assert all(word in out for word in (__version__, "targets", "cache", "native", "OpenMP"))


def test_doctor_without_compiler(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    status, _, err = call(capsys, "doctor")
    assert status == 3 and "no C++ compiler works" in err


# -- run --------------------------------------------------------------------------------------------


def test_run(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(5, dtype=np.float32)
    np.save("x.npy", x)
    status, out, err = call(capsys, "run", "one.tdsl", "x=@x.npy", "a=3", "-o", "out.npz", "--check")
    assert (status, err) == (0, "")
    assert re.match(r"double: out float32 \(5,\)  \d+\.\d+ ms\n", out)
    assert "agrees with the interpreter" in out
    with np.load("out.npz") as saved:
        assert saved.files == ["out"]
        np.testing.assert_array_equal(saved["out"], 3 * x)


def test_run_makes_inputs_up(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pair.tdsl").write_text(
        "dims N ~ 6, D = 3\nkernel f(x: f32[N, D], w: f32[D], k: i32[2 * N], b: bool[N]) {\n"
        "    return where(b[:, None], x * w, x), k\n}\n"
    )
    for words, shape in (
        ([], (6, 3)),
        (["x=rand:4x3"], (4, 3)),
        (["k=rand:10"], (5, 3)),
        (["--hint=N=2"], (2, 3)),
    ):
        status, out, err = call(capsys, "run", "pair.tdsl", *words, "--check")
        assert (status, err) == (0, "")
        assert f"float32 {shape}" in out
    first = [call(capsys, "run", "pair.tdsl", "-o", f"{k}.npz")[0] for k in "ab"]
    assert first == [0, 0]
    with np.load("a.npz") as a, np.load("b.npz") as b:
        assert all(np.array_equal(a[n], b[n]) for n in a.files)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x"], "the input 'x' is not of the form NAME=VALUE"),
        (["y=3"], "has no parameter 'y'"),
        (["x=rand:3", "x=rand:3"], "given twice"),
        (["x=3"], "'x=3' is no array"),
        (["x=rand"], "needs a shape"),
        (["x=@none.npy"], "cannot read 'none.npy'"),
        (["x=@one.tdsl"], "is no .npy file"),
        (["x=rand:3", "a=three"], "'three' is no f32 for 'a'"),
        (["x=rand:3x3"], "argument 'x' is float32 (3, 3), expected f32[N]"),
        (["x=rand:9999999999999999"], "no memory for 'x' of 9999999999999999 elements"),
        (["x=@f64.npy"], "argument 'x' is float64 (3,), expected f32[N]"),
        (["x=rand:0"], "requires N >= 1"),
    ],
)
def test_run_refuses_inputs(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    np.save("f64.npy", np.zeros(3))
    status, out, err = call(capsys, "run", "one.tdsl", *words, "-o", "out.npz")
    assert (status, out) == (2, "")
    assert err.startswith("error[TC0803]: ") and said in err
    assert "double takes x: f32[N], a: f32" in err
    assert "out.npz" not in files()


def test_run_chooses_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = call(capsys, "run", "two.tdsl")
    assert status == 2 and "several kernels: name one with -k" in err and "double, grid" in err
    status, out, _ = call(capsys, "run", "two.tdsl", "-k", "grid", "n=4", "--check")
    assert status == 0 and "float64 (4,)" in out
    status, _, err = call(capsys, "run", "two.tdsl", "-k", "none")
    assert status == 2 and "error[TC0804]" in err


def test_run_takes_defaults_of_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.tdsl").write_text(
        "kernel b(x: f32[N], t: bool = true, u: bool = false) { return where(t and not u, x, -x) }\n"
        "kernel i(n: i64 = 3, k: u8 = 2) { return arange(n) * k }\n"
        "kernel s(x: f32[n], n: i64 = 3) { return x * f32(n) }\n"
        "kernel f(x: f32[N], a: f16 = 0.5, c: bf16 = -2, d: f64 = inf) {\n"
        "    return x * f32(a), x * f32(c), x * f32(d)\n}\n"
    )
    np.save("x.npy", np.ones(3, np.float32))
    for words in (["b", "x=@x.npy", "-o", "b.npz"], ["i"], ["s"], ["s", "x=@x.npy"], ["f"]):
        assert call(capsys, "run", "d.tdsl", "--check", "-k", *words)[::2] == (0, ""), words
    with np.load("b.npz") as saved:
        assert saved["out"].tolist() == [1, 1, 1]
    assert "float32 (3,)" in call(capsys, "run", "d.tdsl", "-k", "s")[1]


def test_run_chooses_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    generic = "kernel g[T: f32 | f64, U: f32 | i32](x: T[N], y: U[N], a: T = 2) { return x * a, y }\n"
    Path("g.tdsl").write_text(generic)
    Path("more.tdsl").write_text(generic + ONE)
    for name in ("float32", "float64", "int32", "int8"):
        np.save(f"{name}.npy", np.zeros(3, name))
    for file, words, case in (
        ("g.tdsl", ["x=@float64.npy", "y=@int32.npy"], "g_f64_i32"),
        ("more.tdsl", ["-k", "g", "x=@float32.npy", "y=@float32.npy"], "g_f32_f32"),
        ("more.tdsl", ["-k", "g_f64_i32"], "g_f64_i32"),
    ):
        status, out, err = call(capsys, "run", file, *words)
        assert (status, err) == (0, "") and out.startswith(f"{case}: ")
    for words, code, said in (
        ([], "TC0804", "several cases of kernel 'g'"),
        (["x=rand:3"], "TC0804", "g_f32_f32, g_f32_i32, g_f64_f32, g_f64_i32"),
        (["x=@float64.npy"], "TC0804", "kernels: g_f64_f32, g_f64_i32"),
        (["x=@int8.npy"], "TC0803", "no case of kernel 'g' takes int8 for 'x'"),
        (["x=@none.npy"], "TC0803", "cannot read 'none.npy'"),
        (["z=3"], "TC0803", "has no parameter 'z'"),
    ):
        status, _, err = call(capsys, "run", "more.tdsl", "-k", "g", *words)
        assert status == 2 and f"error[{code}]" in err and said in err
    assert "several kernels: name one with -k" in call(capsys, "run", "more.tdsl")[2]


def test_failed_check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A kernel that computes something else than the program says: here, by a wrong constant in its C++."""
    import tensorc.api

    honest = tensorc.api.library_text

    def spoiled(*args: object) -> str:
        text = honest(*args)  # type: ignore[arg-type]
        marker = "tdsl_double("
        assert marker in text
        head, _, tail = text.partition(marker)
        brace = tail.index("{") + 1
        return f"{head}{marker}{tail[:brace]} a = a + 1;{tail[brace:]}".replace("const float a", "float a")

    monkeypatch.setattr(tensorc.api, "library_text", spoiled)
    status, _, err = call(capsys, "run", "one.tdsl", "x=rand:8", "--check")
    assert status == 4
    assert re.search(r"check: double\.out\[0\] is .*, expected ", err)


def test_run_from_stdin_with_threads() -> None:
    done = tensorc("run", "-", "x=rand:100", "--threads", "1", "--check", given=ONE.encode())
    assert done.returncode == 0, done.stderr
