"""A loop body where it is known which guards hold: the loads that are left read without a test.

*Rewrite*, where `i - N >= 0` is known to fail:
`v1 = load y[i - N] if i - N >= 0; v2 = inside i - N >= 0; v3 = where v2 v1 v0; store v3` -> `store v0`
(index set splitting, for the body of one part).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tensorc.index_algebra import Poly
from tensorc.loop_ir.program import Inside, Literal, Load
from tensorc.loop_schedule.program import Check, Let, Scan, Stmt, Store
from tensorc.loop_schedule.walk import needed_only

Guards = tuple[Poly, ...]
Conditions = Mapping[str, Guards]
"""The guards of each `inside` value of a nest, by its name."""


def inside_conditions(body: Sequence[Stmt]) -> dict[str, Guards]:
    """The `inside` values that the statements declare."""
    return {s.name: s.attrs.guards for s in body if isinstance(s, Let) and isinstance(s.attrs, Inside)}


def specialize(
    body: Sequence[Stmt], conditions: Conditions, known: Mapping[Poly, bool], results: Iterable[str] = ()
) -> tuple[tuple[Stmt, ...], dict[str, str]]:
    """The body with the guards in `known` decided, and what stands for the values that it no longer has.

    `results` are the values that are used outside of the body.
    """
    kept: list[Stmt] = []
    instead: dict[str, str] = {}
    for s in body:
        if isinstance(s, Let):
            chosen = _chosen(s, conditions, known)
            if chosen is not None:
                instead[s.name] = instead.get(chosen, chosen)
                continue
            args = tuple(instead.get(a, a) for a in s.args)
            s = replace(_decided(s, known), args=args)
        elif isinstance(s, Store | Check | Scan):
            s = replace(s, value=instead.get(s.value, s.value))
        kept.append(s)
    return tuple(needed_only(kept, {instead.get(r, r) for r in results})), instead


def _chosen(let: Let, conditions: Conditions, known: Mapping[Poly, bool]) -> str | None:
    """The operand that a `where` on decided guards gives."""
    if let.op != "where" or let.args[0] not in conditions:
        return None
    holds = [known.get(g) for g in conditions[let.args[0]]]
    if any(h is False for h in holds):
        return let.args[2]
    return let.args[1] if all(holds) else None


def _decided(let: Let, known: Mapping[Poly, bool]) -> Let:
    """A load without the guards that hold; one that never reads is 0."""
    if not isinstance(let.attrs, Load):
        return let
    if any(known.get(g) is False for g in let.attrs.guards):
        zero = Literal(0.0 if let.dtype.is_float else 0)
        return replace(let, op="constant", attrs=zero)
    open_ = tuple(g for g in let.attrs.guards if not known.get(g))
    return replace(let, attrs=replace(let.attrs, guards=open_))
