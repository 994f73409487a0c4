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
INF, NAN = math.inf, math.nan
STRICT = (*vm.FUNCTIONS, *vm.BINARY)
NAMES = {"f32": (*STRICT, *vm.FAST), "f64": STRICT}


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


def special_pairs_f64():
    """Every two of the f64 numbers around which a special value or a path begins."""
    sizes = [0.0, 1 / 3, 0.5, 1.0, 1.5, 2.0, 3.0, 708.0, 1075.0, INF]
    sizes += [
        2.0**k for k in (-1074, -1073, -1023, -1022, -600, -401, -400, -60, 52, 53, 399, 400, 600, 1023)
    ]
    sizes += [math.nextafter(x, y) for x in (1.0, 2.0**52, 2.0**53) for y in (0.0, INF)] + [2.0**52 + 0.5]
    values = [sign * x for x in sizes for sign in (1, -1)] + [NAN]
    return np.stack([g.ravel() for g in np.meshgrid(values, values)], axis=1)


@cache
def arguments(name, dtype):
    """The sample of the accuracy test, with infinities and NaN, rare and usual lanes mixed; pairs as rows."""
    if name in vm.BINARY:
        wide = (special_pairs_f64(), vm.sample_pairs_f64(name, 2000, 3))
        x = vm.sample_pairs(name, 5000, 3) if dtype == "f32" else np.concatenate(wide)
    elif dtype == "f32":
        x = np.array(vm.sample_f32(name), np.uint32).view(np.float32)
    else:
        x = np.array([*vm.sample_f64(name, 4000, 7), math.inf, -math.inf, math.nan])
    return np.random.default_rng(3).permutation(x)


def bits(y):
    """Bit patterns with one NaN: its sign and payload are no part of the promise."""
    one_nan = np.where(np.isnan(y), y.dtype.type(math.nan), y)
    return one_nan.view(np.uint32 if y.dtype == np.float32 else np.uint64)


@pytest.mark.parametrize("name", [*vm.FUNCTIONS, *vm.FAST, *vm.SIMPLE])
def test_f32_within_bound(harness, name):
    worst = vm.check_points(harness("g++ -O2"), name, vm.sample_f32(name))
    assert worst.wrong == 0, worst
    assert worst.error <= vm.F32_BOUND[name], worst


@pytest.mark.parametrize("name", vm.BINARY)
def test_f32_pairs_within_bound(harness, name):
    worst, at = vm.check_pairs(harness("g++ -O2"), name, vm.sample_pairs(name, 40000, 5))
    assert worst.wrong == 0, at
    assert worst.error <= 1.0, at


@pytest.mark.parametrize("name", vm.FUNCTIONS)
def test_f64_within_bound(harness, name):
    worst = vm.check_f64(harness("g++ -O2"), name, vm.sample_f64(name, 100, 5))
    assert worst.wrong == 0, worst
    assert worst.error <= vm.F64_BOUND, worst


@pytest.mark.parametrize("name", vm.BINARY)
def test_f64_pairs_within_bound(harness, name):
    worst, at = vm.check_pairs_f64(harness("g++ -O2"), name, vm.sample_pairs_f64(name, 500, 5))
    assert worst.wrong == 0, at
    assert worst.error <= vm.F64_BOUND, at


@pytest.mark.parametrize(
    ("name", "function"), [("atan2", np.arctan2), ("hypot", np.hypot), ("power", np.power)]
)
def test_f64_special_pairs_are_the_c_librarys(harness, name, function):
    pairs = special_pairs_f64()
    found = call(harness("g++ -O2"), name, pairs)
    with np.errstate(all="ignore"):
        exact = function(*pairs.T)
        close = np.abs(found - exact) <= 3 * np.abs(np.spacing(exact))
    same = (np.isnan(found) & np.isnan(exact)) | (found == exact) | close
    same &= np.isnan(exact) | (np.signbit(found) == np.signbit(exact))
    assert same.all(), (pairs[~same], found[~same], exact[~same])


@pytest.mark.parametrize("build", OTHER_BUILDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_in_every_build(harness, build, dtype):
    for name in NAMES[dtype]:
        x = arguments(name, dtype)
        one, other = bits(call(harness("g++ -O2"), name, x)), bits(call(harness(build), name, x))
        differs = np.flatnonzero(one != other)
        assert differs.size == 0, (name, x[differs[0]], one[differs[0]], other[differs[0]])


@pytest.mark.parametrize("build", BUILDS)
def test_sixteen_lanes_give_the_bits_of_eight(harness, build):
    for name in NAMES["f32"]:
        x = arguments(name, "f32")
        eight, sixteen = bits(call(harness("g++ -O2"), name, x)), bits(run(x, harness(build), "wide", name))
        differs = np.flatnonzero(eight != sixteen)
        assert differs.size == 0, (name, x[differs[0]], eight[differs[0]], sixteen[differs[0]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_lane_depends_on_its_argument_alone(harness, dtype):
    for name in NAMES[dtype]:
        x = arguments(name, dtype)
        order = np.random.default_rng(11).permutation(len(x))
        together = call(harness("g++ -O2"), name, x)
        shuffled = call(harness("g++ -O2"), name, x[order])
        assert np.array_equal(bits(together)[order], bits(shuffled)), name


BELOW = [(x, -0.0) for x in (-1e4, -1e30, -INF)]
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
    "silu": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, INF),
        (-INF, -0.0),
        (NAN, NAN),
        (1e4, 1e4),
        (-1e4, -0.0),
        (-1e30, -0.0),
    ],
    "gelu": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, INF),
        (-INF, -0.0),
        (NAN, NAN),
        (50.0, 50.0),
        (-50.0, -0.0),
        (-1e30, -0.0),
    ],
    "softplus": [(INF, INF), (-INF, 0.0), (NAN, NAN), (1e4, 1e4), (-1e4, 0.0), (-1e30, 0.0), (1e30, 1e30)],
    "log2": [
        (0.0, -INF),
        (-0.0, -INF),
        (1.0, 0.0),
        (-1.0, NAN),
        (INF, INF),
        (-INF, NAN),
        (NAN, NAN),
        (8.0, 3.0),
    ],
    "log10": [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (-1.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)],
    "cbrt": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (-27.0, -3.0), (1.0, 1.0)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.5, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "acos": [(1.0, 0.0), (1.5, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN), (NAN, NAN), (0.0, math.pi / 2)],
    "atan": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (INF, math.pi / 2),
        (-INF, -math.pi / 2),
        (NAN, NAN),
        (1.0, math.pi / 4),
    ],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (1e4, INF), (-1e4, -INF)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN), (1e4, INF), (-1e4, INF)],
    "asinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)],
    "acosh": [(1.0, 0.0), (0.5, NAN), (-0.0, NAN), (-2.0, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)],
    "atanh": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (1.0, INF),
        (-1.0, -INF),
        (1.5, NAN),
        (-1.5, NAN),
        (INF, NAN),
        (NAN, NAN),
    ],
    "erfc": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (NAN, NAN), (40.0, 0.0), (-40.0, 2.0)],
}
SPECIAL_PAIRS = {
    "atan2": [
        *((y, 1.0, y) for y in (0.0, -0.0)),
        *((y, x, math.copysign(math.pi, y)) for y in (0.0, -0.0) for x in (-0.0, -1.0, -INF)),
        *((y, 0.0, y) for y in (0.0, -0.0)),
        *((y, x, math.copysign(math.pi / 2, y)) for y in (1.0, -1.0, INF, -INF) for x in (0.0, -0.0)),
        *((y, -INF, math.copysign(math.pi, y)) for y in (1.0, -1.0)),
        *((y, INF, math.copysign(0.0, y)) for y in (1.0, -1.0)),
        *((y, INF, math.copysign(math.pi / 4, y)) for y in (INF, -INF)),
        *((y, -INF, math.copysign(3 * math.pi / 4, y)) for y in (INF, -INF)),
        *((NAN, x, NAN) for x in (0.0, 1.0, INF, NAN)),
        (0.0, NAN, NAN),
        (INF, NAN, NAN),
    ],
    "hypot": [
        *((x, y, INF) for x in (INF, -INF) for y in (0.0, 1.0, NAN, INF)),
        *((y, x, INF) for x in (INF, -INF) for y in (0.0, 1.0, NAN)),
        (NAN, 0.0, NAN),
        (1.0, NAN, NAN),
        (-0.0, -0.0, 0.0),
        (-3.0, 4.0, 5.0),
        (-0.0, -5.0, 5.0),
    ],
    "logaddexp": [
        *((x, y, INF) for x, y in ((INF, INF), (INF, -INF), (-INF, INF), (INF, 1.0), (-1.0, INF))),
        (-INF, -INF, -INF),
        *((x, -INF, x) for x in (1.0, -2.5, 0.0, 1e30)),
        *((-INF, x, x) for x in (1.0, -2.5, 1e30)),
        *((x, NAN, NAN) for x in (0.0, INF, -INF)),
        *((NAN, x, NAN) for x in (0.0, INF, -INF, NAN)),
        (1e30, 1e4, 1e30),
        (-1e30, -1e4, -1e4),
        (3e38, 3e38, 3e38),
    ],
    "power": [
        *((x, y, 1.0) for x in (NAN, INF, -INF, 0.0, -0.0, -2.5) for y in (0.0, -0.0)),
        *((1.0, y, 1.0) for y in (NAN, INF, -INF, 2.5)),
        *((-1.0, y, 1.0) for y in (INF, -INF, 1e9)),
        *((x, -3.0, math.copysign(INF, x)) for x in (0.0, -0.0)),
        *((x, y, INF) for x in (0.0, -0.0) for y in (-2.0, -2.5, -INF)),
        *((x, 3.0, x) for x in (0.0, -0.0, INF, -INF)),
        *((x, y, 0.0) for x in (0.0, -0.0) for y in (2.0, 2.5, INF)),
        *((x, INF, 0.0) for x in (0.5, -0.5)),
        *((x, -INF, INF) for x in (0.5, -0.5)),
        *((x, INF, INF) for x in (2.0, -2.0)),
        *((x, -INF, 0.0) for x in (2.0, -2.0)),
        *((-INF, y, z) for y, z in ((-3.0, -0.0), (-2.0, 0.0), (-2.5, 0.0), (2.0, INF), (2.5, INF))),
        *((INF, y, z) for y, z in ((-0.5, 0.0), (0.5, INF))),
        *((x, y, NAN) for x, y in ((-8.0, 1 / 3), (NAN, 1.0), (2.0, NAN), (-1.0, NAN), (-1e-3, 0.5))),
        (-2.0, 3.0, -8.0),
        (-2.0, -149.0, -1.401298464324817e-45),
    ],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", vm.FUNCTIONS)
def test_special_values(harness, name, dtype):
    check_special(harness, name, dtype, SPECIAL[name])


@pytest.mark.parametrize("name", vm.FAST)
def test_special_values_of_fast_forms(harness, name):
    check_special(harness, name, "f32", SPECIAL[name.removeprefix("fast_")])


def check_special(harness, name, dtype, table):
    x, expected = np.array(table, DTYPES[dtype]).T
    assert bits(call(harness("g++ -O2"), name, np.ascontiguousarray(x))).tolist() == bits(expected).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", vm.BINARY)
def test_special_pairs(harness, name, dtype):
    table = np.array(SPECIAL_PAIRS[name], DTYPES[dtype])
    y = call(harness("g++ -O2"), name, np.ascontiguousarray(table[:, :2]))
    wrong = np.flatnonzero(bits(y) != bits(np.ascontiguousarray(table[:, 2])))
    assert wrong.size == 0, (table[wrong], y[wrong])


@pytest.mark.parametrize(
    "name", ["expm1", "log1p", "sin", "tanh", "tan", "asin", "atan", "sinh", "asinh", "atanh"]
)
def test_smallest_arguments_are_their_own_values(harness, name):
    for x in (np.array([1e-45, -1e-45, 1e-40, -1e-40], np.float32), np.array([5e-324, -5e-324, 1e-310])):
        assert call(harness("g++ -O2"), name, x).tolist() == x.tolist()


@pytest.mark.parametrize("cxx", ["g++", "clang++"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_unused_functions_leave_no_code(tmp_path, cxx, level):
    if shutil.which(cxx) is None:
        pytest.skip(f"no {cxx}")
    source = tmp_path / "unit.cpp"
    headers = "".join(f'#include "{path.name}"\n' for path in sorted(vm.RUNTIME.glob("elementary_*.h")))
    source.write_text(headers + "int used() { return 1; }\n")
    target = tmp_path / "unit.o"
    warnings = ("-Wall", "-Wextra", "-Werror")
    flags = (*vm.FLAGS, *warnings, level, f"-I{vm.RUNTIME}")
    subprocess.run([cxx, *flags, "-c", str(source), "-o", str(target)], check=True)
    listing = subprocess.run(["nm", "-C", str(target)], check=True, capture_output=True, text=True).stdout
    symbols = [line.split(maxsplit=2) for line in listing.splitlines()]
    assert [name for _, kind, name in symbols if kind in "tTwW"] == ["used()"]
