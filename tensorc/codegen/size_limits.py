"""Which sizes of a kernel a call must keep within 64 bits, since the generated code computes them so.

Sums and products wrap and stay right modulo 2^64, so only their final values count: of sizes, of guards, and
of what `//`, `%`, `min` and `max` are taken of. Interval arithmetic settles most of them: a size of an array
is below 2^47, an integer parameter that is a size below 2^63. The rest are found again in floating point at
the call, which is refused where one of them comes near 2^63.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tensorc.index_algebra import Atom, FloorDiv, MinMax, Mod, Poly, Sym, operands, product
from tensorc.loop_ir.guards import Ranges, index_polys, lower_bound, whole_ranges
from tensorc.loop_ir.program import Gather, IndexValue, Inside, Load, Place
from tensorc.loop_schedule.program import Let, Matmul, Nest, NestProgram, Store
from tensorc.loop_schedule.walk import loop_axes, walk
from tensorc.signature import Signature

ARRAY_LIMIT: Final = 2**47
"""No array in memory has so many elements along an axis."""


@dataclass(frozen=True, slots=True)
class Interval:
    low: int
    high: int

    @property
    def fits(self) -> bool:
        return self.low >= -(2**63) and self.high < 2**63


def unsettled_sizes(program: NestProgram) -> tuple[Poly, ...]:
    """The polynomials that may leave 64 bits in some call, each after those that it is made of."""
    intervals = Intervals(_dim_intervals(program.signature))
    order: dict[Poly, None] = {}
    for size in _sizes(program):
        _add_inside_out(size, order)
    return tuple(p for p in order if not intervals.of(p).fits)


def _dim_intervals(signature: Signature) -> dict[str, Interval]:
    scalars = {p.name for p in signature.params if not p.shape}
    found: dict[str, Interval] = {}
    for d in signature.dims:
        limit = 2**63 - 1 if d.name in scalars else ARRAY_LIMIT
        found[d.name] = Interval(0, limit) if d.fixed is None else Interval(d.fixed, d.fixed)
    return found


# -- what is computed --------------------------------------------------------------------------------


def _sizes(program: NestProgram) -> Iterator[Poly]:
    """Without loop axes: bounds of those that have some."""
    for check in program.signature.checks:
        if check.kind != "axis":
            for relation in check.relations:
                yield from (relation.left, relation.right)
    for b in program.buffers:
        yield from b.shape
    for nest in program.nests:
        yield from _nest_sizes(nest)


def _nest_sizes(nest: Nest) -> Iterator[Poly]:
    statements = list(walk(nest.body))
    ranges = whole_ranges({a.name: a.extent for s in statements for a in loop_axes(s)})
    yield from (piece.extent for piece in nest.scratch)
    for s in statements:
        extents = [a.extent for a in loop_axes(s)]
        yield from extents
        yield product(extents)
        if isinstance(s, Store):
            yield from _bounds_of_atoms(s.index, ranges)
        elif isinstance(s, Matmul):
            yield from (s.node.m, s.node.n, s.node.k, product(a.extent for a in s.node.batch) * s.node.m)
        elif isinstance(s, Let):
            yield from _let_sizes(s, ranges)


def _let_sizes(let: Let, ranges: Ranges) -> Iterator[Poly]:
    for poly in index_polys(let.attrs):
        yield from _bounds_of_atoms(poly, ranges)
    match let.attrs:
        case Load(_, _, guards) | Inside(guards):
            for guard in guards:
                yield from _bounds(guard, ranges)
        case IndexValue(index) if not index.axes():
            yield index
        case Place():
            yield let.attrs.extent
        case Gather():
            yield from let.attrs.strides
        case _:
            pass


def _bounds(poly: Poly, ranges: Ranges) -> Iterator[Poly]:
    if not poly.axes():
        yield poly
        return
    yield lower_bound(poly, ranges)
    yield -lower_bound(-poly, ranges)


def _bounds_of_atoms(poly: Poly, ranges: Ranges) -> Iterator[Poly]:
    """Of what quotients, remainders and extremes in it are taken of."""
    for atom in poly.atoms():
        for part in operands(atom):
            yield from _bounds_of_atoms(part, ranges)
            yield from _bounds(part, ranges)


def _add_inside_out(poly: Poly, order: dict[Poly, None]) -> None:
    """Add the polynomial after those inside its atoms."""
    if poly in order:
        return
    for atom in poly.atoms():
        for part in operands(atom):
            _add_inside_out(part, order)
    order[poly] = None


# -- intervals ---------------------------------------------------------------------------------------


class Intervals:
    """What polynomials can be whose dims are in the intervals `dims`."""

    def __init__(self, dims: Mapping[str, Interval]) -> None:
        self.dims = dims
        self.known: dict[Poly, Interval] = {}

    def of(self, poly: Poly) -> Interval:
        if poly not in self.known:
            self.known[poly] = self._sum(poly)
        return self.known[poly]

    def _sum(self, poly: Poly) -> Interval:
        low = high = 0
        for monomial, c in poly.terms:
            ends = [c]
            for atom, power in monomial:
                factor = self._atom(atom)
                for _ in range(power):
                    ends = _extremes(end * f for end in ends for f in (factor.low, factor.high))
            low, high = low + min(ends), high + max(ends)
        return Interval(low, high)

    def _atom(self, atom: Atom) -> Interval:
        match atom:
            case Sym(name):
                return self.dims[name]
            case FloorDiv(num, den):
                n, most = self._checked(num), max(-self._checked(num).low, self._checked(num).high)
                if self._checked(den).low >= 0:
                    return Interval(min(n.low, 0), max(n.high, 0))
                return Interval(-most, most)
            case Mod(_, den):
                d = self._checked(den)
                return Interval(min(d.low + 1, 0), max(d.high - 1, 0))
            case MinMax(which, args):
                pick = min if which == "min" else max
                parts = [self._checked(a) for a in args]
                return Interval(pick(p.low for p in parts), pick(p.high for p in parts))

    def _checked(self, poly: Poly) -> Interval:
        """What a call lets through: within 64 bits."""
        found = self.of(poly)
        return Interval(max(found.low, -(2**63)), min(found.high, 2**63 - 1))


def _extremes(values: Iterable[int]) -> list[int]:
    found = list(values)
    return [min(found), max(found)]
