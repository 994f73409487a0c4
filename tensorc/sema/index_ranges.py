"""Between which values an index lies while its iterators run, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.index_algebra import (
    ZERO,
    Atom,
    FloorDiv,
    Mod,
    Poly,
    Sym,
    is_nonnegative,
    maximum,
    minimum,
)
from tensorc.tensor_ir.program import Shape


@dataclass(frozen=True, slots=True)
class IndexRange:
    """The lowest and the highest value, of a domain that is not empty; `exact` where both are reached."""

    low: Poly
    high: Poly
    exact: bool = True


def index_range(index: Poly, domain: Shape) -> IndexRange | None:
    """The range of an index over the iterators of `domain`; None where it has no closed form."""
    moving = [a for a in index.atoms() if _iterators(a)]
    rest = index
    low = high = ZERO
    exact = _are_apart(moving)
    for atom in moving:
        factor = _coefficient(index, atom)
        rest = rest - factor * Poly([(((atom, 1),), 1)])
        found = _atom_range(atom, domain)
        if found is None or factor.axes():
            return None
        exact = exact and found.exact
        ends = (factor * found.low, factor * found.high)
        if is_nonnegative(factor):
            low, high = low + ends[0], high + ends[1]
        elif is_nonnegative(-factor):
            low, high = low + ends[1], high + ends[0]
        else:
            low, high = low + minimum(*ends), high + maximum(*ends)
    if rest.axes():
        return None
    return IndexRange(rest + low, rest + high, exact)


def _iterators(atom: Atom) -> tuple[str, ...]:
    return Poly([(((atom, 1),), 1)]).axes()


def _coefficient(index: Poly, atom: Atom) -> Poly:
    """What multiplies `atom`, to the first power."""
    terms = [(m, c) for m, c in index.terms if (atom, 1) in m]
    return Poly((tuple(f for f in m if f != (atom, 1)), c) for m, c in terms)


def _are_apart(atoms: list[Atom]) -> bool:
    """True when no iterator is in two of them: then their extremes are reached together."""
    names = [name for atom in atoms for name in _iterators(atom)]
    return len(names) == len(set(names))


def _atom_range(atom: Atom, domain: Shape) -> IndexRange | None:
    match atom:
        case Sym(name):
            return IndexRange(ZERO, domain[int(name.removeprefix("i"))] - 1)
        case FloorDiv(num, den) if not den.axes():
            found = index_range(num, domain)
            return found and IndexRange(found.low // den, found.high // den, found.exact)
        case Mod(num, den) if not den.axes():
            return _remainder_range(num, den, domain)
        case _:
            return None


def _remainder_range(num: Poly, den: Poly, domain: Shape) -> IndexRange:
    """From 0 to `den - 1`, or to the highest `num` when that starts at 0 and moves in steps of 1."""
    found = index_range(num, domain)
    if found is None or not found.exact or found.low != 0 or len(num.axes()) != 1:
        return IndexRange(ZERO, den - 1, exact=False)
    steps = _coefficient(num, Sym(num.axes()[0], axis=True)) == 1
    return IndexRange(ZERO, minimum(found.high, den - 1), steps)
