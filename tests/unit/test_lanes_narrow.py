"""Every cast, the types that are narrower in memory than in lanes, and unsigned lanes, under every build.

Casts are compared with exact arithmetic on Python numbers (`constant_fold`), and with the interpreter's.
"""

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
from test_lanes import array_function

from tensorc.codegen.lane_types import cast_steps, operation_type
from tensorc.dtypes import COMPUTES_IN, SUPPORTED, DType
from tensorc.interp.elementary_library import ElementaryLibrary
from tensorc.interp.float_values import carried, stored
from tensorc.interp.scalar_ops import apply_cast, apply_operator
from tensorc.operators import OPERATORS, Typing
from tensorc.tensor_ir.constant_fold import fold_cast

NARROW = tuple(t.name for t in COMPUTES_IN)
STORED = (*NARROW, "u32", "u64")
UNSIGNED = tuple(
    (row, dtype)
    for row in OPERATORS.values()
    if "i" in row.domain and row.typing is not Typing.WHERE
    for dtype in ("u32", "u64")
)
INFIX = {"add": "+", "subtract": "-", "multiply": "*"}


def _cast_source(a: DType, b: DType) -> str:
    expression = "{0}"
    for function in cast_steps(a, b):
        expression = f"{function}({expression})"
    return array_function(f"cast_{a}_{b}", (a.name,), b.name, expression)


def _operator_source(name: str, arity: int, dtype: str, result: str) -> str:
    holes = ", ".join(f"{{{k}}}" for k in range(arity))
    expression = f"tc_{name}_{operation_type(name, SUPPORTED[dtype])}({holes})"
    if name in INFIX:
        expression = f"{{0}} {INFIX[name]} {{1}}"
    return array_function(f"op_{name}_{dtype}", (dtype,) * arity, result, expression)


MEMORY = """
extern "C" void gather_@T@(const @C@ *p, @C@ *out, tc_i64_t stride) {
    tc_store_@T@(out, tc_gather_@T@(p, stride));
}
extern "C" void gather_part_@T@(const @C@ *p, @C@ *out, tc_i64_t stride, int n) {
    tc_store_part_@T@(out, tc_gather_part_@T@(p, stride, n), n);
}
extern "C" void copy_part_@T@(const @C@ *p, @C@ *out, int n) {
    tc_store_part_@T@(out, tc_load_part_@T@(p, n), n);
}
extern "C" void first_@T@(const @C@ *p, @C@ *out) { tc_store_first_@T@(out, tc_@S@_@T@(*p)); }
"""


def _source() -> str:
    casts = "".join(_cast_source(a, b) for a in SUPPORTED.values() for b in SUPPORTED.values())
    operators = "".join(
        _operator_source(row.name, row.arity, dtype, "bool" if row.typing is Typing.COMPARE else dtype)
        for row, dtype in UNSIGNED
    )
    memory = "".join(
        MEMORY.replace("@T@", t).replace("@C@", C[t]).replace("@S@", "splat_bits" if "f" in t else "splat")
        for t in STORED
    )
    scalars = "".join(
        f'extern "C" void scalar_{t}(float x, {C[t]} *out) {{ tc_store_first_{t}(out, tc_splat_{t}(x)); }}\n'
        for t in ("f16", "bf16")
    )
    return casts + operators + memory + scalars


@pytest.fixture(scope="module", params=list(BUILDS))
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compile_library(tmp_path_factory.mktemp("lanes"), request.param, _source())


@pytest.fixture(scope="module")
def elementary(tmp_path_factory: pytest.TempPathFactory) -> ElementaryLibrary:
    return ElementaryLibrary.build(tmp_path_factory.mktemp("elementary"))


def edge_values(dtype: DType) -> np.ndarray:
    """Where casts change their mind: the ends of every type, halves of last places, and their neighbours."""
    if dtype.is_bool:
        return np.array([0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1], np.bool_)
    whole = {0, 1, 3}
    for t in SUPPORTED.values():
        if t.is_integer:
            whole |= {t.highest - 1, t.highest, t.highest + 1, t.highest + 2, t.lowest, t.lowest - 1}
    for bits in (8, 11, 16, 24, 31, 52, 53, 62, 63):
        for p in (8, 11, 24, 53):
            if bits > p:  # the middle of two neighbours of p bits, and one off it
                middle = 2**bits + 2 ** (bits - p)
                whole |= {middle, middle + 1, middle - 1, middle + 2 ** (bits - p + 1)}
        whole |= {2**bits, 2**bits - 1, 2**bits + 1}
    whole |= {65503, 65504, 65519, 65520, 65521}
    signed = sorted(whole | {-n for n in whole})
    if dtype.is_integer:
        inside = [n for n in signed if dtype.lowest <= n <= dtype.highest]
        return np.resize(np.array(inside, dtype.numpy), max(len(inside), 16))
    wide = [float(n) for n in signed]
    for n in (*wide[::3], 0.5, 1.5, 2.0**-14, 2.0**-24, 2.0**-25, 2.0**-126, 2.0**-133, 2.0**-134, 2.0**-149):
        wide += [n, np.nextafter(n, np.inf), np.nextafter(n, 0.0), n * (1 + 2.0**-9), n * (1 + 2.0**-12)]
        wide += [n * 1.5, float(np.nextafter(np.float32(n), np.float32(np.inf)))]
    wide += [3.5e38, -3.5e38, 3.3895e38, 3.39e38, 3.4e38, 1e300, 5e-324, -0.0, np.inf, np.nan, 2.0**-150]
    both = np.array([*wide, *(-x for x in wide)])
    with np.errstate(all="ignore"):
        return stored(apply_cast(both, SUPPORTED["f64"], dtype), dtype)


@pytest.mark.parametrize("target", SUPPORTED)
@pytest.mark.parametrize("source", SUPPORTED)
def test_interpreted_cast_is_exact(source: str, target: str) -> None:
    a, b = SUPPORTED[source], SUPPORTED[target]
    values = carried(edge_values(a), a)
    found = apply_cast(values, a, b)
    expected = [fold_cast(v.item() if a.is_float else int(v), b) for v in values]
    with np.errstate(all="ignore"):
        assert_same_bits(found, np.array(expected, object).astype(b.carrier), f"{source} to {target}")


@pytest.mark.parametrize("target", SUPPORTED)
@pytest.mark.parametrize("source", SUPPORTED)
def test_cast(library: ctypes.CDLL, source: str, target: str) -> None:
    a, b = SUPPORTED[source], SUPPORTED[target]
    values = edge_values(a)
    with np.errstate(all="ignore"):
        expected = stored(apply_cast(carried(values, a), a, b), b)
    name = f"cast_{source}_{target}"
    for shift in range(8):  # every value at every place in the vector
        part = np.ascontiguousarray(values[shift:])
        out = np.zeros(len(part), b.numpy)
        getattr(library, name)(len(part), address(part), address(out))
        _assert_same_numbers(out, expected[shift:], b, f"{name} from {shift} on")
    for n in range(1, 10):  # and the partial vector
        part = np.ascontiguousarray(values[3 : 3 + n])
        out = np.full(n + 1, 77, b.numpy)
        getattr(library, name)(n, address(part), address(out))
        _assert_same_numbers(out[:n], expected[3 : 3 + n], b, f"{name} of {n}")
        assert out[n] == np.array(77).astype(b.numpy)


def _assert_same_numbers(found: np.ndarray, expected: np.ndarray, dtype: DType, context: str) -> None:
    assert_same_bits(carried(found, dtype), carried(expected, dtype), context)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_all_values_survive_a_round_trip(library: ctypes.CDLL, dtype: str) -> None:
    bits = np.arange(2**16).astype(np.uint16)
    numbers = carried(bits if dtype == "bf16" else bits.view(np.float16), SUPPORTED[dtype])
    wide = np.zeros(bits.size, np.float32)
    getattr(library, f"cast_{dtype}_f32")(bits.size, address(bits), address(wide))
    assert_same_bits(wide, numbers.astype(np.float32), f"{dtype} to f32")
    back = np.zeros(bits.size, np.uint16)
    getattr(library, f"cast_f32_{dtype}")(bits.size, address(wide), address(back))
    number = ~np.isnan(numbers)
    assert (back[number] == bits[number]).all()
    again = carried(back if dtype == "bf16" else back.view(np.float16), SUPPORTED[dtype])
    assert np.isnan(again[~number]).all()


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_rounding_f32_between_all_neighbours(library: ctypes.CDLL, dtype: str) -> None:
    """The middle of every two neighbours, and the f32 just below and above it."""
    t = SUPPORTED[dtype]
    bits = np.arange(0x7C00 if dtype == "f16" else 0x7F80).astype(np.uint16)
    low = carried(bits if dtype == "bf16" else bits.view(np.float16), t).astype(np.float64)
    middle = ((low[:-1] + low[1:]) / 2).astype(np.float32)
    x = np.concatenate(
        [middle, np.nextafter(middle, np.float32(0)), np.nextafter(middle, np.float32(np.inf)), -middle]
    )
    out = np.zeros(x.size, t.numpy)
    getattr(library, f"cast_f32_{dtype}")(x.size, address(x), address(out))
    _assert_same_numbers(out, stored(apply_cast(x, SUPPORTED["f32"], t), t), t, dtype)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_a_scalar_is_rounded_on_entry(library: ctypes.CDLL, dtype: str) -> None:
    out = np.zeros(1, SUPPORTED[dtype].numpy)
    for x in (0.1, 1e-7, 70000.0, float("inf"), -2.5, 3.4e38):
        with np.errstate(over="ignore"):
            single = np.float32(x)
        getattr(library, f"scalar_{dtype}")(ctypes.c_float(x), address(out))
        expected = stored(
            apply_cast(np.array([single]), SUPPORTED["f32"], SUPPORTED[dtype]), SUPPORTED[dtype]
        )
        assert_same_bits(out, expected, f"{x} as {dtype}")


def _sample(dtype: str, n: int) -> np.ndarray:
    t = SUPPORTED[dtype]
    numbers = np.arange(n) * 37 - 91
    if t.is_float:
        return stored((numbers / 8).astype(t.carrier), t)
    return numbers.astype(t.numpy)


@pytest.mark.parametrize("dtype", STORED)
def test_gathers_and_partial_accesses(library: ctypes.CDLL, dtype: str) -> None:
    x = _sample(dtype, 64)
    for stride, start in ((1, 0), (0, 5), (7, 3), (-3, 40), (9, 0)):
        at = ctypes.c_void_p(x.ctypes.data + start * x.itemsize)
        expected = x[start + stride * np.arange(8)]
        out = np.zeros(8, x.dtype)
        getattr(library, f"gather_{dtype}")(at, address(out), ctypes.c_int64(stride))
        assert_same_bits(out, expected, f"gather by {stride}")
        for n in range(1, 9):
            out[:] = 1
            getattr(library, f"gather_part_{dtype}")(at, address(out), ctypes.c_int64(stride), n)
            wanted = np.where(np.arange(8) < n, expected, x.dtype.type(1))
            assert_same_bits(out, wanted, f"{n} by {stride}")
    for n in range(1, 9):
        out = np.ones(8, x.dtype)
        getattr(library, f"copy_part_{dtype}")(address(x), address(out), n)
        assert_same_bits(out, np.where(np.arange(8) < n, x[:8], x.dtype.type(1)), f"{n} elements")
    out = np.zeros(2, x.dtype)
    getattr(library, f"first_{dtype}")(address(x[5:]), address(out))
    assert_same_bits(out, np.array([x[5], 0], x.dtype), "store first")


@pytest.mark.parametrize(("row", "dtype"), UNSIGNED, ids=[f"{r.name}-{d}" for r, d in UNSIGNED])
def test_unsigned_operator(library: ctypes.CDLL, elementary: ElementaryLibrary, row, dtype: str) -> None:
    t = SUPPORTED[dtype]
    edges = np.array([0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 2**31 - 1, 2**31, 2**31 + 1], np.uint64)
    edges = np.concatenate([edges, t.highest - np.arange(5).astype(np.uint64)])
    if dtype == "u64":
        edges = np.concatenate([edges, np.uint64(2**63) + np.arange(-3, 4).astype(np.uint64)])
    a, b = (x.ravel().astype(t.numpy) for x in np.meshgrid(edges, edges))
    operands = [a, b][: row.arity]
    expected = apply_operator(row.name, operands, t, elementary)
    result = "bool" if row.typing is Typing.COMPARE else dtype
    out = np.zeros(len(a), NUMPY[result])
    getattr(library, f"op_{row.name}_{dtype}")(len(a), *map(address, operands), address(out))
    assert_same_bits(out, expected, f"{row.name} {dtype}")


def test_no_undefined_behaviour(tmp_path: Path) -> None:
    """Every function over heap arrays of exactly 13 elements with awkward bits."""
    calls = [(f"cast_{a}_{b}", (a.name,), b.name) for a in SUPPORTED.values() for b in SUPPORTED.values()]
    for row, dtype in UNSIGNED:
        result = "bool" if row.typing is Typing.COMPARE else dtype
        calls.append((f"op_{row.name}_{dtype}", (dtype,) * row.arity, result))
    lines = []
    for name, operands, result in calls:
        made = " ".join(f"{C[t]} *a{k} = awkward<{C[t]}>({k});" for k, t in enumerate(operands))
        passed = ", ".join(f"a{k}" for k in range(len(operands)))
        freed = " ".join(f"delete[] a{k};" for k in range(len(operands)))
        lines.append(
            f"{{ {made} {C[result]} *o = new {C[result]}[13]; {name}(13, {passed}, o); {freed} delete[] o; }}"
        )
    main = (
        "template <class T> T *awkward(int turn) {\n    T *p = new T[13];\n"
        "    unsigned char *b = (unsigned char *)p;\n"
        "    for (unsigned i = 0; i < 13 * sizeof(T); ++i) b[i] = (i * 29 + turn) % 7 < 3 ? 0xff : i * 59;\n"
        "    return p;\n}\nint main() {\n" + "\n".join(lines) + "\nreturn 0; }\n"
    )
    program = compile_source(tmp_path, (*SANITIZED, "-fsanitize=float-cast-overflow"), _source() + main)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
