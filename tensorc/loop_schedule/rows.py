"""Nests whose nodes share their outer axes: statistics in registers, swept values in a scratch row.

*Rewrite*: `for i { s[i] = sum_j x[i, j] } ; for i { for j { y[i, j] = x[i, j] / s[i] } }` ->
`for i { s = sum_j x[i, j] ; for j { y[i, j] = x[i, j] / s } }` (fusion at the outer loop, scalar replacement
of `s`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tensorc.index_algebra import Poly, Sym, as_poly, product
from tensorc.loop_ir.program import Axis, Buffer, Load, LoopNode
from tensorc.loop_schedule.program import (
    Accumulator,
    ColumnReduce,
    ColumnScan,
    Leaf,
    Parallel,
    RowReduce,
    Scratch,
    Serial,
    Stmt,
    Store,
    Vector,
)
from tensorc.loop_schedule.steps import Step, order_steps, rename_axes, renamed, sweep_axes
from tensorc.loop_schedule.values import Names, Scope
from tensorc.loop_schedule.whole import accumulator


def build_rows(
    nodes: Sequence[LoopNode], shared: int, buffers: Mapping[str, Buffer], arrays: frozenset[str]
) -> tuple[tuple[Stmt, ...], tuple[Scratch, ...]]:
    """The statements of a row nest, and the scratch memory one step needs."""
    return _RowNest(nodes, shared, buffers, arrays).build()


class _RowNest:
    """The state of one row nest: the outer step's statements so far, and where its buffers are."""

    def __init__(
        self,
        nodes: Sequence[LoopNode],
        shared: int,
        buffers: Mapping[str, Buffer],
        arrays: frozenset[str],
    ) -> None:
        self.nodes = nodes
        self.shared = shared
        self.buffers = buffers
        self.arrays = arrays
        self.axes = tuple(Axis(f"i{k}", a.extent) for k, a in enumerate(nodes[0].iter_axes[:shared]))
        self.names = Names()
        self.top = Scope(self.names, {})
        self.step = Scope(self.names, {a.name: 1 for a in self.axes}, self.top)
        self.statements: list[Stmt] = []
        self.values: dict[str, str] = {}
        self.writers = {n.buffer: n for n in nodes}
        self.home: dict[str, Step] = {}
        self.scratch: dict[str, Scratch] = {}

    def build(self) -> tuple[tuple[Stmt, ...], tuple[Scratch, ...]]:
        steps = order_steps(self.nodes, self.shared)
        self.home = {n.buffer: step for step in steps for n in step.nodes}
        self._find_scratch()
        for step in steps:
            if step.key is None:
                self._add_values(step)
            elif step.key[0] == "sweep":
                self._add_sweep(step)
            elif step.key[0] == "scan":
                self._add_inner_scan(step)
            elif step.key[0] == "rows":
                self._add_inner_rows(step)
            else:
                self._add_inner_columns(step)
        nest = Parallel(self.axes, tuple(self.statements))
        return (*self.top.take(0), nest), tuple(self.scratch.values())

    def _find_scratch(self) -> None:
        """Swept buffers that a later sweep reads and that are no arrays get scratch memory."""
        for node in self.nodes:
            for op in node.body:
                if not isinstance(op.attrs, Load) or op.attrs.buffer not in self.writers:
                    continue
                name = op.attrs.buffer
                rest = self.writers[name].iter_axes[self.shared :]
                if not rest or name in self.arrays or self.home[name] is self.home[node.buffer]:
                    continue
                extent = product(a.extent for a in rest)
                self.scratch[name] = Scratch(name, self.buffers[name].dtype, extent)

    def _read(self, load: Load) -> str | Load:
        """What a load (already renamed) reads: a register, scratch memory, or an array."""
        if load.buffer in self.values:
            return self.values[load.buffer]
        if load.buffer in self.scratch:
            return replace(load, index=self._inside(load.index))
        return load

    def _inside(self, index: Poly) -> Poly:
        """An index into a step's own part of a buffer."""
        return index.substitute({Sym(a.name, axis=True): as_poly(0) for a in self.axes})

    def _store(self, node: LoopNode, value: str) -> list[Stmt]:
        index = renamed(node.store_index, rename_axes(node, self.shared))
        dtype = self.buffers[node.buffer].dtype
        if node.buffer in self.arrays:
            return [Store(node.buffer, index, value, dtype)]
        if node.buffer in self.scratch:
            return [Store(node.buffer, self._inside(index), value, dtype)]
        return []

    def _add_values(self, step: Step) -> None:
        for node in step.nodes:
            value = self.step.add_body(node, rename_axes(node, self.shared), self._read)
            self.statements.extend(self.step.take(1))
            self.statements.extend(self._store(node, value))
            self.values[node.buffer] = value

    def _finish_reduction(self, node: LoopNode, name: str) -> list[Stmt]:
        """What follows a reduction that gives one value per step."""
        self.values[node.buffer] = name
        return self._store(node, name)

    def _add_sweep(self, step: Step) -> None:
        axes = sweep_axes(step.nodes[0], self.shared)
        scope = Scope(self.names, {a.name: 2 + k for k, a in enumerate(axes)}, self.step)
        local: dict[str, str] = {}
        stores: list[Stmt] = []
        accumulators: list[Accumulator] = []
        after: list[Stmt] = []
        for node in step.nodes:
            value = scope.add_body(
                node,
                rename_axes(node, self.shared),
                lambda load: local[load.buffer] if load.buffer in local else self._read(load),
            )
            if node.reduction is None:
                value = value if node.scan is None else scope.add_scan(node, value)
                local[node.buffer] = value
                stores.extend(self._store(node, value))
            else:
                accumulators.append(accumulator(node, value, self.names, 1, self.buffers))
                after.extend(self._finish_reduction(node, accumulators[-1].name))
        self.statements.extend(self.step.take(1))
        if accumulators:
            body = [let for k in range(len(axes)) for let in scope.take(2 + k)]
            self.statements.append(RowReduce(axes[:-1], axes[-1], (*body, *stores), tuple(accumulators)))
        else:
            self.statements.extend(_loops(axes, scope, stores))
        self.statements.extend(after)

    def _add_inner_rows(self, step: Step) -> None:
        """Reductions over the last axes for each of the axes kept inside the step."""
        kept, reduced = self._split(step)
        scope = Scope(self.names, {a.name: 2 for a in kept} | {a.name: 3 for a in reduced}, self.step)
        accumulators: list[Accumulator] = []
        after: list[Stmt] = []
        for node in step.nodes:
            value = scope.add_body(node, rename_axes(node, self.shared), self._read)
            accumulators.append(accumulator(node, value, self.names, 2, self.buffers))
            after.extend(self._store(node, accumulators[-1].name))
        self.statements.extend(self.step.take(1))
        per_row: list[Leaf] = scope.take(2)
        reduce = RowReduce(reduced[:-1], reduced[-1], tuple(scope.take(3)), tuple(accumulators))
        self.statements.extend(_serial(kept, (*per_row, reduce, *after)))

    def _add_inner_columns(self, step: Step) -> None:
        kept, reduced = self._split(step)
        scope = Scope(self.names, {a.name: 2 for a in (*kept, *reduced)}, self.step)
        accumulators: list[Accumulator] = []
        after: list[Stmt] = []
        for node in step.nodes:
            value = scope.add_body(node, rename_axes(node, self.shared), self._read)
            accumulators.append(accumulator(node, value, self.names, 2, self.buffers))
            after.extend(self._store(node, accumulators[-1].name))
        self.statements.extend(self.step.take(1))
        reduce = ColumnReduce(
            (), kept[-1], reduced[:-1], reduced[-1], tuple(scope.take(2)), tuple(accumulators), tuple(after)
        )
        self.statements.extend(_serial(kept[:-1], (reduce,)))

    def _add_inner_scan(self, step: Step) -> None:
        """Scans with several axes left: vectors along the last one, the scanned one in order."""
        node = step.nodes[0]
        assert node.scan is not None
        axes = sweep_axes(node, self.shared)
        place = node.scan.axis - self.shared
        scope = Scope(self.names, {a.name: 2 for a in axes}, self.step)
        local: dict[str, str] = {}
        stores: list[Stmt] = []
        for node in step.nodes:
            value = scope.add_body(
                node, rename_axes(node, self.shared), lambda load: local.get(load.buffer) or self._read(load)
            )
            local[node.buffer] = scope.add_scan(node, value)
            stores.extend(self._store(node, local[node.buffer]))
        self.statements.extend(self.step.take(1))
        body = (*scope.take(2), *stores)
        if place == len(axes) - 1:
            self.statements.extend(_serial(axes[:-1], (Vector(axes[-1], body),)))
        else:
            others = tuple(a for k, a in enumerate(axes[:-1]) if k != place)
            self.statements.extend(_serial(others, (ColumnScan((), axes[place], axes[-1], body),)))

    def _split(self, step: Step) -> tuple[tuple[Axis, ...], tuple[Axis, ...]]:
        """The axes a reduction keeps inside the step, and those it reduces."""
        axes = sweep_axes(step.nodes[0], self.shared)
        kept = len(step.nodes[0].iter_axes) - self.shared
        return axes[:kept], axes[kept:]


def _loops(axes: tuple[Axis, ...], scope: Scope, stores: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """Serial loops over all axes but the last, a vector loop over that; values at their own level."""
    levels = [scope.take(2 + k) for k in range(len(axes))]
    body: tuple[Stmt, ...] = (Vector(axes[-1], (*levels[-1], *stores)),)
    for k in range(len(axes) - 2, -1, -1):
        body = (Serial(axes[k], (*levels[k], *body)),)
    return body


def _serial(axes: Sequence[Axis], body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    for a in reversed(axes):
        body = (Serial(a, body),)
    return body
