"""The reduction states of the runtime against their NumPy mirrors, bit for bit, and the promised accuracy."""

from __future__ import annotations

import ctypes
import math
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from lanes_harness import (
    BUILDS,
    NUMPY,
    SANITIZED,
    C,
    address,
    assert_same_bits,
    compile_library,
    compile_source,
)

from tensorc.dtypes import SUPPORTED
from tensorc.interp.reduction_trees import reduce_columns, reduce_rows

LENGTHS = (*range(1, 71), 255, 256, 257, 1000, 16385, 40000)
FLOATS = ("f32", "f64")
ALL = ("f32", "f64", "i32", "i64", "bool")


def _result_of(kind: str, operand: str) -> str:
    if kind in ("argmax", "argmin"):
        return "i64"
    if kind in ("sum", "prod") and operand not in FLOATS:
        return "i64"
    return operand


KINDS = tuple(
    (kind, operand)
    for kinds, operands in (
        (("sum", "prod", "max", "min", "argmax", "argmin"), ALL),
        (("var", "std"), FLOATS),
        (("any", "all"), ("bool",)),
    )
    for kind in kinds
    for operand in operands
)

ROWS = """
extern "C" void rows_@R@(const @C@ *p, tc_i64_t outputs, tc_i64_t m, tc_i64_t n, double correction, int apart,
                         @D@ *out) {
    for (tc_i64_t o = 0; o < outputs; ++o, p += m * n) {
        struct tc_@R@ s, c;
        tc_@R@_begin(&s);
        tc_i64_t piece = n > 16384 ? 16384 : n, outer = n > 16384 ? 1 : 16384 / (n > 1 ? n : 1);
        for (tc_i64_t r = 0; r < m; r += outer)
            for (tc_i64_t begin = 0; begin < n; begin += piece) {
                struct tc_@R@ *t = apart ? &c : &s;
                if (apart) tc_@R@_begin(t);
                @OPEN@
                for (tc_i64_t row = r; row < r + outer && row < m; ++row) {
                    tc_i64_t end = begin + piece < n ? begin + piece : n;
                    for (tc_i64_t i = begin; i < end; i += 256) {
                        tc_i64_t stop = i + 256 < end ? i + 256 : end, k = i, base = row * n;
                        (void)base;
                        if (stop - i == 256)
                            for (; k < stop; k += 32)
                                tc_@R@_step(t, tc_load_@T@(p + base + k), tc_load_@T@(p + base + k + 8),
                                            tc_load_@T@(p + base + k + 16),
                                            tc_load_@T@(p + base + k + 24) @AT@);
                        for (; k + 32 <= stop; k += 32)
                            tc_@R@_step(t, tc_load_@T@(p + base + k), tc_load_@T@(p + base + k + 8),
                                        tc_load_@T@(p + base + k + 16), tc_load_@T@(p + base + k + 24) @AT@);
                        for (; k < stop; k += 8) {
                            int n_active = stop - k < 8 ? (int)(stop - k) : 8;
                            tc_@R@_tail(t, (int)(k - i) / 8, tc_load_part_@T@(p + base + k, n_active),
                                        n_active @AT@);
                        }
                        tc_@R@_block(t);
                    }
                }
                tc_@R@_chunk(t @COUNT@);
                if (apart) tc_@R@_merge(&s, &c);
            }
        tc_store_first_@E@(out + o, tc_@R@_result(&s, m * n, correction));
    }
}
"""
COLUMNS = """
static tc_@V@ column_@R@(const @C@ *p, tc_i64_t active) { return tc_load_part_@T@(p, (int)active); }
extern "C" void columns_@R@(const @C@ *p, tc_i64_t m, tc_i64_t n, tc_i64_t outputs, double correction,
                            int apart, @D@ *out) {
    for (tc_i64_t o = 0; o < outputs; o += 8) {
        tc_i64_t left = outputs - o < 8 ? outputs - o : 8;
        struct tc_@R@_col s, c;
        tc_@R@_col_begin(&s);
        tc_i64_t piece = n > 1024 ? 1024 : n, outer = n > 1024 ? 1 : 1024 / (n > 1 ? n : 1);
        for (tc_i64_t r = 0; r < m; r += outer)
            for (tc_i64_t begin = 0; begin < n; begin += piece) {
                struct tc_@R@_col *t = apart ? &c : &s;
                if (apart) tc_@R@_col_begin(t);
                @OPENS@
                for (tc_i64_t row = r; row < r + outer && row < m; ++row) {
                    tc_i64_t end = begin + piece < n ? begin + piece : n, k = begin, base = row * n;
#define AT(i) column_@R@(p + (base + k + i) * outputs + o, left)
                    for (; k + 8 <= end; k += 8)
                        tc_@R@_col_step(t, AT(0), AT(1), AT(2), AT(3), AT(4), AT(5), AT(6), AT(7) @AT@);
                    for (tc_i64_t j = 0; k < end; ++k, ++j) tc_@R@_col_tail(t, (int)j, AT(0) @AT@);
#undef AT
                    if ((end - begin) % 8 != 0) tc_@R@_col_block(t);
                }
                tc_@R@_col_chunk(t @COUNT@);
                if (apart) tc_@R@_col_merge(&s, &c);
            }
        tc_store_part_@E@(out + o, tc_@R@_col_result(&s, m * n, correction), (int)left);
    }
}
"""


def _source(kinds: Sequence[tuple[str, str]] = KINDS) -> str:
    return "".join(_expand(template, kind, t) for kind, t in kinds for template in (ROWS, COLUMNS))


def _expand(template: str, kind: str, operand: str) -> str:
    result = _result_of(kind, operand)
    moments = kind in ("var", "std")
    fields = {
        "R": f"{kind}_{operand}",
        "T": operand,
        "V": operand,
        "E": result,
        "C": C[operand],
        "D": C[result],
        "OPEN": f"tc_{kind}_{operand}_open(t, tc_splat_{operand}(p[r * n + begin]));" if moments else "",
        "OPENS": f"tc_{kind}_{operand}_col_open(t, column_{kind}_{operand}(p + (r * n + begin) * outputs + o,"
        " left));"
        if moments
        else "",
        "COUNT": ", ((r + outer < m ? r + outer : m) - r) * ((begin + piece < n ? begin + piece : n) - begin)"
        if moments
        else "",
        "AT": ", base + k" if kind.startswith("arg") else "",
    }
    for name, text in fields.items():
        template = template.replace(f"@{name}@", text)
    return template


@pytest.fixture(scope="module", params=list(BUILDS))
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compile_library(tmp_path_factory.mktemp("reductions"), request.param, _source())


def _call(
    library: ctypes.CDLL, tree: str, kind: str, values: np.ndarray, correction: float, apart: bool
) -> np.ndarray:
    operand = next(t for t in ALL if NUMPY[t] == values.dtype.type)
    out = np.zeros(values.shape[0 if tree == "rows" else 2], NUMPY[_result_of(kind, operand)])
    sizes = [ctypes.c_int64(n) for n in values.shape]
    function = getattr(library, f"{tree}_{kind}_{operand}")
    function(address(values), *sizes, ctypes.c_double(correction), ctypes.c_int(apart), address(out))
    return out


def _check(library: ctypes.CDLL, kind: str, values: np.ndarray, correction: float = 0.0) -> None:
    """`values` is (outputs, m, n): both trees, in one state and merged from states of one chunk."""
    operand = next(t for t in ALL if NUMPY[t] == values.dtype.type)
    result = SUPPORTED[_result_of(kind, operand)]
    columns = np.ascontiguousarray(np.moveaxis(values, 0, 2))
    expected_rows = reduce_rows(kind, values, result, correction)
    expected_columns = reduce_columns(kind, columns, result, correction)
    for apart in (False, True):
        context = f"{kind} of {values.dtype} {values.shape}, apart={apart}"
        assert_same_bits(
            _call(library, "rows", kind, values, correction, apart), expected_rows, f"rows {context}"
        )
        found = _call(library, "columns", kind, columns, correction, apart)
        assert_same_bits(found, expected_columns, f"columns {context}")


def _values(rng: np.random.Generator, operand: str, shape: tuple[int, ...]) -> np.ndarray:
    if operand == "bool":
        return rng.random(shape) < 0.3
    if operand in ("i32", "i64"):
        info = np.iinfo(NUMPY[operand])
        return rng.integers(info.min, info.max, shape, NUMPY[operand], endpoint=True)
    return (rng.standard_normal(shape) * np.exp2(rng.integers(-3, 4, shape))).astype(NUMPY[operand])


@pytest.mark.parametrize(("kind", "operand"), KINDS)
def test_every_length(library: ctypes.CDLL, kind: str, operand: str) -> None:
    rng = np.random.default_rng(7)
    for n in LENGTHS:
        outputs = 3 if n > 300 else 9
        _check(library, kind, _values(rng, operand, (outputs, 1, n)), correction=1.0)


@pytest.mark.parametrize(("kind", "operand"), KINDS)
def test_outer_axes_and_chunks(library: ctypes.CDLL, kind: str, operand: str) -> None:
    rng = np.random.default_rng(8)
    for m, n in (
        (2, 3),
        (5, 8),
        (3, 33),
        (70, 300),
        (1200, 1),
        (3, 16385),
        (2, 1030),
        (17, 1024),
        (40000, 1),
    ):
        _check(library, kind, _values(rng, operand, (2, m, n)))


@pytest.mark.parametrize(("kind", "operand"), [(k, t) for k, t in KINDS if t in FLOATS])
def test_special_values_everywhere(library: ctypes.CDLL, kind: str, operand: str) -> None:
    dtype = NUMPY[operand]
    specials = (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0)
    for n in (1, 2, 8, 9, 33, 257):
        positions = sorted({0, 1, n // 2, n - 1} & set(range(n)))
        for background in (0.0, -0.0, 1.5, -2.0, -np.inf, np.inf):
            values = np.full((len(specials) * len(positions) + 1, 1, n), background, dtype)
            for row, (special, at) in enumerate((s, p) for s in specials for p in positions):
                values[row, 0, at] = special
            _check(library, kind, values)


@pytest.mark.parametrize("operand", FLOATS)
def test_extremes_with_mixed_zeros(library: ctypes.CDLL, operand: str) -> None:
    rng = np.random.default_rng(9)
    choices = np.array([0.0, -0.0, -1.0, 1.0], NUMPY[operand])
    for limit in (2, 3, 4):
        for n in (1, 2, 3, 8, 17, 40, 300):
            values = choices[rng.integers(0, limit, (32, 1, n))]
            for kind in ("max", "min", "argmax", "argmin"):
                _check(library, kind, values)


def test_argmax_prefers_the_first_of_two_nans(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(10)
    for shape in ((9, 1, 500), (4, 40, 900), (2, 2, 17000)):
        values = rng.standard_normal(shape).astype(np.float32)
        flat = values.reshape(shape[0], -1)
        for row in range(shape[0]):
            flat[row, rng.integers(0, flat.shape[1], 3)] = np.nan
        _check(library, "argmax", values)
        _check(library, "argmin", values.astype(np.float64))


@pytest.mark.parametrize(
    ("kind", "operand"), [(k, t) for k, t in KINDS if k not in ("max", "min", "argmax", "argmin")]
)
def test_empty(library: ctypes.CDLL, kind: str, operand: str) -> None:
    for shape in ((2, 0, 3), (2, 3, 0), (0, 2, 3)):
        _check(library, kind, np.zeros(shape, NUMPY[operand]))


def test_sums_of_nothing_and_of_minus_zeros_are_plus_zero_as_in_numpy() -> None:
    f32 = SUPPORTED["f32"]
    for shape in ((1, 1, 0), (1, 1, 40), (1, 3, 300)):
        zeros = np.full(shape, -0.0, np.float32)
        assert not np.signbit(zeros.sum(axis=(1, 2)))[0]
        assert not np.signbit(reduce_rows("sum", zeros, f32))[0]
        assert not np.signbit(reduce_columns("sum", zeros.transpose(1, 2, 0), f32))[0]


@pytest.mark.parametrize(
    ("kind", "dtype"), [("max", "i32"), ("min", "i64"), ("argmax", "f32"), ("argmin", "f64")]
)
def test_extreme_of_nothing_raises(kind: str, dtype: str) -> None:
    data = np.zeros((1, 0, 3), SUPPORTED[dtype].numpy)
    with pytest.raises(ValueError, match=f"{kind} of no elements"):
        reduce_rows(kind, data, SUPPORTED[dtype])
    with pytest.raises(ValueError, match=f"{kind} of no elements"):
        reduce_columns(kind, data.T, SUPPORTED[dtype])
    assert reduce_rows(kind, np.zeros((0, 2, 3), data.dtype), SUPPORTED[dtype]).shape == (0,)


@pytest.mark.parametrize(("kind", "identity"), [("max", -math.inf), ("min", math.inf)])
def test_float_extreme_of_nothing_is_its_identity(kind: str, identity: float) -> None:
    assert reduce_rows(kind, np.zeros((1, 0, 3), np.float32), SUPPORTED["f32"]) == [identity]
    assert reduce_columns(kind, np.zeros((0, 3, 1), np.float64), SUPPORTED["f64"]) == [identity]


@pytest.mark.parametrize("n", [1, 9, 256, 1000, 100003])
def test_sum_within_the_promised_bound(n: int) -> None:
    """Error at most (log2 n + 9) units of 2^-24 of the sum of magnitudes."""
    mixed = (((np.arange(n) * 7919) % 1009 - 500) / 7).astype(np.float32)
    for x in (np.full(n, 1.3, np.float32), mixed, np.concatenate([[2.0**24], np.ones(n)]).astype(np.float32)):
        exact, size = math.fsum(map(float, x)), math.fsum(map(abs, map(float, x)))
        bound = (math.log2(len(x)) + 9) * 2.0**-24 * size
        rows = reduce_rows("sum", x[None, None], SUPPORTED["f32"])[0]
        columns = reduce_columns("sum", x[None, :, None], SUPPORTED["f32"])[0]
        assert abs(float(rows) - exact) <= bound
        assert abs(float(columns) - exact) <= bound


@pytest.mark.parametrize("n", [2, 3, 8, 9, 33, 257, 1000, 20000, 100003])
def test_variance_within_one_ulp(n: int) -> None:
    k = np.arange(n)
    samples = [4096 + (k * 7 % 5) / 4, -1e6 + (k * 3 % 7), 30000 + (k * 5 % 11) / 8]
    samples += [(k * 5 % 9 + 1.0) * scale for scale in (1e30, 1.0, 1e-30)]
    far = 1e6 * (k == 0)
    samples += [
        k % 5 + far,
        k % 5 + far[::-1],
        k % 5 + 1e6 * (k % 1024 == 0),
        k * 0.25,
        3e5 + (k // 16384) * 7.0,
    ]
    for sample in samples:
        x = sample.astype(np.float32)
        for kind in ("var", "std"):
            expected = getattr(np, kind)(x.astype(np.float64), ddof=1)
            if expected > np.finfo(np.float32).max:
                continue
            rows = reduce_rows(kind, x[None, None], SUPPORTED["f32"], 1.0)[0]
            columns = reduce_columns(kind, x[None, :, None], SUPPORTED["f32"], 1.0)[0]
            for found in (rows, columns):
                assert abs(float(found) - expected) <= np.spacing(np.float32(expected)), (kind, n, sample[:3])


def test_variance_of_one_element_and_of_too_few() -> None:
    x = np.full((1, 1, 1), 3.5, np.float32)
    assert reduce_rows("var", x, SUPPORTED["f32"], 0.0)[0] == 0
    assert np.isnan(reduce_rows("var", x, SUPPORTED["f32"], 1.0)[0])
    assert np.isposinf(
        reduce_rows("var", np.arange(3, dtype=np.float32)[None, None], SUPPORTED["f32"], 5.0)[0]
    )


def _heap_call(function: str, operand: str, result: str, sizes: tuple[int, ...], outputs: int) -> str:
    count, shape = math.prod(sizes), ", ".join(map(str, sizes))
    return (
        f"{{ {operand} *p = new {operand}[{count}](); {result} *o = new {result}[{outputs}];"
        f" p[{count - 1}] = 1; {function}(p, {shape}, 1, 1, o); delete[] p; delete[] o; }}"
    )


def test_no_undefined_behaviour(tmp_path: Path) -> None:
    """Every reduction over exact-size heap arrays under the address and undefined-behaviour sanitizers."""
    calls = []
    kinds = [(kind, operand) for kind, operand in KINDS if operand in ("f32", "i64", "bool")]
    for kind, operand in kinds:
        result = _result_of(kind, operand)
        for sizes in ((1, 3, 37), (1, 1, 300), (2, 2, 1030)):
            for tree, outputs in (("rows", sizes[0]), ("columns", sizes[2])):
                calls.append(_heap_call(f"{tree}_{kind}_{operand}", C[operand], C[result], sizes, outputs))
    source = _source(kinds) + "int main() {\n" + "\n".join(calls) + "\nreturn 0; }\n"
    program = compile_source(tmp_path, SANITIZED, source)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
