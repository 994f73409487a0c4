"""Matrix products."""

from __future__ import annotations

from programs.growing import Kernel, statement


@statement(4)
def matmul(k: Kernel) -> None:
    x = k.term("if", rank=2)
    if x is None:
        return
    y = k.pick([t for t in k.terms if len(t.shape) == len(x.shape) and t.dtype == x.dtype])
    if y.shape[:-2] != x.shape[:-2]:
        return
    if y.shape[-2] == x.shape[-1]:
        k.assign(f"{x.text} @ {y.text}", x.dtype, (*x.shape[:-1], y.shape[-1]))
    elif y.shape[-1] == x.shape[-1]:
        k.assign(f"{x.text} @ {y.text}.mT", x.dtype, (*x.shape[:-1], y.shape[-2]))
