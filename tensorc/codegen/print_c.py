"""C AST to text. The printer decides spacing and parentheses only.

What it prints parses back to the same tree.

Precedence is passed down; a unary minus and a negative number are bracketed wherever an operand stands.
Expressions may be deep on the left (a long sum), so a left spine is printed in a loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

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
    Pragma,
    Return,
    Stmt,
    Text,
    Unary,
    Unit,
)

PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
CONDITIONAL, UNARY, POSTFIX = 0, 11, 12
INT_LIMIT = 1 << 31


def print_expr(expr: Expr, outer: int = 0) -> str:
    """`expr` as C text, bracketed if it binds more weakly than `outer`."""
    match expr:
        case Name(id):
            return id
        case Integer(value):
            return _integer(value, outer)
        case Literal(text):
            return text
        case Call(function, args):
            return f"{function}({', '.join(print_expr(a) for a in args)})"
        case Index(base, index):
            return f"{print_expr(base, POSTFIX)}[{print_expr(index)}]"
        case Unary(op, operand):
            return _bracket(f"{op}{print_expr(operand, POSTFIX)}", op == "-" and outer > 0, outer, UNARY)
        case Cast(type, operand):
            return _bracket(f"({type}){print_expr(operand, POSTFIX)}", False, outer, UNARY)
        case Binary():
            return _binary(expr, outer)
        case Conditional(condition, then, otherwise):
            text = f"{print_expr(condition, 1)} ? {print_expr(then, 1)} : {print_expr(otherwise, 1)}"
            return f"({text})" if outer > CONDITIONAL else text
        case _:
            assert_never(expr)


def _integer(value: int, outer: int) -> str:
    text = str(abs(value)) + ("LL" if abs(value) >= INT_LIMIT else "")
    if value >= 0:
        return text
    return f"(-{text})" if outer else f"-{text}"


def _bracket(text: str, forced: bool, outer: int, own: int) -> str:
    return f"({text})" if forced or outer > own else text


def _binary(expr: Binary, outer: int) -> str:
    own = PRECEDENCE[expr.op]
    tail: list[str] = []
    left: Expr = expr
    while isinstance(left, Binary) and PRECEDENCE[left.op] == own:
        tail.append(f" {left.op} {print_expr(left.right, own + 1)}")
        left = left.left
    text = print_expr(left, own) + "".join(reversed(tail))
    return f"({text})" if outer > own else text


def print_statements(body: Iterable[Stmt], indent: int) -> list[str]:
    """Statements as lines, indented by `indent` levels of four spaces."""
    lines: list[str] = []
    for statement in body:
        lines.extend(_statement(statement, indent))
    return lines


def _statement(s: Stmt, indent: int) -> list[str]:
    pad = "    " * indent
    match s:
        case Declare(type, name, value, size):
            array = f"[{print_expr(size)}]" if size is not None else ""
            init = f" = {print_expr(value)}" if value is not None else ""
            gap = "" if type.endswith("*") else " "
            return [f"{pad}{type}{gap}{name}{array}{init};"]
        case Assign(target, value):
            return [f"{pad}{print_expr(target)} = {print_expr(value)};"]
        case Evaluate(expr):
            return [f"{pad}{print_expr(expr)};"]
        case For():
            return _for(s, indent)
        case If(condition, then, otherwise):
            lines = [f"{pad}if ({print_expr(condition)}) {{", *print_statements(then, indent + 1)]
            if otherwise:
                lines += [f"{pad}}} else {{", *print_statements(otherwise, indent + 1)]
            return [*lines, f"{pad}}}"]
        case Block(body):
            return [f"{pad}{{", *print_statements(body, indent + 1), f"{pad}}}"]
        case Return(value):
            return [f"{pad}return {print_expr(value)};" if value is not None else f"{pad}return;"]
        case Pragma(text):
            return [f"#pragma {text}"]
        case Comment(text):
            return [f"{pad}/* {text.replace('*/', '* /')} */"]
        case _:
            assert_never(s)


def _for(s: For, indent: int) -> list[str]:
    pad = "    " * indent
    start = f"int64_t {s.variable} = {print_expr(s.start)}" if s.start is not None else ""
    step = f"++{s.variable}" if s.step == 1 else f"{s.variable} += {s.step}"
    head = f"{pad}for ({start}; {print_expr(s.condition)}; {step}) {{"
    return [head, *print_statements(s.body, indent + 1), f"{pad}}}"]


def print_function(f: Function) -> str:
    """A function definition; long parameter lists take a line each."""
    parameters = [p.type + ("" if p.type.endswith("*") else " ") + p.name for p in f.parameters]
    one_line = f"{f.head} {f.name}({', '.join(parameters) or 'void'}) {{"
    if len(one_line) > 110:
        one_line = f"{f.head} {f.name}(\n    " + ",\n    ".join(parameters) + ") {"
    return "\n".join([one_line, *print_statements(f.body, 1), "}"])


def print_unit(unit: Unit) -> str:
    """The whole translation unit."""
    parts = [item.text.rstrip() if isinstance(item, Text) else print_function(item) for item in unit.items]
    return "\n\n".join(parts) + "\n"
