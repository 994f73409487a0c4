"""What the printer prints parses back (pycparser) to the tree it was given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reparse import body_form, reparse

from tensorc.codegen.c_ast import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Comment,
    Conditional,
    Declare,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Index,
    Integer,
    Literal,
    Name,
    Parameter,
    Pragma,
    Return,
    Stmt,
    Text,
    Unary,
    Unit,
)
from tensorc.codegen.emit import build_unit
from tensorc.codegen.kernel import EmitOptions
from tensorc.codegen.print_c import PRECEDENCE, print_expr, print_function, print_unit
from tensorc.driver import CompileOptions, compile_text
from tensorc.source import Source

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "examples").glob("*.tdsl")) + sorted((ROOT / "tests/fusion/programs").glob("*.tdsl"))
NAMES = st.sampled_from(("x", "n", "v12", "buf0_"))
LEAVES = st.one_of(
    NAMES.map(Name),
    st.integers(-(1 << 62), 1 << 62).map(Integer),
    st.sampled_from((0, 1, -1, (1 << 31) - 1, 1 << 31, -(1 << 31))).map(Integer),
    st.sampled_from(("0.5f", "1e-05f", "2.0", "1e+300")).map(Literal),
)


def _inner(deeper: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(Unary, st.sampled_from("-!&*"), deeper),
        st.builds(Unary, st.just("-"), deeper),
        st.builds(Binary, st.sampled_from(sorted(PRECEDENCE)), deeper, deeper),
        st.builds(Binary, st.sampled_from("+-*/"), deeper, deeper),
        st.builds(Conditional, deeper, deeper, deeper),
        st.builds(Index, deeper, deeper),
        st.builds(Cast, st.sampled_from(("int64_t", "char *", "const float *", "int")), deeper),
        st.builds(Call, st.sampled_from(("f", "tc_min")), st.lists(deeper, max_size=3).map(tuple)),
    )


EXPRESSIONS: st.SearchStrategy[Expr] = st.recursive(LEAVES, _inner, max_leaves=12)
TYPES = st.sampled_from(("const int64_t", "int", "float *const", "struct tc_sum_f32", "const tc_f32"))
# pycparser reads a size that starts with a star as that of a parameter
SIZES = EXPRESSIONS.map(lambda size: Binary("+", Integer(1), size))
SIMPLE: st.SearchStrategy[Stmt] = st.one_of(
    st.builds(Declare, TYPES, NAMES, st.none() | EXPRESSIONS, st.none()),
    st.builds(Declare, st.just("struct s"), NAMES, st.none(), SIZES),
    st.builds(Assign, NAMES.map(Name), EXPRESSIONS),
    st.builds(Evaluate, EXPRESSIONS),
    st.builds(Return, st.none() | EXPRESSIONS),
    st.builds(Pragma, st.just("omp barrier")),
    st.builds(Comment, st.sampled_from(("why", "a */ b"))),
)


def _blocks(deeper: st.SearchStrategy[Stmt]) -> st.SearchStrategy[Stmt]:
    body = st.lists(deeper, max_size=3).map(tuple)
    return st.one_of(
        st.builds(For, NAMES, st.none() | EXPRESSIONS, EXPRESSIONS, st.sampled_from((1, 8)), body),
        st.builds(If, EXPRESSIONS, body, body),
        st.builds(Block, body),
    )


STATEMENTS: st.SearchStrategy[Stmt] = st.recursive(SIMPLE, _blocks, max_leaves=6)


def _function(body: tuple[Stmt, ...]) -> Function:
    return Function("static void", "f", (), body)


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS)
def test_expression_parses_back(expr: Expr) -> None:
    for body in ((Evaluate(expr),), (Declare("int64_t", "y", expr),), (Return(Index(Name("x"), expr)),)):
        assert reparse(_function(body)) == body_form(body)


@settings(max_examples=100, deadline=None)
@given(st.lists(STATEMENTS, max_size=4).map(tuple))
def test_statements_parse_back(body: tuple[Stmt, ...]) -> None:
    assert reparse(_function(body)) == body_form(body)


SPINES: dict[str, Callable[[Expr, int], Expr]] = {
    "sum": lambda e, k: Binary("+-"[k % 2], e, Name(f"x{k}")),
    "product": lambda e, k: Binary("*/%"[k % 3], e, Integer(k)),
    "mixed": lambda e, k: Binary("+", e, Binary("*", Name("x"), Unary("-", Integer(k)))),
    "of negatives": lambda e, k: Binary("-", e, Integer(-k)),
}


@pytest.mark.parametrize("name", SPINES)
def test_left_spine_of_3000_terms(name: str) -> None:
    expr: Expr = Name("y")
    for k in range(1, 3001):
        expr = SPINES[name](expr, k)
    text = print_expr(expr)
    assert text.count("(") <= 3000
    if name == "sum":
        assert text == "y" + "".join(f" {'+-'[k % 2]} x{k}" for k in range(1, 3001))
    short: Expr = Name("y")  # pycparser recurses, so a shorter one is read back
    for k in range(1, 201):
        short = SPINES[name](short, k)
    body = (Evaluate(short),)
    assert reparse(_function(body)) == body_form(body)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Unary("-", Unary("-", Name("x"))), "-(-x)"),
        (Unary("-", Integer(-5)), "-(-5)"),
        (Binary("-", Name("x"), Integer(-5)), "x - (-5)"),
        (Binary("-", Name("a"), Binary("-", Name("b"), Name("c"))), "a - (b - c)"),
        (Binary("-", Binary("-", Name("a"), Name("b")), Name("c")), "a - b - c"),
        (Binary("*", Binary("+", Name("a"), Name("b")), Name("c")), "(a + b) * c"),
        (Binary("/", Name("a"), Unary("*", Name("p"))), "a / *p"),
        (Binary("&", Name("a"), Unary("&", Name("b"))), "a & &b"),
        (Cast("float *", Binary("+", Name("p"), Integer(1))), "(float *)(p + 1)"),
        (Index(Unary("*", Name("p")), Integer(-1)), "(*p)[-1]"),
        (Integer(-(1 << 31)), "-2147483648LL"),
        (
            Conditional(Name("a"), Conditional(Name("b"), Name("c"), Name("d")), Name("e")),
            "a ? (b ? c : d) : e",
        ),
    ],
)
def test_text(expr: Expr, text: str) -> None:
    assert print_expr(expr) == text


def test_functions_and_units() -> None:
    short = Function("static void", "f", (Parameter("const float *", "x"), Parameter("const int", "n")), ())
    assert print_function(short) == "static void f(const float *x, const int n) {\n}"
    wide = Function("int", "g", tuple(Parameter("const int64_t", f"size{k}") for k in range(9)), (Return(),))
    lines = print_function(wide).splitlines()
    assert lines[0] == "int g("
    assert lines[1] == "    const int64_t size0,"
    assert lines[-3:] == ["    const int64_t size8) {", "    return;", "}"]
    assert print_function(Function("int", "h", (), ())) == "int h(void) {\n}"
    assert print_unit(Unit((Text("/* a */\n\n"), short))) == f"/* a */\n\n{print_function(short)}\n"


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_generated_kernels_parse_back(path: Path, policy: str) -> None:
    source = Source(path.name, path.read_text(encoding="utf-8"))
    unit = compile_text(source, CompileOptions(policy=policy, until="loops"))
    functions = [f for f in build_unit(unit.nests, EmitOptions()).items if isinstance(f, Function)]
    assert len(functions) == 2 * len(unit.nests)
    for f in functions:
        assert reparse(f) == body_form(f.body)
