"""Section 1 of the language: sizes, how a call binds them, and what is checked."""
# ruff: noqa: E501

from __future__ import annotations

import numpy as np
import pytest
from promises import Row, compile_rows, errors, only_error, raises, rows_test

import tensorc

F = np.float32


def f(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=F).reshape(shape)


def i64(*values: int) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(v, np.int64) for v in values)


ROWS = [
    # expressions
    Row("a size is an integer", "x: f32[3]", "x", [f(3)], f(3)),
    Row("an integer size is checked", "x: f32[3]", "x", [f(4)], raises(ValueError, "x", "3", "4")),
    Row("plus and minus", "x: f32[H, W]", "x[:-2]", [f(5, 2)], lambda x: x[:-2], results="f32[H - 2, W]"),
    Row("times", "x: f32[N, C, H, W]", "reshape(x, (N, C * H * W))", [f(2, 3, 2, 2)], lambda x: x.reshape(2, 12)),
    Row("// by a constant", "x: f32[H], w: f32[K]", "zeros((H - K) // 2 + 1, dtype=f32)", [f(9), f(4)], np.zeros(3, F), results="f32[(H - K) // 2 + 1]"),
    Row("// by a symbol", "x: f32[N], w: f32[K]", "x[: N // K]", [f(7), f(2)], f(7)[:3], results="f32[N // K]"),
    Row("// by a size of 0", "x: f32[N], w: f32[K]", "zeros(N // K)", [f(7), f(0)], raises(ValueError, "K")),
    Row("// by a size that is 0 only where nobody calls", "x: f32[N], y: f32[M]", "x[: N // (M - N)], x[: M % (N - 1024)]", [f(3), f(5)], (f(3)[:1], f(3)[:0]), requires="M > N"),
    Row("% of sizes", "x: f32[N]", "zeros(N % 4)", [f(7)], np.zeros(3)),
    # one symbol, one size
    Row("a mismatch lists the bindings", "x: f32[N, D], y: f32[N, D]", "x + y", [f(2, 3), f(2, 4)], raises(ValueError, "'y'", "(2, 4)", "f32[N, D]", "N=2, D=3 from 'x'")),
    Row("a square", "x: f32[N, N]", "x", [f(2, 3)], raises(ValueError, "x", "2", "3")),
    Row("extent 0 binds", "x: f32[N], y: f32[N]", "x + y", [f(0), f(0)], f(0)),
    Row("extent 1 is its own size", "x: f32[N], y: f32[N]", "x + y", [f(1), f(3)], raises(ValueError, "N")),
    Row("extent 1 of another symbol", "x: f32[N, 1], y: f32[N, M]", "x + y", [f(2, 1), f(2, 3)], lambda x, y: x + y),
    # binding
    Row("a linear axis is solved", "x: f32[2 * H]", "H", [f(6)], np.int64(3)),
    Row("no whole solution", "x: f32[2 * H]", "H", [f(5)], raises(ValueError, "'x'", "f32[2 * H]", "(5,)", "no whole H")),
    Row("solved with another symbol", "x: f32[N + K - 1], w: f32[K]", "N", [f(9), f(3)], np.int64(7)),
    Row("the plain axis binds first", "x: f32[N + K - 1], w: f32[K]", "N", [f(1), f(3)], raises(ValueError)),
    Row("every other axis is checked", "x: f32[N], y: f32[N * N]", "N", [f(3), f(8)], raises(ValueError, "'y'", "f32[N * N]", "(8,)", "N=3")),
    Row("the other axis is right", "x: f32[N], y: f32[N * N]", "N", [f(3), f(9)], np.int64(3)),
    Row("an integer parameter is a size", "n: i64", "zeros(n, dtype=f32)", [3], np.zeros(3, F), results="f32[n]"),
    Row("an i32 parameter is a size", "n: i32, x: f32[n]", "x", [3, f(3)], f(3)),
    Row("an integer parameter is checked", "n: i64, x: f32[n]", "x", [4, f(3)], raises(ValueError, "n", "4", "3")),
    Row("a size of expressions of parameters", "n: i64, m: i64", "zeros((n, n + 2 * m), dtype=f32)", [1, 2], np.zeros((1, 5), F)),
    Row("a negative size", "n: i64", "zeros(n)", [-1], raises(ValueError, "-1")),
    Row("a size that comes out negative", "x: f32[N]", "zeros(N - 4)", [f(3)], raises(ValueError, "N - 4")),
    Row("a negative extent of an iteration", "x: f32[N]", "y[i] = x[0] * i for i in N - 4\nreturn y", [f(3)], raises(ValueError, "N - 4")),
    Row("a written result that is checked at the call", "x: f32[N], n: i64", "x[:n]", [f(5), 3], lambda x, n: x[:3], results="f32[n]"),
    Row("a written result that does not hold", "x: f32[N], n: i64", "x[:n]", [f(5), 7], raises(ValueError, "n"), results="f32[n]"),
    Row("the two parts of an array have its size together", "x: f32[N], y: f32[N], k: i64", "concat((x[1:], x[:1])) + y, concat((x[k:], x[:k])) + y", [f(5), f(5), 2], lambda x, y, k: (np.roll(x, -1) + y, np.roll(x, -2) + y)),
    Row("parts behind the end", "x: f32[N], y: f32[N], k: i64", "concat((x[k:], x[:k])) + y", [f(5), f(5), 9], lambda x, y, k: x + y),
    # as values
    Row("a dim is a weak integer", "x: f32[N]", "x / N", [f(4)], lambda x: x / F(4)),
    Row("a dim alone is i64", "x: f32[N]", "N, N / 2, N // 2, N + 0.5", [f(5)], (np.int64(5), np.float64(2.5), np.int64(2), np.float64(5.5))),
    Row("a dim with i32", "x: i32[N]", "x * N", [np.arange(3, dtype=np.int32)], lambda x: x * np.int32(3)),
    Row("an iterator is a weak integer", "x: f32[N]", "y[i] = x[i] * i for i in N\nreturn y", [f(4)], lambda x: x * np.arange(4, dtype=F)),
    Row("an iterator alone is i64", "n: i64", "y[i] = i for i in n\nreturn y", [3], np.arange(3)),
    Row("shape as a size", "x: f32[N, D]", "zeros(x.shape[1]), x.shape[-2]", [f(2, 3)], (np.zeros(3), np.int64(2))),
    # requires
    Row("requires holds", "x: f32[N]", "x", [f(8)], f(8), requires="N % 4 == 0, N >= 1"),
    Row("requires fails", "x: f32[N]", "x", [f(7)], raises(ValueError, "N % 4 == 0", "is 3", "N=7 from 'x'"), requires="N % 4 == 0"),
    Row("requires with and", "x: f32[N]", "x", [f(9)], raises(ValueError, "N < 9"), requires="N > 0 and N < 9"),
    Row("requires as a chain", "x: f32[N]", "x", [f(0)], raises(ValueError, "0 < N"), requires="0 < N <= 8"),
    Row("requires with or", "x: f32[N]", "x", [f(3)], f(3), requires="N % 4 == 0 or N < 4"),
    Row("requires with or fails", "x: f32[N]", "x", [f(9)], raises(ValueError, "N % 4 == 0 or N < 4", "is 1", "N is 9", "N=9 from 'x'"), requires="N % 4 == 0 or N < 4"),
    Row("requires with not", "x: f32[N]", "x", [f(8)], raises(ValueError, "N != 8"), requires="not N == 8"),
    Row("requires with not of a chain", "x: f32[N]", "x", [f(5)], raises(ValueError, "2 > N or N > 6", "N is 5"), requires="not 2 <= N <= 6"),
    Row("requires with not of or", "x: f32[N]", "x", [f(5)], raises(ValueError, "N <= 4"), requires="not (N < 2 or N > 4)"),
    Row("requires with or of and", "x: f32[N], y: f32[M]", "sum(x) + sum(y)", [f(8), f(3)], raises(ValueError, "M == 2"), requires="N < 4 and M > 2 or N == 8 and M == 2"),
    Row("requires with or of and holds", "x: f32[N], y: f32[M]", "sum(x) + sum(y)", [f(8), f(2)], F(39), requires="N < 4 and M > 2 or N == 8 and M == 2"),
    Row("requires on a parameter", "x: f32[N], n: i32", "x * n", [f(2), 3], raises(ValueError, "n"), requires="n <= N"),
    Row("requires on two sizes", "x: f32[N], y: f32[M]", "sum(x) + sum(y)", [f(2), f(3)], raises(ValueError), requires="N != M + -1, N == M"),
    # no parameter but sizes
    Row("no parameters at all", "", "arange(3), 1", [], (np.arange(3), np.int64(1))),
    # clamping
    Row("slices clamp", "x: f32[N]", "x[2:9], x[-9:2], x[5:1], x[::3], x[9:]", [f(4)], lambda x: (x[2:9], x[-9:2], x[5:1], x[::3], x[9:])),
    Row("slices of nothing", "x: f32[N]", "x[1:-1], x[::2], x[::-1]", [f(0)], lambda x: (x[1:-1], x[::2], x[::-1])),
    Row("slices with size bounds", "x: f32[N], y: f32[M]", "x[:M], x[M:], x[N - M:]", [f(5), f(2)], lambda x, y: (x[:2], x[2:], x[3:])),
    Row("a parameter that is a bound is a size", "x: f32[N], n: i64", "x[n:], x[:n], x[n]", [f(5), -2], raises(ValueError, "'n'", "-2", "negative")),
    Row("a literal index in range", "x: f32[N]", "x[2], x[-3]", [f(3)], lambda x: (x[2], x[-3])),
]  # fmt: skip

kernels, test_promise = rows_test(ROWS)

REFUSED = [
    ("nothing binds a result's size", "kernel k(x: f32[N]) -> f32[M] { return x }", "TC0209", ["`M`"]),
    ("a hint binds nothing", "dims M ~ 4\nkernel k(x: f32[N]) { return zeros(M) }", "TC0209", ["`M`"]),
    ("symbols do not broadcast", "kernel k(x: f32[N], y: f32[M]) { return x + y }", "TC0402", ["N", "M", "one name for both"]),
    ("a symbol and a number do not broadcast", "kernel k(x: f32[N], y: f32[3]) { return x + y }", "TC0402", ["N and 3"]),
    ("a size is never filled in", "kernel k(x: f32[N, D]) { return reshape(x, (N, -1)) }", "TC0410", ["write D for -1"]),
    ("a negative size", "kernel k(x: f32[N]) { return zeros(-3) }", "TC0410", ["-3"]),
    ("a float size", "kernel k(x: f32[N]) { return zeros(N / 2) }", "TC0410", []),
    ("a size by zero", "kernel k(x: f32[N]) { return zeros(N // 0) }", "TC0410", ["zero"]),
    ("a requirement that is false for every size", "kernel k(x: f32[N]) requires N < N { return x }", "TC0412", []),
    ("an alternative that is false for every size", "kernel k(x: f32[N]) requires N < N or 3 > 4 { return x }", "TC0412", ["N < N or 3 > 4"]),
    ("sizes that one of two alternatives makes equal", "kernel k(x: f32[N], y: f32[M]) requires N == M or N == 3 { return x + y }", "TC0402", []),
    ("slices of slices", "kernel k(x: f32[N], a: i64, b: i64) { return x" + "[a - b : N - a : 2]" * 4 + " }", "TC0504", ["too long an expression"]),
    ("too many alternatives", "kernel k(x: f32[N]) requires " + " or ".join(["(N > 1 and N > 2 and N > 3 and N > 4 and N > 5)"] * 3) + " { return x }", "TC0504", ["64"]),
    ("a bool is no size", "kernel k(b: bool) { return zeros(b) }", "TC0410", []),
    ("a float parameter is no size", "kernel k(s: f32) { return zeros(s) }", "TC0410", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "words"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_refused(text: str, code: str, words: list[str]) -> None:
    only_error(text, code, *words)


def test_a_symbol_that_nothing_can_solve() -> None:
    found = errors("kernel k(x: f32[A * B]) { return x }")
    assert {d.code for d in found} == {"TC0209"}


def test_dims_of_the_command_fix_a_size() -> None:
    module = tensorc.compile("dims N ~ 3\nkernel k(x: f32[N]) { return x }\n", dims={"N": 5})
    with pytest.raises(ValueError, match="5"):
        module["k"](f(3))
    assert module["k"](f(5)).shape == (5,)


def test_a_refused_call_leaves_out_alone() -> None:
    (kernel,) = compile_rows([Row("r", "x: f32[N], y: f32[N]", "x + y", [], 0)]).values()
    out = np.full(3, 7, F)
    with pytest.raises(ValueError, match="'y'"):
        kernel(f(3), f(4), out=out)
    assert (out == 7).all()
