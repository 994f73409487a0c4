"""Every example, at several sizes, within the bounds that the language promises; from Python, C and C++."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensorc

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))
from reference import EXAMPLES, Example  # noqa: E402

SIZES = (
    {"N": 1, "D": 1, "H": 1},
    {"N": 3, "D": 5, "H": 2},
    {"N": 7, "D": 129, "H": 65},
    {"N": 130, "D": 64, "H": 17},
)
TOOL = Path(sys.executable).with_name("tensorc")
LINKERS = [c for c in (("gcc", "-x", "c"), ("clang", "-x", "c"), ("g++", "-x", "c++")) if shutil.which(c[0])]


def check_against_reference(example: Example, sizes: dict[str, int]) -> None:
    kernel = tensorc.compile(example.path)[example.name]
    inputs = example.inputs(sizes)
    returned = kernel(*inputs)
    results = returned if isinstance(returned, tuple) else (returned,)
    expected, bounds = example.evaluate(*(a.astype(np.float64) for a in inputs))
    for got, want, bound in zip(results, expected, bounds, strict=True):
        assert got.dtype == np.float32
        assert got.shape == want.shape
        assert (np.abs(got - want) <= bound).all()


def test_every_file_is_listed() -> None:
    assert sorted(p.stem for p in (ROOT / "examples").glob("*.tdsl")) == sorted(e.name for e in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_example_at_its_hints(example: Example) -> None:
    check_against_reference(example, example.sizes)


@pytest.mark.parametrize("sizes", SIZES, ids=lambda s: "x".join(map(str, s.values())))
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_example_at_other_sizes(example: Example, sizes: dict[str, int]) -> None:
    check_against_reference(example, sizes)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_example_without_rows(example: Example) -> None:
    kernel = tensorc.compile(example.path)[example.name]
    inputs = example.inputs({"N": 0, "D": 8, "H": 4})
    returned = kernel(*inputs)
    results = returned if isinstance(returned, tuple) else (returned,)
    assert all(r.size == 0 and 0 in r.shape for r in results)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with softmax as kernel.so, kernel.h and kernel.py."""
    out = tmp_path_factory.mktemp("c") / "kernel.so"
    subprocess.run([TOOL, "compile", ROOT / "examples" / "softmax.tdsl", "-o", out], check=True)
    return out.parent


@pytest.mark.parametrize("linker", LINKERS, ids=lambda c: c[0])
def test_c_program_gives_the_bits_of_the_library(compiled: Path, linker: tuple[str, ...]) -> None:
    program = compiled / f"use_kernel_{linker[0]}"
    source = ROOT / "examples" / "use_kernel.c"
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{compiled}"]
    link = ["-x", "none", compiled / "kernel.so", f"-Wl,-rpath,{compiled}", "-o", program]
    subprocess.run([*linker, *flags, source, *link], check=True)

    x = np.random.default_rng(3).standard_normal((3, 4)).astype(np.float32)
    x.tofile(compiled / "x.bin")
    shown = subprocess.run(
        [program, "x.bin", "y.bin"], cwd=compiled, check=True, capture_output=True, text=True
    )
    from_c = np.fromfile(compiled / "y.bin", dtype=np.float32).reshape(3, 4)

    # the same .so through its loader: the JIT's build may have another target, hence other roundings in fma
    load = (
        "import kernel, numpy as np; kernel.softmax(np.fromfile('x.bin', 'f4').reshape(3, 4)).tofile('z.bin')"
    )
    subprocess.run([sys.executable, "-c", load], cwd=compiled, check=True)
    from_python = np.fromfile(compiled / "z.bin", dtype=np.float32).reshape(3, 4)
    assert from_c.tobytes() == from_python.tobytes()
    assert len(shown.stdout.splitlines()) == 3


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `make demo` runs: all examples right, four logs, exit status 0."""
    monkeypatch.setenv("TENSORC_CACHE_DIR", str(tmp_path))
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    for example in EXAMPLES:
        assert [line for line in lines if line.startswith(f"{example.name} ") and line.endswith(" ok")]
    assert sum(line.startswith("$ tensorc explain --fusion-log") for line in lines) == 4
    assert lines[-1] == f"{len(EXAMPLES)} of {len(EXAMPLES)} examples agree with NumPy"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/maps")
@pytest.mark.parametrize("cxx", [c for c in ("g++", "clang++") if shutil.which(c)])
def test_dropped_module_leaves_the_openmp_runtime(cxx: str, tmp_path: Path) -> None:
    """Unloading a kernel would unload the runtime, while its threads wait in it for the next region."""
    program = f"""
import gc, numpy as np, tensorc
module = tensorc.compile({str(EXAMPLES[0].path)!r}, cxx={cxx!r}, cache_dir={str(tmp_path)!r})
module.chain(np.ones((1024, 1024), np.float32), threads=2)
loaded = lambda: {{line.split()[-1] for line in open("/proc/self/maps") if "omp" in line or "kernel" in line}}
before = loaded()
assert len(before) >= 2, before
del module
gc.collect()
assert loaded() == before, before - loaded()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
