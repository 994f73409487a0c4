"""The loops of a node as its dependencies see them: unit loops dropped, ordered by strides, merged.

Loops are (name, extent), outermost first; an index is a polynomial, affine in the loop names.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from tensorc.index_algebra import ZERO, Poly, Sym
from tensorc.scheduler.sizes import Figures

Loop = tuple[str, Poly]
Loops = tuple[Loop, ...]


def axis_symbol(name: str) -> Sym:
    return Sym(name, axis=True)


def drop_unit_loops(loops: Loops, indices: Sequence[Poly]) -> tuple[Loops, tuple[Poly, ...]]:
    """Loops of extent 1 run once, at 0."""
    unit = {axis_symbol(name): ZERO for name, extent in loops if extent == 1}
    if not unit:
        return loops, tuple(indices)
    kept = tuple(loop for loop in loops if loop[1] != 1)
    return kept, tuple(index.substitute(unit) for index in indices)


def order_loops(loops: Loops, accesses: Sequence[Poly], figures: Figures) -> Loops:
    """`loops` so that, of any two, the inner one has the smaller stride in the majority of `accesses`.

    A stride of 0 in the other loop counts for the loop; a tie keeps the source order. Strides are compared
    by size, at the figures. The majority need not be transitive: the order is then the sort's.
    """
    if len(loops) < 2:
        return loops
    strides = [
        [abs(figures.of(index.coefficient(axis_symbol(name)))) for index in accesses] for name, _ in loops
    ]

    def votes(a: int, b: int) -> int:
        return sum(sb == 0 or sa < sb for sa, sb in zip(strides[a], strides[b], strict=True))

    def compare(a: int, b: int) -> int:
        return (votes(b, a) - votes(a, b)) or b - a

    innermost_first = sorted(reversed(range(len(loops))), key=cmp_to_key(compare))
    return tuple(loops[k] for k in reversed(innermost_first))


def merge_loops(loops: Loops, indices: Sequence[Poly]) -> tuple[Loops, tuple[Poly, ...]]:
    """Merge neighbours that every index walks as one loop: `stride(outer) == stride(inner) * extent(inner)`.

    *Rewrite*: `i0 < n, i1 < m: a[m*i0 + i1]` -> `i1 < n*m: a[i1]` (loop collapsing).
    """
    merged: list[Loop] = []
    current = tuple(indices)
    for name, extent in loops:
        merged.append((name, extent))
        while len(merged) > 1 and _collapse(merged[-2], merged[-1], current):
            (outer, outer_extent), (inner, inner_extent) = merged[-2:]
            merged[-2:] = [(inner, outer_extent * inner_extent)]
            current = tuple(index.substitute({axis_symbol(outer): ZERO}) for index in current)
    return tuple(merged), current


def _collapse(outer: Loop, inner: Loop, indices: Sequence[Poly]) -> bool:
    a, b = axis_symbol(outer[0]), axis_symbol(inner[0])
    for index in indices:
        if index.coefficient(a) != index.coefficient(b) * inner[1]:
            return False
        if not (index.is_linear_in(a) and index.is_linear_in(b)):
            return False
    return True
