"""Size symbols: how a call binds them and what it checks."""

from __future__ import annotations

import numpy as np
import pytest
from sema_checking import check_text, kernel, program_of

from tensorc.interp.tensor_interp import interpret
from tensorc.tensor_ir.program import TensorProgram


def bindings(program: TensorProgram) -> list[tuple[str, int, int | None, str, str]]:
    return [(b.dim, b.param, b.axis, str(b.coefficient), str(b.rest)) for b in program.signature.bindings]


def checks(program: TensorProgram) -> list[str]:
    return [f"{c.kind}: {c.left} {c.relation} {c.right}" for c in program.signature.checks]


def test_a_plain_axis_binds_and_the_next_one_is_checked() -> None:
    program = kernel("x: f32[N, D], w: f32[D]", "x * w")
    assert bindings(program) == [("N", 0, 0, "1", "0"), ("D", 0, 1, "1", "0")]
    assert checks(program) == ["axis: D == D"]
    check = program.signature.checks[0]
    assert (check.param, check.axis) == (1, 0)


def test_plain_axes_bind_before_linear_ones() -> None:
    program = kernel("x: f32[N + K - 1], w: f32[K]", "sum(x) + sum(w)")
    assert bindings(program) == [("K", 1, 0, "1", "0"), ("N", 0, 0, "1", "K - 1")]
    assert checks(program) == []


def test_linear_axes_are_solved_one_after_the_other() -> None:
    program = kernel("x: f32[A * B], y: f32[2 * A]", "sum(x) + sum(y)")
    assert bindings(program) == [("A", 1, 0, "2", "0"), ("B", 0, 0, "A", "0")]
    found = interpret(program, {"x": np.ones(6, np.float32), "y": np.ones(4, np.float32)})
    assert found[0] == 10


def test_other_axes_are_checked() -> None:
    program = kernel("x: f32[N, N], y: f32[N * N], z: f32[3], w: f32[N // 2]", "sum(x)")
    assert bindings(program) == [("N", 0, 0, "1", "0")]
    assert checks(program) == [
        "axis: N == N",
        "axis: N*N == N*N",
        "axis: 3 == 3",
        "axis: (N // 2) == (N // 2)",
    ]


def test_an_integer_parameter_is_a_size() -> None:
    program = program_of("kernel grid(n: i64, x: f32[n + 1]) -> f32[n] { return x[1:] }")
    assert bindings(program) == [("n", 0, None, "1", "0")]
    assert program.signature.passed_dims == ()
    np.testing.assert_array_equal(
        interpret(program, {"n": 2, "x": np.arange(3, dtype=np.float32)})[0], [1, 2]
    )


def test_an_integer_parameter_that_is_no_size_is_no_dim() -> None:
    program = kernel("x: i32[N], k: i32", "x + k")
    assert [d.name for d in program.signature.dims] == ["N"]


def test_arithmetic_of_integer_parameters_is_a_size() -> None:
    program = kernel("n: i64, m: i32", "zeros((n + 2 * m,), dtype=f32)")
    assert [str(s) for s in program.signature.results[0].shape] == ["2*m + n"]
    assert interpret(program, {"n": 1, "m": 2})[0].shape == (5,)


def test_a_size_that_may_be_negative_is_checked() -> None:
    program = kernel("x: f32[N]", "zeros((N - 3,), dtype=f32)")
    assert checks(program) == ["nonnegative: N - 3 >= 0"]
    with pytest.raises(ValueError, match="must not be negative"):
        interpret(program, {"x": np.zeros(2, np.float32)})


def test_a_declared_size_that_may_differ_is_checked() -> None:
    program = program_of("kernel k(x: f64[N]) -> f64[N - 1] requires N >= 1 { return x[1:] - x[:-1] }")
    assert checks(program) == ["requires: N >= 1", "shape: max(N - 1, 0) == N - 1"]
    assert program.signature.results[0].written == "f64[N - 1]"
    other = program_of("kernel k(x: f64[N], y: f64[M]) -> f64[M] { return x + sum(y) }")
    assert checks(other) == ["shape: N == M"]


def test_requires_takes_lists_chains_and_conjunctions() -> None:
    program = program_of(
        "kernel k(x: f64[N, D]) requires N % 4 == 0, 1 <= D <= 2 * N, N > 2 and D != 5 { return x }"
    )
    assert checks(program) == [
        "requires: (N % 4) == 0",
        "requires: 1 <= D",
        "requires: D <= 2*N",
        "requires: N > 2",
        "requires: D != 5",
    ]
    assert [c.text for c in program.signature.checks][:3] == ["N % 4 == 0", "1 <= D", "D <= 2 * N"]


def test_fixed_dims_are_numbers_and_hints_are_kept() -> None:
    program = program_of("dims N ~ 100, H = 8 * 2\nkernel k(x: f32[N, H]) { return x[:, :4] }")
    assert [(d.name, d.fixed, d.hint) for d in program.signature.dims] == [("N", None, 100), ("H", 16, None)]
    assert checks(program) == ["axis: 16 == 16"]
    assert program.signature.params[0].written == "f32[N, H]"
    assert [str(s) for s in program.ops[0].shape] == ["N", "16"]


def test_the_command_fixes_dims_that_are_open_and_overrides_hints() -> None:
    text = "dims N ~ 100, H = 16, K ~ 5\nkernel k(x: f32[N, H, M, K]) { return x }"
    program = program_of(text, dims={"H": 16, "M": 2, "K": 3}, hints={"N": 7})
    found = [(d.name, d.fixed, d.hint) for d in program.signature.dims]
    assert found == [("N", None, 7), ("H", 16, None), ("M", 2, None), ("K", 3, 5)]


def test_what_the_file_fixes_has_no_other_value() -> None:
    text = "const C = 4\ndims H = C * 4\nkernel k(x: f32[H]) { return x }"
    _, bag = check_text(text, dims={"H": 4})
    (found,) = bag.items
    assert (found.code, found.message) == ("TC0802", "the size H is 16 in the program, not 4")
    assert found.span is not None and found.span.line == 2


def test_a_division_of_sizes_by_a_symbol_checks_the_divisor() -> None:
    program = kernel("x: f32[N], y: f32[D]", "zeros((N // D,), dtype=f32)")
    assert checks(program) == ["divisor: D != 0", "nonnegative: (N // D) >= 0"]
    with pytest.raises(ValueError, match="the divisor D of a size must not be 0"):
        interpret(program, {"x": np.zeros(2, np.float32), "y": np.zeros(0, np.float32)})


def test_one_check_per_relation() -> None:
    program = kernel("x: f32[N]", "max(x) + min(x), max(x)")
    assert checks(program) == ["nonempty: N > 0"]


@pytest.mark.parametrize(
    "requires",
    [
        "N < 0",
        "not N >= 0",
        "not 0 <= N",
        "N < 0 or N < -1",
        "N + M + 1 <= 0",
        "N + 1 == 0",
        "-1 == N * M",
        "N * M < 0",
        "N // 2 < 0",
        "N % 3 <= -1",
        "n < 0",
        "n * N == -3",
        "false",
        "not true",
        "N > 1 and false",
        "not (N > 1 or true)",
        "false or N < 0",
        "NEVER",
    ],
)
def test_requires_that_no_size_satisfies(requires: str) -> None:
    text = f"const NEVER = false\nkernel f(x: f32[N], y: f32[M], n: i64) requires {requires} {{ return x }}"
    _, bag = check_text(text)
    assert [d.code for d in bag.items] == ["TC0412"]
    assert "is false for every size" in bag.items[0].label


@pytest.mark.parametrize("requires", ["N <= 0", "N != 0", "N < 0 or N == 0", "N - M < 0", "(N - 1) // 2 < 0"])
def test_requires_that_some_size_satisfies(requires: str) -> None:
    program = program_of(f"kernel f(x: f32[N], y: f32[M]) requires {requires} {{ return x }}")
    assert len(checks(program)) == 1


def test_true_and_false_in_requires() -> None:
    text = "requires true, N > 1 or false, N > 2 and true, N > 3 or true, not false"
    program = program_of(f"kernel f(x: f32[N]) {text} {{ return x }}")
    assert checks(program) == ["requires: N > 1", "requires: N > 2"]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("N = 3\nreturn zeros(N)", 2),
        ("y = x + N\nM, N = pair(y)\nreturn M * N", 3),
        ("N[i] = x[i] for i in 3\nreturn N", 2),
        ("y[N] = x[N] for N in N\nreturn y", 2),
        ("return sum(x[N] for N in 2)", 2),
        ("H = x\nreturn H", 2),
    ],
)
def test_a_local_does_not_hide_a_size(body: str, line: int) -> None:
    _, bag = check_text(f"def pair(x) {{ return x, 3 }}; kernel k(x: f32[N], z: f32[H]) {{\n{body}\n}}")
    assert [(d.code, d.span.line) for d in bag.items] == [("TC0207", line)]
    assert "is both a local name and a size" in bag.items[0].message


def test_names_that_are_no_size_of_the_kernel() -> None:
    text = """
        dims H = 4
        def f(x) { N = x.shape[0]; return x / N }
        kernel k(x: f32[N]) { H = f(x); _ = N; return sum(H) }
    """
    programs, bag = check_text(text)
    assert len(programs) == 1
    assert not bag.has_errors


@pytest.mark.parametrize("divisor", ["0", "ZERO"])
@pytest.mark.parametrize("op", ["//", "%"])
@pytest.mark.parametrize(
    "text",
    [
        "dims A = 1 + QUOTIENT\nkernel k(x: f32[A]) { return x }",
        "kernel k(x: f32[QUOTIENT]) { return x }",
        "kernel k(x: f32[N]) -> f32[QUOTIENT] { return x }",
        "kernel k(x: f32[N]) { y: f32[QUOTIENT] = x; return y }",
        "kernel k(x: f32[N]) requires N > QUOTIENT { return x }",
        "kernel k(x: f32[N]) { y[i] = x[i] for i in QUOTIENT; return y }",
    ],
)
def test_a_size_is_not_divided_by_zero(text: str, op: str, divisor: str) -> None:
    _, bag = check_text(f"const ZERO = 0\n{text.replace('QUOTIENT', f'5 {op} {divisor}')}")
    assert [d.code for d in bag.items] == ["TC0410"]
    assert f"`{op}` of a size by zero" in bag.items[0].message


def test_sizes_that_requires_makes_equal_are_equal() -> None:
    program = program_of(
        "kernel f(x: f32[A, N], y: f32[A, M], z: f32[2 * K]) -> (a: f32[A, M], b: f32[2 * K], c: i64)"
        " requires N == M, M == 2 * K { return x + y, sum(x, axis=0) + z + zeros((N,)), sum(arange(M)) }"
    )
    # the requirements are still what a call is checked against
    assert checks(program)[-2:] == ["requires: N == M", "requires: M == 2*K"]
    assert [str(r.shape[-1]) for r in program.signature.results[:2]] == ["2*K", "2*K"]
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    a, b, c = interpret(program, {"x": x, "y": x, "z": x[0]})
    np.testing.assert_array_equal(a, 2 * x)
    np.testing.assert_array_equal(b, x.sum(axis=0) + x[0])
    assert c == 6
    with pytest.raises(ValueError, match="N == M"):
        interpret(program, {"x": x, "y": x[:, :2], "z": x[0]})


@pytest.mark.parametrize(
    ("requires", "sizes"),
    [
        ("N == M", "f32[N]"),
        ("M == N", "f32[N]"),
        ("n == N, n == M", "f32[N]"),
        ("N == 8, M == N", "f32[8]"),
        ("N <= M", None),
        ("N == 1, M == 1", None),  # a symbol is never an axis that repeats
        ("N == M - 1", None),  # M - 1 may be negative
        ("2 * N == 2 * M", None),
    ],
)
def test_what_requires_makes_equal(requires: str, sizes: str | None) -> None:
    text = f"kernel f(x: f32[N], y: f32[M], n: i64) requires {requires} {{ return x + y + f32(n) }}"
    if sizes is None:
        assert [d.code for d in check_text(text)[1].items] == ["TC0402"]
        return
    (result,) = program_of(text).signature.results
    assert f"{result.dtype}[{result.shape[0]}]" == sizes
