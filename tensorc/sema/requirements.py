"""`requires`: relations of sizes that a call checks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from tensorc.index_algebra import ONE, Poly, Sym, dim, is_nonnegative
from tensorc.sema.expressions import Context, evaluate, run
from tensorc.sema.scopes import Frame
from tensorc.sema.values import Value, describe, is_poisoned, size_of
from tensorc.signature import RELATIONS, SizeCheck
from tensorc.syntax import ast


def read_requires(c: Context, node: ast.Kernel, frame: Frame) -> tuple[SizeCheck, ...]:
    """The checks of a kernel's `requires`, in order; a chain or an `and` gives one per relation."""
    checks: list[SizeCheck] = []
    pending = list(reversed(node.requires))
    while pending:
        condition = pending.pop()
        match condition:
            case ast.Binary(op="and", left=left, right=right):
                pending.extend((right, left))
            case ast.Compare():
                checks.extend(run(_relations(c, condition, frame)))
            case _:
                c.builder.error(
                    "TC0503",
                    "`requires` takes comparisons of sizes; this is not supported yet",
                    condition.span,
                    label="expected a comparison, as N >= 1",
                    help=_condition_help(condition),
                )
    return tuple(checks)


def _condition_help(node: ast.Expr) -> str:
    if isinstance(node, ast.Binary) and node.op == "%":
        return f"write {node.span.text} == 0"
    return "write several conditions one after another, with commas" if isinstance(node, ast.Binary) else ""


def _relations(c: Context, node: ast.Compare, frame: Frame) -> Generator[Any, Any, list[SizeCheck]]:
    sides: list[Poly | None] = []
    for item in (node.first, *node.operands):
        sides.append((yield _size(c, item, frame)))
    written = [item.span.text for item in (node.first, *node.operands)]
    checks: list[SizeCheck] = []
    for position, relation in enumerate(node.ops):
        left, right = sides[position], sides[position + 1]
        if left is not None and right is not None:
            text = f"{written[position]} {relation} {written[position + 1]}"
            difference = (left - right).constant
            if difference is not None and not RELATIONS[relation](difference, 0):
                label = f"{left} {relation} {right} is false for every size"
                c.builder.error("TC0412", f"`requires {text}` never holds", node.span, label=label)
            checks.append(SizeCheck("requires", left, relation, right, text, node.span))
    return checks


def _size(c: Context, node: ast.Expr, frame: Frame) -> Generator[Any, Any, Poly | None]:
    value: Value = yield evaluate(c, node, replace(frame, in_type=True))
    if is_poisoned(value):
        return None
    size = size_of(value)
    if size is None:
        c.builder.error(
            "TC0503",
            f"`requires` on {describe(value)} is not supported yet: it compares sizes",
            node.span,
            label="expected an integer expression of dims",
        )
    return size


def equal_sizes(checks: Sequence[SizeCheck], order: Sequence[str]) -> dict[str, Poly]:
    """What stands for each symbol that a `==` of `requires` makes equal to a size without it.

    Of two symbols the one that is later in `order` goes. A size of 1 is left out: whether an axis repeats is
    plain from its type.
    """
    found: dict[str, Poly] = {}
    for check in checks:
        if check.relation != "==":
            continue
        places = {Sym(name): size for name, size in found.items()}
        left, right = check.left.substitute(places), check.right.substitute(places)
        choices = [
            (order.index(a.dims()[0]), a.dims()[0], b)
            for a, b in ((left, right), (right, left))
            if _is_symbol(a) and a.dims()[0] in order and _may_stand_for(b, a.dims()[0])
        ]
        if choices:
            _, name, size = max(choices, key=lambda c: c[0])
            found = {k: p.substitute({Sym(name): size}) for k, p in found.items()} | {name: size}
    return found


def _is_symbol(size: Poly) -> bool:
    return len(size.dims()) == 1 and size == dim(size.dims()[0])


def _may_stand_for(size: Poly, name: str) -> bool:
    return name not in size.dims() and size != ONE and is_nonnegative(size)
