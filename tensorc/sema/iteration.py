"""Index notation: `b[i, j] = body for i in H, j in W`, and comprehensions `sum(body for k in K)`."""

from __future__ import annotations

from collections.abc import Generator
from collections.abc import Sequence as Items
from dataclasses import replace
from typing import Any, TypeGuard

from tensorc.diagnostics.model import Label
from tensorc.dtypes import DType, computation_type
from tensorc.index_algebra import Poly
from tensorc.sema.builder import Site
from tensorc.sema.elements import (
    axes_of,
    check_pointwise,
    index_value,
    is_element,
    iterator,
    report_whole_array,
    spread_over,
)
from tensorc.sema.expressions import Context, Steps, evaluate
from tensorc.sema.products import Labelled, is_matrix_product, multiply_matrices
from tensorc.sema.reductions import check_reduction
from tensorc.sema.scopes import Frame, warn_hiding
from tensorc.sema.shapes import size_argument
from tensorc.sema.values import (
    POISON,
    Arg,
    Element,
    Known,
    Sequence,
    Size,
    Tensor,
    Value,
    describe,
    is_poisoned,
)
from tensorc.source import Span
from tensorc.syntax import ast
from tensorc.tensor_ir.program import Shape

FORMS = ("sum", "prod", "max", "min", "any", "all")


def define_by_index(c: Context, node: ast.IndexDefinition, frame: Frame) -> Steps:
    """The array of an index definition; its axes are in the order of the target's brackets."""
    k, span = c.builder, frame.place(node.span)
    if not _check_target(c, node, span):
        return POISON
    if frame.domain:
        message = "index notation in a `def` that is called from index notation is not supported yet"
        k.error("TC0503", message, span)
        return POISON
    by_name = {it.name: it for it in node.iterators}
    inner: Frame | None = yield _enter(c, tuple(by_name[n] for n in node.indices), frame)
    if inner is None:
        return POISON
    body: Value = yield evaluate(c, node.value, inner)
    place = frame.place(node.value.span)
    if not _check_body(c, body, place):
        return POISON
    return spread_over(k, Site(place, "index"), body, tuple(range(len(inner.domain))), inner.domain)


def _check_target(c: Context, node: ast.IndexDefinition, span: Span) -> bool:
    names = [it.name for it in node.iterators]
    twice = next((n for p, n in enumerate(node.indices) if n in node.indices[:p]), "")
    stray = [n for n in names if n not in node.indices] + [n for n in node.indices if n not in names]
    if not twice and not stray:
        return True
    listed = ", ".join(dict.fromkeys(names))
    c.builder.error(
        "TC0119",
        f"the names in the brackets of `{node.name}` are not its iterators",
        span,
        label=f"`{twice}` stands there twice" if twice else f"`{stray[0]}` is on one side only",
        help=f"write {node.name}[{listed}] = … for {listed}",
    )
    return False


def comprehend(c: Context, node: ast.Comprehension, frame: Frame) -> Steps:
    """A reduction over iterators. What it gives depends on the iterators around it only."""
    kind = _form(c, node, frame)
    inner: Frame | None = yield _enter(c, node.iterators, frame)
    if inner is None:
        return POISON
    site = Site(frame.place(node.span), kind or "sum")
    rounded: DType | None = None
    if kind == "sum" and isinstance(node.body, ast.Binary) and node.body.op == "*":
        factors: list[Arg] = []
        for factor in (node.body.left, node.body.right):
            factors.append(Arg((yield evaluate(c, factor, inner)), frame.place(factor.span)))
        product = _matrix_product(c, site, factors, len(frame.domain), inner.domain)
        if product is not None:
            return product
        body, rounded = _multiply(c, Site(frame.place(node.body.span), "mul"), factors, inner.domain)
    else:
        body = yield evaluate(c, node.body, inner)
    place = frame.place(node.body.span)
    if kind is None or not _check_body(c, body, place):
        return POISON
    result = reduce_elements(c, site, kind, Arg(body, place), len(frame.domain), inner.domain)
    return result if rounded is None else _promoted(c, site, result, rounded)


def _multiply(c: Context, site: Site, factors: Items[Arg], domain: Shape) -> tuple[Value, DType | None]:
    """The product, and the dtype its sum is rounded to: that of f16 and bf16 is added in f32, unrounded."""
    if any(is_poisoned(f.value) for f in factors):
        return POISON, None
    product = check_pointwise(c.builder, site, "multiply", factors, domain)
    dtype = product.tensor.dtype if isinstance(product, Element) else None
    if dtype is None or not dtype.is_float or computation_type(dtype) == dtype:
        return product, None
    wide = [Arg(_promoted(c, site, f.value, computation_type(dtype)), f.span) for f in factors]
    return check_pointwise(c.builder, site, "multiply", wide, domain), dtype


def _promoted(c: Context, site: Site, value: Value, dtype: DType) -> Value:
    """A value of elements in another dtype; numbers and indices adapt by themselves."""
    if isinstance(value, Element) and not value.tensor.weak:
        return Element(c.builder.promote(value.tensor, dtype, site), value.axes)
    if isinstance(value, Tensor) and not value.weak:
        return c.builder.promote(value, dtype, site)
    return value


def _matrix_product(c: Context, site: Site, factors: Items[Arg], outer: int, domain: Shape) -> Value | None:
    """`sum(p * q for ...)` as a product of matrices, which is both operations; None where it is none."""
    left, right = (f.value for f in factors)
    if not isinstance(left, Element) or not isinstance(right, Element):
        return None
    summed = tuple(range(outer, len(domain)))
    a, b = Labelled(left.tensor, left.axes), Labelled(right.tensor, right.axes)
    if not is_matrix_product(c.builder, a, b, summed):
        return None
    kept = tuple(sorted({*left.axes, *right.axes} - {*summed}))
    both = Site(site.span, f"mul {site.origin}")
    return Element(multiply_matrices(c.builder, both, a, b, summed, kept), kept)


def reduce_elements(c: Context, site: Site, kind: str, body: Arg, outer: int, domain: Shape) -> Value:
    """The reduction of `body` over the iterators from number `outer` on."""
    axes = tuple(sorted({*axes_of(body.value), *range(outer, len(domain))}))
    operand = spread_over(c.builder, Site(body.span, site.origin), body.value, axes, domain)
    kept = tuple(a for a in axes if a < outer)
    reduced = Sequence(tuple(Known(n) for n in range(len(kept), len(axes))))
    args = {"x": Arg(operand, body.span), "axis": Arg(reduced, site.span)}
    result = check_reduction(c.builder, site, kind, args)
    return Element(result, kept) if isinstance(result, Tensor) and kept else result


def _form(c: Context, node: ast.Comprehension, frame: Frame) -> str | None:
    """The reduction that a comprehension is, or None after an error."""
    function = node.function
    name = function.id if isinstance(function, ast.Name) else ""
    if name in FORMS and name not in frame.names and name not in c.scope.functions:
        return name
    help = "write sum(… for …) divided by the extents" if name == "mean" else ""
    c.builder.error(
        "TC0203",
        f"`{function.span.text}` takes no `for`",
        frame.place(function.span),
        label=f"expected one of {', '.join(FORMS)}",
        help=help,
    )
    return None


def _check_body(c: Context, body: Value, span: Span) -> bool:
    """True for what gives one element per step."""
    if is_poisoned(body):
        return False
    if isinstance(body, Tensor) and body.shape:
        report_whole_array(c.builder, Arg(body, span))
        return False
    if is_element(body) or isinstance(body, Known | Size | Tensor):
        return True
    c.builder.error("TC0301", f"expected a number, found {describe(body)}", span)
    return False


def _is_range(node: ast.Expr) -> TypeGuard[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.function, ast.Name)
        and node.function.id in ("range", "arange")
    )


# -- iterators -------------------------------------------------------------------------------------


def _enter(
    c: Context, iterators: tuple[ast.Iterator, ...], frame: Frame
) -> Generator[Any, Any, Frame | None]:
    """The names inside of some more iterators, or None after an error."""
    extents: list[Poly | None] = []
    for node in iterators:
        extents.append((yield _extent(c, node, frame)))
    valid = [e for e in extents if e is not None]
    inner = replace(frame, names=dict(frame.names), domain=(*frame.domain, *valid))
    first: dict[str, Span] = {}
    for number, node in enumerate(iterators, start=len(frame.domain)):
        span = frame.place(node.span)
        if node.name in first:
            c.builder.bag.error(
                "TC0207",
                f"two iterators are called `{node.name}`",
                span,
                secondary=(Label(first[node.name], "the first one"),),
            )
            return None
        outer = frame.names.get(node.name)
        if outer is not None:
            c.builder.bag.error(
                "TC0202",
                f"the iterator `{node.name}` has a name that is taken",
                span,
                label="a name of its own is needed",
                secondary=(Label(outer.span, "first assigned here"),),
            )
            return None
        if node.name != "_":
            first[node.name] = span
        value = index_value(Poly([(((iterator(number), 1),), 1)]))
        inner.bind(c.builder.bag, node.name, value, span)
        warn_hiding(c.builder.bag, node.name, node.span)
    return inner if len(valid) == len(extents) else None


def _extent(c: Context, node: ast.Iterator, frame: Frame) -> Generator[Any, Any, Poly | None]:
    if _is_range(node.extent):
        span = frame.place(node.extent.span)
        size = node.extent.args[-1].span.text if len(node.extent.args) == 1 else "stop - start"
        help = f"an iterator runs over a size: `for {node.name} in {size}`"
        c.builder.error("TC0211", f"`{span.text}` is not TDSL", span, help=help)
        return None
    value: Value = yield evaluate(c, node.extent, replace(frame, of_size=True))
    span = frame.place(node.extent.span)
    if is_poisoned(value):
        return None
    if is_element(value):
        message = "an extent that depends on an iterator is not supported yet"
        c.builder.error("TC0503", message, span, help="take the whole range, and where(…) for a part of it")
        return None
    return size_argument(c.builder, value, span)
