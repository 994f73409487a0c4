"""Subscripts that hold iterators: a view where every index is affine in them, else a gather.

An index computed from iterators alone (`i // 2`, `(2*i + u) % 3`) is shown to be in range or checked at the
call, like an affine one; where its range has no closed form (`i * i`), when it is used. It never counts from
the end, as an index that is data does.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Items
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
    minimum,
)
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elements import axes_of, index_of, is_affine, iterator, spread_over
from tensorc.sema.gathers import IndexArray, gather, index_values, out_of_range, subscripted
from tensorc.sema.index_ranges import index_range
from tensorc.sema.slices import Item
from tensorc.sema.values import POISON, Absent, Arg, Element, Index, Known, Tensor, Value, describe
from tensorc.tensor_ir.program import Shape


@dataclass(frozen=True, slots=True, eq=False)
class _Gathered:
    """An index of a subscript that is read as a value. `checked` and `wraps` as in `GatheredPlace`."""

    arg: Arg
    checked: bool
    wraps: bool


Place = Poly | _Gathered
"""An index along one axis: affine in the iterators, or a value."""


def check_element(k: Builder, site: Site, value: Tensor, items: tuple[Item, ...], domain: Shape) -> Value:
    """`value[i, 2 * j + 1]`: the element for each step of the iterators."""
    args = _index_args(k, site, value, items)
    if args is None:
        return POISON
    axes = tuple(sorted({a for arg in args for a in axes_of(arg.value)}))
    extents = _Extents(axes, domain)
    places: list[Place] = []
    for position, arg in enumerate(args):
        place = _place(k, arg, value, position, extents)
        if place is None:
            return POISON
        places.append(place)
    affine = _in_axes([p for p in places if isinstance(p, Poly)], axes)
    if len(affine) < len(places):
        return Element(_gather_element(k, site, value, args, places, extents), axes)
    shape = extents.own()
    if shape == value.shape and affine == [axis(f"i{n}") for n in range(len(axes))]:
        return Element(value, axes)
    return Element(k.view("index", value, affine, shape, site), axes)


def _index_args(k: Builder, site: Site, value: Tensor, items: tuple[Item, ...]) -> tuple[Arg, ...] | None:
    """The indices, one per axis; None after an error."""
    args: list[Arg] = []
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
        args.append(item)
    if len(args) == len(value.shape):
        return tuple(args)
    k.error(
        "TC0405",
        f"{describe(value)} has {len(value.shape)} axes, but {len(args)} are indexed",
        site.span,
        label=f"expected {len(value.shape)}",
        help="index notation works on elements: index every axis",
    )
    return None


def _place(k: Builder, arg: Arg, value: Tensor, position: int, extents: _Extents) -> Place | None:
    """Where an index is along its axis, its range settled; None after an error."""
    size = value.shape[position]
    place = None if isinstance(arg.value, Tensor) else index_of(arg.value)
    if place is None:
        return _data_index(k, arg)
    # a literal counts from the end, an iterator never does
    if isinstance(arg.value, Known) and place.constant is not None and place.constant < 0:
        place = size + place
    settled = _check_range(k, arg, place, value, position, extents)
    if settled is None:
        return None
    if is_affine(place):
        return place
    return _Gathered(Arg(Index(place), arg.span), checked=not settled, wraps=False)


def _data_index(k: Builder, arg: Arg) -> _Gathered | None:
    """An index that is no polynomial in the iterators: an integer element or scalar."""
    found = arg.value.tensor if isinstance(arg.value, Element) else arg.value
    if isinstance(found, Tensor) and found.dtype.is_integer and (found is not arg.value or not found.shape):
        # data counts from the end, and so does a scalar that no iterator is in
        wraps = not isinstance(arg.value, Element) or _reads_data(k, found)
        return _Gathered(arg, checked=True, wraps=wraps)
    k.error(
        "TC0404",
        f"an index must be an integer, found {describe(arg.value)}",
        arg.span,
        label="not an index",
    )
    return None


def _reads_data(k: Builder, value: Tensor) -> bool:
    """True for what is computed from the elements of arrays, not from iterators, sizes and scalars alone."""
    pending, seen = [value.id], {value.id}
    while pending:
        op = k.ops[pending.pop()]
        if op.op == "param" and op.shape:
            return True
        fresh = set(op.operands) - seen
        seen |= fresh
        pending.extend(fresh)
    return False


def _in_axes(places: Items[Poly], axes: Items[int]) -> list[Poly]:
    """Indices in iterators as indices in the axes of an element over `axes`."""
    local = {iterator(a): axis(f"i{n}") for n, a in enumerate(axes)}
    return [p.substitute(local) for p in places]


def _gather_element(
    k: Builder, site: Site, value: Tensor, args: Items[Arg], places: Items[Place], extents: _Extents
) -> Tensor:
    """The gather over the iterators in the order in which memory has them, as a view in theirs.

    A reduction sees through such a view: `sum(x[i[a], j] for a in M)` for each `j` adds up whole rows.
    """
    order = tuple(dict.fromkeys(a for arg in args for a in axes_of(arg.value)))
    found = _gather(k, site, value, places, _Extents(order, extents.domain))
    if order == extents.axes:
        return found
    index = [axis(f"i{extents.axes.index(a)}") for a in order]
    return k.view("index", found, index, extents.own(), site)


def _gather(k: Builder, site: Site, value: Tensor, places: Items[Place], extents: _Extents) -> Tensor:
    found: list[Poly | IndexArray] = []
    for position, (place, size) in enumerate(zip(places, value.shape, strict=True)):
        if isinstance(place, Poly):
            found.extend(_in_axes([place], extents.axes))
            continue
        arg = place.arg
        spread = spread_over(k, Site(arg.span, ""), arg.value, extents.axes, extents.domain)
        message = out_of_range(arg.span, position, size, subscripted(site.span))
        found.append(IndexArray(index_values(k, arg, spread), place.checked, place.wraps, message))
    return gather(k, Site(site.span, "index"), value, found, extents.own())


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


def _check_range(
    k: Builder, item: Arg, place: Poly, value: Tensor, position: int, extents: _Extents
) -> bool | None:
    """True where the index is in range, by proof or by a check at the call; False where only its use can
    tell; None after an error."""
    size = value.shape[position]
    found = index_range(place, extents.domain)
    if found is None:
        return False
    low, high = found.low, found.high
    text = f"index {item.span.text} must be in range of axis {position}, of size {size}"
    checks: list[tuple[str, Poly, str, Poly, str]] = []
    for distance, relation in ((low, (low, ">=", ZERO)), (size - 1 - high, (high, "<", size))):
        if _never_negative(distance, extents.own()):
            continue
        if not found.exact:
            return False
        if _never_negative(-1 - distance, extents.domain):
            k.error(
                "TC0404",
                f"index {item.span.text} is out of range for axis {position} of {describe(value)}",
                item.span,
                label=f"reaches {relation[0]}, and the size is {size}",
            )
            return None
        guard = _guard(distance, extents.own())
        if guard == 1:
            checks.append(("index", *relation, text))
        else:
            # the relation holds by itself where nothing is read, and its figures say nothing
            reached = f"index {item.span.text} reaches {relation[0]}, out of range for axis {position}"
            reached += f" of {describe(value)}"
            checks.append(("range", guard * distance, ">=", ZERO, reached))
    for kind, left, sign, right, message in checks:
        k.require(kind, left, sign, right, message, item.span)
    return True


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
