"""Declarations that nothing uses go, with those that only they used; scopes are C's."""

from __future__ import annotations

from tensorc.codegen.c_ast import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    Index,
    Integer,
    Name,
    Return,
    Stmt,
)
from tensorc.codegen.prune import prune_unused, used_names


def let(name: str, value: Expr) -> Declare:
    return Declare("const int64_t", name, value)


def use(*names: str) -> Evaluate:
    return Evaluate(Call("f", tuple(Name(n) for n in names)))


ZERO = Integer(0)


def loop(variable: str, body: tuple[Stmt, ...], start: Expr | None = ZERO) -> For:
    return For(variable, start, Binary("<", Name(variable), Name("n")), 1, body)


def test_unused_declarations_go_with_what_only_they_used() -> None:
    body = (let("a", Name("n")), let("b", Name("a")), let("c", Name("a")), use("c"))
    assert prune_unused(body) == (body[0], body[2], body[3])
    assert prune_unused(body[:3]) == ()


def test_only_constants_go() -> None:
    body = (Declare("int64_t", "a", Integer(0)), Assign(Name("b"), Integer(1)), Return(Integer(0)))
    assert prune_unused(body) == body


def test_nested_statements() -> None:
    inner = (let("a", Integer(1)), let("b", Integer(2)), use("b"))
    for body in (
        Block(inner),
        loop("i", inner),
        If(Name("c"), inner, (let("a", Integer(1)),)),
    ):
        (kept,) = prune_unused((body,))
        assert inner[0] not in _children(kept)
        assert inner[1:] == _children(kept)


def _children(s: Stmt) -> tuple[Stmt, ...]:
    match s:
        case Block(body):
            return body
        case For():
            return s.body
        case If():
            return (*s.then, *s.otherwise)
        case _:
            raise AssertionError(s)


def test_a_later_declaration_of_the_name_keeps_no_earlier_one() -> None:
    unused = let("lanes", Integer(8))
    other = (let("lanes", Integer(4)), use("lanes"))
    assert prune_unused((Block((unused,)), Block(other))) == (Block(()), Block(other))
    assert prune_unused((loop("i", (unused,)), loop("i", other))) == (loop("i", ()), loop("i", other))


def test_an_inner_declaration_hides_no_use_of_the_outer_one() -> None:
    outer = let("a", Integer(1))
    shadow = (let("a", Integer(2)), use("a"))
    for body in (
        (outer, Block(shadow), use("a")),
        (outer, If(Name("c"), shadow, (use("a"),))),
        (outer, Block((use("a"), *shadow))),
    ):
        assert prune_unused(body) == body
    assert prune_unused((outer, Block(shadow))) == (Block(shadow),)


def test_a_loop_that_goes_on_uses_its_variable() -> None:
    start = Declare("int64_t", "i", Integer(0))
    assert "i" not in used_names((start, loop("i", (), None)))
    assert used_names((loop("i", (use("x"),), None),)) == {"i", "n", "x"}
    assert used_names((loop("i", (use("i"),)),)) == {"n"}
    assert used_names((loop("i", (), Name("i")),)) == {"i", "n"}


def test_every_kind_of_expression_is_read() -> None:
    deep: Expr = Name("x0")
    for k in range(1, 5000):
        deep = Binary("+", deep, Index(Name(f"x{k}"), Integer(k)))
    assert used_names((Return(deep),)) == {f"x{k}" for k in range(5000)}
