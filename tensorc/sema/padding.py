"""pad: an array with more elements at the ends of its axes, as NumPy's `pad` chooses them."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.dtypes import promote
from tensorc.index_algebra import ONE, ZERO, Poly, minimum
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import numeric
from tensorc.sema.joining import join
from tensorc.sema.layout import as_view_operand
from tensorc.sema.promotion import strong_dtype
from tensorc.sema.shapes import rank_of, size_argument
from tensorc.sema.tiling import part, repeated
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
    for at, (before, after) in enumerate(widths):
        tensor = _PAD[mode](k, site, tensor, at, before, after)
    return tensor


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


def _pad_reflect(k: Builder, site: Site, x: Tensor, at: int, before: Poly, after: Poly) -> Tensor:
    """The elements next to the ends mirrored at them, which are not repeated themselves."""
    extent = x.shape[at]
    for width in (before, after):
        _require(k, site, extent, width + 1, width, f"a reflection of {width} needs more elements than that")
    start = part(k, site, x, at, before, before, -1)
    end = part(k, site, x, at, extent - 2, after, -1)
    return join(k, site, [start, x, end], at)


def _pad_wrap(k: Builder, site: Site, x: Tensor, at: int, before: Poly, after: Poly) -> Tensor:
    """The array as if it began again at its end."""
    extent = x.shape[at]
    for width in (before, after):
        _require(k, site, extent, width, width, f"wrapping {width} elements around needs as many")
    start = part(k, site, x, at, extent - before, before)
    return join(k, site, [start, x, part(k, site, x, at, ZERO, after)], at)


_PAD = {"edge": _pad_edge, "reflect": _pad_reflect, "wrap": _pad_wrap}


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
