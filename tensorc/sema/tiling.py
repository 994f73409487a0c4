"""roll, tile and repeat: the elements of an array shifted around, or several times over."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.index_algebra import ONE, ZERO, Poly, axis, maximum
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import numeric
from tensorc.sema.joining import join
from tensorc.sema.layout import as_view_operand, flattened, reshaped
from tensorc.sema.shapes import axes_argument, integer_argument, normalize_axis, shape_argument
from tensorc.sema.values import POISON, Absent, Arg, Sequence, Tensor, Value, describe, size_of

Args = Mapping[str, Arg]


def part(k: Builder, site: Site, value: Tensor, at: int, start: Poly, count: Poly, step: int = 1) -> Tensor:
    """The elements `start`, `start + step`, ... along axis `at`, `count` of them."""
    index = [axis(f"i{n}") for n in range(len(value.shape))]
    index[at] = start + step * index[at]
    shape = (*value.shape[:at], count, *value.shape[at + 1 :])
    return k.view("slice", value, index, shape, site)


def repeated(k: Builder, site: Site, value: Tensor, at: int, start: Poly, count: Poly) -> Tensor:
    """Element `start` of axis `at`, `count` times."""
    index = [axis(f"i{n}") if n != at else start for n in range(len(value.shape))]
    shape = (*value.shape[:at], count, *value.shape[at + 1 :])
    return k.view("broadcast_to", value, index, shape, site)


# -- roll --------------------------------------------------------------------------------------------


def check_roll(k: Builder, site: Site, args: Args) -> Value:
    """`roll(x, shift, axis=)`: element i comes from i - shift, around the ends; without axis of all elements
    in row-major order."""
    value = numeric(k, args["x"], site)
    shifts = _sizes(k, args["shift"], "the shift of roll")
    if value is None or shifts is None:
        return POISON
    tensor = as_view_operand(k, site, value)
    given = args.get("axis")
    if given is None or isinstance(given.value, Absent):
        flat = flattened(k, site, tensor)
        total = sum(shifts, ZERO)
        return reshaped(k, site, _rolled(k, site, flat, 0, total), tensor.shape)
    axes = _roll_axes(k, given, len(tensor.shape), describe(value))
    if axes is None:
        return POISON
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        k.error(
            "TC0204",
            f"roll gets {len(shifts)} shifts for {len(axes)} axes",
            site.span,
            label="expected as many shifts as axes, or one",
        )
        return POISON
    count = max(len(shifts), len(axes))
    for n in range(count):
        at, shift = axes[n if len(axes) > 1 else 0], shifts[n if len(shifts) > 1 else 0]
        tensor = _rolled(k, site, tensor, at, shift)
    return tensor


def _roll_axes(k: Builder, arg: Arg, rank: int, what: str) -> list[int] | None:
    """An axis may be named more than once: its shifts add up."""
    items = arg.value.items if isinstance(arg.value, Sequence) else (arg.value,)
    numbers = [integer_argument(k, Arg(item, arg.span), "axis") for item in items]
    axes = [None if n is None else normalize_axis(k, n, rank, arg.span, what) for n in numbers]
    return None if any(a is None for a in axes) else [a for a in axes if a is not None]


def _rolled(k: Builder, site: Site, value: Tensor, at: int, shift: Poly) -> Tensor:
    extent = value.shape[at]
    # an axis of size 0 has nothing to shift: any divisor but 0 does
    ahead = shift % maximum(extent, 1)
    if ahead == ZERO:
        return value
    back = part(k, site, value, at, extent - ahead, ahead)
    return join(k, site, [back, part(k, site, value, at, ZERO, extent - ahead)], at)


def _sizes(k: Builder, arg: Arg, what: str) -> list[Poly] | None:
    """Integers, or integer expressions of dims, that may be negative; None after an error."""
    items = arg.value.items if isinstance(arg.value, Sequence) else (arg.value,)
    found: list[Poly] = []
    for item in items:
        size = size_of(item)
        if size is None:
            k.error(
                "TC0410",
                f"{what} must be an integer expression of dims, found {describe(item)}",
                arg.span,
                label="not a size",
            )
            return None
        found.append(size)
    return found


# -- tile and repeat ---------------------------------------------------------------------------------


def check_tile(k: Builder, site: Site, args: Args) -> Value:
    """`tile(x, (2, 3))`: the whole array so many times along each axis, the last ones when there are fewer
    counts than axes, and new leading axes when there are more."""
    value = numeric(k, args["x"], site)
    counts = shape_argument(k, args["repetitions"])
    if value is None or counts is None:
        return POISON
    tensor = as_view_operand(k, site, value)
    rank = max(len(counts), len(tensor.shape))
    counts = (*[ONE] * (rank - len(counts)), *counts)
    own = (*[ONE] * (rank - len(tensor.shape)), *tensor.shape)
    lead = rank - len(tensor.shape)
    # the counts and the sizes in turn; what is not repeated needs no axis of its own
    shape: list[Poly] = []
    index: list[Poly] = []
    for n, (count, extent) in enumerate(zip(counts, own, strict=True)):
        if count != ONE and extent != ONE:
            shape.append(count)
        if n >= lead:
            index.append(axis(f"i{len(shape)}") if extent != ONE or count == ONE else ZERO)
        shape.append(count if extent == ONE else extent)
    spread = k.view("tile", tensor, index, tuple(shape), site)
    return reshaped(k, site, spread, tuple(c * e for c, e in zip(counts, own, strict=True)))


def check_repeat(k: Builder, site: Site, args: Args) -> Value:
    """`repeat(x, 3, axis=0)`: every element so many times; a tuple gives a count for each of them."""
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    tensor = as_view_operand(k, site, value)
    given = args.get("axis")
    if given is None or isinstance(given.value, Absent):
        tensor, at = flattened(k, site, tensor), 0
    else:
        axes = axes_argument(k, given, len(tensor.shape), describe(value))
        if axes is None:
            return POISON
        if len(axes) != 1:
            k.error("TC0403", "repeat works along one axis", given.span, label=f"found {len(axes)}")
            return POISON
        at = axes[0]
    counts = shape_argument(k, args["repeats"])
    if counts is None:
        return POISON
    if not isinstance(args["repeats"].value, Sequence) or len(counts) == 1:
        return _repeat_each(k, site, tensor, at, counts[0])
    return _repeat_by(k, site, tensor, at, counts, args["repeats"])


def _repeat_each(k: Builder, site: Site, value: Tensor, at: int, count: Poly) -> Tensor:
    extent = value.shape[at]
    shape = (*value.shape[: at + 1], count, *value.shape[at + 1 :])
    index = [axis(f"i{n if n <= at else n + 1}") for n in range(len(value.shape))]
    spread = k.view("repeat", value, index, shape, site)
    return reshaped(k, site, spread, (*value.shape[:at], extent * count, *value.shape[at + 1 :]))


def _repeat_by(k: Builder, site: Site, value: Tensor, at: int, counts: tuple[Poly, ...], arg: Arg) -> Value:
    """A count for each element of an axis of as many, known elements."""
    extent = value.shape[at].constant
    if extent != len(counts):
        k.error(
            "TC0409",
            f"repeat gets {len(counts)} counts for axis {at} of size {value.shape[at]}",
            arg.span,
            label="expected one count, or one for each element of an axis of a known size",
        )
        return POISON
    pieces = [repeated(k, site, value, at, Poly([((), n)]), count) for n, count in enumerate(counts)]
    return join(k, site, pieces, at)
