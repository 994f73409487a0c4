"""Written types: dtype and sizes, and the check of a value against one."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from tensorc.dtypes import SUPPORTED, DType
from tensorc.index_algebra import Poly
from tensorc.sema import foreign
from tensorc.sema.expressions import Context, Steps, dtype_parameter, evaluate
from tensorc.sema.promotion import storage_type
from tensorc.sema.scopes import Frame, dtype_names, near
from tensorc.sema.shapes import numbers_fit, shape_of, shape_text
from tensorc.sema.values import POISON, Known, Size, Tensor, Value, describe, is_poisoned, size_of
from tensorc.source import Span
from tensorc.syntax import ast
from tensorc.tensor_ir.program import Shape


@dataclass(frozen=True, slots=True)
class WrittenType:
    dtype: DType
    shape: Shape
    text: str


def read_dtype(c: Context, node: ast.TypeExpr, frame: Frame) -> DType | None:
    """The dtype of a written type, or None after an error."""
    parameter = dtype_parameter(c, node.name, frame)
    if parameter is not None:
        return parameter
    if node.name in SUPPORTED:
        return SUPPORTED[node.name]
    span = frame.place(node.span)
    known = foreign.DTYPES.get(node.name)
    help = f"write {known}" if known else near(node.name, dtype_names())
    c.builder.error(
        "TC0306", f"unknown dtype `{node.name}`", span, label="expected a dtype, as f32", help=help
    )
    return None


def read_type(c: Context, node: ast.TypeExpr, frame: Frame) -> Generator[Any, Any, WrittenType | None]:
    """A written type, or None after an error. Sizes are read in the frame's rules for symbols."""
    c.builder.check_rank(len(node.sizes), frame.place(node.span))
    dtype = read_dtype(c, node, frame)
    sizes: list[Poly] = []
    valid = dtype is not None
    for item in node.sizes:
        value: Value = yield evaluate(c, item, replace(frame, of_size=True))
        if is_poisoned(value):
            valid = False
            continue
        size = size_of(value)
        if size is None or (size.constant is not None and size.constant < 0):
            found = describe(value)
            c.builder.error(
                "TC0410",
                f"a size must be a non-negative integer expression, found {found}",
                frame.place(item.span),
                label="expected a size",
            )
            valid = False
            continue
        if not numbers_fit(c.builder, size, frame.place(item.span)):
            valid = False
            continue
        sizes.append(size)
    if not valid or dtype is None:
        return None
    # a dtype parameter is written as what it stands for
    text = f"{dtype}{node.span.text.removeprefix(node.name)}"
    return WrittenType(dtype, tuple(sizes), text)


def check_annotation(c: Context, node: ast.TypeExpr, value: Value, frame: Frame, span: Span) -> Steps:
    """The value of `name: type = value`: the type is checked and never converts."""
    type_frame = replace(frame, names={}, in_type=True)
    written: WrittenType | None = yield read_type(c, node, type_frame)
    if written is None or is_poisoned(value):
        return POISON
    if not isinstance(value, Tensor | Known | Size):
        c.builder.error("TC0301", f"expected {written.text}, found {describe(value)}", span)
        return POISON
    found = storage_type(value)
    if found != written.dtype:
        c.builder.error(
            "TC0301",
            f"the type says {written.text}, but the value is {describe(value)}",
            span,
            label=f"expected {written.dtype}, found {found}",
            help=f"a type never converts: write {written.dtype}(...)",
        )
        return POISON
    shape = shape_of(value)
    if not match_shape(c, written, shape, span, "TC0406", "the value"):
        return POISON
    return value


def match_shape(c: Context, written: WrittenType, shape: Shape, span: Span, code: str, what: str) -> bool:
    """Check a shape against a written one; sizes that may be equal are compared at the call."""
    actual = shape_text(shape)
    if len(shape) != len(written.shape):
        c.builder.error(
            code,
            f"{what} has rank {len(shape)}, but {written.text} has rank {len(written.shape)}",
            span,
            label=f"expected {written.text}, found shape {actual}",
        )
        return False
    for axis, (declared, inferred) in enumerate(zip(written.shape, shape, strict=True)):
        difference = (declared - inferred).constant
        if difference == 0:
            continue
        if difference is not None:
            c.builder.error(
                code,
                f"{what} has size {inferred} on axis {axis}, but {written.text} says {declared}",
                span,
                label=f"expected {written.text}, found shape {actual}",
            )
            return False
        text = f"axis {axis} of {what} must have the size {declared} that {written.text} says"
        c.builder.require("shape", inferred, "==", declared, text, span)
    return True
