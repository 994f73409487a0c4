"""One value of a nest as a C declaration, for a given vector axis and number of active lanes."""

from __future__ import annotations

from tensorc.codegen.c_ast import (
    Binary,
    Call,
    Cast,
    Declare,
    Evaluate,
    Expr,
    Index,
    Integer,
    Name,
    Stmt,
    Unary,
)
from tensorc.codegen.context import LANES, Context, split_index
from tensorc.codegen.expressions import literal_expr, size_expr
from tensorc.codegen.guarded import guarded_load, inside_expr
from tensorc.codegen.lane_types import cast_steps, lane_type, operation_type
from tensorc.dtypes import BF16, BOOL, F16, I64, DType
from tensorc.index_algebra import Poly
from tensorc.loop_ir.program import Gather, IndexValue, Inside, Literal, Load, Place, ScalarRef
from tensorc.loop_schedule.program import Check, Let, Scan, Store

FIRST_FAILURE = 16
INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}


def declare_value(let: Let, value: Expr, context: Context) -> Stmt:
    """`const tc_f32 v3 = value;`"""
    return Declare(f"const tc_{lane_type(let.dtype)}", context.value_name(let.name), value)


def emit_let(let: Let, context: Context) -> Stmt:
    """`const tc_f32 v3 = tc_sin_f32(v2);` for everything but gathers (see `gathers`)."""
    return declare_value(let, _value(let, context), context)


def _value(let: Let, context: Context) -> Expr:
    match let.attrs:
        case Load():
            return load_expr(let.attrs, let.dtype, context)
        case Place() | Gather():
            raise AssertionError("gathers are spelt elsewhere")
        case ScalarRef(param):
            return Call(f"tc_splat_{let.dtype}", (Name(context.arrays[param]),))
        case Literal(value):
            return Call(f"tc_splat_{let.dtype}", (literal_expr(value, let.dtype),))
        case Inside(guards):
            return inside_expr(guards, context)
        case IndexValue(index):
            return _cast(_index_value(index, context), I64, let.dtype)
        case None:
            return _operation(let, [context.value(a) for a in let.args])


def _operation(let: Let, args: list[Expr]) -> Expr:
    if let.op == "cast":
        return _cast(args[0], let.operand_dtype, let.dtype)
    if let.op in INFIX and let.operand_dtype != BOOL:
        return Binary(INFIX[let.op], args[0], args[1])
    return Call(f"tc_{let.op}_{operation_type(let.op, let.operand_dtype)}", tuple(args))


def _cast(value: Expr, source: DType, target: DType) -> Expr:
    for function in cast_steps(source, target):
        value = Call(function, (value,))
    return value


def load_expr(load: Load, dtype: DType, context: Context) -> Expr:
    """A vector from memory: neighbours, elements a stride apart, or one element in every lane."""
    if load.guards:
        return guarded_load(load, dtype, context)
    offset, stride = split_index(load.index, context)
    address = context.element(load.buffer, offset)
    if not stride.terms:
        kind = "splat_bits" if dtype in (F16, BF16) else "splat"
        return Call(f"tc_{kind}_{dtype}", (Unary("*", address),))
    args: tuple[Expr, ...] = (address,)
    name = "load"
    if stride != 1:
        name, args = "gather", (address, size_expr(stride, context.names))
    if context.lanes is not None:
        name, args = f"{name}_part", (*args, context.lanes)
    return Call(f"tc_{name}_{dtype}", args)


def _index_value(index: Poly, context: Context) -> Expr:
    offset, stride = split_index(index, context)
    if not stride.terms:
        return Call("tc_splat_i64", (Cast("int64_t", offset),))
    return Call("tc_iota_i64", (offset, size_expr(stride, context.names)))


def emit_check(check: Check, context: Context) -> Stmt:
    """`tc_require(tc_nonnegative_i32(v3, 8), status, 16);`"""
    lanes = context.lanes if context.lanes is not None else Integer(LANES)
    test = Call(f"tc_{check.condition}_{check.dtype}", (context.value(check.value), lanes))
    code = FIRST_FAILURE + context.failures.index(check.failure)
    return Evaluate(Call("tc_require", (test, Name("status"), Integer(code))))


def scan_type(scan: Scan) -> str:
    """The runtime's struct for a scan along the vector axis."""
    return f"tc_scan_{scan.kind}_{scan.dtype}"


def carry_name(scan: Scan) -> str:
    return f"carry_{scan.name}"


def emit_scan(scan: Scan, context: Context) -> Stmt:
    """`const tc_f32 v3 = tc_scan_sum_f32_step(&carry_v3, v2);`, or the carry of this vector of a strip."""
    carry: Expr = Name(carry_name(scan))
    kind = scan_type(scan)
    if context.strip is not None:
        assert context.at is not None
        kind = f"{kind}_col"
        carry = Index(carry, Binary("/", Binary("-", context.at, context.strip), Integer(LANES)))
    call = Call(f"{kind}_step", (Unary("&", carry), context.value(scan.value)))
    return Declare(f"const tc_{scan.dtype}", context.value_name(scan.name), call)


def emit_store(store: Store, context: Context) -> Stmt:
    """Eight elements (or the active ones) in a vector loop, one elsewhere."""
    offset, stride = split_index(store.index, context)
    address = context.element(store.buffer, offset)
    value = context.value(store.value)
    if not stride.terms:
        return Evaluate(Call(f"tc_store_first_{store.dtype}", (address, value)))
    if stride != 1:
        step = size_expr(stride, context.names)
        if context.lanes is not None:
            return Evaluate(Call(f"tc_scatter_part_{store.dtype}", (address, step, value, context.lanes)))
        return Evaluate(Call(f"tc_scatter_{store.dtype}", (address, step, value)))
    if context.lanes is not None:
        return Evaluate(Call(f"tc_store_part_{store.dtype}", (address, value, context.lanes)))
    return Evaluate(Call(f"tc_store_{store.dtype}", (address, value)))
