"""Scans along any axis, alone and in the middle of what fuses with them."""

from __future__ import annotations

from programs.growing import Kernel, statement
from tensorc.dtypes import I64, U64

KINDS = {
    "f": ("sum", "sum", "prod", "max", "min"),
    "i": ("sum", "prod", "max", "min"),
    "b": ("sum", "max", "min"),
}


@statement(8)
def scan(k: Kernel) -> None:
    x = k.term(rank=1)
    if x is None:
        return
    kind = k.pick(KINDS[x.dtype.domain])
    rank = len(x.shape)
    axis = k.pick((rank - 1, k.random.randrange(rank)))
    where = f", axis={axis - rank if k.chance(40) else axis}" if rank > 1 or k.chance(50) else ""
    wide = kind in ("sum", "prod") and not x.dtype.is_float
    k.assign(
        f"cumulative_{kind}({x.text}{where})",
        (U64 if x.dtype.is_unsigned else I64) if wide else x.dtype,
        x.shape,
    )


@statement(4)
def running(k: Kernel) -> None:
    """A scan of something computed, used on elements and reduced again."""
    x = k.term("f", rank=1)
    if x is None:
        return
    text = k.pick(
        (
            "cumulative_sum(exp(-abs({x})), axis={a}) * {x}",
            "{x} - cumulative_max({x}, axis={a})",
            "cumulative_sum(cumulative_sum({x}, axis={a}), axis={b})",
            "cumulative_sum({x}, axis={a}) / (1 + sum(abs({x}), axis={a}, keepdims=true))",
            "{x} - mean(cumulative_sum({x}, axis={a}), axis={a}, keepdims=true)",
        )
    )
    a, b = (k.random.randrange(len(x.shape)) for _ in range(2))
    k.assign(text.format(x=x.text, a=a, b=b), x.dtype, x.shape)
