"""Keeping a dear value in a result's own memory instead of computing it again in a later nest.

*Requires*: nests without barriers yet. *Ensures*: the same results, bit for bit, and no more memory.
*Rewrite*: `for c { s += f(x[c]) } ; for c { out[c] = g(f(x[c]), s) }` ->
`for c { t = f(x[c]); out[c] = t; s += t } ; for c { out[c] = g(out[c], s) }` (common subexpression over
nests, with the output as spill space).

Worth it when computing the value costs more than storing and loading it in cache, `KEEP_COST` operations;
beyond the cache the two take the same time (the sweep waits for memory either way).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tensorc.dtypes import DType
from tensorc.index_algebra import ONE, ZERO, Poly, Sym, axis, product
from tensorc.loop_ir.program import Axis, Buffer, Literal, Load, Role
from tensorc.loop_schedule.program import (
    Check,
    Kept,
    Let,
    Nest,
    Parallel,
    ParallelVector,
    RowReduce,
    Scan,
    Stmt,
    Store,
    Vector,
)
from tensorc.loop_schedule.traffic import moved_bytes
from tensorc.loop_schedule.values import renamed_attrs
from tensorc.loop_schedule.walk import read_buffers, used_values, written_buffers
from tensorc.operators import OPERATORS

KEEP_COST = 16
Key = tuple[object, ...]


def keep_values(
    nests: Sequence[Nest], buffers: Sequence[Buffer]
) -> tuple[tuple[Nest, ...], tuple[Kept, ...]]:
    """The nests with dear values kept, and what was kept."""
    out = list(nests)
    kept: list[Kept] = []
    outputs = {b.name: b.dtype for b in buffers if b.role is Role.OUTPUT}
    makers = [k for k, nest in enumerate(out) if _sweep(nest) is not None]
    for second, nest in enumerate(nests):
        if _flat_loop(nest) is None:
            continue
        for first in (k for k in makers if k < second):
            before = (out[first], out[second])
            found = _keep(out, first, second, outputs)
            if found is None:
                continue
            buffer, cost = found
            extra = _moved(buffers, out[first], out[second]) - _moved(buffers, *before)
            kept.append(Kept(out[first].name, out[second].name, buffer, cost, extra))
            break
    return tuple(out), tuple(kept)


def _moved(buffers: Sequence[Buffer], first: Nest, second: Nest) -> Poly:
    return moved_bytes(buffers, first) + moved_bytes(buffers, second)


def _keep(nests: list[Nest], first: int, second: int, outputs: Mapping[str, DType]) -> tuple[str, int] | None:
    """Rewrite the pair in place in the list when a value of `first` can be kept for `second`: the result
    whose memory holds it, and the operations saved."""
    maker, user = _sweep(nests[first]), _flat_loop(nests[second])
    if maker is None or user is None or _extent(maker.axes) != _extent(user.axes):
        return None
    places = _places(user.axes, maker.axes)
    if places is None:
        return None
    made = _Keys(nests[first].body, {})
    used = _Keys(nests[second].body, places)
    for store in user.stores:
        if store.buffer not in outputs or _touched_between(nests, first, second, store.buffer):
            continue
        best = _dearest(made, used, maker, user, outputs[store.buffer])
        if best is None:
            continue
        value, name, cost = best
        index = store.index.substitute(places)
        kept = Store(store.buffer, index, value, outputs[store.buffer])
        nests[first] = _with_store(nests[first], kept)
        nests[second] = _with_load(nests[second], name, Load(store.buffer, store.index))
        return store.buffer, cost
    return None


def _touched_between(nests: Sequence[Nest], first: int, second: int, buffer: str) -> bool:
    return any(buffer in (*read_buffers(n), *written_buffers(n)) for n in nests[first:second])


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop over `axes` whose innermost body declares `values` and holds `stores`."""

    axes: tuple[Axis, ...]
    values: tuple[Let, ...]
    stores: tuple[Store, ...]


def _sweep(nest: Nest) -> _Loop | None:
    """The one parallel row reduction of a nest of full reductions."""
    for s in nest.body:
        if isinstance(s, RowReduce) and s.parallel:
            return _loop((*s.outer, s.inner), s.body)
    return None


def _flat_loop(nest: Nest) -> _Loop | None:
    """The loops of a flat nest."""
    for s in nest.body:
        if isinstance(s, ParallelVector):
            return _loop((s.axis,), s.body)
        if isinstance(s, Parallel) and isinstance(s.body[-1], Vector):
            return _loop((*s.axes, s.body[-1].axis), s.body[-1].body)
    return None


def _loop(axes: tuple[Axis, ...], body: Sequence[Stmt]) -> _Loop:
    return _Loop(
        axes,
        tuple(s for s in body if isinstance(s, Let)),
        tuple(s for s in body if isinstance(s, Store)),
    )


def _extent(axes: Sequence[Axis]) -> Poly:
    return product(a.extent for a in axes)


def _places(user: Sequence[Axis], maker: Sequence[Axis]) -> dict[Sym, Poly] | None:
    """The user's axes in terms of the maker's: one for one, or all merged into one."""
    if len(user) == len(maker) and all(a.extent == b.extent for a, b in zip(user, maker, strict=True)):
        return {Sym(a.name, axis=True): axis(b.name) for a, b in zip(user, maker, strict=True)}
    if len(user) != 1:
        return None
    position, stride = ZERO, ONE
    for a in reversed(maker):
        position = position + axis(a.name) * stride
        stride = stride * a.extent
    return {Sym(user[0].name, axis=True): position}


class _Keys:
    """What every value of a nest computes, comparable between nests."""

    def __init__(self, body: Sequence[Stmt], places: Mapping[Sym, Poly]) -> None:
        self.key: dict[str, Key] = {}
        self.cost: dict[str, int] = {}
        self._places = places
        self._ids: dict[Key, int] = {}
        self._add(body)

    def _add(self, body: Sequence[Stmt]) -> None:
        for s in body:
            if isinstance(s, Let):
                self._let(s)
            elif isinstance(s, Parallel | ParallelVector | Vector | RowReduce):
                self._add(s.body)

    def _let(self, s: Let) -> None:
        args = tuple(self.key.get(a, ("value", a)) for a in s.args)
        self.key[s.name] = (s.op, args, s.dtype, s.operand_dtype, self._attrs(s))
        row = OPERATORS.get(s.op)
        own = row.cost if row is not None else 0
        self.cost[s.name] = min(own + sum(self.cost.get(a, 0) for a in s.args), 1 << 20)

    def _attrs(self, s: Let) -> object:
        match s.attrs:
            case Literal(value):
                return (type(value).__name__, repr(value))
            case _:
                return renamed_attrs(s.attrs, self._places)


def _dearest(
    made: _Keys, used: _Keys, maker: _Loop, user: _Loop, dtype: DType
) -> tuple[str, str, int] | None:
    """The dearest value both loops compute: its name in each, and its cost."""
    by_key = {made.key[v.name]: v.name for v in maker.values}
    best: tuple[str, str, int] | None = None
    for v in user.values:
        match = by_key.get(used.key[v.name])
        cost = used.cost[v.name]
        if match is not None and v.dtype == dtype and cost >= KEEP_COST and (best is None or cost > best[2]):
            best = (match, v.name, cost)
    return best


def _with_store(nest: Nest, store: Store) -> Nest:
    body = tuple(
        replace(s, body=(*s.body, store)) if isinstance(s, RowReduce) and s.parallel else s for s in nest.body
    )
    return replace(nest, body=body)


def _with_load(nest: Nest, name: str, load: Load) -> Nest:
    """The nest with the value read from memory, and without what only it needed."""
    body, _ = _rewrite(nest.body, name, load, set())
    return replace(nest, body=body)


def _rewrite(
    body: Sequence[Stmt], name: str, load: Load, needed: set[str]
) -> tuple[tuple[Stmt, ...], set[str]]:
    """Backwards, keeping what is needed further on."""
    kept: list[Stmt] = []
    for s in reversed(body):
        if isinstance(s, Let):
            if s.name not in needed:
                continue
            if s.name == name:
                s = Let(name, "load", (), s.dtype, s.dtype, load)
            needed.update(s.args)
        elif isinstance(s, Store | Check | Scan):
            needed.add(s.value)
        elif isinstance(s, Parallel | ParallelVector | Vector):
            s = replace(s, body=_rewrite(s.body, name, load, needed)[0])
        else:
            needed.update(used_values([s]))
        kept.append(s)
    return tuple(reversed(kept)), needed
