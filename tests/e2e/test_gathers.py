"""Gathers of compiled kernels against NumPy: every form, every position of an index out of range."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tensorc
from tensorc.api import Module

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """A kernel's parameters and body, its arguments, what NumPy makes of them.

    An argument is `f4 N,D` (values), or `i8 M,K<N`: indices of both signs into an axis of N.
    """

    kernel: str
    arguments: tuple[str, ...]
    reference: Callable[..., Any]


FORMS = {
    "vector": Form("(x: f32[N], i: i64[M]) -> f32[M] { return take(x, i) }", ("f4 N", "i8 M<N"), np.take),
    "plane": Form("(x: i64[N], i: i32[M, K]) { return x.take(i) }", ("i8 N", "i4 M,K<N"), np.take),
    "rows": Form(
        "(x: f32[N, D], i: i64[M]) { return take(x, i, axis=0) }", ("f4 N,D", "i8 M<N"), lambda x, i: x[i]
    ),
    "columns": Form(
        *("(x: f64[N, D], i: i32[M]) { return take(x, i, -1) }", ("f8 N,D", "i4 M<D")),
        lambda x, i: x[:, i],
    ),
    "middle": Form(
        *("(x: bool[N, D, E], i: i64[M, K]) { return take(x, i, axis=1) }", ("? N,D,E", "i8 M,K<D")),
        lambda x, i: x[:, i],
    ),
    "one": Form(
        "(x: i32[N, D], n: i64) { return take(x, n, axis=0) }", ("i4 N,D", "i8 <N"), lambda x, n: x[n]
    ),
    "literal": Form("(x: i32[N, D]) { return take(x, -1, axis=0) }", ("i4 N,D",), lambda x: x[-1]),
    "along": Form(
        *("(x: f32[N, D], i: i64[N, K]) { return take_along_axis(x, i) }", ("f4 N,D", "i8 N,K<D")),
        lambda x, i: np.take_along_axis(x, i, 1),
    ),
    "along_first": Form(
        *("(x: f32[N, D], i: i32[K, D]) { return take_along_axis(x, i, axis=0) }", ("f4 N,D", "i4 K,D<N")),
        lambda x, i: np.take_along_axis(x, i, 0),
    ),
    "spread": Form(
        *("(x: f32[1, D], i: i64[N, K]) { return take_along_axis(x, i, axis=1) }", ("f4 1,D", "i8 N,K<D")),
        lambda x, i: np.take_along_axis(x, i, 1),
    ),
    "shared": Form(
        *("(x: f32[N, D], i: i64[1, K]) { return take_along_axis(x, i, axis=1) }", ("f4 N,D", "i8 1,K<D")),
        lambda x, i: np.take_along_axis(x, i, 1),
    ),
    "computed": Form(
        *("(x: f32[N, D], i: i64[M]) { return take(x * 2 + 1, i, axis=0) }", ("f4 N,D", "i8 M<N")),
        lambda x, i: (x * np.float32(2) + np.float32(1))[i],
    ),
    "turned": Form(
        "(x: f32[N, D], i: i64[M]) { return take(x.T, i, axis=0) }", ("f4 N,D", "i8 M<D"), lambda x, i: x.T[i]
    ),
    "reversed": Form(
        *("(x: f32[N, D], i: i64[M]) { return take(x[::-1, ::2], i, axis=0) }", ("f4 N,D", "i8 M<N")),
        lambda x, i: x[::-1, ::2][i],
    ),
    "flat": Form(
        *("(x: f32[N, D], i: i64[M]) { return take(reshape(x, (N * D,)), i) }", ("f4 N,D", "i8 M<ND")),
        lambda x, i: x.reshape(-1)[i],
    ),
    "scalar_source": Form(
        *("(s: f32, i: i64[M]) { return take(broadcast_to(s, (9,)), i) }", ("f4 ", "i8 M<9")),
        lambda s, i: np.full(9, s)[i],
    ),
    "positions": Form(
        *("(x: f32[N], i: i64[M]) { return take(arange(N), i) }", ("f4 N", "i8 M<N")),
        lambda x, i: np.arange(len(x))[i],
    ),
    "transposed_result": Form(
        *("(x: f32[N, D], i: i64[M]) { return take(x, i, axis=0).T[1:] }", ("f4 N,D", "i8 M<N")),
        lambda x, i: x[i].T[1:],
    ),
    "twice": Form(
        *("(x: f32[N], i: i64[M], j: i64[K]) { return take(take(x, i), j) }", ("f4 N", "i8 M<N", "i8 K<M")),
        lambda x, i, j: x[i][j],
    ),
    "chained": Form(
        *("(x: f32[N], i: i64[M], j: i64[K]) { return take(x, take(i, j)) }", ("f4 N", "i8 M<N", "i8 K<M")),
        lambda x, i, j: x[i[j]],
    ),
    "subscript": Form(
        "(x: f32[N, D], n: i32) { return x[n, 1:] }", ("f4 N,D", "i4 <N"), lambda x, n: x[n, 1:]
    ),
    "both": Form(
        *("(x: f32[N, D], n: i32, m: i64) { return x[n, m] }", ("f4 N,D", "i4 <N", "i8 <D")),
        lambda x, n, m: x[n, m],
    ),
    "best": Form(
        "(x: f32[N, D]) { k = argmax(x, axis=1); y[i] = x[i, k[i]] for i in N\n"
        " return y, x[argmax(x[:, 0])] }",
        ("f4 N,D",),
        lambda x: (x.max(axis=1), x[x[:, 0].argmax()]),
    ),
    "notation": Form(
        *("(x: f32[N, D], i: i64[M], j: i32[M]) { y[a] = x[i[a], j[a]] for a in M\n return y }",),
        *(("f4 N,D", "i8 M<N", "i4 M<D"), lambda x, i, j: x[i, j]),
    ),
    "shifted": Form(
        *("(x: f32[N], i: i64[M]) { y[a] = x[(i[a] - a) % N] for a in M\n return y }", ("f4 N", "i8 M<N")),
        lambda x, i: x[(i - np.arange(len(i))) % len(x)],
    ),
    "bag": Form(
        *("(x: i32[N, D], i: i64[M]) { y[j] = sum(x[i[a], j] for a in M) for j in D\n return y }",),
        *(("i4 N,D", "i8 M<N"), lambda x, i: x[i].sum(axis=0, dtype=np.int64)),
    ),
    "row_sums": Form(
        *("(x: i32[N, D], i: i64[M]) { y[a] = sum(x[i[a], j] for j in D) for a in M\n return y }",),
        *(("i4 N,D", "i8 M<N"), lambda x, i: x[i].sum(axis=1, dtype=np.int64)),
    ),
    "whole": Form(
        "(x: i64[N], i: i64[M]) { return sum(take(x, i)) }", ("i8 N", "i8 M<N"), lambda x, i: x[i].sum()
    ),
    "whole_rows": Form(
        *("(x: i64[N, D], i: i64[M]) { return sum(take(x, i, axis=0)) }", ("i8 N,D", "i8 M<N")),
        lambda x, i: x[i].sum(),
    ),
    "column_best": Form(
        *("(x: f32[N, D], t: f32[N]) { k = argmax(x, axis=0); return take(t, k) }", ("f4 N,D", "f4 N")),
        lambda x, t: t[x.argmax(axis=0)],
    ),
    "halved": Form(
        "(x: f32[N]) { y[i] = x[i // 2] for i in 2 * N\n return y }", ("f4 N",), lambda x: np.repeat(x, 2)
    ),
    "halved_rows": Form(
        *("(x: f32[N, D]) { y[i, j] = x[i // 2, j] for i in 2 * N, j in D\n return y }", ("f4 N,D",)),
        lambda x: np.repeat(x, 2, axis=0),
    ),
    "thirds": Form(
        *("(x: f32[N]) { y[i, u] = x[(2*i + u) // 3] for i in N, u in 2\n return y }", ("f4 N",)),
        lambda x: x[(2 * np.arange(len(x))[:, None] + np.arange(2)) // 3],
    ),
    "cyclic": Form(
        *("(x: f32[N], y: f32[M]) { z[i] = x[i % N] + y[i] for i in M\n return z }", ("f4 N", "f4 M")),
        lambda x, y: np.resize(x, len(y)) + y,
    ),
    "window": Form(
        "(x: f32[9]) { y[i] = x[3 * (i // 4) + i % 4] for i in 9\n return y }",
        ("f4 9",),
        lambda x: x[[0, 1, 2, 3, 3, 4, 5, 6, 6]],
    ),
    "squares": Form(
        "(x: f32[9]) { y[i] = x[i * i] for i in 3\n return y }", ("f4 9",), lambda x: x[[0, 1, 4]]
    ),
    "quotient": Form(
        *("(x: f32[N]) { y[i] = x[i] + i // 2 + i % 3 for i in N\n return y }", ("f4 N",)),
        lambda x: x + (np.arange(len(x)) // 2).astype("f4") + (np.arange(len(x)) % 3).astype("f4"),
    ),
}
SIZES: tuple[Mapping[str, int], ...] = (
    {"N": 7, "D": 20, "E": 3, "M": 11, "K": 5},
    {"N": 1, "D": 8, "E": 9, "M": 17, "K": 1},
    {"N": 33, "D": 1, "E": 1, "M": 1, "K": 8},
    {"N": 9, "D": 2, "E": 8, "M": 24, "K": 3},
    {"N": 300, "D": 130, "E": 2, "M": 3000, "K": 8},
)


@pytest.fixture(scope="module")
def forms() -> Module:
    return tensorc.compile("\n".join(f"kernel {name}{form.kernel}" for name, form in FORMS.items()))


def _argument(rng: np.random.Generator, text: str, sizes: Mapping[str, int]) -> Any:
    code, _, rest = text.partition(" ")
    shape_text, _, bound = rest.partition("<")
    known = {**sizes, "1": 1, "9": 9, "ND": sizes["N"] * sizes["D"]}
    shape = tuple(known[s] for s in shape_text.split(",") if s)
    low, high = (-known[bound], known[bound]) if bound else (0, 2) if code == "?" else (-99, 99)
    return rng.integers(low, high, shape).astype(code)[()]


@pytest.mark.parametrize("name", FORMS)
def test_forms(forms: Module, name: str) -> None:
    form = FORMS[name]
    rng = np.random.default_rng(len(name))
    for sizes in SIZES:
        arguments = [_argument(rng, text, sizes) for text in form.arguments]
        strided = [np.repeat(a, 2, axis=-1)[..., ::2] if np.ndim(a) else a for a in arguments]
        expected = form.reference(*arguments)
        for threads, given in ((1, arguments), (2, strided)):
            found = forms[name](*given, threads=threads)
            for got, want in zip(
                *((r if isinstance(r, tuple) else (r,)) for r in (found, expected)), strict=True
            ):
                np.testing.assert_array_equal(got, want)
                if name not in ("plane", "one"):
                    assert got.dtype == np.asarray(want).dtype


def test_a_random_walk_of_large_tables(forms: Module) -> None:
    """Enough rows for threads to take part."""
    rng = np.random.default_rng(1)
    x = rng.random((1000, 96), dtype=np.float32)
    i = rng.integers(-1000, 1000, 5000)
    for threads in (1, 2):
        np.testing.assert_array_equal(forms["rows"](x, i, threads=threads), x[i])
        np.testing.assert_array_equal(forms["computed"](x, i, threads=threads), (x * 2 + 1)[i])


# -- indices out of range --------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [7, -8, 2**62, -(2**63)])
def test_every_position_is_checked(forms: Module, bad: int, threads: int) -> None:
    x = np.arange(7, dtype=np.float32)
    for length in (1, 8, 11, 40):
        for position in range(length):
            i = np.zeros(length, np.int64)
            i[position] = bad
            with pytest.raises(IndexError, match="index i is out of range for axis 0 of x, of size N"):
                forms["vector"](x, i, threads=threads)
    np.testing.assert_array_equal(forms["vector"](x, np.array([-1, 0])), [6, 0])


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_report_what_any_of_them_finds(forms: Module, threads: int) -> None:
    x = np.zeros((50, 64), np.float32)
    for position in (0, 4999, 9999):
        i = np.zeros(10000, np.int64)
        i[position] = 50
        for name in ("rows", "computed"):
            with pytest.raises(IndexError, match="axis 0"):
                forms[name](x, i, threads=threads)
        with pytest.raises(IndexError, match="axis 0"):
            forms["bag"](x.astype(np.int32), i, threads=threads)
        with pytest.raises(IndexError, match="axis 0"):
            forms["whole_rows"](x.astype(np.int64), i, threads=threads)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("columns", (np.zeros((2, 3)), np.int32([3])), "index i is out of range for axis 1 of x, of"),
        ("along", (np.zeros((2, 3), "f4"), np.int64([[0], [-4]])), "axis 1 of x, of size D"),
        ("computed", (np.zeros((2, 3), "f4"), np.int64([2])), r"axis 0 of x \* 2 \+ 1, of size N"),
        ("both", (np.zeros((2, 3), "f4"), np.int32(0), 3), "index m is out of range for axis 1 of x"),
        ("both", (np.zeros((2, 3), "f4"), np.int32(-3), 4), "index n is out of range"),
        ("notation", (np.zeros((2, 3), "f4"), np.int64([2]), np.int32([3])), r"index i\[a\] is out of range"),
        ("chained", (np.zeros(2, "f4"), np.int64([0]), np.int64([1])), "index j is out of range for axis 0"),
        ("scalar_source", (np.float32(1), np.int64([9])), "of size 9"),
    ],
)  # fmt: skip
def test_messages(forms: Module, name: str, arguments: tuple[Any, ...], message: str) -> None:
    for threads in (1, 2):
        with pytest.raises(IndexError, match=message):
            forms[name](*arguments, threads=threads)


def test_empty(forms: Module) -> None:
    """No index is always fine; an empty axis has no valid one, and nothing of it is read."""
    nothing = np.zeros(0, np.int64)
    assert forms["vector"](np.zeros(0, np.float32), nothing).shape == (0,)
    assert forms["rows"](np.zeros((0, 5), np.float32), nothing).shape == (0, 5)
    assert forms["rows"](np.zeros((3, 0), np.float32), np.array([1, 2])).shape == (2, 0)
    assert forms["whole"](nothing, nothing) == 0
    for index in (0, -1):
        with pytest.raises(IndexError):
            forms["vector"](np.zeros(0, np.float32), np.array([index]))
        with pytest.raises(IndexError):
            forms["rows"](np.zeros((0, 5), np.float32), np.array([index]))
        with pytest.raises(IndexError):
            forms["both"](np.zeros((0, 0), np.float32), np.int32(index), index)


def test_iterators_never_count_from_the_end() -> None:
    module = tensorc.compile(
        """kernel halves(x: f32[N], k: i64) { y[i] = x[(i - k) // 2] for i in N
        return y }
        kernel squares(x: f32[N]) { y[i] = x[i * i - 1] for i in 3
        return y }
        """
    )
    x = np.arange(9, dtype=np.float32)
    np.testing.assert_array_equal(module["halves"](x, 0), x[np.arange(9) // 2])
    with pytest.raises(ValueError, match=r"index \(i - k\) // 2 .* out of range"):
        module["halves"](x, 1)
    with pytest.raises(IndexError, match=r"index i \* i - 1 is out of range"):
        module["squares"](x)


def test_an_output_never_overwrites_what_is_gathered_from() -> None:
    kernel = tensorc.compile("kernel k(x: f32[N], i: i64[N]) -> f32[N] { return take(x, i) + 1 }")["k"]
    x, i = np.arange(8, dtype=np.float32), np.arange(8)[::-1]
    with pytest.raises(ValueError, match=r"overlap|out"):
        kernel(x, i, out=x)
    np.testing.assert_array_equal(x, np.arange(8))


# -- dtypes ----------------------------------------------------------------------------------------

DTYPES = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64")
INDICES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def _numpy(name: str) -> str:
    return "?" if name == "bool" else f"{name[0]}{int(name[1:]) // 8}"


@pytest.fixture(scope="module")
def typed() -> Module:
    lines = [
        f"kernel of_{t}(x: {t}[N, D], i: i64[M]) {{ return take(x, i, axis=0), x.T[i[0]] }}" for t in DTYPES
    ]
    lines += [f"kernel lanes_{t}(x: {t}[N], i: i64[M]) {{ return take(x, i) }}" for t in (*DTYPES, "bf16")]
    lines += [f"kernel by_{t}(x: f32[N], i: {t}[M], n: {t}) {{ return take(x, i), x[n] }}" for t in INDICES]
    return tensorc.compile("\n".join(lines).replace("x.T[i[0]]", "take(x[:, ::-1].T, i % D, axis=0)"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(typed: Module, dtype: str) -> None:
    rng = np.random.default_rng(3)
    for n, d, m in ((5, 11, 19), (3, 8, 8), (1, 1, 3)):
        x = rng.integers(0, 2 if dtype == "bool" else 100, (n, d)).astype(_numpy(dtype))
        i = rng.integers(-n, n, m)
        rows, columns = typed[f"of_{dtype}"](x, i)
        np.testing.assert_array_equal(rows, x[i])
        np.testing.assert_array_equal(columns, x[:, ::-1].T[i % d])
        vector = np.ascontiguousarray(x[:, 0])
        found = typed[f"lanes_{dtype}"](vector, i)
        np.testing.assert_array_equal(found, vector[i])
        assert found.dtype == x.dtype
        i[-1] = n
        with pytest.raises(IndexError):
            typed[f"lanes_{dtype}"](vector, i)


def test_bf16_keeps_its_bits(typed: Module) -> None:
    bits = np.arange(0, 0x10000, 251, dtype=np.uint16)
    i = np.random.default_rng(4).integers(-len(bits), len(bits), 1000)
    found = np.asarray(typed["lanes_bf16"](bits, i)).view(np.uint16)
    quiet = bits | np.where((bits & 0x7F80 == 0x7F80) & (bits & 0x7F != 0), 0x40, 0).astype(np.uint16)
    assert ((found == bits[i]) | (found == quiet[i])).all()


@pytest.mark.parametrize("dtype", INDICES)
def test_every_index_dtype(typed: Module, dtype: str) -> None:
    x = np.arange(100, dtype=np.float32)
    info = np.iinfo(_numpy(dtype))
    i = np.array([0, 99, 7, max(-100, info.min), max(-1, info.min), 50, 3, 2, 1, 64]).astype(_numpy(dtype))
    found, one = typed[f"by_{dtype}"](x, i, i[3])
    np.testing.assert_array_equal(found, x[i.astype(np.int64)])
    assert one == x[int(i[3])]
    for bad in (100, info.max, info.min):
        if bad == 0:
            continue
        for position in range(len(i)):
            wrong = i.copy()
            wrong[position] = bad
            with pytest.raises(IndexError, match="index i "):
                typed[f"by_{dtype}"](x, wrong, 0)
        with pytest.raises(IndexError, match="index n "):
            typed[f"by_{dtype}"](x, i, info.dtype.type(bad))


def test_gathers_in_joined_arrays() -> None:
    """Parts of a concat are computed under guards: no index of another part is checked or read."""
    module = tensorc.compile(
        """kernel ends(x: f32[N], y: f32[K], i: i64[M]) { return concat((take(x, i), y), axis=0) }
        kernel sides(x: f32[N, D], y: f32[M, K], i: i64[M]) { return concat((y, take(x, i, axis=0)), axis=1) }
        kernel padded(x: f32[N], i: i64[M]) { return pad(take(x, i), ((3, 2),)) }
        kernel halves(x: f32[N], y: f32[K]) {
            z[i] = x[i // 2] for i in 2 * N
            return concat((y, z, y), axis=0)
        }
        """
    )
    rng = np.random.default_rng(5)
    for n, m, k, d in ((5, 3, 9, 4), (1, 8, 1, 17), (40, 33, 2, 1), (0, 0, 4, 3)):
        x, y = rng.random((n, d), dtype=np.float32), rng.random(k, dtype=np.float32)
        i = rng.integers(-n, n, m) if n else np.zeros(0, np.int64)
        v = np.ascontiguousarray(x[:, 0])
        wide = rng.random((m, k), dtype=np.float32)
        for threads in (1, 2):
            np.testing.assert_array_equal(module["ends"](v, y, i, threads=threads), np.concatenate((v[i], y)))
            np.testing.assert_array_equal(
                module["sides"](x, wide, i, threads=threads), np.hstack((wide, x[i]))
            )
            np.testing.assert_array_equal(module["padded"](v, i, threads=threads), np.pad(v[i], (3, 2)))
            expected = np.concatenate((y, np.repeat(v, 2), y))
            np.testing.assert_array_equal(module["halves"](v, y, threads=threads), expected)
        if m:
            i[m // 2] = n
            for name, arguments in (("ends", (v, y, i)), ("sides", (x, wide, i)), ("padded", (v, i))):
                with pytest.raises(IndexError, match="index i "):
                    module[name](*arguments)
