"""Run kernels built with the address and undefined-behaviour sanitizers; the process ends at a finding.

Started by `test_sanitized.py` with the sanitizer's runtime loaded first:
`sanitized_calls.py COMPILER grown SEED KERNELS CACHE`, `... examples CACHE`, `... gathers CACHE` or
`... broken CACHE`.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from random import Random

import numpy as np
from harness import assert_same_outcome, build_module, check_text, draw_calls, run_module
from programs import grow_file

from tensorc.driver import CompileOptions
from tensorc.interp.elementary_library import ElementaryLibrary

EXAMPLES = Path(__file__).parents[2] / "examples"


def sanitized(compiler: str) -> CompileOptions:
    return CompileOptions(cxx=compiler, opt_level=0, sanitize=("address", "undefined"))


def run_grown(compiler: str, seed: str, kernels: str, cache: str) -> None:
    """Compare grown kernels with the loop interpreter."""
    random = Random(f"sanitized {seed}")
    _compare(compiler, random, grow_file(random, int(kernels)), cache)


def run_examples(compiler: str, cache: str) -> None:
    """Compare the examples, as one file, with the loop interpreter."""
    texts = (p.read_text() for p in sorted(EXAMPLES.glob("*.tdsl")))
    lines = [line for text in texts for line in text.splitlines() if not line.startswith("dims ")]
    _compare(compiler, Random("examples"), "\n".join(lines) + "\n", cache)


def _compare(compiler: str, random: Random, text: str, cache: str) -> None:
    elementary = ElementaryLibrary.build(Path(cache))
    calls = draw_calls(random, check_text(text), 2, elementary)
    module = build_module(text, sanitized(compiler), Path(cache))
    for call in calls:
        for threads in (1, 2):
            context = f"{compiler}, {threads} threads, {call.kernel} at {dict(call.sizes)}"
            assert_same_outcome(run_module(module, call, threads), call.expected, context)
    print(f"{len(calls)} calls")


def run_broken(compiler: str, cache: str) -> None:
    """Call a kernel with a size beyond its arrays, past all checks: the sanitizer must notice."""
    module = build_module("kernel k(x: f32[N]) { return x + 1 }\n", sanitized(compiler), Path(cache))
    x, out = np.zeros(1000, np.float32), np.zeros(1000, np.float32)
    function = ctypes.CDLL(str(module.library)).tdsl_k
    function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32)
    function(x.ctypes.data, out.ctypes.data, 1024, 1)


GATHERS = """
kernel lanes(x: f32[N], i: i64[M]) { return take(x, i) }
kernel bytes(x: i8[N], i: u64[M]) { return take(x, i) }
kernel rows(x: f64[N, D], i: i64[M]) { return take(x, i, axis=0) }
kernel both(x: f32[N, D], i: i64[M]) { y[a] = x[i[a], i[a]] for a in M
 return y }
kernel sums(x: f32[N, D], i: i64[M]) { return sum(take(x, i, axis=0), axis=0), sum(take(x, i, axis=1)) }
kernel joined(x: f32[N], y: f32[N], i: i64[M]) { return concat((y, take(x, i), y), axis=0) }
"""


def run_gathers(compiler: str, cache: str) -> None:
    """Indices out of range at every position, and into empty arrays: an error, and nothing beyond is read."""
    module = build_module(GATHERS, sanitized(compiler), Path(cache))
    refused = 0
    for n, m in ((7, 19), (1, 8), (0, 3), (9, 1)):
        vector, matrix = np.ones(n, np.float32), np.ones((n, n), np.float32)
        for position in range(m):
            for bad in (n, -n - 1, 2**62, -(2**63)):
                i = np.zeros(m, np.int64)
                i[position] = bad
                calls = (
                    ("lanes", (vector, i)),
                    ("bytes", (vector.astype(np.int8), i.view(np.uint64))),
                    ("rows", (matrix.astype(np.float64), i)),
                    ("both", (matrix, i)),
                    ("sums", (matrix, i)),
                    ("joined", (vector, vector, i)),
                )
                for name, arguments in calls:
                    try:
                        module[name](*arguments, threads=1 + position % 2)
                    except IndexError:
                        refused += 1
    print(f"{refused} refused")


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)  # was meant for this process, not for the compilers it starts
    compiler, mode, *arguments = sys.argv[1:]
    modes = {"grown": run_grown, "examples": run_examples, "gathers": run_gathers, "broken": run_broken}
    modes[mode](compiler, *arguments)
