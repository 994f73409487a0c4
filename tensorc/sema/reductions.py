"""Reductions: axes, accumulation dtypes, empty operands, and the ones composed of others.

`mean` is `sum / n`. `var` and `std` of f32 are one reduction; of f64 (and integers, which become f64)
they are the two-pass form on whole arrays: mean, squared deviations, their sum over `max(n - correction, 0)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tensorc.dtypes import BOOL, F32, F64, I64, U64, DType, computation_type
from tensorc.index_algebra import ONE, ZERO, Poly, axis, is_positive, maximum
from tensorc.operators import REDUCTIONS
from tensorc.sema.builder import Builder, Site, element_count
from tensorc.sema.elementwise import adapting, as_bool, convert, dtype_argument, numeric, stored
from tensorc.sema.numbers import fits
from tensorc.sema.shapes import axes_argument, flag_argument, shape_of
from tensorc.sema.values import POISON, Absent, Arg, Known, Numeric, Tensor, Value, describe
from tensorc.tensor_ir.program import Reduce, Shape, View

Args = Mapping[str, Arg]

HAVE_THEIR_TYPE: Final = ("any", "all", "argmax", "argmin", "count_nonzero")
"""Reductions whose results are bool or i64 whatever they reduce."""


@dataclass(frozen=True, slots=True)
class _Request:
    """One reduction as called: `axes` sorted, `whole` when no axis was written."""

    kind: str
    axes: tuple[int, ...]
    whole: bool
    keepdims: bool
    dtype: DType | None
    correction: int | float


def check_reduction(k: Builder, site: Site, kind: str, args: Args) -> Value:
    """Any reduction of the language, `kind` as in the Array API."""
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    request = _read_request(k, kind, value, args)
    if request is None or not _check_dtype(k, request, args):
        return POISON
    operand, rounded = _prepare(k, site, request, value)
    row = REDUCTIONS.get(kind)
    raises = row is not None and row.empty_raises
    if raises and not _check_nonempty(k, site, request, operand):
        return POISON
    result = _REDUCERS[kind](k, site, request, operand)
    if rounded is not None:
        result = k.promote(result, rounded, site)
    if request.keepdims:
        result = _keep_dims(k, site, request, operand.shape, result)
    own_type = kind in HAVE_THEIR_TYPE or request.dtype is not None
    return result if own_type else adapting(result, [args["x"]])


# -- reading the call ------------------------------------------------------------------------------


def _read_request(k: Builder, kind: str, value: Numeric, args: Args) -> _Request | None:
    rank = len(shape_of(value))
    keepdims = flag_argument(k, args.get("keepdims"), "keepdims")
    correction = _correction(k, args.get("correction"))
    given = args.get("axis")
    whole = given is None or isinstance(given.value, Absent)
    axes: tuple[int, ...] | None = tuple(range(rank))
    if given is not None and not whole:
        axes = axes_argument(k, given, rank, describe(value))
        if axes is not None and kind in ("argmax", "argmin") and len(axes) != 1:
            k.error("TC0403", f"{kind} takes one axis or none", given.span, label=f"found {len(axes)} axes")
            axes = None
    if axes is None or keepdims is None or correction is None:
        return None
    dtype = dtype_argument(k, args.get("dtype"))
    return _Request(kind, tuple(sorted(axes)), whole, keepdims, dtype, correction)


def _correction(k: Builder, arg: Arg | None) -> int | float | None:
    if arg is None:
        return 0
    match arg.value:
        case Known(v) if not isinstance(v, bool):
            if fits(arg.value, F64) and math.isfinite(v):
                return v
            label = "expected a finite number of f64"
            k.error("TC0303", f"correction cannot be {describe(arg.value)}", arg.span, label=label)
            return None
    k.error(
        "TC0307", "correction must be a number known at compile time", arg.span, label=describe(arg.value)
    )
    return None


def _check_dtype(k: Builder, request: _Request, args: Args) -> bool:
    given = args.get("dtype")
    if given is None or isinstance(given.value, Absent):
        return True
    if request.dtype is None:
        return False
    floats_only = request.kind not in ("sum", "prod")
    if request.dtype == BOOL or (floats_only and not request.dtype.is_float):
        expected = "a float dtype" if floats_only else "a number dtype"
        k.error(
            "TC0302",
            f"{request.kind} cannot accumulate in {request.dtype}",
            given.span,
            label=f"expected {expected}",
        )
        return False
    return True


# -- operands --------------------------------------------------------------------------------------


def _prepare(k: Builder, site: Site, request: _Request, value: Numeric) -> tuple[Tensor, DType | None]:
    """The operand in the dtype that the reduction accumulates in (`dtype=` or NumPy's rule).

    With it the dtype that the result is rounded to, where a f16 or bf16 is composed in f32.
    """
    if request.kind in ("any", "all", "count_nonzero"):
        operand = as_bool(k, site, value)
        return k.promote(operand, I64, site) if request.kind == "count_nonzero" else operand, None
    operand = stored(k, site, value)
    integral = not operand.dtype.is_float
    if request.kind in ("sum", "prod"):
        return _to_add(k, site, request, operand), None
    if request.kind not in ("mean", "var", "std", "logsumexp"):
        return operand, None
    dtype = request.dtype or (F64 if integral else operand.dtype)
    operand = _converted(k, site, operand, dtype)
    wide = computation_type(dtype)
    return (operand, None) if wide == dtype else (_converted(k, site, operand, wide), dtype)


def _to_add(k: Builder, site: Site, request: _Request, operand: Tensor) -> Tensor:
    """The operand of a sum or product: integers as i64, unsigned ones as u64, unless `dtype=` says more."""
    dtype = request.dtype
    if operand.dtype.is_float and dtype is None:
        return operand
    if dtype is not None and not dtype.is_integer:
        return _converted(k, site, operand, dtype)
    unsigned = (dtype or operand.dtype).is_unsigned
    return _converted(k, site, operand, U64 if unsigned else I64)


def _converted(k: Builder, site: Site, value: Tensor, dtype: DType) -> Tensor:
    result = convert(k, Site(site.span, ""), value, dtype)
    return result if isinstance(result, Tensor) else stored(k, site, result)


def _check_nonempty(k: Builder, site: Site, request: _Request, operand: Tensor) -> bool:
    """max, min, argmax and argmin need an element, as in NumPy even where the result has none."""
    sizes = [operand.shape[a] for a in request.axes]
    count = element_count(sizes)
    if count == ZERO:
        k.error(
            "TC0408",
            f"{request.kind} of an empty operand has no value",
            site.span,
            label=f"the operand is {describe(operand)}",
        )
        return False
    for size in sizes:
        if not is_positive(size):
            text = f"{request.kind} needs a non-empty operand"
            k.require("nonempty", size, ">", ZERO, text, site.span)
    return True


# -- reducing --------------------------------------------------------------------------------------


def _reduce(
    k: Builder,
    site: Site,
    kind: str,
    value: Tensor,
    axes: tuple[int, ...],
    dtype: DType,
    correction: float = 0.0,
) -> Tensor:
    """One `reduce` op; of a permuted view, the reduction of what it permutes, permuted back."""
    source = _permuted_source(k, value)
    if source is None or (kind in ("argmax", "argmin") and len(axes) > 1):
        return k.reduce(value, Reduce(kind, axes, correction), dtype, site)
    operand, order = source
    inner_axes = tuple(sorted(order[a] for a in axes))
    result = k.reduce(operand, Reduce(kind, inner_axes, correction), dtype, site)
    kept = [a for a in range(len(operand.shape)) if a not in inner_axes]
    wanted = [kept.index(order[a]) for a in range(len(order)) if a not in axes]
    return permute(k, result, tuple(wanted), site, "permute_dims")


def _permuted_source(k: Builder, value: Tensor) -> tuple[Tensor, tuple[int, ...]] | None:
    """What `value` permutes, and the source axis of each of its axes; None if it is no permutation."""
    op = k.ops[value.id]
    if not isinstance(op.attrs, View) or len(op.attrs.index) != len(value.shape):
        return None
    places = {axis(f"i{a}"): a for a in range(len(value.shape))}
    order: dict[int, int] = {}
    for position, index in enumerate(op.attrs.index):
        if index not in places or places[index] in order:
            return None
        order[places[index]] = position
    source = k.ops[op.operands[0]]
    if tuple(source.shape[order[a]] for a in range(len(order))) != value.shape:
        return None
    return Tensor(op.operands[0], source.dtype, source.shape), tuple(order[a] for a in range(len(order)))


def permute(k: Builder, value: Tensor, axes: tuple[int, ...], site: Site, kind: str) -> Tensor:
    """Axis `a` of the result is axis `axes[a]` of the operand."""
    if axes == tuple(range(len(axes))):
        return value
    index = [axis(f"i{axes.index(a)}") for a in range(len(axes))]
    return k.view(kind, value, index, tuple(value.shape[a] for a in axes), site)


def _keep_dims(k: Builder, site: Site, request: _Request, shape: Shape, result: Tensor) -> Tensor:
    kept = tuple(ONE if a in request.axes else size for a, size in enumerate(shape))
    index = [axis(f"i{a}") for a in range(len(shape)) if a not in request.axes]
    return result if kept == result.shape else k.view("expand_dims", result, index, kept, site)


def _plain(k: Builder, site: Site, request: _Request, operand: Tensor) -> Tensor:
    """sum, prod, max, min, any, all: over no axes, the operand itself."""
    kind = "sum" if request.kind == "count_nonzero" else request.kind
    result = operand
    if request.axes:
        result = _reduce(k, site, kind, operand, request.axes, operand.dtype)
    narrow = request.dtype is not None and request.dtype != result.dtype
    return k.promote(result, request.dtype, site) if narrow and request.dtype else result


def _arg_extreme(k: Builder, site: Site, request: _Request, operand: Tensor) -> Tensor:
    if not request.axes:
        return k.constant(Known(0), I64, site)
    return _reduce(k, site, request.kind, operand, request.axes, I64)


def _mean(k: Builder, site: Site, request: _Request, operand: Tensor) -> Tensor:
    total = operand
    if request.axes:
        total = _reduce(k, site, "sum", operand, request.axes, operand.dtype)
    return _divide_by(k, site, total, k.size(_count(request, operand), operand.dtype, site))


def _count(request: _Request, operand: Tensor) -> Poly:
    return element_count([operand.shape[a] for a in request.axes])


def _divide_by(k: Builder, site: Site, value: Tensor, divisor: Tensor) -> Tensor:
    return k.elementwise("divide", [value, k.broadcast(divisor, value.shape, site)], value.dtype, site)


def _variance(k: Builder, site: Site, request: _Request, operand: Tensor) -> Tensor:
    if operand.dtype == F32 and request.axes:
        correction = float(request.correction)
        return _reduce(k, site, request.kind, operand, request.axes, F32, correction)
    result = _two_pass_variance(k, site, request, operand)
    if request.kind == "std":
        result = k.elementwise("sqrt", [result], operand.dtype, site)
    return result


def _two_pass_variance(k: Builder, site: Site, request: _Request, operand: Tensor) -> Tensor:
    dtype = operand.dtype
    mean = operand
    if request.axes:
        mean = _mean(k, site, request, operand)
        kept = _keep_dims(k, site, request, operand.shape, mean)
        mean = k.broadcast(kept, operand.shape, site)
    deviation = k.elementwise("subtract", [operand, mean], dtype, site)
    total = k.elementwise("multiply", [deviation, deviation], dtype, site)
    if request.axes:
        total = _reduce(k, site, "sum", total, request.axes, dtype)
    return _divide_by(k, site, total, _degrees_of_freedom(k, site, request, operand))


def _degrees_of_freedom(k: Builder, site: Site, request: _Request, operand: Tensor) -> Tensor:
    """`max(n - correction, 0)` in the operand's dtype."""
    count, correction, dtype = _count(request, operand), request.correction, operand.dtype
    if correction == int(correction):
        return k.size(maximum(count - int(correction), 0), dtype, site)
    if count.constant is not None:
        return k.constant(Known(max(count.constant - correction, 0.0)), dtype, site)
    removed = k.constant(Known(correction), dtype, site)
    left = k.elementwise("subtract", [k.size(count, dtype, site), removed], dtype, site)
    return k.elementwise("maximum", [left, k.constant(Known(0), dtype, site)], dtype, site)


def _logsumexp(k: Builder, site: Site, request: _Request, operand: Tensor) -> Tensor:
    """`log(sum(exp(x - m))) + m` with the largest value m, which is taken as 0 where it is not finite."""
    if not request.axes:
        return operand
    dtype, axes = operand.dtype, request.axes
    largest = _reduce(k, site, "max", operand, axes, dtype)
    finite = k.elementwise("isfinite", [largest], BOOL, site)
    zero = k.broadcast(k.constant(Known(0), dtype, site), largest.shape, site)
    shift = k.emit("where", [finite, largest, zero], None, dtype, largest.shape, site)
    spread = k.broadcast(_keep_dims(k, site, request, operand.shape, shift), operand.shape, site)
    powers = k.elementwise("exp", [k.elementwise("subtract", [operand, spread], dtype, site)], dtype, site)
    total = k.elementwise("log", [_reduce(k, site, "sum", powers, axes, dtype)], dtype, site)
    return k.elementwise("add", [total, shift], dtype, site)


_Reducer = Callable[[Builder, Site, _Request, Tensor], Tensor]

_REDUCERS: dict[str, _Reducer] = {
    **dict.fromkeys(("sum", "prod", "max", "min", "any", "all", "count_nonzero"), _plain),
    **dict.fromkeys(("argmax", "argmin"), _arg_extreme),
    **dict.fromkeys(("var", "std"), _variance),
    "mean": _mean,
    "logsumexp": _logsumexp,
}
