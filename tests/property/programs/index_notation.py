"""Index notation: elements, stencils, reductions and contractions over named iterators."""

from __future__ import annotations

from programs.growing import Kernel, Term, is_written, statement
from tensorc.dtypes import BOOL, I64, U64, DType

ITERATORS = ("i", "j", "k")


def _written(k: Kernel, kinds: str, rank: int) -> Term | None:
    """A value whose extents can be written down."""
    x = k.term(kinds, rank)
    return x if x is not None and is_written(x.shape) else None


def _loops(shape: tuple[str, ...], names: tuple[str, ...] = ITERATORS) -> str:
    return ", ".join(f"{name} in {extent}" for name, extent in zip(names, shape, strict=False))


@statement(4)
def elements(k: Kernel) -> None:
    """An array by its elements: permuted, shifted, or from its iterators."""
    x = _written(k, "fi", 1)
    if x is None:
        return
    rank = len(x.shape)
    names = list(ITERATORS[:rank])
    target = list(range(rank))
    k.random.shuffle(target)
    read = ", ".join(names)
    body = k.pick((f"{x.text}[{read}] * 2 + i", f"-{x.text}[{read}]", f"where(i > 1, {x.text}[{read}], 0)"))
    extents = list(x.shape)
    axis = k.random.randrange(rank)
    if k.chance(40) and extents[axis] != "0":
        shifted = ", ".join(f"{n} + 1" if a == axis else n for a, n in enumerate(names))
        body = f"{x.text}[{read}] - {x.text}[{shifted}]"
        number = extents[axis].isdecimal()
        extents[axis] = str(int(extents[axis]) - 1) if number else f"{extents[axis]} - 1"
    name = f"t{len(k.lines)}"
    left = ", ".join(names[a] for a in target)
    k.lines.append(f"{name}[{left}] = {body} for {_loops(tuple(extents))}")
    k.terms.append(Term(name, x.dtype, tuple(extents[a] for a in target)))


@statement(4)
def comprehension(k: Kernel) -> None:
    """A reduction over the last iterator, for each of the first ones."""
    x = _written(k, "fi", 2)
    if x is None or x.shape[-1] == "0":
        return
    names = ITERATORS[: len(x.shape)]
    element = f"{x.text}[{', '.join(names)}]"
    kind = k.pick(("sum", "max", "min", "prod", "any"))
    body = k.pick((element, f"{element} + {names[0]}", f"abs({element})"))
    body = f"{element} > 0" if kind == "any" else body
    name = f"t{len(k.lines)}"
    outer = _loops(x.shape[:-1])
    inner = f"{names[-1]} in {x.shape[-1]}"
    k.lines.append(f"{name}[{', '.join(names[:-1])}] = {kind}({body} for {inner}) for {outer}")
    k.terms.append(Term(name, _reduced(kind, x.dtype), x.shape[:-1]))


def _reduced(kind: str, dtype: DType) -> DType:
    if kind == "any":
        return BOOL
    wide = U64 if dtype.is_unsigned else I64
    return wide if kind in ("sum", "prod") and not dtype.is_float else dtype


@statement(3)
def contraction(k: Kernel) -> None:
    """A sum of products, with or without the pattern of a matrix product."""
    x = _written(k, "f", 2)
    if x is None or len(x.shape) != 2:
        return
    same = [t for t in k.terms if t.dtype == x.dtype and len(t.shape) == 2 and is_written(t.shape)]
    y = k.pick(same)
    name = f"t{len(k.lines)}"
    factor = k.pick(("", "", " * 0.5"))
    if x.shape[1] == y.shape[0]:
        body, last = f"{x.text}[i, k] * {y.text}[k, j]{factor}", y.shape[1]
    elif x.shape[1] == y.shape[1]:
        body, last = f"{x.text}[i, k] * {y.text}[j, k]{factor}", y.shape[0]
    else:
        return
    k.lines.append(f"{name}[i, j] = sum({body} for k in {x.shape[1]}) for i in {x.shape[0]}, j in {last}")
    k.terms.append(Term(name, x.dtype, (x.shape[0], last)))


@statement(1)
def convolution(k: Kernel) -> None:
    """A window of three elements, weighted by a row of three."""
    x = _written(k, "f", 1)
    if x is None or len(x.shape) != 1 or (x.shape[0].isdecimal() and int(x.shape[0]) < 3):
        return
    extent = str(int(x.shape[0]) - 2) if x.shape[0].isdecimal() else f"{x.shape[0]} - 2"
    name = f"t{len(k.lines)}"
    k.lines.append(f"{name}[i] = sum({x.text}[i + u] * (u + 1) for u in 3) for i in {extent}")
    k.terms.append(Term(name, x.dtype, (extent,)))
