"""Expressions to values, on an explicit stack: a sum of 3,000 terms is one deep tree.

Each construct is a generator that yields the evaluations it needs and gets their values back;
`run` drives them. Calls of operations and of `def`s are in `calls` and `functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from collections.abc import Sequence as Items
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from tensorc.dtypes import SUPPORTED, DType
from tensorc.sema import foreign
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elements import apply_to_elements, check_pointwise, is_element
from tensorc.sema.elementwise import check_plus, numeric, report_zero_divisor
from tensorc.sema.indexing import check_element
from tensorc.sema.layout import check_matmul, check_matrix_transpose, check_transpose_attribute
from tensorc.sema.numbers import parse_float
from tensorc.sema.operations import LATER, OPERATIONS
from tensorc.sema.operator_names import BINARY, COMPARE, UNARY
from tensorc.sema.scopes import CONSTANTS, FileScope, Frame, near
from tensorc.sema.sizes import SymbolTable
from tensorc.sema.slices import EllipsisItem, Item, SliceItem, check_subscript, tuple_item
from tensorc.sema.values import (
    POISON,
    Absent,
    Arg,
    Index,
    Known,
    Poison,
    Sequence,
    Size,
    Tensor,
    Text,
    TypeName,
    Value,
    describe,
    is_poisoned,
    size_of,
)
from tensorc.source import Span
from tensorc.syntax import ast

Steps = Generator[Any, Any, Value]
T = TypeVar("T")


@dataclass(slots=True)
class Context:
    """Everything an evaluation reads and writes: the program, the file's names, the size symbols.

    `types` says what the kernel's dtype parameters are; a `def` does not see them.
    `evaluate_call` and `comprehend` are handed in, since they evaluate expressions; `calls` counts the
    inlined ones.
    """

    builder: Builder
    scope: FileScope
    symbols: SymbolTable
    evaluate_call: Callable[[Context, ast.Call, Frame], Steps]
    comprehend: Callable[[Context, ast.Comprehension, Frame], Steps]
    types: Mapping[str, DType] = field(default_factory=dict)
    calls: int = 0
    unknown: set[tuple[str, str]] = field(default_factory=set)

    def is_news(self, name: str, frame: Frame) -> bool:
        """False when a body has been told already that it uses an unknown name."""
        key = (frame.function, name)
        told = key in self.unknown
        self.unknown.add(key)
        return not told


def run(steps: Generator[Any, Any, T]) -> T:
    """Drive an evaluation to its value without recursion."""
    stack: list[Generator[Any, Any, Any]] = [steps]
    value: Any = None
    while True:
        try:
            child = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
            if not stack:
                result: T = value
                return result
            continue
        stack.append(child)
        value = None


def evaluate(c: Context, node: ast.Expr, frame: Frame) -> Steps:
    """The value of an expression."""
    return _EVALUATORS[type(node)](c, node, frame)


def evaluate_arg(c: Context, node: ast.Expr, frame: Frame) -> Generator[Any, Any, Arg]:
    """The value of an expression with its place."""
    value = yield evaluate(c, node, frame)
    return Arg(value, frame.place(node.span))


# -- leaves ----------------------------------------------------------------------------------------


def _leaf(value: Value) -> Steps:
    return value
    yield


def _int(c: Context, node: ast.Int, frame: Frame) -> Steps:
    return _leaf(Known(node.value))


def _float(c: Context, node: ast.Float, frame: Frame) -> Steps:
    number = parse_float(node.text)
    if number is None:
        c.builder.error(
            "TC0303", f"{node.text} is beyond f64", frame.place(node.span), help="an infinity is written inf"
        )
        return _leaf(POISON)
    return _leaf(number)


def _bool(c: Context, node: ast.Bool, frame: Frame) -> Steps:
    return _leaf(Known(node.value))


def _none(c: Context, node: ast.NoneLiteral, frame: Frame) -> Steps:
    return _leaf(Absent())


def _string(c: Context, node: ast.String, frame: Frame) -> Steps:
    return _leaf(Text(node.value))


def _name(c: Context, node: ast.Name, frame: Frame) -> Steps:
    return _leaf(look_up(c, node.id, frame.place(node.span), frame))


def look_up(c: Context, name: str, span: Span, frame: Frame) -> Value:
    """What a name means here: locals, then constants, sizes, dtypes and the language's own."""
    local = frame.names.get(name)
    if local is not None:
        local.read = True
        return local.value
    dtype = dtype_parameter(c, name, frame)
    if dtype is not None:
        return TypeName(dtype)
    if name in c.scope.consts:
        return c.scope.consts[name]
    if frame.open_symbols or _symbol_in_reach(c, name, frame):
        return c.symbols.value(name, span)
    if name in SUPPORTED:
        return TypeName(SUPPORTED[name])
    if name in CONSTANTS:
        return Known(CONSTANTS[name])
    _report_unknown(c, name, span, frame)
    return POISON


def dtype_parameter(c: Context, name: str, frame: Frame) -> DType | None:
    """The dtype that a kernel's dtype parameter stands for."""
    return None if frame.function else c.types.get(name)


def _symbol_in_reach(c: Context, name: str, frame: Frame) -> bool:
    """A `def` sees the sizes that the file declares; a kernel also those of its parameters."""
    if c.symbols.is_fixed(name):
        return True
    return name in c.symbols.bound and (not frame.function or c.symbols.fact(name) is not None)


def _report_unknown(c: Context, name: str, span: Span, frame: Frame) -> None:
    k = c.builder
    if name in c.scope.broken:
        return
    if c.symbols.fact(name) is not None or frame.in_type:
        k.error(
            "TC0209",
            f"no parameter binds the size `{name}`",
            span,
            label="not bound",
            help=f"use {name} as a size of a parameter, fix it with `dims {name} = ...`, "
            f"or take it as a parameter `{name}: i64`",
        )
    elif name in OPERATIONS or name in LATER or name in c.scope.functions:
        k.error("TC0201", f"`{name}` is an operation, not a value", span, help=f"call it: {name}(...)")
    elif name in foreign.VALUES or name in foreign.DTYPES:
        help = f"write {foreign.VALUES.get(name) or foreign.DTYPES[name]}"
        k.error("TC0211", f"`{name}` is not TDSL", span, label="another library's spelling", help=help)
    elif name in c.scope.later:
        k.error(
            "TC0201",
            f"`{name}` is not known yet",
            span,
            help=f"move the declaration of {name} before this one",
        )
    elif not c.scope.incomplete and c.is_news(name, frame):
        candidates = (*frame.names, *c.scope.consts, *c.symbols.bound, *CONSTANTS, *SUPPORTED)
        k.error(
            "TC0201", f"unknown name `{name}`", span, label="not defined here", help=near(name, candidates)
        )


# -- operators -------------------------------------------------------------------------------------


def _unary(c: Context, node: ast.Unary, frame: Frame) -> Steps:
    value = yield evaluate(c, node.operand, frame)
    if is_poisoned(value):
        return POISON
    operand = Arg(value, frame.place(node.operand.span))
    if node.op == "+":
        site = Site(frame.place(node.span), "pos")
        if isinstance(value, Index):
            return value
        return apply_to_elements(c.builder, site, [operand], frame.domain, partial(_plus, c.builder, site))
    op, origin = UNARY[node.op]
    return check_pointwise(c.builder, Site(frame.place(node.span), origin), op, [operand], frame.domain)


def _plus(k: Builder, site: Site, args: Items[Arg]) -> Value:
    return check_plus(k, site, args[0])


def _binary(c: Context, node: ast.Binary, frame: Frame) -> Steps:
    left = yield evaluate(c, node.left, frame)
    right = yield evaluate(c, node.right, frame)
    if is_poisoned(left) or is_poisoned(right):
        return POISON
    args = [Arg(left, frame.place(node.left.span)), Arg(right, frame.place(node.right.span))]
    span = frame.place(node.span)
    if node.op == "@":
        if is_element(left) or is_element(right):
            help = "a contraction is written sum(a[i, k] * b[k, j] for k in K)"
            c.builder.error("TC0405", "`@` works on whole arrays", span, label="found an element", help=help)
            return POISON
        return check_matmul(c.builder, Site(span, "matmul"), {"x1": args[0], "x2": args[1]})
    op, origin = BINARY[node.op]
    if frame.of_size and op in ("floor_divide", "remainder") and size_of(right) == 0:
        report_zero_divisor(c.builder, Site(span, origin))
        return POISON
    return check_pointwise(c.builder, Site(span, origin), op, args, frame.domain)


def _compare(c: Context, node: ast.Compare, frame: Frame) -> Steps:
    """A chain is the `and` of its pairs; each operand is evaluated once."""
    left: Value = yield evaluate(c, node.first, frame)
    place = frame.place(node.first.span)
    result: Value | None = None
    for symbol, operand in zip(node.ops, node.operands, strict=True):
        right: Value = yield evaluate(c, operand, frame)
        op, origin = COMPARE[symbol]
        args = [Arg(left, place), Arg(right, frame.place(operand.span))]
        site = Site(frame.place(node.span), origin)
        poisoned = is_poisoned(left) or is_poisoned(right) or isinstance(result, Poison)
        pair = POISON if poisoned else check_pointwise(c.builder, site, op, args, frame.domain)
        if result is not None and pair is not POISON:
            both = [Arg(result, site.span), Arg(pair, site.span)]
            pair = check_pointwise(c.builder, Site(site.span, "and"), "logical_and", both, frame.domain)
        result = pair
        left, place = right, args[1].span
    assert result is not None
    return result


# -- tuples, attributes, subscripts ----------------------------------------------------------------


def _tuple(c: Context, node: ast.Tuple, frame: Frame) -> Steps:
    items: list[Value] = []
    for item in node.items:
        if isinstance(item, ast.Slice | ast.Ellipsis):
            c.builder.error("TC0503", "a slice in a tuple is not supported yet", frame.place(item.span))
            return POISON
        items.append((yield evaluate(c, item, frame)))
    return Sequence(tuple(items))


def _attribute(c: Context, node: ast.Attribute, frame: Frame) -> Steps:
    k, span = c.builder, frame.place(node.span)
    if is_foreign_module(c, node.value, frame):
        spelling = foreign.VALUES.get(node.name) or foreign.DTYPES.get(node.name) or node.name
        k.error("TC0211", f"`{span.text}` is not TDSL", span, help=f"write {spelling}")
        return POISON
    value = yield evaluate(c, node.value, frame)
    if is_poisoned(value):
        return POISON
    receiver = {"x": Arg(value, frame.place(node.value.span))}
    if node.name == "T":
        return check_transpose_attribute(k, Site(span, "T"), receiver)
    if node.name == "mT":
        return check_matrix_transpose(k, Site(span, "mT"), receiver)
    if node.name == "shape" and isinstance(value, Tensor):
        return Sequence(tuple(Size(s) if s.constant is None else Known(s.constant) for s in value.shape))
    if node.name in foreign.ATTRIBUTES or node.name in foreign.METHODS:
        instead = foreign.ATTRIBUTES.get(node.name) or foreign.METHODS[node.name]
        k.error("TC0211", f"`.{node.name}` is not TDSL", span, help=f"write {instead}")
    elif node.name in OPERATIONS:
        k.error("TC0201", f"`.{node.name}` is an operation", span, help=f"call it: .{node.name}(...)")
    else:
        k.error(
            "TC0201",
            f"{describe(value)} has no attribute `{node.name}`",
            span,
            help=near(node.name, ("T", "mT", "shape", *OPERATIONS)),
        )
    return POISON


def is_foreign_module(c: Context, node: ast.Expr, frame: Frame) -> bool:
    """`np` in `np.sin(x)`, or `np.linalg` in `np.linalg.norm(x)`: not a name of the program."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in foreign.MODULES:
        return False
    defined = node.id in frame.names or node.id in c.scope.consts or _symbol_in_reach(c, node.id, frame)
    return not defined


def _subscript(c: Context, node: ast.Subscript, frame: Frame) -> Steps:
    value = yield evaluate(c, node.value, frame)
    items: list[Item] = []
    for item in node.items:
        items.append((yield _item(c, item, frame)))
    site = Site(frame.place(node.span), "slice")
    if is_poisoned(value) or any(_item_is_poisoned(i) for i in items):
        return POISON
    if isinstance(value, Sequence):
        return tuple_item(c.builder, site, value.items, tuple(items))
    if isinstance(value, Tensor) and any(isinstance(i, Arg) and is_element(i.value) for i in items):
        return check_element(c.builder, site, value, tuple(items), frame.domain)
    if is_element(value):
        k = c.builder
        k.error(
            "TC0405", f"{describe(value)} has no axes", site.span, help="write all indices as one x[i, j]"
        )
        return POISON
    found = numeric(c.builder, Arg(value, frame.place(node.value.span)), site)
    return POISON if found is None else check_subscript(c.builder, site, found, tuple(items))


def _item(c: Context, node: ast.Expr, frame: Frame) -> Generator[Any, Any, Item]:
    span = frame.place(node.span)
    if isinstance(node, ast.Ellipsis):
        return EllipsisItem(span)
    if not isinstance(node, ast.Slice):
        value = yield evaluate(c, node, frame)
        return Arg(value, span)
    parts: list[Arg | None] = []
    for part in (node.start, node.stop, node.step):
        parts.append(None if part is None else (yield evaluate_arg(c, part, frame)))
    return SliceItem(parts[0], parts[1], parts[2], span)


def _item_is_poisoned(item: Item) -> bool:
    match item:
        case Arg(value):
            return is_poisoned(value)
        case SliceItem(start, stop, step):
            return any(part is not None and is_poisoned(part.value) for part in (start, stop, step))
    return False


def _comprehension(c: Context, node: ast.Comprehension, frame: Frame) -> Steps:
    return c.comprehend(c, node, frame)


def _misplaced(c: Context, node: ast.Expr, frame: Frame) -> Steps:
    c.builder.error("TC0404", "a slice stands only inside x[...]", frame.place(node.span))
    return _leaf(POISON)


def _call(c: Context, node: ast.Call, frame: Frame) -> Steps:
    return c.evaluate_call(c, node, frame)


_EVALUATORS: dict[type[ast.Node], Callable[..., Steps]] = {
    ast.Name: _name,
    ast.Int: _int,
    ast.Float: _float,
    ast.Bool: _bool,
    ast.NoneLiteral: _none,
    ast.String: _string,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.Compare: _compare,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Slice: _misplaced,
    ast.Ellipsis: _misplaced,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.Comprehension: _comprehension,
}
