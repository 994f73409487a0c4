"""What the cases are written with: Case, shorthands, and models of the rules where TDSL is not NumPy."""

from __future__ import annotations

import dataclasses
import math
import pathlib
import typing

import numpy as np

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"
CASES: list[Case] = []
T, F = np.True_, np.False_
zeros = np.zeros

KIND = {
    "C01": "one-pass variance cancels when the mean is large",
    "C02": "var/std accumulated too narrowly: overflow, underflow, lost digits",
    "C03": "a long f32 sum stops growing",
    "C05": "f16/bf16 reductions accumulated in the narrow type",
    "C06": "hidden fused multiply-add",
    "C07": "float expression re-associated",
    "C09": "x*0 or x-x folded for floats",
    "C11": "constants lose digits or get the wrong width",
    "C12": "elementary functions: accuracy and special values",
    "C14": "subnormals flushed, or the process's float mode changed",
    "C15": "softmax: overflow and masked rows",
    "C17": "max/min reduction loses a NaN",
    "C18": "maximum/minimum/clip/relu lose a NaN from one side",
    "C20": "argmax/argmin of bool",
    "C21": "comparison used as a number",
    "C23": "sign of min/max of signed zeros",
    "C24": "float remainder and floor division",
    "C26": "NaN and infinity tests optimised away",
    "C27": "inf and nan as constants",
    "C29": "any/all/prod over floats and bool",
    "C30": "integer arithmetic does not wrap in its own width",
    "C31": "INT_MIN // -1 traps",
    "C32": "integer division by zero traps",
    "C34": "integer division truncates instead of flooring",
    "C36": "shift counts outside the width",
    "C38": "sums of bool and narrow integers",
    "C40": "float to integer conversion out of range",
    "C41": "integer tensor against a float scalar",
    "C43": "extreme integer literals",
    "C44": "reductions of rank-0 values",
    "C45": "empty tensors",
    "C47": "slice bounds beyond the extent",
    "C48": "size-1 broadcasting inside a fused sum",
    "C50": "concatenation read before it is complete",
    "C52": "argmin/argmax over an axis of size 1",
    "C54": "tail of a blocked loop",
    "C55": "memory order of the inputs",
    "C57": "unaligned data",
    "C58": "out= overlaps an input",
    "C60": "one array passed several times",
    "C61": "read-only and byte-swapped arrays",
    "C63": "consumer fused into the reduction it needs",
    "C64": "neighbours of a computed array fused pointwise",
    "C66": "buffer reused while still needed",
    "C68": "tiled reduction writes past its tail",
    "C69": "same element count, different shapes, one loop",
    "C70": "fusing siblings makes a cycle",
    "C71": "operands of different widths in one loop",
    "C73": "negative gather indices",
    "C74": "gather index out of range",
    "C76": "offsets computed in 32 bits",
    "C77": "result types",
    "C80": "division of integers truncates",
    "C81": "user names that are special in C++ or to the generator",
    "C82": "name and number run together",
    "C84": "shared values recomputed at every use",
    "C85": "decimal comma in the locale",
    "C87": "kernel used by the no-compiler check",
    "C88": "kernel used by the odd-paths check",
    "C90": "kernel used by the other-CPU check",
    "C91": "kernel used by the concurrent-compile check",
    "C94": "kernel used by the corrupt-cache check",
    "C96": "kernel used by the no-headers check",
    "C97": "kernel used by the second-OpenMP check",
    "C98": "call after fork",
    "C99": "calls from several threads",
    "C101": "arguments that do not fit the signature",
    "C103": "errors without code or place",
    "C105": "kernel used by the start-up timing check",
}


@dataclasses.dataclass
class Case:
    """One kernel, one rule.

    compare   'exact'                      value, dtype, shape, NaN pattern, sign of zero
              ('ulp', n)                   within n units in the last place of the result type
              ('rtol', r) ('rtol', r, a)   relative (and absolute) tolerance; NaN and infinities must match
              ('abs', tol)                 absolute tolerance: number, array, or function of the arguments
              ('raises', 'A|B', words...)  the call raises A or B; the message matches every pattern in words
              ('compile_error', words...)  compiling the file gives CompileError; each diagnostic has a TCnnnn
                                           code, a message and a span; each pattern matches some message
              'script'                     script(ctx) does the checking with plain asserts
    """

    id: str
    label: str
    kind: str
    tdsl: str
    kernel: str | None
    inputs: typing.Any = ()  # the arguments, or a function returning them
    sweep: typing.Any = None  # instead: a generator function of (label, args), one call each
    expected: typing.Any = None  # array or tuple of arrays, or a function of the arguments
    compare: typing.Any = "exact"
    ref: typing.Any = None  # the kernel in plain NumPy (with the models below where TDSL differs)
    dtype: typing.Any = None  # result dtypes, when `expected` is a float64 reference of a narrower result
    kwargs: dict = dataclasses.field(default_factory=dict)
    threads: tuple = ()  # also call with each of these thread counts: same bits required
    repeat: int = 1  # call this often: same bits required
    same_bits: bool = False  # all elements of all results with one sweep label must have the same bits
    script: typing.Any = None
    aliased: bool = False  # the case itself passes overlapping arrays

    @property
    def key(self):
        return f"{self.id}/{self.label}"


def _maker(dtype):
    return lambda v: np.asarray(v, dtype)


b1, f16, f32, f64 = (_maker(d) for d in (np.bool_, np.float16, np.float32, np.float64))
i8, i16, i32, i64 = (_maker(d) for d in (np.int8, np.int16, np.int32, np.int64))
u8, u16, u32, u64 = (_maker(d) for d in (np.uint8, np.uint16, np.uint32, np.uint64))
NAN, INF = math.nan, math.inf
MIN = {t: int(np.iinfo(t).min) for t in ("i1", "i2", "i4", "i8")}
MAX = {t: int(np.iinfo(t).max) for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")}
LENGTHS = tuple(range(1, 41))  # every tail of 4, 8, 16 and 32 lanes
SHORT = (1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 31, 32, 33, 67)


def tiled(values, dtype, lengths=SHORT):
    """A generator function for `sweep`: the values rotated and repeated to every length, so that each of them
    meets the vector body, the tail and every lane."""
    v = np.asarray(values, dtype)

    def gen():
        for n in lengths:
            for r in range(0, len(v), n if n < len(v) else max(1, len(v) // 4)):
                yield f"n={n},rot={r}", (np.resize(np.roll(v, -r), n),)

    return gen


def tiled2(a, b, dtype, lengths=SHORT):
    """The same for two operands that stay paired."""
    a, b = np.asarray(a, dtype), np.asarray(b, dtype)

    def gen():
        for n in lengths:
            for r in range(0, len(a), n if n < len(a) else max(1, len(a) // 4)):
                yield f"n={n},rot={r}", (np.resize(np.roll(a, -r), n), np.resize(np.roll(b, -r), n))

    return gen


def every(fn, otype=np.float64):
    """A scalar function of Python floats, applied to each element, as float64."""
    return lambda *xs: np.array(
        [fn(*map(float, t)) for t in zip(*(x.ravel() for x in xs), strict=False)], otype
    ).reshape(xs[0].shape)


def saturate(x, dtype):
    """TDSL: float to integer truncates, saturates out of range, and NaN gives 0."""
    info = np.iinfo(dtype)
    x = np.asarray(x)
    wide = np.trunc(x.astype(np.float64))
    out = np.empty(x.shape, dtype)
    for k, v in np.ndenumerate(wide):
        out[k] = (
            0
            if math.isnan(v)
            else info.max
            if v >= float(info.max)
            else info.min
            if v <= float(info.min)
            else int(v)
        )
    return out


def _order_zero(a, b, pick):
    """TDSL: NaN propagates and -0 orders below +0."""
    r = pick(a, b)
    if r.dtype.kind != "f":
        return r
    both0 = (a == 0) & (b == 0)
    neg = (np.signbit(a) | np.signbit(b)) if pick is np.minimum else (np.signbit(a) & np.signbit(b))
    return np.where(both0, np.where(neg, r.dtype.type(-0.0), r.dtype.type(0.0)), r)


def tmin(a, b):
    a, b = np.broadcast_arrays(a, b)
    return _order_zero(a, b, np.minimum)


def tmax(a, b):
    a, b = np.broadcast_arrays(a, b)
    return _order_zero(a, b, np.maximum)


def reduce_min(x, axis=None):
    return _fold(tmin, x, axis)


def reduce_max(x, axis=None):
    return _fold(tmax, x, axis)


def _fold(f, x, axis):
    x = x.ravel() if axis is None else np.moveaxis(x, axis, 0)
    if len(x) == 0:
        raise ValueError("empty reduction without identity")
    while len(x) > 1:
        h = len(x) // 2
        x = np.concatenate([f(x[:h], x[h : 2 * h]), x[2 * h :]])
    return x[0]


def sum_bound(x, axis=None, eps=2.0**-24):
    """TDSL: a float sum is at least as good as a pairwise one of small blocks. The allowance is
    (log2(n) + 8) rounding errors of the sum of magnitudes, plus the rounding of the result."""
    m = np.abs(np.asarray(x, np.float64)).sum(axis=axis)
    n = x.size if axis is None else x.shape[axis]
    return (math.ceil(math.log2(max(n, 2))) + 9) * eps * m


def add(id, label, kernel, **kw):
    CASES.append(
        Case(id=id, label=label, kind=KIND[id], tdsl=kw.pop("tdsl", f"{id}.tdsl"), kernel=kernel, **kw)
    )


def refuse(id, label, tdsl, *words):
    add(id, label, None, tdsl=tdsl, compare=("compile_error", *words))


def pair(f, g):
    return lambda *a: (f(*a), g(*a))


def up(f):
    """NumPy in float64, rounded once to float32."""
    return lambda *a: np.asarray(f(*(np.asarray(x, np.float64) for x in a)))


def down(f, t=np.float32):
    return lambda *a: np.asarray(f(*(np.asarray(x, np.float64) for x in a)), np.float64).astype(t)


def two_pass(x, axis=None, ddof=0):
    """Variance in float64, written out."""
    x = x.astype(np.float64)
    n = x.size if axis is None else x.shape[axis]
    d = x - x.mean(axis=axis, keepdims=True)
    return np.asarray((d * d).sum(axis=axis) / np.float64(n - ddof))
