"""concat, stack, pad, roll, tile and repeat against NumPy: dtypes, axes, extents, empty and symbolic ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tensorc

EXTENTS = (0, 1, 2, 7, 8, 9, 17, 64)
DTYPES = {
    "bool": np.bool_,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "u16": np.uint16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
FEW = ("i8", "u8", "i16", "u16", "u32", "u64")
"""Dtypes that are read like others: they get fewer extents."""
Array = npt.NDArray[Any]
Kernel = tuple[str, Callable[..., Any]]


def extents(dtype: str) -> tuple[int, ...]:
    return (0, 1, 9, 17) if dtype in FEW else EXTENTS


def data(dtype: str, *shape: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed + sum(shape))
    if dtype == "bool":
        return rng.random(shape) < 0.5
    values = rng.integers(0 if dtype[0] == "u" else -99, 99, shape).astype(DTYPES[dtype])
    if dtype.startswith("f") and values.size:
        values.flat[0] = -0.0
        values.flat[-1] = np.nan
    return values


def expect_equal(found: Any, wanted: Any, context: str) -> None:
    """The same shapes, dtypes and bits (but for the payload of a NaN)."""
    found = found if isinstance(found, tuple) else (found,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{context}, result {k}"
        np.testing.assert_array_equal(a, b, err_msg=f"{context}, result {k}")
        if a.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b), err_msg=f"{context}, result {k}")


JOINS: dict[str, Kernel] = {
    "rows(x: T[N, D], y: T[M, D]) { return concat((x, y), axis=0), concat((y, x, y)) }": (
        "y0",
        lambda x, y: (np.concatenate((x, y)), np.concatenate((y, x, y))),
    ),
    "columns(x: T[N, D], y: T[N, M]) { return concat((x, y), axis=1), concat((y[::-1], x), axis=-1) }": (
        "y1",
        lambda x, y: (np.concatenate((x, y), 1), np.concatenate((y[::-1], x), 1)),
    ),
    "flat(x: T[N, D], y: T[M, D]) { return concat((x, y), axis=None) }": (
        "y0",
        lambda x, y: np.concatenate((x, y), axis=None),
    ),
    "nested(x: T[N, D], y: T[M, D]) {\n"
    " a = concat((x, y)); b = concat((a[::-1], a), axis=1); return concat((b, b))[1:, 1:] }": (
        "y0",
        lambda x, y: _nested(np.concatenate((x, y))),
    ),
    "stacks(x: T[N, D], y: T[N, D]) {\n"
    " return stack((x, y)), stack((x, y, x), axis=1), stack((y, x), axis=-1) }": (
        "same",
        lambda x, y: (np.stack((x, y)), np.stack((x, y, x), 1), np.stack((y, x), -1)),
    ),
    "views(x: T[N, D], y: T[M, D]) {\n"
    " return concat((x.T, y.T[:, ::-1]), axis=1), concat((x[:, None], x[::-1, None]), axis=1)[:, 1] }": (
        "y0",
        lambda x, y: (np.concatenate((x.T, y.T[:, ::-1]), 1), x[::-1]),
    ),
    "broadcasts(x: T[N, D], y: T[D]) {\n"
    " return concat((x, broadcast_to(y, (3, D))), axis=0), concat((broadcast_to(y, (N, D)), x), axis=1) }": (
        "row",
        lambda x, y: (
            np.concatenate((x, np.broadcast_to(y, (3, *y.shape)))),
            np.concatenate((np.broadcast_to(y, x.shape), x), 1),
        ),
    ),
}


def _typed(text: str, dtype: str) -> str:
    return text.replace(": T[", f": {dtype}[")


def _nested(a: Array) -> Array:
    b = np.concatenate((a[::-1], a), 1)
    return np.concatenate((b, b))[1:, 1:]


def _second(kind: str, dtype: str, n: int, d: int, m: int) -> Array:
    shape = {"y0": (m, d), "y1": (n, m), "same": (n, d), "row": (d,)}[kind]
    return data(dtype, *shape, seed=1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_joined_arrays(dtype: str) -> None:
    module = tensorc.compile("\n".join(f"kernel {_typed(text, dtype)}" for text in JOINS))
    for text, (kind, oracle) in JOINS.items():
        kernel = module[text.split("(")[0]]
        for n in extents(dtype):
            for d in extents(dtype):
                for m in (0, 1, 5, 9):
                    x, y = data(dtype, n, d), _second(kind, dtype, n, d, m)
                    expect_equal(kernel(x, y), oracle(x, y), f"{text} at {n}, {d}, {m}")


PADS: dict[str, Callable[..., Any]] = {
    "ones(x: T[N, D], k: i64) { return pad(x, 1), pad(x, (2, 1)), pad(x, ((k, 0), (1, k))) }": lambda x, k: (
        np.pad(x, 1),
        np.pad(x, (2, 1)),
        np.pad(x, ((k, 0), (1, k))),
    ),
    "filled(x: T[N, D], k: i64) {\n"
    ' return pad(x, ((0, 0), (k, 2)), value=1), pad(x, ((k, k),), "constant") }': lambda x, k: (
        np.pad(x, ((0, 0), (k, 2)), constant_values=1),
        np.pad(x, ((k, k),)),
    ),
    "rolls(x: T[N, D], k: i64) {\n"
    " return roll(x, 1), roll(x, -k, axis=0), roll(x, 7 * k, axis=-1), roll(x, (1, k), axis=(1, 0)),"
    " roll(x, (1, 2), axis=(0, 0)) }": lambda x, k: (
        np.roll(x, 1),
        np.roll(x, -k, 0),
        np.roll(x, 7 * k, -1),
        np.roll(x, (1, k), (1, 0)),
        np.roll(x, (1, 2), (0, 0)),
    ),
    "tiles(x: T[N, D], k: i64) {\n"
    " return tile(x, k), tile(x, (k, 2)), tile(x, (2, 1, 3)), tile(x[0:1], (3, 1)) }": lambda x, k: (
        np.tile(x, k),
        np.tile(x, (k, 2)),
        np.tile(x, (2, 1, 3)),
        np.tile(x[0:1], (3, 1)),
    ),
    "repeats(x: T[N, D], k: i64) {\n"
    " return repeat(x, k), repeat(x, 3, axis=0), repeat(x, k, axis=-1) }": lambda x, k: (
        np.repeat(x, k),
        np.repeat(x, 3, 0),
        np.repeat(x, k, -1),
    ),
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_padded_rolled_and_repeated(dtype: str) -> None:
    texts = [_typed(text, dtype) for text in PADS]
    if dtype == "bool":
        texts = [text.replace("value=1", "value=true") for text in texts]
    module = tensorc.compile("\n".join(f"kernel {text}" for text in texts))
    for text, oracle in PADS.items():
        kernel = module[text.split("(")[0]]
        for n in extents(dtype):
            for d in extents(dtype):
                for k in (0, 1, 3, 11):
                    x = data(dtype, n, d)
                    expect_equal(kernel(x, k), oracle(x, k), f"{text} at {n}, {d}, {k}")


MODES = """
kernel edge(x: f32[N, D], k: i64) { return pad(x, ((2, k), (k, 1)), mode="edge"), pad(x[0], k, "edge") }
kernel reflect(x: f32[N, D], k: i64) {
    return pad(x, ((2, k), (k, 1)), mode="reflect"), pad(x[0], k, "reflect")
}
kernel wrap(x: f32[N, D], k: i64) { return pad(x, ((2, k), (k, 1)), mode="wrap"), pad(x[0], k, "wrap") }
kernel stencil(x: f32[N, D]) {
    p = pad(x * 2, 1, mode="reflect")
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:], sum(i64(p), axis=0)
}
kernel fixed(x: f32[8, 9]) { return pad(x, 3, mode="reflect"), pad(x, ((0, 20), (13, 0)), "wrap") }
"""


def test_padding_from_the_array_itself() -> None:
    """Widths beyond the array repeat it, as in NumPy."""
    module = tensorc.compile(MODES)
    for n in (1, 2, 3, 8, 17):
        for d in (1, 2, 3, 9, 16, 33):
            x = data("f64", n, d).astype(np.float32)
            for k in (0, 1, 2, 5, 30):
                for mode in ("edge", "reflect", "wrap"):
                    wanted = (np.pad(x, ((2, k), (k, 1)), mode=mode), np.pad(x[0], k, mode=mode))
                    expect_equal(module[mode](x, k), wanted, f"{mode} at {n}, {d}, {k}")
            x = np.nan_to_num(x)
            p = np.pad(x * 2, 1, mode="reflect")
            wanted = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
            expect_equal(module.stencil(x), (wanted, p.astype(np.int64).sum(axis=0)), f"stencil at {n}, {d}")
    x = data("f64", 8, 9).astype(np.float32)
    wanted = (np.pad(x, 3, mode="reflect"), np.pad(x, ((0, 20), (13, 0)), mode="wrap"))
    expect_equal(module.fixed(x), wanted, "fixed")


PARTS = ("[::2]", "[1:-1:2]", "[::-3]", "[N::-2]", "[3:N + 2:3]")


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_strided_parts_of_what_is_joined(mode: str) -> None:
    """The last element of a strided part may be the first of the next operand: no guard may be dropped."""
    heads = [f'pad(x, (5, 1), mode="{mode}"){part}' for part in PARTS]
    heads += [f"concat((x[:1], x, x * 2, y)){part}" for part in PARTS]
    module = tensorc.compile("kernel f(x: f32[N], y: f32[K]) { return " + ", ".join(heads) + " }")
    for n in range(1, 12):
        x, y = np.arange(1, n + 1, dtype=np.float32), np.full(4, 99, np.float32)
        sources = [np.pad(x, (5, 1), mode=mode), np.concatenate((x[:1], x, x * 2, y))]
        wanted = tuple(eval(f"s{part}", {"s": s, "N": n}) for s in sources for part in PARTS)
        expect_equal(module.f(x, y), wanted, f"{mode} at {n}")


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_an_empty_axis_has_nothing_to_repeat(mode: str) -> None:
    module = tensorc.compile(f'kernel f(x: f32[N], k: i64) {{ return pad(x, (0, k), mode="{mode}") }}')
    assert module.f(np.zeros(0, np.float32), 0).shape == (0,)
    with pytest.raises(ValueError, match="nothing to repeat"):
        module.f(np.zeros(0, np.float32), 1)
    with pytest.raises(tensorc.CompileError, match="nothing to repeat"):
        tensorc.compile(f'kernel f(x: f32[0]) {{ return pad(x, 1, mode="{mode}") }}')


def test_a_chain_of_rolls_stays_small() -> None:
    lines = "\n".join(f"y{n + 1} = roll(y{n}, {n + 1})" for n in range(40))
    module = tensorc.compile(f"kernel f(x: f32[N]) {{\n y0 = x\n{lines}\n return y40 }}")
    x = data("f32", 33)
    expect_equal(module.f(x), np.roll(x, 820), "40 rolls")


def test_checks_look_at_what_is_read() -> None:
    """An exponent of the other operand's place fails no call."""
    text = "kernel f(x: i64[N], e: i64[N], y: i64[M]) { return concat((x ** e, y - 5)), pad(x ** e, 3)[:2] }"
    module = tensorc.compile(text)
    x, e = np.arange(9), np.full(9, 2)
    expect_equal(module.f(x, e, x - 9), (np.concatenate((x**2, x - 14)), np.zeros(2, np.int64)), "squares")
    with pytest.raises(ValueError, match="negative power"):
        module.f(x, e - 3, x)
