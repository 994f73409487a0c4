"""From Lark's parse tree to the AST. The walk keeps its own stack: trees may be thousands deep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lark

from tensorc.diagnostics.model import Diagnostic, Label
from tensorc.source import Source, Span
from tensorc.syntax import ast

# What a rule gives: a node, a tuple of nodes or names, None for an optional part that is missing.
Built = Any
Rule = Callable[["Builder", Span, list[Built]], Built]

BINARY = {
    "or_": "or",
    "and_": "and",
    "bitor": "|",
    "bitxor": "^",
    "bitand": "&",
    "shl": "<<",
    "shr": ">>",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "matmul": "@",
    "pow": "**",
}
UNARY = {"not_": "not", "neg": "-", "pos": "+", "invert": "~"}


class Builder:
    """Builds the items of one source. What a tree cannot say wrong but the AST can is in `errors`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.errors: list[Diagnostic] = []

    def build_items(self, tree: lark.Tree[lark.Token]) -> tuple[ast.Item, ...]:
        """The items under a `start` tree."""
        order: list[lark.Tree[lark.Token] | lark.Token | None] = []
        pending: list[lark.Tree[lark.Token] | lark.Token | None] = [tree]
        while pending:
            entry = pending.pop()
            order.append(entry)
            if isinstance(entry, lark.Tree):
                pending.extend(entry.children)
        values: list[Built] = []
        for entry in reversed(order):
            if not isinstance(entry, lark.Tree):
                values.append(entry)
                continue
            count = len(entry.children)
            children = values[len(values) - count :]
            del values[len(values) - count :]
            values.append(self._build(entry, children))
        return tuple(values[0])

    def _build(self, tree: lark.Tree[lark.Token], children: list[Built]) -> Built:
        span = Span(self.source, 0, 0)
        if not tree.meta.empty:
            span = self.span(tree.meta.start_pos, tree.meta.end_pos)
        rule = str(tree.data)
        if rule in BINARY:
            return ast.Binary(span, BINARY[rule], children[0], children[1])
        if rule in UNARY:
            return ast.Unary(span, UNARY[rule], children[0])
        return RULES[rule](self, span, children)

    def span(self, start: int, end: int) -> Span:
        """A span, cut at the end of the text: the parser sees one more newline."""
        size = len(self.source.text)
        return Span(self.source, min(start, size), min(end, size))

    def token_span(self, token: lark.Token) -> Span:
        return self.span(token.start_pos or 0, token.end_pos or 0)

    def error(self, code: str, message: str, span: Span, help: str = "", *labels: Label) -> None:
        self.errors.append(Diagnostic(code, message, span, secondary=labels, help=help))


# -- expressions -----------------------------------------------------------------------------------


def _int(b: Builder, span: Span, children: list[Built]) -> ast.Int:
    return ast.Int(span, _int_value(b, children[0]))


def _int_value(b: Builder, token: lark.Token) -> int:
    """The value of an integer literal; 0, with an error, when it has none."""
    digits = token.replace("_", "")
    if len(digits) > 1 and digits.startswith("0") and digits.isdigit() and digits.strip("0"):
        b.error(
            "TC0112",
            f"the integer `{token}` starts with 0",
            b.token_span(token),
            f"write `{digits.lstrip('0')}`; there are no octal literals",
        )
        return 0
    if len(digits) > 1000:
        b.error("TC0112", f"an integer of {len(digits)} digits fits no type", b.token_span(token))
        return 0
    return int(digits, 0) if digits.strip("0") else 0


def _compare(b: Builder, span: Span, children: list[Built]) -> ast.Compare:
    return ast.Compare(span, children[0], tuple(map(str, children[1::2])), tuple(children[2::2]))


def _call(b: Builder, span: Span, children: list[Built]) -> ast.Call:
    args, keywords = _split_arguments(b, children[1] or ())
    return ast.Call(span, children[0], args, keywords)


def _split_arguments(
    b: Builder, arguments: tuple[ast.Expr | ast.Keyword, ...]
) -> tuple[tuple[ast.Expr, ...], tuple[ast.Keyword, ...]]:
    args: list[ast.Expr] = []
    keywords: dict[str, ast.Keyword] = {}
    for argument in arguments:
        if not isinstance(argument, ast.Keyword):
            args.append(argument)
            if keywords:
                first = next(iter(keywords.values()))
                b.error(
                    "TC0117",
                    "a positional argument follows a keyword argument",
                    argument.span,
                    "put the positional arguments first",
                    Label(first.span, "the keyword argument"),
                )
        elif argument.name in keywords:
            earlier = Label(keywords[argument.name].span, "first given here")
            b.error("TC0118", f"the argument `{argument.name}` is given twice", argument.span, "", earlier)
        else:
            keywords[argument.name] = argument
    return tuple(args), tuple(keywords.values())


def _subscript(b: Builder, span: Span, children: list[Built]) -> ast.Subscript:
    return ast.Subscript(span, children[0], children[1])


def _attribute(b: Builder, span: Span, children: list[Built]) -> ast.Attribute:
    return ast.Attribute(span, children[0], str(children[1]))


def _comprehension(b: Builder, span: Span, children: list[Built]) -> ast.Comprehension:
    return ast.Comprehension(span, children[0], children[1], children[2])


def _slice(b: Builder, span: Span, children: list[Built]) -> ast.Slice:
    return ast.Slice(span, children[0], children[1], children[2])


def _tuple_of(b: Builder, span: Span, children: list[Built]) -> tuple[Built, ...]:
    return tuple(children)


def _names(b: Builder, span: Span, children: list[Built]) -> tuple[str, ...]:
    return tuple(map(str, children))


# -- types and statements --------------------------------------------------------------------------


def _type(b: Builder, span: Span, children: list[Built]) -> ast.TypeExpr:
    return ast.TypeExpr(span, str(children[0]), children[1] or ())


def _attr(b: Builder, span: Span, children: list[Built]) -> ast.Decorator:
    args, keywords = _split_arguments(b, children[1] or ())
    return ast.Decorator(span, str(children[0]), args, keywords)


def _assign(b: Builder, span: Span, children: list[Built]) -> ast.Assign:
    decorators = tuple(c for c in children if isinstance(c, ast.Decorator))
    targets = tuple(c for c in children if isinstance(c, ast.Target))
    return ast.Assign(span, decorators, targets, children[-1])


def _index_def(b: Builder, span: Span, children: list[Built]) -> ast.IndexDefinition:
    name, indices, value, iterators = children[-4:]
    return ast.IndexDefinition(span, tuple(children[:-4]), str(name), indices, value, iterators)


def _iterate(b: Builder, span: Span, children: list[Built]) -> ast.Iterate:
    counter, steps, carried, body = children
    return ast.Iterate(span, _optional(counter), steps, carried, body)


def _optional(token: lark.Token | None) -> str | None:
    return None if token is None else str(token)


# -- items -----------------------------------------------------------------------------------------


def _import(b: Builder, span: Span, children: list[Built]) -> ast.Import:
    return ast.Import(span, str(children[0])[1:-1])


def _const(b: Builder, span: Span, children: list[Built]) -> ast.Const:
    return ast.Const(span, str(children[0]), children[1], children[2])


def _dim_decl(b: Builder, span: Span, children: list[Built]) -> ast.DimDeclaration:
    given = next((c for c in children[1:] if c is not None), None)
    if isinstance(given, lark.Token):
        return ast.DimDeclaration(span, str(children[0]), None, _int_value(b, given))
    return ast.DimDeclaration(span, str(children[0]), given, None)


def _function(b: Builder, span: Span, children: list[Built]) -> ast.Function:
    name, params, body = children
    statements = body if isinstance(body, tuple) else (ast.Return(body.span, (body,)),)
    return ast.Function(span, str(name), params or (), statements)


def _typaram(b: Builder, span: Span, children: list[Built]) -> ast.TypeParam:
    return ast.TypeParam(span, str(children[0]), tuple(map(str, children[1:])))


def _results(b: Builder, span: Span, children: list[Built]) -> tuple[ast.KernelParam, ...]:
    if isinstance(children[0], ast.TypeExpr):
        return (ast.KernelParam(span, "", children[0], None),)
    return tuple(children[0])


def _kernel(b: Builder, span: Span, children: list[Built]) -> ast.Kernel:
    name, type_params, params, results, requires, body = children[-6:]
    return ast.Kernel(
        span,
        tuple(children[:-6]),
        str(name),
        type_params or (),
        params or (),
        results,
        requires or (),
        body,
        doc_comment(b.source, span.start),
    )


def doc_comment(source: Source, offset: int) -> str:
    """The `##` lines right above `offset`, without their marks; "" when there are none."""
    lines: list[str] = []
    number = source.position(offset)[0] - 1
    while number >= 1 and source.line(number).lstrip().startswith("##"):
        lines.append(source.line(number).lstrip()[2:].removeprefix(" ").rstrip())
        number -= 1
    return "\n".join(reversed(lines))


RULES: dict[str, Rule] = {
    "start": _tuple_of,
    "import_stmt": _import,
    "const_def": _const,
    "dims_def": lambda b, span, c: ast.Dims(span, tuple(c)),
    "dim_decl": _dim_decl,
    "func_expr": _function,
    "func_block": _function,
    "kernel_def": _kernel,
    "attr": _attr,
    "typarams": _tuple_of,
    "typaram": _typaram,
    "params": _tuple_of,
    "param": lambda b, span, c: ast.KernelParam(span, str(c[0]), c[1], c[2]),
    "fparams": _tuple_of,
    "fparam": lambda b, span, c: ast.FunctionParam(span, str(c[0]), c[1]),
    "type": _type,
    "results": _results,
    "requires": lambda b, span, c: c[0],
    "block": _tuple_of,
    "assign": _assign,
    "target": lambda b, span, c: ast.Target(span, str(c[0]), c[1]),
    "index_def": _index_def,
    "iterate": _iterate,
    "iters": _tuple_of,
    "iter": lambda b, span, c: ast.Iterator(span, str(c[0]), c[1]),
    "names": _names,
    "return_stmt": lambda b, span, c: ast.Return(span, c[0]),
    "exprs": _tuple_of,
    "args": _tuple_of,
    "subs": _tuple_of,
    "compare": _compare,
    "call": _call,
    "comprehension": _comprehension,
    "subscript": _subscript,
    "attribute": _attribute,
    "slice": _slice,
    "tuple": lambda b, span, c: ast.Tuple(span, tuple(c)),
    "keyword": lambda b, span, c: ast.Keyword(span, str(c[0]), c[1]),
    "ellipsis": lambda b, span, c: ast.Ellipsis(span),
    "name": lambda b, span, c: ast.Name(span, str(c[0])),
    "int": _int,
    "float": lambda b, span, c: ast.Float(span, str(c[0])),
    "true": lambda b, span, c: ast.Bool(span, True),
    "false": lambda b, span, c: ast.Bool(span, False),
    "none": lambda b, span, c: ast.NoneLiteral(span),
    "string": lambda b, span, c: ast.String(span, str(c[0])[1:-1]),
}
"""What each rule of the grammar builds (binary and unary operators are in `BINARY`, `UNARY`)."""
