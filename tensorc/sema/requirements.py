"""`requires`: relations of sizes that a call checks."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any, Final

from tensorc.index_algebra import ONE, Poly, Sym, dim, is_nonnegative
from tensorc.sema.builder import holds
from tensorc.sema.expressions import Context, evaluate, run
from tensorc.sema.scopes import Frame
from tensorc.sema.values import Known, Value, describe, is_poisoned, size_of
from tensorc.signature import Relation, SizeCheck
from tensorc.syntax import ast

NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
MOST_CLAUSES: Final = 64

_Term = tuple[Relation, str]
"""A relation and how it reads in the source."""
_Clause = tuple[_Term, ...]
"""Terms of which one suffices: without any, nothing does."""
_Clauses = Generator[Any, Any, tuple[_Clause, ...] | None]


def read_requires(c: Context, node: ast.Kernel, frame: Frame) -> tuple[SizeCheck, ...]:
    """The checks of a kernel's `requires`, in order: a relation or an `or` of relations each."""
    checks: list[SizeCheck] = []
    for condition in node.requires:
        clauses: tuple[_Clause, ...] | None = run(_clauses(c, condition, frame, True))
        if clauses is None:
            continue
        if len(clauses) > MOST_CLAUSES:
            message = f"this condition of `requires` is {len(clauses)} alternatives when written out"
            help = "write several conditions one after another, with commas"
            c.builder.error("TC0504", message, condition.span, label=f"at most {MOST_CLAUSES}", help=help)
            continue
        checks.extend(check for clause in clauses if (check := _check(c, clause, condition)) is not None)
    return tuple(checks)


def _clauses(c: Context, node: ast.Expr, frame: Frame, wanted: bool) -> _Clauses:
    """What must hold for `node` to be `wanted`: a conjunction of clauses; None after an error."""
    match node:
        case ast.Unary(op="not", operand=operand):
            clauses: tuple[_Clause, ...] | None = yield _clauses(c, operand, frame, not wanted)
            return clauses
        case ast.Binary(op="and" | "or" as op, left=left, right=right):
            first: tuple[_Clause, ...] | None = yield _clauses(c, left, frame, wanted)
            second: tuple[_Clause, ...] | None = yield _clauses(c, right, frame, wanted)
            if first is None or second is None:
                return None
            return first + second if (op == "and") == wanted else _either(first, second)
        case ast.Compare():
            compared: tuple[_Clause, ...] | None = yield _relations(c, node, frame, wanted)
            return compared
        case ast.Bool() | ast.Name():
            value: Value = yield evaluate(c, node, replace(frame, in_type=True))
            if is_poisoned(value):
                return None
            if isinstance(value, Known) and isinstance(value.value, bool):
                return () if value.value == wanted else ((),)
    c.builder.error(
        "TC0302",
        "`requires` takes comparisons of sizes, true and false, joined by `and`, `or` and `not`",
        node.span,
        label="expected a comparison, as N >= 1",
        help=f"write {node.span.text} == 0" if isinstance(node, ast.Binary) and node.op == "%" else "",
    )
    return None


def _either(first: tuple[_Clause, ...], second: tuple[_Clause, ...]) -> tuple[_Clause, ...]:
    """`a and b or c and d`: a or c, a or d, b or c, b or d. One more than may be is enough."""
    pairs = islice(product(first, second), MOST_CLAUSES + 1)
    return tuple(tuple(dict.fromkeys(a + b)) for a, b in pairs)


def _relations(c: Context, node: ast.Compare, frame: Frame, wanted: bool) -> _Clauses:
    """A chain holds when each of its relations does, and fails when one does."""
    sides: list[Poly] = []
    for item in (node.first, *node.operands):
        size: Poly | None = yield _size(c, item, frame)
        if size is not None:
            sides.append(size)
    if len(sides) <= len(node.operands):
        return None
    written = [item.span.text for item in (node.first, *node.operands)]
    terms: list[_Term] = []
    for position, op in enumerate(node.ops):
        relation = op if wanted else NEGATED[op]
        text = f"{written[position]} {relation} {written[position + 1]}"
        terms.append((Relation(sides[position], relation, sides[position + 1]), text))
    return tuple((term,) for term in terms) if wanted else (tuple(terms),)


def _check(c: Context, clause: _Clause, condition: ast.Expr) -> SizeCheck | None:
    """The check of a clause; None after the error that no size satisfies it."""
    relations = [relation for relation, _ in clause]
    text = " or ".join(text for _, text in clause)
    if all(holds(r.left, NEGATED[r.relation], r.right) for r in relations):
        label = " or ".join(f"{r.left} {r.relation} {r.right}" for r in relations) or "this"
        message = f"`requires {text or condition.span.text}` never holds"
        c.builder.error("TC0412", message, condition.span, label=f"{label} is false for every size")
        return None
    first, *others = relations
    kept = (first.left, first.relation, first.right, text, condition.span)
    return SizeCheck("requires", *kept, otherwise=tuple(others))


def _size(c: Context, node: ast.Expr, frame: Frame) -> Generator[Any, Any, Poly | None]:
    value: Value = yield evaluate(c, node, replace(frame, in_type=True, of_size=True))
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
        if check.relation != "==" or check.otherwise:
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
