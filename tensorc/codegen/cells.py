"""The parts of a loop in which the guards of its body are decided, and the test that a step lies in one.

Guards are tests `form >= threshold`, where the form is a sum of axes with numbers as factors. Thresholds of
one form that are a few elements apart (as in a stencil) make a cluster. Between two clusters no guard
changes: that is a cell of the form, and cells of a body are the combinations of its forms' cells. A step in
no cell runs the body as it is, guard by guard, so that cells are a matter of speed only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product as combinations

from tensorc.codegen.c_ast import Binary, Expr, If, Integer
from tensorc.codegen.c_ast import Stmt as CStmt
from tensorc.codegen.context import Context
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.specialize import Conditions, specialize
from tensorc.index_algebra import ZERO, Poly, Sym, axis
from tensorc.loop_ir.guards import Ranges, lower_bound, whole_ranges
from tensorc.loop_ir.program import Load
from tensorc.loop_schedule.program import Let, Stmt

MOST_CELLS = 6
MOST_VALUES = 600
"""At most so many cells a body, and so many values in all of them."""
MOST_CLUSTERS = 4 * MOST_CELLS
"""Of one form: more make more cells than that."""
NEAR = 16
TYPICAL = 1024


@dataclass(frozen=True, slots=True)
class Span:
    """What one step covers of an axis: `width` elements from `at`."""

    at: Expr
    width: Expr


@dataclass(frozen=True, slots=True)
class Threshold:
    """The guard is `form >= value`, or its opposite."""

    guard: Poly
    form: Poly
    value: Poly
    opposite: bool


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """Guards that are decided where every test holds: `above[k]` says that a form is at least a size, `below`
    that it is less."""

    known: Mapping[Poly, bool]
    above: tuple[tuple[Poly, Poly], ...]
    below: tuple[tuple[Poly, Poly], ...]


def guards_of(body: Sequence[Stmt], conditions: Conditions) -> tuple[Poly, ...]:
    """The guards that decide what a body reads and chooses, each once."""
    found: dict[Poly, None] = {}
    for s in body:
        if not isinstance(s, Let):
            continue
        if isinstance(s.attrs, Load):
            found |= dict.fromkeys(s.attrs.guards)
        for name in (s.name, *s.args):
            found |= dict.fromkeys(conditions.get(name, ()))
    return tuple(found)


def find_cells(body: Sequence[Stmt], guards: Sequence[Poly], context: Context) -> tuple[Cell, ...]:
    """The cells of a body that are worth a copy of it, for these guards of its own."""
    forms: dict[Poly, list[Threshold]] = {}
    for t in (_threshold(g) for g in guards):
        if t is not None:
            forms.setdefault(t.form, []).append(t)
    clusters = [_clusters(thresholds) for thresholds in forms.values()]
    if not clusters or any(len(c) > MOST_CLUSTERS for c in clusters):
        return ()
    ranges = whole_ranges(context.extents)
    cells = [_joined(parts) for parts in combinations(*(_form_cells(c, ranges) for c in clusters))]
    reading = [c for c in cells if _reads(body, c)] or cells
    if len(reading) > MOST_CELLS:
        return ()
    size = sum(len(specialize(body, context.conditions, c.known)[0]) for c in reading)
    return tuple(reading) if size <= MOST_VALUES else ()


def is_exhaustive(cells: Sequence[Cell]) -> bool:
    """True for the two sides of one threshold: of a step that is one element wide there is nothing else."""
    if len(cells) != 2:
        return False
    first, second = cells
    return not first.above and first.below == second.above and len(first.below) == 1 and not second.below


def cell_test(cell: Cell, spans: Mapping[str, Span], context: Context) -> Expr:
    """Whether a step lies in the cell; an axis that is not in `spans` stands still."""
    tests = [
        Binary("<=", size_expr(value, context.names), _extreme(form, spans, context, highest=False))
        for form, value in cell.above
    ]
    tests += [
        Binary("<", _extreme(form, spans, context, highest=True), size_expr(value, context.names))
        for form, value in cell.below
    ]
    return reduce(lambda a, b: Binary("&&", a, b), tests)


def _extreme(form: Poly, spans: Mapping[str, Span], context: Context, highest: bool) -> Expr:
    """The lowest or the highest value of a form in a step."""
    total: Expr | None = None
    for name in form.axes():
        factor = form.coefficient(Sym(name, axis=True)).constant
        assert factor is not None, "forms have numbers as factors"
        span = spans.get(name)
        at = size_expr(axis(name), context.names) if span is None else span.at
        if span is not None and (factor > 0) == highest:
            at = Binary("+", at, Binary("-", span.width, Integer(1)))
        term = at if factor == 1 else Binary("*", at, size_expr(Poly([((), factor)]), {}))
        total = term if total is None else Binary("+", total, term)
    assert total is not None, "a form has an axis"
    return total


def _threshold(guard: Poly) -> Threshold | None:
    """The guard as a test of a form; None when a size multiplies an axis, or no axis occurs."""
    form = ZERO
    for name in guard.axes():
        variable = Sym(name, axis=True)
        factor = guard.coefficient(variable).constant
        if factor is None:
            return None
        form = form + factor * axis(name)
    if not form.terms:
        return None
    rest = guard - form
    if form.terms[0][1] > 0:
        return Threshold(guard, form, -rest, opposite=False)
    # rest - form >= 0 is not (form >= rest + 1)
    return Threshold(guard, -form, rest + 1, opposite=True)


def _form_cells(clusters: Sequence[Sequence[Threshold]], ranges: Ranges) -> list[Cell]:
    """The cells of a form; those of a few elements only where there are no others."""
    form = clusters[0][0].form
    found: list[Cell] = []
    large: list[Cell] = []
    first, last = lower_bound(form, ranges), -lower_bound(-form, ranges)
    for count in range(len(clusters) + 1):
        passed = [t for c in clusters[:count] for t in c]
        ahead = [t for c in clusters[count:] for t in c]
        known = {t.guard: not t.opposite for t in passed} | {t.guard: t.opposite for t in ahead}
        above = tuple(dict.fromkeys((form, _outermost(c, highest=True)) for c in clusters[:count]))
        below = tuple(dict.fromkeys((form, _outermost(c, highest=False)) for c in clusters[count:]))
        begin = above[-1][1] if above else first
        end = below[0][1] if below else last + 1
        found.append(Cell(known, above, below))
        if not _is_few(end - begin):
            large.append(found[-1])
    return large or found


def _is_few(count: Poly) -> bool:
    return count.constant is not None and count.constant <= NEAR


def _clusters(thresholds: Sequence[Threshold]) -> list[list[Threshold]]:
    """Thresholds that are close to each other, the clusters in the order of their typical places."""
    clusters: list[list[Threshold]] = []
    alike: dict[Poly, list[list[Threshold]]] = {}
    for t in sorted(thresholds, key=lambda t: _typical(t.value)):
        place = t.value.constant_term
        others = alike.setdefault(t.value - place, [])
        near = next((c for c in others if abs(c[-1].value.constant_term - place) <= NEAR), None)
        if near is None:
            others.append([t])
            clusters.append(others[-1])
        else:
            near.append(t)
    return clusters


def _typical(size: Poly) -> int:
    return size.estimate(dict.fromkeys(size.dims(), TYPICAL))


def _outermost(cluster: Sequence[Threshold], highest: bool) -> Poly:
    return (max if highest else min)((t.value for t in cluster), key=_typical)


def _joined(parts: Sequence[Cell]) -> Cell:
    known: dict[Poly, bool] = {}
    for part in parts:
        known |= part.known
    return Cell(known, tuple(t for p in parts for t in p.above), tuple(t for p in parts for t in p.below))


def _reads(body: Sequence[Stmt], cell: Cell) -> bool:
    """True when a guarded load reads there."""
    loads = (s.attrs for s in body if isinstance(s, Let) and isinstance(s.attrs, Load) and s.attrs.guards)
    return any(all(cell.known.get(g, True) for g in load.guards) for load in loads)


Emit = Callable[[Sequence[Stmt], Mapping[str, str]], list[CStmt]]
"""Writes a body; the mapping says what stands for the values that a special one no longer has."""


def emit_by_cells(
    body: Sequence[Stmt],
    guards: Sequence[Poly],
    spans: Mapping[str, Span],
    context: Context,
    emit: Emit,
    results: Iterable[str] = (),
) -> list[CStmt]:
    """A body once for each of its cells, behind the cell's test, and as it is where no test holds."""
    cells = find_cells(body, guards, context)
    complete = not spans and is_exhaustive(cells)
    chain = [] if complete else emit(body, {})
    for cell in reversed(cells):
        special = emit(*specialize(body, context.conditions, cell.known, results))
        last = complete and cell is cells[-1]
        chain = special if last else [If(cell_test(cell, spans, context), tuple(special), tuple(chain))]
    return chain
