"""concat, stack, pad, roll, tile and repeat."""

from __future__ import annotations

from programs.growing import LITERALS, Kernel, statement
from tensorc.dtypes import promote

Shape = tuple[str, ...]


def _added(*extents: str) -> str:
    return str(sum(map(int, extents))) if all(e.isdecimal() for e in extents) else "+".join(extents)


def _times(count: int, extent: str) -> str:
    return str(count * int(extent)) if extent.isdecimal() else extent if count == 1 else f"{count}*({extent})"


@statement(3)
def stack(k: Kernel) -> None:
    x = k.term()
    if x is None or len(x.shape) > 2:
        return
    y = k.pick([t for t in k.terms if t.shape == x.shape])
    at = k.random.randrange(len(x.shape) + 1)
    shape = (*x.shape[:at], "2", *x.shape[at:])
    k.assign(f"stack(({x.text}, {y.text}), axis={at})", promote(x.dtype, y.dtype), shape)


@statement(7)
def concat(k: Kernel) -> None:
    """Two or three values that fit, a value with itself among them."""
    x = k.term(rank=1)
    if x is None:
        return
    rank = len(x.shape)
    at = k.random.randrange(rank)

    def others(shape: Shape) -> Shape:
        return (*shape[:at], *shape[at + 1 :])

    fits = [t for t in k.terms if len(t.shape) == rank and others(t.shape) == others(x.shape)]
    parts = [x, *(k.pick(fits) for _ in range(1 + k.random.randrange(2)))]
    k.random.shuffle(parts)
    dtype = parts[0].dtype
    for t in parts[1:]:
        dtype = promote(dtype, t.dtype)
    extent = _added(*(t.shape[at] for t in parts))
    texts = ", ".join(t.text for t in parts)
    written = at - rank if k.chance(30) else at
    k.assign(f"concat(({texts}), axis={written})", dtype, (*x.shape[:at], extent, *x.shape[at + 1 :]))


@statement(5)
def pad(k: Kernel) -> None:
    x = k.term(rank=1)
    if x is None:
        return
    mode = k.pick(("constant", "constant", "constant", "edge", "reflect", "wrap"))
    widths = [(k.pick((0, 0, 1, 1, 2, 5)), k.pick((0, 1, 1, 3))) for _ in x.shape]
    if mode != "constant":  # nothing to repeat is a compile error where it is plain
        widths = [(0, 0) if e == "0" else w for e, w in zip(x.shape, widths, strict=True)]
    value = f", value={k.pick(LITERALS[x.dtype.kind])}" if mode == "constant" and k.chance(60) else ""
    shape = tuple(e if w == (0, 0) else _added(e, str(sum(w))) for e, w in zip(x.shape, widths, strict=True))
    k.assign(f'pad({x.text}, ({", ".join(map(str, widths))},), mode="{mode}"{value})', x.dtype, shape)


@statement(5)
def shuffle(k: Kernel) -> None:
    """roll, tile and repeat."""
    x = k.term(rank=1)
    if x is None:
        return
    at = k.random.randrange(len(x.shape))
    match k.pick(("roll", "roll", "tile", "repeat")):
        case "roll":
            where = "" if k.chance(25) else f", axis={at}"
            k.assign(f"roll({x.text}, {k.pick((1, -1, 3, -20, 100))}{where})", x.dtype, x.shape)
        case "tile":
            counts = [k.pick((1, 1, 2, 3)) for _ in x.shape]
            shape = tuple(_times(c, e) for c, e in zip(counts, x.shape, strict=True))
            k.assign(f"tile({x.text}, ({', '.join(map(str, counts))},))", x.dtype, shape)
        case "repeat":
            count = k.pick((1, 2, 3))
            shape = (*x.shape[:at], _times(count, x.shape[at]), *x.shape[at + 1 :])
            k.assign(f"repeat({x.text}, {count}, axis={at})", x.dtype, shape)
