"""Reductions, and the statistics of a row that are used on the row again."""

from __future__ import annotations

from programs.growing import Kernel, Term, statement
from tensorc.dtypes import BOOL, F64, I64, U64, DType

REDUCTIONS = {
    "f": (
        "sum",
        "sum",
        "prod",
        "max",
        "min",
        "mean",
        "var",
        "std",
        "argmax",
        "argmin",
        "logsumexp",
        "any",
        "all",
        "count_nonzero",
    ),
    "i": ("sum", "prod", "max", "min", "mean", "argmax", "argmin", "var", "count_nonzero", "any"),
    "b": ("any", "all", "sum", "count_nonzero", "mean", "max", "argmax"),
}


NEED_AN_ELEMENT = ("max", "min", "argmax", "argmin")
"""What an extent of 0 that is plain to see makes an error of the program."""


@statement(18)
def reduce(k: Kernel) -> None:
    x = k.term(rank=1)
    if x is None:
        return
    kind = k.pick(REDUCTIONS[x.dtype.domain])
    axes = [a for a in range(len(x.shape)) if k.chance(50)] or [k.random.randrange(len(x.shape))]
    whole = k.chance(15)
    if whole:
        axes = list(range(len(x.shape)))
    elif kind.startswith("arg"):
        axes = axes[:1]
    if kind in NEED_AN_ELEMENT and any(x.shape[a] == "0" for a in axes):
        kind = "any"
    keep = k.chance(35)
    shape = tuple("1" if n in axes else s for n, s in enumerate(x.shape) if keep or n not in axes)
    written = [a - len(x.shape) if k.chance(30) else a for a in axes]
    where = "" if whole else f", axis={written[0] if len(axes) == 1 else tuple(written)}"
    wide = kind in ("sum", "prod", "mean") and k.chance(10)
    extra = ", dtype=f64" if wide else ", correction=1" if kind in ("var", "std") and k.chance(40) else ""
    dtype = F64 if wide else _reduced(kind, x.dtype)
    k.assign(f"{kind}({x.text}{where}{extra}{', keepdims=true' if keep else ''})", dtype, shape)


def _reduced(kind: str, dtype: DType) -> DType:
    if kind in ("any", "all"):
        return BOOL
    if kind.startswith("arg") or kind == "count_nonzero":
        return I64
    if kind in ("sum", "prod"):
        return dtype if dtype.is_float else U64 if dtype.is_unsigned else I64
    return dtype if dtype.is_float or kind in ("max", "min") else F64


@statement(7)
def rows(k: Kernel) -> None:
    """A statistic of every row, used on the row again: what fuses into one row loop."""
    x = k.term("f", rank=2)
    if x is None or x.shape[-1] == "0":
        return
    text = k.pick(("centred({x})", "{x} / (1 + sum(abs({x}), axis=-1, keepdims=true))",
                   "exp({x} - max({x}, axis=-1, keepdims=true))", "{x} * mean({x}, axis=0)"))  # fmt: skip
    k.assign(text.format(x=x.text), x.dtype, x.shape)


@statement(3)
def pair(k: Kernel) -> None:
    """A `def` with two results."""
    x = k.term("f", rank=1)
    if x is None or x.shape[-1] == "0":
        return
    first, second = f"t{len(k.lines)}", f"u{len(k.lines)}"
    k.lines.append(f"{first}, {second} = spread({x.text})")
    shape = (*x.shape[:-1], "1")
    k.terms.extend(Term(name, x.dtype, shape) for name in (first, second))
