"""Random well-typed TDSL kernels as text, and data to call them with.

`grow_file` draws every choice from one `random.Random`: a seeded one gives the fixed files of CI, that of
hypothesis (`strategies.randoms`) kernels that shrink. Sizes are tracked as texts: equal texts, equal sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorc.dtypes import BOOL, F32, F64, I32, I64, SUPPORTED, DType, promote
from tensorc.index_algebra import Poly
from tensorc.signature import Signature

SYMBOLS = ("N", "M", "K")
EXTENTS = (0, 1, 2, 7, 8, 9, 17, 64)
LONG = (257, 1030)
FIXED = ("1", "2", "7", "8", "9", "17")

HEADER = """\
dims N ~ 64, M ~ 17, K ~ 9
const HALF = 0.5
def centred(x) = x - mean(x, axis=-1, keepdims=true)
def squash(x, low=-1) { y = maximum(x, low); return minimum(y, 1) }
def spread(x) { a = max(x, axis=-1, keepdims=true); b = min(x, axis=-1, keepdims=true); return a, a - b }
def blend(c, a, b) = where(c, a, HALF * b)
"""

FLOAT_UNARY = (
    "abs", "sign", "negative", "square", "sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "log",
    "log1p", "sin", "cos", "tanh", "erf", "sigmoid", "relu", "floor", "ceil", "trunc", "round", "squash",
    "log2", "log10", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erfc", "cbrt",
)  # fmt: skip
INTEGER_UNARY = ("abs", "sign", "negative", "square", "relu", "~", "squash")
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "maximum", "minimum", "hypot", "atan2")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LITERALS = {
    "f": ("0.5", "-1.5", "2", "1e-3", "3.0", "1", "0.0", "-0.0", "inf", "pi"),
    "i": ("1", "2", "-3", "7", "0"),
    "b": ("true", "false"),
}


@dataclass(frozen=True, slots=True)
class Term:
    """An expression: its text (an operand as it stands), its type, its shape as size texts."""

    text: str
    dtype: DType
    shape: tuple[str, ...]


@dataclass(slots=True)
class _Kernel:
    random: Random
    terms: list[Term] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def pick(self, options: Sequence[Any]) -> Any:
        return options[self.random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def term(self, kinds: str = "bif", rank: int = 0) -> Term | None:
        """A known value of one of `kinds` with at least `rank` axes; late ones are likelier."""
        found = [t for t in self.terms if t.dtype.kind in kinds and len(t.shape) >= rank]
        if not found:
            return None
        late = found[-4:]
        return self.pick(late if self.chance(60) else found)  # type: ignore[no-any-return]

    def assign(self, text: str, dtype: DType, shape: tuple[str, ...]) -> Term:
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.terms.append(Term(name, dtype, shape))
        return self.terms[-1]


def grow_file(random: Random, kernels: int) -> str:
    """The text of a file of `kernels` kernels, `k0`, `k1`, ..."""
    return HEADER + "\n".join(grow_kernel(random, f"k{n}") for n in range(kernels)) + "\n"


def grow_kernel(random: Random, name: str) -> str:
    k = _Kernel(random)
    params = [_param(k, f"p{n}") for n in range(1 + random.randrange(3))]
    if k.chance(30):
        params.append("s: f32 = 0.75")
        k.terms.append(Term("s", F32, ()))
    for _ in range(2 + random.randrange(8)):
        _STATEMENTS[_weighted(k)](k)
    if not k.lines:  # every statement found nothing that fits
        k.assign(f"{k.terms[0].text} + {k.terms[0].text}", k.terms[0].dtype, k.terms[0].shape)
    results = _results(k)
    body = "\n".join(f"    {line}" for line in (*k.lines, f"return {', '.join(results)}"))
    return f"kernel {name}({', '.join(params)}) {{\n{body}\n}}"


def _param(k: _Kernel, name: str) -> str:
    dtype = SUPPORTED[k.pick(("f32", "f32", "f32", "f32", "f64", "f64", "i32", "i64", "bool"))]
    first = k.terms[0].shape if k.terms and k.chance(60) else None
    rank = k.pick((1, 1, 2, 2, 2, 3))
    # every symbol is bound by an axis that is just that symbol
    shape = first or tuple(k.pick(SYMBOLS if k.chance(75) else FIXED) for _ in range(rank))
    k.terms.append(Term(name, dtype, shape))
    return f"{name}: {dtype}[{', '.join(shape)}]"


def _results(k: _Kernel) -> list[str]:
    """The last value, and up to two others; now and then a parameter or the same value twice."""
    locals_ = [t.text for t in k.terms if t.text.startswith("t")]
    extra = [k.pick(locals_) for _ in range(k.pick((0, 0, 1, 2)))]
    if k.chance(5):
        extra.append("p0")
    return list(dict.fromkeys([*extra, locals_[-1]])) if k.chance(95) else [locals_[-1], locals_[-1]]


# -- shapes ------------------------------------------------------------------------------------------


def broadcast(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...] | None:
    """The shape of an elementwise operation, None where the sizes do not go together."""
    rank = max(len(a), len(b))
    left, right = ("1",) * (rank - len(a)) + a, ("1",) * (rank - len(b)) + b
    found = []
    for p, q in zip(left, right, strict=True):
        if p != q and "1" not in (p, q):
            return None
        found.append(q if p == "1" else p)
    return tuple(found)


def _sliced(extent: str, part: slice, text: str) -> str:
    """The extent of `x[part]`: a number for a fixed one, else a text that only this slice gives."""
    if text == "::-1":
        return extent
    return str(len(range(int(extent))[part])) if extent.isdecimal() else f"{extent}[{text}]"


# -- statements --------------------------------------------------------------------------------------


def _partner(k: _Kernel, x: Term, kinds: str) -> Term:
    """An operand that goes with `x`: a literal, a scalar, or a value whose shape broadcasts."""
    fits = [t for t in k.terms if t.dtype.kind in kinds and broadcast(x.shape, t.shape) is not None]
    if fits and k.chance(70):
        return k.pick(fits[-6:])  # type: ignore[no-any-return]
    if x.dtype.is_float and k.chance(10) and x.shape and x.shape[0] in SYMBOLS:
        return Term(x.shape[0], x.dtype, ())
    return Term(k.pick(LITERALS[x.dtype.kind if x.dtype.kind in kinds else kinds[0]]), x.dtype, ())


def _unary(k: _Kernel) -> None:
    x = k.term("if")
    if x is None:
        return
    function = k.pick(FLOAT_UNARY if x.dtype.is_float else INTEGER_UNARY)
    k.assign(f"~{x.text}" if function == "~" else f"{function}({x.text})", x.dtype, x.shape)


def _arithmetic(k: _Kernel) -> None:
    x = k.term("if")
    if x is None:
        return
    y = _partner(k, x, "if")
    op = k.pick(ARITHMETIC)
    dtype = promote(x.dtype, y.dtype)
    if op in ("/", "hypot", "atan2") and not dtype.is_float:
        dtype = F64
    shape = broadcast(x.shape, y.shape)
    assert shape is not None
    if k.chance(40):
        x, y = y, x
    k.assign(f"{op}({x.text}, {y.text})" if op.isalnum() else f"{x.text} {op} {y.text}", dtype, shape)


def _chained(k: _Kernel) -> None:
    """A longer expression of one value, as users write them."""
    x = k.term("f")
    if x is None:
        return
    text = k.pick(
        (
            "{x} * {x} + {x}",
            "0.5 * {x} * (1 + erf({x} * 0.7071))",
            "exp(-{x} * {x}) / (1 + abs({x}))",
            "({x} - 1) * ({x} + 1) - {x} ** 2",
            "-{x} + abs({x}) ** 3",
            "abs({x}) ** ({x} * 0.5)",
            "{x} ** -1 + {x} ** 0.5",
            "fma({x}, 2, {x})",
            "copysign({x}, sin({x}))",
            "clip({x}, -1, 1.5)",
            "sqrt(abs({x})) * sigmoid({x}) - log1p(abs({x}))",
        )
    )
    k.assign(text.format(x=x.text), x.dtype, x.shape)


def _comparison(k: _Kernel) -> None:
    x = k.term("if")
    if x is None:
        return
    y = _partner(k, x, "if")
    shape = broadcast(x.shape, y.shape)
    assert shape is not None
    k.assign(f"{x.text} {k.pick(COMPARISONS)} {y.text}", BOOL, shape)


def _logic(k: _Kernel) -> None:
    x = k.term("b")
    if x is None:
        y = k.term("f")
        if y is not None:
            k.assign(f"{k.pick(('isnan', 'isinf', 'isfinite'))}({y.text})", BOOL, y.shape)
        return
    y = _partner(k, x, "b")
    shape = broadcast(x.shape, y.shape)
    assert shape is not None
    if k.chance(25):
        k.assign(f"not {x.text}", BOOL, x.shape)
    else:
        k.assign(f"{x.text} {k.pick(('and', 'or', '&', '|', '^'))} {y.text}", BOOL, shape)


def _bits(k: _Kernel) -> None:
    x = k.term("i")
    if x is None:
        return
    y = _partner(k, x, "i")
    shape = broadcast(x.shape, y.shape)
    assert shape is not None
    if k.chance(15):
        k.assign(f"{x.text} ** ({y.text} & 7)", promote(x.dtype, y.dtype), shape)
        return
    if k.chance(15):
        k.assign(f"{x.text} ** {k.pick(('2', '3'))}", x.dtype, x.shape)
        return
    k.assign(f"{x.text} {k.pick(('&', '|', '^', '<<', '>>'))} {y.text}", promote(x.dtype, y.dtype), shape)


def _where(k: _Kernel) -> None:
    c = k.term("b")
    x = k.term("bif")
    if c is None or x is None or broadcast(c.shape, x.shape) is None:
        return
    y = _partner(k, x, "if" if x.dtype.kind in "if" else "b")
    both = broadcast(x.shape, y.shape)
    shape = None if both is None else broadcast(c.shape, both)
    if shape is None:
        return
    if x.dtype.is_float and k.chance(20):
        k.assign(
            f"blend({c.text}, {x.text}, {y.text})",
            promote(x.dtype, y.dtype if y.dtype.is_float else F64),
            shape,
        )
        return
    k.assign(f"where({c.text}, {x.text}, {y.text})", promote(x.dtype, y.dtype), shape)


def _cast(k: _Kernel) -> None:
    x = k.term()
    if x is None:
        return
    target = k.pick((F32, F32, F64, I32, I64, BOOL))
    text = f"{target}({x.text})" if k.chance(50) else f"astype({x.text}, {target})"
    k.assign(text, target, x.shape)


REDUCTIONS = {
    "f": ("sum", "sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin"),
    "i": ("sum", "prod", "max", "min", "mean", "argmax", "argmin"),
    "b": ("any", "all", "sum"),
}


def _reduce(k: _Kernel) -> None:
    x = k.term(rank=1)
    if x is None:
        return
    kind = k.pick(REDUCTIONS[x.dtype.kind])
    axes = [a for a in range(len(x.shape)) if k.chance(50)] or [k.random.randrange(len(x.shape))]
    whole = k.chance(15)
    if whole:
        axes = list(range(len(x.shape)))
    elif kind.startswith("arg"):
        axes = axes[:1]
    keep = k.chance(35)
    shape = tuple("1" if n in axes else s for n, s in enumerate(x.shape) if keep or n not in axes)
    written = [a - len(x.shape) if k.chance(30) else a for a in axes]
    where = "" if whole else f", axis={written[0] if len(axes) == 1 else tuple(written)}"
    extra = ", correction=1" if kind in ("var", "std") and k.chance(40) else ""
    k.assign(
        f"{kind}({x.text}{where}{extra}{', keepdims=true' if keep else ''})", _reduced(kind, x.dtype), shape
    )


def _reduced(kind: str, dtype: DType) -> DType:
    if kind in ("any", "all"):
        return BOOL
    if kind.startswith("arg"):
        return I64
    if kind in ("sum", "prod"):
        return dtype if dtype.is_float else I64
    return dtype if dtype.is_float or kind in ("max", "min") else F64


def _rows(k: _Kernel) -> None:
    """A statistic of every row, used on the row again: what fuses into one row loop."""
    x = k.term("f", rank=2)
    if x is None:
        return
    text = k.pick(("centred({x})", "{x} / (1 + sum(abs({x}), axis=-1, keepdims=true))",
                   "exp({x} - max({x}, axis=-1, keepdims=true))", "{x} * mean({x}, axis=0)"))  # fmt: skip
    k.assign(text.format(x=x.text), x.dtype, x.shape)


def _pair(k: _Kernel) -> None:
    """A `def` with two results."""
    x = k.term("f", rank=1)
    if x is None:
        return
    first, second = f"t{len(k.lines)}", f"u{len(k.lines)}"
    k.lines.append(f"{first}, {second} = spread({x.text})")
    shape = (*x.shape[:-1], "1")
    k.terms.extend(Term(name, x.dtype, shape) for name in (first, second))


SLICES = (
    (slice(1, -1), "1:-1"),
    (slice(None, -1), ":-1"),
    (slice(2, None), "2:"),
    (slice(None, None, 2), "::2"),
    (slice(None, None, -1), "::-1"),
    (slice(1, None, 3), "1::3"),
    (slice(-3, None), "-3:"),
    (slice(None, 4), ":4"),
)


def _slice(k: _Kernel) -> None:
    x = k.term(rank=1)
    if x is None:
        return
    parts, shape = [], []
    for extent in x.shape:
        if extent.isdecimal() and int(extent) > 0 and k.chance(20):
            parts.append(str(k.pick((0, -1, int(extent) - 1))))
        elif k.chance(60):
            part, text = k.pick(SLICES)
            parts.append(text)
            shape.append(_sliced(extent, part, text))
        else:
            parts.append(":")
            shape.append(extent)
        if k.chance(8) and len(x.shape) < 3:
            parts.append("None")
            shape.append("1")
    k.assign(f"{x.text}[{', '.join(parts)}]", x.dtype, tuple(shape))


def _layout(k: _Kernel) -> None:
    x = k.term(rank=1)
    if x is None:
        return
    rank = len(x.shape)
    options = ["expand"] if rank < 3 else []
    options += ["permute", "mT"] if rank >= 2 else []
    options += ["squeeze"] if "1" in x.shape else []
    options += ["broadcast"] if all(s.isdecimal() or s in SYMBOLS for s in x.shape) and rank < 3 else []
    match k.pick(options or ["none"]):
        case "expand":
            axis = k.random.randrange(rank + 1)
            k.assign(f"expand_dims({x.text}, {axis})", x.dtype, (*x.shape[:axis], "1", *x.shape[axis:]))
        case "permute":
            order = list(range(rank))
            k.random.shuffle(order)
            k.assign(f"permute_dims({x.text}, {tuple(order)})", x.dtype, tuple(x.shape[a] for a in order))
        case "mT":
            k.assign(f"{x.text}.mT", x.dtype, (*x.shape[:-2], x.shape[-1], x.shape[-2]))
        case "squeeze":
            axis = x.shape.index("1")
            k.assign(f"squeeze({x.text}, {axis})", x.dtype, (*x.shape[:axis], *x.shape[axis + 1 :]))
        case "broadcast":
            shape = (k.pick(("2", "3")), *x.shape)
            k.assign(f"broadcast_to({x.text}, ({', '.join(shape)}))", x.dtype, shape)


def _added(*extents: str) -> str:
    return str(sum(map(int, extents))) if all(e.isdecimal() for e in extents) else "+".join(extents)


def _times(count: int, extent: str) -> str:
    return str(count * int(extent)) if extent.isdecimal() else extent if count == 1 else f"{count}*({extent})"


def _join(k: _Kernel) -> None:
    """concat and stack of values that fit, a value with itself among them."""
    x = k.term(rank=1)
    if x is None:
        return
    rank = len(x.shape)
    if rank < 3 and k.chance(30):
        y = k.pick([t for t in k.terms if t.shape == x.shape])
        at = k.random.randrange(rank + 1)
        shape = (*x.shape[:at], "2", *x.shape[at:])
        k.assign(f"stack(({x.text}, {y.text}), axis={at})", promote(x.dtype, y.dtype), shape)
        return
    at = k.random.randrange(rank)

    def others(shape: tuple[str, ...]) -> tuple[str, ...]:
        return (*shape[:at], *shape[at + 1 :])

    fits = [t for t in k.terms if len(t.shape) == rank and others(t.shape) == others(x.shape)]
    parts = [x, *(k.pick(fits) for _ in range(1 + k.random.randrange(2)))]
    k.random.shuffle(parts)
    dtype = parts[0].dtype
    for t in parts[1:]:
        dtype = promote(dtype, t.dtype)
    extent = _added(*(t.shape[at] for t in parts))
    texts = ", ".join(t.text for t in parts)
    written = at - rank if k.chance(30) else at
    k.assign(f"concat(({texts}), axis={written})", dtype, (*x.shape[:at], extent, *x.shape[at + 1 :]))


def _pad(k: _Kernel) -> None:
    x = k.term(rank=1)
    if x is None:
        return
    mode = k.pick(("constant", "constant", "constant", "edge", "reflect", "wrap"))
    most = 3 if mode == "constant" else 2
    widths = [(k.random.randrange(most), k.random.randrange(most)) for _ in x.shape]
    if mode != "constant":  # nothing to repeat or to mirror is a compile error where it is plain
        short = [e.isdecimal() and int(e) < 2 for e in x.shape]
        widths = [(0, 0) if few else w for few, w in zip(short, widths, strict=True)]
    value = f", value={k.pick(LITERALS[x.dtype.kind])}" if mode == "constant" and k.chance(60) else ""
    shape = tuple(e if w == (0, 0) else _added(e, str(sum(w))) for e, w in zip(x.shape, widths, strict=True))
    written = f"({', '.join(map(str, widths))},)"
    k.assign(f'pad({x.text}, {written}, mode="{mode}"{value})', x.dtype, shape)


def _shuffle(k: _Kernel) -> None:
    """roll, tile and repeat."""
    x = k.term(rank=1)
    if x is None:
        return
    rank = len(x.shape)
    at = k.random.randrange(rank)
    match k.pick(("roll", "roll", "tile", "repeat")):
        case "roll":
            where = "" if k.chance(25) else f", axis={at}"
            k.assign(f"roll({x.text}, {k.pick((1, -1, 3, -20, 100))}{where})", x.dtype, x.shape)
        case "tile":
            counts = [k.pick((1, 1, 2, 3)) for _ in x.shape]
            shape = tuple(_times(c, e) for c, e in zip(counts, x.shape, strict=True))
            k.assign(f"tile({x.text}, ({', '.join(map(str, counts))},))", x.dtype, shape)
        case "repeat":
            count = k.pick((1, 2, 3))
            shape = (*x.shape[:at], _times(count, x.shape[at]), *x.shape[at + 1 :])
            k.assign(f"repeat({x.text}, {count}, axis={at})", x.dtype, shape)


def _create(k: _Kernel) -> None:
    x = k.term(rank=1)
    if x is None or not all(s.isdecimal() or s in SYMBOLS for s in x.shape):
        return
    if k.chance(60):
        k.assign(f"f32(arange({x.shape[-1]})) * 0.25", F32, x.shape[-1:])
    else:
        shape = f"({', '.join(x.shape)},)"
        k.assign(f"full({shape}, 1.5, dtype=f32)", F32, x.shape)


def _matmul(k: _Kernel) -> None:
    x = k.term("if", rank=2)
    if x is None:
        return
    y = k.pick([t for t in k.terms if len(t.shape) == len(x.shape) and t.dtype == x.dtype])
    if y.shape[:-2] != x.shape[:-2]:
        return
    if y.shape[-2] == x.shape[-1]:
        k.assign(f"{x.text} @ {y.text}", x.dtype, (*x.shape[:-1], y.shape[-1]))
    elif y.shape[-1] == x.shape[-1]:
        k.assign(f"{x.text} @ {y.text}.mT", x.dtype, (*x.shape[:-1], y.shape[-2]))


_STATEMENTS = (
    _unary, _arithmetic, _chained, _comparison, _logic, _bits, _where, _cast, _reduce, _rows, _pair, _slice,
    _layout, _create, _matmul, _join, _pad, _shuffle,
)  # fmt: skip
_WEIGHTS = (14, 18, 8, 5, 4, 4, 8, 6, 18, 7, 3, 9, 9, 3, 4, 9, 5, 5)


def _weighted(k: _Kernel) -> int:
    at = k.random.randrange(sum(_WEIGHTS))
    for n, weight in enumerate(_WEIGHTS):
        at -= weight
        if at < 0:
            return n
    raise AssertionError("weights cover the range")


# -- data --------------------------------------------------------------------------------------------

FLOAT_SPECIALS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, -1e30, 0.5, 1.0, 88.0, -104.0)


def draw_sizes(random: Random, signature: Signature) -> dict[str, int]:
    """A value for every dim: mostly odd vector tails, now and then an empty axis, or one long one."""
    free = [d.name for d in signature.dims if d.fixed is None]
    sizes = {name: random.choice(EXTENTS[1:]) if random.randrange(12) else 0 for name in free}
    if any(len(p.shape) == 3 for p in signature.params):
        sizes = {name: min(size, 17) for name, size in sizes.items()}
    once = [name for name in free if all(_uses(p.shape, name) <= 1 for p in signature.params)]
    if once and random.randrange(5) == 0:
        sizes[random.choice(once)] = random.choice(LONG)
    return sizes


def _uses(shape: tuple[Poly, ...], name: str) -> int:
    return sum(name in size.dims() for size in shape)


def draw_arguments(random: Random, signature: Signature, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Arrays for every parameter, half of them strided; scalars only sometimes."""
    rng = np.random.default_rng(random.randrange(1 << 30))
    found: dict[str, Any] = {}
    calm = random.randrange(3) > 0  # two calls of three have no specials, else NaN hides everything
    for p in signature.params:
        if not p.shape:
            if random.randrange(2):
                found[p.name] = 1.25
            continue
        shape = tuple(s.evaluate(sizes) for s in p.shape)
        values = _draw(rng, p.dtype, shape, calm)
        found[p.name] = _strided(values) if random.randrange(2) else values
    return found


def _draw(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...], calm: bool) -> npt.NDArray[Any]:
    if dtype.is_bool:
        return np.asarray(rng.random(shape) < 0.5)
    if not dtype.is_float:
        info = np.iinfo(dtype.numpy)
        small = rng.integers(-9, 10, shape)
        wide = rng.integers(info.min, info.max, shape, endpoint=True)
        return np.where(rng.random(shape) < (1.0 if calm else 0.7), small, wide).astype(dtype.numpy)
    values = np.where(rng.random(shape) < 0.6, rng.normal(size=shape), rng.integers(-4, 5, shape))
    if not calm:
        special = rng.choice(FLOAT_SPECIALS, shape)
        values = np.where(rng.random(shape) < 0.15, special, values)
    with np.errstate(over="ignore"):
        return np.asarray(values, dtype.numpy)


def _strided(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same values as every second column of a wider array, in reversed memory order."""
    wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
    view = wide[..., ::-2]
    view[...] = values
    return view
