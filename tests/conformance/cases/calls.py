"""Processes, threads and refused calls."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np

from cases.kit import PROGRAMS, add, f32, f64, i64, refuse, zeros


def s_fork(ctx):
    """A forked child may call a kernel that the parent has run with threads."""
    x = np.ones(1 << 20, np.float32)
    ctx.check(ctx.kernel(x, threads=2), f32(1 << 20))
    for threads in (None, 2):
        pid = os.fork()
        if pid == 0:
            ok = False
            try:
                ok = float(ctx.kernel(x, threads=threads)) == 1 << 20
            finally:
                os._exit(0 if ok else 1)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                assert status == 0, f"the child ended with status {status}"
                break
            time.sleep(0.01)
        else:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise AssertionError("the child did not finish within 5 s")
    ctx.check(ctx.kernel(x, threads=2), f32(1 << 20))


add(
    "C98",
    "value",
    "total",
    inputs=lambda: (np.ones(1 << 20, np.float32),),
    expected=f32(1 << 20),
    ref=np.sum,
    threads=(1, 2, 3),
)
add("C98", "fork", "total", compare="script", script=s_fork, ref=np.sum)

_scratch = lambda x: (y := x - x.mean(1, keepdims=True)) * (1 + (y * y).sum(0))


def s_threads(ctx):
    """Eight threads, different inputs, every result right."""
    wrong = []

    def job(k):
        for _r in range(200):
            n = 1000 + k
            if float(ctx["total"](np.zeros(n))) != n:
                wrong.append(("total", k))
            x = ((np.arange(4 * (k + 2)) * 2 % 8).reshape(4, k + 2) + k) * 1.0
            if np.abs(ctx["scratch"](x) - _scratch(x)).max() > 1e-9:
                wrong.append(("scratch", k))

    ts = [threading.Thread(target=job, args=(k,)) for k in range(8)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    assert not wrong, f"{len(wrong)} of 3200 results are wrong, first {wrong[0]}"


def s_gil(ctx):
    """Another Python thread keeps running while a kernel computes."""
    x = np.zeros(1 << 23)
    stamps, stop = [], []

    def tick():
        while not stop:
            stamps.append(time.perf_counter())
            time.sleep(0.001)

    t = threading.Thread(target=tick)
    t.start()
    try:
        # a busy machine may give the other thread no turn during one call, hardly during fifty
        inside = any(_ticks_inside(ctx, x, stamps) for _ in range(50))
    finally:
        stop.append(1)
        t.join()
    assert inside, "no other thread ran during any call: the GIL is held"


def _ticks_inside(ctx, x, stamps):
    a = time.perf_counter()
    ctx["total"](x, threads=1)
    b = time.perf_counter()
    return sum(a + (b - a) / 4 < s < b - (b - a) / 4 for s in list(stamps))


add(
    "C99",
    "value",
    "total",
    inputs=lambda: (np.zeros(1000),),
    expected=f64(1000),
    ref=lambda x: np.exp(x).sum(),
)
add(
    "C99",
    "threads",
    "total",
    compare="script",
    script=s_threads,
    ref={"total": lambda x: np.exp(x).sum(), "scratch": _scratch},
)
add("C99", "gil", "total", compare="script", script=s_gil, ref=lambda x: np.exp(x).sum())

# docs/language.md names no exception class for these; NumPy's habit is TypeError for types and counts,
# ValueError for sizes, and either is accepted
_ok = f32([1, 2, 3])
add("C101", "fits", "fixed", inputs=(_ok,), expected=f32([2, 4, 6]), ref=lambda x: x * 2)
for _label, _bad in (
    ("i64", i64([1, 2, 3])),
    ("f64", zeros(3)),
    ("complex", np.zeros(3, np.complex64)),
    ("size", zeros(4, "f4")),
    ("rank", zeros((3, 1), "f4")),
    ("rank0", f32(1)),
):
    add(
        "C101",
        _label,
        "fixed",
        inputs=(_bad,),
        compare=("raises", "TypeError|ValueError", r"\bx\b", "f32|float32"),
    )
add("C101", "missing", "fixed", inputs=(), compare=("raises", "TypeError"))
add("C101", "extra", "fixed", inputs=(_ok, _ok), compare=("raises", "TypeError"))
add(
    "C101", "keyword", "fixed", inputs=(_ok,), kwargs={"nosuch": 1}, compare=("raises", "TypeError", "nosuch")
)
add(
    "C101",
    "symbol",
    "pair",
    inputs=(zeros((2, 5), "f4"), zeros(4, "f4")),
    compare=("raises", "ValueError|TypeError", r"\bD\b", "5", "4"),
)
add(
    "C101",
    "symbol_fits",
    "pair",
    inputs=(zeros((2, 5), "f4"), np.ones(5, "f4")),
    expected=np.ones((2, 5), "f4"),
    ref=lambda p, q: p + q,
)
for _k in (4, 10):
    add(
        "C101",
        f"requires_{_k}",
        "guarded",
        inputs=(zeros(_k, "f4"),),
        compare=("raises", "ValueError", r"N\b"),
    )
add(
    "C101",
    "requires_12",
    "guarded",
    inputs=(np.ones(12, "f4"),),
    expected=np.full(12, 2, "f4"),
    ref=lambda x: x * 2,
)
add(
    "C101",
    "default",
    "scaled",
    inputs=(_ok,),
    expected=f32([2, 4, 6]),
    ref=lambda x, factor=2.0: x * np.float32(factor),
)
add(
    "C101",
    "by_keyword",
    "scaled",
    inputs=(_ok,),
    kwargs={"factor": 0.5},
    expected=lambda x: f32([0.5, 1, 1.5]),
    ref=lambda x, factor=2.0: x * np.float32(factor),
)


def s_list(ctx):
    """A list is converted or refused, never misread."""
    for v in ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3]):
        try:
            got = ctx.kernel(v)
        except (TypeError, ValueError):
            continue
        ctx.check(got, f32(v) * 2)


add("C101", "list", "fixed", compare="script", script=s_list, ref=lambda x: f32(x) * 2)

refuse("C103", "broadcast", "C103.tdsl", r"broadcast|shape|size", r"f32\[3\].*f32\[4\]|\b3\b.*\b4\b")
refuse("C103", "unknown_op", "C103_many.tdsl", r"\bsine\b")
refuse(
    "C103",
    "wrong_arity",
    "C103_many.tdsl",
    r"maximum.*(argument|operand|arity|take|expect)|(argument|operand|arity|take|expect).*maximum",
)
refuse("C103", "bad_axis", "C103_many.tdsl", r"axis.*2|2.*axis")
refuse("C103", "reshape_size", "C103_many.tdsl", r"reshape", r"24|25|\[5, *5\]|\(5, *5\)")
refuse("C103", "second_assignment", "C103_many.tdsl", r"\bvalue\b")
refuse("C103", "undefined", "C103_many.tdsl", r"\btotl\b")
refuse("C103", "spelling", "C103_many.tdsl", r"\bdim\b")
refuse("C103", "out_of_range", "C103_out_of_range.tdsl", r"range|bound|past|outside|\bN\b")


def s_all_at_once(ctx):
    """Every error in one run: seven kernels, seven errors at least."""
    try:
        ctx.compile(PROGRAMS / "C103_many.tdsl")
    except ctx.CompileError as err:
        found = len(err.diagnostics)
    else:
        raise AssertionError("compiled without an error")
    assert found >= 7, f"{found} diagnostics, want at least 7"


def s_syntax(ctx):
    """A syntax error is a diagnostic like any other."""
    for text in (
        "kernel f(x: f32[N]) -> f32[N] {\n    return x + * 2\n}\n",
        "kernel f(x: f32[N]) -> f32[N] {\n    return (x\n}\n",
        "kernel f(x: f32[N] -> f32[N] { return x }\n",
        "\x00",
        "kernel",
    ):
        try:
            ctx.compile(text)
        except ctx.CompileError as err:
            ds = err.diagnostics
            assert ds and all(
                str(d.code).startswith("TC") and d.message and d.span is not None for d in ds
            ), f"no proper diagnostic for {text!r}"
        else:
            raise AssertionError(f"accepted {text!r}")


add(
    "C103", "all_at_once", "twenty", tdsl="C105.tdsl", compare="script", script=s_all_at_once, ref=lambda x: x
)
add("C103", "syntax", "twenty", tdsl="C105.tdsl", compare="script", script=s_syntax, ref=lambda x: x)


def _twenty(x, y):
    a = np.exp(x - x.max(1, keepdims=True))
    b = a / a.sum(1, keepdims=True)
    c = np.tanh(y * 0.5) + np.sin(x) * np.cos(y)
    d = np.where(c > 0, c * b, c - b) + np.sqrt(np.abs(x * y) + 1)
    return d * b + c, d.sum(1) + c.mean(1) - b.min(1)


add(
    "C105",
    "value",
    "twenty",
    inputs=lambda: tuple(f32(np.random.default_rng(s).standard_normal((9, 21))) for s in (1, 2)),
    expected=lambda x, y: _twenty(x.astype("f8"), y.astype("f8")),
    dtype="f4",
    compare=("rtol", 2e-5, 2e-6),
    ref=_twenty,
)
