"""The command line as a user meets it: what it writes, what it says, and its exit statuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from command import ONE, ROOT, SOFTMAX, WRONG, call, executable, files, place, tensorc

from tensorc import __version__
from tensorc.cli import options
from tensorc.driver import MATH_MODES, POLICIES, SANITIZERS, STAGE_NAMES

__all__ = ["place"]  # the directory of every test here


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
