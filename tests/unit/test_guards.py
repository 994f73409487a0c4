"""Guards: the part of the loops in which they hold, what is certain about them, and loops split by them."""

from __future__ import annotations

import itertools

import pytest

from tensorc.codegen.cells import find_cells, guards_of, is_exhaustive
from tensorc.codegen.context import Context
from tensorc.codegen.specialize import inside_conditions, specialize
from tensorc.driver import CompileOptions, compile_text
from tensorc.dtypes import F32
from tensorc.index_algebra import Poly, as_poly, axis, dim
from tensorc.loop_ir.guards import (
    always_holds,
    box,
    counted_elements,
    is_implied,
    never_holds,
    shift_to_box,
    whole_ranges,
)
from tensorc.loop_ir.program import Axis, Load, LoopNode, Origin, ScalarOp
from tensorc.loop_schedule.program import Let, Stmt, Vector
from tensorc.loop_schedule.walk import loads_in, walk
from tensorc.scheduler.nest_shape import NestShape, Refusal, nest_shape
from tensorc.source import Source, Span

N, M = dim("N"), dim("M")
AT, BY = axis("i"), axis("j")


def test_the_parts_of_a_join_are_boxes() -> None:
    extents = {"i": N + M, "j": dim("D")}
    assert counted_elements(AT, (N - 1 - AT,), extents) == N
    assert counted_elements(AT - N, (AT - N,), extents) == M
    assert counted_elements(3 * AT + BY, (AT - N,), extents) == M * dim("D")
    assert counted_elements(as_poly(0), (AT - N,), extents) == 1


GUARDS: tuple[tuple[Poly, ...], ...] = (
    (AT - 2,),
    (5 - AT,),
    (2 * AT - 3,),
    (7 - 3 * AT, AT - 1),
    (AT - 4, 3 - AT),
    (AT + 9,),
    (-AT - 1,),
)


@pytest.mark.parametrize("guards", GUARDS)
@pytest.mark.parametrize("extent", [0, 1, 4, 9])
def test_a_box_holds_what_the_guards_let_through(guards: tuple[Poly, ...], extent: int) -> None:
    found = box(guards, {"i": as_poly(extent)})
    assert found is not None
    first, count = found["i"].first.evaluate({}), found["i"].count.evaluate({})
    inside = [i for i in range(extent) if all(g.evaluate({"i": i}) >= 0 for g in guards)]
    assert inside == list(range(first, first + count))


@pytest.mark.parametrize("guards", GUARDS)
def test_what_is_certain_is_true(guards: tuple[Poly, ...]) -> None:
    for extent, guard in itertools.product((1, 4, 9), guards):
        ranges = whole_ranges({"i": as_poly(extent)})
        holds = [guard.evaluate({"i": i}) >= 0 for i in range(extent)]
        assert always_holds(guard, ranges) == all(holds)
        assert never_holds(guard, ranges) == (not any(holds))


def test_guards_over_two_axes_are_no_box() -> None:
    assert box((AT + BY - 1,), {"i": N, "j": M}) is None
    assert counted_elements(AT + BY, (AT + BY - 1,), {"i": N, "j": M}) == N * M
    assert not always_holds(AT + BY - 1, whole_ranges({"i": N, "j": M}))
    assert is_implied(AT + 3, (AT + 1,))
    assert not is_implied(AT + 1, (AT + 3,))


def test_a_dependency_begins_where_the_guards_do() -> None:
    index, loops = shift_to_box(Load("y", AT - N, (AT - N,)), (("i", N + M),))
    assert (index, loops) == (AT, (("i", M),))


# -- the body for a part of the loop -----------------------------------------------------------------


def _vector(text: str) -> tuple[Vector, tuple[Stmt, ...], Context]:
    """The innermost loop of a kernel's only nest, the nest, and what the code around it knows."""
    (program,) = compile_text(Source("t", f"kernel f{text}"), CompileOptions(until="loops")).nests
    (nest,) = program.nests
    (loop,) = (s for s in walk(nest.body) if isinstance(s, Vector))
    extents = {"c0": dim("N"), "c1": loop.axis.extent}
    statements = tuple(walk(nest.body))
    return loop, nest.body, Context({}, {}, conditions=inside_conditions(statements), extents=extents)


def test_each_part_of_a_join_reads_without_a_test() -> None:
    loop, _, context = _vector("(x: f32[N, D], y: f32[N, K]) { return concat((x, y), axis=1) }")
    cells = find_cells(loop.body, guards_of(loop.body, context.conditions), context)
    assert len(cells) == 2
    assert is_exhaustive(cells)
    for cell, name in zip(cells, "xy", strict=True):
        body, _ = specialize(loop.body, context.conditions, cell.known)
        assert [(read.buffer, read.guards) for read in loads_in(body)] == [(name, ())]
        assert len([s for s in body if isinstance(s, Let)]) == 1


def test_a_padded_stencil_has_one_part_worth_a_copy() -> None:
    text = "(x: f32[N, D]) { p = pad(x, 1); return p[:-2, 1:-1] + p[2:, 2:] }"
    loop, _, context = _vector(text)
    (cell,) = find_cells(loop.body, guards_of(loop.body, context.conditions), context)
    body, _ = specialize(loop.body, context.conditions, cell.known)
    assert len(loads_in(body)) == 2
    assert not any(read.guards for read in loads_in(body))
    assert not any(isinstance(s, Let) and s.op == "where" for s in body)


def test_a_stencil_over_a_join_keeps_its_three_arrays_apart() -> None:
    text = "(x: f32[N, D], y: f32[N, K], z: f32[N, K]) {"
    text += " c = concat((x, y, z), axis=1); return c[:, 1:] + c[:, :-1] }"
    loop, _, context = _vector(text)
    cells = find_cells(loop.body, guards_of(loop.body, context.conditions), context)
    names = [
        sorted({r.buffer for r in loads_in(specialize(loop.body, context.conditions, c.known)[0])})
        for c in cells
    ]
    assert names == [["x"], ["y"], ["z"]]


# -- fusion ------------------------------------------------------------------------------------------


def _reader(read: Load) -> tuple[LoopNode, LoopNode]:
    """A node that stores `y[i0, i1]` and one over the same loops that reads it so."""
    outer, inner = Axis("i0", N), Axis("i1", M)
    place = M * axis("i0") + axis("i1")
    origin = (Origin("copy", "", Span(Source("t", "x"), 0, 1)),)

    def node(name: str, buffer: str, load: Load) -> LoopNode:
        body = (ScalarOp("load", (), F32, load),)
        return LoopNode(name, buffer, (outer, inner), (), body, 0, place, None, origin)

    return node("op0", "y", Load("x", place)), node("op1", "z", read)


PLACE = M * axis("i0") + axis("i1")
SHIFTED = {
    # the index is the writer's in its stride over rows, and yet of the row before
    "row before": (Load("y", PLACE - M, (axis("i0") - 1,)), None),
    "half a row before": (Load("y", PLACE - 3, (axis("i0") - 1,)), None),
    "column before": (Load("y", PLACE - 1, (axis("i1") - 1,)), 1),
    "column after": (Load("y", PLACE + 1, (M - 2 - axis("i1"),)), 1),
    "same element": (Load("y", PLACE, (axis("i1") - 1,)), 2),
    "unknown": (Load("y", PLACE - 1, (axis("i0") + axis("i1") - 1,)), None),
}


@pytest.mark.parametrize("name", SHIFTED)
def test_a_guarded_read_must_be_shown_to_stay_in_its_step(name: str) -> None:
    read, shared = SHIFTED[name]
    shape = nest_shape(_reader(read))
    if shared is None:
        assert isinstance(shape, Refusal)
        assert shape.code == "TC2104"
        assert "under a condition" in shape.sentence
    else:
        assert isinstance(shape, NestShape)
        assert shape.shared == shared
