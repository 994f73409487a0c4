"""Copies of a loop body for neighbouring vectors; with elementary functions, sixteen lanes at a time.

An elementary function is a long chain of dependent operations, and a core overlaps only what stands close
together: two vectors side by side, or one of twice the length where the target has it
(`runtime/lanes_wide.h`).
A body without one gains nothing from that and keeps its eight lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensorc.codegen.c_ast import Binary, Call, Declare, Evaluate, Expr, Name, Stmt
from tensorc.codegen.context import Context, split_index
from tensorc.codegen.gathers import with_varying
from tensorc.codegen.loop_bodies import emit_simple
from tensorc.codegen.values import INFIX
from tensorc.dtypes import F32
from tensorc.index_algebra import Poly
from tensorc.loop_ir.program import Load
from tensorc.loop_schedule import program as nest_ir
from tensorc.operators import OPERATORS

WIDE_OPERATIONS = frozenset({"relu", "negative", "square", "fma"})


def has_elementary(body: Sequence[nest_ir.Stmt]) -> bool:
    """True for bodies that gain from sixteen lanes."""
    return any(isinstance(s, nest_ir.Let) and _is_elementary(s) for s in body)


def _is_elementary(let: nest_ir.Let) -> bool:
    row = OPERATORS.get(let.op)
    return row is not None and row.elementary and let.operand_dtype == F32


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of a body: their statements, and where its values stand afterwards."""

    statements: tuple[Stmt, ...]
    contexts: tuple[Context, ...]
    pairs: tuple[_Pair, ...]

    def values(self, name: str) -> list[Expr]:
        """A value of each copy, eight lanes each."""
        return [c.value(name) for c in self.contexts]

    def wide_values(self, name: str) -> list[Expr]:
        """A value of each two copies, sixteen lanes each."""
        return [p.operand(name) for p in self.pairs]


def emit_copies(
    body: Sequence[nest_ir.Stmt], copies: Sequence[Context], adjacent: bool, paired: bool | None = None
) -> Copies:
    """The body once for each context; two of them share their statements where the body gains from it.

    `adjacent`: each context's vector follows the one before it in memory. `paired` says whether the body
    gains, where that is not its own to say. The number of contexts is then even.
    """
    if not (has_elementary(body) if paired is None else paired):
        plain = tuple(c for context in copies for c in emit_simple(body, context))
        return Copies(plain, tuple(copies), ())
    pairs = tuple(_Pair(body, copies[k], copies[k + 1], adjacent) for k in range(0, len(copies), 2))
    return Copies(tuple(c for p in pairs for c in p.emit()), tuple(copies), pairs)


class _Pair:
    """Two copies of a body; `wide` are the values that stand in one variable of sixteen lanes.

    Each of those is split too, for statements that need a half; what nobody needs is pruned later.
    """

    def __init__(self, body: Sequence[nest_ir.Stmt], first: Context, second: Context, adjacent: bool) -> None:
        self.body = body
        self.first = with_varying(first, body)
        self.second = with_varying(second, body)
        self.adjacent = adjacent
        self.wide: set[str] = set()

    def emit(self) -> list[Stmt]:
        out: list[Stmt] = []
        for s in self.body:
            if isinstance(s, nest_ir.Let) and self._is_wide(s):
                out.extend(self._let(s))
            elif isinstance(s, nest_ir.Store) and s.value in self.wide and self._neighbours(s.index):
                out.append(self._store(s))
            else:
                out.extend(emit_simple([s], self.first))
                out.extend(emit_simple([s], self.second))
        return out

    def _is_wide(self, let: nest_ir.Let) -> bool:
        if let.dtype != F32 or let.operand_dtype != F32:
            return False
        if isinstance(let.attrs, Load):
            return not let.attrs.guards and self._neighbours(let.attrs.index)
        if let.op in INFIX or let.op in WIDE_OPERATIONS:
            return any(a in self.wide for a in let.args)
        return _is_elementary(let)

    def _neighbours(self, index: Poly) -> bool:
        """True when the two copies' elements of memory are one stretch of sixteen."""
        return self.adjacent and split_index(index, self.first)[1] == 1

    def _let(self, let: nest_ir.Let) -> list[Stmt]:
        self.wide.add(let.name)
        wide = Name(self._wide_name(let.name))
        return [
            Declare("const tc_f32w", wide.id, self._value(let)),
            Declare("const tc_f32", self.first.value_name(let.name), Call("tc_low_f32w", (wide,))),
            Declare("const tc_f32", self.second.value_name(let.name), Call("tc_high_f32w", (wide,))),
        ]

    def _value(self, let: nest_ir.Let) -> Expr:
        if isinstance(let.attrs, Load):
            return Call("tc_load_f32w", (self.first.address(let.attrs),))
        args = [self.operand(a) for a in let.args]
        if let.op in INFIX:
            return Binary(INFIX[let.op], args[0], args[1])
        return Call(f"tc_{let.op}_f32w", tuple(args))

    def operand(self, name: str) -> Expr:
        """A value of both copies as sixteen lanes."""
        if name in self.wide:
            return Name(self._wide_name(name))
        return Call("tc_join_f32w", (self.first.value(name), self.second.value(name)))

    def _wide_name(self, name: str) -> str:
        return self.first.value_name(name) + self.second.suffix.removeprefix("_")

    def _store(self, store: nest_ir.Store) -> Stmt:
        address = self.first.address(Load(store.buffer, store.index))
        return Evaluate(Call("tc_store_f32w", (address, Name(self._wide_name(store.value)))))
