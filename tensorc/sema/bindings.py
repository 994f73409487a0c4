"""How a call finds the sizes: which axis binds which symbol, and which axes are only checked.

An axis that is just a symbol binds it; then an axis that is linear in one unbound symbol is solved for
it; every other axis is checked. An integer scalar parameter is a size too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensorc.index_algebra import ONE, ZERO, Poly, Sym, dim
from tensorc.signature import Binding, Param


@dataclass(frozen=True, slots=True)
class AxisPlace:
    param: int
    axis: int
    size: Poly


@dataclass(frozen=True, slots=True)
class Bindings:
    """`checked` are the axes that bind nothing; `unbound` the symbols that no parameter binds."""

    bindings: tuple[Binding, ...]
    checked: tuple[AxisPlace, ...]
    unbound: tuple[str, ...]


def find_bindings(params: Sequence[Param], scalars: Sequence[str]) -> Bindings:
    """Bind the symbols in the parameters' shapes. `scalars` names the integer scalars used as sizes."""
    positions = {p.name: k for k, p in enumerate(params)}
    found = [Binding(name, positions[name], None, ONE, ZERO) for name in scalars]
    bound = set(scalars)
    pending = [AxisPlace(k, a, size) for k, p in enumerate(params) for a, size in enumerate(p.shape)]
    pending = _bind_plain(pending, found, bound)
    progress = True
    while progress:
        pending, progress = _bind_linear(pending, found, bound)
    names = dict.fromkeys(n for place in pending for n in place.size.dims() if n not in bound)
    return Bindings(tuple(found), tuple(pending), tuple(names))


def _bind_plain(pending: list[AxisPlace], found: list[Binding], bound: set[str]) -> list[AxisPlace]:
    rest: list[AxisPlace] = []
    for place in pending:
        names = place.size.dims()
        if len(names) == 1 and names[0] not in bound and place.size == dim(names[0]):
            found.append(Binding(names[0], place.param, place.axis, ONE, ZERO))
            bound.add(names[0])
        else:
            rest.append(place)
    return rest


def _bind_linear(
    pending: list[AxisPlace], found: list[Binding], bound: set[str]
) -> tuple[list[AxisPlace], bool]:
    for place in pending:
        unbound = [n for n in place.size.dims() if n not in bound]
        if len(unbound) != 1 or not place.size.is_linear_in(Sym(unbound[0])):
            continue
        name = unbound[0]
        coefficient = place.size.coefficient(Sym(name))
        rest = place.size - coefficient * dim(name)
        found.append(Binding(name, place.param, place.axis, coefficient, rest))
        bound.add(name)
        return [p for p in pending if p is not place], True
    return pending, False
