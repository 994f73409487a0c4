"""What is not a kernel's value: processes, memory, other runtimes, odd paths, broken stores, messages.

Each test that changes or measures a process does so in one of its own.
"""

from __future__ import annotations

import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorc
from tensorc.cli.main import run

PROGRAMS = Path(__file__).resolve().parents[1] / "conformance" / "programs"
TIMEOUT = 300


def python(code: str, *words: object, **environment: str) -> str:
    """What a script prints; it must end well, and say nothing else."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0 and not done.stderr, done.stderr[-3000:]
    return done.stdout


def program(case: str) -> str:
    return (PROGRAMS / f"{case}.tdsl").read_text(encoding="utf-8")


# -- the process -------------------------------------------------------------------------------------

MXCSR = "unsigned mode(void) { return __builtin_ia32_stmxcsr(); }\n"
FLOAT_MODE = """\
import ctypes, sys, threading
probe = ctypes.CDLL(sys.argv[1]).mode
def state():
    found = []
    def look(): found.append((probe() & ~0x3f, float("5e-324") * 1.0 != 0.0))
    look()
    thread = threading.Thread(target=look); thread.start(); thread.join()
    return found
states = [state()]
import tensorc; states.append(state())
module = tensorc.compile(sys.argv[2])
states.append(state())
import numpy as np
for threads in (1, 2):
    module[sys.argv[3]](np.full(100_000, 1e-310), threads=threads); states.append(state())
assert all(s == states[0] for s in states), states
assert states[0][0][0] & 0x8040 == 0
print(module.library)
"""


FLAGS = ("-ffast-math", "-Ofast", "-funsafe-math-optimizations", "-ffinite-math-only", "-fassociative-math")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="reads a register of x86")
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("flags", [*FLAGS, " ".join(FLAGS)])
def test_the_floating_point_mode_is_left_alone(compiler: str, flags: str, tmp_path: Path) -> None:
    """Also where the user's flags ask for it: neither flushed subnormals nor start-up code that sets them."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    (tmp_path / "mode.c").write_text(MXCSR)
    shared = ("g++", "-x", "c", "-shared", "-fPIC", "-o", tmp_path / "mode.so", tmp_path / "mode.c")
    subprocess.run(shared, check=True)
    (tmp_path / "k.tdsl").write_text("kernel f(x: f64[N]) { return x * 0.5 + sum(x) }\n")
    library = python(
        FLOAT_MODE,
        *(tmp_path / "mode.so", tmp_path / "k.tdsl", "f"),
        CXX=compiler,
        CXXFLAGS=flags,
        TENSORC_CACHE_DIR=str(tmp_path / "cache"),
    ).strip()
    symbols = subprocess.run(("readelf", "-Ws", library), capture_output=True, text=True, check=True)
    assert "fast" not in symbols.stdout.replace("fast_math_off", "")


@pytest.mark.parametrize("flags", [(f,) for f in FLAGS] + [("-O3", *FLAGS, "-mfma", "-ffp-contract=fast")])
def test_flags_of_the_user_change_no_value(
    flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """\
kernel residue(a: f32[N], b: f32[N], x: f32[N]) { return a * x + b * x }
kernel special(x: f32[N]) { return isnan(x), isinf(x), x != x, x * 0, x - x, x / 3, (x + 1e8) - 1e8 }
kernel small(x: f64[N]) { return x * 0.5, sqrt(x) }
"""
    plain = tensorc.compile(text, cache_dir=tmp_path)
    monkeypatch.setenv("CXXFLAGS", " ".join(flags))
    asked = tensorc.compile(text, cache_dir=tmp_path)
    assert asked.library != plain.library
    x = np.resize(np.array([np.nan, np.inf, -0.0, 1.5, 1e-40, -3.25, 0.1], np.float32), 41)
    tiny = np.resize(np.array([5e-324, 1e-310, 1.0]), 23)
    tenth = np.full(37, 0.1, np.float32)
    assert not plain.residue(tenth, -tenth, tenth * 3).any()
    for name, arguments in {"residue": (tenth, -tenth, tenth * 3), "special": (x,), "small": (tiny,)}.items():
        for one, other in zip(_tuple(plain[name](*arguments)), _tuple(asked[name](*arguments)), strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
            np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


# -- memory ------------------------------------------------------------------------------------------


def test_slices_of_any_alignment(tmp_path: Path) -> None:
    module = tensorc.compile(program("C57"), cache_dir=tmp_path)
    assert not re.search(r"assume_aligned|pragma omp.*\baligned\b", module["twice"].cpp)
    dtype = np.dtype(np.float32 if "f32" in module["twice"].signature else np.float64)
    for start in range(9):
        x = np.arange(40, dtype=dtype)[start:]
        np.testing.assert_array_equal(module["twice"](x), x * 2)
    memory = np.zeros(50 * dtype.itemsize, np.uint8)
    for offset in range(dtype.itemsize + 1):
        x = memory[offset : offset + 40 * dtype.itemsize].view(dtype)
        x[:] = np.arange(40)
        np.testing.assert_array_equal(module["twice"](x), np.arange(40) * 2)


def test_foreign_arrays(tmp_path: Path) -> None:
    """Memory of another owner is kept by the reference; subclasses are arrays; no array is reinterpreted."""
    kernel = tensorc.compile("kernel next(x: i64[N]) { return x + 1 }\n", cache_dir=tmp_path)["next"]
    file = tmp_path / "numbers"
    file.write_bytes(np.arange(1000).tobytes())
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    x = np.frombuffer(mapped, np.int64)[3:500]
    with pytest.raises(BufferError):
        mapped.close()
    np.testing.assert_array_equal(kernel(x), np.arange(4, 501))

    class Tagged(np.ndarray):
        pass

    result = kernel(np.arange(5).view(Tagged))
    assert result.tolist() == [1, 2, 3, 4, 5]
    assert kernel(np.memmap(file, np.int64, "r"))[-1] == 1000
    assert _converted(
        kernel, ["1"], np.arange(5.0), np.arange(5).astype(">i8"), np.arange(5, dtype=np.uint64)
    )


def _converted(kernel: Any, *arrays: Any) -> bool:
    """Each array is converted with its value, or refused by name."""
    for wrong in arrays:
        try:
            found, said = kernel(wrong).tolist(), "x"
        except (TypeError, ValueError) as error:
            found, said = [1, 2, 3, 4, 5], str(error)
        if found != [1, 2, 3, 4, 5] or "x" not in said:
            return False
    return True


MEMORY = """\
import resource, sys
import numpy as np, tensorc
text = "kernel pick(x: u8[N], i: i64[M]) { return take(x, i, axis=0) }"
kernel = tensorc.compile(text, cache_dir=sys.argv[1])["pick"]
x = np.zeros(1 << 31, np.uint8)
kernel(x[:10], np.array([1]))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
assert kernel(x, np.array([0, 1 << 30, (1 << 31) - 1])).tolist() == [0, 0, 0]
assert peak() - before < 64 * 1024, peak() - before
"""


def test_inputs_are_neither_copied_nor_scanned(tmp_path: Path) -> None:
    python(MEMORY, tmp_path)


# -- processes and other runtimes --------------------------------------------------------------------

FORKS = """\
import multiprocessing, os, sys
import numpy as np, tensorc
def total(threads):
    kernel = tensorc.compile("kernel total(x: f32[N]) { return sum(x) }", cache_dir=sys.argv[1])["total"]
    return float(kernel(np.ones(1 << 20, np.float32), threads=threads))
def child(depth, queue):
    for threads in (None, 1, 2):
        assert total(threads) == 1 << 20
    if depth:
        grandchild = multiprocessing.get_context("fork").Process(target=child, args=(depth - 1, queue))
        grandchild.start(); grandchild.join(60)
        assert grandchild.exitcode == 0
    queue.put(depth)
if __name__ == "__main__":
    assert total(2) == 1 << 20
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=child, args=(1, queue))
        process.start(); process.join(120)
        assert process.exitcode == 0, (method, process.exitcode)
        assert {queue.get(timeout=9), queue.get(timeout=9)} == {0, 1}
    assert total(2) == 1 << 20
    print("done")
"""


def test_children_of_every_kind(tmp_path: Path) -> None:
    """Forked, forked again, and spawned: each may call with the default, one thread and two."""
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, check=False, timeout=TIMEOUT
    )
    assert done.stdout == "done\n", done.stderr[-3000:]


RUNTIMES = """\
import os, sys
import numpy as np, tensorc
others = {
    "clang++": lambda: compiled("clang++"),
    "torch": lambda: __import__("torch").ones(1000, 1000).exp().sum(),
    "numexpr": lambda: __import__("numexpr").evaluate("x + 1", {"x": np.ones(1 << 20)}),
    "numba": lambda: __import__("numba").njit(parallel=True)(lambda x: np.sin(x).sum())(np.ones(1 << 20)),
}
def compiled(cxx):
    os.environ["CXX"] = cxx
    kernel = tensorc.compile(sys.argv[1], cache_dir=sys.argv[2])["total"]
    threads = len(os.listdir("/proc/self/task"))
    assert float(kernel(np.ones(100_000), threads=2)) == 100_000
    assert len(os.listdir("/proc/self/task")) <= threads + 1
for step in sys.argv[3:]:
    others[step]() if step in others else compiled(step)
print("done")
"""


@pytest.mark.parametrize("other", ["clang++", "torch", "numexpr", "numba"])
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_another_openmp_runtime_in_the_process(other: str, first: bool, tmp_path: Path) -> None:
    installed = shutil.which(other) if other == "clang++" else _module(other)
    if not installed:
        pytest.skip(f"{other} is not installed")
    steps = (other, "g++") if first else ("g++", other)
    assert python(RUNTIMES, PROGRAMS / "C97.tdsl", tmp_path, *steps, *steps) == "done\n"


def _module(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


# -- places and stores -------------------------------------------------------------------------------

ODD_NAMES = (
    "a b",
    "it's",
    'q"q',
    "dollar$HOME",
    "ü-λ",
    "-lead",
    "semi;colon",
    "star*",
    "new\nline",
    "%s",
    "@file",
)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_paths_of_every_kind(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the directory of the source, the output, the store, temporary files and the user's home."""
    root = tmp_path / name
    root.mkdir()
    (root / "k.tdsl").write_text(program("C88"))
    for variable in ("TMPDIR", "HOME", "XDG_CACHE_HOME", "TENSORC_CACHE_DIR"):
        monkeypatch.setenv(variable, str(root))
    monkeypatch.setattr(tempfile, "tempdir", str(root))
    assert run(["compile", str(root / "k.tdsl"), "-o", str(root / "out.so")]) == 0
    assert tensorc.compile(root / "k.tdsl")["triple"](np.array([1.0, 2.0])).tolist() == [3, 6]
    load = (
        "import sys; sys.path.insert(0, sys.argv[1]); import out, numpy as np; print(out.triple(np.ones(2)))"
    )
    assert python(load, root) == "[3. 3.]\n"
    assert [p.name for p in tmp_path.iterdir()] == [name]
    monkeypatch.chdir(tmp_path)
    assert run(["check", "--", f"{name}/k.tdsl"]) == 0


STRESS = """\
import random, shutil, sys
from pathlib import Path
import numpy as np, tensorc
store = Path(sys.argv[2])
for n in range(6):
    assert tensorc.compile(sys.argv[1], cache_dir=store)["before"](np.array([0, 1, 2])).tolist() == [-1, 0, 1]
    if random.Random(sys.argv[3] + str(n)).random() < 0.4:
        for entry in store.iterdir():
            shutil.rmtree(entry, ignore_errors=True)
"""


def test_processes_that_build_and_remove_one_entry(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    words = [sys.executable, "-c", STRESS, PROGRAMS / "C91.tdsl", store]
    started = [subprocess.Popen([*words, str(n)], stderr=subprocess.PIPE, text=True) for n in range(5)]
    for process in started:
        _, said = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0, said[-3000:]
    left = [
        p for p in store.rglob("*") if p.is_file() and p.suffix not in (".so", ".sha256", ".json", ".lock")
    ]
    assert all(p.name in ("kernel.cpp", "kernel.so.lock") for p in left), left


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda b: b"",
    "half": lambda b: b[: len(b) // 2],
    "all but a byte": lambda b: b[:-1],
    "zeros": lambda b: bytes(4096) + b[4096:],
    "noise": lambda b: np.random.default_rng(1).bytes(min(4096, len(b))) + b[4096:],
}
ANSWER = """\
import sys, numpy as np, tensorc
print(tensorc.compile(sys.argv[1], cache_dir=sys.argv[2])["seven"](np.array([6])))
"""


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_store_is_mended(damage: str, tmp_path: Path) -> None:
    """Every file of the store at once; a process that finds it so builds again."""
    assert python(ANSWER, PROGRAMS / "C94.tdsl", tmp_path) == "[42]\n"
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert any(p.suffix == ".so" for p in files)
    for path in files:
        path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert python(ANSWER, PROGRAMS / "C94.tdsl", tmp_path) == "[42]\n"


def test_the_source_includes_standard_headers_only(tmp_path: Path) -> None:
    module = tensorc.compile(program("C96"), cache_dir=tmp_path)
    cpp = module["minus"].cpp
    included = set(re.findall(r"^\s*#\s*include\s*([<\"][^>\"]*[>\"])", cpp, re.M))
    assert included <= {
        "<omp.h>",
        *(f"<{n}>" for n in ["stdint.h", "stddef.h", "stdlib.h", "string.h", "math.h"]),
    }


# -- the command line --------------------------------------------------------------------------------


def test_no_compiler_at_all(tmp_path: Path) -> None:
    (tmp_path / "k.tdsl").write_text(program("C87"))
    command = [sys.executable, "-m", "tensorc", "compile", tmp_path / "k.tdsl", "-o", tmp_path / "k.so"]
    bare = {"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=bare, timeout=TIMEOUT)
    assert done.returncode == 3
    assert all(word in done.stderr for word in ("g++", "clang++", "CXX")) and "Traceback" not in done.stderr
    false = {**bare, "CXX": "/bin/false"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=false, timeout=TIMEOUT)
    assert done.returncode == 3 and "/bin/false" in done.stderr and "Traceback" not in done.stderr
    command[3:] = ["check", tmp_path / "k.tdsl"]
    assert subprocess.run(command, check=False, env=bare, timeout=TIMEOUT).returncode == 0


REFUSED = sorted(p for p in PROGRAMS.glob("C*_*.tdsl") if p.stem not in ("C81_shadow", "C44_axis0"))


@pytest.mark.parametrize("path", REFUSED, ids=lambda p: p.stem)
def test_refused_programs_name_the_place(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["check"], ["compile", "-o", "/nonexistent/k.so"]):
        assert run([command[0], str(path), *command[1:]]) == 1
        said = capsys.readouterr().err
        assert re.search(r"error\[TC\d{4}\]", said) and "^" in said
        places = re.findall(rf"{re.escape(path.name)}:(\d+):\d+", said)
        lines = path.read_text().splitlines()
        assert places and all(not lines[int(n) - 1].startswith("#") for n in places)
        assert "Traceback" not in said and "g++" not in said


def test_a_shape_error_as_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    path = PROGRAMS / "C103.tdsl"
    assert run(["check", str(path)]) == 1
    said = capsys.readouterr().err
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "a + b" in text)
    assert f"C103.tdsl:{line}:" in said and "f32[3]" in said and "f32[4]" in said and "a + b" in said


def test_all_errors_in_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(PROGRAMS / "C103_many.tdsl")]) == 1
    said = capsys.readouterr().err
    places = [tuple(map(int, p)) for p in re.findall(r"--> \S*C103_many.tdsl:(\d+):(\d+)", said)]
    assert len(re.findall(r"^error\[", said, re.M)) >= 7 and places == sorted(places)
    assert "`sin`" in said and "`total`" in said and "axis=1" in said


MISTAKES = {
    "a missing brace": b"kernel f(x: f32[N]) { return x\n",
    "a missing parenthesis": b"kernel f(x: f32[N] { return x }\n",
    "two operators": b"kernel f(x: f32[N]) { return x + * 2 }\n",
    "a NUL": b"kernel f(x: f32[N]) { return x\0 }\n",
    "no bytes": b"",
    "another encoding": "kernel f(x: f32[N]) { return x } # é\n".encode("utf-16"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_files_with_a_mistake(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.tdsl"
    path.write_bytes(MISTAKES[name])
    assert run(["check", str(path)]) == 1
    said = capsys.readouterr().err
    assert len(re.findall(r"^error\[TC\d{4}\]", said, re.M)) == 1 and "k.tdsl" in said


def test_one_warning_for_each_value_that_widens(capsys: pytest.CaptureFixture[str]) -> None:
    """Four sums of f32 in kernels of other integers, four in the kernel of f32, and one `where`."""
    assert run(["check", str(PROGRAMS / "C77.tdsl")]) == 0
    said = capsys.readouterr().err
    lines = (PROGRAMS / "C77.tdsl").read_text().splitlines()
    marked = [lines[int(n) - 1][int(c) - 1 :] for n, c in re.findall(r"C77.tdsl:(\d+):(\d+)", said)]
    assert len(re.findall(r"^warning\[", said, re.M)) == 9 and "error" not in said
    assert sum(m.startswith("where(m, i, f)") for m in marked) == 1
    assert sum(m.startswith("x + f") for m in marked) == 4
