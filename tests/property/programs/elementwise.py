"""Elementwise statements: arithmetic, functions, comparisons, logic, bits, where and casts."""

from __future__ import annotations

from programs.growing import Kernel, Term, broadcast, statement
from tensorc.dtypes import BOOL, F32, F64, I32, I64, SUPPORTED, float_of, promote

FLOAT_UNARY = (
    "abs", "sign", "negative", "square", "sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "log",
    "log1p", "sin", "cos", "tanh", "erf", "sigmoid", "relu", "floor", "ceil", "trunc", "round", "squash",
    "log2", "log10", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erfc", "cbrt",
    "silu", "gelu", "softplus",
)  # fmt: skip
INTEGER_UNARY = ("abs", "sign", "negative", "square", "relu", "~", "squash")
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "maximum", "minimum", "hypot", "atan2", "logaddexp")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@statement(14)
def unary(k: Kernel) -> None:
    x = k.term("if")
    if x is None:
        return
    function = k.pick(FLOAT_UNARY if x.dtype.is_float else INTEGER_UNARY)
    if x.dtype.is_unsigned and function == "squash":  # its -1 is none of them
        function = "abs"
    if not x.dtype.is_float and k.chance(15):
        function = k.pick(("exp", "sqrt", "atan", "silu", "softplus"))
        k.assign(f"{function}({x.text})", float_of(x.dtype), x.shape)
        return
    k.assign(f"~{x.text}" if function == "~" else f"{function}({x.text})", x.dtype, x.shape)


@statement(18)
def arithmetic(k: Kernel) -> None:
    x = k.term("if")
    if x is None:
        return
    y = k.partner(x, "if")
    op = k.pick(ARITHMETIC)
    dtype = promote(x.dtype, y.dtype)
    if op in ("hypot", "atan2", "logaddexp"):
        dtype = promote(float_of(x.dtype), float_of(y.dtype))
    if op == "/" and not dtype.is_float:
        dtype = F64
    shape = broadcast(x.shape, y.shape)
    assert shape is not None
    if k.chance(40):
        x, y = y, x
    k.assign(f"{op}({x.text}, {y.text})" if op.isalnum() else f"{x.text} {op} {y.text}", dtype, shape)


@statement(8)
def chained(k: Kernel) -> None:
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
            "{x} / 3 - {x} * 0.7 + 5",
            "({x} * 3) * 0.1 - 2 + 5",
            "{x} ** 3 + {x} ** 5 * 2",
        )
    )
    k.assign(text.format(x=x.text), x.dtype, x.shape)


@statement(3)
def several(k: Kernel) -> None:
    """A function of two or three values that the other statements do not have."""
    x = k.term("f")
    if x is None:
        return
    y = k.partner(x, "f")
    z = k.partner(Term("", x.dtype, broadcast(x.shape, y.shape) or ()), "f")
    shape = broadcast(broadcast(x.shape, y.shape) or (), z.shape)
    assert shape is not None
    text = k.pick(("fma({x}, {y}, {z})", "clip({x}, {y}, {z})", "{x} ** {y} + {z}", "{y} - {x} * {z}"))
    dtype = promote(promote(x.dtype, y.dtype), z.dtype)
    k.assign(text.format(x=x.text, y=y.text, z=z.text), dtype, shape)


@statement(5)
def comparison(k: Kernel) -> None:
    x = k.term("if")
    if x is None:
        return
    y = k.partner(x, "if")
    shape = broadcast(x.shape, y.shape)
    assert shape is not None
    k.assign(f"{x.text} {k.pick(COMPARISONS)} {y.text}", BOOL, shape)


@statement(4)
def logic(k: Kernel) -> None:
    x = k.term("b")
    if x is None:
        y = k.term("f")
        if y is not None:
            k.assign(f"{k.pick(('isnan', 'isinf', 'isfinite'))}({y.text})", BOOL, y.shape)
        return
    y = k.partner(x, "b")
    shape = broadcast(x.shape, y.shape)
    assert shape is not None
    if k.chance(25):
        k.assign(f"not {x.text}", BOOL, x.shape)
    else:
        k.assign(f"{x.text} {k.pick(('and', 'or', '&', '|', '^'))} {y.text}", BOOL, shape)


@statement(4)
def bits(k: Kernel) -> None:
    x = k.term("i")
    if x is None:
        return
    y = k.partner(x, "i")
    shape = broadcast(x.shape, y.shape)
    assert shape is not None
    if promote(x.dtype, y.dtype).is_float:  # i64 with u64
        return
    if k.chance(15):
        k.assign(f"{x.text} ** ({y.text} & 7)", promote(x.dtype, y.dtype), shape)
        return
    if k.chance(15):
        k.assign(f"{x.text} ** {k.pick(('2', '3'))}", x.dtype, x.shape)
        return
    k.assign(f"{x.text} {k.pick(('&', '|', '^', '<<', '>>'))} {y.text}", promote(x.dtype, y.dtype), shape)


@statement(8)
def where(k: Kernel) -> None:
    c = k.term("b")
    x = k.term("bif")
    if c is None or x is None or broadcast(c.shape, x.shape) is None:
        return
    y = k.partner(x, "if" if x.dtype.domain in "if" else "b")
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


@statement(6)
def cast(k: Kernel) -> None:
    x = k.term()
    if x is None:
        return
    target = k.pick((F32, F32, F64, I32, I64, BOOL, *SUPPORTED.values()))
    text = f"{target}({x.text})" if k.chance(50) else f"astype({x.text}, {target})"
    k.assign(text, target, x.shape)
