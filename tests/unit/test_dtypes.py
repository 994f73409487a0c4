"""The table of dtypes and every operator on every pair of them, against NumPy."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from sema_checking import check_text, result_ops

from tensorc.dtypes import BF16, F16, F32, SUPPORTED, DType, float_of, holds, promote, round_to_float
from tensorc.interp.float_values import round_values, stored
from tensorc.interp.tensor_interp import interpret

NUMPY = tuple(t for t in SUPPORTED.values() if t != BF16)
OPERATORS = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide,
    "%": np.remainder, "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "<<": np.left_shift, ">>": np.right_shift,
}  # fmt: skip
FUNCTIONS = {
    "maximum": np.maximum, "minimum": np.minimum, "hypot": np.hypot, "atan2": np.arctan2,
    "copysign": np.copysign, "logaddexp": np.logaddexp,
}  # fmt: skip
UNARY = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sqrt": np.sqrt, "cbrt": np.cbrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh,
    "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "abs": np.abs,
    "square": np.square, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "isnan": np.isnan,
    "isinf": np.isinf, "isfinite": np.isfinite,
}  # fmt: skip
REDUCTIONS = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean, "var": np.var,
    "std": np.std, "argmax": np.argmax, "argmin": np.argmin, "any": np.any, "all": np.all,
    "count_nonzero": np.count_nonzero,
}  # fmt: skip


@pytest.mark.parametrize("a", NUMPY)
def test_promotion_is_numpys(a: DType) -> None:
    for b in NUMPY:
        assert promote(a, b).numpy == np.result_type(a.numpy, b.numpy).name, (a, b)


@pytest.mark.parametrize("a", NUMPY)
def test_promotion_of_bf16_is_that_of_f16_but_for_itself(a: DType) -> None:
    expected = promote(F16, a)
    if a == F16:
        expected = F32
    assert promote(BF16, a) == promote(a, BF16) == (BF16 if expected == F16 else expected)


@pytest.mark.parametrize("a", NUMPY)
def test_a_type_holds_what_numpy_casts_to_it_safely(a: DType) -> None:
    for b in NUMPY:
        # NumPy counts the casts of 64-bit integers to f64 among the safe ones
        wide = b.is_integer and b.size == 8 and a.is_float
        assert holds(a, b) == (np.can_cast(b.numpy, a.numpy) and not wide), (a, b)
    assert float_of(a).numpy == (a.numpy if a.is_float else np.exp(np.ones(1, a.numpy)).dtype.name)


@pytest.mark.parametrize("dtype", [F16, BF16])
def test_rounding_is_that_of_other_implementations(dtype: DType) -> None:
    other = np.float16 if dtype == F16 else ml_dtypes.bfloat16
    bits = np.arange(2**16).astype(np.uint16)
    with np.errstate(invalid="ignore"):
        values = bits.view(other).astype(np.float64)
    finite = values[np.isfinite(values)]
    middles = np.concatenate([finite, (np.sort(finite)[1:] + np.sort(finite)[:-1]) / 2, finite * 1.001])
    with np.errstate(all="ignore"):
        expected = middles.astype(other).astype(np.float64)
    found = round_values(middles, dtype)
    np.testing.assert_array_equal(found, expected)
    for x in middles[:: 997 if dtype == F16 else 1999]:
        assert round_to_float(Fraction(x), dtype) == round_values(np.array(x), dtype)


# -- operators ---------------------------------------------------------------------------------------


def corner_values(dtype: DType) -> np.ndarray:
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.is_integer:
        edges = {0, 1, 2, 3, 7, 8, 31, 100, dtype.highest, dtype.highest - 1, dtype.highest // 2 + 1}
        edges |= {-1, -2, -7, dtype.lowest, dtype.lowest + 1} if dtype.kind == "i" else set()
        return np.array(sorted(edges), dtype.numpy)
    values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        -2.5,
        3.0,
        7.0,
        np.inf,
        -np.inf,
        np.nan,
        0.1,
        -0.3,
        100.0,
        2049.0,
    ]
    if dtype != BF16:
        values += [float(np.finfo(dtype.numpy).max), float(np.finfo(dtype.numpy).smallest_subnormal)]
    return stored(round_values(np.array(values), dtype).astype(dtype.carrier), dtype)


def _pairs(a: DType, b: DType) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(corner_values(a), corner_values(b), indexing="ij")
    return x.ravel(), y.ravel()


def _evaluate(a: DType, b: DType, expression: str) -> tuple[np.ndarray, str] | None:
    """The values and the dtype that an expression of `x` and `y` gives; None where it is an error."""
    programs, codes = _check(f"kernel k(x: {a}[N], y: {b}[N]) {{\n    return {expression}\n}}")
    if "TC0302" in codes:
        return None
    x, y = _pairs(a, b)
    (found,) = interpret(programs[0], {"x": x, "y": y}, mode="exact")
    return found, result_ops(programs[0])[0].dtype.numpy


def _check(text: str):
    programs, bag = check_text(text)
    return programs, [d.code for d in bag.items if d.severity.value == "error"]


def _assert_agrees(found, expected, name: str, tolerance: float = 0.0) -> None:
    values, dtype = found
    assert dtype == expected.dtype.name, name
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(values, expected, name)
    elif tolerance == 0:
        np.testing.assert_array_equal(values, expected.astype(np.float64), name)
    else:
        np.testing.assert_allclose(values, expected.astype(np.float64), tolerance, 1e-7, err_msg=name)


PAIRS = list(itertools.product(NUMPY, NUMPY))


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=[f"{a}-{b}" for a, b in PAIRS])
def test_operators_on_every_pair_are_numpys(a: DType, b: DType) -> None:
    x, y = _pairs(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for symbol, function in OPERATORS.items():
            if symbol in ("<<", ">>") and (a.is_bool or b.is_bool):
                continue  # NumPy shifts bools as int8
            if symbol in ("//", "%") and a.is_bool and b.is_bool:
                continue  # and divides them so
            found = _evaluate(a, b, f"x {symbol} y")
            try:
                expected = function(x, y)
            except TypeError:
                assert found is None, symbol
                continue
            assert found is not None, symbol
            if symbol in ("<<", ">>") and not (a.is_unsigned and b.is_unsigned):
                keep = y >= 0  # what a negative count gives is the language's own
                found, expected = (found[0][keep], found[1]), expected[keep]
            _assert_agrees(found, expected, f"{a} {symbol} {b}")
        for name, function in FUNCTIONS.items():
            found = _evaluate(a, b, f"{name}(x, y)")
            assert found is not None, name
            expected = function(x, y)
            exact = name in ("maximum", "minimum")
            near = {2: 2e-3, 4: 1e-6}.get(expected.dtype.itemsize, 1e-12)
            _assert_agrees(found, expected, f"{name}({a}, {b})", 0.0 if exact else near)


@pytest.mark.parametrize("a", NUMPY)
def test_functions_of_every_dtype_are_numpys(a: DType) -> None:
    x, _ = _pairs(a, SUPPORTED["bool"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function in UNARY.items():
            found = _evaluate(a, SUPPORTED["bool"], f"{name}(x)")
            try:
                expected = function(x)
            except TypeError:
                assert found is None, name
                continue
            assert found is not None or a.is_bool, name
            if found is not None and not (a.is_bool and name == "square"):
                near = {2: 2e-3, 4: 1e-5}.get(expected.dtype.itemsize, 1e-12)
                _assert_agrees(found, expected, f"{name}({a})", near)
        for name, function in REDUCTIONS.items():
            found = _evaluate(a, SUPPORTED["bool"], f"{name}(x)")
            values = x
            if a.is_float and name not in ("argmax", "argmin", "any", "all", "count_nonzero"):
                continue  # NaN; random programs compare these
            assert found is not None, name
            expected = np.asarray(function(values))
            _assert_agrees(found, expected, f"{name}({a})", 1e-12)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_composed_functions_of_narrow_floats_round_once(dtype: str) -> None:
    t = SUPPORTED[dtype]
    x = stored(round_values(np.linspace(-3, 3, 101), t).astype(t.carrier), t)
    numbers = round_values(np.linspace(-3, 3, 101), t)
    for expression, expected in (
        ("mean(x)", numbers.mean()),
        ("var(x)", numbers.var()),
        ("std(x, correction=1)", numbers.std(ddof=1)),
        ("sum(x * 1)", numbers.sum()),
        ("logsumexp(x)", np.log(np.exp(numbers).sum())),
        ("silu(x)", numbers / (1 + np.exp(-numbers))),
        ("softplus(x)", np.log1p(np.exp(numbers))),
        ("vecdot(x, x)", (numbers * numbers).sum()),
        ('einsum("i,i->", x, x)', (numbers * numbers).sum()),
        ("sum(x[i] * x[i] for i in N)", (numbers * numbers).sum()),
    ):
        programs, codes = _check(f"kernel k(x: {dtype}[N]) {{\n    return {expression}\n}}")
        assert codes == []
        assert result_ops(programs[0])[0].dtype == t
        (found,) = interpret(programs[0], {"x": x}, mode="exact")
        unit = np.maximum(np.abs(expected), 2.0**-14) * 2.0**-t.precision
        assert (np.abs(found - expected) <= unit * 1.001 + 1e-6).all(), expression


@pytest.mark.parametrize("dtype", [t.name for t in SUPPORTED.values() if not t.is_bool])
def test_literals_adapt_or_are_refused(dtype: str) -> None:
    t = SUPPORTED[dtype]
    largest = (
        t.highest
        if t.is_integer
        else int(round_to_float(Fraction(2) ** (t.max_exponent + 1) * Fraction(255, 256), t))
        if t.size < 8
        else 10**300
    )
    programs, codes = _check(f"kernel k(x: {dtype}[N]) {{ return x + {largest} }}")
    assert codes == []
    assert result_ops(programs[0])[0].dtype == t
    beyond = largest + 1 if t.is_integer else largest * 2 if t.size < 8 else 10**309
    _, codes = _check(f"kernel k(x: {dtype}[N]) {{ return x + {beyond} }}")
    assert codes == ["TC0303"]
    if t.is_unsigned:
        assert _check(f"kernel k(x: {dtype}[N]) {{ return x + (-1) }}")[1] == ["TC0303"]


def test_the_largest_literal_is_a_u64_only() -> None:
    for dtype, codes in (("u64", []), ("i64", ["TC0303"]), ("u32", ["TC0303"]), ("f32", [])):
        assert _check(f"kernel k(x: {dtype}[N]) {{ return x + 9223372036854775808 }}")[1] == codes
    assert _check("kernel k(x: f32[N]) { return u64(9223372036854775808) + u64(x) }")[1] == []
    assert _check("kernel k(x: f32[N]) { return i64(9223372036854775808) + i64(x) }")[1] == ["TC0303"]
