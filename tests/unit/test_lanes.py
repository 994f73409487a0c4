"""Lane operations and casts of the runtime against their NumPy mirrors, under every build."""

from __future__ import annotations

import ctypes
import subprocess
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
from test_scalar_ops import FLOAT_VALUES, float_pairs, integer_pairs

from tensorc.dtypes import SUPPORTED
from tensorc.interp.scalar_ops import ElementaryLibrary, apply_cast, apply_operator
from tensorc.operators import OPERATORS, Operator, Typing

DTYPES = ("f32", "f64", "i32", "i64", "bool")
INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
ROWS = tuple(
    (row, dtype)
    for row in OPERATORS.values()
    if not row.elementary
    for dtype in DTYPES
    if SUPPORTED[dtype].kind in row.domain
)
CASTS = tuple((a, b) for a in DTYPES for b in DTYPES)


def _operand_dtypes(row: Operator, dtype: str) -> tuple[str, ...]:
    return ("bool", dtype, dtype) if row.typing is Typing.WHERE else (dtype,) * row.arity


def _result_dtype(row: Operator, dtype: str) -> str:
    return "bool" if row.typing in (Typing.COMPARE, Typing.LOGICAL, Typing.PREDICATE) else dtype


def array_function(name: str, operands: tuple[str, ...], result: str, expression: str) -> str:
    """Whole vectors, then a partial one; `{0}` and so on stand for the operands."""
    names = "xyz"[: len(operands)]
    parameters = "".join(f"const {C[t]} *{p}, " for p, t in zip(names, operands, strict=True))
    full = expression.format(*(f"tc_load_{t}({p} + i)" for p, t in zip(names, operands, strict=True)))
    part = expression.format(
        *(f"tc_load_part_{t}({p} + i, n - i)" for p, t in zip(names, operands, strict=True))
    )
    return f"""
extern "C" void {name}(int n, {parameters}{C[result]} *out) {{
    int i = 0;
    for (; i + 8 <= n; i += 8) tc_store_{result}(out + i, {full});
    if (i < n) tc_store_part_{result}(out + i, {part}, n - i);
}}
"""


def _operator_source(row: Operator, dtype: str) -> str:
    infix = INFIX.get(row.name) if dtype != "bool" else None
    holes = ", ".join(f"{{{i}}}" for i in range(row.arity))
    expression = f"{{0}} {infix} {{1}}" if infix else f"tc_{row.name}_{dtype}({holes})"
    operands = _operand_dtypes(row, dtype)
    return array_function(f"op_{row.name}_{dtype}", operands, _result_dtype(row, dtype), expression)


MEMORY = """
extern "C" void copy_part_@T@(const @C@ *p, @C@ *out, int n) {
    tc_store_part_@T@(out, tc_load_part_@T@(p, n), n);
}
extern "C" void widen_part_@T@(const @C@ *p, @C@ *out, int n) {
    tc_store_@T@(out, tc_load_part_@T@(p, n));
}
extern "C" void gather_@T@(const @C@ *p, @C@ *out, tc_i64_t stride) {
    tc_store_@T@(out, tc_gather_@T@(p, stride));
}
extern "C" void gather_part_@T@(const @C@ *p, @C@ *out, tc_i64_t stride, int n) {
    tc_store_@T@(out, tc_gather_part_@T@(p, stride, n));
}
extern "C" void splat_@T@(const @C@ *p, @C@ *out) {
    tc_store_@T@(out, tc_splat_@T@(tc_first_@T@(tc_load_@T@(p))));
}
extern "C" void first_@T@(const @C@ *p, @C@ *out) { tc_store_first_@T@(out, tc_load_@T@(p)); }
"""
IOTA = """
extern "C" void iota(tc_i64_t *out, tc_i64_t start, tc_i64_t step) {
    tc_store_i64(out, tc_iota_i64(start, step));
}
"""


def _source() -> str:
    operators = "".join(_operator_source(row, dtype) for row, dtype in ROWS)
    casts = "".join(array_function(f"cast_{a}_{b}", (a,), b, f"tc_cast_{a}_{b}({{0}})") for a, b in CASTS)
    memory = "".join(MEMORY.replace("@T@", t).replace("@C@", C[t]) for t in DTYPES)
    return operators + casts + memory + IOTA


@pytest.fixture(scope="module", params=list(BUILDS))
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compile_library(tmp_path_factory.mktemp("lanes"), request.param, _source())


@pytest.fixture(scope="module")
def elementary(tmp_path_factory: pytest.TempPathFactory) -> ElementaryLibrary:
    return ElementaryLibrary.build(tmp_path_factory.mktemp("elementary"))


def _operands(row: Operator, dtype: str) -> list[np.ndarray]:
    if dtype == "bool":
        a, b = np.array([0, 0, 1, 1] * 5, bool), np.array([0, 1, 0, 1] * 5, bool)
    elif SUPPORTED[dtype].is_float:
        a, b = float_pairs(dtype)
    else:
        a, b = integer_pairs(dtype)
        if row.name == "power":
            a, b = a[b >= 0], b[b >= 0]
    if row.name == "where":
        return [np.arange(len(a)) % 3 == 0, a, b]
    return [a, b, np.roll(a, 5)][: row.arity]


def _call(library: ctypes.CDLL, name: str, operands: list[np.ndarray], result: str) -> np.ndarray:
    out = np.zeros(len(operands[0]), NUMPY[result])
    getattr(library, name)(len(out), *map(address, operands), address(out))
    return out


@pytest.mark.parametrize(("row", "dtype"), ROWS, ids=[f"{row.name}-{dtype}" for row, dtype in ROWS])
def test_operator(library: ctypes.CDLL, elementary: ElementaryLibrary, row: Operator, dtype: str) -> None:
    operands = _operands(row, dtype)
    expected = apply_operator(row.name, operands, SUPPORTED[dtype], elementary)
    name, result = f"op_{row.name}_{dtype}", _result_dtype(row, dtype)
    assert_same_bits(_call(library, name, operands, result), expected, name)
    for n in range(1, 20):  # the value of an element does not depend on its place in the vector
        shifted = [np.ascontiguousarray(x[3 : 3 + n]) for x in operands]
        assert_same_bits(_call(library, name, shifted, result), expected[3 : 3 + n], f"{name}, {n} elements")


def _cast_values(source: str) -> np.ndarray:
    if source == "bool":
        return np.array([0, 1, 1, 0, 1, 0, 0, 1, 1], bool)
    if SUPPORTED[source].is_float:
        edges = [
            2.0**31 - 1,
            2.0**31 - 0.5,
            -(2.0**31) - 0.5,
            -(2.0**31) - 1,
            2.0**63 - 1024,
            2.0**63,
            -(2.0**63) - 2048,
        ]
        return np.array((*FLOAT_VALUES, *edges, 5e-324)).astype(NUMPY[source])
    values = [*integer_pairs(source)[0][:24], 2**24 + 1, 2**24 + 3, -(2**24) - 1, 2**31 - 65]
    if source == "i64":
        values += [
            2**53 - 1,
            2**52 + 2**28 + 1,
            -(2**53) + 3,
            2**53 + 1,
            2**54 + 2,
            2**62 + 2**38,
            2**62 + 2**38 + 1,
            -(2**53) - 1,
            2**32 + 7,
        ]
    return np.array(values, NUMPY[source])


@pytest.mark.parametrize(("source", "target"), CASTS)
def test_cast(library: ctypes.CDLL, source: str, target: str) -> None:
    values = _cast_values(source)
    wide = values.astype(np.float64)
    # i64 to f32 takes another way where a whole vector is below 2^53
    middle = (wide > 2.0**53) & (wide < 2.0**62 * 1.5)
    for x in (values, values[np.abs(wide) < 2.0**53], values[middle]):
        expected = apply_cast(x, SUPPORTED[source], SUPPORTED[target])
        found = _call(library, f"cast_{source}_{target}", [x], target)
        assert_same_bits(found, expected, f"{source} to {target}")


def _sample(dtype: str, n: int) -> np.ndarray:
    return (np.arange(n) % 3 == 1) if dtype == "bool" else (np.arange(n) - 7).astype(NUMPY[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_partial_accesses(library: ctypes.CDLL, dtype: str) -> None:
    x = _sample(dtype, 8)
    untouched = NUMPY[dtype](1)
    for n in range(1, 9):
        out = np.full(8, untouched)
        getattr(library, f"copy_part_{dtype}")(address(x), address(out), n)
        assert_same_bits(out, np.where(np.arange(8) < n, x, untouched), f"store part {n}")
        getattr(library, f"widen_part_{dtype}")(address(x), address(out), n)
        assert_same_bits(out, np.where(np.arange(8) < n, x, NUMPY[dtype](0)), f"load part {n}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_gather(library: ctypes.CDLL, dtype: str) -> None:
    x = _sample(dtype, 64)
    itemsize = x.dtype.itemsize
    out = np.zeros(8, x.dtype)
    for stride, start in ((1, 0), (0, 5), (7, 3), (-3, 40), (9, 0)):
        at = ctypes.c_void_p(x.ctypes.data + start * itemsize)
        getattr(library, f"gather_{dtype}")(at, address(out), ctypes.c_int64(stride))
        expected = x[start + stride * np.arange(8)]
        assert_same_bits(out, expected, f"gather by {stride}")
        for n in range(1, 9):
            getattr(library, f"gather_part_{dtype}")(at, address(out), ctypes.c_int64(stride), n)
            assert_same_bits(out, np.where(np.arange(8) < n, expected, x.dtype.type(0)), f"{n} by {stride}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_splat_and_first_of_unaligned_memory(library: ctypes.CDLL, dtype: str) -> None:
    x = _sample(dtype, 12)
    at = ctypes.c_void_p(x.ctypes.data + x.dtype.itemsize)
    out = np.zeros(9, x.dtype)
    getattr(library, f"splat_{dtype}")(at, ctypes.c_void_p(out.ctypes.data + x.dtype.itemsize))
    assert_same_bits(out, np.array([0, *[x[1]] * 8], x.dtype), "splat")
    out[:] = 0
    getattr(library, f"first_{dtype}")(at, address(out))
    assert_same_bits(out, np.array([x[1], *[0] * 8], x.dtype), "store first")


def test_any_non_zero_byte_is_true_and_is_stored_as_one(library: ctypes.CDLL) -> None:
    x = np.array([0, 1, 2, 128, 255, 0, 64, 3, 0, 127, 200], np.uint8)
    out = np.full(11, 77, np.uint8)
    library.cast_bool_bool(11, address(x), address(out))
    assert out.tolist() == [0, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1]


def test_iota(library: ctypes.CDLL) -> None:
    out = np.zeros(8, np.int64)
    for start, step in ((0, 1), (5, -3), (2**62, 2**40), (-9, 0)):
        library.iota(address(out), ctypes.c_int64(start), ctypes.c_int64(step))
        assert out.tolist() == [start + step * i for i in range(8)]


def _sanitized_main() -> str:
    """Every operator and cast once over heap arrays of exactly 13 elements with awkward values."""
    calls = []
    for row, dtype in ROWS:
        calls.append((f"op_{row.name}_{dtype}", _operand_dtypes(row, dtype), _result_dtype(row, dtype)))
    calls += [(f"cast_{a}_{b}", (a,), b) for a, b in CASTS]
    lines = []
    for name, operands, result in calls:
        arrays = [f"awkward<{C[t]}>({k})" for k, t in enumerate(operands)]
        declared = " ".join(
            f"{C[t]} *a{k} = {a};" for k, (t, a) in enumerate(zip(operands, arrays, strict=True))
        )
        passed = ", ".join(f"a{k}" for k in range(len(operands)))
        freed = " ".join(f"delete[] a{k};" for k in range(len(operands)))
        made = f"{declared} {C[result]} *o = new {C[result]}[13];"
        lines.append(f"{{ {made} {name}(13, {passed}, o); {freed} delete[] o; }}")
    return (
        """
template <class T> T limit(int high);
template <> float limit<float>(int high) { return high ? __builtin_inff() : __builtin_nanf(""); }
template <> double limit<double>(int high) { return high ? -1e300 : __builtin_nan(""); }
template <> tc_i32_t limit<tc_i32_t>(int high) { return high ? 0x7fffffff : -0x7fffffff - 1; }
template <> tc_i64_t limit<tc_i64_t>(int high) { return high ? 0x7fffffffffffffff : -0x7fffffffffffffff - 1; }
template <> tc_u8_t limit<tc_u8_t>(int high) { return high ? 255 : 0; }
template <class T> T *awkward(int turn) {
    T *p = new T[13];
    for (int i = 0; i < 13; ++i) {
        int k = (i + 3 * turn) % 5;
        p[i] = k == 0 ? limit<T>(0) : k == 1 ? limit<T>(1) : k == 2 ? (T)-1 : k == 3 ? (T)0 : (T)70;
    }
    return p;
}
int main() {
"""
        + "\n".join(lines)
        + "\nreturn 0; }\n"
    )


def test_no_undefined_behaviour(tmp_path: Path) -> None:
    flags = ("-fsanitize=float-cast-overflow",)
    program = compile_source(tmp_path, (*SANITIZED, *flags), _source() + _sanitized_main())
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
