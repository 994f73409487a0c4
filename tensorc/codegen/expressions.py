"""Sizes, indices and literals as C expressions, and the C names of a kernel's parameters and dims."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence

from tensorc.codegen.c_ast import Binary, Call, Cast, Expr, Integer, Literal, Name, Unary
from tensorc.dtypes import DType
from tensorc.index_algebra import Atom, FloorDiv, MinMax, Mod, Poly, Sym

_WORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const "
    "const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit "
    "export extern false float for friend goto if inline int int8_t int16_t int32_t int64_t long "
    "main malloc mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct "
    "switch template this thread_local throw true try typedef typeid typename uint8_t "
    "uint16_t uint32_t uint64_t union unsigned "
    "using virtual void volatile wchar_t while xor xor_eq free tid nt threads arena scratch work linux "
    "unix p chunk block row part strip rows groups per_row count status panel batch "
    "group i j k"
)
RESERVED = frozenset(_WORDS.split())
_LOCAL = re.compile(
    r"([bcijkqrv]|buf)\d+(_.*)?|(s|first|parts|acc|sum|left|right|lanes|carry)_.*|tc_.*|omp_.*"
    r"|.*__.*|_.*|.*_(begin|end|rest|lanes|bytes)",
    re.IGNORECASE,
)

_LOWEST = "(-0x7fffffffffffffffLL - 1)"


def c_names(wanted: Mapping[str, str]) -> dict[str, str]:
    """A C identifier for each key: the name it wants where that is free, else with `_` after it."""
    chosen: dict[str, str] = {}
    taken: set[str] = set()
    for key, name in wanted.items():
        c = name
        if c.startswith("_") or "__" in c:
            c = re.sub("_+", "_", f"u{c}")
        if c in RESERVED or _LOCAL.fullmatch(c):
            c += "_u"
        while c in taken:
            c += "u"
        taken.add(c)
        chosen[key] = c
    return chosen


def size_expr(size: Poly, names: Mapping[Atom, str]) -> Expr:
    """A polynomial as an `int64_t` expression; `names`: C names of dims, axes, sizes computed ahead."""
    total: Expr | None = None
    for monomial, exact in sorted(size.terms, key=lambda t: not t[0]):
        coefficient = (exact + 2**63) % 2**64 - 2**63  # sums and products are right modulo 2^64
        term = _term(monomial, abs(coefficient), names)
        if total is None:
            total = Unary("-", term) if coefficient < 0 else term
        else:
            total = Binary("-" if coefficient < 0 else "+", total, term)
    return total if total is not None else Integer(0)


def _term(monomial: tuple[tuple[Atom, int], ...], coefficient: int, names: Mapping[Atom, str]) -> Expr:
    factors = [_atom(atom, names) for atom, power in monomial for _ in range(power)]
    if coefficient != 1 or not factors:
        factors.append(Literal(_LOWEST) if coefficient == 2**63 else Integer(coefficient))
    product = factors[0]
    for factor in factors[1:]:
        product = Binary("*", product, factor)
    return product


def _atom(atom: Atom, names: Mapping[Atom, str]) -> Expr:
    if atom in names:
        return Name(names[atom])
    match atom:
        case Sym(name):
            raise AssertionError(f"{name} has no C name")
        case FloorDiv(num, den):
            return Call("tc_floordiv", (size_expr(num, names), size_expr(den, names)))
        case Mod(num, den):
            return Call("tc_floormod", (size_expr(num, names), size_expr(den, names)))
        case MinMax(which, args):
            result = size_expr(args[0], names)
            for a in args[1:]:
                result = Call(f"tc_{which}", (result, size_expr(a, names)))
            return result


def approximate(size: Poly, names: Mapping[Atom, str]) -> Expr:
    """A polynomial as an expression of type `double`, whose atoms are exact."""
    total: Expr = Literal("0.0")
    for monomial, coefficient in size.terms:
        term: Expr = Literal(_double(coefficient))
        for atom, power in monomial:
            for _ in range(power):
                term = Binary("*", term, Cast("double", _atom(atom, names)))
        total = Binary("+", total, term)
    return total


def _double(number: int) -> str:
    try:
        return repr(float(number))
    except OverflowError:
        return "-__builtin_inf()" if number < 0 else "__builtin_inf()"


def combine(function: str, terms: Sequence[Expr]) -> Expr:
    """`function` of two, over all terms: as flat a tree as can be, since the printer recurses on calls."""
    level = list(terms) or [Integer(0)]
    while len(level) > 1:
        pairs = [Call(function, (a, b)) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = [*pairs, *level[2 * len(pairs) :]]
    return level[0]


def literal_expr(value: int | float, dtype: DType) -> Expr:
    """A constant of `dtype` as a C expression; floats are spelt so that they round to exactly it."""
    if dtype.is_bool:
        return Integer(1 if value else 0)
    if dtype.is_integer:
        number = int(value)
        if number == -(1 << 63):
            return Binary("-", Unary("-", Integer((1 << 63) - 1)), Integer(1))
        if dtype.is_unsigned:
            return Literal(f"{number}u")
        return Integer(number)
    return _float_expr(float(value), dtype)


def _float_expr(value: float, dtype: DType) -> Expr:
    suffix = "" if dtype.size == 8 else "f"
    if math.isnan(value):
        return Call(f"__builtin_nan{suffix}", (Name('""'),))
    if math.isinf(value):
        infinite = Call(f"__builtin_inf{suffix}", ())
        return Unary("-", infinite) if value < 0 else infinite
    magnitude = Literal(_digits(abs(value), dtype) + suffix)
    return Unary("-", magnitude) if math.copysign(1.0, value) < 0 else magnitude


def _digits(value: float, dtype: DType) -> str:
    """The shortest of 6 to 17 significant digits that reads back as the same number."""
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        if _rounded(float(text), dtype) == _rounded(value, dtype):
            break
    return text if any(c in text for c in ".e") else text + ".0"


def _rounded(value: float, dtype: DType) -> float:
    if dtype.size == 8:
        return value
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.inf
