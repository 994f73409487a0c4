"""Size symbols of one kernel: which are bound, fixed or unknown, in order of first appearance."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.index_algebra import Poly, dim
from tensorc.sema.scopes import DimFact
from tensorc.sema.values import Known, Size, Value
from tensorc.signature import Dim
from tensorc.source import Span


class SymbolTable:
    """`seen` lists the symbols that the kernel mentions; `bound` those that a call finds; `equal` holds the
    size that stands for a symbol where `requires` says that the two are equal."""

    def __init__(self, facts: Mapping[str, DimFact]) -> None:
        self._facts = facts
        self.seen: dict[str, Span] = {}
        self.bound: set[str] = set()
        self.equal: dict[str, Poly] = {}

    def fact(self, name: str) -> DimFact | None:
        return self._facts.get(name)

    def is_fixed(self, name: str) -> bool:
        fact = self._facts.get(name)
        return fact is not None and fact.fixed is not None

    def value(self, name: str, span: Span) -> Value:
        """The symbol as a value: a number when it is fixed."""
        self.seen.setdefault(name, span)
        fact = self._facts.get(name)
        if fact is not None and fact.fixed is not None:
            return Known(fact.fixed)
        size = self.equal.get(name, dim(name))
        return Size(size) if size.constant is None else Known(size.constant)

    def dims(self) -> tuple[Dim, ...]:
        facts = ((name, self._facts.get(name)) for name in self.seen)
        return tuple(Dim(n, f.fixed, f.hint) if f is not None else Dim(n) for n, f in facts)
