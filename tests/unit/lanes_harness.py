"""Builds shared libraries over the runtime headers, for the tests that compare them with NumPy."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tensorc.dtypes import SUPPORTED

RUNTIME = Path(__file__).parents[2] / "tensorc" / "codegen" / "runtime"
FLAGS = (
    *("-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv"),
    *("-Wall", "-Wextra", "-Werror", "-Wno-psabi"),
)
BUILDS = {
    "g++": ("g++", "-O2", "-march=x86-64-v3"),
    "clang++": ("clang++", "-O2", "-march=x86-64-v3"),
    "g++ -O0 baseline": ("g++", "-O0"),
    "clang++ baseline": ("clang++", "-O1"),
}
SANITIZED = (
    *("clang++", "-O0", "-march=x86-64-v3", "-fsanitize=address,undefined"),
    "-fno-sanitize-recover=all",
)
NUMPY = {name: np.dtype(dtype.numpy).type for name, dtype in SUPPORTED.items()}
C = {
    "bool": "tc_u8_t",
    "f32": "float",
    "f64": "double",
    **dict.fromkeys(("f16", "bf16"), "tc_u16_t"),
    **{name: f"tc_{name}_t" for name, dtype in SUPPORTED.items() if dtype.is_integer},
}


def compile_library(directory: Path, build: str, source: str) -> ctypes.CDLL:
    return ctypes.CDLL(str(compile_source(directory, (*BUILDS[build], "-shared", "-fPIC"), source)))


def compile_source(directory: Path, command: tuple[str, ...], source: str) -> Path:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    if not _links(command):
        pytest.skip(f"{command[0]} has no runtime for {' '.join(f for f in command if 'sanitize' in f)}")
    name = hashlib.sha256(" ".join((*command, source)).encode()).hexdigest()[:16]
    text, target = directory / f"{name}.cpp", directory / f"{name}.bin"
    text.write_text(f'#include "runtime.h"\n{source}')
    line = [*command, *FLAGS, f"-I{RUNTIME}", str(text), "-o", str(target), "-lm"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return target


@lru_cache
def _links(command: tuple[str, ...]) -> bool:
    """False for a clang++ whose sanitizer runtimes (a package of their own) are missing."""
    if not any(flag.startswith("-fsanitize") for flag in command):
        return True
    line = [*command, "-x", "c++", "-o", "/dev/null", "-"]
    return subprocess.run(line, input=b"int main() {}", capture_output=True, check=False).returncode == 0


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def assert_same_bits(found: np.ndarray, expected: np.ndarray, context: str) -> None:
    """Equal in dtype and bits, but for the sign and payload of a NaN."""
    assert found.dtype == expected.dtype, context
    assert found.shape == expected.shape, context
    same = _bits(found) == _bits(expected)
    if found.dtype.kind == "f":
        same |= np.isnan(found) & np.isnan(expected)
    where = np.flatnonzero(~same)[:5]
    assert where.size == 0, f"{context}: at {where}: {found.flat[where]} != {expected.flat[where]}"


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").ravel()
