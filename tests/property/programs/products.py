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


@statement(3)
def named_product(k: Kernel) -> None:
    """outer, vecdot, tensordot and einsum of what fits."""
    x = k.term("f", rank=1)
    if x is None:
        return
    same = [t for t in k.terms if t.dtype == x.dtype and len(t.shape) >= 1]
    y = k.pick(same)
    if len(x.shape) == len(y.shape) == 1:
        k.assign(f"outer({x.text}, {y.text})", x.dtype, (*x.shape, *y.shape))
    elif x.shape == y.shape:
        k.assign(f"vecdot({x.text}, {y.text})", x.dtype, x.shape[:-1])
    elif len(x.shape) == 2 and y.shape[:1] == x.shape[1:] and len(y.shape) < 3:
        k.assign(f"tensordot({x.text}, {y.text}, axes=1)", x.dtype, (x.shape[0], *y.shape[1:]))
    elif len(x.shape) == 2 and len(y.shape) == 2 and x.shape[0] == y.shape[0]:
        k.assign(f'einsum("ki,kj->ij", {x.text}, {y.text})', x.dtype, (x.shape[1], y.shape[1]))
