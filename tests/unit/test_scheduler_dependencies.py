"""Normal forms of accesses: which are equal, which are not, and that normalising keeps the walk."""

from __future__ import annotations

from itertools import product as cartesian

from hypothesis import given
from hypothesis import strategies as st

from tensorc.dtypes import F32
from tensorc.index_algebra import Poly, Sym, as_poly, axis, dim
from tensorc.loop_ir.program import (
    Axis,
    IndexValue,
    Literal,
    Load,
    LoopNode,
    MatmulNode,
    NopNode,
    Reduction,
    ScalarOp,
    Tree,
)
from tensorc.scheduler.dependencies import (
    LoopGroup,
    MemoryDep,
    NodeDeps,
    StarDep,
    node_dependencies,
    print_dep,
    print_group,
)
from tensorc.scheduler.loop_order import order_loops
from tensorc.scheduler.sizes import Figures, choose_figures, fixed_sizes
from tensorc.signature import Dim, Signature
from tensorc.source import Source, Span

N, D, K = dim("N"), dim("D"), dim("K")
I0, I1, I2, R0, R1 = (axis(name) for name in ("i0", "i1", "i2", "r0", "r1"))
FIGURES = Figures({"N": 64, "D": 32, "K": 16}, ())


def loop_node(
    loads: list[tuple[str, Poly]],
    iterate: list[Poly | int],
    reduce: list[Poly | int] | None = None,
    store: Poly | None = None,
    values: list[Poly] | None = None,
) -> LoopNode:
    iter_axes = tuple(Axis(f"i{k}", as_poly(e)) for k, e in enumerate(iterate))
    reduce_axes = tuple(Axis(f"r{k}", as_poly(e)) for k, e in enumerate(reduce or ()))
    body = [ScalarOp("load", (), F32, Load(b, p)) for b, p in loads]
    body += [ScalarOp("index", (), F32, IndexValue(p)) for p in values or ()]
    body = body or [ScalarOp("constant", (), F32, Literal(0.0))]
    row_major = as_poly(0)
    for a in iter_axes:
        row_major = row_major * a.extent + axis(a.name)
    reduction = Reduction("sum", Tree.ROWS) if reduce_axes else None
    return LoopNode(
        "op0",
        "out",
        iter_axes,
        reduce_axes,
        tuple(body),
        0,
        row_major if store is None else store,
        reduction,
        (),
    )


def deps_of(node: LoopNode, fixed: dict[Sym, Poly] | None = None) -> NodeDeps:
    return node_dependencies(node, FIGURES, fixed or {})


def text(node: LoopNode) -> list[str]:
    own = deps_of(node)
    return [print_dep(d, None) for d in (*own.reads, *own.writes)]


def test_contiguous_loops_merge() -> None:
    own = deps_of(loop_node([("x", I0 * D + I1)], [N, D]))
    assert own.group == LoopGroup((N * D,), ())
    assert own.reads == (MemoryDep("x", axis("c0"), (("c0", N * D),)),)


def test_row_reduction_and_flat_loop_have_the_same_dependency() -> None:
    flat = deps_of(loop_node([("x", I0 * D + I1)], [N, D]))
    rows = deps_of(loop_node([("x", I0 * D + R0)], [N], [D]))
    whole = deps_of(loop_node([("x", R0 * D + R1)], [], [N, D]))
    assert flat.reads == rows.reads == whole.reads
    assert rows.group == LoopGroup((N,), (D,))
    assert whole.group == LoopGroup((), (N * D,))
    assert print_dep(whole.writes[0], None) == "MemoryDep('out', 0, {})"


def test_row_statistic_has_the_dependency_of_its_write() -> None:
    write = deps_of(loop_node([("x", I0 * D + R0)], [N], [D])).writes[0]
    read = deps_of(loop_node([("x", I0 * D + I1), ("out", I0)], [N, D])).reads[1]
    assert read == write


def test_column_statistic_keeps_the_leading_loop() -> None:
    node = loop_node([("x", I0 * D + I1), ("s", I1)], [N, D])
    assert text(node)[1] == "MemoryDep('s', c1, {c0: N, c1: D})"


def test_broadcast_operand_blocks_the_merge_of_the_node() -> None:
    own = deps_of(loop_node([("x", I0 * D + I1), ("b", I1)], [N, D]))
    assert own.group == LoopGroup((N, D), ())
    assert own.reads[0] == MemoryDep("x", axis("c0"), (("c0", N * D),))


def test_transposed_read_differs_and_a_tie_keeps_the_order() -> None:
    own = deps_of(loop_node([("x", I1 * D + I0)], [D, N]))
    assert own.group == LoopGroup((D, N), ())
    assert print_dep(own.reads[0], None) == "MemoryDep('x', c0 + D*c1, {c0: D, c1: N})"


def test_majority_of_strides_orders_the_loops() -> None:
    loads = [("x", I1 * D + I0), ("y", I1 * D + I0)]
    own = deps_of(loop_node(loads, [D, N]))
    assert own.reads[0] == MemoryDep("x", axis("c0"), (("c0", N * D),))
    assert print_dep(own.writes[0], None) == "MemoryDep('out', c0 + N*c1, {c0: N, c1: D})"
    assert own.group == LoopGroup((N, D), ())


def test_negative_strides_count_by_size() -> None:
    loops = (("i0", N), ("i1", D))
    reverse = D * N - 1 - (I0 * D + I1)
    assert order_loops(loops, [reverse, reverse], FIGURES) == loops


def test_three_loops_with_a_broadcast_middle() -> None:
    loads = [("a", I0 * K + R0), ("b", I1 * K + R0)]
    node = loop_node(loads, [N, D], [K])
    assert text(node) == [
        "MemoryDep('a', K*c0 + c2, {c0: N, c1: D, c2: K})",
        "MemoryDep('b', c1, {c0: N, c1: D*K})",
        "MemoryDep('out', c0, {c0: D*N})",
    ]


def test_unit_loops_are_dropped() -> None:
    own = deps_of(loop_node([("x", I0 * D + I1 * 5 + I2)], [N, 1, D]))
    assert own.group == LoopGroup((N * D,), ())


def test_slices_keep_their_offset() -> None:
    own = deps_of(loop_node([("x", I0 * D * 2 + I1), ("x", I0 * D * 2 + I1 + D)], [N, D]))
    assert len(own.reads) == 2
    assert own.group == LoopGroup((N, D), ())


def test_index_values_block_the_merge() -> None:
    plain = deps_of(loop_node([("x", I0 * D + I1)], [N, D]))
    indexed = deps_of(loop_node([("x", I0 * D + I1)], [N, D], values=[I1]))
    assert plain.group == LoopGroup((N * D,), ())
    assert indexed.group == LoopGroup((N, D), ())
    assert plain.reads == indexed.reads


def test_loads_of_one_element_count_once() -> None:
    own = deps_of(loop_node([("x", I0 * D + I1), ("x", I0 * D + I1)], [N, D]))
    assert len(own.reads) == 1


def test_elements_count_only_loops_of_the_index() -> None:
    own = deps_of(loop_node([("x", I0 * D + I1), ("b", I1)], [N, D]))
    assert own.reads[1] == MemoryDep("b", axis("c1"), (("c0", N), ("c1", D)))
    assert [d.elements() for d in own.reads if isinstance(d, MemoryDep)] == [N * D, D]


def test_whole_buffers() -> None:
    product = MatmulNode("op0", "out", Load("a", I0), Load("a", I0), (), N, K, D, ())
    own = node_dependencies(product, FIGURES, {})
    assert own == NodeDeps(None, (StarDep("a"),), (StarDep("out"),))
    empty = node_dependencies(NopNode("op0", "out", ()), FIGURES, {})
    assert empty == NodeDeps(None, (), (StarDep("out"),))


def test_fixed_sizes_become_numbers() -> None:
    span = Span(Source("t.tdsl", "k"), 0, 1)
    dims = (Dim("N", fixed=8), Dim("D", hint=4), Dim("K"))
    signature = Signature("k", (), (), dims, (), (), "", span)
    fixed = fixed_sizes(signature)
    own = deps_of(loop_node([("x", I1 * N + I0)], [N, D]), fixed)
    assert own.group == LoopGroup((as_poly(8), D), ())
    figures = choose_figures(signature)
    assert figures.values == {"N": 8, "D": 4, "K": 1024}
    assert figures.assumed == ("K",)


def test_printed_groups_look_like_tuples() -> None:
    assert print_group(LoopGroup((), (N * D,)), FIGURES) == "((), (2048,))"
    assert print_group(LoopGroup((N, D), ()), None) == "((N, D), ())"


@st.composite
def accesses(draw: st.DrawFn) -> tuple[list[int], int, Poly]:
    """Extents, how many of them iterate, and an index with contiguous and odd strides."""
    extents = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    iterating = draw(st.integers(0, len(extents)))
    names = [f"i{k}" if k < iterating else f"r{k - iterating}" for k in range(len(extents))]
    index = as_poly(draw(st.integers(0, 3)))
    stride = 1
    for name, extent in reversed(list(zip(names, extents, strict=True))):
        factor = draw(st.sampled_from([stride, stride, stride, 0, 1, 7, -1]))
        index = index + axis(name) * factor
        stride *= extent
    return extents, iterating, index


@given(accesses())
def test_normalising_keeps_the_order_of_the_walk(access: tuple[list[int], int, Poly]) -> None:
    """The dependency's loops touch the offsets of the node's loops, in the order that was chosen."""
    extents, iterating, index = access
    node = loop_node([("x", index)], list(extents[:iterating]), list(extents[iterating:]))
    loops = tuple((a.name, a.extent) for a in node.iter_axes if a.extent != 1)
    reduced = tuple((a.name, a.extent) for a in node.reduce_axes if a.extent != 1)
    figures = Figures({}, ())
    unit = {Sym(a.name, axis=True): as_poly(0) for a in (*node.iter_axes, *node.reduce_axes) if a.extent == 1}
    plain = [p.substitute(unit) for p in (index, node.store_index)]
    ordered = (*order_loops(loops, plain, figures), *order_loops(reduced, plain, figures))
    (dep,) = node_dependencies(node, figures, {}).reads
    assert isinstance(dep, MemoryDep)
    offsets = walk(plain[0], ordered)
    shorter = walk(dep.index, dep.ranges)
    assert len(offsets) % len(shorter) == 0
    repeats = len(offsets) // len(shorter)
    assert offsets == [offset for offset in shorter for _ in range(repeats)]


def walk(index: Poly, loops: tuple[tuple[str, Poly], ...]) -> list[int]:
    names = [name for name, _ in loops]
    spaces = [range(extent.constant or 0) for _, extent in loops]
    return [index.evaluate(dict(zip(names, point, strict=True))) for point in cartesian(*spaces)]
