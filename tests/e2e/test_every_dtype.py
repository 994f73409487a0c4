"""Kernels of every dtype as users meet them: arrays, scalars, `out=`, dtype parameters, C, command line."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cffi import FFI

import tensorc
from tensorc.dtypes import BF16, SUPPORTED, DType
from tensorc.interp.float_values import carried, round_values, stored
from tensorc.interp.tensor_interp import compare, interpret_with_bounds

EVERY = "".join(
    f"kernel copy_{t}(x: {t}[N, M], s: {t}{' = true' if t == 'bool' else ' = 3'}) "
    f"{{ return x.T, x {'and' if t == 'bool' else '+'} s, where(x > s, x, s), concat((x, x)), x[:, ::-2] }}\n"
    for t in SUPPORTED
)
KERNELS = """
kernel half(x: f16[N], s: f16 = 0.1) -> f16[N] { return x * s }
kernel brain(x: bf16[N], s: bf16 = 0.1) -> (y: bf16[N], m: bf16) { return x * s, mean(x) }
kernel bytes(x: u8[N], y: i8[N], n: u16 = 3) -> (a: u8[N], b: i16[N]) { return x + u8(n), x + y }
kernel wide(x: u64[N], k: u64 = 18446744073709551615) -> (lo: u64, hi: u64, at: i64) {
    return min(x), max(x & k), argmax(x)
}
kernel twice[T: f16 | bf16 | f32 | u8](x: T[N]) -> T[N] { return x + x }
kernel bits[T: bf16 | u16](x: T[N]) -> T[N] { return x + x }
kernel sized(n: i32, k: u8) -> (a: f64[n * n // 1000000], b: i64[k + k]) {
    return zeros(n * n // 1000000), arange(k + k) * 1
}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORC_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> tensorc.Module:
    return tensorc.compile(KERNELS, cache_dir=tmp_path_factory.getbasetemp() / "cache")


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> tensorc.Module:
    return tensorc.compile(EVERY, cache_dir=tmp_path_factory.getbasetemp() / "cache")


def sample(name: str, shape: tuple[int, ...]) -> np.ndarray:
    t = SUPPORTED[name]
    numbers = np.arange(np.prod(shape)).reshape(shape) % 11 - (0 if t.is_unsigned else 5)
    if t.is_float:
        return stored(round_values(numbers * 0.37, t).astype(t.carrier), t)
    return numbers.astype(t.numpy)


@pytest.mark.parametrize("dtype", SUPPORTED)
@pytest.mark.parametrize("threads", [1, 2])
def test_moving_values_keeps_them(every: tensorc.Module, dtype: str, threads: int) -> None:
    t = SUPPORTED[dtype]
    for shape in ((1, 1), (3, 7), (9, 17), (0, 5), (40, 8)):
        x = sample(dtype, shape)
        strided = np.zeros((shape[0], 2 * shape[1]), x.dtype)[:, ::2]
        strided[...] = x
        for given in (x, strided, np.asfortranarray(x)):
            found = [carried(np.asarray(r), t) for r in every[f"copy_{dtype}"](given, threads=threads)]
            v = carried(x, t)
            three = np.array(3).astype(v.dtype)
            expected = [v.T, v & True if t.is_bool else v + three, np.where(v > three, v, three)]
            if t == BF16:
                expected[1] = round_values(expected[1].astype(np.float64), t).astype(np.float32)
            expected += [np.concatenate((v, v)), v[:, ::-2]]
            for f, e in zip(found, expected, strict=True):
                np.testing.assert_array_equal(f, e)
                assert f.dtype == e.dtype


@pytest.mark.parametrize("dtype", SUPPORTED)
def test_a_wrong_dtype_names_the_argument(every: tensorc.Module, dtype: str) -> None:
    kernel = every[f"copy_{dtype}"]
    for other in SUPPORTED:
        x = sample(other, (2, 3))
        if other == dtype or (dtype == "bf16" and other == "u16"):
            continue
        if other == "bf16":
            if dtype == "u16":
                continue
            x = x.view(ml_dtypes.bfloat16)
        with pytest.raises(TypeError, match=rf"argument 'x' is {x.dtype.name} .*expected {dtype}\[N, M\]"):
            kernel(x)


def test_bf16_arrays_in_both_forms(module: tensorc.Module) -> None:
    numbers = np.linspace(-2, 2, 37)
    x = numbers.astype(ml_dtypes.bfloat16)
    expected = (x.astype(np.float32) * np.float32(ml_dtypes.bfloat16(0.1))).astype(ml_dtypes.bfloat16)
    for given in (x, x.view(np.uint16), np.stack((x, x), -1)[:, 0]):
        found = module.brain(given)
        assert found.y.dtype == ml_dtypes.bfloat16
        assert (found.y == expected).all()
        assert found.m == x.astype(np.float64).mean().astype(ml_dtypes.bfloat16)
    for out in (np.empty(37, ml_dtypes.bfloat16), np.empty(37, np.uint16)):
        mean = np.empty((), ml_dtypes.bfloat16)
        found = module.brain(x, out=(out, mean))
        assert found.y is out and (out.view(ml_dtypes.bfloat16) == expected).all()
    with pytest.raises(TypeError, match=r"out\[0\] \('y'\) is float32"):
        module.brain(x, out=(np.empty(37, np.float32), mean))
    with pytest.raises(
        TypeError, match=r"'x' is float32 \(37,\), expected bf16\[N\]; .*uint16 that hold its bits"
    ):
        module.brain(x.astype(np.float32))
    memory = np.empty(38, ml_dtypes.bfloat16)
    with pytest.raises(ValueError, match="overlaps argument 'x'"):
        module.brain(memory[:37], out=(memory[1:], mean))


def test_without_ml_dtypes_bf16_is_bits(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import numpy as np, tensorc\n"
        "k = tensorc.compile('kernel k(x: bf16[N]) { return x + x }').k\n"
        "y = k(np.array([0x3f80, 0x4000], np.uint16))\n"
        "assert y.dtype == np.uint16 and y.tolist() == [0x4000, 0x4080], y\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_scalars_are_rounded_once_to_their_type(module: tensorc.Module) -> None:
    # just above the middle of two f16, but not once it is an f32
    above = 1 + 2.0**-11 + 2.0**-40
    assert module.half(np.ones(1, np.float16), above)[0] == np.float16(1 + 2.0**-10)
    assert module.brain(np.full(1, 0x3F80, np.uint16), 1 + 2.0**-8 + 2.0**-40).y[0] == 1 + 2.0**-7
    assert module.half(np.ones(1, np.float16))[0] == np.float16(0.1)
    for value in (np.float16(0.5), ml_dtypes.bfloat16(0.5), np.float64(0.5), np.array(0.5)):
        assert module.half(np.ones(1, np.float16), value)[0] == 0.5
        assert module.brain(np.full(1, 0x3F80, np.uint16), value).y[0] == 0.5
    assert np.isinf(module.half(np.ones(1, np.float16), 65520.0)[0])
    assert np.isnan(module.half(np.ones(1, np.float16), float("nan"))[0])
    with pytest.raises(TypeError, match="argument 's' is"):
        module.half(np.ones(1, np.float16), "x")


def test_integer_scalars_have_their_range(module: tensorc.Module) -> None:
    x, y = np.array([250, 1], np.uint8), np.array([-1, 5], np.int8)
    found = module.bytes(x, y, 65535)
    assert found.a.tolist() == [249, 0] and found.b.tolist() == [249, 6]
    for wrong in (-1, 65536):
        with pytest.raises(ValueError, match=f"argument 'n' is {wrong}, which no u16 holds"):
            module.bytes(x, y, wrong)
    with pytest.raises(TypeError, match=r"argument 'n' is float 1\.0, expected u16"):
        module.bytes(x, y, 1.0)
    top = np.array([5, 2**64 - 1, 2**63], np.uint64)
    assert tuple(int(r) for r in module.wide(top)) == (5, 2**64 - 1, 1)
    assert int(module.wide(top, 2**64 - 2).hi) == 2**64 - 2


def test_sizes_are_computed_in_64_bits(module: tensorc.Module) -> None:
    found = module.sized(70000, 200)
    assert found.a.shape == (4900,) and not found.a.any()
    assert found.b.tolist() == list(range(400))


def test_dtype_parameters(module: tensorc.Module) -> None:
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32, np.uint8):
        found = module.twice(np.array([1, 3, 100], dtype))
        assert found.dtype == dtype and found.tolist() == [2, 6, 200]
    assert module.twice(np.array([0x3F80], np.uint16)).tolist() == [2]
    assert module.bits(np.array([0x3F80], np.uint16)).tolist() == [0x7F00]
    assert module.bits(np.array([1], ml_dtypes.bfloat16)).tolist() == [2]
    with pytest.raises(TypeError, match="float64"):
        module.twice(np.ones(3))


def test_generated_artefacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("every.tdsl").write_text(KERNELS)
    done = subprocess.run(
        [sys.executable, "-m", "tensorc", "compile", "every.tdsl", "-o", "every.so"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    spec = importlib.util.spec_from_file_location("every", "every.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "every", module)
    spec.loader.exec_module(module)
    loaded = sys.modules["every"]
    x = np.array([1.5, -2], ml_dtypes.bfloat16)
    assert loaded.brain(x, 2.0).y.tolist() == [3, -4]
    assert loaded.half(np.array([1.5], np.float16), 2).tolist() == [3]
    assert loaded.wide(np.array([7, 9], np.uint64)).hi == 9
    header = Path("every.h").read_text()
    assert "const uint16_t* x,\n    float s,\n    uint16_t* " in header
    assert "uint64_t k" in header
    for compiler, language in (("cc", "c"), ("c++", "c++")):
        command = [compiler, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-x{language}", "every.h"]
        subprocess.run(command, check=True)
    ffi = FFI()
    ffi.cdef("int32_t tdsl_half(const uint16_t *x, float s, uint16_t *out, int64_t N, int32_t threads);")
    library = ffi.dlopen(str(tmp_path / "every.so"))
    bits, out = np.array([1.5, 8], np.float16), np.zeros(2, np.float16)
    given = ffi.cast("uint16_t *", bits.ctypes.data)
    assert library.tdsl_half(given, 0.3, ffi.cast("uint16_t *", out.ctypes.data), 2, 0) == 0
    assert out.tolist() == (bits * np.float16(0.3)).tolist()
    stub = Path("every.pyi").read_text()
    assert "_npt.NDArray[_np.float16]" in stub and "_npt.NDArray[_np.uint8]" in stub


def test_the_command_line_makes_and_reads_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("every.tdsl").write_text(KERNELS)
    np.save("x.npy", np.array([1, 2.5], ml_dtypes.bfloat16).view(np.uint16))
    for words in (
        ["-k", "brain", "x=@x.npy", "s=0.5", "-o", "y.npz"],
        ["-k", "brain", "x=rand:100"],
        ["-k", "half"],
        ["-k", "bytes", "x=rand:33", "n=7"],
        ["-k", "wide"],
        ["-k", "twice_bf16"],
    ):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "tensorc", "run", "every.tdsl", *words, "--check"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "agrees with the interpreter" in done.stdout
    saved = np.load("y.npz")
    assert saved["y"].view(ml_dtypes.bfloat16).tolist() == [0.5, 1.25]


# -- operators, compiled -------------------------------------------------------------------------------

COMMON = (
    "x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x == y", "x != y", "x < y", "x <= y", "x > y",
    "x >= y", "maximum(x, y)", "minimum(x, y)", "abs(x)", "sign(x)", "-x", "square(x)", "relu(x)", "floor(x)",
    "round(x)", "hypot(x, y)", "exp(x)", "sqrt(x)", "where(x > y, x, y)", "clip(x, 1, 3)", "isnan(x)",
    "sum(x)", "prod(x)", "max(x)", "min(x)", "mean(x)", "var(x)", "argmax(x)", "argmin(x)", "any(x)",
    "count_nonzero(x)", "cumulative_sum(x)", "cumulative_prod(x)", "cumulative_max(x)", "vecdot(x, y)",
    "outer(x, y)", "tensordot(x, y, axes=1)", "silu(x)", "softplus(x)", "logaddexp(x, y)",
)  # fmt: skip
MIXED = ("==", "!=", "<", "<=", ">", ">=")


def corner_values(dtype: DType) -> np.ndarray:
    if dtype.is_integer:
        edges = {0, 1, 2, 3, 7, 8, 31, 100, dtype.highest, dtype.highest - 1, dtype.highest // 2 + 1}
        edges |= {-1, -2, -7, dtype.lowest, dtype.lowest + 1} if dtype.kind == "i" else set()
        return np.array(sorted(edges), dtype.numpy)
    largest = (2 - 2.0 ** (1 - dtype.precision)) * 2.0**dtype.max_exponent
    smallest = 2.0 ** (dtype.min_exponent - dtype.precision + 1)
    values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        -2.5,
        3.0,
        np.inf,
        -np.inf,
        np.nan,
        0.1,
        100.0,
        largest,
        smallest,
    ]
    return stored(round_values(np.array(values), dtype).astype(dtype.carrier), dtype)


def _operator_kernel(name: str) -> str:
    t = SUPPORTED[name]
    whole = () if t.is_float else ("x & y", "x | y", "x ^ y", "x << y", "x >> y", "~x", "x ** (y & 3)")
    body = ",\n        ".join((*COMMON, *whole))
    return f"kernel ops_{name}(x: {name}[N], y: {name}[N]) {{\n    return {body}\n}}\n"


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_compiled_operators_on_corner_values(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    names = [t for t in SUPPORTED if t != "bool"]
    pairs = ", ".join(f"x {op} y, y {op} x" for op in MIXED)
    mixed = "".join(
        f"kernel mixed_{t}(x: {t}[N], y: u64[N]) {{ return {pairs} }}\n" for t in ("i8", "i16", "i32", "i64")
    )
    module = tensorc.compile("".join(map(_operator_kernel, names)) + mixed, cxx=compiler, opt_level=1)
    for position, kernel in enumerate(module):
        program = module.unit.tensor[position]
        first, second = (p.dtype for p in program.signature.params)
        x, y = np.meshgrid(corner_values(first), corner_values(second), indexing="ij")
        for n in (x.size, 1, 7, 19):
            arguments = {"x": x.ravel()[-n:], "y": y.ravel()[-n:]}
            found = module[kernel](**arguments, threads=1 + n % 2)
            values, bounds = interpret_with_bounds(program, arguments, "exact")
            for k, (f, v, b) in enumerate(zip(found, values, bounds, strict=True)):
                numbers = carried(np.asarray(f), program.signature.results[k].dtype)
                mismatch = compare(numbers, np.asarray(v), b)
                assert mismatch is None, f"{kernel} result {k}{mismatch}"
                if kernel.startswith("mixed"):
                    op = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)[
                        k // 2
                    ]
                    a, c = (arguments["x"], arguments["y"])[:: 1 if k % 2 == 0 else -1]
                    np.testing.assert_array_equal(f, op(a, c))
