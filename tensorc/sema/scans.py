"""Scans: `cumulative_sum`, `cumulative_prod`, `cumulative_max` and `cumulative_min` along one axis.

Sums and products of integers and bool accumulate in i64 or u64 (or the integer type of `dtype=`, which wraps
alike); the others keep the operand's type. A scan of an axis of extent 1 is its operand. `include_initial`
puts the value of no elements, 0 or 1, in front.
"""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.dtypes import BOOL, I64, U64, DType
from tensorc.index_algebra import ONE
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import adapting, convert, dtype_argument, numeric, stored
from tensorc.sema.joining import join
from tensorc.sema.shapes import flag_argument, integer_argument, normalize_axis, rank_of
from tensorc.sema.values import POISON, Absent, Arg, Known, Numeric, Tensor, Value, describe
from tensorc.tensor_ir.program import Scan

Args = Mapping[str, Arg]


def check_scan(k: Builder, site: Site, args: Args, kind: str) -> Value:
    """A scan of `kind` (`sum`, `prod`, `max`, `min`)."""
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    axis = _axis(k, site, value, args.get("axis"))
    dtype = dtype_argument(k, args.get("dtype"))
    initial = flag_argument(k, args.get("include_initial"), "include_initial")
    if axis is None or initial is None or not _dtype_fits(k, site, args.get("dtype"), dtype):
        return POISON
    operand = stored(k, site, value)
    if kind in ("sum", "prod"):
        operand = _accumulated(k, site, operand, dtype)
    result = operand
    if operand.shape[axis] != ONE:
        result = k.emit("scan", (operand,), Scan(kind, axis), operand.dtype, operand.shape, site)
    if initial:
        shape = (*operand.shape[:axis], ONE, *operand.shape[axis + 1 :])
        start = k.constant(Known(0 if kind == "sum" else 1), operand.dtype, site)
        result = join(k, site, [k.broadcast(start, shape, site), result], axis)
    return adapting(result, [args["x"]]) if dtype is None else k.promote(result, dtype, site)


def _axis(k: Builder, site: Site, value: Numeric, given: Arg | None) -> int | None:
    rank = rank_of(value)
    if given is not None and not isinstance(given.value, Absent):
        axis = integer_argument(k, given, "axis")
        return None if axis is None else normalize_axis(k, axis, rank, given.span, describe(value))
    if rank == 1:
        return 0
    if rank == 0:
        k.error("TC0403", f"{site.origin} needs an axis to run along", site.span, label="a scalar has none")
        return None
    k.error(
        "TC0403",
        f"{site.origin} of {rank} axes needs to know along which one",
        site.span,
        label=f"the operand is {describe(value)}",
        help="write axis=0, or axis=-1 for the last one",
    )
    return None


def _dtype_fits(k: Builder, site: Site, given: Arg | None, dtype: DType | None) -> bool:
    if given is None or isinstance(given.value, Absent):
        return True
    if dtype == BOOL:
        k.error(
            "TC0302", f"{site.origin} cannot accumulate in bool", given.span, label="expected a number dtype"
        )
    return dtype not in (None, BOOL)


def _accumulated(k: Builder, site: Site, operand: Tensor, dtype: DType | None) -> Tensor:
    """The operand in the dtype that its scan adds or multiplies in."""
    if operand.dtype.is_float and dtype is None:
        return operand
    wide = dtype or operand.dtype
    if not wide.is_float:
        wide = U64 if wide.is_unsigned else I64
    result = convert(k, Site(site.span, ""), operand, wide)
    return result if isinstance(result, Tensor) else stored(k, site, result)
