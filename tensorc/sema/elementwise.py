"""Elementwise operations: promotion, broadcasting and casts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Items
from dataclasses import replace
from math import prod

from tensorc.dtypes import BOOL, F64, I64, U64, DType
from tensorc.index_algebra import ZERO, Poly, is_positive, maximum, minimum, product
from tensorc.operators import OPERATORS, Operator, Typing
from tensorc.sema.builder import Builder, Site, TooLargeError
from tensorc.sema.numbers import MAX_BITS, IntegerTooLongError, cast_known, default_dtype, fits, fold
from tensorc.sema.operator_names import written
from tensorc.sema.promotion import Common, common_type, float_type, kind_of, storage_type, strong_dtype
from tensorc.sema.shapes import broadcast_shapes
from tensorc.sema.values import (
    POISON,
    Absent,
    Arg,
    Known,
    Numeric,
    Size,
    Tensor,
    TypeName,
    Value,
    describe,
    size_of,
)

Args = Mapping[str, Arg]

# an operation on bool that has another name there: NumPy's + and * are `or` and `and`
_ON_BOOL = {"add": "logical_or", "multiply": "logical_and"}
_DOMAIN_WORDS = {"b": "bool", "i": "integers", "f": "floats"}


def numeric(k: Builder, arg: Arg, site: Site) -> Numeric | None:
    """The argument as a number or tensor, or None after an error."""
    if isinstance(arg.value, Known | Size | Tensor):
        return arg.value
    k.error(
        "TC0301",
        f"{written(site.origin)} needs a tensor or a number, found {describe(arg.value)}",
        arg.span,
        label="expected a tensor or a number",
    )
    return None


def check_operator(k: Builder, site: Site, op: str, args: Items[Arg]) -> Value:
    """An `OPERATORS` row on operands of any dtype and shape."""
    values = [numeric(k, a, site) for a in args]
    operands = [v for v in values if v is not None]
    if len(operands) < len(args):
        return POISON
    return apply_operator(k, site, op, operands)


def check_plus(k: Builder, site: Site, arg: Arg) -> Value:
    """Unary `+`: the operand itself, of any type but bool."""
    value = numeric(k, arg, site)
    if value is not None and storage_type(value) == BOOL:
        message = "unary `+` is not defined for bool"
        k.error("TC0302", message, site.span, label="expected integers and floats, found bool")
        return POISON
    return POISON if value is None else value


def apply_operator(k: Builder, site: Site, op: str, operands: Items[Numeric]) -> Value:
    known = tuple(v for v in operands if isinstance(v, Known))
    if op == "power" and not _check_exponent(k, operands, site):
        return POISON
    try:
        folded: Value | None = fold(op, known) if len(known) == len(operands) else None
    except IntegerTooLongError:
        report_long_integer(k, site)
        return POISON
    if len(known) < len(operands):
        folded = _fold_sizes(k, op, operands, site)
    if folded is not None:
        return folded
    row = OPERATORS[op]
    if row.typing is Typing.WHERE:
        return _apply_where(k, site, operands)
    if row.typing is Typing.COMPARE and _differ_in_sign(operands):
        return _compare_with_u64(k, site, op, operands)
    common = _computation_type(k, row, operands, site)
    shape = broadcast_shapes(k, operands, site)
    if common is None or shape is None:
        return POISON
    if common.widened and row.typing is not Typing.COMPARE:
        warn_widening(k, operands, site)
    if op == "power" and isinstance(operands[1], Known) and operands[1].value == 2:
        op, operands = "square", operands[:1]
    name = _ON_BOOL.get(op, op) if common.dtype == BOOL else op
    dtype = BOOL if row.typing in (Typing.COMPARE, Typing.PREDICATE) else common.dtype
    ready = [k.broadcast(k.materialize(v, common.dtype, site), shape, site) for v in operands]
    result = k.elementwise(name, ready, dtype, site)
    weak = common.weak and dtype != BOOL
    return Tensor(result.id, dtype, shape, weak, _size_result(op, operands))


def _computation_type(k: Builder, row: Operator, operands: Items[Numeric], site: Site) -> Common | None:
    """The dtype the operation computes in, or None after an error."""
    common = common_type(operands)
    if row.typing is Typing.LOGICAL and common.dtype != BOOL:
        _refuse(k, row, operands, site, "bool", "compare with 0 to make a bool: x != 0")
        return None
    if row.typing in (Typing.FLOAT, Typing.PREDICATE):
        common = float_type(operands)
    if row.typing is Typing.QUOTIENT and not common.dtype.is_float:
        common = Common(F64, common.weak or all(_is_weak_number(v) for v in operands))
    kind = common.dtype.domain
    if kind not in row.domain:
        words = " and ".join(_DOMAIN_WORDS[d] for d in "bif" if d in row.domain)
        _refuse(k, row, operands, site, words, _domain_help(row, kind, operands))
        return None
    return common


def _differ_in_sign(operands: Items[Numeric]) -> bool:
    """True for u64 beside a signed type: f64, which they promote to, would not compare them exactly."""
    strong = [d for d in map(strong_dtype, operands) if d is not None]
    return U64 in strong and any(d.kind == "i" for d in strong)


def _compare_with_u64(k: Builder, site: Site, op: str, operands: Items[Numeric]) -> Value:
    """A comparison in u64, but for negative operands, which are below every u64."""
    signed = 1 if strong_dtype(operands[0]) == U64 else 0
    whole = list(operands)
    whole[signed] = convert(k, Site(site.span, ""), operands[signed], U64)
    compared = apply_operator(k, site, op, whole)
    negative = apply_operator(k, site, "less", [operands[signed], Known(0)])
    if not isinstance(compared, Tensor) or not isinstance(negative, Tensor):
        return POISON
    if _BELOW[op][signed]:
        return apply_operator(k, site, "logical_or", [negative, compared])
    positive = apply_operator(k, site, "logical_not", [negative])
    return (
        POISON
        if not isinstance(positive, Tensor)
        else apply_operator(k, site, "logical_and", [positive, compared])
    )


_BELOW = {
    "equal": (False, False),
    "not_equal": (True, True),
    "less": (True, False),
    "less_equal": (True, False),
    "greater": (False, True),
    "greater_equal": (False, True),
}
"""What a comparison gives when its first operand is below its second, and when it is above."""


def _is_weak_number(value: Numeric) -> bool:
    return isinstance(value, Known) and value.dtype is None


def _domain_help(row: Operator, kind: str, operands: Items[Numeric]) -> str:
    strong = any(d is not None and d.is_float for d in map(strong_dtype, operands))
    if strong and row.name == "bitwise_xor":
        return "a power is written x ** 2"
    if strong and row.name in ("bitwise_and", "bitwise_or"):
        return f"`{row.symbol}` binds tighter than a comparison: write (x > 0) {row.symbol} (x < 1)"
    if kind != "b":
        return "cast it first, as in i32(x)" if row.domain in ("bi", "i") else ""
    if row.name == "subtract":
        return "on bool, write x ^ y or cast first, as in i32(x)"
    if row.name == "negative":
        return "on bool, write `not x` or cast first, as in i32(x)"
    return "cast it first, as in i32(x)"


def _refuse(k: Builder, row: Operator, operands: Items[Numeric], site: Site, domain: str, help: str) -> None:
    # a literal only follows, where another operand is wrong on its own
    strong = [d for d in map(strong_dtype, operands) if d is not None]
    if all(d.kind in row.domain for d in strong):
        strong = []
    found = " and ".join(dict.fromkeys(map(str, strong or map(storage_type, operands))))
    name = "unary `-`" if row.name == "negative" else written(site.origin)
    k.error(
        "TC0302",
        f"{name} is not defined for {found}",
        site.span,
        label=f"expected {domain}, found {found}",
        help=help,
    )


def warn_widening(k: Builder, operands: Items[Numeric], site: Site) -> None:
    found = " and ".join(dict.fromkeys(describe(v) for v in operands))
    k.bag.warning(
        "TC0304",
        f"{written(site.origin)} of {found} computes in f64",
        site.span,
        label="f32 with an integer tensor widens to f64",
        help="cast the integers, as in f32(i), to stay in f32",
    )


def _check_exponent(k: Builder, operands: Items[Numeric], site: Site) -> bool:
    """False after an error: an integer has no integer power with a negative literal."""
    base, exponent = operands
    negative = isinstance(exponent, Known) and exponent.kind == "i" and exponent.value < 0
    if not negative or kind_of(base) == "f":
        return True
    k.error(
        "TC0302",
        "an integer cannot be raised to a negative integer power",
        site.span,
        label=f"the exponent is {describe(exponent)}",
        help="write a float exponent or cast the base, as in f64(x)",
    )
    return False


# -- sizes -----------------------------------------------------------------------------------------


def _fold_sizes(k: Builder, op: str, operands: Items[Numeric], site: Site) -> Value | None:
    """Sizes stay sizes under integer arithmetic; None leaves the operation to the program."""
    if not all(isinstance(v, Size) or _is_weak_integer(v) for v in operands):
        return None
    _check_terms(k, op, operands, site)
    result = _size_arithmetic(op, operands)
    if result is None:
        return None
    if op in ("floor_divide", "remainder"):
        divisor = size_of(operands[1])
        if divisor == 0:
            report_zero_divisor(k, site)
            return POISON
        if divisor is not None and not is_positive(divisor):
            k.require(
                "divisor", divisor, "!=", Poly(), f"the divisor {divisor} of a size must not be 0", site.span
            )
    if has_long_integers(result):
        report_long_integer(k, site)
        return POISON
    known = result.constant
    return Size(result) if known is None else Known(known)


def report_zero_divisor(k: Builder, site: Site) -> None:
    k.error("TC0410", f"{written(site.origin)} of a size by zero", site.span, label="the divisor is 0")


def has_long_integers(size: Poly) -> bool:
    """True for a size or an index with a number in it that arithmetic of literals would not compute."""
    return any(number.bit_length() > MAX_BITS for _, number in size.terms)


def report_long_integer(k: Builder, site: Site) -> None:
    message = f"{written(site.origin)} gives an integer that is too large to compute"
    k.error("TC0303", message, site.span, label=f"it has more than {MAX_BITS} bits", help="no type holds it")


def _check_terms(k: Builder, op: str, operands: Items[Numeric], site: Site) -> None:
    """Raises TooLargeError, after an error, for a size that multiplied out is very long."""
    counts = [len(p.terms) for p in map(size_of, operands) if p is not None]
    match op:
        case "multiply":
            count = prod(counts)
        case "square":
            count = counts[0] ** 2
        case "power":
            times = size_of(operands[1])
            exponent = times.constant if times is not None else None
            count = counts[0] ** min(max(exponent or 0, 0), _MAX_SIZE_POWER)
        case _:
            return
    if count > _MAX_SIZE_TERMS:
        label = f"multiplied out, it would have up to {count} terms"
        k.error("TC0504", "the size is too long", site.span, label=label)
        raise TooLargeError


def _is_weak_integer(value: Numeric) -> bool:
    return isinstance(value, Known) and value.kind == "i" and value.dtype is None


_MAX_SIZE_POWER = 8
_MAX_SIZE_TERMS = 10_000

_SIZE_OPERATIONS: dict[str, Callable[..., Poly]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b if b != 0 else ZERO,
    "remainder": lambda a, b: a % b if b != 0 else ZERO,
    "maximum": maximum,
    "minimum": minimum,
    "negative": lambda a: -a,
    "square": lambda a: a * a,
}


def _size_arithmetic(op: str, operands: Items[Numeric]) -> Poly | None:
    sizes = [size_of(v) for v in operands]
    polys = [s for s in sizes if s is not None]
    if len(polys) < len(sizes):
        return None
    if op in _SIZE_OPERATIONS:
        return _SIZE_OPERATIONS[op](*polys)
    times = polys[1].constant if op == "power" else None
    if times is None or not 0 <= times <= _MAX_SIZE_POWER:
        return None
    return product([polys[0]] * times)


def _size_result(op: str, operands: Items[Numeric]) -> Poly | None:
    """The size that arithmetic on integer scalar parameters stands for."""
    if op not in _SIZE_OPERATIONS or any(size_of(v) is None for v in operands):
        return None
    divisor = size_of(operands[-1]) if op in ("floor_divide", "remainder") else None
    # a divisor that a call chooses may be 0, where values give 0 and sizes are refused
    if divisor is not None and divisor.constant in (None, 0):
        return None
    return _size_arithmetic(op, operands)


# -- where, clip, casts ----------------------------------------------------------------------------


def _apply_where(k: Builder, site: Site, operands: Items[Numeric]) -> Value:
    condition, *branches = operands
    if storage_type(condition) != BOOL:
        found = storage_type(condition)
        k.error(
            "TC0302",
            f"the condition of where must be bool, found {found}",
            site.span,
            label=f"expected bool, found {found}",
            help="compare with 0 to make a bool: x != 0",
        )
        return POISON
    if isinstance(condition, Known) and all(isinstance(b, Known) and b.dtype is None for b in branches):
        return _known_branch(condition, branches)
    shape = broadcast_shapes(k, operands, site)
    if shape is None:
        return POISON
    common = common_type(branches)
    if common.widened:
        warn_widening(k, branches, site)
    ready = [k.broadcast(k.materialize(condition, BOOL, site), shape, site)]
    for branch in branches:
        value = k.materialize(branch, common.dtype, site, common.weak)
        ready.append(k.broadcast(value, shape, site))
    return k.emit("where", ready, None, common.dtype, shape, site, common.weak)


def _known_branch(condition: Known, branches: Items[Numeric]) -> Value:
    chosen, other = branches if condition.value else (branches[1], branches[0])
    if isinstance(chosen, Known) and kind_of(chosen) == "i" and kind_of(other) == "f":
        return Known(float(chosen.value))
    return chosen


def check_where(k: Builder, site: Site, args: Args) -> Value:
    return check_operator(k, site, "where", [args["condition"], args["x1"], args["x2"]])


def check_clip(k: Builder, site: Site, args: Args) -> Value:
    """`minimum(maximum(x, lo), hi)`: NaN stays, and an upper bound below the lower one wins."""
    result: Value = args["x"].value
    for name, op in (("min", "maximum"), ("max", "minimum")):
        bound = args.get(name)
        if bound is None or isinstance(bound.value, Absent) or result is POISON:
            continue
        result = check_operator(k, site, op, [Arg(result, args["x"].span), bound])
    return result


def check_cast(k: Builder, site: Site, arg: Arg, dtype: DType) -> Value:
    """`f32(x)`: an explicit conversion."""
    value = numeric(k, arg, site)
    if value is None:
        return POISON
    return convert(k, site, value, dtype)


def convert(k: Builder, site: Site, value: Numeric, dtype: DType) -> Numeric:
    """The value converted to a strong `dtype`, in the type it computes in until then."""
    match value:
        case Known():
            wide = U64 if dtype.is_unsigned and fits(value, U64) else I64
            if value.kind == "i" and value.dtype is None and dtype.is_integer and not fits(value, wide):
                k.literal_error(value, I64, site.span)
            return cast_known(value, dtype)
        case Size(poly):
            return k.size(poly, dtype, site) if dtype != BOOL else _nonzero(k, site, value)
        case Tensor(_, own, _, weak):
            if dtype == BOOL and own != BOOL:
                return _nonzero(k, site, value)
            if weak and not (own.is_float and dtype.is_integer):
                return k.cast(value, dtype, site)
            strong = Tensor(value.id, own, value.shape, size=value.size)
            return k.cast(strong, dtype, site)


def _nonzero(k: Builder, site: Site, value: Numeric) -> Tensor:
    """`value != 0`: NaN is true."""
    dtype = storage_type(value)
    ready = k.materialize(value, dtype, site)
    zero = k.broadcast(k.constant(Known(0), dtype, site), ready.shape, site)
    return k.elementwise("not_equal", [ready, zero], BOOL, site)


def as_bool(k: Builder, site: Site, value: Numeric) -> Tensor:
    if storage_type(value) == BOOL:
        return k.materialize(value, BOOL, site)
    return _nonzero(k, site, value)


def check_astype(k: Builder, site: Site, args: Args) -> Value:
    dtype = dtype_argument(k, args["dtype"])
    return POISON if dtype is None else check_cast(k, site, args["x"], dtype)


def dtype_argument(k: Builder, arg: Arg | None) -> DType | None:
    """The dtype named by an argument; None when it is absent or after an error."""
    if arg is None or isinstance(arg.value, Absent):
        return None
    if isinstance(arg.value, TypeName):
        return arg.value.dtype
    k.error(
        "TC0306", f"expected a dtype, found {describe(arg.value)}", arg.span, label="expected a dtype, as f32"
    )
    return None


def adapting(result: Tensor, args: Items[Arg]) -> Tensor:
    """The result of a reduction, a scan or a product, which is weak where all its operands are."""
    operands = [a.value for a in args if isinstance(a.value, Known | Size | Tensor)]
    return replace(result, weak=True) if common_type(operands).weak else result


def stored(k: Builder, site: Site, value: Numeric) -> Tensor:
    """The value as a strong tensor: weak integers become i64, weak floats f64."""
    dtype = default_dtype(value) if isinstance(value, Known) else storage_type(value)
    return k.materialize(value, dtype, site)
