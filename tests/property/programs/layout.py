"""Views (slices, permutations, broadcasts) and creation."""

from __future__ import annotations

from math import prod

from programs.growing import Kernel, is_written, statement
from tensorc.dtypes import F32

SLICES = (
    (slice(1, -1), "1:-1"),
    (slice(None, -1), ":-1"),
    (slice(2, None), "2:"),
    (slice(None, None, 2), "::2"),
    (slice(None, None, -1), "::-1"),
    (slice(1, None, 3), "1::3"),
    (slice(-3, None), "-3:"),
    (slice(None, 4), ":4"),
)


@statement(9)
def cut(k: Kernel) -> None:
    x = k.term(rank=1)
    if x is None:
        return
    parts, shape = [], []
    for extent in x.shape:
        if extent.isdecimal() and int(extent) > 0 and k.chance(20):
            parts.append(str(k.pick((0, -1, int(extent) - 1))))
        elif k.chance(60):
            part, text = k.pick(SLICES)
            parts.append(text)
            shape.append(_sliced(extent, part, text))
        else:
            parts.append(":")
            shape.append(extent)
        if k.chance(8) and len(x.shape) < 3:
            parts.append("None")
            shape.append("1")
    k.assign(f"{x.text}[{', '.join(parts)}]", x.dtype, tuple(shape))


def _sliced(extent: str, part: slice, text: str) -> str:
    """The extent of `x[part]`: a number for a fixed one, else a text that only this slice gives."""
    if text == "::-1":
        return extent
    return str(len(range(int(extent))[part])) if extent.isdecimal() else f"{extent}[{text}]"


@statement(9)
def layout(k: Kernel) -> None:
    x = k.term(rank=1)
    if x is None:
        return
    rank = len(x.shape)
    options = ["expand"] if rank < 3 else []
    options += ["permute", "mT"] if rank >= 2 else []
    options += ["squeeze"] if "1" in x.shape else []
    options += ["flip"]
    options += ["triangle", "diagonal"] if rank >= 2 else []
    options += ["flat"] if is_written(x.shape) and rank == 2 else []
    options += ["broadcast"] if is_written(x.shape) and rank < 3 else []
    match k.pick(options or ["none"]):
        case "expand":
            axis = k.random.randrange(rank + 1)
            k.assign(f"expand_dims({x.text}, {axis})", x.dtype, (*x.shape[:axis], "1", *x.shape[axis:]))
        case "permute":
            order = list(range(rank))
            k.random.shuffle(order)
            k.assign(f"permute_dims({x.text}, {tuple(order)})", x.dtype, tuple(x.shape[a] for a in order))
        case "mT":
            k.assign(f"{x.text}.mT", x.dtype, (*x.shape[:-2], x.shape[-1], x.shape[-2]))
        case "flip":
            k.assign(f"flip({x.text}, axis={k.random.randrange(rank)})", x.dtype, x.shape)
        case "triangle":
            k.assign(f"{k.pick(('tril', 'triu'))}({x.text}, k={k.pick(('0', '1', '-1'))})", x.dtype, x.shape)
        case "diagonal":
            k.assign(f"diagonal({x.text})", x.dtype, (*x.shape[:-2], _smaller(x.shape[-2], x.shape[-1])))
        case "flat":
            count = " * ".join(x.shape)
            k.assign(f"reshape({x.text}, ({count},))", x.dtype, (_product(x.shape),))
        case "squeeze":
            axis = x.shape.index("1")
            k.assign(f"squeeze({x.text}, {axis})", x.dtype, (*x.shape[:axis], *x.shape[axis + 1 :]))
        case "broadcast":
            shape = (k.pick(("2", "3")), *x.shape)
            k.assign(f"broadcast_to({x.text}, ({', '.join(shape)}))", x.dtype, shape)


def _smaller(a: str, b: str) -> str:
    if a.isdecimal() and b.isdecimal():
        return str(min(int(a), int(b)))
    if "0" in (a, b):
        return "0"
    return a if a == b else f"min({a}, {b})"


def _product(shape: tuple[str, ...]) -> str:
    """A number where all are, else a text that only this product gives."""
    if all(s.isdecimal() for s in shape):
        return str(prod(int(s) for s in shape))
    return "product of " + " and ".join(shape)


@statement(3)
def create(k: Kernel) -> None:
    x = k.term(rank=1)
    if x is None or not is_written(x.shape):
        return
    if k.chance(30):
        text, shape = k.pick(
            (("zeros_like({x}) - 0.0", x.shape), ("full_like({x}, 3)", x.shape), ("ones_like({x})", x.shape))
        )
        if x.dtype.is_float:
            k.assign(text.format(x=x.text), x.dtype, shape)
    elif k.chance(20):
        k.assign(f"eye({x.shape[-1]}, dtype=f32)", F32, (x.shape[-1], x.shape[-1]))
    elif k.chance(60):
        k.assign(f"f32(arange({x.shape[-1]})) * 0.25", F32, x.shape[-1:])
    else:
        shape = f"({', '.join(x.shape)},)"
        k.assign(f"full({shape}, 1.5, dtype=f32)", F32, x.shape)
