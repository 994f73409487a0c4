"""Operations on the last two axes, and flip: views, and masks by row and column."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.dtypes import BOOL, I64
from tensorc.index_algebra import ZERO, Poly, axis, maximum, minimum
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import apply_operator, convert, dtype_argument, numeric
from tensorc.sema.layout import as_view_operand
from tensorc.sema.shapes import axes_argument, integer_argument, rank_of, shape_of, size_argument
from tensorc.sema.values import POISON, Absent, Arg, Known, Numeric, Tensor, Value, describe, size_of
from tensorc.tensor_ir.program import Shape

Args = Mapping[str, Arg]


def check_flip(k: Builder, site: Site, args: Args) -> Value:
    """The elements in reverse order, along all axes or the given ones."""
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    shape = shape_of(value)
    given = args.get("axis")
    axes: tuple[int, ...] | None = tuple(range(len(shape)))
    if given is not None and not isinstance(given.value, Absent):
        axes = axes_argument(k, given, len(shape), describe(value))
    if axes is None:
        return POISON
    index = [size - 1 - axis(f"i{a}") if a in axes else axis(f"i{a}") for a, size in enumerate(shape)]
    return k.view("flip", as_view_operand(k, site, value), index, shape, site)


def _matrix(k: Builder, site: Site, args: Args) -> Numeric | None:
    """The argument when it has two axes, or None after an error."""
    value = numeric(k, args["x"], site)
    if value is None or rank_of(value) >= 2:
        return value
    k.error(
        "TC0405",
        f"{site.origin} needs at least 2 axes, found {describe(value)}",
        site.span,
        label=f"rank {rank_of(value)}",
    )
    return None


def check_diagonal(k: Builder, site: Site, args: Args) -> Value:
    """The diagonals of the last two axes, `offset` columns to the right of the main one."""
    value = _matrix(k, site, args)
    offset = integer_argument(k, args["offset"], "the offset") if "offset" in args else 0
    if value is None or offset is None:
        return POISON
    *lead, rows, columns = shape_of(value)
    down, right = max(-offset, 0), max(offset, 0)
    count = maximum(minimum(rows - down, columns - right), 0)
    place = axis(f"i{len(lead)}")
    index = [*(axis(f"i{n}") for n in range(len(lead))), place + down, place + right]
    return k.view("diagonal", as_view_operand(k, site, value), index, (*lead, count), site)


def check_tril(k: Builder, site: Site, args: Args) -> Value:
    return _triangle(k, site, args, "less_equal")


def check_triu(k: Builder, site: Site, args: Args) -> Value:
    return _triangle(k, site, args, "greater_equal")


def _triangle(k: Builder, site: Site, args: Args, relation: str) -> Value:
    """The elements whose column is in `relation` to row + k, 0 elsewhere."""
    value = _matrix(k, site, args)
    offset = _offset(k, args.get("k"))
    if value is None or offset is None:
        return POISON
    mask = _compare_places(k, site, shape_of(value), relation, offset)
    return apply_operator(k, site, "where", [mask, value, _zero_of(value)])


def _zero_of(value: Numeric) -> Known:
    boolean = isinstance(value, Tensor) and value.dtype == BOOL
    return Known(False, BOOL) if boolean else Known(0)


def _offset(k: Builder, arg: Arg | None) -> Poly | None:
    """The diagonal that `k=` names, 0 by default; None after an error."""
    if arg is None:
        return ZERO
    size = size_of(arg.value)
    if size is None:
        k.error("TC0410", f"k must be an integer, found {describe(arg.value)}", arg.span, label="not a size")
    return size


def _compare_places(k: Builder, site: Site, shape: Shape, relation: str, offset: Poly) -> Tensor:
    """`column RELATION row + offset` for the last two axes of `shape`."""
    last = len(shape) - 1
    matrix = shape[-2:]
    row, column = (
        k.view("broadcast_to", k.emit("iota", (), None, I64, (size,), site), [axis(f"i{n}")], matrix, site)
        for n, size in enumerate(matrix)
    )
    if offset != 0:
        shift = k.broadcast(k.size(offset, I64, site), matrix, site)
        row = k.elementwise("add", [row, shift], I64, site)
    mask = k.elementwise(relation, [column, row], BOOL, site)
    if last == 1:
        return mask
    return k.view("broadcast_to", mask, [axis(f"i{last - 1}"), axis(f"i{last}")], shape, site)


def check_eye(k: Builder, site: Site, args: Args) -> Value:
    """1 on the diagonal `k` and 0 elsewhere: weak floats without a dtype."""
    rows = size_argument(k, args["n_rows"].value, args["n_rows"].span)
    given = args.get("n_cols")
    columns = rows
    if given is not None and not isinstance(given.value, Absent):
        columns = size_argument(k, given.value, given.span)
    offset = _offset(k, args.get("k"))
    asked = args.get("dtype")
    dtype = dtype_argument(k, asked)
    failed = asked is not None and dtype is None and not isinstance(asked.value, Absent)
    if rows is None or columns is None or offset is None or failed:
        return POISON
    mask = _compare_places(k, site, (rows, columns), "equal", offset)
    if dtype is None:
        return apply_operator(k, site, "where", [mask, Known(1.0), Known(0.0)])
    return convert(k, site, mask, dtype)
