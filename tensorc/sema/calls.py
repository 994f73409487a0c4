"""Calls: which operation, cast or `def` is meant, and how its arguments bind to parameters."""

from __future__ import annotations

from collections.abc import Generator
from collections.abc import Sequence as Items
from dataclasses import dataclass, replace
from typing import Any

from tensorc.dtypes import SUPPORTED, DType
from tensorc.sema import foreign
from tensorc.sema.builder import Site
from tensorc.sema.elements import apply_to_elements, is_element
from tensorc.sema.elementwise import check_cast
from tensorc.sema.expressions import (
    Context,
    Steps,
    dtype_parameter,
    evaluate,
    evaluate_arg,
    is_foreign_module,
)
from tensorc.sema.functions import inline_function
from tensorc.sema.iteration import FORMS
from tensorc.sema.operations import LATER, OPERATIONS, Operation
from tensorc.sema.scopes import Frame, near
from tensorc.sema.values import (
    POISON,
    Arg,
    Known,
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
from tensorc.syntax.imports import standard_file_with
from tensorc.tensor_ir.program import Shape


@dataclass(frozen=True, slots=True, eq=False)
class NamedArg:
    name: str
    arg: Arg
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Arguments:
    """Evaluated arguments as written."""

    positional: tuple[Arg, ...]
    named: tuple[NamedArg, ...]

    @property
    def poisoned(self) -> bool:
        every = (*self.positional, *(n.arg for n in self.named))
        return self.misordered or any(is_poisoned(a.value) for a in every)

    @property
    def misordered(self) -> bool:
        """A positional argument stands behind a named one, which the parser has reported."""
        last = max((a.span.start for a in self.positional), default=0)
        return any(n.span.start < last for n in self.named)


def evaluate_call(c: Context, node: ast.Call, frame: Frame) -> Steps:
    """The value of `f(...)` or `x.f(...)`."""
    function = node.function
    if isinstance(function, ast.Attribute):
        if is_foreign_module(c, function.value, frame):
            _report_foreign(c, function.name, frame.place(function.span))
            yield _arguments(c, node, frame)
            return POISON
        if function.name in LATER:
            _report_later(c, function.name, frame.place(function.span))
            yield evaluate(c, function.value, frame)
            return POISON
        receiver: Arg = yield evaluate_arg(c, function.value, frame)
        args: Arguments = yield _arguments(c, node, frame)
        return _call_method(c, frame, node, function, receiver, args)
    if not isinstance(function, ast.Name):
        yield evaluate(c, function, frame)
        c.builder.error("TC0203", "only operations and defs can be called", frame.place(function.span))
        return POISON
    if function.id in LATER and not _is_defined(c, function.id, frame):
        _report_later(c, function.id, frame.place(function.span))
        yield _arguments(c, _without_tuples(node), frame)
        return POISON
    args = yield _arguments(c, node, frame)
    if _is_value(c, function.id, frame):
        _report_value_called(c, function, frame)
        return POISON
    dtype = dtype_parameter(c, function.id, frame)
    if dtype is not None:
        return _call_cast(c, function.id, dtype, args, frame.place(node.span), frame.domain)
    if function.id in c.scope.functions:
        if args.misordered:
            return POISON
        result: Value = yield _call_function(c, node, c.scope.functions[function.id], args, frame)
        return result
    return _call_operation(c, node, function.id, args, frame.place(node.span), frame)


def _arguments(c: Context, node: ast.Call, frame: Frame) -> Generator[Any, Any, Arguments]:
    positional: list[Arg] = []
    for item in node.args:
        positional.append((yield evaluate_arg(c, item, frame)))
    named: list[NamedArg] = []
    for keyword in node.keywords:
        value: Arg = yield evaluate_arg(c, keyword.value, frame)
        named.append(NamedArg(keyword.name, value, frame.place(keyword.span)))
    return Arguments(tuple(positional), tuple(named))


# -- what is called --------------------------------------------------------------------------------


def _is_value(c: Context, name: str, frame: Frame) -> bool:
    return name in frame.names or name in c.scope.consts


def _is_defined(c: Context, name: str, frame: Frame) -> bool:
    return _is_value(c, name, frame) or name in c.scope.functions


def _report_later(c: Context, name: str, span: Span) -> None:
    c.builder.error("TC0501", f"`{name}` is not supported yet", span, label="an operation of a later version")


def _without_tuples(node: ast.Call) -> ast.Call:
    """The call without the arguments that only its operation can read, as the slices of `update`."""
    return replace(node, args=tuple(a for a in node.args if not isinstance(a, ast.Tuple)))


def _report_value_called(c: Context, function: ast.Name, frame: Frame) -> None:
    what = f" and hides the operation `{function.id}`" if function.id in OPERATIONS else ""
    c.builder.error(
        "TC0203",
        f"`{function.id}` is a value here{what}: it cannot be called",
        frame.place(function.span),
        help="choose another name for the value" if what else "",
    )


def _call_method(
    c: Context, frame: Frame, node: ast.Call, function: ast.Attribute, receiver: Arg, args: Arguments
) -> Value:
    """`x.sum(axis=1)` is `sum(x, axis=1)`."""
    name, span = function.name, frame.place(function.span)
    if is_poisoned(receiver.value) and (name in OPERATIONS or not foreign.advice(name)):
        return POISON
    if name in foreign.METHODS and name not in OPERATIONS:
        c.builder.error("TC0211", f"`.{name}()` is not TDSL", span, help=f"write {foreign.METHODS[name]}")
        return POISON
    if name in ("T", "mT", "shape"):
        c.builder.error("TC0203", f"`.{name}` is not called", span, help=f"write .{name} without brackets")
        return POISON
    shifted = Arguments((receiver, *args.positional), args.named)
    return _call_operation(c, node, name, shifted, span, frame)


def _call_operation(
    c: Context, node: ast.Call, name: str, args: Arguments, span: Span, frame: Frame
) -> Value:
    place = frame.place(node.span)
    if name in SUPPORTED:
        return _call_cast(c, name, SUPPORTED[name], args, place, frame.domain)
    operation = OPERATIONS.get(name)
    if operation is None:
        _report_unknown_operation(c, name, args, frame.place(node.function.span), frame)
        return POISON
    if args.misordered:
        return POISON
    bound = _bind(c, operation, args, place)
    if bound is None or args.poisoned:
        return POISON
    site = Site(place, name)
    if not any(is_element(a.value) for a in bound.values()):
        return operation.check(c.builder, site, bound)
    if not operation.pointwise:
        _report_element(c, name, place)
        return POISON
    return apply_to_elements(
        c.builder,
        site,
        tuple(bound.values()),
        frame.domain,
        lambda ready: operation.check(c.builder, site, dict(zip(bound, ready, strict=True))),
    )


def _report_element(c: Context, name: str, span: Span) -> None:
    help = "use the whole array, outside of index notation or with no iterator in it"
    if name in FORMS:
        help = f"a reduction over an index is written {name}(x[k] for k in K)"
    c.builder.error(
        "TC0405", f"{name}() works on whole arrays", span, label="found one element of an array", help=help
    )


def _call_cast(c: Context, name: str, dtype: DType, args: Arguments, span: Span, domain: Shape) -> Value:
    if len(args.positional) != 1 or args.named:
        c.builder.error("TC0204", f"{name}(x) takes one argument", span, label="expected one value")
        return POISON
    if args.poisoned:
        return POISON
    site = Site(span, name)
    return apply_to_elements(
        c.builder, site, args.positional, domain, lambda ready: check_cast(c.builder, site, ready[0], dtype)
    )


def _report_unknown_operation(c: Context, name: str, args: Arguments, span: Span, frame: Frame) -> None:
    k = c.builder
    if not c.is_news(name, frame):
        return
    if name in c.scope.kernels:
        help = "kernels do not call each other: what they share is a `def`"
        k.error("TC0203", f"`{name}` is a kernel, not an operation", span, help=help)
    elif name == "float" and args.positional and isinstance(args.positional[0].value, Text):
        help = f"write {args.positional[0].value.value}"
        k.error("TC0211", f"`{span.text}` is not TDSL", span, label="another library's spelling", help=help)
    elif foreign.advice(name) or name in foreign.DTYPES:
        _report_foreign(c, name, span)
    elif not c.scope.incomplete and name not in c.scope.broken:
        home = standard_file_with(name)
        help = near(name, (*OPERATIONS, *LATER, *c.scope.functions, *SUPPORTED))
        if name in c.scope.functions:
            help = f"a def is called as {name}(x)"
        if home:
            help = f'it comes with `import "{home}"` at the top of the file'
        k.error("TC0203", f"unknown operation `{name}`", span, label="not an operation or def", help=help)


def _report_foreign(c: Context, name: str, span: Span) -> None:
    help = foreign.advice(name)
    home = standard_file_with(name)
    if name in OPERATIONS or name in LATER:
        help = f"write {name}(...)"
    elif name in foreign.DTYPES:
        help = help or f"write {foreign.DTYPES[name]}(x)"
    elif home:
        help = f'write {name}(...), which comes with `import "{home}"`'
    help = help or near(name, OPERATIONS) or "operations are called by their plain name"
    c.builder.error(
        "TC0211", f"`{span.text}` is not TDSL", span, label="another library's spelling", help=help
    )


# -- binding ---------------------------------------------------------------------------------------


def _bind(c: Context, operation: Operation, args: Arguments, span: Span) -> dict[str, Arg] | None:
    """Parameter -> argument of an operation; None after an error."""
    names = (*operation.required, *operation.optional)
    if operation.variadic:
        names += tuple(f"x{n}" for n in range(1, max(len(args.positional), 2)))
    bound = _bind_positional(c, operation, args.positional, names, span)
    if bound is None:
        return None
    if not _bind_named(c, operation.name, operation.parameters, args.named, bound):
        return None
    required = (*operation.required, "x1") if operation.variadic else operation.required
    if any(n not in bound for n in required):
        _report_count(c, operation.name, required, names, args, span)
        return None
    return bound


def _bind_named(
    c: Context, name: str, parameters: Items[str], named: Items[NamedArg], bound: dict[str, Arg]
) -> bool:
    """Add named arguments to the bound ones; False after the errors, one for each that is wrong."""
    valid = True
    for given in named:
        if given.name not in parameters:
            _report_keyword(c, name, given, parameters)
            valid = False
        elif given.name in bound:
            c.builder.error("TC0207", f"{name}() gets `{given.name}` twice", given.span)
            valid = False
        else:
            bound[given.name] = given.arg
    return valid


def _bind_positional(
    c: Context, operation: Operation, given: Items[Arg], names: tuple[str, ...], span: Span
) -> dict[str, Arg] | None:
    if len(given) <= len(names):
        return dict(zip(names, given, strict=False))
    if operation.keyword_only and len(given) == len(names) + 1 and not _tuple_help(names, given):
        keyword = operation.keyword_only[0]
        c.builder.error(
            "TC0204",
            f"{operation.name}() takes {keyword} by name",
            given[-1].span,
            label=f"found {describe(given[-1].value)}",
            help=_keyword_help(operation.name, keyword, given[-1]),
        )
        return None
    _report_count(c, operation.name, operation.required, names, Arguments(tuple(given), ()), span)
    return None


_TUPLES = ("shape", "axes")


def _tuple_help(names: Items[str], given: Items[Arg]) -> str:
    """`reshape(x, N, D)`: what other libraries take as several arguments is one tuple here."""
    position = next((p for p, n in enumerate(names) if n in _TUPLES), None)
    if position is None or len(given) <= position + 1:
        return ""
    rest = given[position:]
    if not all(size_of(a.value) is not None for a in rest):
        return ""
    return f"{names[position]} is one tuple: ({', '.join(a.span.text for a in rest)})"


def _keyword_help(name: str, keyword: str, given: Arg) -> str:
    if name in ("max", "min") and isinstance(given.value, Tensor):
        return f"of two values, write {name}imum(x, y)"
    if name in ("concat", "stack") and isinstance(given.value, Tensor):
        return f"the arrays are one tuple: {name}((a, b), axis=0)"
    if keyword == "dtype" and not isinstance(given.value, TypeName):
        return ""
    return f"write {keyword}={given.span.text}"


def _report_count(
    c: Context, name: str, required: Items[str], names: Items[str], args: Arguments, span: Span
) -> None:
    low, high = len(required), len(names)
    expected = str(low) if low == high else f"{low} to {high}"
    found = len(args.positional) + sum(1 for n in args.named if n.name in names)
    c.builder.error(
        "TC0204",
        f"{name}() takes {expected} argument{'s' if high != 1 else ''}, found {found}",
        span,
        label=f"expected {name}({', '.join(names)})",
        help=_tuple_help(names, args.positional),
    )


def _report_keyword(c: Context, name: str, given: NamedArg, parameters: Items[str]) -> None:
    instead = next((p for p in foreign.KEYWORDS.get(given.name, ()) if p in parameters), None)
    if instead is not None:
        c.builder.error(
            "TC0211",
            f"`{given.name}=` is not TDSL: {name}() takes `{instead}=`",
            given.span,
            label="another library's spelling",
            help=f"write {instead}={_translated(given)}",
        )
        return
    if given.name in foreign.KEYWORD_NOTES:
        help = foreign.KEYWORD_NOTES[given.name]
        c.builder.error("TC0211", f"{name}() has no `{given.name}=`", given.span, help=help)
        return
    c.builder.error(
        "TC0205",
        f"{name}() has no parameter `{given.name}`",
        given.span,
        label=f"expected one of {', '.join(parameters)}",
        help=near(given.name, parameters),
    )


def _translated(given: NamedArg) -> str:
    """The value of a foreign keyword in the words of the one that replaces it."""
    match given.name, given.arg.value:
        case "unbiased", Known(bool(unbiased)):
            return str(int(unbiased))
    return given.arg.span.text


def _call_function(
    c: Context, node: ast.Call, function: ast.Function, args: Arguments, frame: Frame
) -> Steps:
    """A call of a `def`: bind its parameters, evaluate missing defaults, inline its body."""
    span = frame.place(node.span)
    names = tuple(p.name for p in function.params)
    required = tuple(p.name for p in function.params if p.default is None)
    if len(args.positional) > len(names):
        _report_count(c, function.name, required, names, args, span)
        return POISON
    bound = dict(zip(names, args.positional, strict=False))
    if not _bind_named(c, function.name, names, args.named, bound):
        return POISON
    if any(n not in bound for n in required):
        _report_count(c, function.name, required, names, args, span)
        return POISON
    # a def knows the iterators around its call by its arguments only
    domain = frame.domain if any(is_element(a.value) for a in bound.values()) else ()
    result: Value = yield inline_function(c, function, bound, span, domain)
    return result
