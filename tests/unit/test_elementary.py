"""Elementary functions of the runtime: errors on a sample, special values, equal bits, independent lanes.

`python tools/verify_math.py` measures every f32 argument; docs/numerics_functions.md records what it printed.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import verify_math as vm  # noqa: E402

from tensorc.toolchain.target import probe_host  # noqa: E402

NATIVE = ("-march=haswell",)
WIDE = ("-march=x86-64-v4",)
WIDE_FEATURES = {"avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512cd"}
HAS_WIDE = probe_host().features >= WIDE_FEATURES
BUILDS = {
    "g++ -O2": ("g++", ("-O2", *NATIVE)),
    "g++ -O0": ("g++", ("-O0", *NATIVE)),
    "g++ baseline": ("g++", ("-O2", "-march=x86-64")),
    "clang++ -O2": ("clang++", ("-O2", *NATIVE)),
    "clang++ -O0": ("clang++", ("-O0", *NATIVE)),
    "g++ wide": ("g++", ("-O2", *WIDE)),
    "g++ wide -O0": ("g++", ("-O0", *WIDE)),
    "clang++ wide": ("clang++", ("-O2", *WIDE)),
    "clang++ wide -O0": ("clang++", ("-O0", *WIDE)),
}
OTHER_BUILDS = tuple(BUILDS)[1:]
DTYPES = {"f32": np.float32, "f64": np.float64}


@pytest.fixture(scope="session")
def harness(tmp_path_factory):
    """Path of a build by its name in BUILDS; each is compiled once, without a warning."""
    built = {}

    def get(name):
        cxx, flags = BUILDS[name]
        if flags[1:] == WIDE and not HAS_WIDE:
            pytest.skip("no AVX-512")
        if shutil.which(cxx) is None:
            pytest.skip(f"no {cxx}")
        if name not in built:
            built[name] = vm.build_harness(tmp_path_factory.mktemp("math"), cxx, flags)
        return built[name]

    return get


def run(x, *command):
    done = subprocess.run([str(c) for c in command], check=True, capture_output=True, input=x.tobytes())
    return np.frombuffer(done.stdout, x.dtype)


def call(path, name, x):
    return run(x, path, "values", name, "f32" if x.dtype == np.float32 else "f64")


@cache
def arguments(name, dtype):
    """The sample of the accuracy test, with infinities and NaN, rare and usual lanes mixed."""
    if dtype == "f32":
        x = np.array(vm.sample_f32(name), np.uint32).view(np.float32)
    else:
        x = np.array([*vm.sample_f64(name, 4000, 7), math.inf, -math.inf, math.nan])
    return np.random.default_rng(3).permutation(x)


def bits(y):
    """Bit patterns with one NaN: its sign and payload are no part of the promise."""
    one_nan = np.where(np.isnan(y), y.dtype.type(math.nan), y)
    return one_nan.view(np.uint32 if y.dtype == np.float32 else np.uint64)


@pytest.mark.parametrize("name", vm.FUNCTIONS)
def test_f32_within_bound(harness, name):
    worst = vm.check_points(harness("g++ -O2"), name, vm.sample_f32(name))
    assert worst.wrong == 0, worst
    assert worst.error <= vm.F32_BOUND[name], worst


@pytest.mark.parametrize("name", vm.FUNCTIONS)
def test_f64_within_bound(harness, name):
    worst = vm.check_f64(harness("g++ -O2"), name, vm.sample_f64(name, 100, 5))
    assert worst.wrong == 0, worst
    assert worst.error <= vm.F64_BOUND, worst


@pytest.mark.parametrize("build", OTHER_BUILDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_in_every_build(harness, build, dtype):
    for name in vm.FUNCTIONS:
        x = arguments(name, dtype)
        one, other = bits(call(harness("g++ -O2"), name, x)), bits(call(harness(build), name, x))
        differs = np.flatnonzero(one != other)
        assert differs.size == 0, (name, x[differs[0]].hex(), one[differs[0]], other[differs[0]])


@pytest.mark.parametrize("build", BUILDS)
def test_sixteen_lanes_give_the_bits_of_eight(harness, build):
    for name in vm.FUNCTIONS:
        x = arguments(name, "f32")
        eight, sixteen = bits(call(harness("g++ -O2"), name, x)), bits(run(x, harness(build), "wide", name))
        differs = np.flatnonzero(eight != sixteen)
        assert differs.size == 0, (name, x[differs[0]].hex(), eight[differs[0]], sixteen[differs[0]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_lane_depends_on_its_argument_alone(harness, dtype):
    for name in vm.FUNCTIONS:
        x = arguments(name, dtype)
        order = np.random.default_rng(11).permutation(x.size)
        together = call(harness("g++ -O2"), name, x)
        shuffled = call(harness("g++ -O2"), name, x[order])
        assert np.array_equal(bits(together)[order], bits(shuffled)), name


INF, NAN = math.inf, math.nan
SPECIAL = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e4, INF), (-1e4, 0.0)],
    "exp2": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (10.0, 1024.0), (-1e4, 0.0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (NAN, NAN), (1e4, INF), (-1e4, -1.0)],
    "log": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    "log1p": [(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (-1.5, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (50.0, 1.0), (-50.0, -1.0)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (9.0, 1.0), (-9.0, -1.0)],
    "sigmoid": [(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (50.0, 1.0), (-1e4, 0.0)],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", vm.FUNCTIONS)
def test_special_values(harness, name, dtype):
    x, expected = np.array(SPECIAL[name], DTYPES[dtype]).T
    assert bits(call(harness("g++ -O2"), name, np.ascontiguousarray(x))).tolist() == bits(expected).tolist()


@pytest.mark.parametrize("name", ["expm1", "log1p", "sin", "tanh"])
def test_smallest_arguments_are_their_own_values(harness, name):
    for x in (np.array([1e-45, -1e-45, 1e-40, -1e-40], np.float32), np.array([5e-324, -5e-324, 1e-310])):
        assert call(harness("g++ -O2"), name, x).tolist() == x.tolist()


@pytest.mark.parametrize("cxx", ["g++", "clang++"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_unused_functions_leave_no_code(tmp_path, cxx, level):
    if shutil.which(cxx) is None:
        pytest.skip(f"no {cxx}")
    source = tmp_path / "unit.cpp"
    headers = '#include "elementary_f32.h"\n#include "elementary_f64.h"\n'
    source.write_text(headers + "int used() { return 1; }\n")
    target = tmp_path / "unit.o"
    warnings = ("-Wall", "-Wextra", "-Werror")
    flags = (*vm.FLAGS, *warnings, level, f"-I{vm.RUNTIME}")
    subprocess.run([cxx, *flags, "-c", str(source), "-o", str(target)], check=True)
    listing = subprocess.run(["nm", "-C", str(target)], check=True, capture_output=True, text=True).stdout
    symbols = [line.split(maxsplit=2) for line in listing.splitlines()]
    assert [name for _, kind, name in symbols if kind in "tTwW"] == ["used()"]
