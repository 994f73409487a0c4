"""concat and stack: arrays one after the other along an axis, old or new."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Items

from tensorc.index_algebra import ONE, ZERO, Poly, axis
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import warn_widening
from tensorc.sema.layout import flattened
from tensorc.sema.promotion import common_type
from tensorc.sema.shapes import integer_argument, normalize_axis, rank_of, shape_of
from tensorc.sema.values import (
    POISON,
    Absent,
    Arg,
    Known,
    Numeric,
    Sequence,
    Size,
    Tensor,
    Value,
    describe,
)
from tensorc.tensor_ir.program import Concat

Args = Mapping[str, Arg]


def check_concat(k: Builder, site: Site, args: Args) -> Value:
    """`concat((a, b), axis=0)`; with `axis=None` of the arrays flattened."""
    values = _arrays(k, site, args["arrays"])
    if values is None:
        return POISON
    given = args.get("axis")
    if given is not None and isinstance(given.value, Absent):
        return join(k, site, [flattened(k, site, t) for t in _promoted(k, site, values)], 0)
    scalar = next((v for v in values if rank_of(v) == 0), None)
    if scalar is not None:
        k.error(
            "TC0405",
            f"concat needs arrays with an axis, found {describe(scalar)}",
            args["arrays"].span,
            label="found a scalar",
            help="stack((a, b)) makes an axis of scalars",
        )
        return POISON
    number = _axis(k, given, rank_of(values[0]), describe(values[0]))
    if number is None or not _check_shapes(k, site, values, number):
        return POISON
    return join(k, site, _promoted(k, site, values), number)


def check_stack(k: Builder, site: Site, args: Args) -> Value:
    """`stack((a, b), axis=0)`: a new axis, as long as the tuple."""
    values = _arrays(k, site, args["arrays"])
    if values is None:
        return POISON
    rank = rank_of(values[0]) + 1
    number = _axis(k, args.get("axis"), rank, f"the result of rank {rank}")
    if number is None or not _check_shapes(k, site, values, None):
        return POISON
    new = [_with_axis(k, site, t, number) for t in _promoted(k, site, values)]
    return join(k, site, new, number)


def join(k: Builder, site: Site, parts: Items[Tensor], at: int) -> Tensor:
    """The parts one after the other along axis `at`: dtypes and other sizes agree. Empty ones go."""
    full = [t for t in parts if t.shape[at] != ZERO] or list(parts[:1])
    if len(full) == 1:
        return full[0]
    extent = sum((t.shape[at] for t in full), ZERO)
    shape = (*full[0].shape[:at], extent, *full[0].shape[at + 1 :])
    weak = all(t.weak for t in full)
    return k.emit("concat", full, Concat(at), full[0].dtype, shape, site, weak)


def _with_axis(k: Builder, site: Site, value: Tensor, at: int) -> Tensor:
    shape = (*value.shape[:at], ONE, *value.shape[at:])
    index = [axis(f"i{n}") for n in range(len(shape)) if n != at]
    return k.view("expand_dims", value, index, shape, site)


def _arrays(k: Builder, site: Site, arg: Arg) -> list[Numeric] | None:
    """The items of the tuple, at least one, all of them numbers or tensors; None after an error."""
    if not isinstance(arg.value, Sequence):
        k.error(
            "TC0301",
            f"{site.origin} takes a tuple of arrays, found {describe(arg.value)}",
            arg.span,
            label="expected a tuple",
            help=f"write {site.origin}((a, b), axis=0)",
        )
        return None
    items = arg.value.items
    if not items:
        k.error("TC0204", f"{site.origin} needs at least one array", arg.span, label="an empty tuple")
        return None
    wrong = next((v for v in items if not isinstance(v, Known | Size | Tensor)), None)
    if wrong is not None:
        k.error(
            "TC0301",
            f"{site.origin} needs tensors or numbers, found {describe(wrong)}",
            arg.span,
            label="expected a tuple of arrays",
        )
        return None
    return [v for v in items if isinstance(v, Known | Size | Tensor)]


def _axis(k: Builder, arg: Arg | None, rank: int, what: str) -> int | None:
    if arg is None:
        return 0
    number = integer_argument(k, arg, "axis")
    return None if number is None else normalize_axis(k, number, rank, arg.span, what)


def _check_shapes(k: Builder, site: Site, values: Items[Numeric], at: int | None) -> bool:
    """Equal ranks, and equal sizes on all axes but `at`."""
    first = shape_of(values[0])
    for value in values[1:]:
        shape = shape_of(value)
        if len(shape) != len(first):
            k.error(
                "TC0405",
                f"{site.origin} needs arrays of one rank: {describe(values[0])} and {describe(value)}",
                site.span,
                label=f"rank {len(first)} and rank {len(shape)}",
            )
            return False
        differ = [n for n, (a, b) in enumerate(zip(first, shape, strict=True)) if a != b and n != at]
        if differ:
            a, b = first[differ[0]], shape[differ[0]]
            k.error(
                "TC0415",
                f"{site.origin} of {describe(values[0])} and {describe(value)}: axis {differ[0]} differs",
                site.span,
                label=f"sizes {a} and {b} on axis {differ[0]}",
                help=_help(a, b),
            )
            return False
    return True


def _help(a: Poly, b: Poly) -> str:
    if a.constant is not None and b.constant is not None:
        return ""
    return f"if {a} and {b} are always equal, use one name for both"


def _promoted(k: Builder, site: Site, values: Items[Numeric]) -> list[Tensor]:
    """The arrays in their promoted dtype; weak when all are."""
    common = common_type(values)
    if common.widened:
        warn_widening(k, values, site)
    return [k.materialize(v, common.dtype, site, common.weak) for v in values]
