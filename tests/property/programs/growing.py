"""A kernel while it grows: its known values, and the kinds of statement that can add one.

Sizes are tracked as texts: equal texts, equal sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tensorc.dtypes import DType

SYMBOLS = ("N", "M", "K")
EXTENTS = (0, 1, 2, 7, 8, 9, 17, 64)
FIXED = ("0", "1", "2", "7", "8", "9", "17", "64")

LITERALS = {
    "f": ("0.5", "-1.5", "2", "1e-3", "3.0", "1", "0.0", "-0.0", "inf", "pi"),
    "i": ("1", "2", "-3", "7", "0"),
    "u": ("1", "2", "3", "7", "0"),
    "b": ("true", "false"),
}


@dataclass(frozen=True, slots=True)
class Term:
    """An expression: its text (an operand as it stands), its type, its shape as size texts."""

    text: str
    dtype: DType
    shape: tuple[str, ...]


@dataclass(slots=True)
class Kernel:
    """The values and statements so far; every choice comes from `random`."""

    random: Random
    terms: list[Term] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def term(self, kinds: str = "bif", rank: int = 0) -> Term | None:
        """A known value of one of `kinds` with at least `rank` axes; late ones are likelier."""
        found = [t for t in self.terms if t.dtype.domain in kinds and len(t.shape) >= rank]
        if not found:
            return None
        late = found[-4:]
        return self.pick(late if self.chance(60) else found)  # type: ignore[no-any-return]

    def partner(self, x: Term, kinds: str) -> Term:
        """An operand that goes with `x`: a literal, a scalar, or a value whose shape broadcasts."""
        fits = [t for t in self.terms if t.dtype.domain in kinds and broadcast(x.shape, t.shape) is not None]
        if fits and self.chance(70):
            return self.pick(fits[-6:])  # type: ignore[no-any-return]
        if x.dtype.is_float and self.chance(10) and x.shape and x.shape[0] in SYMBOLS:
            return Term(x.shape[0], x.dtype, ())
        kind = x.dtype.domain if x.dtype.domain in kinds else kinds[0]
        return Term(self.pick(LITERALS["u" if x.dtype.is_unsigned else kind]), x.dtype, ())

    def assign(self, text: str, dtype: DType, shape: tuple[str, ...]) -> Term:
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.terms.append(Term(name, dtype, shape))
        return self.terms[-1]


def broadcast(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...] | None:
    """The shape of an elementwise operation, None where the sizes do not go together."""
    rank = max(len(a), len(b))
    left, right = ("1",) * (rank - len(a)) + a, ("1",) * (rank - len(b)) + b
    found = []
    for p, q in zip(left, right, strict=True):
        if p != q and "1" not in (p, q):
            return None
        found.append(q if p == "1" else p)
    return tuple(found)


def is_written(shape: tuple[str, ...]) -> bool:
    """Whether every size text can stand in a program; that of a slice of a symbol cannot."""
    return all(s.isdecimal() or s in SYMBOLS for s in shape)


Statement = Callable[[Kernel], None]
STATEMENTS: list[tuple[Statement, int]] = []
"""Every kind of statement with its weight, in the order of definition."""


def statement(weight: int) -> Callable[[Statement], Statement]:
    """Mark a function that adds a statement to a kernel, or nothing where no value fits."""

    def register(function: Statement) -> Statement:
        STATEMENTS.append((function, weight))
        return function

    return register


def add_statement(k: Kernel) -> None:
    """One statement of a random kind, as likely as its weight says."""
    at = k.random.randrange(sum(weight for _, weight in STATEMENTS))
    for function, weight in STATEMENTS:
        at -= weight
        if at < 0:
            function(k)
            return
    raise AssertionError("weights cover the range")
