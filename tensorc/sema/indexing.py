"""Subscripts that hold iterators: one view, whose indices are shown to be in range or checked at a call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tensorc.index_algebra import (
    ONE,
    ZERO,
    FloorDiv,
    Poly,
    Sym,
    axis,
    dim,
    is_nonnegative,
    is_positive,
    maximum,
    minimum,
)
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elements import index_of, iterator, iterators_in
from tensorc.sema.slices import Item
from tensorc.sema.values import POISON, Absent, Arg, Element, Known, Tensor, Value, describe
from tensorc.tensor_ir.program import Shape


def check_element(k: Builder, site: Site, value: Tensor, items: tuple[Item, ...], domain: Shape) -> Value:
    """`value[i, 2 * j + 1]`: the element for each step of the iterators."""
    index = _read_indices(k, site, value, items)
    if index is None:
        return POISON
    axes = tuple(sorted({a for place in index for a in iterators_in(place)}))
    for position, (item, place) in enumerate(zip(items, index, strict=True)):
        assert isinstance(item, Arg)
        if not _check_range(k, item, place, value, position, _Extents(axes, domain)):
            return POISON
    local = {iterator(a): axis(f"i{n}") for n, a in enumerate(axes)}
    shape = tuple(domain[a] for a in axes)
    here = tuple(place.substitute(local) for place in index)
    if shape == value.shape and here == tuple(axis(f"i{n}") for n in range(len(axes))):
        return Element(value, axes)
    return Element(k.view("index", value, here, shape, site), axes)


def _read_indices(k: Builder, site: Site, value: Tensor, items: tuple[Item, ...]) -> tuple[Poly, ...] | None:
    """One affine index per axis, literals counted from the end resolved; None after an error."""
    rank = len(value.shape)
    for item in items:
        if not isinstance(item, Arg) or isinstance(item.value, Absent):
            k.error(
                "TC0503",
                "slices and new axes beside an iterator are not supported yet",
                item.span,
                label="expected an index",
                help="index every axis",
            )
            return None
    if len(items) != rank:
        k.error(
            "TC0405",
            f"{describe(value)} has {rank} axes, but {len(items)} are indexed",
            site.span,
            label=f"expected {rank}",
            help="index notation works on elements: index every axis",
        )
        return None
    index: list[Poly] = []
    for item, size in zip(items, value.shape, strict=True):
        assert isinstance(item, Arg)
        place = index_of(item.value)
        if place is None:
            _report_index(k, item)
            return None
        # a literal counts from the end, an iterator never does
        literal = isinstance(item.value, Known) and place.constant is not None and place.constant < 0
        index.append(size + place if literal else place)
    return tuple(index)


def _report_index(k: Builder, item: Arg) -> None:
    found = item.value.tensor if isinstance(item.value, Element) else item.value
    if isinstance(found, Tensor) and found.dtype.is_integer:
        k.error(
            "TC0503",
            "an index that is not a sum of iterators and sizes is not supported yet",
            item.span,
            label="computed from values, or by `//` or `%`",
        )
        return
    k.error(
        "TC0404",
        f"an index must be an integer, found {describe(item.value)}",
        item.span,
        label="not an index",
    )


# -- ranges ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Extents:
    """The iterators that an element depends on, and the extents of all iterators around it.

    The element is read for every step of its own iterators, whatever the others do.
    """

    axes: tuple[int, ...]
    domain: Shape

    def own(self) -> tuple[Poly, ...]:
        return tuple(self.domain[a] for a in self.axes)


def _check_range(k: Builder, item: Arg, place: Poly, value: Tensor, position: int, extents: _Extents) -> bool:
    """False after an error; what is not plain is checked at the call, if any element is read at all."""
    size = value.shape[position]
    low, high = _extremes(place, extents.domain)
    text = f"index {item.span.text} must be in range of axis {position}, of size {size}"
    for distance, relation in ((low, (low, ">=", ZERO)), (size - 1 - high, (high, "<", size))):
        if _never_negative(distance, extents.own()):
            continue
        if _never_negative(-1 - distance, extents.domain):
            k.error(
                "TC0404",
                f"index {item.span.text} is out of range for axis {position} of {describe(value)}",
                item.span,
                label=f"reaches {relation[0]}, and the size is {size}",
            )
            return False
        guard = _guard(distance, extents.own())
        left, sign, right = relation if guard == 1 else (guard * distance, ">=", ZERO)
        k.require("index", left, sign, right, text, item.span)
    return True


def _extremes(place: Poly, domain: Shape) -> tuple[Poly, Poly]:
    """The lowest and the highest index, of a domain that is not empty."""
    low = high = place.substitute({iterator(a): ZERO for a in iterators_in(place)})
    for a in iterators_in(place):
        factor = place.coefficient(iterator(a))
        span = factor * (domain[a] - 1)
        if is_nonnegative(factor):
            high = high + span
        elif is_nonnegative(-factor):
            low = low + span
        else:
            low, high = low + minimum(span, 0), high + maximum(span, 0)
    return low, high


def _never_negative(p: Poly, extents: Iterable[Poly]) -> bool:
    """True when `p >= 0` is plain for all sizes at which no extent is 0."""
    pending = [_numerator(e) for e in extents]
    while pending:
        extent = pending.pop(0)
        solved = _solve_extent(extent)
        if solved is not None:
            p = p.substitute(solved)
            pending = [e.substitute(solved) for e in pending]
    return is_nonnegative(p)


def _numerator(extent: Poly) -> Poly:
    """`a // d + r` is positive exactly when `a - d * (1 - r) + 1` is."""
    floors = [a for a in extent.atoms() if isinstance(a, FloorDiv)]
    if len(floors) != 1 or floors[0].den.constant is None or floors[0].den.constant <= 0:
        return extent
    atom = Poly([(((floors[0], 1),), 1)])
    rest = (extent - atom).constant
    return extent if rest is None else floors[0].num - floors[0].den * (1 - rest) + 1


def _solve_extent(extent: Poly) -> dict[Sym, Poly] | None:
    """What a dim is, so that `extent >= 1` for all values of the dim that takes its place."""
    if is_positive(extent):
        return None
    for name in extent.dims():
        symbol = Sym(name)
        rest = extent - dim(name)
        if extent.coefficient(symbol) == ONE and symbol not in rest.symbols() and is_nonnegative(1 - rest):
            return {symbol: dim(name) + 1 - rest}
    return None


def _guard(distance: Poly, extents: Iterable[Poly]) -> Poly:
    """1 where an element is read, 0 where an extent is 0 and `distance` could be negative for that."""
    guard = ONE
    for extent in dict.fromkeys(extents):
        names = extent.dims()
        plain = len(names) == 1 and extent == dim(names[0])
        if is_positive(extent) or (plain and is_nonnegative(distance.substitute({Sym(names[0]): ZERO}))):
            continue
        guard = guard * minimum(extent, 1)
    return guard
