"""Scans as users call them, against NumPy: axes, dtypes, lengths, special values, threads, compilers."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest

import tensorc

LENGTHS = (0, 1, 7, 8, 9, 64, 1000)
COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]
SHAPE = ("A", "B", "C", "D")
ACCUMULATE = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def _text() -> str:
    lines = []
    for kind, dtype in itertools.product(ACCUMULATE, ("f32", "f64", "i32", "i64", "bool")):
        if dtype == "bool" and kind == "prod":
            continue
        lines.append(f"kernel {kind}_{dtype}(x: {dtype}[N]) {{ return cumulative_{kind}(x) }}")
        for axis in (0, 1):
            call = f"cumulative_{kind}(x, axis={axis})"
            lines.append(f"kernel {kind}_{dtype}_{axis}(x: {dtype}[N, D]) {{ return {call} }}")
    for rank in (2, 3, 4):
        for axis in range(-rank, rank):
            name = f"axis_{rank}_{axis}".replace("-", "m")
            shape = ", ".join(SHAPE[:rank])
            lines.append(f"kernel {name}(x: i64[{shape}]) {{ return cumulative_sum(x, axis={axis}) }}")
    return "\n".join((*lines, EXTRA))


EXTRA = """
kernel wrapped(x: i32[N]) { return cumulative_sum(x, dtype=i32), cumulative_prod(x, dtype=f64) }
kernel whole(x: f32[N]) { return cumulative_sum(x) }
kernel fused(x: f32[N, D], y: f32[N, D]) { return cumulative_sum(exp(x), axis=1) * y }
kernel apart(x: f32[N, D], y: f32[N, D]) {
    @materialize e = exp(x)
    @materialize c = cumulative_sum(e, axis=1)
    return c * y
}
kernel columns(x: f32[N, D], y: f32[N, D]) { return cumulative_sum(exp(x), axis=0) * y }
kernel turned(x: f32[N, D]) { return cumulative_sum(x.T, axis=0), cumulative_max(x[::-1, 1:], axis=1) }
kernel constant(x: f32[N]) { return cumulative_sum(ones_like(x)) + x, cumulative_sum(arange(N)) }
kernel statistics(x: f32[N, D]) {
    c = cumulative_sum(x, axis=1)
    return var(c, axis=1), argmax(c, axis=1), c[:, -1:] - sum(x, axis=1, keepdims=true)
}
kernel initial(x: f32[N, D], y: i32[N]) {
    return (
        cumulative_sum(x, axis=0, include_initial=true),
        cumulative_sum(x, axis=1, include_initial=true) * 2,
        cumulative_prod(y, include_initial=true),
    )
}
kernel of_one(x: f32[N, 1], y: i32[1]) {
    return cumulative_sum(x, axis=1), cumulative_sum(y), cumulative_sum(x, axis=0)
}
kernel two(x: f64[N]) { c = cumulative_prod(x); return c, cumulative_max(c), sum(c), c[0] + max(x) }
"""


@pytest.fixture(scope="module", params=COMPILERS)
def module(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tensorc.Module:
    return tensorc.compile(_text(), cxx=request.param, cache_dir=tmp_path_factory.mktemp("cache"))


def _data(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(shape) < 0.5
    if dtype.startswith("i"):
        limits = np.iinfo(f"i{int(dtype[1:]) // 8}")
        return random.integers(limits.min, limits.max, shape, dtype=limits.dtype, endpoint=True)
    return (1.0 + 0.05 * random.standard_normal(shape)).astype(f"f{int(dtype[1:]) // 8}")


def _expected(kind: str, x: np.ndarray, axis: int) -> np.ndarray:
    if x.dtype.kind in "ib":
        wide = np.int64 if kind in ("sum", "prod") else x.dtype
        return ACCUMULATE[kind].accumulate(x, axis=axis, dtype=wide)
    return ACCUMULATE[kind].accumulate(x.astype(np.float64), axis=axis)


def _check(found: np.ndarray, kind: str, x: np.ndarray, axis: int) -> None:
    expected = _expected(kind, x, axis)
    assert found.shape == x.shape
    if x.dtype.kind in "ib":
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
        return
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6 if x.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", ["f32", "f64", "i32", "i64", "bool"])
@pytest.mark.parametrize("kind", ACCUMULATE)
def test_lengths_and_axes(module: tensorc.Module, kind: str, dtype: str) -> None:
    if f"{kind}_{dtype}" not in module:
        pytest.skip("a product of bool is a sum of nothing new")
    for n in LENGTHS:
        x = _data(dtype, (n,))
        _check(module[f"{kind}_{dtype}"](x), kind, x, 0)
    for shape in itertools.product((0, 1, 3, 9), (0, 1, 7, 8, 9, 64)):
        x = _data(dtype, shape)
        for axis, threads in itertools.product((0, 1), (1, 2)):
            _check(module[f"{kind}_{dtype}_{axis}"](x, threads=threads), kind, x, axis)


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_every_axis_of_every_rank(module: tensorc.Module, rank: int) -> None:
    shapes = itertools.product((1, 2), (3, 5), (0, 1, 4), (2, 9))
    for shape in {s[:rank] for s in shapes}:
        x = _data("i64", shape)
        for axis in range(-rank, rank):
            name = f"axis_{rank}_{axis}".replace("-", "m")
            np.testing.assert_array_equal(module[name](x), np.cumsum(x, axis=axis))
            strided = np.zeros((*shape[:-1], 2 * shape[-1]), np.int64)[..., ::-2]
            strided[...] = x
            np.testing.assert_array_equal(module[name](strided, threads=2), np.cumsum(x, axis=axis))


def test_integers_wrap(module: tensorc.Module) -> None:
    x = _data("i32", (30,))
    total, product = module["wrapped"](x)
    np.testing.assert_array_equal(total, np.cumsum(x, dtype=np.int32))
    np.testing.assert_allclose(product, np.cumprod(x, dtype=np.float64), rtol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ACCUMULATE)
def test_a_special_value_at_every_position(module: tensorc.Module, kind: str, value: float) -> None:
    for n, dtype in itertools.product((1, 8, 21), ("f32", "f64")):
        for position in range(n):
            x = _data(dtype, (n,))
            x[position] = value
            with np.errstate(all="ignore"):
                expected = ACCUMULATE[kind].accumulate(x)
            found = module[f"{kind}_{dtype}"](x)
            np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
            np.testing.assert_array_equal(np.isinf(found), np.isinf(expected))
            columns = np.ascontiguousarray(np.stack([x] * 9, axis=1))
            rows = module[f"{kind}_{dtype}_0"](columns)
            np.testing.assert_allclose(rows, np.stack([found] * 9, axis=1), rtol=1e-6)


def test_infinities_of_two_signs(module: tensorc.Module) -> None:
    x = np.array([1, np.inf, 2, 3, -np.inf, 4, 5, 6, 7, 8], np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(module["sum_f32"](x), np.cumsum(x))
    np.testing.assert_array_equal(module["max_f32"](x), np.maximum.accumulate(x))


def test_zeros_of_two_signs(module: tensorc.Module) -> None:
    """-0 orders below +0, and a running sum of -0 stays -0, as in NumPy."""
    for n in (1, 9, 20):
        for position in range(n):
            x = np.full(n, -0.0, np.float32)
            x[position] = 0.0
            after = np.arange(n) >= position
            assert np.array_equal(np.signbit(module["max_f32"](x)), ~after)
            assert np.array_equal(np.signbit(module["min_f32"](-x)), after)
            assert np.array_equal(np.signbit(module["sum_f32"](x)), ~after)
            assert not module["sum_f32"](x).any()


def test_error_bound_on_cancelling_terms(module: tensorc.Module) -> None:
    """Every prefix of f32 terms is within (log2 n + 9) units of 2^-24 of the sum of magnitudes."""
    n = 200_000
    random = np.random.default_rng(3)
    x = (random.standard_normal(n) * 10.0 ** random.integers(-6, 7, n)).astype(np.float32)
    x[1::2] = -x[::2] * np.float32(1 + 2**-20)
    exact = np.cumsum(x.astype(np.longdouble))
    units = (np.log2(np.arange(1, n + 1)) + 9) * 2.0**-24
    bound = units * np.cumsum(np.abs(x.astype(np.longdouble)))
    for name, argument in (("sum_f32", x), ("sum_f32_0", x[:, None]), ("sum_f32_1", x[None])):
        error = np.abs(module[name](argument).reshape(-1) - exact)
        assert (error <= bound).all()
        # carried in f64, what is left is the rounding of the result
        assert (error <= np.abs(exact) * 2.0**-24 + bound * 1e-4).all()


def test_fusion_threads_and_compilers_give_the_same_bits(tmp_path: Path) -> None:
    modules = [tensorc.compile(_text(), cxx=c, cache_dir=tmp_path) for c in COMPILERS]
    modules.append(tensorc.compile(_text(), policy="inductor-2.8", opt_level=1, cache_dir=tmp_path))
    random = np.random.default_rng(5)
    for shape in ((0, 5), (1, 1), (3, 8), (7, 1001), (300, 17), (40, 1200)):
        x, y = (random.standard_normal(shape).astype(np.float32) for _ in range(2))
        first = modules[0]["fused"](x, y, threads=1)
        columns = modules[0]["columns"](x, y, threads=1)
        for m, threads in itertools.product(modules, (1, 2)):
            assert np.array_equal(m["fused"](x, y, threads=threads), first)
            assert np.array_equal(m["apart"](x, y, threads=threads), first)
            assert np.array_equal(m["columns"](x, y, threads=threads), columns)


def test_views_constants_and_statistics(module: tensorc.Module) -> None:
    random = np.random.default_rng(6)
    x = random.standard_normal((9, 37)).astype(np.float32)
    turned, backwards = module["turned"](x)
    np.testing.assert_allclose(turned, np.cumsum(x.T.astype(np.float64), axis=0), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(backwards, np.maximum.accumulate(x[::-1, 1:], axis=1))
    ones, counted = module["constant"](x[0])
    np.testing.assert_array_equal(ones, np.arange(1, 38, dtype=np.float32) + x[0])
    np.testing.assert_array_equal(counted, np.cumsum(np.arange(37)))
    prefix = np.cumsum(x.astype(np.float64), axis=1)
    variance, place, rest = module["statistics"](x)
    np.testing.assert_allclose(variance, prefix.var(axis=1), rtol=1e-5)
    np.testing.assert_array_equal(place, prefix.argmax(axis=1))
    np.testing.assert_allclose(rest, 0, atol=1e-5)


def test_an_axis_of_extent_1(module: tensorc.Module) -> None:
    x = np.array([[1.5], [-0.0], [2]], np.float32)
    same, y, down = module["of_one"](x, np.array([7], np.int32))
    np.testing.assert_array_equal(same, x)
    assert y.dtype == np.int64 and y.tolist() == [7]
    np.testing.assert_array_equal(down, np.cumsum(x, axis=0))


def test_with_the_initial_value(module: tensorc.Module) -> None:
    random = np.random.default_rng(8)
    for shape in ((0, 3), (1, 1), (5, 8), (9, 33)):
        x, y = random.integers(-9, 9, shape).astype(np.float32), random.integers(-9, 9, shape[0], np.int32)
        down, across, product = module["initial"](x, y)
        np.testing.assert_array_equal(down, np.cumulative_sum(x, axis=0, include_initial=True))
        np.testing.assert_array_equal(across, np.cumulative_sum(x, axis=1, include_initial=True) * 2)
        np.testing.assert_array_equal(product, np.cumulative_prod(y, include_initial=True))
        assert product.dtype == np.int64


def test_scans_of_scans_with_scalars(module: tensorc.Module) -> None:
    x = _data("f64", (1000,))
    c, top, total, scalar = module["two"](x)
    np.testing.assert_allclose(c, np.cumprod(x), rtol=1e-12)
    np.testing.assert_array_equal(top, np.maximum.accumulate(c))
    np.testing.assert_allclose(total, c.sum(), rtol=1e-12)
    assert scalar == c[0] + x.max()


def test_out_may_be_the_input(module: tensorc.Module) -> None:
    """A scan reads an element before it stores it, along rows and by columns."""
    for name, shape in (("sum_f32", (1000,)), ("sum_f32_0", (50, 700)), ("sum_f32_1", (50, 700))):
        x = _data("f32", shape)
        expected = module[name](x)
        module[name](x, out=x, threads=2)
        np.testing.assert_array_equal(x, expected)


NARROW = ("i8", "i16", "u8", "u16", "u32", "u64", "f16")


def _narrow_text() -> str:
    lines = []
    for dtype in NARROW:
        pieces = [f"cumulative_{kind}(x, axis={axis})" for kind in ("sum", "max", "min") for axis in (0, 1)]
        lines.append(f"kernel {dtype}_(x: {dtype}[N, D]) {{ return {', '.join(pieces)} }}")
    bf16 = "f32(cumulative_sum(bf16(x), axis=1)), f32(cumulative_max(bf16(x), axis=0))"
    return "\n".join((*lines, f"kernel bf16_(x: f32[N, D]) {{ return {bf16} }}"))


def test_narrow_dtypes(tmp_path: Path) -> None:
    """Integers add up in 64 bits of their sign, small floats in f32 or wider with one rounding a prefix."""
    module = tensorc.compile(_narrow_text(), cache_dir=tmp_path)
    random = np.random.default_rng(9)
    for dtype, shape in itertools.product(NARROW, ((0, 3), (1, 1), (5, 8), (20, 37))):
        numpy_dtype = np.dtype({"i": "i", "u": "u", "f": "f"}[dtype[0]] + str(int(dtype[1:]) // 8))
        if dtype == "f16":
            x = random.standard_normal(shape).astype(numpy_dtype)
            total = np.float32
        else:
            limits = np.iinfo(numpy_dtype)
            x = random.integers(limits.min, limits.max, shape, dtype=numpy_dtype, endpoint=True)
            total = np.dtype(f"{dtype[0]}8")
        found = module[f"{dtype}_"](x, threads=2)
        for position, (kind, axis) in enumerate(itertools.product(("sum", "max", "min"), (0, 1))):
            wide = total if kind == "sum" else x.dtype
            expected = ACCUMULATE[kind].accumulate(x, axis=axis, dtype=wide)
            if dtype == "f16":
                expected = expected.astype(x.dtype)
                assert np.max(np.abs(found[position] - expected), initial=0) <= 2.0**-8
            else:
                np.testing.assert_array_equal(found[position], expected)
            assert found[position].dtype == expected.dtype
    x = random.integers(-8, 8, (9, 20)).astype(np.float32)  # exact in bf16, and so are the sums
    total, top = module["bf16_"](x)
    np.testing.assert_array_equal(total, np.cumsum(x, axis=1))
    np.testing.assert_array_equal(top, np.maximum.accumulate(x, axis=0))


def test_scans_of_what_is_gathered(tmp_path: Path) -> None:
    """An index is checked inside the loops of a scan, and such a scan is never done in place."""
    module = tensorc.compile(
        """
        kernel rows(x: f32[N, D], i: i64[D]) { return cumulative_sum(take(x, i, axis=1), axis=1) }
        kernel columns(x: f32[N, D], i: i32[N]) { return cumulative_max(take(x, i, axis=0), axis=0) * x }
        kernel after(x: f32[N, D], i: i32[N]) { return take(cumulative_max(x, axis=0), i, axis=0) }
        """,
        cache_dir=tmp_path,
    )
    random = np.random.default_rng(11)
    x = random.integers(-9, 9, (30, 41)).astype(np.float32)
    i, j = random.integers(-30, 30, 30).astype(np.int32), random.integers(-41, 41, 41)
    top = np.maximum.accumulate
    for threads in (1, 2):
        np.testing.assert_array_equal(module["rows"](x, j, threads=threads), np.cumsum(x[:, j], axis=1))
        np.testing.assert_array_equal(module["columns"](x, i, threads=threads), top(x[i], axis=0) * x)
        np.testing.assert_array_equal(module["after"](x, i, threads=threads), top(x, axis=0)[i])
    with pytest.raises(ValueError, match="in place"):
        module["rows"](x, j, out=x)
    i[17] = 30
    for name in ("columns", "after"):
        with pytest.raises(IndexError, match="axis 0"):
            module[name](x, i)


def test_variance_of_a_scan_in_its_loop() -> None:
    """Every chunk measures from its first element, which a fused scan gives ahead of the chunk's loop."""
    module = tensorc.compile("""
        kernel fused(x: f32[N, M]) { c = cumulative_sum(x, axis=1); return c, var(c, axis=1), std(c, axis=1) }
        kernel apart(c: f32[N, M]) { return var(c, axis=1), std(c, axis=1) }
    """)
    for n, m in ((2, 1), (3, 9), (2, 16384), (3, 16385), (2, 70001)):
        x = np.cos(np.arange(n * m)).reshape(n, m).astype(np.float32)
        c, *spread = module.fused(x)
        for found, expected in zip(spread, module.apart(c), strict=True):
            assert found.tobytes() == expected.tobytes(), (n, m)
        np.testing.assert_allclose(spread[0], c.astype(np.float64).var(axis=1), rtol=1e-6)
