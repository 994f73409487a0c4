"""What the algebra of sizes claims holds for numbers: values, signs, ranges over loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from tensorc.codegen.size_limits import Interval, Intervals
from tensorc.index_algebra import (
    Poly,
    Sym,
    as_poly,
    axis,
    dim,
    is_nonnegative,
    is_positive,
    maximum,
    minimum,
)
from tensorc.loop_ir.guards import always_holds, lower_bound, never_holds, whole_ranges

DIMS = ("N", "K")
SIZES = tuple(product(range(7), repeat=len(DIMS)))

Value = Callable[[Mapping[str, int]], int]


@dataclass(frozen=True)
class Grown:
    """A polynomial beside the function that it should be."""

    poly: Poly
    value: Value


def _leaf_of_dim(name: str) -> Grown:
    return Grown(dim(name), lambda v: v[name])


def _leaf_of_number(n: int) -> Grown:
    return Grown(as_poly(n), lambda v: n)


def _two(kind: str, a: Grown, b: Grown) -> Grown:
    match kind:
        case "+":
            return Grown(a.poly + b.poly, lambda v: a.value(v) + b.value(v))
        case "-":
            return Grown(a.poly - b.poly, lambda v: a.value(v) - b.value(v))
        case "*":
            return Grown(a.poly * b.poly, lambda v: a.value(v) * b.value(v))
        case "min":
            return Grown(minimum(a.poly, b.poly), lambda v: min(a.value(v), b.value(v)))
        case "max":
            return Grown(maximum(a.poly, b.poly), lambda v: max(a.value(v), b.value(v)))
    raise ValueError(kind)


def _divided(kind: str, a: Grown, d: int) -> Grown:
    if kind == "//":
        return Grown(a.poly // d, lambda v: a.value(v) // d)
    return Grown(a.poly % d, lambda v: a.value(v) % d)


def _whole_part(a: Grown, d: int, times: int) -> Grown:
    """`times * d * (a // d)`, the term of a strided range that meets or misses its bound."""
    return Grown(times * d * (a.poly // d), lambda v: times * d * (a.value(v) // d))


LEAVES = st.one_of(
    st.sampled_from(DIMS).map(_leaf_of_dim),
    st.integers(-8, 8).map(_leaf_of_number),
)
POLYS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(_two, st.sampled_from(["+", "-", "+", "-", "*", "min", "max"]), inner, inner),
        st.builds(_divided, st.sampled_from(["//", "//", "%"]), inner, st.integers(1, 4)),
        st.builds(_whole_part, inner, st.integers(2, 3), st.sampled_from([-1, 1])),
    ),
    max_leaves=8,
)


def _assignments() -> list[dict[str, int]]:
    return [dict(zip(DIMS, sizes, strict=True)) for sizes in SIZES]


@settings(max_examples=400, deadline=None)
@given(POLYS)
def test_values_and_signs(p: Grown) -> None:
    least = min(p.value(v) for v in _assignments())
    assert [p.poly.evaluate(v) for v in _assignments()] == [p.value(v) for v in _assignments()]
    assert not is_nonnegative(p.poly) or least >= 0
    assert not is_positive(p.poly) or least >= 1


@settings(max_examples=200, deadline=None)
@given(POLYS, POLYS, POLYS)
def test_substituted(p: Grown, n: Grown, k: Grown) -> None:
    """With what is a size itself: nothing holds of a polynomial whose dims are negative."""
    found = p.poly.substitute({Sym("N"): n.poly, Sym("K"): k.poly})
    for v in _assignments():
        inner = {"N": n.value(v), "K": k.value(v)}
        assert min(inner.values()) < 0 or found.evaluate(v) == p.value(inner)


STRIDES = st.integers(-3, 3)
OFFSETS = st.builds(
    lambda n, k, c: Grown(n * dim("N") + k * dim("K") + c, lambda v: n * v["N"] + k * v["K"] + c),
    st.sampled_from([-1, 0, 1]),
    st.sampled_from([-1, 0, 1]),
    st.integers(-9, 9),
)


@settings(max_examples=600, deadline=None)
@given(st.one_of(OFFSETS, OFFSETS, POLYS), STRIDES, STRIDES, st.integers(1, 3), st.integers(0, 9))
def test_guards_over_loops(rest: Grown, first: int, second: int, every: int, more: int) -> None:
    """`first * i + second * j + rest` for i below (N + more) // every and j below K."""
    extent = (dim("N") + more) // every
    guard = first * axis("i") + second * axis("j") + rest.poly
    ranges = whole_ranges({"i": extent, "j": dim("K")})
    bound, always, never = lower_bound(guard, ranges), always_holds(guard, ranges), never_holds(guard, ranges)
    for v in _assignments():
        count = (v["N"] + more) // every
        reached = [first * i + second * j + rest.value(v) for i in range(count) for j in range(v["K"])]
        if reached:
            assert min(reached) >= bound.evaluate(v)
            assert not always or min(reached) >= 0
            assert not never or max(reached) < 0


@settings(max_examples=400, deadline=None)
@given(POLYS)
def test_intervals(p: Grown) -> None:
    found = Intervals({name: Interval(0, 6) for name in DIMS}).of(p.poly)
    values = [p.value(v) for v in _assignments()]
    assert found.low <= min(values) and max(values) <= found.high


@settings(max_examples=200, deadline=None)
@given(POLYS, st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_what_is_settled_fits(p: Grown, n: int, k: int) -> None:
    found = Intervals({name: Interval(0, 2**63 - 1) for name in DIMS}).of(p.poly)
    assert not found.fits or -(2**63) <= p.value({"N": n, "K": k}) < 2**63


def test_a_floor_that_reaches_its_bound() -> None:
    """K + 7 - 2 * ((K + 7) // 2) is 0 or 1: never negative, and not always positive."""
    p = dim("K") + 7 - 2 * ((dim("K") + 7) // 2)
    assert is_nonnegative(p) and not is_positive(p)
    assert is_positive(p + 1)
