"""Random programs, many kernels to a translation unit: compiled code has the loop interpreter's bits.

The builds differ in what must not change a bit: policy, no fusion at all, compiler, `-O` level; each runs
with one and with two threads. The loop interpreter itself is checked against the tensor interpreter's bounds.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from harness import Call, assert_same_outcome, build_module, check_text, draw_calls, run_module
from programs import grow_file

from tensorc.driver import CompileOptions
from tensorc.interp.scalar_ops import ElementaryLibrary

KERNELS = 25
CALLS = 2
SEEDS = (1, 2)
FAST_SEEDS = (3,)

BUILDS = {
    "default": CompileOptions(),
    "inductor policy, -O1": CompileOptions(policy="inductor-2.8", opt_level=1),
    "no fusion, -O1": CompileOptions(policy="none", opt_level=1),
    "clang++": CompileOptions(cxx="clang++"),
}
FAST = {f"{name}, fast": replace(options, math="fast") for name, options in BUILDS.items()}
"""The freedoms of math=fast are taken before anything here could matter to them."""


Files = dict[int, tuple[str, tuple[Call, ...]]]


def draw_files(seeds: tuple[int, ...], math: str, elementary: ElementaryLibrary) -> Files:
    """By seed: a file's text, and calls of its kernels with the expected results."""
    found = {}
    for seed in seeds:
        random = Random(f"file {seed}")
        text = grow_file(random, KERNELS)
        found[seed] = (text, draw_calls(random, check_text(text), CALLS, elementary, math))
    return found


@pytest.fixture(scope="module")
def files(elementary: ElementaryLibrary) -> Files:
    return draw_files(SEEDS, "strict", elementary)


@pytest.fixture(scope="module")
def fast_files(elementary: ElementaryLibrary) -> Files:
    return draw_files(FAST_SEEDS, "fast", elementary)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_kernels_have_the_interpreters_bits(
    files: Files, seed: int, build: str, tmp_path: Path
) -> None:
    compare_build(files[seed], BUILDS[build], tmp_path)


@pytest.mark.parametrize("build", FAST)
@pytest.mark.parametrize("seed", FAST_SEEDS)
def test_so_they_have_under_fast_math(fast_files: Files, seed: int, build: str, tmp_path: Path) -> None:
    compare_build(fast_files[seed], FAST[build], tmp_path)


def compare_build(file: tuple[str, tuple[Call, ...]], options: CompileOptions, tmp_path: Path) -> None:
    if options.cxx is not None and shutil.which(options.cxx) is None:
        pytest.skip(f"{options.cxx} is not installed")
    text, calls = file
    module = build_module(text, options, tmp_path)
    if options.policy == "none":
        assert all(len(group.nodes) == 1 for program in module.unit.fused for group in program.groups)
    for call in calls:
        for threads in (1, 2):
            context = f"{threads} threads, {call.kernel} at {dict(call.sizes)}"
            assert_same_outcome(run_module(module, call, threads), call.expected, context)
