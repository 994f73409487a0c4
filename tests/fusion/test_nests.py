"""The loops that programs become: one line a nest, sweeps in the order they run."""

from __future__ import annotations

import pytest
from front_end import PROGRAMS

from tensorc.driver import CompileOptions, compile_text
from tensorc.loop_schedule.print_nests import nest_structure, print_nest_program
from tensorc.loop_schedule.program import NestProgram
from tensorc.source import Source


def nests_of(text: str, policy: str = "default") -> NestProgram:
    (program,) = compile_text(Source("t", text), CompileOptions(policy=policy, until="loops")).nests
    return program


def nests_of_file(name: str, policy: str = "default") -> NestProgram:
    return nests_of((PROGRAMS / f"{name}.tdsl").read_text(encoding="utf-8"), policy)


def assert_nest(program: NestProgram, *structures: str) -> None:
    """The program's nests have these loops, `rows i0{ j0(sum) ; j0 }`: a nest's kind, then its loops."""
    found = tuple(f"{n.shape.kind} {nest_structure(n)}".strip() for n in program.nests)
    assert found == structures, print_nest_program(program)


FILES = {
    # the seed's four
    "chain": ("flat c0",),
    "epilogue": ("rows i0{ j0(sum) }",),
    "wall": ("whole r0,r1(sum)", "flat c0"),
    "mismatch": ("flat c0", "flat c0{ c1 }"),
    # one row loop
    "softmax": ("rows i0{ j0(max) ; j0(sum) ; j0 }",),
    "wide_softmax": ("rows i0{ j0(max) ; j0(sum) ; j0 }",),
    "log_softmax": ("rows i0{ j0(max) ; j0(sum) ; j0 }",),
    "layernorm": ("rows i0{ j0(sum var) ; j0 }",),
    "rmsnorm": ("rows i0{ j0(sum) ; j0 }",),
    "row_center": ("rows i0{ j0(sum) ; j0 }",),
    "diamond_red": ("rows i0{ j0(max sum) ; j0 }",),
    "bias_relu_rowsum": ("rows i0{ j0(sum) }",),
    "two_red_same": ("rows i0{ j0(sum max) }",),
    "two_outputs_ret": ("rows i0{ j0(sum) }",),
    "pairwise": ("rows i0,i1{ j0(sum) }",),
    # columns
    "col_center": ("columns i0{ r0(sum) }", "flat c0{ c1 }"),
    "softmax_dim0": ("columns i0{ r0(max) }", "columns i0{ r0(sum) }", "flat c0{ c1 }"),
    "var_mean_dim0": ("columns i0{ r0(var sum) }",),
    # one sweep of everything
    "mse": ("whole r0,r1(sum)",),
    "two_sums_scalar": ("whole r0,r1(sum sum)",),
    # elementwise
    "diamond": ("flat c0",),
    "horiz": ("flat c0",),
    "adam": ("flat c0",),
    "slice_halves": ("flat c0{ c1 }",),
    # nests that stay apart
    "two_red_diff": ("rows i0{ j0(sum) }", "columns i0{ r0(sum) }"),
    "mm_relu_sum": ("matmul matmul", "rows i0{ j0(sum) }"),
    "attention": ("matmul matmul", "rows i0{ j0(max) ; j0(sum) ; j0 }", "matmul matmul"),
}


JOINED = {
    # a stencil over a padded image is one nest that reads the image
    "(x: f32[N, D]) { p = pad(x, 1); return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] }": (
        "flat c0{ c1 }",
    ),
    "(x: f32[N, D], y: f32[N, D]) { return concat((x * 2, y + 1), axis=1) }": ("flat c0{ c1 }",),
    # one row at a time: of the join, and of what it joins
    "(x: f32[N, D], y: f32[N, K]) { c = concat((x, y), axis=1); return c / sum(c, axis=1)[:, None] }": (
        "rows i0{ j0(sum) ; j0 }",
    ),
    "(x: f32[N, D]) { e = exp(x); return sum(e, axis=1), concat((e, x), axis=1) }": (
        "rows i0{ j0(sum) ; j0 }",
    ),
    # a shift leaves the row or the step that wrote the element
    "(x: f32[N, D]) { e = exp(x); return max(e, axis=1), roll(e, 1, axis=0) }": (
        "rows i0{ j0(max) }",
        "flat c0",
    ),
    "(x: f32[N, 3], y: f32[M, 3]) { return concat((x, y)), stack((x, x)) }": ("flat c0", "flat c0{ c1 }"),
    "(x: f32[N]) { @materialize e = exp(x); return e, concat((e[1:], e[:1])) }": ("flat c0", "flat c0"),
    "(x: f32[N, D]) { return tile(x, (2, 2)) }": ("flat c0,c1,c2{ c3 }",),
}


@pytest.mark.parametrize("text", JOINED)
def test_joined_arrays_are_read_in_place(text: str) -> None:
    program = nests_of(f"kernel f{text}")
    assert_nest(program, *JOINED[text])


@pytest.mark.parametrize("name", FILES)
def test_program_files(name: str) -> None:
    assert_nest(nests_of_file(name), *FILES[name])


INDUCTOR = {
    # a scalar after a full reduction, and a stored exp, are nests of their own there
    "mse": ("whole r0,r1(sum)", "flat"),
    "diamond_red": ("flat c0", "rows i0{ j0(max sum) ; j0 }"),
    "two_outputs_ret": ("flat c0", "rows i0{ j0(sum) }"),
    "softmax": ("rows i0{ j0(max) ; j0(sum) ; j0 }",),
    "layernorm": ("rows i0{ j0(sum var) ; j0 }",),
}


@pytest.mark.parametrize("name", INDUCTOR)
def test_program_files_under_the_other_policy(name: str) -> None:
    assert_nest(nests_of_file(name, "inductor-2.8"), *INDUCTOR[name])


TEXTS = {
    "batch statistics": (
        "(x: f32[B, N, D]) { m = mean(x, axis=(0, 1), keepdims=true); v = var(x, axis=(0, 1), keepdims=true);"
        " return (x - m) / sqrt(v + 1e-5) }",
        ("columns i0{ r0,r1(sum var) }", "flat c0{ c1 }"),
    ),
    "pairs of rows": (
        "(x: f32[N, D], y: f32[M, D]) { d = x[:, None, :] - y[None, :, :]; return sum(d * d, axis=2) }",
        ("rows i0,i1{ j0(sum) }",),
    ),
    "transposed": ("(x: f32[N, D]) { return x.T + 1 }", ("flat c0{ c1 }",)),
    "twice transposed": ("(x: f32[N, D]) { return exp(x.T).T }", ("flat c0",)),
    "rows of the transposed": ("(x: f32[N, D]) { return sum(x.T, axis=1) }", ("columns i0{ r0(sum) }",)),
    "columns of the transposed": ("(x: f32[N, D]) { return sum(x.T, axis=0) }", ("rows i0{ j0(sum) }",)),
    "slices": ("(x: f32[N, D]) { return x[1:, 1:] - x[:-1, :-1] }", ("flat c0{ c1 }",)),
    "whole rows sliced": ("(x: f32[N, D]) { return x[1:] - x[:-1] }", ("flat c0",)),
    "sums of slices": (
        "(x: f32[N, D]) { return sum(x[:, ::2], axis=1) + sum(x[:, 1::2], axis=1) }",
        ("rows i0{ j0(sum) ; j0(sum) }",),
    ),
    "scan of one axis": ("(x: f32[N]) { return cumulative_sum(x) }", ("scan { j0[sum] }",)),
    "scan and full sums": (
        "(x: f32[N]) { c = cumulative_sum(x); return c * 2, sum(c), mean(x) }",
        ("scan { j0(sum sum)[sum] }",),
    ),
    "scan divided by a full sum": (
        "(x: f32[N]) { return cumulative_sum(x) / sum(x) }",
        ("whole r0(sum)", "scan { j0[sum] }"),
    ),
    "scan of rows between maps": (
        "(x: f32[N, D], y: f32[N, D]) { return cumulative_sum(exp(x), axis=1) * y }",
        ("rows i0{ j0[sum] }",),
    ),
    "scan of a softmax": (
        "(x: f32[N, D]) { e = exp(x - max(x, axis=1, keepdims=true));"
        " return cumulative_sum(e / sum(e, axis=1, keepdims=true), axis=1) }",
        ("rows i0{ j0(max) ; j0(sum) ; j0[sum] }",),
    ),
    "scan reduced": (
        "(x: f32[N, D]) { return max(cumulative_sum(x, axis=1), axis=1) }",
        ("rows i0{ j0(max)[sum] }",),
    ),
    "scans by columns between maps": (
        "(x: f32[N, D], y: f32[N, D]) { c = cumulative_sum(exp(x), axis=0);"
        " return c * y, cumulative_max(c + 1, axis=0) }",
        ("scan c1{ c0[sum max] }",),
    ),
    "scan with a zero in front": (
        "(x: f32[N, D]) { return cumulative_sum(x, axis=1, include_initial=true) }",
        ("rows i0{ j0[sum] ; j0 }",),
    ),
    "scan of the middle axis": (
        "(x: f32[A, B, N, D]) { return cumulative_sum(x, axis=1) }",
        ("scan c0,c2{ c1[sum] }",),
    ),
    "scan by columns inside rows": (
        "(x: f32[B, N, D]) { return cumulative_sum(x, axis=1) - max(x, axis=(1, 2))[:, None, None] }",
        ("rows i0{ j0,j1(max) ; j1{ j0[sum] } ; j0{ j1 } }",),
    ),
    "scans of two axes": (
        "(x: f32[N, D]) { return cumulative_sum(cumulative_sum(x, axis=0), axis=1) }",
        ("scan c1{ c0[sum] }", "rows i0{ j0[sum] }"),
    ),
    "scan read elsewhere": (
        "(x: f32[N, D]) { c = cumulative_sum(x, axis=1); return c[:, 1:] - c[:, :-1] }",
        ("rows i0{ j0[sum] }", "flat c0{ c1 }"),
    ),
    "rank 0": ("(a: f32, b: f32) { return a * b + sin(a) }", ("flat",)),
    "scalar after a sum": ("(x: f32[N], a: f32) { return sum(x) * a + 1 }", ("whole r0(sum)",)),
    "map and full sums": (
        "(x: f32[N, D]) { y = exp(x); return y, sum(y), max(x) }",
        ("whole r0,r1(sum max)",),
    ),
    "size-1 axis": (
        "(x: f32[N, 1, D]) { return x - mean(x, axis=2, keepdims=true) }",
        ("rows i0{ j0(sum) ; j0 }",),
    ),
    "size-1 axis reduced": ("(x: f32[N, 1]) { return sum(x, axis=1) }", ("columns i0{ r0(sum) }",)),
    "only size-1 axes": ("(x: f32[1, 1]) { return sum(x, axis=1) + 1 }", ("whole r0(sum)",)),
    "middle axis": ("(x: f32[B, N, D]) { return sum(x, axis=1) }", ("columns i0,i1{ r0(sum) }",)),
    "centred on the middle axis": (
        "(x: f32[B, N, D]) { return x - max(x, axis=1, keepdims=true) }",
        ("columns i0,i1{ r0(max) }", "flat c0,c1{ c2 }"),
    ),
    "last and second axis": (
        "(x: f32[A, B, N, D]) { return sum(x, axis=(1, 3)) }",
        ("rows i0,i1{ j0,j1(sum) }",),
    ),
    "first and third axis": (
        "(x: f32[A, B, N, D]) { return sum(x, axis=(0, 2)) }",
        ("columns i0,i1{ r0,r1(sum) }",),
    ),
    "last two axes": (
        "(x: f32[B, N, D]) { return x - mean(x, axis=(1, 2), keepdims=true) }",
        ("rows i0{ j0,j1(sum) ; j0{ j1 } }",),
    ),
    "batched rows": (
        "(x: f32[B, N, D]) { m = mean(x, axis=2, keepdims=true); v = var(x, axis=2, keepdims=true);"
        " return (x - m) / sqrt(v + 1e-5) }",
        ("rows i0,i1{ j0(sum var) ; j0 }",),
    ),
    "rows inside a shared loop": (
        "(x: f32[B, N, D]) { s = sum(x, axis=2); return s - max(s, axis=1, keepdims=true) }",
        ("rows i0{ k0{ r0(sum) } ; j0(max) ; j0 }",),
    ),
    "columns inside a shared loop": (
        "(x: f32[B, N, D]) { s = sum(x, axis=1); return s / sum(s, axis=1, keepdims=true) }",
        ("rows i0{ k0{ r0(sum) } ; j0(sum) ; j0 }",),
    ),
    "rows and columns of one array": (
        "(x: f32[B, N, D]) { return sum(x, axis=2), sum(x, axis=1) }",
        ("rows i0,i1{ j0(sum) }", "columns i0,i1{ r0(sum) }"),
    ),
    "everything minus its mean": (
        "(x: f32[N, D]) { return x - mean(x) }",
        ("whole r0,r1(sum)", "flat c0"),
    ),
    "outer product": ("(x: f32[N], y: f32[M]) { return x[:, None] * y[None, :] }", ("flat c0{ c1 }",)),
    "column statistics": (
        "(x: f32[N, D]) { return sum(x, axis=0) / sqrt(sum(x * x, axis=0)) }",
        ("columns i0{ r0(sum sum) }",),
    ),
    "argmax beside max": (
        "(x: f32[N, D]) { return argmax(x, axis=1), max(x, axis=1) }",
        ("rows i0{ j0(argmax max) }",),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str) -> None:
    text, structures = TEXTS[name]
    assert_nest(nests_of(f"kernel f{text}"), *structures)


def homes(program: NestProgram) -> tuple[set[str], set[str], set[str]]:
    """Buffers in registers, in scratch rows, in arrays that are no parameters."""
    registers = {r for n in program.nests for r in n.registers}
    scratch = {s.buffer for n in program.nests for s in n.scratch}
    params = {p.name for p in program.signature.params}
    return registers, scratch, {b.name for b in program.buffers} - params


def test_where_intermediates_live() -> None:
    assert homes(nests_of_file("epilogue")) == ({"buf0"}, set(), {"buf1"})
    assert homes(nests_of_file("softmax")) == ({"buf0", "buf2"}, {"buf1"}, {"buf3"})
    assert homes(nests_of_file("layernorm")) == ({"buf0", "buf1"}, set(), {"buf2"})
    assert homes(nests_of_file("wall")) == (set(), set(), {"buf0", "buf1"})
    inner, _ = TEXTS["rows inside a shared loop"]
    assert homes(nests_of(f"kernel f{inner}")) == ({"buf1"}, {"buf0"}, {"buf2"})


def test_a_result_is_never_scratch() -> None:
    program = nests_of(
        "kernel f(x: f32[N, D]) { e = exp(x - max(x, axis=1, keepdims=true)); return e, sum(e, axis=1) }"
    )
    assert_nest(program, "rows i0{ j0(max) ; j0(sum) }")
    assert homes(program)[2] >= {b.name for b in program.buffers if b.result is not None}


def test_what_does_not_change_in_a_loop_is_not_in_it() -> None:
    """exp(s) stands outside, exp of the row value in the outer step, only the rest in the inner loop."""
    row_values = "exp(r)[:, None] + exp(s) + sum(x, axis=1, keepdims=true)"
    text = f"kernel f(x: f32[N, D], r: f32[N], s: f32) {{ return x * {row_values} }}"
    lines = print_nest_program(nests_of(text)).splitlines()
    inner = next(k for k, line in enumerate(lines) if "vector j0" in line)
    outer = next(k for k, line in enumerate(lines) if "parallel i0" in line)
    exps = [k for k, line in enumerate(lines) if " = exp " in line]
    assert len(exps) == 2
    assert exps[0] < outer < exps[1] < inner
