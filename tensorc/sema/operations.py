"""The operations a program can call by name: parameters and the function that checks each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from tensorc.sema import compositions, creation, einsum, elementwise, layout, matrices, reductions
from tensorc.sema.builder import Builder, Site
from tensorc.sema.values import Arg, Value

Args = Mapping[str, Arg]
Check = Callable[[Builder, Site, Args], Value]


@dataclass(frozen=True, slots=True)
class Operation:
    """`required` parameters are positional (or named), `optional` ones too unless `keyword_only`.

    `pointwise` operations also work on the elements of index notation. A `variadic` one takes any number of
    operands behind the required ones, bound as `x1`, `x2`, ....
    """

    name: str
    required: tuple[str, ...]
    check: Check
    optional: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    pointwise: bool = False
    variadic: bool = False

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*self.required, *self.optional, *self.keyword_only)


def _scalar(k: Builder, site: Site, args: Args, op: str, names: tuple[str, ...]) -> Value:
    return elementwise.check_operator(k, site, op, [args[n] for n in names])


def _elementwise(name: str, *parameters: str) -> Operation:
    return Operation(name, parameters, partial(_scalar, op=name, names=parameters), pointwise=True)


def _reduce(k: Builder, site: Site, args: Args, kind: str) -> Value:
    return reductions.check_reduction(k, site, kind, args)


def _reduction(name: str, *keywords: str) -> Operation:
    return Operation(name, ("x",), partial(_reduce, kind=name), (), ("axis", "keepdims", *keywords))


# fmt: off
_UNARY = (
    "abs", "sign", "negative", "square", "sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1",
    "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "erf", "erfc", "cbrt", "sigmoid", "relu", "floor", "ceil", "trunc",
    "round", "isnan", "isinf", "isfinite",
)
# fmt: on

_ROWS: tuple[Operation, ...] = (
    *(_elementwise(name, "x") for name in _UNARY),
    _elementwise("maximum", "x1", "x2"),
    _elementwise("minimum", "x1", "x2"),
    _elementwise("copysign", "x1", "x2"),
    _elementwise("atan2", "x1", "x2"),
    _elementwise("hypot", "x1", "x2"),
    _elementwise("fma", "x1", "x2", "x3"),
    Operation("where", ("condition", "x1", "x2"), elementwise.check_where, pointwise=True),
    Operation("clip", ("x",), elementwise.check_clip, ("min", "max"), pointwise=True),
    Operation("astype", ("x", "dtype"), elementwise.check_astype, pointwise=True),
    Operation("silu", ("x",), elementwise.check_silu, pointwise=True),
    Operation("gelu", ("x",), elementwise.check_gelu, pointwise=True),
    Operation("softplus", ("x",), compositions.check_softplus, pointwise=True),
    Operation("logaddexp", ("x1", "x2"), compositions.check_logaddexp, pointwise=True),
    _reduction("sum", "dtype"),
    _reduction("prod", "dtype"),
    _reduction("mean", "dtype"),
    _reduction("var", "correction", "dtype"),
    _reduction("std", "correction", "dtype"),
    *(
        _reduction(name)
        for name in ("max", "min", "any", "all", "argmax", "argmin", "count_nonzero", "logsumexp")
    ),
    Operation("permute_dims", ("x", "axes"), layout.check_permute_dims),
    Operation("matrix_transpose", ("x",), layout.check_matrix_transpose),
    Operation("expand_dims", ("x", "axis"), layout.check_expand_dims),
    Operation("squeeze", ("x", "axis"), layout.check_squeeze),
    Operation("broadcast_to", ("x", "shape"), layout.check_broadcast_to),
    Operation("reshape", ("x", "shape"), layout.check_reshape),
    Operation("flip", ("x",), matrices.check_flip, (), ("axis",)),
    Operation("diagonal", ("x",), matrices.check_diagonal, (), ("offset",)),
    Operation("tril", ("x",), matrices.check_tril, (), ("k",)),
    Operation("triu", ("x",), matrices.check_triu, (), ("k",)),
    Operation("matmul", ("x1", "x2"), layout.check_matmul),
    Operation("outer", ("x1", "x2"), einsum.check_outer),
    Operation("vecdot", ("x1", "x2"), einsum.check_vecdot, (), ("axis",)),
    Operation("tensordot", ("x1", "x2"), einsum.check_tensordot, (), ("axes",)),
    Operation("einsum", ("subscripts",), einsum.check_einsum, variadic=True),
    Operation("arange", ("start",), creation.check_arange, ("stop", "step"), ("dtype",)),
    Operation("eye", ("n_rows",), matrices.check_eye, ("n_cols",), ("k", "dtype")),
    Operation("full", ("shape", "fill_value"), creation.check_full, (), ("dtype",)),
    Operation("zeros", ("shape",), creation.check_zeros, (), ("dtype",)),
    Operation("ones", ("shape",), creation.check_ones, (), ("dtype",)),
    Operation("full_like", ("x", "fill_value"), creation.check_full_like, (), ("dtype",)),
    Operation("zeros_like", ("x",), creation.check_zeros_like, (), ("dtype",)),
    Operation("ones_like", ("x",), creation.check_ones_like, (), ("dtype",)),
)

OPERATIONS: dict[str, Operation] = {row.name: row for row in _ROWS}

# fmt: off
LATER: frozenset[str] = frozenset((
    "cumulative_sum", "cumulative_prod", "cumulative_max", "concat", "stack", "roll", "repeat", "tile", "pad",
    "take", "take_along_axis", "update", "segment_sum", "segment_max", "segment_min", "segment_prod",
    "scatter_add", "sort", "argsort", "topk",
))
# fmt: on
"""Operations of the language that this version does not build."""
