"""Run kernels built with the address and undefined-behaviour sanitizers; the process ends at a finding.

Started by `test_sanitized.py` with the sanitizer's runtime loaded first:
`sanitized_calls.py COMPILER grown SEED KERNELS CACHE`, `... examples CACHE` or `... broken CACHE`.
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


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)  # was meant for this process, not for the compilers it starts
    compiler, mode, *arguments = sys.argv[1:]
    {"grown": run_grown, "examples": run_examples, "broken": run_broken}[mode](compiler, *arguments)
