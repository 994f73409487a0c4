"""Gathers: elements of an array at places that are values: take, take_along_axis, and integer subscripts.

An index of data counts from the end where it is negative, and fails the call where it is out of range.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Items
from dataclasses import dataclass

from tensorc.dtypes import I64
from tensorc.index_algebra import ONE, ZERO, Poly, axis
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import numeric
from tensorc.sema.layout import as_view_operand
from tensorc.sema.promotion import storage_type
from tensorc.sema.shapes import integer_argument, normalize_axis, rank_of, report_different_sizes, shape_of
from tensorc.sema.values import POISON, Absent, Arg, Known, Numeric, Tensor, Value, describe
from tensorc.source import Span
from tensorc.tensor_ir.program import Gather, GatheredPlace, Shape

Args = Mapping[str, Arg]
LARGEST = (1 << 63) - 1


@dataclass(frozen=True, slots=True, eq=False)
class IndexArray:
    """Index values of the gather's shape (i64), and what they may be; `message` is that of an IndexError."""

    tensor: Tensor
    checked: bool
    wraps: bool
    message: str


def gather(k: Builder, site: Site, source: Tensor, places: Items[Poly | IndexArray], shape: Shape) -> Tensor:
    """`source[places]`; at least one place is an array."""
    operands: list[Tensor] = [source]
    written: list[Poly | GatheredPlace] = []
    for place in places:
        if isinstance(place, Poly):
            written.append(place)
            continue
        written.append(GatheredPlace(len(operands), place.checked, place.wraps, place.message))
        operands.append(place.tensor)
    attrs = Gather(site.origin, tuple(written))
    return k.emit("gather", operands, attrs, source.dtype, shape, site, source.weak)


def index_values(k: Builder, arg: Arg, value: Numeric) -> Tensor:
    """An integer value as i64; what u64 holds beyond that is out of range of every axis, as before."""
    site = Site(arg.span, "")
    tensor = as_view_operand(k, site, value)
    if tensor.dtype.name == "u64" and not tensor.weak:
        limit = k.broadcast(k.constant(Known(LARGEST), tensor.dtype, site), tensor.shape, site)
        tensor = k.elementwise("minimum", [tensor, limit], tensor.dtype, site)
    return k.promote(tensor, I64, site)


def out_of_range(index: Span, position: int, size: Poly, source: str) -> str:
    """`index i is out of range for axis 0 of x, of size N`"""
    return f"index {quoted(index)} is out of range for axis {position} of {source}, of size {size}"


_LONGEST = 40


def quoted(span: Span) -> str:
    return _shortened(span.text)


def subscripted(span: Span) -> str:
    """What stands before the brackets of `x[i, j[k]]`."""
    depth = 0
    for position in range(len(span.text) - 1, -1, -1):
        depth += {"]": 1, "[": -1}.get(span.text[position], 0)
        if depth == 0:
            return _shortened(span.text[:position])
    return _shortened(span.text)


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# -- take, take_along_axis -------------------------------------------------------------------------


def check_take(k: Builder, site: Site, args: Args) -> Value:
    """Along one axis the elements that an index array of any rank names."""
    source, index = _operands(k, site, args)
    if source is None or index is None:
        return POISON
    position = _axis(k, site, args, source, default=0 if rank_of(source) == 1 else None)
    if position is None:
        return POISON
    old, new = shape_of(source), shape_of(index)
    shape = (*old[:position], *new, *old[position + 1 :])
    values = index_values(k, args["indices"], index)
    along = [axis(f"i{position + n}") for n in range(len(new))]
    spread = values if shape == new else k.view("broadcast_to", values, along, shape, site)
    places: list[Poly | IndexArray] = [
        axis(f"i{n if n < position else n + len(new) - 1}") for n in range(len(old))
    ]
    places[position] = _wrapping(args, spread, position, old[position])
    return gather(k, site, as_view_operand(k, site, source), places, shape)


def check_take_along_axis(k: Builder, site: Site, args: Args) -> Value:
    """One element for each index, along one axis; the other axes of the two broadcast."""
    source, index = _operands(k, site, args)
    if source is None or index is None:
        return POISON
    position = _axis(k, site, args, source, default=-1)
    if position is None:
        return POISON
    old, new = shape_of(source), shape_of(index)
    if len(old) != len(new):
        k.error(
            "TC0405",
            f"take_along_axis of {describe(source)} needs indices of rank {len(old)}",
            args["indices"].span,
            label=f"expected rank {len(old)}, found {len(new)}",
            help="take(x, i, axis=…) takes an index array of any rank",
        )
        return POISON
    shape: list[Poly] = []
    for n, (a, b) in enumerate(zip(old, new, strict=True)):
        if n != position and a != b and ONE not in (a, b):
            report_different_sizes(k, (source, index), a, b, n - len(old), site)
            return POISON
        shape.append(b if n == position or a == ONE else a)
    spread = k.broadcast(index_values(k, args["indices"], index), tuple(shape), site)
    places: list[Poly | IndexArray] = [
        ZERO if a == ONE and size != ONE else axis(f"i{n}")
        for n, (a, size) in enumerate(zip(old, shape, strict=True))
    ]
    places[position] = _wrapping(args, spread, position, old[position])
    return gather(k, site, as_view_operand(k, site, source), places, tuple(shape))


def _operands(k: Builder, site: Site, args: Args) -> tuple[Numeric | None, Numeric | None]:
    """The source and the indices; None for what is neither an array with axes, nor integers."""
    source, index = numeric(k, args["x"], site), numeric(k, args["indices"], site)
    if source is not None and not rank_of(source):
        message = f"{site.origin} needs an array with axes, found {describe(source)}"
        k.error("TC0405", message, args["x"].span, label="rank 0")
        source = None
    if index is not None and not storage_type(index).is_integer:
        what = "expected integers"
        k.error(
            "TC0302",
            f"an index must be an integer, found {describe(index)}",
            args["indices"].span,
            label=what,
        )
        index = None
    return source, index


def _axis(k: Builder, site: Site, args: Args, source: Numeric, default: int | None) -> int | None:
    given = args.get("axis")
    if given is None or isinstance(given.value, Absent):
        if default is not None:
            return default % rank_of(source)
        k.error(
            "TC0204",
            f"{site.origin} of {describe(source)} needs axis=",
            site.span,
            label="along which axis?",
            help="write axis=0 for rows",
        )
        return None
    number = integer_argument(k, given, "axis")
    return (
        None if number is None else normalize_axis(k, number, rank_of(source), given.span, describe(source))
    )


def _wrapping(args: Args, values: Tensor, position: int, size: Poly) -> IndexArray:
    message = out_of_range(args["indices"].span, position, size, quoted(args["x"].span))
    return IndexArray(values, True, True, message)
