"""Broadcasting of shapes, axes and sizes given as arguments."""

from __future__ import annotations

from collections.abc import Sequence as Items

from tensorc.index_algebra import ONE, Poly, is_nonnegative, minimum
from tensorc.sema.builder import Builder, Site
from tensorc.sema.values import (
    Arg,
    Known,
    Numeric,
    Sequence,
    Tensor,
    Value,
    describe,
    number_text,
    size_of,
)
from tensorc.source import Span
from tensorc.tensor_ir.program import Shape


def shape_of(value: Numeric) -> Shape:
    return value.shape if isinstance(value, Tensor) else ()


def rank_of(value: Numeric) -> int:
    return len(shape_of(value))


def broadcast_shapes(k: Builder, values: Items[Numeric], site: Site) -> Shape | None:
    """The common shape of the operands, or None after an error. Only a literal size 1 repeats."""
    rank = max(rank_of(v) for v in values)
    result: list[Poly] = [ONE] * rank
    for value in values:
        shape = shape_of(value)
        lead = rank - len(shape)
        for position, size in enumerate(shape, start=lead):
            if result[position] == ONE:
                result[position] = size
            elif size != ONE and size != result[position]:
                report_different_sizes(k, values, result[position], size, position - rank, site)
                return None
    return tuple(result)


def report_different_sizes(
    k: Builder, values: Items[Numeric], a: Poly, b: Poly, axis: int, site: Site
) -> None:
    """Sizes that do not broadcast on an axis (counted from the end)."""
    shapes = [v for v in values if rank_of(v)]
    types = " and ".join(dict.fromkeys(describe(v) for v in shapes))
    both_known = a.constant is not None and b.constant is not None
    if both_known:
        k.error(
            "TC0401",
            f"the shapes of {types} do not broadcast",
            site.span,
            label=f"sizes {a} and {b} on axis {axis}",
            help=_new_axis_help(shapes) or "sizes must be equal or 1",
        )
        return
    k.error(
        "TC0402",
        f"{types} do not broadcast: {a} and {b} are different sizes",
        site.span,
        label=f"{a} and {b} on axis {axis}",
        help=_new_axis_help(shapes) or _symbol_help(a, b),
    )


def _new_axis_help(values: Items[Numeric]) -> str:
    """What to write where a reduced axis is missing: `x - mean(x, axis=1)`."""
    if len(values) != 2:
        return ""
    short, long = sorted((shape_of(v) for v in values), key=len)
    if len(short) + 1 != len(long):
        return ""
    for place in range(len(long) - 1, -1, -1):
        padded = (*short[:place], ONE, *short[place:])
        if all(s in (ONE, size) for s, size in zip(padded, long, strict=True)):
            subscript = ", ".join((":",) * place + ("None",) + (":",) * (len(short) - place))
            return (
                f"keep the reduced axis with keepdims=true, or give the smaller one a new axis: [{subscript}]"
            )
    return ""


def _symbol_help(a: Poly, b: Poly) -> str:
    if any(minimum(size, 1) == size for size in (a, b)):
        return "a slice x[:1] may be empty; an index and a new axis have size 1: x[0][None]"
    if a.constant is not None or b.constant is not None:
        return f"declare both with the same size, or slice one of them; a size {a} never repeats to fit {b}"
    if not all(str(size).isidentifier() for size in (a, b)):
        return "slice one of them to the size of the other"
    return (
        f"if {a} and {b} are always equal, use one name for both, or write requires {a} == {b}; "
        "a size that is to repeat is written 1"
    )


# -- arguments -------------------------------------------------------------------------------------


def normalize_axis(k: Builder, axis: int, rank: int, span: Span, what: str) -> int | None:
    """A non-negative axis, or None after an error."""
    if -rank <= axis < rank:
        return axis % rank
    has = f"has axes {-rank} to {rank - 1}" if rank else "is a scalar and has no axes"
    k.error("TC0403", f"axis {axis} is out of range: {what} {has}", span, label=f"rank {rank}")
    return None


def integer_argument(k: Builder, arg: Arg, name: str) -> int | None:
    """A compile-time integer, or None after an error."""
    match arg.value:
        case Known(v) if isinstance(v, int) and not isinstance(v, bool):
            return v
    k.error("TC0307", f"{name} must be an integer known at compile time", arg.span, label=describe(arg.value))
    return None


def axes_argument(k: Builder, arg: Arg, rank: int, what: str) -> tuple[int, ...] | None:
    """Axes from an int or a tuple of ints: in range, each once, as written; None after an error."""
    items = arg.value.items if isinstance(arg.value, Sequence) else (arg.value,)
    axes: list[int] = []
    for item in items:
        number = integer_argument(k, Arg(item, arg.span), "axis")
        if number is None:
            return None
        axis = normalize_axis(k, number, rank, arg.span, what)
        if axis is None:
            return None
        if axis in axes:
            k.error("TC0411", f"axis {number} is named twice", arg.span, label="each axis once")
            return None
        axes.append(axis)
    return tuple(axes)


def flag_argument(k: Builder, arg: Arg | None, name: str) -> bool | None:
    """A compile-time bool (False when absent), or None after an error."""
    if arg is None:
        return False
    match arg.value:
        case Known(v) if isinstance(v, bool):
            return v
    k.error("TC0307", f"{name}= must be true or false", arg.span, label=describe(arg.value))
    return None


def size_argument(k: Builder, value: Value, span: Span) -> Poly | None:
    """A size: an integer, an expression of dims, or an integer scalar parameter. None after an error."""
    poly = size_of(value)
    if poly is None:
        k.error(
            "TC0410",
            f"a size must be an integer expression of dims, found {describe(value)}",
            span,
            label="expected a size",
        )
        return None
    if not numbers_fit(k, poly, span):
        return None
    require_extent(k, poly, span)
    return poly


def numbers_fit(k: Builder, size: Poly, span: Span) -> bool:
    """False after the error that a size holds a number that no call computes with."""
    largest = size.largest_number()
    if largest < 2**63:
        return True
    k.error("TC0303", "a size holds a number that does not fit i64", span, label=number_text(largest))
    return False


def require_extent(k: Builder, poly: Poly, span: Span) -> None:
    """An extent must not be negative: an error where that is plain, else a check at the call."""
    if poly.constant is not None and poly.constant < 0:
        k.error("TC0410", f"a size cannot be negative, found {poly}", span, label=f"this is {poly}")
        return
    if not is_nonnegative(poly):
        k.require("nonnegative", poly, ">=", Poly(), f"the size {poly} must not be negative", span)


def shape_argument(k: Builder, arg: Arg) -> Shape | None:
    """A shape from a size or a tuple of sizes; None after an error."""
    items = arg.value.items if isinstance(arg.value, Sequence) else (arg.value,)
    sizes = [size_argument(k, item, arg.span) for item in items]
    if any(s is None for s in sizes):
        return None
    return tuple(s for s in sizes if s is not None)


def axes_text(rank: int) -> str:
    return f"has {rank} {'axis' if rank == 1 else 'axes'}" if rank else "has no axes"


def shape_text(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
