"""A last axis too short for a vector is unrolled: the one before it is the vector axis, stores take steps."""

from __future__ import annotations

import numpy as np
import pytest

import tensorc

DTYPES = {
    "bool": np.bool_,
    "i8": np.int8,
    "u8": np.uint8,
    "i16": np.int16,
    "i32": np.int32,
    "u32": np.uint32,
    "i64": np.int64,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
LENGTHS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 40, 3000)


def data(dtype: str, *shape: int) -> np.ndarray:
    return (np.arange(int(np.prod(shape))) * 7 % 11).reshape(shape).astype(DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype: str) -> None:
    rows = [f"y{c}: {dtype}[N, {c}]" for c in range(2, 8)]
    texts = [
        "stack((x, x[::-1]), axis=-1)",
        "stack((x, x[::-1], x), axis=1)",
        "repeat(x[:, None], 4, axis=1)",
    ]
    texts += [f"y{c}[:, ::-1]" for c in range(2, 8)]
    module = tensorc.compile(f"kernel k(x: {dtype}[N], {', '.join(rows)}) {{ return {', '.join(texts)} }}")
    for n in LENGTHS:
        x, ys = data(dtype, n), [data(dtype, n, c) for c in range(2, 8)]
        expected = [
            np.stack((x, x[::-1]), -1),
            np.stack((x, x[::-1], x), 1),
            np.repeat(x[:, None], 4, 1),
            *(y[:, ::-1] for y in ys),
        ]
        for threads in (1, 2):
            for found, wanted in zip(module.k(x, *ys, threads=threads), expected, strict=True):
                np.testing.assert_array_equal(found, wanted)


MIXED = """
kernel scaled(x: f32[N, M, 3], w: f32[3], r: f32[M]) { return x * w + r[:, None], x.shape[1] * w }
kernel positions(x: f32[N, 4]) { return exp(x) * arange(4), where(arange(4) % 2 == 0, x, -x), x + x[:, 2:3] }
kernel joined(x: f32[N, 2], y: f32[N, 3]) {
    return concat((x, y), axis=1), pad(x, ((0, 0), (1, 2)), mode="wrap")
}
kernel gathered(x: f32[N, 5], i: i64[5]) { return take(x, i, axis=1) * 2, x[:, ::2] ** 2 }
kernel turned(x: f32[5, N]) { return x.T, roll(x.T, 1, axis=1) }
kernel powers(x: i32[N, 3], e: i32[3]) { return x ** e }
"""


def test_bodies() -> None:
    module = tensorc.compile(MIXED)
    w = np.float32([1, 2, -3])
    for n in LENGTHS:
        x = data("f32", n, 4, 3)
        r = data("f32", 4)
        found = module.scaled(x, w, r)
        np.testing.assert_array_equal(found[0], x * w + r[:, None])
        x4 = data("f32", n, 4)
        found = module.positions(x4)
        k = np.arange(4, dtype=np.float32)
        np.testing.assert_array_almost_equal_nulp(
            found[0], np.exp(x4.astype(float)).astype(np.float32) * k, 2
        )
        np.testing.assert_array_equal(found[1], np.where(k % 2 == 0, x4, -x4))
        np.testing.assert_array_equal(found[2], x4 + x4[:, 2:3])
        x2, x3 = data("f32", n, 2), data("f32", n, 3)
        found = module.joined(x2, x3)
        np.testing.assert_array_equal(found[0], np.concatenate((x2, x3), 1))
        np.testing.assert_array_equal(found[1], np.pad(x2, ((0, 0), (1, 2)), mode="wrap"))
        x5 = data("f32", n, 5)
        found = module.gathered(x5, np.array([4, 0, -1, 2, 2]))
        np.testing.assert_array_equal(found[0], x5[:, [4, 0, -1, 2, 2]] * 2)
        np.testing.assert_array_equal(found[1], x5[:, ::2] ** 2)
        found = module.turned(x5.T.copy())
        np.testing.assert_array_equal(found[0], x5)
        np.testing.assert_array_equal(found[1], np.roll(x5, 1, 1))


def test_checks_of_every_copy() -> None:
    module = tensorc.compile(MIXED)
    x = data("i32", 20, 3)
    np.testing.assert_array_equal(module.powers(x, np.int32([0, 3, 1])), x ** np.int32([0, 3, 1]))
    with pytest.raises(ValueError, match="negative power"):
        module.powers(x, np.int32([0, 3, -1]))
    with pytest.raises(IndexError):
        module.gathered(data("f32", 20, 5), np.array([0, 1, 2, 3, 5]))


def test_in_place() -> None:
    """A result may be its input where every element is read at its own place only."""
    module = tensorc.compile("""
        kernel scale(x: f32[N, 3], w: f32[3]) { return x * w }
        kernel turn(x: f32[N, 3]) { return x[:, ::-1] }
        kernel shift(x: f32[N, 3]) { return x + x[:, :1] }
    """)
    w = np.float32([1, 2, 3])
    for kernel, rest, function in (
        (module.scale, (w,), lambda x: x * w),
        (module.turn, (), lambda x: x[:, ::-1]),
        (module.shift, (), lambda x: x + x[:, :1]),
    ):
        for n in (1, 8, 17, 20000):
            x = data("f32", n, 3)
            wanted = function(x.copy())
            kernel(x, *rest, out=x)
            np.testing.assert_array_equal(x, wanted)
