"""Kernels with dtype parameters: their cases, and the choice among them by every way of calling."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sema_checking import check_text

import tensorc
from tensorc.driver import CompileOptions, compile_text, library_text, unit_manifest
from tensorc.driver import resolve_target_option as target_of
from tensorc.source import Source

TEXT = """
## Rows of mean 0.
kernel centre[T: f32 | f64](x: T[N, D], eps: T = 1e-5, shift: T = 0) -> T[N, D] {
    y: T[N, D] = x - mean(x, axis=1, keepdims=true)
    return y / T(2) + eps + shift
}
kernel pick[T: f32 | f64, I: i32 | i64](n: f32, x: T[N], i: I[N]) -> (a: T[N], b: I[N], c: f64) {
    return x * T(i), zeros((N,), dtype=I) + i, f64(n)
}
kernel plain(x: f32[N]) { return x }
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tensorc.compile(TEXT, cache_dir=tmp_path_factory.mktemp("generics"))


def test_a_kernel_per_choice(module: Any) -> None:
    names = [
        "centre_f32",
        "centre_f64",
        "pick_f32_i32",
        "pick_f32_i64",
        "pick_f64_i32",
        "pick_f64_i64",
        "plain",
    ]
    assert list(module) == names and len(module) == 7
    assert module.centre_f64.signature == (
        "centre_f64(x: f64[N, D], eps: f64 = 1e-05, shift: f64 = 0.0) -> f64[N, D]"
    )
    assert (
        module.centre.signature == "centre[T: f32 | f64](x: T[N, D], eps: T = 1e-5, shift: T = 0) -> T[N, D]"
    )
    assert module.centre.__doc__ == "Rows of mean 0."
    assert {"centre", "centre_f32", "pick"} <= set(dir(module))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_first_array_of_the_type_chooses(module: Any, dtype: Any) -> None:
    x = np.arange(6, dtype=dtype).reshape(2, 3)
    expected = (x - x.mean(axis=1, keepdims=True)) / 2
    for found in (module.centre(x), module.centre(x=x), module["centre"](x, shift=0)):
        assert found.dtype == dtype
        # the default is rounded once, to the dtype of the case
        np.testing.assert_array_equal(found, expected + dtype(1e-5))
    np.testing.assert_array_equal(module.centre(x, 0.5, shift=1), expected + dtype(1.5))
    out = np.empty_like(x)
    assert module.centre(x, out=out, threads=1) is out


def test_a_default_of_minus_zero() -> None:
    text = "kernel k[T: f16 | bf16 | f32 | f64](x: T[N], d: T = -0.0) { return x / d }"
    module: Any = tensorc.compile(text)
    for one in (np.float16(1), np.float32(1), np.float64(1), np.uint16(0x3F80)):  # the last one as bf16
        assert np.all(np.asarray(module.k(np.full(2, one))).astype(np.float64) == -np.inf)
    assert "d: bf16 = -0.0" in module.k_bf16.signature


def test_several_parameters(module: Any) -> None:
    for real in (np.float32, np.float64):
        for integer in (np.int32, np.int64):
            a, b, c = module.pick(1.5, np.ones(3, real), np.arange(3, dtype=integer))
            assert (a.dtype, b.dtype, c.dtype) == (real, integer, np.float64)


def test_what_no_case_takes(module: Any) -> None:
    with pytest.raises(
        TypeError, match=r"centre\(\): argument 'x' is int32 \(2, 2\), expected f32 or f64: centre\[T"
    ):
        module.centre(np.ones((2, 2), np.int32))
    with pytest.raises(TypeError, match=r"argument 'x' is float 1.0, expected an array T\[N, D\]"):
        module.centre(1.0)
    with pytest.raises(TypeError, match="misses 'x'"):
        module.centre()
    with pytest.raises(
        TypeError, match=r"'x' is float32 .*, 'i' is float32 .*, expected f32, i32 or f32, i64"
    ):
        module.pick(1, np.ones(3, np.float32), np.ones(3, np.float32))
    with pytest.raises(ValueError, match=r"centre_f32\(\): .* expected f32\[N, D\]"):
        module.centre(np.ones(3, np.float32))


def test_pickle(module: Any) -> None:
    again = pickle.loads(pickle.dumps(module.centre))
    x = np.ones((2, 2))
    np.testing.assert_array_equal(again(x), module.centre(x))


def test_one_error_for_all_cases() -> None:
    _, bag = check_text("kernel k[T: f32 | f64](x: T[N]) { return x + y }")
    (found,) = bag.items
    assert (found.code, found.notes) == ("TC0201", ("where T is f32",))
    _, bag = check_text("kernel k[T: f32 | i32](x: T[N]) { return sin(x) & 1 }")
    assert [d.code for d in bag.items] == ["TC0302"]
    _, bag = check_text("kernel k[T: f32 | f64](x: T[N], n: i32[N]) { return x * n }")
    assert [d.code for d in bag.items] == ["TC0304"]


def test_too_many_cases_are_refused() -> None:
    letters = "ABCDEFG"
    types = ", ".join(f"{c}: f32 | f64" for c in letters)
    params = ", ".join(f"{c.lower()}: {c}[N]" for c in letters)
    _, bag = check_text(f"kernel k[{types}]({params}) {{ return a }}")
    assert [d.code for d in bag.items] == ["TC0504"]


def test_the_generated_module_chooses_too(tmp_path: Path) -> None:
    (tmp_path / "k.tdsl").write_text(TEXT)
    command = [sys.executable, "-m", "tensorc", "compile", "k.tdsl", "--emit=so,py,pyi,h,json"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    check = """
import k, numpy as np
x = np.arange(6.0).reshape(2, 3)
for dtype in (np.float32, np.float64):
    y = k.centre(x.astype(dtype), shift=1)
    assert y.dtype == dtype, y.dtype
    expected = (x - x.mean(axis=1, keepdims=True)).astype(dtype) / dtype(2) + dtype(1e-5) + dtype(1)
    np.testing.assert_array_equal(y, expected)
assert k.pick(1, x[0], np.arange(3)).b.dtype == np.int64
assert k.centre.__doc__.startswith("centre[T: f32 | f64](")
assert "centre" in k.__all__ and "centre_f64" in k.__all__
try:
    k.centre(np.ones((1, 1), np.int8))
except TypeError as error:
    assert "expected f32 or f64" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", check], cwd=tmp_path, check=True)
    stub = (tmp_path / "k.pyi").read_text()
    ast.parse(stub)
    assert "def __call__(self, x: Any, eps: _Number=..., shift: _Number=..., *," in stub
    header = (tmp_path / "k.h").read_text()
    assert "tdsl_centre_f32(" in header and "tdsl_centre_f64(" in header


def test_explain_shows_every_case(tmp_path: Path) -> None:
    (tmp_path / "k.tdsl").write_text(TEXT)
    command = [sys.executable, "-m", "tensorc", "explain", "k.tdsl", "-k", "centre"]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "centre_f32  k.tdsl:3" in done.stdout and "centre_f64  k.tdsl:3" in done.stdout
    assert "plain" not in done.stdout


def test_a_manifest_without_them_has_no_entry() -> None:
    unit = compile_text(Source("t", "kernel k(x: f32[N]) { return x }"), CompileOptions())
    manifest = unit_manifest(unit, target_of(unit.options))
    assert "generics" not in manifest
    assert "tdsl_k" in library_text(unit, manifest)
