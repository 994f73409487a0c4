"""Elementwise operations that are built of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tensorc.dtypes import computation_type
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import apply_operator, numeric, warn_widening
from tensorc.sema.promotion import float_type
from tensorc.sema.values import POISON, Arg, Known, Numeric, Size, Tensor, Value

Args = Mapping[str, Arg]

LN2 = 0.6931471805599453
SQRT1_2 = 0.7071067811865476


def apply(k: Builder, site: Site, op: str, *operands: Value) -> Value:
    """An `OPERATORS` row; an erroneous operand gives an erroneous value."""
    values = [v for v in operands if isinstance(v, Known | Size | Tensor)]
    return POISON if len(values) < len(operands) else apply_operator(k, site, op, values)


def compose(
    k: Builder, site: Site, operands: Sequence[Numeric], build: Callable[[Sequence[Numeric]], Value]
) -> Value:
    """What `build` makes of the operands as floats; of f16 and bf16 composed in f32 and rounded once."""
    common = float_type(operands)
    if common.widened:
        warn_widening(k, operands, site)
    if common.weak:
        return build(
            [Known(float(v.value)) if isinstance(v, Known) and v.kind == "b" else v for v in operands]
        )
    wide = computation_type(common.dtype)
    ready = [k.promote(k.materialize(v, common.dtype, site), wide, site) for v in operands]
    result = build(ready)
    return k.promote(result, common.dtype, site) if isinstance(result, Tensor) else result


def check_silu(k: Builder, site: Site, args: Args) -> Value:
    """`x * sigmoid(x)`."""
    value = numeric(k, args["x"], site)
    return POISON if value is None else compose(k, site, [value], lambda x: _silu(k, site, x[0]))


def _silu(k: Builder, site: Site, x: Numeric) -> Value:
    return apply(k, site, "multiply", x, apply(k, site, "sigmoid", x))


def check_gelu(k: Builder, site: Site, args: Args) -> Value:
    """`0.5 * x * (1 + erf(x * SQRT1_2))`, the exact form."""
    value = numeric(k, args["x"], site)
    return POISON if value is None else compose(k, site, [value], lambda x: _gelu(k, site, x[0]))


def _gelu(k: Builder, site: Site, x: Numeric) -> Value:
    inner = apply(k, site, "erf", apply(k, site, "multiply", x, Known(SQRT1_2)))
    half = apply(k, site, "multiply", Known(0.5), x)
    return apply(k, site, "multiply", half, apply(k, site, "add", Known(1), inner))


def check_softplus(k: Builder, site: Site, args: Args) -> Value:
    """`log(1 + exp(x))` as `maximum(x, 0) + log1p(exp(-abs(x)))`, in which nothing overflows."""
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    return compose(k, site, [value], lambda x: _softplus(k, site, x[0]))


def _softplus(k: Builder, site: Site, x: Numeric) -> Value:
    return apply(k, site, "add", apply(k, site, "maximum", x, Known(0)), _log1p_exp_minus(k, site, x))


def check_logaddexp(k: Builder, site: Site, args: Args) -> Value:
    """`log(exp(a) + exp(b))`. Equal operands, infinities among them, give `a + log(2)`."""
    a, b = numeric(k, args["x1"], site), numeric(k, args["x2"], site)
    if a is None or b is None:
        return POISON
    return compose(k, site, [a, b], lambda x: _logaddexp(k, site, *x))


def _logaddexp(k: Builder, site: Site, a: Numeric, b: Numeric) -> Value:
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
