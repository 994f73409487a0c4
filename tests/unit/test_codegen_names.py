"""Any name works as a parameter, a result, a dim, a kernel and a local, whatever C or the generated code
uses it for. All kernels are one translation unit, and the compiler warns of nothing in it."""

from __future__ import annotations

import numpy as np
import pytest

from tensorc.api import Module, load_unit
from tensorc.codegen.expressions import c_names
from tensorc.driver import CompileOptions
from tensorc.source import Source

# words of C and C++, types and macros; what generated code declares; underscores, prefixes of the runtime
WORDS = """
    int new double class this template register asm signed typename operator bool xor int32_t int64_t size_t
    uint8_t NULL NAN INFINITY INT64_MAX errno unix linux main malloc assert
    v0 V1 i0 i1 j0 k0 r0 c0 b0 buf0 buf1 x_end i0_end c0_lanes scratch scratch_bytes tid nt arena work
    row rows row_begin chunk chunk_end block p p_end strip group groups part parts parts_end
    per_row column_begin first_v1 s_v1 acc_0_0 sum_0_0 left_0 right_0 i j k k_begin k_end j_lanes
    buf0_bytes buf0_begin parts_op0_v1 status panel batch lanes_0 rows_begin v0_ab
    carry_v1 carry_v2 carry_v1_kept carry_v2_kept q0 q1 Q2
    _x __x x__y _X tc_x tc_f32 tc_body_f TC_LANES TC_EXPORT tdsl_x omp_get_max_threads
"""
NAMES = WORDS.split()
DECLARED = ("__x", "x__y", "_x")


def _kernel(number: int) -> str:
    """A product, rows, columns, a whole sum, scans. Over all numbers each name stands in each place."""
    at = [NAMES[(number + offset) % len(NAMES)] for offset in range(12)]
    kernel, a, rows, columns, b, scale, local, *results = at
    shapes = (f"f32[{rows}, {columns}]", f"f32[{rows}, {rows}]", f"f32[{columns}]", "f32", f"f32[{rows}]")
    declared = ", ".join(f"{name}: {shape}" for name, shape in zip(results, shapes, strict=True))
    head = f"kernel {kernel}({a}: {shapes[0]}, {b}: f32[{columns}, {rows}], {scale}: f32) -> ({declared})"
    scan = f"cumulative_sum(roll({local}, 1, axis=1), axis=1)"
    returned = (
        f"{local} - max({local}, axis=1, keepdims=true)",
        f"{local} @ {b}",
        f"sum({local}, axis=0) * {scale}",
        f"sum({b}) + {rows}",
        f"max({scan}, axis=1) + 0 * var({scan}, axis=1)",
    )
    return f"{head} {{\n    {local} = {a} * 2\n    return {', '.join(returned)}\n}}\n"


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    text = "".join(map(_kernel, range(len(NAMES))))
    flags = ("-Wall", "-Wextra", "-Werror")
    options = CompileOptions(target="native", opt_level=0, cxx_flags=flags, threads="none")
    return load_unit(Source("names", text), options, tmp_path_factory.mktemp("names"))


def test_every_kernel(module: Module) -> None:
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    b = a.reshape(4, 3) - 5
    twice = a * 2
    expected = (twice - twice.max(1, keepdims=True), twice @ b, twice.sum(0) * 3, b.sum() + 3)
    expected = (*expected, np.roll(twice, 1, 1).cumsum(1).max(1))
    assert list(module) == NAMES
    for name in NAMES:
        for got, want in zip(module[name](a, b, 3.0), expected, strict=True):
            assert np.array_equal(got, want), name


def test_c_names_are_distinct_and_free() -> None:
    chosen = c_names({f"key {n}": n for n in (*NAMES, "x", "xu", "x_u", "int_u", "int_uu")})
    assert len(set(chosen.values())) == len(chosen)
    assert chosen["key x"] == "x"
    assert not set(chosen.values()) & {"int", "v0", "buf0", "row", "tc_f32", "i"}
    for name in DECLARED:
        assert "__" not in chosen[f"key {name}"]
        assert not chosen[f"key {name}"].startswith("_")
    for c in chosen.values():
        assert c.isidentifier()
