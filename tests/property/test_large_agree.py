"""Kernels on extents past every block, chunk and threshold: compiled code has the loop interpreter's bits.

The grown programs stay small; here rows are longer than a chunk (16384), columns deeper than one (1024), sums
deeper than a block of a product (256), and work large enough for several threads.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from harness import (
    Call,
    assert_same_outcome,
    build_module,
    check_bounds,
    check_text,
    lower,
    run_loops,
    run_module,
)

from tensorc.driver import CompileOptions
from tensorc.interp.scalar_ops import ElementaryLibrary

KINDS = ("sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin")
ROWS = "\n".join(
    f"kernel {kind}_{axis}_{dtype}(x: {dtype}[N, M]) {{ return {kind}(x, axis={number}) }}"
    for kind in KINDS
    for axis, number in (("rows", 1), ("columns", 0))
    for dtype in ("f32", "f64")
)
TEXT = f"""\
dims N ~ 1024, M ~ 1024, K ~ 8
{ROWS}
kernel whole(x: f32[N, M]) {{ return sum(x), argmax(x), var(x), all(x > -9), prod(x) }}
kernel outer(x: f32[K, N, M]) {{ return sum(x, axis=(0, 2)), sum(x, axis=(0, 1)), mean(x, axis=(1, 2)) }}
kernel middle(x: f32[K, N, M]) {{ return max(x, axis=1), sum(x, axis=1), std(x, axis=1) }}
kernel integers(x: i32[N, M]) {{ return sum(x, axis=0), sum(x, axis=1), max(x), argmin(x, axis=0) }}
kernel softmax(x: f32[N, M]) {{
    e = exp(x - max(x, axis=1, keepdims=true))
    return e / sum(e, axis=1, keepdims=true)
}}
kernel layernorm(x: f32[N, M], w: f32[M]) {{
    mu = mean(x, axis=1, keepdims=true)
    return (x - mu) / sqrt(var(x, axis=1, keepdims=true) + 1e-5) * w
}}
kernel standard(x: f32[N, M]) {{ return (x - mean(x, axis=0)) / std(x, axis=0) }}
kernel turned(x: f32[N, N]) {{ return x + x.T * 2, sin(x).T }}
kernel wide(x: f32[N, M]) {{
    return sum(exp(x * -x), axis=0), sum(sin(x), axis=1), sum(tanh(x)), relu(erf(x)) + 1, max(cos(x), axis=0)
}}
kernel pairs(x: f32[N, M], y: f32[M]) {{
    return sum(hypot(x, y), axis=0), sum(abs(x) ** y, axis=1), erfc(x) + tan(x), max(atan2(x, y), axis=0)
}}
kernel pairs64(x: f64[N, M], y: f64[M]) {{
    return sum(hypot(x, y), axis=0), sum(abs(x) ** y, axis=1), erfc(x) + tan(x), max(atan2(x, y), axis=0)
}}
kernel product32(x: f32[N, M], y: f32[M, K]) {{ return x @ y, relu(x @ y) * 2 }}
kernel product64(x: f64[N, M], y: f64[K, M]) {{ return x @ y.T }}
kernel blur(x: f32[N, M]) {{ return (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1]) / 3, x[::-2, 3::5] }}
"""
SIZES = (
    {"N": 3, "M": 17_001, "K": 5},
    {"N": 2_103, "M": 70, "K": 9},
    {"N": 300, "M": 515, "K": 3},
    {"N": 1, "M": 16_384, "K": 2},
    {"N": 2_049, "M": 1, "K": 1},
)
SKIPPED = {"turned": (0, 1, 4)}
"""Calls that would only be large: N by N of the long sizes."""


@pytest.fixture(scope="module")
def calls(elementary: ElementaryLibrary) -> tuple[Call, ...]:
    found = []
    rng = np.random.default_rng(3)
    for program in check_text(TEXT):
        loops = lower(program, "default")
        for at, sizes in enumerate(SIZES):
            if at in SKIPPED.get(program.signature.name, ()):
                continue
            arguments = {
                p.name: (rng.normal(size=tuple(s.evaluate(sizes) for s in p.shape)) * 2).astype(p.dtype.numpy)
                for p in program.signature.params
            }
            expected = run_loops(loops, arguments, elementary)
            check_bounds(program, arguments, expected)
            used = {d.name: sizes[d.name] for d in program.signature.dims}
            found.append(Call(program.signature.name, used, arguments, expected))
    return tuple(found)


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
def test_large_calls_have_the_interpreters_bits(calls: tuple[Call, ...], policy: str, tmp_path: Path) -> None:
    module = build_module(TEXT, CompileOptions(policy=policy), tmp_path)
    for call in calls:
        for threads in (1, 3):
            context = f"{policy}, {threads} threads, {call.kernel} at {dict(call.sizes)}"
            assert_same_outcome(run_module(module, call, threads), call.expected, context)
