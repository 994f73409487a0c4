"""Dropping declarations nothing uses: `const` values are pure, so an unused one can go.

*Rewrite*: `const int64_t i0 = p / D; ...` (no use of `i0`) -> `...`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tensorc.codegen.c_ast import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Index,
    Name,
    Return,
    Stmt,
    Unary,
)


def prune_unused(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The statements without unused `const` declarations, from the last to the first."""
    kept, _ = _prune(body, set())
    return kept


def used_names(body: Sequence[Stmt]) -> set[str]:
    """Every name the statements read (declared names alone do not count)."""
    return _prune(body, set())[1]


def _prune(body: Sequence[Stmt], used: set[str]) -> tuple[tuple[Stmt, ...], set[str]]:
    """Walk backwards with the names used so far; a name's uses come after its declaration."""
    kept: list[Stmt] = []
    for s in reversed(body):
        if isinstance(s, Declare) and s.type.startswith("const ") and s.name not in used:
            continue
        kept.append(_visit(s, used))
    return tuple(reversed(kept)), used


def _visit(s: Stmt, used: set[str]) -> Stmt:
    match s:
        case Declare(_, _, value, size):
            _read(value, used)
            _read(size, used)
        case Assign(target, value):
            _read(target, used)
            _read(value, used)
        case Evaluate(expr):
            _read(expr, used)
        case For():
            used.add(s.variable)
            _read(s.start, used)
            _read(s.condition, used)
            return replace(s, body=_prune(s.body, used)[0])
        case If():
            _read(s.condition, used)
            otherwise = _prune(s.otherwise, used)[0]
            return replace(s, then=_prune(s.then, used)[0], otherwise=otherwise)
        case Block(inner):
            return Block(_prune(inner, used)[0])
        case Return(value):
            _read(value, used)
        case _:
            pass
    return s


def _read(expr: Expr | None, used: set[str]) -> None:
    pending = [expr]
    while pending:
        match pending.pop():
            case Name(id):
                used.add(id)
            case Call(_, args):
                pending.extend(args)
            case Unary(_, operand) | Cast(_, operand):
                pending.append(operand)
            case Binary(_, left, right):
                pending.extend((left, right))
            case Conditional(condition, then, otherwise):
                pending.extend((condition, then, otherwise))
            case Index(base, index):
                pending.extend((base, index))
            case _:
                pass
