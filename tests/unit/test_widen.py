"""Widening: what each operation becomes, and that the interpreter cannot tell the difference."""

from __future__ import annotations

import numpy as np
import pytest
from sema_checking import kernel
from test_lanes_narrow import edge_values

from tensorc.dtypes import COMPUTES_IN, SUPPORTED
from tensorc.errors import IRError
from tensorc.interp.tensor_interp import interpret
from tensorc.loop_ir.program import LoopProgram
from tensorc.loop_ir.verify import verify_loop_program
from tensorc.lowering.lower import lower_program
from tensorc.operators import OPERATORS
from tensorc.tensor_ir.print_ir import print_tensor_program
from tensorc.tensor_ir.program import Pin, TensorProgram
from tensorc.tensor_ir.simplify import simplify_program
from tensorc.tensor_ir.verify import verify_tensor_program
from tensorc.tensor_ir.widen import widen_program


def widened(parameters: str, body: str) -> TensorProgram:
    program = widen_program(kernel(parameters, body))
    verify_tensor_program(program)
    return program


def steps(program: TensorProgram) -> list[str]:
    return [f"{op.op}:{op.dtype}" for op in program.ops if op.op != "param"]


def test_an_operation_is_rounded_by_a_cast_back() -> None:
    program = widened("x: f16[N], y: f16[N]", "x + y")
    assert steps(program) == ["cast:f32", "cast:f32", "add:f32", "cast:f16"]
    assert steps(widened("x: u8[N]", "-x")) == ["cast:i32", "negative:i32", "cast:u8"]
    assert steps(widened("x: bf16[N]", "x < x")) == ["cast:f32", "cast:f32", "less:bool"]


def test_what_moves_values_keeps_the_type() -> None:
    text = "c: bool[N], x: i8[N], y: i8[N]"
    assert steps(widened(text, "where(c, x, y)")) == ["where:i8"]
    assert steps(widened(text, "concat((x, y[::2]))")) == ["view:i8", "concat:i8"]


def test_programs_of_wide_types_stay_the_same_object() -> None:
    program = kernel("x: f32[N], i: i64[N]", "sum(x) + exp(x) * f32(i)")
    assert widen_program(program) is program


def test_reductions_accumulate_wide_and_round_once() -> None:
    assert steps(widened("x: f16[N]", "sum(x)")) == ["cast:f32", "reduce:f32", "cast:f16"]
    assert steps(widened("x: f16[N]", "argmax(x)")) == ["cast:f32", "reduce:i64"]
    assert steps(widened("x: bf16[N]", "cumulative_sum(x)")) == ["cast:f32", "scan:f32", "cast:bf16"]
    mean = steps(widened("x: f16[N]", "mean(x)"))
    assert mean[0] == "cast:f32" and mean[-1] == "cast:f16" and mean.count("cast:f16") == 1
    assert steps(widened("x: f16[N, M], y: f16[M, K]", "x @ y")) == [
        "cast:f32", "cast:f32", "matmul:f32", "cast:f16",
    ]  # fmt: skip


def test_unsigned_reductions_run_on_signed_lanes() -> None:
    assert steps(widened("x: u64[N]", "sum(x)")) == ["cast:i64", "reduce:i64", "cast:u64"]
    largest = steps(widened("x: u32[N]", "max(x)"))
    assert largest.count("bitwise_xor:u32") == 2 and "reduce:i32" in largest


def test_a_pin_and_a_name_stay_with_the_rounded_value() -> None:
    program = widened("x: f16[N]", "    @materialize y = x * x\n    return y + x")
    (pinned,) = [op for op in program.ops if op.pin is Pin.MATERIALIZE]
    assert (pinned.op, str(pinned.dtype), pinned.name) == ("cast", "f16", "y")


EXPRESSIONS = (
    "x + y", "x * y - x", "x // y", "x % y", "maximum(x, y)", "x < y", "abs(x)", "sign(x)", "sum(x)",
    "max(x)", "argmin(x)", "cumulative_max(x)", "where(x > y, x, y)", "x ** 2", "mean(x)", "vecdot(x, y)",
    "prod(x)",
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "u16", "u32", "u64", "f16"])
def test_the_interpreter_cannot_tell(dtype: str) -> None:
    t = SUPPORTED[dtype]
    rng = np.random.default_rng(3)
    for expression in EXPRESSIONS:
        program = kernel(f"x: {dtype}[N], y: {dtype}[N]", expression)
        wide = widen_program(program)
        verify_tensor_program(wide)
        for op in wide.ops:
            narrow = [wide.ops[k].dtype for k in op.operands if wide.ops[k].dtype in COMPUTES_IN]
            assert not narrow or op.op not in OPERATORS or op.op == "where", print_tensor_program(wide)
        if t.is_float:
            x, y = (rng.normal(size=50).astype(t.numpy) * 20 for _ in "xy")
        else:
            x, y = (rng.integers(t.lowest, t.highest, 50, t.numpy, endpoint=True) for _ in "xy")
        given = {"x": x.astype(t.numpy), "y": y.astype(t.numpy)}
        for a, b in zip(interpret(program, given, "exact"), interpret(wide, given, "exact"), strict=True):
            np.testing.assert_array_equal(a, b, expression)


def test_loops_take_no_arithmetic_of_narrow_types() -> None:
    program = kernel("x: f16[N]", "x + x")
    loops: LoopProgram = lower_program(program, "default")
    with pytest.raises(IRError, match="f16"):
        verify_loop_program(loops)
    verify_loop_program(lower_program(widen_program(program), "default"))


# -- what comes after: rewriting and folding of the casts that widening leaves -------------------------


@pytest.mark.parametrize("inner", SUPPORTED)
def test_dropped_casts_lose_nothing(inner: str) -> None:
    """`T(S(x))` becomes `T(x)` only where that is the same for every value."""
    values = edge_values(SUPPORTED[inner])
    types = [(a, b) for a in SUPPORTED for b in SUPPORTED]
    body = ", ".join(f"{b}({a}(x))" for a, b in types)
    program = kernel(f"x: {inner}[N]", f"return {body}")
    simplified = simplify_program(widen_program(program))
    verify_tensor_program(simplified)
    with np.errstate(all="ignore"):
        expected = interpret(program, {"x": values}, "exact")
        found = interpret(simplified, {"x": values}, "exact")
    assert sum(op.op == "cast" for op in simplified.ops) < sum(op.op == "cast" for op in program.ops)
    for (a, b), f, e in zip(types, found, expected, strict=True):
        np.testing.assert_array_equal(f, e, f"{inner} to {a} to {b}")


OPERATIONS = ("+", "-", "*", "//", "%", "<", "==", "<<", ">>", "&", "|", "^")
FUNCTIONS = ("maximum", "minimum")
UNARY = ("-{}", "~{}", "abs({})", "sign({})", "square({})", "sqrt({})", "relu({})", "floor({})", "{} ** 2")


@pytest.mark.parametrize("dtype", [t for t in SUPPORTED if t != "bool"])
def test_folded_constants_have_the_values_of_the_interpreter(dtype: str) -> None:
    t = SUPPORTED[dtype]
    if t.is_float:
        numbers = ["0.0", "1.5", "-2.5", "0.1", "3.0", "1e-3", "250.0"]
    else:
        numbers = ["0", "1", "3", "7", "100", str(t.highest), str(t.highest // 2 + 1)]
        numbers += ["-1", "-7", str(t.lowest)] if t.kind == "i" else []
    lines, results = [], []
    for n, number in enumerate(numbers):
        lines.append(f"    c{n} = full((2,), {number}, dtype={dtype})")
    names = [f"c{n}" for n in range(len(numbers))]
    for a in names:
        results += [u.format(a) for u in UNARY if not (t.is_float and u[0] == "~")]
        for b in names:
            results += [
                f"{a} {op} {b}" for op in OPERATIONS if not (t.is_float and op in ("<<", ">>", "&", "|", "^"))
            ]
            results += [f"{f}({a}, {b})" for f in FUNCTIONS]
    program = kernel("x: f32[N]", "\n".join([*lines, f"    return {', '.join(results)}"]))
    simplified = simplify_program(widen_program(program))
    left = [op for op in simplified.ops if op.op in OPERATORS and op.op not in ("floor_divide", "remainder")]
    assert t.is_float or not left
    given = {"x": np.zeros(1, np.float32)}
    with np.errstate(all="ignore"):
        pairs = zip(interpret(program, given, "exact"), interpret(simplified, given, "exact"), strict=True)
        for text, (a, b) in zip(results, pairs, strict=True):
            np.testing.assert_array_equal(a, b, text)
