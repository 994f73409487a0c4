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
    kept, _ = _prune(body)
    return kept


def used_names(body: Sequence[Stmt]) -> set[str]:
    """The names the statements read and do not declare."""
    return _prune(body)[1]


def _prune(body: Sequence[Stmt]) -> tuple[tuple[Stmt, ...], set[str]]:
    """The statements kept of one scope, and the names they take from around it.

    Walks backwards: a name's uses come after its declaration, and a use before it is of an outer one.
    """
    used: set[str] = set()
    kept: list[Stmt] = []
    for s in reversed(body):
        if isinstance(s, Declare):
            if s.type.startswith("const ") and s.name not in used:
                continue
            used.discard(s.name)
        kept.append(_visit(s, used))
    return tuple(reversed(kept)), used


def _inside(body: Sequence[Stmt], used: set[str]) -> tuple[Stmt, ...]:
    """A scope of its own inside: what it takes from around it is added to `used`."""
    kept, names = _prune(body)
    used |= names
    return kept


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
            return _visit_for(s, used)
        case If():
            _read(s.condition, used)
            return replace(s, then=_inside(s.then, used), otherwise=_inside(s.otherwise, used))
        case Block(inner):
            return Block(_inside(inner, used))
        case Return(value):
            _read(value, used)
        case _:
            pass
    return s


def _visit_for(s: For, used: set[str]) -> For:
    own: set[str] = {s.variable}
    _read(s.condition, own)
    body = _inside(s.body, own)
    if s.start is not None:
        own.discard(s.variable)
        _read(s.start, own)
    used |= own
    return replace(s, body=body)


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
