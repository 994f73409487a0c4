"""outer, vecdot, tensordot and einsum: products whose axes are matched by place or by letter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Sequence as Items
from dataclasses import dataclass

from tensorc.dtypes import BOOL
from tensorc.index_algebra import ONE, ZERO, Poly, axis
from tensorc.sema.builder import Builder, Site
from tensorc.sema.elementwise import adapting, apply_operator, numeric, stored, warn_widening
from tensorc.sema.products import Labelled, arranged, contract, sum_labels
from tensorc.sema.promotion import common_type
from tensorc.sema.shapes import axes_argument, integer_argument, normalize_axis
from tensorc.sema.values import POISON, Arg, Sequence, Tensor, Text, Value, describe

Args = Mapping[str, Arg]

EXAMPLE = 'write one letter per axis, as in einsum("ij,jk->ik", a, b)'


def _operands(k: Builder, site: Site, args: Items[Arg]) -> tuple[Tensor, ...] | None:
    """The factors in their common dtype, or None after an error."""
    found = [numeric(k, a, site) for a in args]
    values = [v for v in found if v is not None]
    if len(values) < len(found):
        return None
    common = common_type(values)
    if common.dtype == BOOL:
        k.error(
            "TC0302",
            f"{site.origin} is not defined for bool",
            site.span,
            label="expected numbers",
            help="cast, as in i64(x)",
        )
        return None
    if common.widened:
        warn_widening(k, values, site)
    return tuple(stored(k, site, k.materialize(v, common.dtype, site)) for v in values)


def _report_sizes(k: Builder, site: Site, a: Poly, b: Poly, operands: Items[Tensor]) -> None:
    types = " and ".join(dict.fromkeys(map(describe, operands)))
    k.error(
        "TC0407",
        f"the sizes that {site.origin} sums over differ: {types}",
        site.span,
        label=f"sizes {a} and {b}",
    )


def check_outer(k: Builder, site: Site, args: Args) -> Value:
    """`x1[:, None] * x2` of two vectors."""
    pair = (args["x1"], args["x2"])
    values = [numeric(k, a, site) for a in pair]
    vectors = [v for v in values if isinstance(v, Tensor) and len(v.shape) == 1]
    if any(v is None for v in values):
        return POISON
    if len(vectors) < 2:
        types = " and ".join(describe(a.value) for a in pair)
        k.error("TC0405", f"outer takes two vectors, found {types}", site.span, label="expected rank 1")
        return POISON
    column = k.view("expand_dims", vectors[0], [axis("i0")], (*vectors[0].shape, ONE), site)
    return apply_operator(k, site, "multiply", [column, vectors[1]])


def check_vecdot(k: Builder, site: Site, args: Args) -> Value:
    """The sum of products along one axis, the last by default; the other axes broadcast."""
    operands = _operands(k, site, (args["x1"], args["x2"]))
    number = integer_argument(k, args["axis"], "axis") if "axis" in args else -1
    if operands is None or number is None:
        return POISON
    rank = min(len(t.shape) for t in operands)
    if number >= 0 and len(operands[0].shape) != len(operands[1].shape):
        k.error("TC0403", "the axis of vecdot counts from the end", args["axis"].span, label="expected < 0")
        return POISON
    where = args["axis"].span if "axis" in args else site.span
    if normalize_axis(k, number, rank, where, "the operand of lower rank") is None:
        return POISON
    a, b = (t.shape[number] for t in operands)
    if a != b:
        _report_sizes(k, site, a, b, operands)
        return POISON
    products = apply_operator(k, site, "multiply", operands)
    if not isinstance(products, Tensor):
        return products
    labels = tuple(range(len(products.shape)))
    summed = number % len(labels)
    kept = tuple(n for n in labels if n != summed)
    total = sum_labels(k, site, Labelled(products, labels), kept).tensor
    return adapting(total, [args["x1"], args["x2"]])


# -- tensordot -------------------------------------------------------------------------------------


def check_tensordot(k: Builder, site: Site, args: Args) -> Value:
    """The sum over the last N axes of x1 and the first N of x2, or over two tuples of axes."""
    operands = _operands(k, site, (args["x1"], args["x2"]))
    if operands is None:
        return POISON
    left, right = operands
    pairs = _paired_axes(k, site, args.get("axes"), left, right)
    if pairs is None:
        return POISON
    rank = len(left.shape)
    labels = [rank + n for n in range(len(right.shape))]
    for a, b in pairs:
        if left.shape[a] != right.shape[b]:
            _report_sizes(k, site, left.shape[a], right.shape[b], operands)
            return POISON
        labels[b] = a
    summed = {a for a, _ in pairs}
    kept = (*(n for n in range(rank) if n not in summed), *(n for n in labels if n >= rank))
    factors = Labelled(left, tuple(range(rank))), Labelled(right, tuple(labels))
    return adapting(contract(k, site, *factors, kept).tensor, [args["x1"], args["x2"]])


def _paired_axes(
    k: Builder, site: Site, arg: Arg | None, left: Tensor, right: Tensor
) -> tuple[tuple[int, int], ...] | None:
    """The axes that are summed over, left and right; None after an error."""
    ranks = len(left.shape), len(right.shape)
    if arg is not None and isinstance(arg.value, Sequence):
        sides = arg.value.items
        if len(sides) != 2:
            k.error("TC0403", "axes= takes an integer or two tuples", arg.span, label=describe(arg.value))
            return None
        first, second = (
            axes_argument(k, Arg(s, arg.span), r, describe(t))
            for s, r, t in zip(sides, ranks, (left, right), strict=True)
        )
        if first is None or second is None:
            return None
        if len(first) != len(second):
            message = f"axes= names different numbers of axes: {len(first)} of x1 and {len(second)} of x2"
            k.error("TC0403", message, arg.span, label="expected as many")
            return None
        return tuple(zip(first, second, strict=True))
    count = 2 if arg is None else integer_argument(k, arg, "axes")
    if count is None:
        return None
    if not 0 <= count <= min(ranks):
        k.error(
            "TC0403",
            f"tensordot cannot sum over {count} axes of {describe(left)} and {describe(right)}",
            site.span if arg is None else arg.span,
            label=f"expected 0 to {min(ranks)}",
        )
        return None
    return tuple((ranks[0] - count + n, n) for n in range(count))


# -- einsum ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Formula:
    """Labels per operand and of the result: letters by code, the axes of `...` as -1, -2 from the right."""

    terms: tuple[tuple[int, ...], ...]
    result: tuple[int, ...]


def check_einsum(k: Builder, site: Site, args: Args) -> Value:
    """`einsum("ij,jk->ik", a, b)`; operands are multiplied from left to right."""
    given = args["subscripts"]
    inputs = [arg for name, arg in args.items() if name != "subscripts"]
    if not isinstance(given.value, Text):
        k.error("TC0106", "einsum takes its subscripts as a string", given.span, label=describe(given.value))
        return POISON
    operands = _operands(k, site, inputs)
    if operands is None:
        return POISON
    formula = _read_formula(k, given, given.value.value, operands)
    if formula is None:
        return POISON
    sizes = _label_sizes(k, site, formula, operands)
    if sizes is None:
        return POISON
    factors = [
        _labelled(k, site, t, labels, sizes) for t, labels in zip(operands, formula.terms, strict=True)
    ]
    result = _multiply_all(k, site, factors, formula.result)
    return adapting(arranged(k, site, result, formula.result), inputs)


def _multiply_all(k: Builder, site: Site, factors: list[Labelled], result: tuple[int, ...]) -> Labelled:
    product = factors[0]
    for position in range(1, len(factors) + 1):
        rest = factors[position:]
        # a label of one factor alone is summed before anything is multiplied with it
        product = sum_labels(k, site, product, _needed(rest, result))
        if rest:
            following = sum_labels(k, site, rest[0], (*_needed([product, *rest[1:]], result),))
            product = contract(k, site, product, following, _needed(rest[1:], result))
    return product


def _needed(factors: Items[Labelled], result: tuple[int, ...]) -> tuple[int, ...]:
    """The result's labels, then those of `factors`, each once."""
    return tuple(dict.fromkeys((*result, *(a for f in factors for a in f.labels))))


def _read_formula(k: Builder, arg: Arg, text: str, operands: Items[Tensor]) -> _Formula | None:
    found = _parse_formula(text, operands)
    if isinstance(found, _Formula):
        return found
    k.error("TC0106", f"einsum: {found}", arg.span, label="the subscripts", help=EXAMPLE)
    return None


def _parse_formula(text: str, operands: Items[Tensor]) -> _Formula | str:
    """The formula, or what is wrong with it."""
    inputs, arrow, output = text.replace(" ", "").partition("->")
    written = inputs.split(",")
    for part in (*written, output):
        if not re.fullmatch(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*", part):
            return f"`{part}` is not a list of letters"
    if len(written) != len(operands):
        return f"{_count(len(written), 'list')} of letters for {_count(len(operands), 'operand')}"
    terms: list[tuple[int, ...]] = []
    for part, operand in zip(written, operands, strict=True):
        letters = len(part.replace("...", ""))
        hidden = len(operand.shape) - letters
        if hidden < 0 or (hidden and "..." not in part):
            axes = f"the {len(operand.shape)} axes of {describe(operand)}"
            return f"`{part}` has {_count(letters, 'letter')} for {axes}"
        terms.append(_labels(part, hidden))
    most = max((-a for t in terms for a in t if a < 0), default=0)
    if not arrow:
        every = inputs.replace(",", "").replace("...", "")
        output = "..." + "".join(sorted(c for c in set(every) if every.count(c) == 1))
    elif most and "..." not in output:
        return "the axes of `...` are missing in the result"
    result = _labels(output, most)
    if len(set(result)) < len(result):
        return f"the result `{output}` has a letter twice"
    if not {a for t in terms for a in t}.issuperset(result):
        return f"the result `{output}` has a letter that no operand has"
    return _Formula(tuple(terms), result)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _labels(term: str, hidden: int) -> tuple[int, ...]:
    before, dots, after = term.partition("...")
    between = range(-hidden, 0) if dots else ()
    return (*map(ord, before), *between, *map(ord, after))


def _label_sizes(
    k: Builder, site: Site, formula: _Formula, operands: Items[Tensor]
) -> dict[int, Poly] | None:
    """The size of each label: axes of size 1 repeat to fit the others. None after an error."""
    sizes: dict[int, Poly] = {}
    for labels, operand in zip(formula.terms, operands, strict=True):
        own: dict[int, Poly] = {}
        for label, size in zip(labels, operand.shape, strict=True):
            general = sizes.get(label, ONE)
            twice = own.setdefault(label, size)
            if twice != size or (general != size and ONE not in (general, size)):
                _report_sizes(k, site, twice if twice != size else general, size, operands)
                return None
            sizes[label] = size if general == ONE else general
    return sizes


def _labelled(
    k: Builder, site: Site, operand: Tensor, labels: tuple[int, ...], sizes: Mapping[int, Poly]
) -> Labelled:
    """The operand with each label once: twice is a diagonal; an axis of size 1 that repeats is dropped."""
    repeats = [size == ONE and sizes[a] != ONE for a, size in zip(labels, operand.shape, strict=True)]
    kept = tuple(dict.fromkeys(a for a, gone in zip(labels, repeats, strict=True) if not gone))
    if kept == labels:
        return Labelled(operand, labels)
    index = [ZERO if gone else axis(f"i{kept.index(a)}") for a, gone in zip(labels, repeats, strict=True)]
    return Labelled(k.view("einsum", operand, index, tuple(sizes[a] for a in kept), site), kept)
