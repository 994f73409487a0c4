"""Calls of a hand-written library through the loader: conversion, sizes, outputs, errors."""

from __future__ import annotations

import array as stdlib_array
import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade_library import LIBRARY, SCALE, HandMade

from tensorc.artefacts import loader_process


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    LIBRARY.build(folder)
    return folder


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Any:
    """The generated module, imported as a user would with `kernel.so` beside it."""
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module("kernel")
    finally:
        sys.path.remove(str(folder))


def floats(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def expected_scale(x: Any, w: Any, eps: float = 1e-5) -> np.ndarray:
    return np.asarray(x, np.float32) * np.asarray(w, np.float32) + np.float32(eps)


def test_module_shows_the_kernels_only(kernel: Any) -> None:
    assert kernel.__all__ == ["scale", "max", "np", "window", "status", "threads_used"]
    assert [n for n in dir(kernel) if not n.startswith("__")] == sorted(kernel.__all__)
    assert (
        kernel.scale.signature
        == "scale(x: f32[N, D], w: f32[D], eps: f32 = 1e-05) -> f32[N, D] requires D >= 1"
    )
    assert kernel.scale.__doc__.endswith('Scales rows; \\ and """ and */ are kept.')
    assert kernel.__file__.endswith("kernel.py")


def test_call(kernel: Any) -> None:
    x, w = floats(3, 4), floats(4)
    y = kernel.scale(x, w)
    assert type(y) is np.ndarray and y.dtype == np.float32 and y.flags.c_contiguous
    np.testing.assert_array_equal(y, expected_scale(x, w))
    np.testing.assert_array_equal(kernel.scale(w=w, x=x, eps=2), expected_scale(x, w, 2))


class Interface:
    """An array that only has __array_interface__."""

    def __init__(self, a: np.ndarray) -> None:
        self.__array_interface__ = a.__array_interface__
        self.kept = a


class DLPack:
    """An array that only speaks DLPack."""

    def __init__(self, a: np.ndarray) -> None:
        self.a = a

    def __dlpack__(self, **options: Any) -> Any:
        return self.a.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.a.__dlpack_device__()


class GpuArray(DLPack):
    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("the data is not on the CPU")


class Subclass(np.ndarray):
    pass


def unaligned(a: np.ndarray) -> np.ndarray:
    """A copy of `a` at an odd address."""
    raw = np.zeros(a.nbytes + 1, np.uint8)
    raw[1:] = np.frombuffer(a.tobytes(), np.uint8)
    moved = raw[1:].view(a.dtype).reshape(a.shape)
    assert not moved.flags.aligned
    return moved


@pytest.mark.parametrize(
    "convert",
    [
        Interface,
        DLPack,
        lambda a: a.view(Subclass),
        lambda a: memoryview(a),
        lambda a: np.broadcast_to(a, a.shape),
        np.asfortranarray,
        unaligned,
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: a[::-1][::-1],
    ],
)
def test_arrays_of_any_kind(kernel: Any, convert: Callable[[np.ndarray], Any]) -> None:
    x, w = floats(3, 4), floats(4)
    np.testing.assert_array_equal(kernel.scale(convert(x), w), expected_scale(x, w))


def test_negative_strides_and_buffers(kernel: Any) -> None:
    x = floats(3, 4)
    w = stdlib_array.array("f", [1, 2, 3, 4])
    np.testing.assert_array_equal(kernel.scale(x[::-1, ::-1], w), expected_scale(x[::-1, ::-1], w))


def test_read_only_inputs_are_fine(kernel: Any) -> None:
    x = floats(3, 4)
    x.flags.writeable = False
    assert kernel.scale(x, x[0]).shape == (3, 4)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda x, w: (x, w[:3]),
            ValueError,
            "argument 'w' is float32 (3,), expected f32[D] with D=4 (N=3, D=4 from 'x')",
        ),
        (lambda x, w: (x[0], w), ValueError, "argument 'x' is float32 (4,), expected f32[N, D]"),
        (
            lambda x, w: (x, x),
            ValueError,
            "argument 'w' is float32 (3, 4), expected f32[D] with D=4 (N=3, D=4 from 'x')",
        ),
        (
            lambda x, w: (x, w.astype("f8")),
            TypeError,
            "argument 'w' is float64 (4,), expected f32[D]; convert it with .astype('float32')",
        ),
        (
            lambda x, w: (x, w.astype(">f4")),
            TypeError,
            "argument 'w' is >f4 (4,), expected f32[D] in this machine's byte order",
        ),
        (lambda x, w: (x, [1.0, 2.0]), TypeError, "argument 'w' is a list, expected an array f32[D]"),
        (lambda x, w: (x, None), TypeError, "argument 'w' is a NoneType, expected an array f32[D]"),
        (lambda x, w: (x, 1.5), TypeError, "argument 'w' is float 1.5, expected an array f32[D]"),
        (lambda x, w: (x, np.ma.masked_array(w)), TypeError, "expected an array f32[D]"),
        (
            lambda x, w: (x, GpuArray(w)),
            TypeError,
            "cannot be read through DLPack: the data is not on the CPU",
        ),
        (lambda x, w: (x[:, :0], w[:0]), ValueError, "requires D >= 1, but D is 0 (N=3, D=0 from 'x')"),
        (lambda x, w: (x, w, "1"), TypeError, "argument 'eps' is str '1', expected f32"),
        (lambda x, w: (x, w, 1j), TypeError, "argument 'eps' is complex 1j, expected f32"),
        (lambda x, w: (x, w, 10**400), ValueError, "argument 'eps' is too large for f32"),
        (
            lambda x, w: (x, w, Fraction(1, 2)),
            TypeError,
            "argument 'eps' is a fractions.Fraction, expected f32",
        ),
    ],
)
def test_refused_arguments(kernel: Any, make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        kernel.scale(*make(floats(3, 4), floats(4)))
    assert str(caught.value).startswith("scale(): ")
    assert words in str(caught.value)


@pytest.mark.parametrize("value", [2, 2.0, True, np.float32(2), np.float64(2), np.int8(2), np.array(2.0)])
def test_float_scalars(kernel: Any, value: Any) -> None:
    x, w = floats(2, 3), floats(3)
    np.testing.assert_array_equal(kernel.scale(x, w, value), expected_scale(x, w, float(value)))


def test_integer_and_bool_scalars(kernel: Any) -> None:
    assert kernel.np(3, True).tolist() == [0, 1, 2]
    assert kernel.np(np.int32(2), np.bool_(False), 5).tolist() == [5, 5]
    assert kernel.np(np.array(1)).tolist() == [-np.inf]
    for n in (2.0, np.float64(2), "2"):
        with pytest.raises(TypeError, match=r"argument 'n' is .*, expected i64"):
            kernel.np(n)
    with pytest.raises(TypeError, match=r"argument 'flag' is int 1, expected bool"):
        kernel.np(1, 1)
    with pytest.raises(ValueError, match="which no i64 holds"):
        kernel.np(2**63)
    with pytest.raises(ValueError, match="argument 'n' is -1, and a size cannot be negative"):
        kernel.np(-1)
    assert kernel.np(0).shape == (0,)


def test_linear_sizes(kernel: Any) -> None:
    assert kernel.window(floats(3), floats(7)).shape == (5,)
    with pytest.raises(ValueError, match=r"argument 'x' is float32 \(1,\), .*: N would be -1 \(K=3 from 'w'"):
        kernel.window(floats(3), floats(1))
    with pytest.raises(ValueError, match="no whole H fits"):
        kernel.max(np.zeros(3), 1)


def test_several_results(kernel: Any) -> None:
    r = kernel.max(np.array([1.0, 5, 4, 2]), 7)
    assert r.lambda_.tolist() == [4, 5]
    assert r[1].shape == () and r[1].dtype == np.int64 and r[1] == 9
    assert r._fields == ("lambda_", "_1")
    again = pickle.loads(pickle.dumps(r))
    assert type(again) is type(r) and again.lambda_.tolist() == [4, 5]
    assert pickle.loads(pickle.dumps(kernel.max)) is kernel.max


def test_out(kernel: Any) -> None:
    x, w = floats(3, 4), floats(4)
    out = np.empty_like(x)
    assert kernel.scale(x, w, out=out) is out
    np.testing.assert_array_equal(out, expected_scale(x, w))
    outs = (np.empty(2), np.empty((), np.int64))
    r = kernel.max(np.arange(4.0), 0, out=outs)
    assert r.lambda_ is outs[0] and r[1] is outs[1] and outs[1] == 2


def with_flag(a: np.ndarray) -> np.ndarray:
    a.flags.writeable = False
    return a


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda x: np.empty((3, 4)), TypeError, "out is float64 (3, 4), expected f32[N, D]"),
        (
            lambda x: np.empty((4, 3), "f4"),
            ValueError,
            "expected f32[N, D] with shape (3, 4) (N=3, D=4 from 'x')",
        ),
        (lambda x: with_flag(np.empty((3, 4), "f4")), ValueError, "out is read-only"),
        (lambda x: np.empty((3, 4), "f4", order="F"), ValueError, "out is not C-contiguous and aligned"),
        (lambda x: unaligned(np.ones((3, 4), "f4")), ValueError, "out is not C-contiguous and aligned"),
        (lambda x: [1], TypeError, "out is a list, expected an array"),
        (lambda x: (x, x), TypeError, "out has 2 arrays, expected 1"),
        (lambda x: np.empty((3, 4), "f4").view(Subclass), TypeError, "expected a numpy.ndarray"),
    ],
)
def test_refused_out(kernel: Any, make: Any, error: type[Exception], words: str) -> None:
    x, w = floats(3, 4), floats(4)
    with pytest.raises(error) as caught:
        kernel.scale(x, w, out=make(x))
    assert words in str(caught.value)


def test_overlap_is_refused_and_writes_nothing(kernel: Any) -> None:
    memory = floats(20)
    before = memory.copy()
    x, w = memory[:12].reshape(3, 4), floats(4)
    for out in (memory[4:16].reshape(3, 4), memory[8:20].reshape(3, 4)):
        with pytest.raises(ValueError, match="out overlaps argument 'x'"):
            kernel.scale(x, w, out=out)
    with pytest.raises(ValueError, match="out overlaps argument 'w'"):
        kernel.scale(floats(3, 4), memory[:4], out=memory[:12].reshape(3, 4))
    # a strided view of the output is copied, and refused nevertheless
    square = memory[:16].reshape(4, 4)
    with pytest.raises(ValueError, match="out overlaps argument 'x'"):
        kernel.scale(square.T, w, out=square)
    np.testing.assert_array_equal(memory, before)


def test_in_place_where_the_plan_allows_it(kernel: Any) -> None:
    x, w = floats(3, 4), floats(4)
    want = expected_scale(x, w)
    assert kernel.scale(x, w, out=x) is x
    np.testing.assert_array_equal(x, want)
    y = np.arange(4.0)
    with pytest.raises(ValueError, match="overlaps argument 'calls'"):
        kernel.max(y, 0, out=(y[:2], np.empty((), np.int64)))


def test_outs_that_overlap_each_other(kernel: Any) -> None:
    memory = np.zeros(4)
    with pytest.raises(ValueError, match="two of the out arrays overlap"):
        kernel.max(np.arange(4.0), 0, out=(memory[:2], memory[1:2].view(np.int64).reshape(())))


def test_neighbours_do_not_overlap(kernel: Any) -> None:
    memory = floats(28)
    x, w, out = memory[:12].reshape(3, 4), memory[12:16], memory[16:].reshape(3, 4)
    want = expected_scale(x, w)
    np.testing.assert_array_equal(kernel.scale(x, w, out=out), want)


def test_copy_never(kernel: Any) -> None:
    x, w = floats(3, 4), floats(4)
    np.testing.assert_array_equal(kernel.scale(x, w, copy="never"), expected_scale(x, w))
    with pytest.raises(ValueError, match=r"argument 'x' is not C-contiguous and aligned, and copy='never'"):
        kernel.scale(np.asfortranarray(x), w, copy="never")
    with pytest.raises(ValueError, match="copy must be 'auto' or 'never'"):
        kernel.scale(x, w, copy="always")


def test_empty_arrays(kernel: Any) -> None:
    assert kernel.scale(floats(0, 4), floats(4)).shape == (0, 4)
    assert kernel.max(np.zeros(0), 1)[0].shape == (0,)


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (1, ValueError, "the sizes of this call are too large"),
        (2, MemoryError, "no memory"),
        (3, RuntimeError, "this CPU lacks"),
        (9, RuntimeError, "unknown status 9"),
        (16, IndexError, "status(): index 7 of 'x' is out of range on axis 0"),
        (17, ValueError, "an integer to a negative power"),
        (18, RuntimeError, "unknown status 18"),
        (-1, RuntimeError, "unknown status -1"),
    ],
)
def test_status_codes(kernel: Any, code: int, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        kernel.status(code)
    assert words in str(caught.value)


def test_wrong_number_of_arguments(kernel: Any) -> None:
    for args, named in (((), {}), ((floats(3, 4),), {}), ((1, 2, 3, 4), {}), ((1, 2), {"x": 3})):
        with pytest.raises(TypeError, match=r"scale\(\)"):
            kernel.scale(*args, **named)


# -- threads --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def threaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("threaded")
    HandMade(LIBRARY.facts, LIBRARY.bodies, threads="openmp").build(folder, stem="fast")
    return folder


def run(folder: Path, program: str, **environment: str) -> str:
    """Output of a program beside the library, in an isolated process."""
    env = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"} | environment
    head = "import sys; sys.path.insert(0, '.')\n"
    command = [sys.executable, "-I", "-W", "error", "-c", head + program]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_threads_argument(kernel: Any) -> None:
    assert kernel.threads_used(threads=5) == 1  # built without threads
    for wrong, error in ((0, ValueError), (-2, ValueError), (2**40, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match=r"threads_used\(\): threads must be (from 1 to \d+|an integer), not"):
            kernel.threads_used(threads=wrong)


def test_default_threads(threaded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import fast; print(fast.threads_used(), fast.threads_used(threads=3))"
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    allowed = loader_process.default_threads.__wrapped__()
    assert run(threaded, program, OMP_NUM_THREADS="7,2") == "7 3"
    assert run(threaded, program) == f"{allowed} 3"
    pin = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    assert run(threaded, pin + program) == "1 3"


def test_forked_child_is_serial(threaded: Path) -> None:
    program = """
import os, warnings, fast
fast.threads_used()
warnings.simplefilter("ignore")
if os.fork() == 0:
    print(fast.threads_used(), fast.threads_used(threads=4), flush=True)
    os._exit(0)
os.wait()
"""
    assert run(threaded, program, OMP_NUM_THREADS="4") == "1 1"


def test_cgroup_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/sys/fs/cgroup/cpu.max": ["150000", "100000"]}
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(loader_process, "_read_words", lambda path: files.get(path, []))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert loader_process.default_threads.__wrapped__() == 1
    files["/sys/fs/cgroup/cpu.max"] = ["max", "100000"]
    assert loader_process.default_threads.__wrapped__() == 8
    files["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"] = ["300000"]
    files["/sys/fs/cgroup/cpu/cpu.cfs_period_us"] = ["100000"]
    assert loader_process.default_threads.__wrapped__() == 3


def test_calls_from_many_threads(kernel: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    inputs = [(floats(3, 4) + k, floats(4)) for k in range(64)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda a: kernel.scale(*a), inputs))
    for (x, w), y in zip(inputs, found, strict=True):
        np.testing.assert_array_equal(y, expected_scale(x, w))


# -- loading --------------------------------------------------------------------------------------


def test_import_needs_neither_tensorc_nor_a_c_parser(folder: Path) -> None:
    program = """
import kernel
print([m for m in ("tensorc", "pycparser", "sympy", "lark", "cffi") if m in sys.modules])
from kernel import max as biggest, np
print(biggest is kernel.max, np(2, True))
import importlib
print(importlib.reload(kernel).np(1, True))
"""
    assert run(folder, program) == "[]\nTrue [0. 1.]\n[0.]"


def test_import_by_path_and_inside_a_package(folder: Path, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    LIBRARY.build(package)
    program = f"""
from package import kernel
print(kernel.__name__, kernel.np(2, True))
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("other", {str(folder / "kernel.py")!r})
sys.modules["other"] = module = module_from_spec(spec)
spec.loader.exec_module(module)
print(sys.modules["other"].np(1, True))
"""
    assert run(tmp_path, program) == "package.kernel [0. 1.]\n[0.]"


def import_error(folder: Path) -> str:
    program = "try:\n    import kernel\nexcept ImportError as e:\n    print(e, 'kernel' in sys.modules)\n"
    return run(folder, program)


def test_cpu_without_a_feature(tmp_path: Path) -> None:
    target = LIBRARY.target
    needy = type(target)("x86-64-v9", target.arch, (), ("avx9", "fma"))
    HandMade((SCALE,), LIBRARY.bodies, needy).build(tmp_path)
    said = import_error(tmp_path)
    assert "kernel.so was compiled for x86-64-v9; this CPU lacks avx9" in said
    assert said.endswith("False")


def test_missing_openmp_runtime(tmp_path: Path) -> None:
    library = LIBRARY.build(tmp_path)
    program = f"""
class FFI:
    def dlopen(self, path):
        raise OSError("libgomp.so.1: cannot open shared object file: No such file or directory")
from tensorc.artefacts.loader_runtime import open_library
try:
    open_library(FFI(), {str(library)!r}, {{"target": {{"features": [], "name": "generic"}}}})
except ImportError as e:
    print(e)
"""
    root = Path(__file__).resolve().parents[2]
    said = run(tmp_path, f"sys.path.insert(0, {str(root)!r})\n{program}")
    assert "kernel.so needs the OpenMP runtime libgomp" in said
    assert "--threads=none" in said


def test_library_and_module_of_different_builds(tmp_path: Path) -> None:
    LIBRARY.build(tmp_path)
    HandMade((SCALE,), LIBRARY.bodies).build(tmp_path / "other")
    (tmp_path / "other" / "kernel.so").replace(tmp_path / "kernel.so")
    assert "were not made together" in import_error(tmp_path)


def test_library_that_is_damaged_or_gone(tmp_path: Path) -> None:
    LIBRARY.build(tmp_path)
    (tmp_path / "kernel.so").unlink()
    assert "cannot load" in import_error(tmp_path)
