"""Subscripts: slices with NumPy's clamping, integer indices, new axes and `...`.

A slice is the intersection of the asked range with the axis, so its size has a closed form. For a step
of 1, with bounds `a` and `b` already counted from the start, it is

    max(min(n, n - a, b, b - a), 0)

in which every argument that another one provably beats is dropped: `x[1:-1]` has size `max(N - 2, 0)`.
A bound whose sign is unknown at compile time counts from the end when it is negative.
"""

from __future__ import annotations

from collections.abc import Sequence as Items
from dataclasses import dataclass

from tensorc.index_algebra import ONE, ZERO, Poly, axis, is_nonnegative, is_positive, maximum, minimum
from tensorc.sema.builder import Builder, Site
from tensorc.sema.gathers import IndexArray, gather, index_values, out_of_range, subscripted
from tensorc.sema.layout import as_view_operand
from tensorc.sema.shapes import axes_text, shape_of
from tensorc.sema.values import POISON, Absent, Arg, Known, Numeric, Poison, Tensor, Value, describe, size_of
from tensorc.source import Span
from tensorc.tensor_ir.program import Shape


@dataclass(frozen=True, slots=True, eq=False)
class SliceItem:
    """`start:stop:step`, evaluated; a missing part is None."""

    start: Arg | None
    stop: Arg | None
    step: Arg | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class EllipsisItem:
    span: Span


Item = Arg | SliceItem | EllipsisItem


@dataclass(frozen=True, slots=True)
class _Range:
    """Elements `start + step * i` for `i < size` of one axis."""

    start: Poly
    step: int
    size: Poly


def check_subscript(k: Builder, site: Site, value: Numeric, items: tuple[Item, ...]) -> Value:
    """`value[items]` as one view."""
    expanded = _expand_ellipsis(k, site, value, items)
    if expanded is None:
        return POISON
    index: list[Poly | Arg] = []
    shape: list[Poly] = []
    sizes = iter(shape_of(value))
    for item in expanded:
        if isinstance(item, Arg) and isinstance(item.value, Absent):
            shape.append(ONE)
            continue
        position = len(index)
        size = next(sizes)
        if isinstance(item, Arg) and _is_integer_value(item.value):
            index.append(item)
            continue
        if isinstance(item, Arg):
            place = _integer_index(k, item, size, position, value)
            if place is None:
                return POISON
            index.append(place)
            continue
        found = _slice_range(k, item, size)
        if found is None:
            return POISON
        index.append(found.start + found.step * axis(f"i{len(shape)}"))
        shape.append(found.size)
    places = [p for p in index if isinstance(p, Poly)]
    if len(places) == len(index):
        return k.view("slice", as_view_operand(k, site, value), places, tuple(shape), site)
    return _gather_values(k, site, value, index, tuple(shape))


def _is_integer_value(value: Value) -> bool:
    return isinstance(value, Tensor) and not value.shape and value.dtype.is_integer


def _gather_values(k: Builder, site: Site, value: Numeric, index: Items[Poly | Arg], shape: Shape) -> Tensor:
    """A subscript in which some indices are integer values (`x[n]`): a gather."""
    places: list[Poly | IndexArray] = []
    for position, (place, size) in enumerate(zip(index, shape_of(value), strict=True)):
        if isinstance(place, Poly):
            places.append(place)
            continue
        assert isinstance(place.value, Tensor), "what is no size is a tensor"
        spread = k.broadcast(index_values(k, place, place.value), shape, site)
        message = out_of_range(place.span, position, size, subscripted(site.span))
        places.append(IndexArray(spread, checked=True, wraps=True, message=message))
    return gather(k, site, as_view_operand(k, site, value), places, shape)


def _expand_ellipsis(
    k: Builder, site: Site, value: Numeric, items: tuple[Item, ...]
) -> list[Arg | SliceItem] | None:
    """One item per axis of the operand (and per new axis): `...` and missing ends become `:`."""
    rank = len(shape_of(value))
    used = sum(1 for i in items if not isinstance(i, EllipsisItem) and not _is_new_axis(i))
    dots = [i for i in items if isinstance(i, EllipsisItem)]
    if len(dots) > 1:
        k.error("TC0404", "a subscript can have one `...`", dots[1].span, label="the second one")
        return None
    if used > rank:
        k.error(
            "TC0405",
            f"{describe(value)} {axes_text(rank)}, but {used} {'is' if used == 1 else 'are'} indexed",
            site.span,
            label=f"expected at most {rank}" if rank else "a scalar has none",
        )
        return None
    whole: list[Arg | SliceItem] = [SliceItem(None, None, None, site.span)] * (rank - used)
    result: list[Arg | SliceItem] = []
    for item in items:
        if isinstance(item, EllipsisItem):
            result.extend(whole)
        else:
            result.append(item)
    return result if dots else result + whole


def _is_new_axis(item: Item) -> bool:
    return isinstance(item, Arg) and isinstance(item.value, Absent)


def _integer_index(k: Builder, item: Arg, size: Poly, axis_number: int, value: Numeric) -> Poly | None:
    """The place of a literal or size index, which may count from the end; None after an error."""
    if isinstance(item.value, Tensor) and item.value.size is None:
        is_mask = item.value.dtype.is_bool
        what = "a mask" if is_mask else "an index array"
        k.error(
            "TC0503",
            f"{what} as a subscript is not supported",
            item.span,
            label=describe(item.value),
            help="where(…) keeps the shape" if is_mask else f"write take(x, i, axis={axis_number})",
        )
        return None
    place = size_of(item.value)
    if place is None:
        k.error(
            "TC0404",
            f"a subscript must be an integer, a slice, None or `...`, found {describe(item.value)}",
            item.span,
            label="not an index",
        )
        return None
    resolved = _from_start(place, size)
    if _is_negative(resolved) or is_nonnegative(resolved - size):
        k.error(
            "TC0404",
            f"index {place} is out of range for axis {axis_number} of size {size}",
            item.span,
            label=f"the axis of {describe(value)} has size {size}",
        )
        return None
    text = f"index {place} must be in range of axis {axis_number}, of size {size}"
    k.require("index", resolved, ">=", ZERO, text, item.span)
    k.require("index", resolved, "<", size, text, item.span)
    return resolved


def _slice_range(k: Builder, item: SliceItem, size: Poly) -> _Range | None:
    step = _step(k, item.step)
    start, stop = _bound(k, item.start), _bound(k, item.stop)
    if step is None or isinstance(start, Poison) or isinstance(stop, Poison):
        return None
    first = None if start is None else _from_start(start, size)
    last = None if stop is None else _from_start(stop, size)
    return _forward(size, first, last, step) if step > 0 else _backward(size, first, last, step)


def _forward(size: Poly, start: Poly | None, stop: Poly | None, step: int) -> _Range:
    candidates = [size]
    if start is not None:
        candidates.append(size - start)
    if stop is not None:
        candidates.append(stop)
    if start is not None and stop is not None:
        candidates.append(stop - start)
    length = maximum(minimum(*candidates), 0)
    first = ZERO if start is None else maximum(start, 0)
    return _Range(first, step, _divide_up(length, step))


def _backward(size: Poly, start: Poly | None, stop: Poly | None, step: int) -> _Range:
    """The elements after `stop` up to `start`, from the back."""
    candidates = [size]
    if start is not None:
        candidates.append(start + 1)
    if stop is not None:
        candidates.append(size - 1 - stop)
    if start is not None and stop is not None:
        candidates.append(start - stop)
    length = maximum(minimum(*candidates), 0)
    first = size - 1 if start is None else minimum(start, size - 1)
    return _Range(first, step, _divide_up(length, -step))


def _divide_up(length: Poly, step: int) -> Poly:
    return length if step == 1 else (length + (step - 1)) // step


def _from_start(bound: Poly, size: Poly) -> Poly:
    """A bound counted from the start: negative ones count from the end."""
    if is_nonnegative(bound):
        return bound
    if _is_negative(bound):
        return size + bound
    # 1 where the bound is negative, else 0
    negative = minimum(maximum(-bound, 0), 1)
    return bound + size * negative


def _is_negative(p: Poly) -> bool:
    return is_positive(-p)


def _bound(k: Builder, arg: Arg | None) -> Poly | Poison | None:
    if arg is None or isinstance(arg.value, Absent):
        return None
    poly = size_of(arg.value)
    if poly is not None:
        return poly
    k.error(
        "TC0404",
        f"a slice bound must be an integer expression of dims, found {describe(arg.value)}",
        arg.span,
        label="expected a size",
    )
    return POISON


def _step(k: Builder, arg: Arg | None) -> int | None:
    if arg is None or isinstance(arg.value, Absent):
        return 1
    match arg.value:
        case Known(v) if isinstance(v, int) and not isinstance(v, bool) and v != 0:
            return v
        case Known(0):
            k.error("TC0404", "the step of a slice is 0", arg.span, label="expected another number")
        case _:
            k.error(
                "TC0404",
                f"the step of a slice must be an integer known at compile time, found {describe(arg.value)}",
                arg.span,
                label="expected a number",
            )
    return None


def tuple_item(k: Builder, site: Site, items: tuple[Value, ...], index: tuple[Item, ...]) -> Value:
    """`x.shape[0]`: one item of a tuple by a known integer."""
    position = index[0] if len(index) == 1 else None
    number = position.value if isinstance(position, Arg) else None
    if not isinstance(number, Known) or number.kind != "i":
        k.error("TC0404", "a tuple is indexed by one integer known at compile time", site.span)
        return POISON
    place = int(number.value)
    if not -len(items) <= place < len(items):
        k.error(
            "TC0404",
            f"index {place} is out of range for a tuple of {len(items)}",
            site.span,
            label=f"expected {-len(items)} to {len(items) - 1}",
        )
        return POISON
    return items[place]
