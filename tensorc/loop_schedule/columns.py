"""Nests of column reductions: strips of columns, all their rows, then what follows per column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensorc.index_algebra import Poly, Sym, axis
from tensorc.loop_ir.program import Axis, Buffer, LoopNode
from tensorc.loop_schedule.program import Accumulator, ColumnReduce, Stmt, Store
from tensorc.loop_schedule.values import Names, Scope
from tensorc.loop_schedule.whole import accumulator


def build_columns(
    nodes: Sequence[LoopNode], buffers: Mapping[str, Buffer], arrays: frozenset[str]
) -> tuple[Stmt, ...]:
    """The statements of a nest of column reductions and pointwise nodes on their results."""
    first = next(n for n in nodes if n.reduction is not None)
    kept = tuple(Axis(f"i{k}", a.extent) for k, a in enumerate(first.iter_axes))
    reduced = tuple(Axis(f"r{k}", a.extent) for k, a in enumerate(first.reduce_axes))
    names = Names()
    top = Scope(names, {})
    sweep = Scope(names, {a.name: 1 for a in (*kept, *reduced)}, top)
    accumulators: list[Accumulator] = []
    results: dict[str, str] = {}
    for node in nodes:
        if node.reduction is not None:
            value = sweep.add_body(node, _places(node, kept, reduced), lambda load: load)
            accumulators.append(accumulator(node, value, names, 1, buffers))
            results[node.buffer] = accumulators[-1].name
    after = Scope(names, {a.name: 1 for a in kept}, top)
    stores: list[Store] = []
    for node in nodes:
        places = _places(node, kept, reduced)
        if node.reduction is None:
            results[node.buffer] = after.add_body(node, places, lambda load: results.get(load.buffer, load))
        if node.buffer in arrays:
            index = node.store_index.substitute(places)
            stores.append(Store(node.buffer, index, results[node.buffer], buffers[node.buffer].dtype))
    nest = ColumnReduce(
        kept[:-1],
        kept[-1],
        reduced[:-1],
        reduced[-1],
        tuple(sweep.take(1)),
        tuple(accumulators),
        (*after.take(1), *stores),
        parallel=True,
    )
    return (*top.take(0), nest)


def _places(node: LoopNode, kept: Sequence[Axis], reduced: Sequence[Axis]) -> dict[Sym, Poly]:
    own = (*node.iter_axes, *node.reduce_axes)
    new = (*kept, *(reduced if node.reduction is not None else ()))
    return {Sym(a.name, axis=True): axis(b.name) for a, b in zip(own, new, strict=True)}
