"""Gathers: take, take_along_axis, and indices that are values in subscripts and index notation.

An index is brought into range of its axis by `%`, sometimes negative, and now and then left as it is, so that
the call may fail; an axis of size 0 has no valid index.
"""

from __future__ import annotations

from programs.growing import Kernel, Term, is_written, statement
from tensorc.dtypes import I64


def _index(k: Kernel, indices: str, extent: str) -> str:
    if k.chance(4):
        return indices
    if k.chance(30):
        return f"({indices}) % {extent} - {extent}"
    return f"({indices}) % {extent}"


def _source(k: Kernel, rank: int = 1) -> tuple[Term, int] | None:
    """An array and one of its axes whose size can be written."""
    x = k.term(rank=rank)
    if x is None:
        return None
    axes = [a for a, size in enumerate(x.shape) if is_written((size,)) and size != "0"]
    return (x, k.pick(axes)) if axes else None


@statement(5)
def take(k: Kernel) -> None:
    found, i = _source(k), k.term("i")
    if found is None or i is None or i.text in ("i32", "i64"):
        return
    x, axis = found
    shape = (*x.shape[:axis], *i.shape, *x.shape[axis + 1 :])
    if len(shape) > 3:
        return
    where = f", axis={axis - len(x.shape) if k.chance(30) else axis}" if len(x.shape) > 1 else ""
    k.assign(f"take({x.text}, {_index(k, i.text, x.shape[axis])}{where})", x.dtype, shape)


@statement(4)
def take_along_axis(k: Kernel) -> None:
    """With indices of the array's own rank, or those of its greatest elements."""
    found = _source(k)
    if found is None:
        return
    x, axis = found
    rest = [a for a in range(len(x.shape)) if a != axis]
    fits = [
        t
        for t in k.terms
        if t.dtype.kind == "i"
        and len(t.shape) == len(x.shape)
        and all(t.shape[a] == x.shape[a] or "1" in (t.shape[a], x.shape[a]) for a in rest)
    ]
    if fits and k.chance(70):
        i = k.pick(fits)
        shape = tuple(
            b if a == axis or s == "1" else s for a, (s, b) in enumerate(zip(x.shape, i.shape, strict=True))
        )
        text = _index(k, i.text, x.shape[axis])
        k.assign(f"take_along_axis({x.text}, {text}, axis={axis})", x.dtype, shape)
        return
    shape = tuple("1" if a == axis else s for a, s in enumerate(x.shape))
    best = f"argmax({x.text}, axis={axis}, keepdims=true)"
    k.assign(f"take_along_axis({x.text}, {best}, axis={axis})", x.dtype, shape)


@statement(2)
def subscript(k: Kernel) -> None:
    """`x[n]` with the value of a scalar."""
    found = _source(k)
    scalars = [t for t in k.terms if t.dtype.kind == "i" and not t.shape]
    if found is None or not scalars:
        return
    x, axis = found
    items = [":"] * len(x.shape)
    items[axis] = _index(k, k.pick(scalars).text, x.shape[axis])
    k.assign(f"{x.text}[{', '.join(items)}]", x.dtype, (*x.shape[:axis], *x.shape[axis + 1 :]))


@statement(5)
def notation(k: Kernel) -> None:
    """Rows by index, a bag of rows, elements repeated, cyclic access."""
    x = k.term("if", rank=1)
    indices = [t for t in k.terms if t.dtype.kind == "i" and len(t.shape) == 1 and is_written(t.shape)]
    if x is None or not is_written(x.shape) or "0" in x.shape or len(x.shape) > 2:
        return
    name = f"t{len(k.lines)}"
    first = x.shape[0]
    tail, more, over = ("", "", "") if len(x.shape) == 1 else (", j", ", j", f", j in {x.shape[1]}")
    if indices and k.chance(60):
        i = k.pick(indices)
        place = _index(k, f"{i.text}[a]", first)
        if k.chance(50) or not tail:
            _define(k, f"{name}[a{more}] = {x.text}[{place}{tail}] for a in {i.shape[0]}{over}", name, x)
            k.terms[-1] = Term(name, x.dtype, (i.shape[0], *x.shape[1:]))
        else:
            body = f"sum({x.text}[{place}, j] for a in {i.shape[0]})"
            _define(k, f"{name}[j] = {body} for j in {x.shape[1]}", name, x)
            dtype = x.dtype if x.dtype.is_float else I64
            k.terms[-1] = Term(name, dtype, x.shape[1:])
        return
    place, length = k.pick((("a // 2", f"2 * {first}"), ("(2*a + 1) // 3", first), (f"a % {first}", "9")))
    _define(k, f"{name}[a{more}] = {x.text}[{place}{tail}] for a in {length}{over}", name, x)
    size = str(2 * int(first)) if length[0] == "2" and first.isdecimal() and "*" in length else length
    k.terms[-1] = Term(name, x.dtype, (size, *x.shape[1:]))


def _define(k: Kernel, line: str, name: str, x: Term) -> None:
    k.lines.append(line)
    k.terms.append(Term(name, x.dtype, x.shape))
