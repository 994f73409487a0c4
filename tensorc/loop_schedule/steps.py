"""Ordering the nodes of a row nest: values of one outer step, and sweeps over the axes that are left.

*Requires*: nodes of a `rows` nest in execution order. *Ensures*: a list of steps in which everything is
written before it is read; nodes that sweep the same space without waiting for each other share a sweep.
*Rewrite*: `for i { for j A } ; for i { for j B }` -> `for i { for j { A B } }` (loop fusion, level by level).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tensorc.index_algebra import Poly, Sym, as_poly, axis
from tensorc.loop_ir.program import Axis, LoopNode, Tree
from tensorc.scheduler.nest_shape import loads

SweepKey = tuple[str, tuple[Poly, ...], tuple[Poly, ...]]


@dataclass(slots=True, eq=False)
class Step:
    """One statement group of an outer step: a single value (`key` None), or a sweep of several nodes."""

    key: SweepKey | None
    nodes: list[LoopNode] = field(default_factory=list)


def order_steps(nodes: Sequence[LoopNode], shared: int) -> list[Step]:
    """The steps of a nest whose nodes share their first `shared` axes."""
    steps: list[Step] = []
    made: dict[str, tuple[Step, LoopNode]] = {}
    for node in nodes:
        key = sweep_key(node, shared)
        earliest = 0
        for read in loads(node):
            if read.buffer in made:
                step, writer = made[read.buffer]
                passes = (
                    step.key is not None and step.key == key and _forwards(read.index, node, writer, shared)
                )
                earliest = max(earliest, steps.index(step) + (0 if passes else 1))
        step = _place(steps, key, earliest)
        step.nodes.append(node)
        made[node.buffer] = (step, node)
    return steps


def _place(steps: list[Step], key: SweepKey | None, earliest: int) -> Step:
    if key is not None:
        for step in steps[earliest:]:
            if step.key == key:
                return step
    step = Step(key)
    steps.insert(earliest if key is None else len(steps), step)
    return step


def sweep_key(node: LoopNode, shared: int) -> SweepKey | None:
    """What a node sweeps inside one outer step; None for a single value.

    A reduction with nothing left to iterate, a pointwise node over the same extents and a scan of the only
    axis left have one key; scans with more axes left have sweeps of their own.
    """
    rest = tuple(a.extent for a in node.iter_axes[shared:])
    reduced = tuple(a.extent for a in node.reduce_axes)
    if node.scan is not None:
        scanned = as_poly(node.scan.axis - shared)
        return ("sweep", rest, ()) if len(rest) == 1 else ("scan", rest, (scanned,))
    if node.reduction is None:
        return ("sweep", rest, ()) if rest else None
    if node.reduction.tree is Tree.COLUMNS:
        return ("columns", rest, reduced)
    return ("rows", rest, reduced) if rest else ("sweep", reduced, ())


def rename_axes(node: LoopNode, shared: int) -> dict[Sym, Poly]:
    """The nest's names for a node's axes: `i0, ...` outside; inside, `k0, ...` kept and `r0, ...` reduced,
    or `j0, ...` in a sweep that pointwise nodes and reductions share."""
    names = {a.name: f"i{k}" for k, a in enumerate(node.iter_axes[:shared])}
    names |= {a.name: n.name for a, n in zip(_inner(node, shared), sweep_axes(node, shared), strict=True)}
    return {Sym(old, axis=True): axis(new) for old, new in names.items()}


def sweep_axes(node: LoopNode, shared: int) -> tuple[Axis, ...]:
    """The nest's names and extents of the axes a node has inside an outer step."""
    key = sweep_key(node, shared)
    inner = _inner(node, shared)
    if key is None or key[0] in ("sweep", "scan"):
        return tuple(Axis(f"j{k}", a.extent) for k, a in enumerate(inner))
    kept = len(node.iter_axes) - shared
    return tuple(Axis(f"k{k}" if k < kept else f"r{k - kept}", a.extent) for k, a in enumerate(inner))


def _inner(node: LoopNode, shared: int) -> tuple[Axis, ...]:
    return (*node.iter_axes[shared:], *node.reduce_axes)


def _forwards(index: Poly, reader: LoopNode, writer: LoopNode, shared: int) -> bool:
    """True when the reader's element is the one the writer makes in the same iteration of the sweep."""
    if writer.reduction is not None:
        return False
    return renamed(index, rename_axes(reader, shared)) == renamed(
        writer.store_index, rename_axes(writer, shared)
    )


def renamed(index: Poly, rename: Mapping[Sym, Poly]) -> Poly:
    return index.substitute(rename)
