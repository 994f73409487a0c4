"""pad: an array with more elements at the ends of its axes, as NumPy's `pad` chooses them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Items
from dataclasses import dataclass

from tensorc.dtypes import I64, promote
from tensorc.index_algebra import ONE, ZERO, Poly, axis, is_nonnegative, maximum, minimum
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import numeric
from tensorc.sema.gathers import IndexArray, gather
from tensorc.sema.joining import join
from tensorc.sema.layout import as_view_operand
from tensorc.sema.promotion import strong_dtype
from tensorc.sema.shapes import rank_of, size_argument
from tensorc.sema.tiling import repeated
from tensorc.sema.values import (
    POISON,
    Arg,
    Known,
    Numeric,
    Sequence,
    Tensor,
    Text,
    Value,
    describe,
    type_text,
)
from tensorc.tensor_ir.program import Shape

Args = Mapping[str, Arg]
Widths = tuple[tuple[Poly, Poly], ...]
MODES = ("constant", "edge", "reflect", "wrap")


def check_pad(k: Builder, site: Site, args: Args) -> Value:
    """`pad(x, ((1, 1), (0, 0)), mode="constant", value=0)`, axis after axis."""
    value = numeric(k, args["x"], site)
    mode = _mode(k, args.get("mode"))
    if value is None or mode is None:
        return POISON
    tensor = as_view_operand(k, site, value)
    widths = _widths(k, args["pad_width"], len(tensor.shape))
    if widths is None:
        return POISON
    if mode == "constant":
        fill = _fill(k, site, tensor, args.get("value"))
        if fill is None:
            return POISON
        for at, (before, after) in enumerate(widths):
            ends = [k.broadcast(fill, _resized(tensor, at, width), site) for width in (before, after)]
            tensor = join(k, site, [ends[0], tensor, ends[1]], at)
        return tensor
    if "value" in args:
        k.error(
            "TC0205",
            f'pad with mode="{mode}" takes its values from the array',
            args["value"].span,
            label='`value=` belongs to mode="constant"',
        )
        return POISON
    if mode == "edge":
        for at, (before, after) in enumerate(widths):
            tensor = _pad_edge(k, site, tensor, at, before, after)
        return tensor
    return _Periodic(k, site, tensor, mode).pad(widths)


def _resized(tensor: Tensor, at: int, extent: Poly) -> Shape:
    return (*tensor.shape[:at], extent, *tensor.shape[at + 1 :])


# -- the modes ---------------------------------------------------------------------------------------


def _pad_edge(k: Builder, site: Site, x: Tensor, at: int, before: Poly, after: Poly) -> Tensor:
    """The first and the last element again and again."""
    if before == ZERO == after:
        return x
    extent = x.shape[at]
    _require(k, site, extent, ONE, before + after, f"axis {at} has nothing to repeat")
    ends = [(ZERO, before), (extent - 1, after)]
    first, last = (repeated(k, site, x, at, place, count) for place, count in ends)
    return join(k, site, [first, x, last], at)


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of a padded axis: `count` elements, the first of which is at `start` of the endless array.

    `place` is where they come from in the array itself, where that is affine in the axis.
    """

    count: Poly
    start: Poly
    place: Poly | None


class _Periodic:
    """Modes in which an axis is a period of an endless array: "reflect" (there and back) and "wrap".

    Every axis falls into what is before the array, the array, and what is after it. All combinations
    are read from the array itself, by a view where every place is affine, else by a gather.
    """

    def __init__(self, k: Builder, site: Site, x: Tensor, mode: str) -> None:
        self.k = k
        self.site = site
        self.x = x
        self.reflects = mode == "reflect"
        self.places: dict[tuple[int, Poly], Tensor] = {}

    def pad(self, widths: Widths) -> Tensor:
        return self._join((), [self._parts(at, *width) for at, width in enumerate(widths)])

    def _parts(self, at: int, before: Poly, after: Poly) -> list[_Part]:
        extent, here = self.x.shape[at], axis(f"i{at}")
        if before != ZERO or after != ZERO:
            _require(self.k, self.site, extent, ONE, before + after, f"axis {at} has nothing to repeat")
        ends = (before - here, extent - 2 - here) if self.reflects else (extent - before + here, here)
        room = extent - 1 if self.reflects else extent
        parts = [
            _Part(before, -before, ends[0] if is_nonnegative(room - before) else None),
            _Part(extent, ZERO, here),
            _Part(after, extent, ends[1] if is_nonnegative(room - after) else None),
        ]
        return [p for p in parts if p.count != ZERO or p.place == here]

    def _join(self, chosen: tuple[_Part, ...], rest: Items[list[_Part]]) -> Tensor:
        if not rest:
            return self._block(chosen)
        parts = [self._join((*chosen, part), rest[1:]) for part in rest[0]]
        return join(self.k, self.site, parts, len(chosen))

    def _block(self, parts: tuple[_Part, ...]) -> Tensor:
        shape = tuple(p.count for p in parts)
        affine = [p.place for p in parts if p.place is not None]
        if len(affine) == len(parts):
            return self.k.view("pad", self.x, affine, shape, self.site)
        places = [p.place if p.place is not None else self._index(at, p, shape) for at, p in enumerate(parts)]
        return gather(self.k, self.site, self.x, places, shape)

    def _index(self, at: int, part: _Part, shape: Shape) -> IndexArray:
        """The places of a part, folded into one period."""
        key = (at, part.start)
        if key not in self.places:
            self.places[key] = self._folded(self.x.shape[at], part)
        spread = self.k.view("broadcast_to", self.places[key], [axis(f"i{at}")], shape, self.site)
        return IndexArray(spread, checked=False, wraps=False, message="")

    def _folded(self, extent: Poly, part: _Part) -> Tensor:
        site = Site(self.site.span, "")
        period = maximum(2 * extent - 2 if self.reflects else extent, 1)

        def compute(op: str, left: Tensor, right: Tensor) -> Tensor:
            return self.k.elementwise(op, [left, right], I64, site)

        def size(poly: Poly) -> Tensor:
            return self.k.broadcast(self.k.size(poly, I64, site), (part.count,), site)

        counted = self.k.emit("iota", (), None, I64, (part.count,), site)
        place = compute("remainder", compute("add", counted, size(part.start)), size(period))
        if not self.reflects:
            return place
        return compute("minimum", place, compute("subtract", size(period), place))


def _require(k: Builder, site: Site, extent: Poly, least: Poly, width: Poly, text: str) -> None:
    """`extent >= least`, unless `width` is 0: checked at the call, or an error where it is plainly false."""
    if width == ZERO:
        return
    missing = (extent - least).constant
    if missing is not None and missing < 0 and width.constant is not None:
        k.error("TC0404", f"pad: {text}", site.span, label=f"the axis has size {extent}")
        return
    if width.constant is not None:
        k.require("index", extent, ">=", least, f"pad: {text}", site.span)
    else:
        k.require("index", minimum(width, 1) * (extent - least), ">=", ZERO, f"pad: {text}", site.span)


# -- arguments ---------------------------------------------------------------------------------------


def _mode(k: Builder, arg: Arg | None) -> str | None:
    if arg is None:
        return "constant"
    if isinstance(arg.value, Text) and arg.value.value in MODES:
        return arg.value.value
    expected = ", ".join(f'"{m}"' for m in MODES)
    k.error("TC0307", f"mode= must be one of {expected}", arg.span, label=describe(arg.value))
    return None


def _widths(k: Builder, arg: Arg, rank: int) -> Widths | None:
    """(before, after) for every axis, from a number, a pair, or a pair for each axis; None after an error."""
    items = arg.value.items if isinstance(arg.value, Sequence) else (arg.value, arg.value)
    rows = items if any(isinstance(i, Sequence) for i in items) else (Sequence(tuple(items)),)
    pairs: list[tuple[Poly, Poly]] = []
    for row in rows:
        ends = row.items if isinstance(row, Sequence) else (row, row)
        if len(ends) == 1:
            ends = (ends[0], ends[0])
        if len(ends) != 2:
            _report_widths(k, arg, rank)
            return None
        before, after = (size_argument(k, end, arg.span) for end in ends)
        if before is None or after is None:
            return None
        pairs.append((before, after))
    if len(pairs) == 1:
        pairs = pairs * rank
    if len(pairs) != rank:
        _report_widths(k, arg, rank)
        return None
    return tuple(pairs)


def _report_widths(k: Builder, arg: Arg, rank: int) -> None:
    k.error(
        "TC0405",
        f"pad of rank {rank} takes ((before, after), ...) for each axis, one pair, or one number",
        arg.span,
        label=f"expected {rank} pairs",
    )


def _fill(k: Builder, site: Site, tensor: Tensor, arg: Arg | None) -> Tensor | None:
    """The value of mode "constant" in the array's dtype, 0 by default; None after an error."""
    value: Numeric | None = Known(0) if arg is None else numeric(k, arg, site)
    if value is None:
        return None
    own = strong_dtype(value)
    fits = own is None or promote(own, tensor.dtype) == tensor.dtype
    if rank_of(value) or not fits:
        assert arg is not None
        k.error(
            "TC0301",
            f"pad of {type_text(tensor.dtype, tensor.shape)} takes one number of that dtype",
            arg.span,
            label=f"found {describe(value)}",
            help="" if rank_of(value) else f"convert it: {tensor.dtype}({arg.span.text})",
        )
        return None
    if tensor.dtype.is_bool and isinstance(value, Known) and value.value in (0, 1):
        value = Known(bool(value.value))
    place = site if arg is None else Site(arg.span, site.origin)
    return k.materialize(value, tensor.dtype, place, tensor.weak)
