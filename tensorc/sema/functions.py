"""Bodies of statements, and the inlining of `def`s into the kernel that calls them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from collections.abc import Sequence as Items
from dataclasses import replace
from typing import Any, NoReturn

from tensorc.sema.builder import TooLargeError
from tensorc.sema.expressions import Context, Steps, evaluate
from tensorc.sema.iteration import define_by_index
from tensorc.sema.scopes import Frame, near, warn_hiding
from tensorc.sema.types import check_annotation
from tensorc.sema.values import POISON, Arg, Poison, Sequence, Tensor, Value, describe
from tensorc.source import Span
from tensorc.syntax import ast
from tensorc.tensor_ir.program import Pin, Shape

MAX_INLINED_CALLS = 10_000
MAX_NESTED_CALLS = 2_000


def inline_function(
    c: Context, function: ast.Function, bound: Mapping[str, Arg], call: Span, domain: Shape
) -> Steps:
    """The value of a `def`'s body with its parameters bound; its spans keep the call."""
    scope = c.scope
    c.scope = scope.homes.get(function.name, scope)
    result: Value = POISON
    c.scope.inlined.add(function.name)
    if function.name not in c.scope.recursive:
        result = yield _inline(c, function, bound, Frame(call, function.name, domain=domain))
    c.scope = scope
    return result


def _inline(c: Context, function: ast.Function, bound: Mapping[str, Arg], frame: Frame) -> Steps:
    assert frame.call is not None
    c.calls += 1
    if c.calls > MAX_INLINED_CALLS:
        _refuse(c, f"the kernel inlines more than {MAX_INLINED_CALLS} calls", frame.call)
    # every place in the body keeps the calls that led to it
    if len(frame.call.via) >= MAX_NESTED_CALLS:
        _refuse(c, f"calls of `def`s are nested more than {MAX_NESTED_CALLS} deep", frame.call)
    outside = replace(frame, names={})
    for parameter in function.params:
        place = frame.place(parameter.span)
        if parameter.name in bound:
            value = bound[parameter.name].value
        else:
            assert parameter.default is not None
            value = yield evaluate(c, parameter.default, outside)
        frame.bind(c.builder.bag, parameter.name, value, place)
    result: Value | None = yield run_body(c, function.body, frame)
    if result is None:
        c.builder.error("TC0210", f"`{function.name}` returns nothing", frame.place(function.span))
        return POISON
    return result


def _refuse(c: Context, message: str, call: Span) -> NoReturn:
    c.builder.error("TC0504", message, call, label="expanding this call")
    raise TooLargeError


def check_alone(c: Context, function: ast.Function) -> Steps:
    """A `def` that nothing calls: all that can be wrong without knowing its arguments, as unknown names."""
    frame = Frame(function=function.name)
    for parameter in function.params:
        if parameter.default is not None:
            yield evaluate(c, parameter.default, frame)
    for parameter in function.params:
        frame.bind(c.builder.bag, parameter.name, POISON, parameter.span)
    result: Value | None = yield run_body(c, function.body, frame)
    if result is None:
        c.builder.error("TC0210", f"`{function.name}` returns nothing", function.span)
    return POISON


def run_body(c: Context, body: tuple[ast.Statement, ...], frame: Frame) -> Generator[Any, Any, Value | None]:
    """The returned value (a `Sequence` of several), or None without a return."""
    for position, statement in enumerate(body):
        match statement:
            case ast.Assign():
                yield _assign(c, statement, frame)
            case ast.Return(values=values):
                result: Value = yield _return(c, values, frame)
                if position + 1 < len(body):
                    _report_unreachable(c, body[position + 1], frame)
                return result
            case ast.IndexDefinition():
                yield _define(c, statement, frame)
            case ast.Iterate():
                c.builder.error("TC0503", "`iterate` is not supported yet", frame.place(statement.span))
                _poison_carried(c, statement, frame)
    return None


def _report_unreachable(c: Context, statement: ast.Statement, frame: Frame) -> None:
    c.builder.error(
        "TC0210", "nothing after `return` is reached", frame.place(statement.span), label="after the return"
    )


def _poison_carried(c: Context, statement: ast.Iterate, frame: Frame) -> None:
    for name in statement.carried:
        local = frame.names.get(name)
        if local is not None:
            local.value = POISON
            local.read = True


def _return(c: Context, values: tuple[ast.Expr, ...], frame: Frame) -> Steps:
    results: list[Value] = []
    for value in values:
        results.append((yield evaluate(c, value, frame)))
    return results[0] if len(results) == 1 else Sequence(tuple(results))


def _pin_values(
    c: Context, statement: ast.Assign | ast.IndexDefinition, values: Items[Value], frame: Frame
) -> None:
    """Apply `@materialize` or `@inline` to what a statement assigns."""
    for position, decorator in enumerate(statement.decorators):
        span = frame.place(decorator.span)
        if decorator.name not in tuple(Pin):
            help = near(decorator.name, tuple(Pin)) or "there are @materialize and @inline"
            c.builder.error("TC0203", f"unknown decorator @{decorator.name}", span, help=help)
            continue
        reason = "it takes no arguments" if decorator.args or decorator.keywords else ""
        if position:
            reason = f"the value has @{statement.decorators[0].name} already"
        for value in values:
            if isinstance(value, Tensor) and not reason:
                reason = c.builder.pin(value, Pin(decorator.name))
            elif not isinstance(value, Tensor | Poison):
                reason = reason or f"{describe(value)} is not an array"
        if reason:
            c.builder.error("TC0115", f"`@{decorator.name}` has no place here: {reason}", span)


def _define(c: Context, statement: ast.IndexDefinition, frame: Frame) -> Steps:
    value: Value = yield define_by_index(c, statement, frame)
    _pin_values(c, statement, (value,), frame)
    frame.bind(c.builder.bag, statement.name, value, frame.place(statement.span))
    warn_hiding(c.builder.bag, statement.name, statement.span)
    if isinstance(value, Tensor) and statement.name != "_":
        c.builder.give_name(value, statement.name)
    return POISON


def _assign(c: Context, statement: ast.Assign, frame: Frame) -> Steps:
    value: Value = yield evaluate(c, statement.value, frame)
    values = _unpack(c, statement, value, frame)
    _pin_values(c, statement, values, frame)
    for target, item in zip(statement.targets, values, strict=True):
        span = frame.place(target.span)
        if target.type is not None:
            item = yield check_annotation(c, target.type, item, frame, span)
        frame.bind(c.builder.bag, target.name, item, span)
        # at the bare place, so that a def that is called often warns once
        warn_hiding(c.builder.bag, target.name, target.span)
        if isinstance(item, Tensor) and target.name != "_":
            c.builder.give_name(item, target.name)
    return POISON


def _unpack(c: Context, statement: ast.Assign, value: Value, frame: Frame) -> tuple[Value, ...]:
    """One value per target."""
    count = len(statement.targets)
    if count == 1:
        return (value,)
    if isinstance(value, Sequence) and len(value.items) == count:
        return value.items
    if not isinstance(value, Poison):
        found = f"{len(value.items)} values" if isinstance(value, Sequence) else describe(value)
        c.builder.error(
            "TC0210",
            f"{count} names are assigned, but the right side gives {found}",
            frame.place(statement.span),
            label=f"expected {count} values",
        )
    return (POISON,) * count
