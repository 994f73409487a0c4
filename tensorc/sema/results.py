"""What a kernel returns, against what it declares."""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.diagnostics.model import Label
from tensorc.sema.builder import Site
from tensorc.sema.elementwise import stored
from tensorc.sema.expressions import Context, run
from tensorc.sema.scopes import Frame
from tensorc.sema.types import WrittenType, match_shape, read_type
from tensorc.sema.values import Known, Sequence, Size, Tensor, Value, describe, is_poisoned, type_text
from tensorc.signature import Result
from tensorc.source import Span
from tensorc.syntax import ast


@dataclass(frozen=True, slots=True)
class Results:
    """The declared face of the results, and the value of each."""

    declared: tuple[Result, ...]
    values: tuple[int, ...]


def check_results(c: Context, node: ast.Kernel, returned: Value | None) -> Results | None:
    """The kernel's results, or None after an error."""
    declared = _read_declared(c, node)
    if returned is None:
        c.builder.error(
            "TC0210", f"kernel `{node.name}` returns nothing", head_of(node), help="end it with `return`"
        )
        return None
    values = returned.items if isinstance(returned, Sequence) else (returned,)
    spans = _value_spans(node, len(values))
    if declared is not None and len(declared) != len(values):
        _report_count(c, node, len(declared), len(values), spans[0])
        return None
    results: list[Result] = []
    ids: list[int] = []
    for position, (value, span) in enumerate(zip(values, spans, strict=True)):
        want = declared[position] if declared is not None else None
        name = node.results[position].name if node.results is not None else ""
        found = None if is_poisoned(value) else _check_result(c, value, want, name, span)
        if found is not None:
            ids.append(found.id)
            written = want.text if want is not None else type_text(found.dtype, found.shape)
            results.append(Result(name, found.dtype, found.shape, written))
    return Results(tuple(results), tuple(ids)) if len(ids) == len(values) else None


def head_of(node: ast.Kernel | ast.Function) -> Span:
    """The first line of a declaration."""
    length = len(node.span.text.partition("\n")[0].rstrip())
    return Span(node.span.source, node.span.start, node.span.start + length)


def _read_declared(c: Context, node: ast.Kernel) -> tuple[WrittenType | None, ...] | None:
    """The written types (None for one with errors), or None when they are left out."""
    if node.results is None:
        return None
    first: dict[str, Span] = {}
    for result in node.results:
        if result.name and result.name in first:
            c.builder.bag.error(
                "TC0207",
                f"two results are called `{result.name}`",
                result.span,
                secondary=(Label(first[result.name], "the first one"),),
            )
        first.setdefault(result.name, result.span)
        if result.default is not None:
            c.builder.error("TC0210", "a result has no default", result.default.span)
    frame = Frame(in_type=True)
    return tuple(run(read_type(c, r.type, frame)) for r in node.results)


def _value_spans(node: ast.Kernel, count: int) -> tuple[Span, ...]:
    """The place of each returned value."""
    for statement in node.body:
        if isinstance(statement, ast.Return):
            if len(statement.values) == count:
                return tuple(v.span for v in statement.values)
            return (statement.span,) * count
    return (head_of(node),) * count


def _report_count(c: Context, node: ast.Kernel, declared: int, returned: int, span: Span) -> None:
    noun = "result" if declared == 1 else "results"
    c.builder.error(
        "TC0210",
        f"kernel `{node.name}` declares {declared} {noun}, but returns {returned}",
        span,
        label=f"expected {declared}, found {returned}",
    )


def _check_result(c: Context, value: Value, want: WrittenType | None, name: str, span: Span) -> Tensor | None:
    if not isinstance(value, Tensor | Known | Size):
        c.builder.error("TC0305", f"a result must be a tensor or a number, found {describe(value)}", span)
        return None
    what = f"result `{name}`" if name else "the result"
    found = stored(c.builder, Site(span, "return"), value)
    if want is None:
        return found
    if found.dtype != want.dtype:
        c.builder.error(
            "TC0305",
            f"{what} is {type_text(found.dtype, found.shape)}, but is declared {want.text}",
            span,
            label=f"expected {want.dtype}, found {found.dtype}",
            help=f"a result type never converts: write {want.dtype}(...), or declare {found.dtype}",
        )
        return None
    if not match_shape(c, want, found.shape, span, "TC0406", what):
        return None
    return found
