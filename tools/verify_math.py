"""Measure the elementary functions of the runtime: every f32 argument, pairs, f64 on hard and random points.

    python tools/verify_math.py                     all 2^32 f32 arguments of every function, then f64
    python tools/verify_math.py --sample            the sample of f32 arguments that the tests take
    python tools/verify_math.py --dtype f32 --only sin cos --cxx clang++

f32 results are compared with the C library's double functions, f64 results with mpmath. Prints the table of
docs/numerics_functions.md: the largest error in ulp and where it is. Exits with 1 when one exceeds its bound
or a special value is wrong. A function takes a minute or two of one core.
"""

from __future__ import annotations

import argparse
import math
import random
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import mpmath as mp
from math_f64 import Pairs64, error_f64, pair_error_f64, sample_pairs_f64
from math_pairs import BINARY, Pairs, sample_pairs

TOOLS = Path(__file__).parent
RUNTIME = TOOLS.parent / "tensorc" / "codegen" / "runtime"
FLAGS = ("-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv")
COMPOSED = ("sigmoid", "silu", "gelu", "softplus")
# fmt: off
FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf", "log2", "log10", "cbrt",
    "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erfc", *COMPOSED,
)
# fmt: on
FAST = ("fast_sin", "fast_cos", "fast_tan", "fast_sigmoid", "fast_silu")
"""Forms for math=fast, of f32 alone."""
SIMPLE = (
    *("sqrt", "rsqrt", "reciprocal", "square", "abs", "negative", "sign", "relu"),
    *("floor", "ceil", "trunc", "round"),
)
"""IEEE operations and compositions of them, on f32."""
F32_BOUND = {name: 2.0 if name in COMPOSED else 1.0 for name in FUNCTIONS} | dict.fromkeys(FAST, 4.0)
F32_BOUND |= dict.fromkeys(SIMPLE, 0.501) | {"rsqrt": 2.0}
PAIR_BOUND = 1.0
F64_BOUND = 2.0
NAMES = (*FUNCTIONS, *BINARY, *FAST, *SIMPLE)
CHUNKS = 32
PAIRS = 4_000_000
STRIDE = 65521
NEIGHBOURS = 32


@dataclass(frozen=True, slots=True)
class Worst:
    """Largest error in ulp and its argument; how many values are wrong in class or sign, and one of them."""

    error: float
    at: float
    wrong: int
    wrong_at: float

    def merged(self, other: Worst) -> Worst:
        larger = self if self.error >= other.error else other
        example = self.wrong_at if self.wrong else other.wrong_at
        return Worst(larger.error, larger.at, self.wrong + other.wrong, example)


def build_harness(directory: Path, cxx: str, flags: Sequence[str]) -> Path:
    """Compile tools/math_harness.cpp without a warning. Raises CalledProcessError."""
    target = directory / f"harness-{cxx}{''.join(flags)}"
    source = TOOLS / "math_harness.cpp"
    warnings = ("-Wall", "-Wextra", "-Werror")
    command = [cxx, *FLAGS, *warnings, *flags, f"-I{RUNTIME}", str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    return target


def float_of_bits(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def bits_of_float(x: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", x))[0])


def _worst_of_line(line: str) -> Worst:
    error, at, wrong, wrong_at = line.split()
    return Worst(float(error), float_of_bits(int(at, 16)), int(wrong), float_of_bits(int(wrong_at, 16)))


def check_range(harness: Path, name: str, first: int, last: int, step: int) -> Worst:
    command = [str(harness), "range", name, str(first), str(last), str(step)]
    return _worst_of_line(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def check_points(harness: Path, name: str, points: Sequence[int]) -> Worst:
    """f32 arguments given as bit patterns."""
    data = struct.pack(f"<{len(points)}I", *points)
    done = subprocess.run([str(harness), "points", name], check=True, capture_output=True, input=data)
    return _worst_of_line(done.stdout.decode())


def check_pairs(harness: Path, name: str, pairs: Pairs) -> tuple[Worst, tuple[float, float]]:
    """A function of two operands; arguments are numbers of pairs, so the worst pair is given too."""
    done = subprocess.run(
        [str(harness), "pairs", name], check=True, capture_output=True, input=pairs.tobytes()
    )
    worst = _worst_of_line(done.stdout.decode())
    x, y = pairs[bits_of_float(worst.wrong_at if worst.wrong else worst.at)]
    return worst, (float(x), float(y))


def values_f64(harness: Path, name: str, points: Sequence[float]) -> tuple[float, ...]:
    """Values at the points; of a function of two operands, at pairs of neighbours."""
    data = struct.pack(f"<{len(points)}d", *points)
    done = subprocess.run([str(harness), "values", name, "f64"], check=True, capture_output=True, input=data)
    return struct.unpack(f"<{len(done.stdout) // 8}d", done.stdout)


INVERSE_OF: dict[str, Callable[[float], float]] = {
    "asinh": math.sinh,
    "acosh": math.cosh,
    "atanh": math.tanh,
}


def _log_borders() -> list[float]:
    return [(93 + 8 * k) / 128 for k in range(5)] + [(69 + 8 * k) / 64 for k in range(4)]


def hard_values(name: str, largest: float, smallest: float) -> list[float]:
    """Arguments around which an implementation changes its path or loses digits; all are finite."""
    name = name.removeprefix("fast_")
    values = [0.0, smallest, smallest * 2**20, 1.0, 0.5, math.log(2) / 2, math.log(2), largest]
    values += [2.0**k for k in range(-30, 31)]
    if name in ("sin", "cos", "tan"):
        values += [128.0] + [k * math.pi / 4 for k in range(1, 164)]
        values += [k * math.pi / 2 for k in (*range(1, 40), 10**4, 10**6, 10**8)]
        values += [largest / 2.0**k for k in range(0, 60)] + [6381956970095103 * 2.0**797, 2.0**20 * 1.5]
    elif name == "gelu":
        values += [5.4, 13.2, 14.36, 15.5, 0.75, 37.0, 37.5, 38.5, 39.0, *(k / 8 for k in range(45))]
    elif name in ("exp", "expm1", "exp2", "sigmoid", "silu", "softplus"):
        values += [
            87.0,
            88.72283,
            103.97,
            125.0,
            128.0,
            149.5,
            108.7,
            700.0,
            708.0,
            709.782712893384,
            745.13,
            1021.0,
            1074.5,
        ]
        values += [(k + 0.5) * (1.0 if name == "exp2" else math.log(2)) for k in range(40)]
        values += [(k + 0.5) / 8 * (1.0 if name == "exp2" else math.log(2)) for k in range(40)]
    elif name in ("sinh", "cosh"):
        values += [88.72283, 89.415985, 100.0, 709.782712893384, 710.4758600739439]
        values += [(k + 0.5) * math.log(2) for k in range(140)]
    elif name in ("asin", "acos", "atan"):
        values += [math.sqrt(0.5), math.tan(math.pi / 8), 1 / math.tan(math.pi / 8), math.sqrt(0.75)]
    elif name in ("asinh", "acosh", "atanh"):
        sizes = [math.log(b * 2.0**k) for b in _log_borders() for k in (0, 1, 2, 9, 60)]
        values += [abs(INVERSE_OF[name](s / 2 if name == "atanh" else s)) for s in sizes]
    elif name == "cbrt":
        values += [2.0 ** (3 * k) * m for k in range(-49, 43) for m in (1, 3, 5)]
    elif name == "erfc":
        values += [9.1945, 10.0546, 11.0, 3.0, 26.543, 27.226, *(k / 4 for k in range(110))]
    elif name in ("log", "log1p", "log2", "log10"):
        borders = _log_borders()
        values += (
            [abs(b * 2.0**k - 1) for b in borders for k in (-1, 0, 1, 9)] if name == "log1p" else borders
        )
        values += [1 / 3, 2 / 3, 4 / 3, math.sqrt(0.5), math.sqrt(2), math.sqrt(2) - 1, 1 - math.sqrt(0.5)]
    elif name == "tanh":
        octaves = [2.0 ** (i // 2) * (1 + i % 2 / 2) for i in range(9)]
        values += [9.02, 22.0, *((s - 1) / 1.66 for s in octaves)]
    else:
        values += [3.922, 5.95, *((i + 0.5) / 1.912 for i in range(8)), *((i + 0.5) / 4 for i in range(24))]
    return values


def sample_f32(name: str) -> list[int]:
    """Bit patterns: every STRIDE-th one, each exponent's ends, neighbours of the hard values, specials."""
    points = list(range(0, 2**32, STRIDE))
    for field in range(512):
        points += [field << 23, (field << 23) + 1, (field << 23) + 0x7FFFFF]
    for value in hard_values(name, 3.4028234663852886e38, 2.0**-149):
        if value <= 3.4e38:
            centre = bits_of_float(value)
            near = range(max(centre - NEIGHBOURS, 0), centre + NEIGHBOURS)
            points += [bits | sign for bits in near for sign in (0, 0x80000000)]
    return points


SPANS = {
    **dict.fromkeys(("asin", "acos", "atanh"), (0.25, 0.5, 0.75, 1)),
    **dict.fromkeys(("log2", "log10", "acosh"), (1.1, 1.5, 2, 6, 40)),
    "erfc": (0.75, 3, 10, 28),
    "gelu": (0.75, 1.5, 3, 10, 38),
}
"""Upper ends of random f64 arguments where those of most functions are not to the point."""


def sample_f64(name: str, count: int, seed: int) -> list[float]:
    """Neighbours of the hard values and `count` random arguments, half of them of moderate size."""
    generator = random.Random(seed)
    spans = SPANS.get(name, (0.5, 1, 2, 6, 40, 800, 1100))
    points: list[float] = []
    for value in hard_values(name, 1.7976931348623157e308, 5e-324):
        below, above = math.nextafter(value, 0.0), math.nextafter(value, math.inf)
        points += [value, below, above if above < math.inf else value]
    for i in range(count):
        if i % 2:
            points.append(generator.uniform(0, generator.choice(spans)))
        else:
            points.append(math.ldexp(generator.uniform(1, 2), generator.randint(-1074, 1023)))
    return [sign * x for x in points for sign in (1, -1)]


def check_f64(harness: Path, name: str, points: Sequence[float]) -> Worst:
    worst = Worst(0.0, 0.0, 0, 0.0)
    with mp.workprec(1400):
        cheap = 160  # enough away from 1 / x and huge angles, which need all the bits above
        for x, y in zip(points, values_f64(harness, name, points), strict=True):
            with mp.workprec(1400 if abs(x) > 1e6 else cheap + 2 * max(0, -math.frexp(x)[1])):
                error = error_f64(name, x, y)
            wrong = math.isinf(error)
            worst = worst.merged(Worst(0.0 if wrong else error, x, int(wrong), x))
    return worst


def check_pairs_f64(harness: Path, name: str, pairs: Pairs64) -> tuple[Worst, tuple[float, float]]:
    """As `check_pairs`."""
    worst = Worst(0.0, 0.0, 0, 0.0)
    values = values_f64(harness, name, pairs.ravel().tolist())
    with mp.workprec(200):
        for number, ((x, y), z) in enumerate(zip(pairs.tolist(), values, strict=True)):
            error = pair_error_f64(name, x, y, z)
            wrong = math.isinf(error)
            worst = worst.merged(Worst(0.0 if wrong else error, number, int(wrong), number))
    x, y = pairs[int(worst.wrong_at if worst.wrong else worst.at)]
    return worst, (float(x), float(y))


def check_all_f32(harness: Path, name: str, jobs: int) -> Worst:
    width = 2**32 // CHUNKS
    with ThreadPoolExecutor(jobs) as pool:
        parts = pool.map(lambda i: check_range(harness, name, i * width, (i + 1) * width, 1), range(CHUNKS))
        total = Worst(0.0, 0.0, 0, 0.0)
        for part in parts:
            total = total.merged(part)
    return total


@dataclass(frozen=True, slots=True)
class Cell:
    """What was measured of one function on one dtype; `at` are its arguments."""

    worst: Worst
    at: tuple[float, ...]
    bound: float

    @property
    def ok(self) -> bool:
        return self.worst.error <= self.bound and self.worst.wrong == 0

    def text(self) -> str:
        """Two columns of the table."""
        return f"{self.worst.error:.3f} | `{' '.join(short_hex(x) for x in self.at)}`"


def short_hex(x: float) -> str:
    """`0x1.8p+3` for 0x1.8000000000000p+3."""
    mantissa, exponent = x.hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}" if "." in mantissa else x.hex()


def measure_f32(harness: Path, name: str, arguments: argparse.Namespace) -> Cell:
    if name in BINARY:
        pairs = sample_pairs(name, PAIRS // 100 if arguments.sample else PAIRS, arguments.seed)
        return Cell(*check_pairs(harness, name, pairs), PAIR_BOUND)
    if arguments.sample:
        worst = check_points(harness, name, sample_f32(name))
    else:
        worst = check_all_f32(harness, name, arguments.jobs)
    return Cell(worst, (worst.wrong_at if worst.wrong else worst.at,), F32_BOUND[name])


def measure_f64(harness: Path, name: str, arguments: argparse.Namespace) -> Cell:
    if name in BINARY:
        pairs = sample_pairs_f64(name, arguments.points, arguments.seed)
        return Cell(*check_pairs_f64(harness, name, pairs), F64_BOUND)
    worst = check_f64(harness, name, sample_f64(name, arguments.points, arguments.seed))
    return Cell(worst, (worst.wrong_at if worst.wrong else worst.at,), F64_BOUND)


def print_measured(harness: Path, name: str, arguments: argparse.Namespace) -> bool:
    """Print the row of one function, on standard error how long it took; true when it keeps its bounds."""
    start = time.perf_counter()
    f32 = measure_f32(harness, name, arguments) if arguments.dtype != "f64" else None
    has_f64 = name in FUNCTIONS or name in BINARY
    f64 = measure_f64(harness, name, arguments) if has_f64 and arguments.dtype != "f32" else None
    print(f"| {name} | {f32.text() if f32 else ' | '} | {f64.text() if f64 else ' | '} |", flush=True)
    print(f"{name}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    failed = [cell for cell in (f32, f64) if cell is not None and not cell.ok]
    for cell in failed:
        print(f"{name} FAILS: bound {cell.bound} ulp, {cell.worst.wrong} values wrong", file=sys.stderr)
    return not failed


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the runtime's elementary functions.")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--dtype", choices=("f32", "f64", "both"), default="both")
    parser.add_argument("--sample", action="store_true", help="a sample of f32 arguments instead of all")
    parser.add_argument("--points", type=int, default=2000, help="random f64 arguments a function")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--flags", default="-O2 -march=haswell", help="compiler flags beside the fixed ones")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    ok = True
    with tempfile.TemporaryDirectory() as directory:
        harness = build_harness(Path(directory), arguments.cxx, arguments.flags.split())
        print("| function | f32 | at | f64 | at |\n|---|---|---|---|---|")
        for name in arguments.only:
            ok &= print_measured(harness, name, arguments)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
