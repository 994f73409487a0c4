"""Views that keep or repeat elements: permutations, new and dropped axes, broadcast_to; and matmul."""

from __future__ import annotations

from collections.abc import Mapping

from tensorc.dtypes import BOOL, I64
from tensorc.index_algebra import ONE, ZERO, Poly, Sym, axis, dim, divide_exactly, is_positive
from tensorc.index_algebra import product as element_count
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import adapting, numeric, stored, warn_widening
from tensorc.sema.promotion import common_type
from tensorc.sema.reductions import permute
from tensorc.sema.shapes import axes_argument, broadcast_shapes, rank_of, shape_argument, shape_of, shape_text
from tensorc.sema.values import POISON, Arg, Numeric, Sequence, Tensor, Value, describe, size_of
from tensorc.tensor_ir.program import Reduce, Shape

Args = Mapping[str, Arg]


def as_view_operand(k: Builder, site: Site, value: Numeric) -> Tensor:
    """The value as a tensor that a view can read; weak values stay weak."""
    if isinstance(value, Tensor):
        return value
    common = common_type([value])
    return k.materialize(value, common.dtype, site, common.weak)


def check_permute_dims(k: Builder, site: Site, args: Args) -> Value:
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    axes = axes_argument(k, args["axes"], rank_of(value), describe(value))
    if axes is None:
        return POISON
    if len(axes) != rank_of(value):
        k.error(
            "TC0405",
            f"permute_dims of {describe(value)} needs {rank_of(value)} axes, found {len(axes)}",
            args["axes"].span,
            label=f"expected {rank_of(value)} axes",
        )
        return POISON
    return permute(k, as_view_operand(k, site, value), axes, site, "permute_dims")


def check_matrix_transpose(k: Builder, site: Site, args: Args) -> Value:
    """Swap the last two axes: `.mT`."""
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    rank = rank_of(value)
    if rank < 2:
        k.error(
            "TC0405",
            f"{site.origin} needs at least 2 axes, found {describe(value)}",
            site.span,
            label=f"rank {rank}",
        )
        return POISON
    axes = (*range(rank - 2), rank - 1, rank - 2)
    return permute(k, as_view_operand(k, site, value), axes, site, "matrix_transpose")


def check_transpose_attribute(k: Builder, site: Site, args: Args) -> Value:
    """`.T`, for rank 2 only."""
    value = args["x"].value
    if isinstance(value, Tensor) and len(value.shape) == 2:
        return permute(k, value, (1, 0), site, "T")
    k.error(
        "TC0405",
        f".T is for rank 2 only, found {describe(value)}",
        site.span,
        label="expected rank 2",
        help="write x.mT to swap the last two axes, or permute_dims(x, axes)",
    )
    return POISON


def check_expand_dims(k: Builder, site: Site, args: Args) -> Value:
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    given = args["axis"]
    added = len(given.value.items) if isinstance(given.value, Sequence) else 1
    rank = rank_of(value) + added
    axes = axes_argument(k, given, rank, f"the result of rank {rank}")
    if axes is None:
        return POISON
    sizes = iter(shape_of(value))
    shape = tuple(ONE if a in axes else next(sizes) for a in range(rank))
    index = [axis(f"i{a}") for a in range(rank) if a not in axes]
    return k.view("expand_dims", as_view_operand(k, site, value), index, shape, site)


def check_squeeze(k: Builder, site: Site, args: Args) -> Value:
    value = numeric(k, args["x"], site)
    if value is None:
        return POISON
    shape = shape_of(value)
    axes = axes_argument(k, args["axis"], len(shape), describe(value))
    if axes is None:
        return POISON
    for a in axes:
        if shape[a] != ONE:
            k.error(
                "TC0406",
                f"squeeze drops axes of size 1 only: axis {a} of {describe(value)} has size {shape[a]}",
                args["axis"].span,
                label=f"size {shape[a]}",
            )
            return POISON
    kept = [a for a in range(len(shape)) if a not in axes]
    index = [ZERO if a in axes else axis(f"i{kept.index(a)}") for a in range(len(shape))]
    return k.view("squeeze", as_view_operand(k, site, value), index, tuple(shape[a] for a in kept), site)


def check_broadcast_to(k: Builder, site: Site, args: Args) -> Value:
    value = numeric(k, args["x"], site)
    shape = shape_argument(k, args["shape"])
    if value is None or shape is None:
        return POISON
    own = shape_of(value)
    lead = len(shape) - len(own)
    fits = lead >= 0 and all(s in (ONE, shape[lead + a]) for a, s in enumerate(own))
    if not fits:
        k.error(
            "TC0409",
            f"{describe(value)} does not broadcast to {shape_text(shape)}",
            site.span,
            label="each size must be equal or 1, aligned at the last axis",
        )
        return POISON
    return k.broadcast(as_view_operand(k, site, value), shape, site)


def check_reshape(k: Builder, site: Site, args: Args) -> Value:
    """The same elements in row-major order. Are they as many? The call checks it where it is not plain."""
    value = numeric(k, args["x"], site)
    if value is not None and _report_filled_in(k, value, args["shape"]):
        return POISON
    shape = shape_argument(k, args["shape"])
    if value is None or shape is None:
        return POISON
    count, wanted = element_count(shape_of(value)), element_count(shape)
    if not _may_be_equal(count, wanted):
        k.error(
            "TC0409",
            f"{describe(value)} does not reshape to {shape_text(shape)}",
            site.span,
            label=f"{count} elements, the new shape has {wanted}",
        )
        return POISON
    text = f"{site.span.text} must keep the number of elements, {count}"
    k.require("shape", count, "==", wanted, text, site.span)
    return reshaped(k, site, as_view_operand(k, site, value), shape)


def reshaped(k: Builder, site: Site, tensor: Tensor, shape: Shape) -> Tensor:
    """The tensor's elements in row-major order, as many, in another shape."""
    if tensor.shape == shape:
        return tensor
    return k.emit("reshape", (tensor,), None, tensor.dtype, shape, site, tensor.weak)


def flattened(k: Builder, site: Site, tensor: Tensor) -> Tensor:
    return reshaped(k, site, tensor, (element_count(tensor.shape),))


def _may_be_equal(a: Poly, b: Poly) -> bool:
    """False when the sizes differ whatever the dims are, as long as none of them is 0."""
    above_zero = (a - b).substitute({Sym(n): dim(n) + 1 for n in (a - b).dims()})
    return not (is_positive(above_zero) or is_positive(-above_zero))


def _report_filled_in(k: Builder, value: Numeric, arg: Arg) -> bool:
    """True after the error of a size -1, which other libraries work out."""
    items = arg.value.items if isinstance(arg.value, Sequence) else (arg.value,)
    sizes = [size_of(item) for item in items]
    known = [s for s in sizes if s is not None and s != -1]
    if len(known) + 1 != len(sizes) or -1 not in sizes:
        return False
    rest = divide_exactly(element_count(shape_of(value)), element_count(known))
    help = f"write {rest} for -1" if rest is not None else "write the size: the elements that there are"
    k.error("TC0410", "a size is never filled in, found -1", arg.span, label="expected a size", help=help)
    return True


# -- matmul ----------------------------------------------------------------------------------------


def check_matmul(k: Builder, site: Site, args: Args) -> Value:
    """`@`: vectors, matrices and batches of matrices, as in the Array API."""
    left, right = numeric(k, args["x1"], site), numeric(k, args["x2"], site)
    if left is None or right is None or not _check_product(k, site, left, right):
        return POISON
    common = common_type([left, right])
    if common.widened:
        warn_widening(k, [left, right], site)
    a = stored(k, site, k.materialize(left, common.dtype, site))
    b = stored(k, site, k.materialize(right, common.dtype, site))
    row, column = len(a.shape) == 1, len(b.shape) == 1
    if row:
        a = k.view("expand_dims", a, [axis("i1")], (ONE, *a.shape), site)
    if column:
        b = k.view("expand_dims", b, [axis("i0")], (*b.shape, ONE), site)
    batch = _batch_shape(k, site, a, b)
    if batch is None:
        return POISON
    a = k.broadcast(a, (*batch, *a.shape[-2:]), site)
    b = k.broadcast(b, (*batch, *b.shape[-2:]), site)
    product = batched_product(k, site, a, b)
    if row or column:
        product = _drop_matrix_axes(k, site, product, row, column)
    return adapting(product, [args["x1"], args["x2"]])


def _check_product(k: Builder, site: Site, left: Numeric, right: Numeric) -> bool:
    types = f"{describe(left)} @ {describe(right)}"
    if rank_of(left) == 0 or rank_of(right) == 0:
        k.error(
            "TC0405", f"@ needs tensors: {types}", site.span, label="a scalar has no axes", help="write x * y"
        )
        return False
    inner = shape_of(left)[-1]
    outer = shape_of(right)[-2 if rank_of(right) > 1 else -1]
    if inner != outer:
        k.error(
            "TC0407",
            f"the inner sizes of {types} differ",
            site.span,
            label=f"{inner} columns on the left, {outer} rows on the right",
            help="transpose one side with .T" if _would_fit_transposed(left, right) else "",
        )
        return False
    if common_type([left, right]).dtype == BOOL:
        k.error(
            "TC0302",
            "@ is not defined for bool",
            site.span,
            label="expected numbers",
            help="cast, as in i64(x)",
        )
        return False
    return True


def _would_fit_transposed(left: Numeric, right: Numeric) -> bool:
    a, b = shape_of(left), shape_of(right)
    return len(a) == 2 and len(b) == 2 and (a[-1] == b[-1] or a[-2] == b[-2])


def _batch_shape(k: Builder, site: Site, a: Tensor, b: Tensor) -> Shape | None:
    batches = [Tensor(t.id, t.dtype, t.shape[:-2]) for t in (a, b)]
    return broadcast_shapes(k, batches, site)


def batched_product(k: Builder, site: Site, a: Tensor, b: Tensor) -> Tensor:
    """`[..., M, K] @ [..., K, N]` of one dtype, with equal batch axes."""
    batch, rows, columns = a.shape[:-2], a.shape[-2], b.shape[-1]
    if a.dtype.is_float:
        return k.emit("matmul", (a, b), None, a.dtype, (*batch, rows, columns), site)
    # integers: a sum of products, exact modulo the width in any order
    full = (*batch, rows, columns, a.shape[-1])
    lead = [axis(f"i{n}") for n in range(len(batch))]
    row, column, inner = (axis(f"i{len(batch) + n}") for n in range(3))
    spread_a = k.view("broadcast_to", a, [*lead, row, inner], full, site)
    spread_b = k.view("broadcast_to", b, [*lead, inner, column], full, site)
    products = k.elementwise("multiply", [spread_a, spread_b], a.dtype, site)
    wide = k.promote(products, I64, site)
    total = k.reduce(wide, Reduce("sum", (len(full) - 1,)), I64, site)
    return k.promote(total, a.dtype, site)


def _drop_matrix_axes(k: Builder, site: Site, product: Tensor, row: bool, column: bool) -> Tensor:
    """Take out the axes of size 1 that vectors were given for the product."""
    last = len(product.shape) - 1
    dropped = ([last - 1] if row else []) + ([last] if column else [])
    kept = [a for a in range(last + 1) if a not in dropped]
    index: list[Poly] = [ZERO if a in dropped else axis(f"i{kept.index(a)}") for a in range(last + 1)]
    return k.view("squeeze", product, index, tuple(product.shape[a] for a in kept), site)
