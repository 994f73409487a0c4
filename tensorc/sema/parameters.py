"""A kernel's parameters: types, defaults, names; and what a kernel may not have yet."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from tensorc.diagnostics.model import Label
from tensorc.sema.constants import as_number
from tensorc.sema.expressions import Context, evaluate, run
from tensorc.sema.numbers import constant_value, fits
from tensorc.sema.scopes import Frame, warn_hiding
from tensorc.sema.types import WrittenType, read_type
from tensorc.sema.values import Known, Value, describe, is_poisoned
from tensorc.signature import Param
from tensorc.source import Span
from tensorc.syntax import ast

RESERVED = ("out", "threads", "copy")
"""Keywords of every kernel's Python function."""


def check_kernel_features(c: Context, node: ast.Kernel) -> None:
    """Refuse decorators."""
    for decorator in node.decorators:
        message = f"`@{decorator.name}` has no place here: a kernel has no decorators"
        help = "@materialize and @inline stand before an assignment"
        c.builder.error("TC0115", message, decorator.span, help=help)


def read_parameters(c: Context, node: ast.Kernel) -> tuple[Param | None, ...]:
    """One `Param` per parameter, None for those with errors."""
    frame = Frame(open_symbols=True, in_type=True)
    params: list[Param | None] = []
    first: dict[str, Span] = {}
    optional = ""
    for parameter in node.params:
        _check_name(c, parameter, first)
        if parameter.name == "_":
            params.append(None)
            continue
        params.append(run(_read_parameter(c, parameter, frame)))
        if parameter.default is None and optional:
            c.builder.error(
                "TC0204",
                f"parameter `{parameter.name}` needs a default, since `{optional}` before it has one",
                parameter.span,
                help=f"move `{optional}` to the end",
            )
        optional = parameter.name if parameter.default is not None else optional
    return tuple(params)


def _check_name(c: Context, parameter: ast.KernelParam, first: dict[str, Span]) -> None:
    name = parameter.name
    if name in RESERVED:
        c.builder.error(
            "TC0207",
            f"a parameter cannot be called `{name}`: every kernel's function has a keyword of that name",
            parameter.span,
            help=f"choose another name, as {name}_",
        )
    if name == "_":
        c.builder.error("TC0207", "a parameter cannot be called `_`", parameter.span, help="give it a name")
    if name in first:
        c.builder.bag.error(
            "TC0207",
            f"two parameters are called `{name}`",
            parameter.span,
            secondary=(Label(first[name], "the first one"),),
        )
    first.setdefault(name, parameter.span)
    warn_hiding(c.builder.bag, name, parameter.span)


def _read_parameter(c: Context, node: ast.KernelParam, frame: Frame) -> Generator[Any, Any, Param | None]:
    written: WrittenType | None = yield read_type(c, node.type, frame)
    if written is None:
        return None
    if node.default is None:
        return Param(node.name, written.dtype, written.shape, written.text, node.span)
    found: Value = yield evaluate(c, node.default, Frame())
    value = as_number(c.builder, found)
    if is_poisoned(value):
        return None
    default = _default(c, node, written, value)
    if default is None:
        return None
    return Param(node.name, written.dtype, written.shape, written.text, node.span, default)


def _default(c: Context, node: ast.KernelParam, written: WrittenType, value: Value) -> int | float | None:
    """The default of a scalar, rounded to its dtype; None after an error."""
    assert node.default is not None
    span = node.default.span
    if written.shape:
        c.builder.error(
            "TC0307", "only scalar parameters have defaults", span, label=f"{written.text} is an array"
        )
        return None
    if not isinstance(value, Known):
        c.builder.error("TC0307", "a default must be known at compile time", span, label=describe(value))
        return None
    if value.dtype is not None and value.dtype != written.dtype:
        c.builder.error(
            "TC0301",
            f"the default of `{node.name}` is {value.dtype}, the parameter {written.dtype}",
            span,
            label=f"expected {written.dtype}",
        )
        return None
    mixed = (value.kind == "b") != written.dtype.is_bool or (value.kind == "f" and written.dtype.is_integer)
    if mixed or not fits(value, written.dtype):
        c.builder.literal_error(value, written.dtype, span)
        return None
    return constant_value(value, written.dtype)
