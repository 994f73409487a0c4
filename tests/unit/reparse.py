"""Normal forms of C code, from our C AST and from pycparser's: equal trees give equal forms.

An expression becomes its list of nodes in postorder, each with its number of operands: that is the tree, and
needs no recursion. A negative integer counts as a minus before a number, which is how C reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pycparser import c_ast as parsed
from pycparser import c_parser

from tensorc.codegen import c_ast as ours
from tensorc.codegen.print_c import print_function

Token = tuple[Any, ...]
Form = tuple[Any, ...]


def expr_form(expr: ours.Expr | None) -> tuple[Token, ...] | None:
    """The postorder of one of our expressions."""
    if expr is None:
        return None
    out: list[Token] = []
    pending: list[ours.Expr] = [expr]
    while pending:  # preorder with the operands from right to left is the postorder backwards
        node = pending.pop()
        match node:
            case ours.Integer() | ours.Name() | ours.Literal():
                out.extend(_leaf(node))
            case ours.Call(function, args):
                out.append(("call", function, len(args)))
                pending.extend(args)
            case ours.Unary(op, operand):
                out.append(("unary", op, 1))
                pending.append(operand)
            case ours.Cast(type, operand):
                out.append(("cast", type_form(type), 1))
                pending.append(operand)
            case ours.Binary(op, left, right):
                out.append(("binary", op, 2))
                pending.extend((left, right))
            case ours.Index(base, index):
                out.append(("index", 2))
                pending.extend((base, index))
            case ours.Conditional(condition, then, otherwise):
                out.append(("conditional", 3))
                pending.extend((condition, then, otherwise))
    return tuple(reversed(out))


def _leaf(node: ours.Integer | ours.Name | ours.Literal) -> list[Token]:
    match node:
        case ours.Integer(value):
            return [("unary", "-", 1), ("integer", -value)] if value < 0 else [("integer", value)]
        case ours.Name(id):
            return [("name", id)]
        case ours.Literal(text):
            return [("literal", text)]


def parsed_expr_form(expr: Any) -> tuple[Token, ...] | None:
    """The same of a pycparser expression."""
    if expr is None:
        return None
    out: list[Token] = []
    pending = [expr]
    while pending:
        node = pending.pop()
        match node:
            case parsed.Constant() | parsed.ID():
                out.append(_parsed_leaf(node))
            case parsed.FuncCall():
                args = node.args.exprs if node.args is not None else []
                out.append(("call", node.name.name, len(args)))
                pending.extend(args)
            case parsed.UnaryOp(op="sizeof"):
                out.extend([("call", "sizeof", 1), ("name", " ".join(parsed_type_form(node.expr)))])
            case parsed.UnaryOp():
                out.append(("unary", node.op, 1))
                pending.append(node.expr)
            case parsed.Cast():
                out.append(("cast", parsed_type_form(node.to_type), 1))
                pending.append(node.expr)
            case parsed.BinaryOp():
                out.append(("binary", node.op, 2))
                pending.extend((node.left, node.right))
            case parsed.ArrayRef():
                out.append(("index", 2))
                pending.extend((node.name, node.subscript))
            case parsed.TernaryOp():
                out.append(("conditional", 3))
                pending.extend((node.cond, node.iftrue, node.iffalse))
            case _:
                raise AssertionError(f"{type(node).__name__} in an expression")
    return tuple(reversed(out))


def _parsed_leaf(node: Any) -> Token:
    if isinstance(node, parsed.ID):
        return ("name", node.name)
    if node.type == "string":
        return ("name", node.value)
    if node.type in ("float", "double"):
        return ("literal", node.value)
    return ("integer", int(node.value.rstrip("LU")))


def type_form(type: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+|\*", type))


def parsed_type_form(node: Any) -> tuple[str, ...]:
    match node:
        case parsed.Typename():
            return parsed_type_form(node.type)
        case parsed.PtrDecl():
            return (*parsed_type_form(node.type), "*", *node.quals)
        case parsed.TypeDecl():
            return (*node.quals, *parsed_type_form(node.type))
        case parsed.Struct():
            return ("struct", node.name)
        case parsed.IdentifierType():
            return tuple(node.names)
        case _:
            raise AssertionError(f"{type(node).__name__} in a type")


def body_form(body: Iterable[ours.Stmt]) -> tuple[Form, ...]:
    """The form of our statements; comments leave none."""
    return tuple(_statement(s) for s in body if not isinstance(s, ours.Comment))


def _statement(s: ours.Stmt) -> Form:
    match s:
        case ours.Declare(type, name, value, size):
            return ("declare", type_form(type), name, expr_form(value), expr_form(size))
        case ours.Assign(target, value):
            return ("assign", expr_form(target), expr_form(value))
        case ours.Evaluate(expr):
            return ("evaluate", expr_form(expr))
        case ours.For(variable, start, condition, step, body):
            return ("for", variable, expr_form(start), expr_form(condition), step, body_form(body))
        case ours.If(condition, then, otherwise):
            return ("if", expr_form(condition), body_form(then), body_form(otherwise))
        case ours.Block(body):
            return ("block", body_form(body))
        case ours.Return(value):
            return ("return", expr_form(value))
        case ours.Pragma(text):
            return ("pragma", text)
        case ours.Comment():
            raise AssertionError("left out before")


def parsed_body_form(compound: Any) -> tuple[Form, ...]:
    items = compound.block_items if compound is not None else None
    return tuple(_parsed_statement(s) for s in items or ())


def _parsed_statement(s: Any) -> Form:
    match s:
        case parsed.Decl():
            array = isinstance(s.type, parsed.ArrayDecl)
            kind = s.type.type if array else s.type
            size = parsed_expr_form(s.type.dim) if array else None
            return ("declare", parsed_type_form(kind), s.name, parsed_expr_form(s.init), size)
        case parsed.Assignment(op="="):
            return ("assign", parsed_expr_form(s.lvalue), parsed_expr_form(s.rvalue))
        case parsed.For():
            start = s.init.decls[0].init if s.init is not None else None
            if isinstance(s.next, parsed.UnaryOp):
                assert s.next.op == "++"
                variable, step = s.next.expr.name, 1
            else:
                assert s.next.op == "+="
                variable, step = s.next.lvalue.name, int(s.next.rvalue.value)
            if s.init is not None:
                assert s.init.decls[0].name == variable
            return ("for", variable, *map(parsed_expr_form, (start, s.cond)), step, parsed_body_form(s.stmt))
        case parsed.If():
            branches = parsed_body_form(s.iftrue), parsed_body_form(s.iffalse)
            return ("if", parsed_expr_form(s.cond), *branches)
        case parsed.Compound():
            return ("block", parsed_body_form(s))
        case parsed.Return():
            return ("return", parsed_expr_form(s.expr))
        case parsed.Pragma():
            return ("pragma", s.string)
        case _:
            return ("evaluate", parsed_expr_form(s))


def reparse(function: ours.Function) -> tuple[Form, ...]:
    """The form of the statements that pycparser reads in the text of `function`."""
    text = print_function(replace(function, head="static int"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    names = dict.fromkeys(_types_in(text))
    typedefs = "".join(f"typedef struct type_of_{n} {n};\n" for n in names)
    unit = c_parser.CParser().parse(typedefs + text)
    return parsed_body_form(unit.ext[-1].body)


def _types_in(text: str) -> list[str]:
    """The type names of a function's text: fixed-width integers, and vectors where one is declared."""
    known = [n for n in ("int8_t", "uint8_t", "int32_t", "int64_t", "uint32_t", "uint64_t") if n in text]
    return known + re.findall(r"\btc_[a-z]+\d*w?(?= \w+(?:\[\w+\])?(?: =|;))", text)
