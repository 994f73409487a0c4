"""Products that must not vanish, elementary functions, subnormals and stable compositions."""

from __future__ import annotations

import math
import threading

import numpy as np

from cases.kit import (
    INF,
    LENGTHS,
    MAX,
    MIN,
    NAN,
    add,
    down,
    every,
    f32,
    f64,
    tiled,
    tiled2,
    up,
)

_c09 = [NAN, INF, 1, -1, -INF, 0.0, -0.0]
_c09_want = lambda t: (
    lambda x: (
        np.resize(t([NAN, NAN, 0, -0.0, NAN, 0, -0.0]), 7),
        np.resize(t([NAN, NAN, 0, 0, NAN, 0, 0]), 7),
        np.resize(t([NAN, NAN, 0, -0.0, NAN, 0, -0.0]), 7),
    )
)
for _t, _n in ((f32, "f_f32"), (f64, "f_f64")):
    add("C09", _n, _n, inputs=(_t(_c09),), expected=_c09_want(_t), ref=lambda x: (x * 0, x - x, 0.0 * x))
    add(
        "C09",
        _n + "_lengths",
        _n,
        sweep=tiled(_c09, _t(0).dtype),
        ref=lambda x: (x * 0, x - x, 0.0 * x),
        expected=lambda x: tuple(
            np.array([g(v) if math.isfinite(v) else NAN for v in x.tolist()], x.dtype)
            for g in (lambda v: math.copysign(0, v), lambda v: 0.0, lambda v: math.copysign(0, v))
        ),
    )
add(
    "C09",
    "ints",
    "f_i32",
    sweep=tiled([1, -1, MIN["i4"], MAX["i4"]], "i4"),
    expected=lambda x: (np.zeros_like(x),) * 2,
    ref=lambda x: (x * 0, x - x),
)

add(
    "C11",
    "scale64",
    "scale64",
    inputs=(f64([1, 3, 1e16]),),
    expected=f64([0.12, 0.36, 1.2e15]) + f64([1e-17, 0, 0]),
    ref=lambda x: x * 0.12 + 1e-17,
)
add(
    "C11",
    "scale32",
    "scale32",
    inputs=(f32([1, 3, 1e16, 0]),),
    expected=f32([0.12, 0.35999998450279236, 1.2e15, 1e-17]),
    ref=lambda x: x * np.float32(0.12) + np.float32(1e-17),
)
add(
    "C11",
    "big64",
    "big64",
    inputs=(f64([1, 2]),),
    expected=f64([123456789, 246913578]),
    ref=lambda x: x * 123456789.0,
)
add(
    "C11",
    "big32",
    "big32",
    inputs=(f32([1, 2]),),
    expected=f32([123456792, 246913584]),
    ref=lambda x: x * np.float32(123456789.0),
)
add(
    "C11",
    "third64",
    "third64",
    inputs=(f64([1, 3, 7]),),
    expected=f64([0.3333333333333333, 1, 2.333333333333333]),
    ref=lambda x: x * (1 / 3),
)
add(
    "C11",
    "edges",
    "edges",
    inputs=(f64([1, 0.5, 3]),),
    expected=(
        f64([5e-324, 0, 1.5e-323]),
        f64([1.7976931348623157e308, 8.988465674311579e307, INF]),
        f64([0.1, 0.05, 0.30000000000000004]),
    ),
    ref=lambda x: (x * 5e-324, x * 1.7976931348623157e308, x * 0.1),
)

# f32 within 1 ulp for elementary functions. erf and friends come from the C
# library's f64.
_tiny, _max = 1.1754943508222875e-38, 3.4028234663852886e38
_any = [
    0.0,
    -0.0,
    INF,
    -INF,
    NAN,
    1e-40,
    -1e-40,
    1.4e-45,
    -1.4e-45,
    _tiny,
    1.279174322e-38,
    1e-20,
    1e-4,
    -1e-4,
    0.1,
    0.25,
    0.5,
    -0.5,
    0.75,
    0.99999994,
    1.0,
    -1.0,
    1.0000001,
    1.5,
    2.0,
    -2.0,
    2.7182817,
    3.1415927,
    3.9,
    -3.9,
    6.5,
    9.1,
    -9.1,
    10.0,
    20.0,
    -20.0,
    30.5,
    64.0,
    -87.4,
    87.4,
    88.7,
    88.73,
    -103.9,
    -104.0,
    89.4,
    -89.4,
    128.0,
    -126.5,
    -149.0,
    1e5,
    1e10,
    -1e10,
    1e30,
    -1e30,
    _max,
    -_max,
]


def _safe(f):
    """A math function without exceptions: NumPy's rules for domain and overflow."""

    def g(x):
        try:
            return f(x)
        except OverflowError:
            return INF if x > 0 or f in (math.cosh,) else -INF
        except ValueError:
            return NAN

    return g


_sig = lambda x: 1 / (1 + np.exp(-x))
_F = {  # name -> (float64 NumPy, the C library or an identity as the second source)
    "exp": (np.exp, math.exp),
    "exp2": (np.exp2, math.exp2),
    "expm1": (np.expm1, math.expm1),
    "log": (np.log, lambda x: -INF if x == 0 else math.log(x)),
    "log2": (np.log2, lambda x: -INF if x == 0 else math.log2(x)),
    "log10": (np.log10, lambda x: -INF if x == 0 else math.log10(x)),
    "log1p": (np.log1p, lambda x: -INF if x == -1 else math.log1p(x)),
    "sin": (np.sin, math.sin),
    "cos": (np.cos, math.cos),
    "tan": (np.tan, math.tan),
    "asin": (np.arcsin, math.asin),
    "acos": (np.arccos, math.acos),
    "atan": (np.arctan, math.atan),
    "sinh": (np.sinh, math.sinh),
    "cosh": (np.cosh, math.cosh),
    "tanh": (np.tanh, math.tanh),
    "asinh": (np.arcsinh, math.asinh),
    "acosh": (np.arccosh, math.acosh),
    "atanh": (np.arctanh, lambda x: math.copysign(INF, x) if abs(x) == 1 else math.atanh(x)),
    "erf": (every(math.erf), lambda x: math.erf(x)),
    "erfc": (every(math.erfc), lambda x: math.erfc(x)),
    "sqrt": (np.sqrt, math.sqrt),
    "cbrt": (np.cbrt, math.cbrt),
    "rsqrt": (
        lambda x: 1 / np.sqrt(x),
        lambda x: math.copysign(INF, x) if x == 0 else 0.0 if x == INF else 1 / math.sqrt(x),
    ),
    "reciprocal": (lambda x: 1 / x, lambda x: math.copysign(INF, x) if x == 0 else 1 / x),
    "sigmoid": (_sig, lambda x: 0.0 if x < -745 else 1 / (1 + math.exp(-x))),
}
for _name, (_np, _c) in _F.items():
    # sqrt and 1/x are IEEE operations, rsqrt and sigmoid are two of them: language.md gives no bound
    # for sigmoid, 2 is used
    _n = {"sqrt": 0.5, "reciprocal": 0.5, "sigmoid": 2}.get(_name, 1)
    add(
        "C12",
        _name,
        f"k_{_name}",
        sweep=tiled(_any, "f4", (1, 3, 7, 8, 9, 16, 17, 33, 61)),
        expected=up(_np),
        dtype="f4",
        compare=("ulp", _n),
        ref=down(every(_safe(_c))),
    )


def _c12_lanes():
    for v in (0.7, -0.3, 88.7, 1e-40, 9.1, 1e5):
        for n in LENGTHS:
            yield f"x={v}", (np.full(n, v, np.float32),)


for _name in ("exp", "log1p", "sin", "tanh", "erf", "sigmoid"):
    add(
        "C12",
        _name + "_lanes",
        f"k_{_name}",
        sweep=_c12_lanes,
        expected=up(_F[_name][0]),
        dtype="f4",
        same_bits=True,
        compare=("ulp", 2 if _name == "sigmoid" else 1),
        ref=down(every(_safe(_F[_name][1]))),
    )
add(
    "C12",
    "signed_zero",
    "k_tanh",
    inputs=(f32([-0.0, 0.0, 20, -20]),),
    expected=f32([-0.0, 0.0, 1, -1]),
    ref=np.tanh,
)
add("C12", "signed_zero_sin", "k_sin", inputs=(f32([-0.0, 0.0]),), expected=f32([-0.0, 0.0]), ref=np.sin)
add(
    "C12",
    "signed_zero_erf",
    "k_erf",
    inputs=(f32([-0.0, 0.0, INF, -INF]),),
    expected=f32([-0.0, 0.0, 1, -1]),
    ref=down(every(math.erf)),
)
add(
    "C12",
    "exp_log_values",
    "k_exp",
    inputs=(f32([88.7, 88.73, -87.4, -103.9, -104.0, 0.0, -0.0, 1e-40]),),
    dtype="f4",
    compare=("ulp", 1),
    expected=f64(
        [
            3.3259768301593062e38,
            3.427289868834751e38,
            1.1032187108696068e-38,
            7.53013335774739e-46,
            6.813556821545298e-46,
            1,
            1,
            1,
        ]
    ),
    ref=down(np.exp),
)

_P = (
    [2, 2, -2, -8, 0, 0, -0.0, 1, NAN, INF, -INF, -INF, 1.0000001, 10, 10, 0.5, 9, 3, -1, -1, 1e-20],
    [0.5, -149, 3, 1 / 3, 0, -1, -3, NAN, 0, -1, 3, 2, 1e7, 38, -44, 130, 0.5, 40, INF, 1e9, 2],
)
add(
    "C12",
    "pow",
    "k_pow",
    sweep=tiled2(*_P, "f4"),
    expected=up(np.power),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(np.power),
)
add(
    "C12",
    "pow_grid",
    "k_pow",
    inputs=lambda: tuple(
        f32(v.ravel()) for v in np.meshgrid(np.geomspace(1e-3, 50, 97), np.linspace(-20, 20, 101))
    ),
    expected=up(np.power),
    dtype="f4",
    compare=("ulp", 1),
    ref=lambda x, y: f32(every(math.pow)(x, y)),
)
_AT = (
    [0.0, -0.0, 0.0, -0.0, 1, -1, INF, -INF, INF, NAN, 1e-40, 3, -3, 1],
    [1, 1, -1, -1, 0, 0, INF, INF, -INF, 1, 1, -4, -4, 1e30],
)
add(
    "C12",
    "atan2",
    "k_atan2",
    sweep=tiled2(*_AT, "f4"),
    expected=up(np.arctan2),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(every(math.atan2)),
)
add(
    "C12",
    "hypot",
    "k_hypot",
    sweep=tiled2(
        [3, 1e30, 1e-30, INF, NAN, INF, 0, -0.0, 1e-40], [4, 1e30, 1e-30, NAN, INF, 1, 0, -5, 0], "f4"
    ),
    expected=up(np.hypot),
    dtype="f4",
    compare=("ulp", 1),
    ref=down(every(math.hypot)),
)

# f64: correctly rounded values computed with 60 digits; 2 ulp are allowed
_D = {
    "exp": (
        [709.0, 709.78, -708.0, -744.5, 1e-10, -0.5, 1.0],
        [
            8.218407461554972e307,
            1.7928227943945155e308,
            3.307553003638408e-308,
            5e-324,
            1.0000000001,
            0.6065306597126334,
            2.718281828459045,
        ],
    ),
    "log": (
        [5e-324, 1e-308, 0.5, 1.0000000000000002, 0.9999999999999999, 1e308, 2.0],
        [
            -744.4400719213812,
            -709.1962086421661,
            -0.6931471805599453,
            2.2204460492503128e-16,
            -1.1102230246251565e-16,
            709.1962086421661,
            0.6931471805599453,
        ],
    ),
    "expm1": (
        [1e-10, -1e-10, 1e-300, 0.5, -40.0, 709.0],
        [1.00000000005e-10, -9.999999999500001e-11, 1e-300, 0.6487212707001282, -1.0, 8.218407461554972e307],
    ),
    "log1p": (
        [1e-10, -1e-10, 1e-300, -0.9999999999999999, 0.5, 1e300],
        [
            9.999999999500001e-11,
            -1.00000000005e-10,
            1e-300,
            -36.7368005696771,
            0.4054651081081644,
            690.7755278982137,
        ],
    ),
    "sin": (
        [100000.0, 0.1, 3.141592653589793, 22.0, 1000000000000000.0, -1e-10],
        [
            0.03574879797201651,
            0.09983341664682815,
            1.2246467991473532e-16,
            -0.008851309290403876,
            0.8582727931702359,
            -1e-10,
        ],
    ),
    "cos": (
        [100000.0, 0.1, 1.5707963267948966, 11.0, 1000000000000000.0, -1e-10],
        [
            -0.9993608074382124,
            0.9950041652780258,
            6.123233995736766e-17,
            0.004425697988050785,
            -0.5131937377869703,
            1.0,
        ],
    ),
    "tan": (
        [100000.0, 0.1, 1.5707963267948966, 1.5, 0.7853981633974483],
        [
            -0.035771662952898776,
            0.10033467208545055,
            1.633123935319537e16,
            14.101419947171719,
            0.9999999999999999,
        ],
    ),
    "sinh": (
        [710.4, -710.4, 1e-10, 0.5, 20.0],
        [1.6663642832806496e308, -1.6663642832806496e308, 1e-10, 0.5210953054937474, 242582597.70489514],
    ),
    "tanh": (
        [0.5, -0.5, 1e-10, 19.0, 22.5, 0.01],
        [0.46211715726000974, -0.46211715726000974, 1e-10, 0.9999999999999999, 1.0, 0.00999966667999946],
    ),
    "erf": (
        [0.5, -0.5, 1e-10, 3.9, 6.5, 0.01],
        [
            0.5204998778130465,
            -0.5204998778130465,
            1.1283791670955126e-10,
            0.9999999652077514,
            1.0,
            0.011283415555849618,
        ],
    ),
    "erfc": (
        [0.5, -0.5, 1e-10, 3.9, 26.0, 10.0],
        [
            0.4795001221869535,
            1.5204998778130465,
            0.999999999887162,
            3.4792248597231765e-08,
            5.663192408856143e-296,
            2.088487583762545e-45,
        ],
    ),
    "cbrt": (
        [27.0, -8.0, 1e-300, 5e-324, 2.0, 1e308],
        [3.0, -2.0, 1e-100, 1.7031839360032603e-108, 1.2599210498948732, 4.641588833612779e102],
    ),
}
for _name, (_x, _y) in _D.items():
    add(
        "C12",
        f"{_name}_f64",
        f"d_{_name}",
        inputs=(f64(_x),),
        expected=f64(_y),
        compare=("ulp", 2),
        ref=every(_safe(_F[_name][1])),
    )

_c14 = lambda: ((f"n={n}", (np.full(n, 0.09375, np.float32),)) for n in LENGTHS)
add(
    "C14",
    "tiny",
    "tiny",
    sweep=_c14,
    expected=lambda x: np.full(len(x), 4.408104e-39, np.float32),
    ref=lambda x: x * np.float32(2.0**-124),
)
add(
    "C14",
    "tiny_scalar",
    "tiny_s",
    sweep=lambda: ((l, (x, 2.0**-124)) for l, (x,) in _c14()),
    expected=lambda x, s: np.full(len(x), 4.408104e-39, np.float32),
    ref=lambda x, s: x * np.float32(s),
)
add(
    "C14",
    "keep",
    "keep",
    inputs=(f32([1e-40, 2e-45, -1e-40, 0, 1e-39] * 5),),
    expected=lambda x: (x, f32(math.fsum(map(float, x))), f32(x.astype("f8") / 2)),
    ref=lambda x: (x + np.float32(0), x.sum(dtype="f8").astype("f4"), x / np.float32(2)),
)
add(
    "C14",
    "keep64",
    "keep64",
    inputs=(f64([5e-324, 1e-308, -2e-308, 0] * 5),),
    expected=lambda x: (f64([0, 5e-309, -1e-308, 0] * 5), f64(1e-308)),
    ref=lambda x: (x * 0.5, x.max()),
)


def _denormal_alive():
    return float("5e-324") * float("1") != 0.0 and float("1e-310") / float("4") > 0.0


def s_float_mode(ctx):
    assert _denormal_alive(), "subnormals are flushed after the kernel was loaded"
    ctx["tiny"](np.full(100000, 0.09375, np.float32), threads=2)
    assert _denormal_alive(), "subnormals are flushed after the kernel ran"
    said = []
    t = threading.Thread(target=lambda: said.append(_denormal_alive()))
    t.start()
    t.join()
    assert said == [True], "subnormals are flushed in a thread started afterwards"


add(
    "C14",
    "process_mode",
    "tiny",
    compare="script",
    script=s_float_mode,
    ref=lambda x: x * np.float32(2.0**-124),
)


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


_I = INF
_c15 = f32([[1000, 1001, 1002], [-_I, 0, 0], [-_I, -_I, -_I], [-_I, _I, 0], [-1000, -1001, -1002]])
_c15_want = f64(
    [
        [0.09003057317038046, 0.24472847105479767, 0.6652409557748219],
        [0, 0.5, 0.5],
        [NAN] * 3,
        [NAN] * 3,
        [0.6652409557748219, 0.24472847105479767, 0.09003057317038046],
    ]
)
# no bound is promised for a composition: 8 ulp is exp, a short sum and a division with room to spare
add("C15", "rows", "rows", inputs=(_c15,), expected=_c15_want, dtype="f4", compare=("ulp", 8), ref=_softmax)
add(
    "C15",
    "cols",
    "cols",
    inputs=(_c15.T.copy(),),
    expected=_c15_want.T,
    dtype="f4",
    compare=("ulp", 8),
    ref=lambda x: _softmax(x, 0),
)
add("C15", "rows64", "rows64", inputs=(f64(_c15),), expected=_c15_want, compare=("rtol", 1e-14), ref=_softmax)
add("C15", "half_exact", "rows", inputs=(f32([[-_I, 0, 0]]),), expected=f32([[0, 0.5, 0.5]]), ref=_softmax)


def _c15_lengths():
    for n in LENGTHS:
        yield f"n={n}", (f32((np.arange(3 * n) * 37 % 101 - 50).reshape(3, n)),)


add(
    "C15",
    "lengths",
    "rows",
    sweep=_c15_lengths,
    expected=up(_softmax),
    dtype="f4",
    compare=("ulp", 8),
    ref=lambda x: f32(
        [
            [math.exp(v - max(r)) / math.fsum(math.exp(w - max(r)) for w in r) for v in r]
            for r in x.astype("f8").tolist()
        ]
    ),
)
