"""The operations a program can call by name: parameters and the function that checks each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from tensorc.sema import (
    creation,
    einsum,
    elementwise,
    gathers,
    joining,
    layout,
    matrices,
    padding,
    ranges,
    reductions,
    scans,
    tiling,
)
from tensorc.sema.builder import Builder, Site
from tensorc.sema.values import Arg, Value

Args = Mapping[str, Arg]
Check = Callable[[Builder, Site, Args], Value]


@dataclass(frozen=True, slots=True)
class Operation:
    """`required` parameters are positional (or named), `optional` ones too unless `keyword_only`.

    `pointwise` operations also work on the elements of index notation. A `variadic` one takes any number of
    operands behind the required ones, bound as `x1`, `x2`, .... `group` and `summary` are for the list of
    operations (docs/operations.md).
    """

    name: str
    required: tuple[str, ...]
    check: Check
    optional: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    pointwise: bool = False
    variadic: bool = False
    group: str = ""
    summary: str = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*self.required, *self.optional, *self.keyword_only)


def _scalar(k: Builder, site: Site, args: Args, op: str, names: tuple[str, ...]) -> Value:
    return elementwise.check_operator(k, site, op, [args[n] for n in names])


def _elementwise(name: str, summary: str, *parameters: str) -> Operation:
    check = partial(_scalar, op=name, names=parameters)
    return Operation(name, parameters, check, pointwise=True, summary=summary)


def _pointwise(
    name: str, check: Check, summary: str, *parameters: str, optional: tuple[str, ...] = ()
) -> Operation:
    return Operation(name, parameters, check, optional, pointwise=True, summary=summary)


def _reduce(k: Builder, site: Site, args: Args, kind: str) -> Value:
    return reductions.check_reduction(k, site, kind, args)


def _reduction(name: str, summary: str, *keywords: str) -> Operation:
    check = partial(_reduce, kind=name)
    return Operation(name, ("x",), check, (), ("axis", "keepdims", *keywords), summary=summary)


def _scan(name: str, summary: str, *keywords: str) -> Operation:
    check = partial(scans.check_scan, kind=name.removeprefix("cumulative_"))
    return Operation(name, ("x",), check, (), ("axis", *keywords), summary=summary)


def _shape(
    name: str, check: Check, summary: str, *parameters: str, keywords: tuple[str, ...] = ()
) -> Operation:
    return Operation(name, parameters, check, (), keywords, summary=summary)


_UNARY = {
    "abs": "the magnitude",
    "sign": "-1, 0 or 1; of NaN NaN",
    "negative": "`-x`",
    "square": "`x * x`",
    "sqrt": "the square root",
    "rsqrt": "`1 / sqrt(x)`",
    "cbrt": "the cube root",
    "reciprocal": "`1 / x`",
    "exp": "e to the power x",
    "exp2": "2 to the power x",
    "expm1": "`exp(x) - 1`, exact near 0",
    "log": "the natural logarithm",
    "log2": "the logarithm to base 2",
    "log10": "the logarithm to base 10",
    "log1p": "`log(1 + x)`, exact near 0",
    "sin": "the sine of an angle in radians",
    "cos": "the cosine",
    "tan": "the tangent",
    "asin": "the inverse sine",
    "acos": "the inverse cosine",
    "atan": "the inverse tangent",
    "sinh": "the hyperbolic sine",
    "cosh": "the hyperbolic cosine",
    "tanh": "the hyperbolic tangent",
    "asinh": "the inverse hyperbolic sine",
    "acosh": "the inverse hyperbolic cosine",
    "atanh": "the inverse hyperbolic tangent",
    "erf": "the error function",
    "erfc": "`1 - erf(x)`, exact for large x",
    "sigmoid": "`1 / (1 + exp(-x))`",
    "silu": "`x * sigmoid(x)`",
    "gelu": "`x` times the normal distribution function of x",
    "softplus": "`log(1 + exp(x))` without overflow on the way",
    "relu": "`maximum(x, 0)`",
    "floor": "the next integer down",
    "ceil": "the next integer up",
    "trunc": "the next integer towards 0",
    "round": "the nearest integer, ties to even",
    "isnan": "is it NaN?",
    "isinf": "is it an infinity?",
    "isfinite": "is it neither NaN nor an infinity?",
}

_GROUPS: dict[str, tuple[Operation, ...]] = {
    "elementwise": (
        *(_elementwise(name, summary, "x") for name, summary in _UNARY.items()),
        _elementwise("maximum", "the greater; NaN wins, -0 orders below +0", "x1", "x2"),
        _elementwise("minimum", "the lesser; NaN wins, -0 orders below +0", "x1", "x2"),
        _elementwise("copysign", "the magnitude of x1 with the sign of x2", "x1", "x2"),
        _elementwise("atan2", "the angle of the point (x2, x1)", "x1", "x2"),
        _elementwise("hypot", "`sqrt(x1 * x1 + x2 * x2)` without overflow on the way", "x1", "x2"),
        _elementwise("logaddexp", "`log(exp(x1) + exp(x2))` without overflow on the way", "x1", "x2"),
        _elementwise("fma", "`x1 * x2 + x3`, rounded once", "x1", "x2", "x3"),
        _pointwise(
            "where", elementwise.check_where, "x1 where the condition holds, else x2", "condition", "x1", "x2"
        ),
        _pointwise(
            "clip", elementwise.check_clip, "no less than min, no more than max", "x", optional=("min", "max")
        ),
        _pointwise(
            "astype", elementwise.check_astype, "converted to a dtype; `f32(x)` is the same", "x", "dtype"
        ),
    ),
    "reductions": (
        _reduction("sum", "the sum; integers and bools add up in 64 bits", "dtype"),
        _reduction("prod", "the product; integers and bools in 64 bits", "dtype"),
        _reduction("mean", "the sum divided by the number of elements", "dtype"),
        _reduction(
            "var", "the mean squared distance from the mean; divided by n - correction", "correction", "dtype"
        ),
        _reduction("std", "the square root of var", "correction", "dtype"),
        _reduction("max", "the greatest element; NaN wins"),
        _reduction("min", "the least element; NaN wins"),
        _reduction("any", "does any element hold?"),
        _reduction("all", "do all elements hold?"),
        _reduction("argmax", "where the first greatest element is, as i64; the first NaN wins"),
        _reduction("argmin", "where the first least element is, as i64; the first NaN wins"),
        _reduction("count_nonzero", "how many elements are not 0, as i64"),
        _reduction("logsumexp", "`log(sum(exp(x)))` without overflow on the way"),
    ),
    "scans": (
        _scan(
            "cumulative_sum",
            "along an axis, the sum so far; integers and bools add up in 64 bits",
            *("dtype", "include_initial"),
        ),
        _scan(
            "cumulative_prod",
            "along an axis, the product so far; integers and bools in 64 bits",
            *("dtype", "include_initial"),
        ),
        _scan("cumulative_max", "along an axis, the greatest element so far; NaN wins"),
        _scan("cumulative_min", "along an axis, the least element so far; NaN wins"),
    ),
    "layout": (
        _shape("permute_dims", layout.check_permute_dims, "the axes in another order", "x", "axes"),
        _shape("matrix_transpose", layout.check_matrix_transpose, "the last two axes swapped: `x.mT`", "x"),
        _shape("expand_dims", layout.check_expand_dims, "a new axis of size 1", "x", "axis"),
        _shape("squeeze", layout.check_squeeze, "without an axis of size 1", "x", "axis"),
        _shape(
            "broadcast_to",
            layout.check_broadcast_to,
            "axes of size 1 repeated, axes added in front",
            "x",
            "shape",
        ),
        _shape("reshape", layout.check_reshape, "the same elements in row-major order", "x", "shape"),
        _shape("flip", matrices.check_flip, "reversed along axes, all by default", "x", keywords=("axis",)),
        _shape(
            "diagonal",
            matrices.check_diagonal,
            "the diagonal of the last two axes",
            "x",
            keywords=("offset",),
        ),
        _shape("tril", matrices.check_tril, "0 above diagonal k of the last two axes", "x", keywords=("k",)),
        _shape("triu", matrices.check_triu, "0 below diagonal k of the last two axes", "x", keywords=("k",)),
        _shape(
            "concat",
            joining.check_concat,
            "a tuple of arrays, one after the other",
            "arrays",
            keywords=("axis",),
        ),
        _shape(
            "stack", joining.check_stack, "a tuple of arrays along a new axis", "arrays", keywords=("axis",)
        ),
        Operation(
            *("pad", ("x", "pad_width"), padding.check_pad, ("mode",), ("value",)),
            summary='more elements at the ends of the axes: "constant", "edge", "reflect" or "wrap"',
        ),
        _shape("roll", tiling.check_roll, "shifted around the ends", "x", "shift", keywords=("axis",)),
        _shape("tile", tiling.check_tile, "the whole array several times", "x", "repetitions"),
        _shape(
            "repeat", tiling.check_repeat, "every element several times", "x", "repeats", keywords=("axis",)
        ),
    ),
    "gathers": (
        Operation(
            *("take", ("x", "indices"), gathers.check_take, ("axis",)),
            summary="the elements along an axis that an index array names; negative ones count from the end",
        ),
        Operation(
            *("take_along_axis", ("x", "indices"), gathers.check_take_along_axis, ("axis",)),
            summary="along an axis (the last) one element for each index; the other axes broadcast",
        ),
    ),
    "products": (
        _shape(
            "matmul",
            layout.check_matmul,
            "`x1 @ x2`: batched matrix product, vectors as in NumPy",
            "x1",
            "x2",
        ),
        _shape("outer", einsum.check_outer, "every element of x1 times every one of x2", "x1", "x2"),
        _shape(
            "vecdot", einsum.check_vecdot, "sum of products along an axis", "x1", "x2", keywords=("axis",)
        ),
        _shape(
            "tensordot",
            einsum.check_tensordot,
            "sum of products over pairs of axes",
            "x1",
            "x2",
            keywords=("axes",),
        ),
        Operation(
            *("einsum", ("subscripts",), einsum.check_einsum),
            variadic=True,
            summary='sum of products by letters: `einsum("ij,jk->ik", a, b)`',
        ),
    ),
    "creation": (
        Operation(
            *("arange", ("start",), ranges.check_arange, ("stop", "step"), ("dtype",)),
            summary="start, start + step, ... up to stop (not included)",
        ),
        Operation(
            *("eye", ("n_rows",), matrices.check_eye, ("n_cols",), ("k", "dtype")),
            summary="1 on diagonal k, else 0",
        ),
        _shape(
            "full", creation.check_full, "one value everywhere", "shape", "fill_value", keywords=("dtype",)
        ),
        _shape("zeros", creation.check_zeros, "0 everywhere", "shape", keywords=("dtype",)),
        _shape("ones", creation.check_ones, "1 everywhere", "shape", keywords=("dtype",)),
        _shape(
            "full_like",
            creation.check_full_like,
            "one value in the shape of x",
            "x",
            "fill_value",
            keywords=("dtype",),
        ),
        _shape("zeros_like", creation.check_zeros_like, "0 in the shape of x", "x", keywords=("dtype",)),
        _shape("ones_like", creation.check_ones_like, "1 in the shape of x", "x", keywords=("dtype",)),
    ),
}

OPERATIONS: dict[str, Operation] = {
    row.name: replace(row, group=group) for group, rows in _GROUPS.items() for row in rows
}

# fmt: off
LATER: frozenset[str] = frozenset((
    "update", "segment_sum", "segment_max", "segment_min", "segment_prod",
    "scatter_add", "sort", "argsort", "topk",
))
# fmt: on
"""Operations of the language that this version does not build."""
