"""The operator table: one row per scalar operation, read by checker, interpreters and code generator.

An operand is already cast to the operation's type when it reaches one of these (`checks` inserts the
casts), so each row says which dtypes it exists for and what dtype it gives, not how operands mix.

Semantics (language contract, sections 4-6): integers wrap; `//` and `%` floor, by zero give 0;
shifts by the width or more give 0 or the sign; max and min propagate NaN and order -0 below +0;
float operations are IEEE, one rounding each, never contracted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Typing(StrEnum):
    """How an operation finds its computation type from its operands' promoted type."""

    SAME = "same"  # computes in and gives the promoted type
    FLOAT = "float"  # integers and bool become the narrowest float that holds them first, as in NumPy
    QUOTIENT = "quotient"  # integers and bool become f64 first, as NumPy's division has it
    COMPARE = "compare"  # computes in the promoted type, gives bool
    LOGICAL = "logical"  # bool operands only, gives bool
    BITS = "bits"  # integers and bool, gives the promoted type
    PREDICATE = "predicate"  # float test, gives bool
    WHERE = "where"  # first operand bool, the others promoted


@dataclass(frozen=True, slots=True)
class Operator:
    """One scalar operation.

    `cost` counts vector instructions on f32 lanes (for recompute-or-store); `domain` lists the kinds
    (b, i, f) it exists for after typing; `elementary` marks transcendental functions. `strict` names the
    operator of which this is the form for `math=fast`, on f32 alone: no program calls it by name.
    """

    name: str
    arity: int
    typing: Typing
    cost: int
    domain: str = "if"
    elementary: bool = False
    symbol: str = ""
    strict: str = ""


def _table(*rows: Operator) -> dict[str, Operator]:
    return {row.name: row for row in rows}


T = Typing

OPERATORS: dict[str, Operator] = _table(
    Operator("add", 2, T.SAME, 1, "bif", symbol="+"),
    Operator("subtract", 2, T.SAME, 1, symbol="-"),
    Operator("multiply", 2, T.SAME, 1, "bif", symbol="*"),
    Operator("divide", 2, T.QUOTIENT, 5, "f", symbol="/"),
    Operator("floor_divide", 2, T.SAME, 12, symbol="//"),
    Operator("remainder", 2, T.SAME, 12, symbol="%"),
    Operator("power", 2, T.SAME, 40, symbol="**"),
    Operator("negative", 1, T.SAME, 1),
    Operator("abs", 1, T.SAME, 1, "bif"),
    Operator("sign", 1, T.SAME, 4),
    Operator("square", 1, T.SAME, 1),
    Operator("maximum", 2, T.SAME, 5, "bif"),
    Operator("minimum", 2, T.SAME, 5, "bif"),
    Operator("relu", 1, T.SAME, 2),
    Operator("sqrt", 1, T.FLOAT, 6, "f"),
    Operator("rsqrt", 1, T.FLOAT, 11, "f"),
    Operator("reciprocal", 1, T.QUOTIENT, 5, "f"),
    Operator("floor", 1, T.SAME, 1, "bif"),
    Operator("ceil", 1, T.SAME, 1, "bif"),
    Operator("trunc", 1, T.SAME, 1, "bif"),
    Operator("round", 1, T.SAME, 1, "bif"),
    Operator("fma", 3, T.FLOAT, 1, "f"),
    Operator("copysign", 2, T.FLOAT, 2, "f"),
    Operator("exp", 1, T.FLOAT, 20, "f", elementary=True),
    Operator("exp2", 1, T.FLOAT, 18, "f", elementary=True),
    Operator("expm1", 1, T.FLOAT, 26, "f", elementary=True),
    Operator("log", 1, T.FLOAT, 24, "f", elementary=True),
    Operator("log1p", 1, T.FLOAT, 30, "f", elementary=True),
    Operator("sin", 1, T.FLOAT, 28, "f", elementary=True),
    Operator("cos", 1, T.FLOAT, 28, "f", elementary=True),
    Operator("tanh", 1, T.FLOAT, 30, "f", elementary=True),
    Operator("erf", 1, T.FLOAT, 34, "f", elementary=True),
    Operator("sigmoid", 1, T.FLOAT, 28, "f", elementary=True),
    Operator("silu", 1, T.FLOAT, 40, "f", elementary=True),
    Operator("gelu", 1, T.FLOAT, 34, "f", elementary=True),
    Operator("softplus", 1, T.FLOAT, 40, "f", elementary=True),
    Operator("logaddexp", 2, T.FLOAT, 115, "f", elementary=True),
    Operator("log2", 1, T.FLOAT, 40, "f", elementary=True),
    Operator("log10", 1, T.FLOAT, 40, "f", elementary=True),
    Operator("tan", 1, T.FLOAT, 70, "f", elementary=True),
    Operator("asin", 1, T.FLOAT, 52, "f", elementary=True),
    Operator("acos", 1, T.FLOAT, 64, "f", elementary=True),
    Operator("atan", 1, T.FLOAT, 60, "f", elementary=True),
    Operator("atan2", 2, T.FLOAT, 92, "f", elementary=True),
    Operator("sinh", 1, T.FLOAT, 60, "f", elementary=True),
    Operator("cosh", 1, T.FLOAT, 57, "f", elementary=True),
    Operator("asinh", 1, T.FLOAT, 84, "f", elementary=True),
    Operator("acosh", 1, T.FLOAT, 83, "f", elementary=True),
    Operator("atanh", 1, T.FLOAT, 80, "f", elementary=True),
    Operator("erfc", 1, T.FLOAT, 88, "f", elementary=True),
    Operator("cbrt", 1, T.FLOAT, 45, "f", elementary=True),
    Operator("hypot", 2, T.FLOAT, 27, "f", elementary=True),
    Operator("fast_sin", 1, T.FLOAT, 16, "f", elementary=True, strict="sin"),
    Operator("fast_cos", 1, T.FLOAT, 18, "f", elementary=True, strict="cos"),
    Operator("fast_tan", 1, T.FLOAT, 30, "f", elementary=True, strict="tan"),
    Operator("fast_sigmoid", 1, T.FLOAT, 22, "f", elementary=True, strict="sigmoid"),
    Operator("fast_silu", 1, T.FLOAT, 22, "f", elementary=True, strict="silu"),
    Operator("equal", 2, T.COMPARE, 1, "bif", symbol="=="),
    Operator("not_equal", 2, T.COMPARE, 1, "bif", symbol="!="),
    Operator("less", 2, T.COMPARE, 1, "bif", symbol="<"),
    Operator("less_equal", 2, T.COMPARE, 1, "bif", symbol="<="),
    Operator("greater", 2, T.COMPARE, 1, "bif", symbol=">"),
    Operator("greater_equal", 2, T.COMPARE, 1, "bif", symbol=">="),
    Operator("logical_and", 2, T.LOGICAL, 1, "b", symbol="and"),
    Operator("logical_or", 2, T.LOGICAL, 1, "b", symbol="or"),
    Operator("logical_not", 1, T.LOGICAL, 1, "b", symbol="not"),
    Operator("bitwise_and", 2, T.BITS, 1, "bi", symbol="&"),
    Operator("bitwise_or", 2, T.BITS, 1, "bi", symbol="|"),
    Operator("bitwise_xor", 2, T.BITS, 1, "bi", symbol="^"),
    Operator("bitwise_invert", 1, T.BITS, 1, "bi", symbol="~"),
    Operator("left_shift", 2, T.BITS, 3, "i", symbol="<<"),
    Operator("right_shift", 2, T.BITS, 3, "i", symbol=">>"),
    Operator("isnan", 1, T.PREDICATE, 1, "f"),
    Operator("isinf", 1, T.PREDICATE, 2, "f"),
    Operator("isfinite", 1, T.PREDICATE, 2, "f"),
    Operator("where", 3, T.WHERE, 1, "bif"),
)
"""Scalar operations of the IRs. `clip` is checked into maximum then minimum."""
FAST: dict[str, str] = {row.strict: name for name, row in OPERATORS.items() if row.strict}
"""For an operator, the one that takes its place under `math=fast`."""


@dataclass(frozen=True, slots=True)
class ReductionKind:
    """One reduction. `identity` is None where an empty reduction is an error at call time.

    Result dtypes: sum, prod of bool and integers give i64, of unsigned ones u64; mean, var, std of them f64;
    max, min keep the type; any, all give bool; argmax, argmin give i64.
    """

    name: str
    empty_raises: bool = False


REDUCTIONS: dict[str, ReductionKind] = {
    r.name: r
    for r in (
        ReductionKind("sum"),
        ReductionKind("prod"),
        ReductionKind("max", empty_raises=True),
        ReductionKind("min", empty_raises=True),
        ReductionKind("var"),
        ReductionKind("std"),
        ReductionKind("any"),
        ReductionKind("all"),
        ReductionKind("argmax", empty_raises=True),
        ReductionKind("argmin", empty_raises=True),
    )
}
"""Reductions of the IRs. `mean` is checked into `sum / n`: one rounding of the sum, one division."""

SCANS: frozenset[str] = frozenset({"sum", "prod", "max", "min"})
"""Scans of the IRs: each gives its operand's dtype. Those of sum and prod are a float's or 64 bits wide, so
that integers and bool are cast before, as in NumPy."""
