"""Elementwise operations that are built of others."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.dtypes import F64
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import apply_operator, convert, numeric, warn_widening
from tensorc.sema.promotion import Common, common_type
from tensorc.sema.values import POISON, Arg, Known, Numeric, Size, Tensor, Value

Args = Mapping[str, Arg]

LN2 = 0.6931471805599453


def apply(k: Builder, site: Site, op: str, *operands: Value) -> Value:
    """An `OPERATORS` row; an erroneous operand gives an erroneous value."""
    values = [v for v in operands if isinstance(v, Known | Size | Tensor)]
    return POISON if len(values) < len(operands) else apply_operator(k, site, op, values)


def _as_float(k: Builder, site: Site, value: Numeric, common: Common) -> Numeric:
    """Integers and bool compute in f64; weak numbers become weak floats on their own."""
    return value if common.dtype.is_float or common.weak else convert(k, site, value, F64)


def check_softplus(k: Builder, site: Site, args: Args) -> Value:
    """`log(1 + exp(x))` as `maximum(x, 0) + log1p(exp(-abs(x)))`, in which nothing overflows."""
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    x = _as_float(k, site, value, common_type([value]))
    return apply(k, site, "add", apply(k, site, "maximum", x, Known(0)), _log1p_exp_minus(k, site, x))


def check_logaddexp(k: Builder, site: Site, args: Args) -> Value:
    """`log(exp(a) + exp(b))`. Equal operands, infinities among them, give `a + log(2)`."""
    a, b = numeric(k, args["x1"], site), numeric(k, args["x2"], site)
    if a is None or b is None:
        return POISON
    common = common_type([a, b])
    if common.widened:
        warn_widening(k, [a, b], site)
        a, b = (v if isinstance(v, Known) else convert(k, site, v, F64) for v in (a, b))
    a, b = (_as_float(k, site, v, common) for v in (a, b))
    apart = apply(
        k,
        site,
        "add",
        apply(k, site, "maximum", a, b),
        _log1p_exp_minus(k, site, apply(k, site, "subtract", a, b)),
    )
    return apply(k, site, "where", apply(k, site, "equal", a, b), apply(k, site, "add", a, Known(LN2)), apart)


def _log1p_exp_minus(k: Builder, site: Site, x: Value) -> Value:
    """`log1p(exp(-abs(x)))`."""
    distance = apply(k, site, "negative", apply(k, site, "abs", x))
    return apply(k, site, "log1p", apply(k, site, "exp", distance))
