"""Values inside index notation: one element for each step of the iterators around it.

The iterators around an expression are numbered from the outside in: the domain is the tuple of their
extents. A value is kept over the iterators that it depends on only (`Element.axes`), so what does not
change in an inner loop is not computed there. Operations see plain tensors whose axes are iterators.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items

from tensorc.dtypes import I64
from tensorc.index_algebra import Poly, Sym, axis
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import check_operator
from tensorc.sema.layout import as_view_operand
from tensorc.sema.values import (
    POISON,
    Arg,
    Element,
    Index,
    Known,
    Size,
    Tensor,
    Value,
    describe,
    size_of,
)
from tensorc.tensor_ir.program import Shape


def iterator(number: int) -> Sym:
    """Iterator `number` of the domain, as a variable of index expressions."""
    return Sym(f"i{number}", axis=True)


def iterators_in(index: Poly) -> tuple[int, ...]:
    """The iterators that an index holds, in the domain's order."""
    return tuple(sorted(int(name.removeprefix("i")) for name in index.axes()))


def index_of(value: Value) -> Poly | None:
    """The value as an index that is affine in the iterators, None when it is not known to be one."""
    match value:
        case Index(poly):
            return poly
        case Element():
            return value.index
    return size_of(value)


def is_element(value: Value) -> bool:
    return isinstance(value, Element | Index)


def check_pointwise(k: Builder, site: Site, op: str, args: Items[Arg], domain: Shape) -> Value:
    """An `OPERATORS` row on operands that may be elements; arithmetic of indices stays an index."""
    if not any(is_element(a.value) for a in args):
        return check_operator(k, site, op, args)
    index = _index_arithmetic(op, args)
    if index is not None and all(isinstance(a.value, Index | Size | Known) for a in args):
        return index_value(index)
    result = apply_to_elements(k, site, args, domain, lambda ready: check_operator(k, site, op, ready))
    return Element(result.tensor, result.axes, index) if isinstance(result, Element) else result


def index_value(index: Poly) -> Value:
    """An index as a value: a size or a number once the iterators have cancelled."""
    if index.axes():
        return Index(index)
    return Size(index) if index.constant is None else Known(index.constant)


def _index_arithmetic(op: str, args: Items[Arg]) -> Poly | None:
    """The affine index that integer arithmetic gives, if it gives one."""
    found = [index_of(a.value) for a in args]
    polys = [p for p in found if p is not None]
    if len(polys) < len(found):
        return None
    match op, polys:
        case "add", [a, b]:
            return a + b
        case "subtract", [a, b]:
            return a - b
        case "negative", [a]:
            return -a
        case "multiply", [a, b] if not (a.axes() and b.axes()):
            return a * b
    return None


def apply_to_elements(
    k: Builder, site: Site, args: Items[Arg], domain: Shape, check: Callable[[Items[Arg]], Value]
) -> Value:
    """`check` of the operands, spread over all iterators that any of them depends on."""
    axes = tuple(sorted({a for arg in args for a in axes_of(arg.value)}))
    if not axes:
        return check(args)
    ready: list[Arg] = []
    for arg in args:
        if isinstance(arg.value, Tensor) and arg.value.shape:
            report_whole_array(k, arg)
            return POISON
        # numbers stay as they are: they adapt to what they meet
        spread = is_element(arg.value)
        ready.append(Arg(spread_over(k, site, arg.value, axes, domain), arg.span) if spread else arg)
    result = check(ready)
    return Element(result, axes) if isinstance(result, Tensor) and result.shape else result


def report_whole_array(k: Builder, arg: Arg) -> None:
    k.error(
        "TC0405",
        f"index notation works on elements, found {describe(arg.value)}",
        arg.span,
        label="a whole array",
        help="index every axis of it, as x[i, j]",
    )


def axes_of(value: Value) -> tuple[int, ...]:
    """The iterators that a value depends on, in the domain's order."""
    match value:
        case Index(poly):
            return iterators_in(poly)
        case Element(_, axes):
            return axes
    return ()


def spread_over(k: Builder, site: Site, value: Value, axes: tuple[int, ...], domain: Shape) -> Tensor:
    """The value as a tensor over the iterators `axes`, which include all that it depends on."""
    shape = tuple(domain[a] for a in axes)
    match value:
        case Index(poly):
            own = iterators_in(poly)
            tensor = _index_tensor(k, site, poly, own, domain)
        case Element(tensor, own):
            pass
        case Known() | Size() | Tensor():
            return k.broadcast(as_view_operand(k, site, value), shape, site)
        case _:
            raise TypeError(f"{describe(value)} has no elements")
    if own == axes:
        return tensor
    return k.view("broadcast_to", tensor, [axis(f"i{axes.index(a)}") for a in own], shape, site)


def _index_tensor(k: Builder, site: Site, index: Poly, axes: tuple[int, ...], domain: Shape) -> Tensor:
    """An affine index as a weak integer tensor over its iterators."""
    shape = tuple(domain[a] for a in axes)
    rest = index
    total: Tensor | None = None
    for position, a in enumerate(axes):
        factor = index.coefficient(iterator(a))
        rest = rest - factor * Poly([(((iterator(a), 1),), 1)])
        term = k.emit("iota", (), None, I64, (domain[a],), site)
        if factor != 1:
            scale = k.broadcast(k.size(factor, I64, site), term.shape, site)
            term = k.elementwise("multiply", [term, scale], I64, site)
        if shape != term.shape:
            term = k.view("broadcast_to", term, [axis(f"i{position}")], shape, site)
        total = term if total is None else k.elementwise("add", [total, term], I64, site)
    assert total is not None, "an index holds an iterator"
    if rest != 0:
        offset = k.broadcast(k.size(rest, I64, site), shape, site)
        total = k.elementwise("add", [total, offset], I64, site)
    return Tensor(total.id, I64, shape, weak=True)
