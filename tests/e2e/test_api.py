from __future__ import annotations

import inspect
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cffi import FFI

import tensorc
from tensorc.codegen.emit import emit_unit
from tensorc.codegen.kernel import EmitOptions
from tensorc.diagnostics.model import ToolchainError
from tensorc.driver import CompileOptions, compile_text
from tensorc.source import Source
from tensorc.toolchain.build import BuildOptions, build_library
from tensorc.toolchain.compiler import find_compiler
from tensorc.toolchain.target import probe_host, resolve_target

TWO = """
## Twice.
kernel double(x: f32[N]) -> f32[N] { return x * 2 }
kernel stats(x: f32[N, D], eps: f32 = 1e-5) -> (mu: f32[N], class: f32[N]) requires D >= 1 {
    return mean(x, axis=1), sum(x, axis=1) + eps
}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("TENSORC_CACHE_DIR", str(folder))
    return folder


def test_source_text_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "two.tdsl"
    path.write_text(TWO)
    monkeypatch.chdir(tmp_path)
    for given in (TWO, path, str(path), "two.tdsl"):
        assert list(tensorc.compile(given)) == ["double", "stats"]
    with pytest.raises(tensorc.CompileError, match="TC0801"):
        tensorc.compile("nowhere.tdsl")
    # without the suffix it is source, whatever it looks like
    with pytest.raises(tensorc.CompileError, match="TC01"):
        tensorc.compile("two")


def test_module_and_kernel() -> None:
    module = tensorc.compile(TWO)
    kernel = module["stats"]
    assert module.stats is kernel and len(module) == 2 and "stats" in dir(module)
    with pytest.raises(KeyError, match="no kernel 'other'; there are double, stats"):
        module["other"]
    with pytest.raises(AttributeError, match="no kernel 'other'"):
        _ = module.other
    assert kernel.signature == (
        "stats(x: f32[N, D], eps: f32 = 1e-05) -> (mu: f32[N], class: f32[N]) requires D >= 1"
    )
    assert module.double.__doc__ == "Twice." and kernel.__doc__ is None
    assert kernel.source == TWO
    assert "tdsl_stats" in kernel.cpp and "tdsl_manifest" in kernel.cpp
    assert kernel.fusion and "attempting fusion (1/10)" in kernel.fusion_log()
    assert "group ((N,), (D,))" in kernel.fusion_log(symbolic=True)
    assert "1 nest, 0 B of intermediates" in kernel.fusion_log() and "allocates mu (" in kernel.fusion_log()
    assert "group ((1024,), (1024,))" in kernel.fusion_log()
    assert repr(kernel) == f"<tensorc kernel {kernel.signature}>"


def test_sizes_that_are_constants_are_in_the_message() -> None:
    kernel = tensorc.compile("const K = 3\nkernel f(x: f32[N, K]) { return x }").f
    with pytest.raises(ValueError, match=r"expected f32\[N, K\] with N=2, K=3 "):
        kernel(np.zeros((2, 4), np.float32))


def test_calls() -> None:
    kernel = tensorc.compile(TWO).stats
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for r in (kernel(x), kernel(x, 1e-5), kernel(x=x), kernel(x, eps=1e-5, threads=1)):
        assert r.mu.tolist() == [1, 4]
        assert r.class_.tolist() == pytest.approx([3, 12], abs=1e-4)
    outs = (np.empty(2, np.float32), np.empty(2, np.float32))
    assert kernel(x, out=outs).mu is outs[0]


@pytest.mark.parametrize(
    ("args", "named", "words"),
    [
        ((), {}, "misses 'x'"),
        ((1, 2, 3), {}, "takes 2 arguments, not 3"),
        ((), {"y": 1}, "has no parameter 'y'"),
        ((1,), {"x": 1}, "got two values for 'x'"),
        ((np.zeros((2, 3)),), {}, "argument 'x' is float64 (2, 3), expected f32[N, D]"),
    ],
)
def test_wrong_calls(args: tuple[object, ...], named: dict[str, object], words: str) -> None:
    with pytest.raises(TypeError) as caught:
        tensorc.compile(TWO).stats(*args, **named)
    assert str(caught.value).startswith("stats()") and words in str(caught.value)


def test_errors_are_all_listed_with_their_places() -> None:
    text = "kernel f(x: f32[N]) -> f32[N] { return x + y }\nkernel g(x: f32[N]) -> f32[N] { return z }\n"
    with pytest.raises(tensorc.CompileError) as caught:
        tensorc.compile(text)
    assert [(d.code, d.span.line) for d in caught.value.diagnostics if d.span] == [
        ("TC0201", 1),
        ("TC0201", 2),
    ]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("policy", "best"), ("policy", None), ("threads", "many"), ("threads", 4), ("math", "sloppy")),
        *(("opt_level", 9), ("opt_level", True), ("opt_level", 2.0), ("opt_level", "2"), ("math", [])),
    ],
)
def test_options_with_values_that_do_not_exist(option: str, value: object) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{option}={value!r} is not one of")):
        tensorc.compile(TWO, **{option: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("sanitize", "address"), ("sanitize", None), ("sanitize", {"address"}), ("debug", 1)),
        *(("dims", [("N", 3)]), ("dims", "N=3"), ("hints", 3), ("target", 3), ("target", b"native")),
        *(("cxx", ["g++"]), ("cxx", Path("g++")), ("cache_dir", 3), ("cache_dir", b"cache")),
    ],
)
def test_options_of_the_wrong_type(option: str, value: object) -> None:
    with pytest.raises(TypeError, match=re.escape(f"{option}={value!r} is not a ")):
        tensorc.compile(TWO, **{option: value})  # type: ignore[arg-type]


def test_every_option_is_looked_at() -> None:
    parameters = inspect.signature(tensorc.compile).parameters
    options = {name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
    for option in options:
        with pytest.raises((TypeError, ValueError), match=re.escape(option)):
            tensorc.compile(TWO, **{option: object()})  # type: ignore[arg-type]


def test_what_is_in_an_option_is_looked_at() -> None:
    with pytest.raises(ValueError, match="sanitize='thread' is not one of 'address', 'undefined'"):
        tensorc.compile(TWO, sanitize=["address", "thread"])
    with pytest.raises(ValueError, match="sanitize=3 is not one of"):
        tensorc.compile(TWO, sanitize=[3])  # type: ignore[list-item]
    for name in ("dims", "hints"):
        with pytest.raises(TypeError, match="the name of a size is a str, not 3"):
            tensorc.compile(TWO, **{name: {3: 3}})  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="the size D=1180591620717411303424 is not below 2\\^47"):
            tensorc.compile(TWO, **{name: {"D": 2**70}})  # type: ignore[arg-type]


@pytest.mark.parametrize("program", [b"kernel", None, 3, ["a.tdsl"]])
def test_programs_of_the_wrong_type(program: object) -> None:
    with pytest.raises(TypeError, match="a program is a str or a path, not "):
        tensorc.compile(program)  # type: ignore[arg-type]


def test_sizes_equal_by_requires() -> None:
    module = tensorc.compile(
        """
        kernel add(x: f32[A, N], y: f32[A, M]) requires N == M { return x + y, y, reshape(y, (M, A)) }
        kernel mul(x: f32[N, K], y: f32[M, J]) -> f32[N, J] requires M == K { return x @ y }
        """
    )
    assert module.unit.nests[0].nests[0].shape.kind == "flat"
    random = np.random.default_rng(2)
    x, y = (random.random((3, 5), np.float32) for _ in range(2))
    total, same, turned = module.add(x, y)
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(same, y)
    np.testing.assert_array_equal(turned, y.reshape(5, 3))
    np.testing.assert_allclose(module.mul(x, y.T), x @ y.T, rtol=1e-5)
    with pytest.raises(ValueError, match="N == M"):
        module.add(x, y[:, 1:])


def test_dims_and_hints() -> None:
    kernel = tensorc.compile(TWO, dims={"D": 3}, hints={"N": 7})["stats"]
    assert "group ((7,), (3,))" in kernel.fusion_log()
    with pytest.raises(ValueError, match="with N=2, D=3"):
        kernel(np.zeros((2, 4), np.float32))
    with pytest.raises(tensorc.CompileError, match="TC0802"):
        tensorc.compile(TWO, dims={"Q": 3})


def test_missing_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolchainError, match="TC0601"):
        tensorc.compile(TWO)
    assert issubclass(ToolchainError, tensorc.CompileError)


def test_cache_is_used(tmp_path: Path) -> None:
    first = tensorc.compile(TWO, cache_dir=tmp_path)
    stamp = first.library.stat().st_mtime_ns
    assert first.library.is_relative_to(tmp_path)
    assert tensorc.compile(TWO, cache_dir=tmp_path).library.stat().st_mtime_ns == stamp
    other = tensorc.compile(TWO, cache_dir=tmp_path, threads="none")
    assert other.library != first.library


def test_damaged_cache_entry(tmp_path: Path) -> None:
    program = (
        "import sys, numpy as np, tensorc\n"
        "module = tensorc.compile(sys.argv[1], cache_dir=sys.argv[2])\n"
        "print(module.library, module.double(np.ones(2, np.float32)))\n"
    )
    command = [sys.executable, "-W", "error", "-c", program, TWO, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    library = Path(said.split()[0])
    library.write_bytes(b"\x7fELF")
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == said


def test_pickle_by_content(tmp_path: Path) -> None:
    kernel = tensorc.compile(TWO)["double"]
    data = pickle.dumps(kernel)
    assert len(data) < 2000
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(pickle.loads(data)(x), kernel(x))
    program = (
        "import pickle, sys, numpy as np\n"
        "kernel = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "print(kernel(np.ones(2, np.float32)).tolist())\n"
    )
    command = [sys.executable, "-c", program, data.hex()]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[2.0, 2.0]\n"
    result = tensorc.compile(TWO).stats(np.ones((2, 2), np.float32))
    assert pickle.loads(pickle.dumps(result)).mu.tolist() == [1, 1]


def test_warnings_do_not_stop_and_are_kept() -> None:
    module = tensorc.compile("kernel f(x: f32[N], k: i32[N]) -> f64[N] { return x * k }")
    assert [d.severity.value for d in module.unit.warnings] == ["warning"]
    assert module.f(np.ones(2, np.float32), np.ones(2, np.int32)).tolist() == [1, 1]


HEAVY = ("numpy", "sympy", "lark", "cffi")


@pytest.mark.parametrize(
    "program", ["import tensorc", "import tensorc.cli.main", "from tensorc.__main__ import main"]
)
def test_import_is_light(program: str) -> None:
    check = f"{program}; import sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    said = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout
    assert said == "[]\n"


def test_public_names() -> None:
    assert tensorc.CompileError is not None and callable(tensorc.compile)
    assert "compile" in dir(tensorc)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = tensorc.other  # type: ignore[attr-defined]


def test_sizes_that_are_none() -> None:
    for dims in ({"D": -1}, {"D": 2.0}, {"D": True}):
        with pytest.raises(ValueError, match="is no whole number from 0 up"):
            tensorc.compile(TWO, dims=dims)  # type: ignore[arg-type]


def test_library_for_another_cpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tensorc.artefacts import loader_process

    monkeypatch.setattr(loader_process, "_cpu_features", lambda: frozenset({"sse4_2"}))
    if not probe_host().features.issuperset({"avx2", "fma"}):
        pytest.skip("this machine lacks x86-64-v3")
    with pytest.raises(ToolchainError, match=r"compiled for x86-64-v3; this CPU lacks .*avx2"):
        tensorc.compile(TWO, target="x86-64-v3", cache_dir=tmp_path)


def test_c_entry_point_refuses_another_cpu(tmp_path: Path) -> None:
    """Status 3, before any other check."""
    if not probe_host().is_x86_64:
        pytest.skip("x86-64 only")
    missing = next(f for f in ("xop", "fma4", "sse4a", "avx512f") if f not in probe_host().features)
    unit = compile_text(Source("<source>", TWO), CompileOptions(until="loops"))
    ffi = FFI()
    ffi.cdef("int32_t tdsl_double(const void *, void *, int64_t, int32_t);")
    status = {}
    for name, features in (("with", ("sse4.2",)), ("without", ("sse4.2", missing))):
        text = emit_unit(unit.nests, EmitOptions(openmp=False, cpu_features=features))
        generic = resolve_target("generic", probe_host())
        library = tmp_path / f"{name}.so"
        build_library(text, library, find_compiler(), generic, BuildOptions(threads="none"))
        status[name] = ffi.dlopen(str(library)).tdsl_double(ffi.NULL, ffi.NULL, -1, 1)
    assert status == {"with": 1, "without": 3}


@pytest.mark.parametrize("cxx", [c for c in ("g++", "clang++") if shutil.which(c)])
def test_sanitized_kernel_runs(cxx: str) -> None:
    kernel = tensorc.compile(TWO, cxx=cxx, sanitize=["undefined"], opt_level=0, debug=True)["double"]
    assert kernel(np.ones(20, np.float32)).tolist() == [2] * 20
