"""Contractions of two tensors whose axes have labels: a matrix product, or a product and a sum."""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.dtypes import I64, computation_type
from tensorc.index_algebra import ONE, ZERO, Poly, axis, product
from tensorc.sema.builder import Builder, Site
from tensorc.sema.layout import batched_product
from tensorc.sema.values import Tensor
from tensorc.tensor_ir.program import Reduce, View


@dataclass(frozen=True, slots=True)
class Labelled:
    """A tensor and one label per axis, each label once."""

    tensor: Tensor
    labels: tuple[int, ...]

    def sizes(self) -> dict[int, Poly]:
        return dict(zip(self.labels, self.tensor.shape, strict=True))


def is_matrix_product(k: Builder, left: Labelled, right: Labelled, summed: tuple[int, ...]) -> bool:
    """True when a float matrix product gives the sum over `summed`: each factor has all of these labels,
    one factor has a label of its own, and none repeats what it reads (a stencil is better computed in place).
    """
    dtype = left.tensor.dtype
    if not dtype.is_float or right.tensor.dtype != dtype or left.tensor.weak or right.tensor.weak:
        return False
    in_both = all(s in left.labels and s in right.labels for s in summed)
    if not summed or not in_both or set(left.labels) == set(right.labels):
        return False
    return not any(_reads_repeatedly(k, f.tensor.id) for f in (left, right))


def _reads_repeatedly(k: Builder, value: int) -> bool:
    """True when a value is computed from a view in which an axis is the sum of several."""
    seen = {value}
    pending = [value]
    while pending:
        op = k.ops[pending.pop()]
        if isinstance(op.attrs, View):
            axes = [name for place in op.attrs.index for name in place.axes()]
            if any(len(place.axes()) > 1 for place in op.attrs.index) or len(set(axes)) < len(axes):
                return True
        elif isinstance(op.attrs, Reduce) or op.op in ("matmul", "reshape"):
            continue
        fresh = [operand for operand in op.operands if operand not in seen]
        seen.update(fresh)
        pending.extend(fresh)
    return False


def multiply_matrices(
    k: Builder, site: Site, left: Labelled, right: Labelled, summed: tuple[int, ...], order: tuple[int, ...]
) -> Tensor:
    """The matrix product over `summed`, its axes in `order`. Several axes of a kind are merged to one."""
    batch = tuple(a for a in left.labels if a in right.labels and a not in summed)
    rows = tuple(a for a in left.labels if a not in right.labels)
    columns = tuple(a for a in right.labels if a not in left.labels)
    if rows and columns and order == (*batch, *columns, *rows):
        left, right, rows, columns = right, left, columns, rows
    sizes = left.sizes() | right.sizes()
    lead = tuple(sizes[a] for a in batch)
    a = _grouped(k, site, arranged(k, site, left, (*batch, *rows, *summed)), len(batch), len(rows))
    b = _grouped(k, site, arranged(k, site, right, (*batch, *summed, *columns)), len(batch), len(summed))
    result = batched_product(k, site, a, b)
    full = (*lead, *(sizes[a] for a in rows), *(sizes[a] for a in columns))
    result = _ungrouped(k, site, result, full, len(rows), len(columns))
    return arranged(k, site, Labelled(result, (*batch, *rows, *columns)), order)


def _grouped(k: Builder, site: Site, value: Tensor, batch: int, first: int) -> Tensor:
    """`[batch..., first..., second...]` as `[batch..., F, S]`."""
    second = len(value.shape) - batch - first
    lead = value.shape[:batch]
    shape = (*lead, product(value.shape[batch : batch + first]), product(value.shape[batch + first :]))
    if first == second == 1:
        return value
    if first <= 1 and second <= 1:
        # one of the two has no axis yet
        return k.view("expand_dims", value, _kept(shape, batch, first, second), shape, site)
    return k.emit("reshape", (value,), None, value.dtype, shape, site)


def _kept(shape: tuple[Poly, ...], batch: int, first: int, second: int) -> list[Poly]:
    lead = [axis(f"i{n}") for n in range(batch)]
    matrix = [axis(f"i{batch + n}") for n, there in enumerate((first, second)) if there]
    return [*lead, *matrix]


def _ungrouped(
    k: Builder, site: Site, value: Tensor, shape: tuple[Poly, ...], rows: int, columns: int
) -> Tensor:
    if rows == columns == 1:
        return value
    if rows > 1 or columns > 1:
        return k.emit("reshape", (value,), None, value.dtype, shape, site)
    batch = len(value.shape) - 2
    index = [axis(f"i{n}") for n in range(batch)]
    index += [axis(f"i{batch}") if there else ZERO for there in (rows, columns)]
    return k.view("squeeze", value, index, shape, site)


def arranged(k: Builder, site: Site, value: Labelled, order: tuple[int, ...]) -> Tensor:
    """The tensor with its axes in another order, and an axis of size 1 for every label it lacks."""
    if value.labels == order:
        return value.tensor
    sizes = value.sizes()
    index = [axis(f"i{order.index(a)}") for a in value.labels]
    shape = tuple(sizes.get(a, ONE) for a in order)
    kind = "permute_dims" if len(order) == len(value.labels) else "expand_dims"
    return k.view(kind, value.tensor, index, shape, site)


def contract(k: Builder, site: Site, left: Labelled, right: Labelled, kept: tuple[int, ...]) -> Labelled:
    """The product of two factors of one dtype, summed over the labels of both that are not `kept`.

    What only one factor has is in `kept`. The result has the labels of `kept` that a factor has, in order.
    """
    dtype = left.tensor.dtype
    wide = computation_type(dtype)
    if dtype.is_float and wide != dtype:
        # products of f16 and bf16 are added unrounded
        factors = [Labelled(k.promote(f.tensor, wide, site), f.labels) for f in (left, right)]
        unrounded = contract(k, site, factors[0], factors[1], kept)
        return Labelled(k.promote(unrounded.tensor, dtype, site), unrounded.labels)
    sizes = left.sizes() | right.sizes()
    order = tuple(a for a in kept if a in sizes)
    summed = tuple(a for a in left.labels if a in right.labels and a not in kept)
    if is_matrix_product(k, left, right, summed):
        return Labelled(multiply_matrices(k, site, left, right, summed, order), order)
    full = (*order, *summed)
    shape = tuple(sizes[a] for a in full)
    spread = [k.broadcast(arranged(k, site, f, full), shape, site) for f in (left, right)]
    products = k.elementwise("multiply", spread, left.tensor.dtype, site)
    return sum_labels(k, site, Labelled(products, full), order)


def sum_labels(k: Builder, site: Site, value: Labelled, kept: tuple[int, ...]) -> Labelled:
    """Sum over the labels that are not in `kept`; integers wrap to their own dtype."""
    axes = tuple(n for n, a in enumerate(value.labels) if a not in kept)
    if not axes:
        return value
    dtype = value.tensor.dtype
    wide = value.tensor if dtype.is_float else k.promote(value.tensor, I64, site)
    total = k.promote(k.reduce(wide, Reduce("sum", axes), wide.dtype, site), dtype, site)
    return Labelled(total, tuple(a for a in value.labels if a in kept))
