"""Nests of full reductions: one sweep in chunks for all threads, then scalar nodes on one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensorc.index_algebra import Sym, axis
from tensorc.loop_ir.program import Axis, Buffer, LoopNode
from tensorc.loop_schedule.program import Accumulator, RowReduce, Single, Stmt, Store
from tensorc.loop_schedule.values import Names, Scope


def build_whole(
    nodes: Sequence[LoopNode], buffers: Mapping[str, Buffer], arrays: frozenset[str]
) -> tuple[Stmt, ...]:
    """The statements of a nest of full reductions of one space."""
    first = next(n for n in nodes if n.reduction is not None)
    axes = tuple(Axis(f"r{k}", a.extent) for k, a in enumerate(first.reduce_axes))
    names = Names()
    top = Scope(names, {})
    sweep = Scope(names, {a.name: 1 for a in axes}, top)
    made: dict[str, str] = {}
    stores: list[Store] = []
    accumulators: list[Accumulator] = []
    for node in nodes:
        if not node.iter_axes and node.reduction is None:
            continue
        own = (*node.iter_axes, *node.reduce_axes)
        places = {Sym(a.name, axis=True): axis(b.name) for a, b in zip(own, axes, strict=True)}
        value = sweep.add_body(node, places, lambda load: made.get(load.buffer, load))
        if node.reduction is not None:
            accumulators.append(accumulator(node, value, names, 0, buffers))
            continue
        made[node.buffer] = value
        if node.buffer in arrays:
            index = node.store_index.substitute(places)
            stores.append(Store(node.buffer, index, value, buffers[node.buffer].dtype))
    body: tuple[Stmt, ...] = (*sweep.take(1), *stores)
    finish = finish_scalars(nodes, accumulators, Scope(names, {}), buffers, arrays)
    return (*top.take(0), RowReduce(axes[:-1], axes[-1], body, tuple(accumulators), True), Single(finish))


def finish_scalars(
    nodes: Sequence[LoopNode],
    accumulators: Sequence[Accumulator],
    scope: Scope,
    buffers: Mapping[str, Buffer],
    arrays: frozenset[str],
) -> tuple[Stmt, ...]:
    """The stores of the results, and the nodes that use them."""
    results = iter(accumulators)
    made: dict[str, str] = {}
    out: list[Stmt] = []
    for node in nodes:
        if node.iter_axes:
            continue
        if node.reduction is not None:
            made[node.buffer] = next(results).name
        else:
            made[node.buffer] = scope.add_body(node, {}, lambda load: made.get(load.buffer, load))
            out.extend(scope.take(0))
        if node.buffer in arrays:
            dtype = buffers[node.buffer].dtype
            out.append(Store(node.buffer, node.store_index, made[node.buffer], dtype))
    return tuple(out)


def accumulator(
    node: LoopNode, value: str, names: Names, level: int, buffers: Mapping[str, Buffer]
) -> Accumulator:
    """The accumulator of a reduction node whose body's value is `value`; its result stands at `level`."""
    assert node.reduction is not None
    return Accumulator(
        names.fresh(level),
        node.reduction.kind,
        value,
        node.body[node.result].dtype,
        buffers[node.buffer].dtype,
        node.reduction.correction,
    )
