"""The shape of checked programs: values, names, origins, inlining, depth."""

from __future__ import annotations

import time
from typing import Any

import pytest
from sema_checking import check_text, kernel, op_names, program_of, result_ops

from tensorc.diagnostics.model import DiagnosticBag
from tensorc.dtypes import F32, F64, I64
from tensorc.sema import kernels
from tensorc.sema.check import check_file
from tensorc.sema.functions import check_alone
from tensorc.source import Source
from tensorc.syntax.parser import parse_file
from tensorc.tensor_ir.program import Reduce, View


def origins(text: str) -> list[str]:
    """Origins of the computed values, in order, each once."""
    ops = program_of(text).ops
    silent = ("param", "constant", "size", "view")
    return list(dict.fromkeys(op.origin for op in ops if op.op not in silent))


def test_epilogue_keeps_names_and_origins() -> None:
    program = program_of(
        "kernel epilogue(x: f32[N, D]) -> f32[N] {\n"
        " z = sin(x) + 1\n s = sum(z, axis=1)\n return relu(s) * 2\n}"
    )
    computed = [
        (op.op, op.origin, op.name) for op in program.ops if op.op not in ("constant", "view", "param")
    ]
    assert computed == [
        ("sin", "sin", ""),
        ("add", "add", "z"),
        ("reduce", "sum", "s"),
        ("relu", "relu", ""),
        ("multiply", "mul", ""),
    ]
    assert [op.span.line for op in program.ops if op.op in ("sin", "reduce", "multiply")] == [2, 3, 4]
    assert str(program.signature.results[0].written) == "f32[N]"
    assert program.signature.results[0].name == ""


def test_a_kept_dimension_shares_the_name_of_its_reduction() -> None:
    program = kernel("x: f32[N, D]", "m = max(x, axis=1, keepdims=true)\nreturn x - m")
    named = [op.op for op in program.ops if op.name == "m"]
    assert named == ["reduce", "view"]


def test_a_value_keeps_its_first_name() -> None:
    program = kernel("x: f32[N]", "y = x\nz = sin(y)\nw = z\nreturn w")
    assert [op.name for op in program.ops] == ["x", "z"]


def test_composed_operations_have_one_origin() -> None:
    assert origins("kernel k(x: f32[N]) { return gelu(x) }") == ["gelu"]
    assert origins("kernel k(x: f32[N]) { return silu(x) }") == ["silu"]
    assert origins("kernel k(x: f32[N, D]) { return mean(x, axis=1) }") == ["mean"]
    assert origins("kernel k(x: f64[N]) { return std(x) }") == ["std"]


def test_moments_of_f32_are_one_reduction_and_of_f64_two_passes() -> None:
    single = kernel("x: f32[N, D]", "var(x, axis=1, correction=1)")
    assert [op.attrs for op in single.ops if op.op == "reduce"] == [Reduce("var", (1,), 1.0)]
    double = kernel("x: f64[N, D]", "var(x, axis=1)")
    assert [op.attrs for op in double.ops if op.op == "reduce"] == [Reduce("sum", (1,)), Reduce("sum", (1,))]


def test_clip_is_maximum_then_minimum() -> None:
    names = op_names(kernel("x: f32[N]", "clip(x, 0, 1)"))
    assert [n for n in names if n in ("maximum", "minimum")] == ["maximum", "minimum"]


def test_a_square_is_a_square() -> None:
    assert "square" in op_names(kernel("x: f32[N]", "x ** 2"))
    assert "power" in op_names(kernel("x: f32[N]", "x ** 3"))


def test_a_reduction_of_a_permuted_view_reduces_the_operand() -> None:
    program = kernel("x: f32[A, B, C]", "sum(permute_dims(x, (2, 0, 1)), axis=2)")
    reduce = next(op for op in program.ops if op.op == "reduce")
    assert program.ops[reduce.operands[0]].op == "param"
    assert reduce.attrs == Reduce("sum", (1,))
    assert [str(s) for s in result_ops(program)[0].shape] == ["C", "A"]


def test_a_flat_argmax_of_a_permuted_view_counts_in_the_views_order() -> None:
    program = kernel("x: f32[A, B]", "argmax(x.T)")
    reduce = next(op for op in program.ops if op.op == "reduce")
    assert isinstance(program.ops[reduce.operands[0]].attrs, View)


def test_promotions_have_no_origin() -> None:
    program = kernel("x: i32[N], y: i64[N]", "x + y")
    assert [(op.op, op.origin) for op in program.ops if op.op == "cast"] == [("cast", "")]
    assert [op.origin for op in kernel("x: i32[N]", "f64(x)").ops if op.op == "cast"] == ["f64"]


def test_weak_results_are_stored_as_i64_and_f64() -> None:
    program = kernel("x: f32[N]", "arange(N), zeros(N), 3, 0.5, where(x > 0, -inf, 0)")
    assert [op.dtype for op in result_ops(program)] == [I64, F64, I64, F64, F64]


def test_several_results_take_their_written_names() -> None:
    program = program_of("kernel k(x: f32[N]) -> (a: f32[N], total: f32) { return x, sum(x) }")
    assert [(r.name, r.written) for r in program.signature.results] == [("a", "f32[N]"), ("total", "f32")]
    inferred = kernel("x: f32[N, D]", "x[1:], mean(x)")
    assert [r.written for r in inferred.signature.results] == ["f32[max(N - 1, 0), D]", "f32"]


# -- defs ------------------------------------------------------------------------------------------

SOFTMAX = """
def softmax(x, axis=-1) {
    e = exp(x - max(x, axis=axis, keepdims=true))
    return e / sum(e, axis=axis, keepdims=true)
}
"""


def test_a_def_is_inlined_with_its_call_chain() -> None:
    program = program_of(SOFTMAX + "kernel k(x: f32[N, D]) { return softmax(x, axis=0) }")
    reduce = next(op for op in program.ops if op.op == "reduce")
    assert reduce.attrs == Reduce("max", (0,))
    assert (reduce.span.text, reduce.span.line) == ("max(x, axis=axis, keepdims=true)", 3)
    assert [s.text for s in reduce.span.via] == ["softmax(x, axis=0)"]
    assert [op.name for op in program.ops if op.op == "exp"] == ["e"]


def test_defs_are_polymorphic_and_return_several_values() -> None:
    text = """
def half(x) = x * 0.5
def both(x, y=2) {
    return half(x), half(x) * y
}
kernel a(x: f32[N]) { p, q = both(x) return p + q }
kernel b(x: f64) { p, _ = both(y=3, x=x) return p }
""".replace(" return p", "\n return p")
    programs, bag = check_text(text)
    assert bag.items == ()
    assert [result_ops(p)[0].dtype for p in programs] == [F32, F64]
    inner = next(op for op in programs[0].ops if op.op == "multiply")
    assert [s.text for s in inner.span.via] == ["half(x)", "both(x)"]


def test_a_def_sees_the_files_constants_and_dims_but_not_the_kernels_names() -> None:
    text = "dims N ~ 8, H = 3\nconst C = 2\ndef f(x) = x * C + N + H\nkernel k(x: f32[N]) { return f(x) }"
    program = program_of(text)
    assert [(d.name, d.fixed, d.hint) for d in program.signature.dims] == [("N", None, 8), ("H", 3, None)]
    _, bag = check_text("def f(x) = x + y + M\nkernel k(x: f32[M], y: f32) { return f(x) }")
    assert [d.code for d in bag.items] == ["TC0201", "TC0201"]


def test_a_def_may_take_the_name_of_an_operation() -> None:
    program = program_of("def exp(x) = x + x\nkernel k(x: f32[N]) { return exp(x) }")
    assert op_names(program) == ["param", "add"]


def test_a_kernel_may_have_the_name_of_an_operation() -> None:
    program = program_of("kernel argmax(x: f32[N]) -> i64 { return argmax(x) }")
    assert program.signature.name == "argmax"


def test_every_good_kernel_is_returned_and_every_error_reported() -> None:
    programs, bag = check_text(
        "kernel a(x: f32[N]) { return sine(x) + y }\n"
        "kernel b(x: f32[N]) { return x }\n"
        "kernel c(x: f32[N]) { return sum(x, axis=3), max(x, 1) }"
    )
    assert [p.signature.name for p in programs] == ["b"]
    assert [d.code for d in bag.items] == ["TC0203", "TC0201", "TC0403", "TC0204"]


def test_an_erroneous_value_silences_what_follows() -> None:
    _, bag = check_text("kernel k(x: f32[N]) {\n y = oops\n z = sum(y, axis=7) + y[9] @ y\n return z.T\n}")
    assert [d.code for d in bag.items] == ["TC0201"]


# -- depth -----------------------------------------------------------------------------------------


def test_long_and_deep_programs_check_quickly() -> None:
    lines = "\n".join(f" y{n + 1} = y{n} * 2 + 1" for n in range(500))
    texts = [
        f"kernel k(x: f32[N]) {{ return {' + '.join(['x'] * 3000)} }}",
        f"kernel k(x: f32[N]) {{ return {'sin(' * 3000}x{')' * 3000} }}",
        f"kernel k(x: f32[N]) {{ return {'-' * 3001}x }}",
        f"kernel k(x: f32[N]) {{\n y0 = x\n{lines}\n return y500\n}}",
        "def g0(x) = x + 1\n"
        + "\n".join(f"def g{n + 1}(x) = g{n}(x) * 2" for n in range(200))
        + "\nkernel k(x: f32[N]) { return g200(x) }",
    ]
    started = time.monotonic()
    for text in texts:
        program_of(text)
    assert time.monotonic() - started < 30


def test_what_a_place_keeps_of_its_calls_grows_by_one_a_call() -> None:
    defs = "".join(f"def g{n + 1}(x) = g{n}(x) * 2\n" for n in range(300))
    program = program_of(f"def g0(x) = x + 1\n{defs}kernel k(x: f32[N]) {{ return g300(x) }}")
    add = next(op for op in program.ops if op.op == "add")
    assert len(add.span.via) == 301
    assert not any(call.via for call in add.span.via)


def test_calls_that_are_nested_too_deep_are_refused() -> None:
    defs = "".join(f"def g{n + 1}(x) = g{n}(x)\n" for n in range(2000))
    programs, bag = check_text(f"def g0(x) = x\n{defs}kernel k(x: f32[N]) {{ return g2000(x) }}")
    assert programs == ()
    assert [(d.code, d.span.text) for d in bag.items if d.span] == [("TC0504", "g0(x)")]


def test_an_explosion_of_calls_is_refused() -> None:
    text = "def g0(x) = x + x\n" + "\n".join(f"def g{n + 1}(x) = g{n}(x) + g{n}(x * 2)" for n in range(40))
    programs, bag = check_text(text + "\nkernel k(x: f32[N]) { return g40(x) }")
    assert programs == ()
    assert [d.code for d in bag.items] == ["TC0504"]


def test_a_chain_of_uncalled_defs_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []

    def counted(c: Any, function: Any) -> Any:
        looked_at.append(function.name)
        return check_alone(c, function)

    monkeypatch.setattr(kernels, "check_alone", counted)
    chain = "".join(f"def g{n}(x) = g{n - 1}(x) + {n}\n" for n in range(1, 40))
    source = Source("chain.tdsl", f"{chain}def g0(x) = x + nothing\nkernel f(x: f32[N]) {{ return x }}\n")
    bag = DiagnosticBag()
    check_file(parse_file(source, bag), bag)
    assert looked_at == ["g39"]
    assert [d.message for d in bag.items] == ["unknown name `nothing`"]
