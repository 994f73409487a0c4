"""Ranges of affine expressions over loops, and the part of the loops in which guards hold.

A guard is a polynomial that must be at least 0, affine in the loop axes (`program`). Where every guard is
about one axis with a number as its coefficient, those that hold are a box: a range of each axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tensorc.index_algebra import (
    ZERO,
    Poly,
    Sym,
    as_poly,
    axis,
    is_nonnegative,
    is_positive,
    maximum,
    minimum,
)
from tensorc.loop_ir.program import Gather, IndexValue, Inside, Load, ScalarAttrs


@dataclass(frozen=True, slots=True)
class AxisRange:
    """The values `first`, ..., `last` of a loop axis, `count` of them: none when `last` is below `first`."""

    first: Poly
    last: Poly
    count: Poly


Ranges = Mapping[str, AxisRange]


def whole_ranges(extents: Mapping[str, Poly]) -> dict[str, AxisRange]:
    """Every axis from 0 to its extent - 1."""
    return {name: AxisRange(ZERO, extent - 1, extent) for name, extent in extents.items()}


def box(guards: Sequence[Poly], extents: Mapping[str, Poly]) -> dict[str, AxisRange] | None:
    """For each axis the range in which the guards hold; None when they are no box.

    A guard without an axis holds everywhere or nowhere, which only the call knows: it is left out.
    """
    first: dict[str, Poly] = dict.fromkeys(extents, ZERO)
    last = {name: extent - 1 for name, extent in extents.items()}
    for guard in guards:
        names = guard.axes()
        if not names:
            continue
        factor = guard.coefficient(Sym(names[0], axis=True)).constant
        if len(names) > 1 or not factor:
            return None
        rest = guard - factor * axis(names[0])
        if factor > 0:
            first[names[0]] = maximum(first[names[0]], -(rest // factor))
        else:
            last[names[0]] = minimum(last[names[0]], rest // -factor)
    return {name: AxisRange(low, last[name], maximum(last[name] - low + 1, 0)) for name, low in first.items()}


def counted_elements(index: Poly, guards: Sequence[Poly], extents: Mapping[str, Poly]) -> Poly:
    """How many elements an access touches: the axes of its index, multiplied, each as far as the guards let
    it. Guards that are no box count as if they held everywhere."""
    ranges = box(guards, extents) or whole_ranges(extents)
    count = as_poly(1)
    for name in index.axes():
        count = count * ranges[name].count
    return count


def shift_to_box(load: Load, loops: Sequence[tuple[str, Poly]]) -> tuple[Poly, tuple[tuple[str, Poly], ...]]:
    """The load's index and its loops with each loop cut to where the guards hold, and begun there at 0."""
    ranges = box(load.guards, dict(loops)) if load.guards else None
    if ranges is None:
        return load.index, tuple(loops)
    moved = {Sym(name, axis=True): axis(name) + r.first for name, r in ranges.items() if r.first.terms}
    return load.index.substitute(moved), tuple((name, ranges[name].count) for name, _ in loops)


def index_polys(attrs: ScalarAttrs) -> tuple[Poly, ...]:
    """The polynomials in the loop axes that an operation of a body holds."""
    match attrs:
        case Load(_, index, guards):
            return (index, *guards)
        case IndexValue(index) | Gather(_, index, _):
            return (index,)
        case Inside(guards):
            return guards
        case _:
            return ()


# -- bounds ------------------------------------------------------------------------------------------


def lower_bound(p: Poly, ranges: Ranges) -> Poly:
    """A size that `p` is never below while its axes are in their (non-empty) ranges."""
    bound = p
    for name in p.axes():
        variable = Sym(name, axis=True)
        factor = p.coefficient(variable)
        ends = (ranges[name].first, ranges[name].last)
        if is_nonnegative(factor):
            bound = bound.substitute({variable: ends[0]})
        elif is_nonnegative(-factor):
            bound = bound.substitute({variable: ends[1]})
        else:
            bound = bound.substitute({variable: ZERO}) + minimum(factor * ends[0], factor * ends[1])
    return bound


def always_holds(guard: Poly, ranges: Ranges) -> bool:
    """True when the guard provably holds for all values of its axes."""
    return is_nonnegative(lower_bound(guard, ranges))


def never_holds(guard: Poly, ranges: Ranges) -> bool:
    """True when the guard provably fails for all values of its axes."""
    return is_positive(lower_bound(-guard, ranges))


def is_implied(guard: Poly, known: Iterable[Poly]) -> bool:
    """True when one of the guards `known` to hold is plainly at most `guard`."""
    return any(is_nonnegative(guard - other) for other in known)
