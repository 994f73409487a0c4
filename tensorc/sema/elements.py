"""Values inside index notation: one element for each step of the iterators around it.

The iterators around an expression are numbered from the outside in: the domain is the tuple of their
extents. A value is kept over the iterators that it depends on only (`Element.axes`), so what does not
change in an inner loop is not computed there. Operations see plain tensors whose axes are iterators.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items

from tensorc.dtypes import I64
from tensorc.index_algebra import Atom, FloorDiv, Mod, Monomial, Poly, Sym, axis, is_positive
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import check_operator, has_long_integers, report_long_integer
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


def is_affine(index: Poly) -> bool:
    """True for a sum of iterators with sizes as factors, which a view can hold."""
    return all(isinstance(a, Sym) or not _holds_iterator(a) for a in index.atoms())


def _holds_iterator(atom: Atom) -> bool:
    return bool(Poly([(((atom, 1),), 1)]).axes())


def is_element(value: Value) -> bool:
    return isinstance(value, Element | Index)


def check_pointwise(k: Builder, site: Site, op: str, args: Items[Arg], domain: Shape) -> Value:
    """An `OPERATORS` row on operands that may be elements; arithmetic of indices stays an index."""
    if not any(is_element(a.value) for a in args):
        return check_operator(k, site, op, args)
    index = _index_arithmetic(op, args)
    if index is not None and has_long_integers(index):
        report_long_integer(k, site)
        return POISON
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
    """The index that integer arithmetic gives: affine, or with `//` and `%` by a positive size."""
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
        case "floor_divide", [a, b] if a.axes() and is_positive(b):
            return a // b
        case "remainder", [a, b] if a.axes() and is_positive(b):
            return a % b
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
    """An index as a weak integer tensor over its iterators."""
    total = _poly_tensor(k, site, index, axes, domain)
    return Tensor(total.id, I64, total.shape, weak=True)


def _poly_tensor(k: Builder, site: Site, index: Poly, axes: tuple[int, ...], domain: Shape) -> Tensor:
    """The values of an index polynomial over the iterators `axes`, as i64."""
    shape = tuple(domain[a] for a in axes)
    rest = index
    total: Tensor | None = None
    for atom in (a for a in index.atoms() if _holds_iterator(a)):
        one = Poly([(((atom, 1),), 1)])
        factor = Poly((_without(m, atom), c) for m, c in index.terms if (atom, 1) in m)
        rest = rest - factor * one
        term = _atom_tensor(k, site, atom, axes, domain)
        if factor != 1:
            scale = k.broadcast(k.size(factor, I64, site), term.shape, site)
            term = k.elementwise("multiply", [term, scale], I64, site)
        if shape != term.shape:
            term = k.view("broadcast_to", term, [_own_axis(atom, axes)], shape, site)
        total = term if total is None else k.elementwise("add", [total, term], I64, site)
    if total is None:
        return k.broadcast(k.size(rest, I64, site), shape, site)
    if rest != 0:
        offset = k.broadcast(k.size(rest, I64, site), shape, site)
        total = k.elementwise("add", [total, offset], I64, site)
    return total


def _without(monomial: Monomial, atom: Atom) -> Monomial:
    return tuple(f for f in monomial if f[0] != atom)


def _atom_tensor(k: Builder, site: Site, atom: Atom, axes: tuple[int, ...], domain: Shape) -> Tensor:
    """An iterator along its own axis, or a quotient or remainder over all of `axes`."""
    match atom:
        case Sym():
            return k.emit("iota", (), None, I64, (domain[_number(atom)],), site)
        case FloorDiv(num, den) | Mod(num, den):
            operands = [_poly_tensor(k, site, p, axes, domain) for p in (num, den)]
            op = "floor_divide" if isinstance(atom, FloorDiv) else "remainder"
            return k.elementwise(op, operands, I64, site)
    raise TypeError(f"{atom} is no index")


def _own_axis(atom: Atom, axes: tuple[int, ...]) -> Poly:
    assert isinstance(atom, Sym), "only an iterator alone has fewer axes"
    return axis(f"i{axes.index(_number(atom))}")


def _number(symbol: Sym) -> int:
    return int(symbol.name.removeprefix("i"))
