"""Sizes and indices: integer polynomials whose variables are dims, loop axes and a few atoms.

A `Poly` is a sum of `coefficient * monomial`; a monomial is a product of atoms: a dim (`N`), a loop
axis (`c0`), or one of `a // b`, `a % b`, `min(a, b)`, `max(a, b)` of polynomials. The form is
canonical up to those atoms, so equality is structural. Dims are non-negative integers.

Polynomial arithmetic is done here; SymPy is asked only where there is no short answer (exact
division and factoring of polynomials in several variables) and imported only then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

Monomial = tuple[tuple["Atom", int], ...]


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable: a dim of the program (`axis=False`) or a loop axis (`axis=True`)."""

    name: str
    axis: bool = False

    @property
    def key(self) -> tuple[int, str]:
        return (1 if self.axis else 0, self.name)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FloorDiv:
    """`num // den`, rounded down."""

    num: Poly
    den: Poly

    @property
    def key(self) -> tuple[int, str]:
        return _text_key(2, self)

    def __str__(self) -> str:
        return f"({_operand(self.num)} // {_operand(self.den)})"


@dataclass(frozen=True, slots=True)
class Mod:
    """`num % den`, with the sign of `den`."""

    num: Poly
    den: Poly

    @property
    def key(self) -> tuple[int, str]:
        return _text_key(3, self)

    def __str__(self) -> str:
        return f"({_operand(self.num)} % {_operand(self.den)})"


@dataclass(frozen=True, slots=True)
class MinMax:
    """`min` or `max` (`which`) of two or more polynomials, in a fixed order."""

    which: str
    args: tuple[Poly, ...]

    @property
    def key(self) -> tuple[int, str]:
        return _text_key(4, self)

    def __str__(self) -> str:
        # a plain number comes last, as people write it: max(N - 2, 0)
        shown = sorted(self.args, key=lambda a: a.constant is not None)
        return f"{self.which}({', '.join(map(str, shown))})"


@lru_cache(maxsize=1 << 14)
def _text_key(rank: int, atom: FloorDiv | Mod | MinMax) -> tuple[int, str]:
    """The place of a nested atom in canonical order; kept, since every sum asks for it."""
    return (rank, str(atom))


def _operand(p: Poly) -> str:
    """`p` as an operand of `//` or `%`: bracketed unless it is one name or number."""
    single = len(p.terms) == 1 and (not p.terms[0][0] or p.terms[0][1] == 1)
    return str(p) if (single and len(p.terms[0][0]) <= 1) or not p.terms else f"({p})"


Atom = Sym | FloorDiv | Mod | MinMax


def _monomial_key(m: Monomial) -> tuple[object, ...]:
    return tuple((a.key, n) for a, n in m)


class Poly:
    """An immutable polynomial with integer coefficients. Compare with `==`; build with operators."""

    __slots__ = ("terms", "_hash", "_text")

    terms: tuple[tuple[Monomial, int], ...]
    _hash: int
    _text: str

    def __init__(self, terms: Iterable[tuple[Monomial, int]] = ()) -> None:
        collected: dict[Monomial, int] = {}
        for monomial, coefficient in terms:
            collected[monomial] = collected.get(monomial, 0) + coefficient
        if len(collected) > 1:
            _join_parts(collected)
        ordered = sorted(((m, c) for m, c in collected.items() if c), key=lambda t: _monomial_key(t[0]))
        object.__setattr__(self, "terms", tuple(ordered))
        object.__setattr__(self, "_hash", hash(self.terms))
        object.__setattr__(self, "_text", "")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Poly is immutable")

    def __reduce__(self) -> tuple[object, ...]:
        return (Poly, (self.terms,))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return self.terms == (((), other),) if other else not self.terms
        return isinstance(other, Poly) and self._hash == other._hash and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    # -- reading -------------------------------------------------------------------------------

    @property
    def constant(self) -> int | None:
        """The value, when the polynomial is a plain integer."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def constant_term(self) -> int:
        return self.terms[0][1] if self.terms and self.terms[0][0] == () else 0

    def atoms(self) -> tuple[Atom, ...]:
        """The distinct atoms at the top level, in canonical order."""
        seen = {atom: None for monomial, _ in self.terms for atom, _ in monomial}
        return tuple(sorted(seen, key=lambda a: a.key))

    def symbols(self) -> tuple[Sym, ...]:
        """All variables, also those inside `//`, `%`, `min` and `max`, in canonical order."""
        found: dict[Sym, None] = {}
        for atom in self.atoms():
            for sym in _atom_symbols(atom):
                found[sym] = None
        return tuple(sorted(found, key=lambda s: s.key))

    def largest_number(self) -> int:
        """The largest coefficient, without its sign, also inside atoms."""
        inside = (part.largest_number() for atom in self.atoms() for part in operands(atom))
        return max((*(abs(c) for _, c in self.terms), *inside), default=0)

    def dims(self) -> tuple[str, ...]:
        return tuple(s.name for s in self.symbols() if not s.axis)

    def axes(self) -> tuple[str, ...]:
        return tuple(s.name for s in self.symbols() if s.axis)

    def coefficient(self, variable: Sym) -> Poly:
        """What multiplies `variable` (to the first power); other powers are not looked at."""
        picked = []
        for monomial, c in self.terms:
            if (variable, 1) in monomial:
                picked.append((tuple(f for f in monomial if f != (variable, 1)), c))
        return Poly(picked)

    def is_linear_in(self, variable: Sym) -> bool:
        """True when `self == coefficient * variable + rest` with neither holding `variable`."""
        rest = self - self.coefficient(variable) * Poly([(((variable, 1),), 1)])
        return variable not in rest.symbols() and variable not in self.coefficient(variable).symbols()

    # -- arithmetic ----------------------------------------------------------------------------

    def __add__(self, other: Poly | int) -> Poly:
        o = as_poly(other)
        return Poly((*self.terms, *o.terms))

    __radd__ = __add__

    def __neg__(self) -> Poly:
        return Poly((m, -c) for m, c in self.terms)

    def __sub__(self, other: Poly | int) -> Poly:
        return self + -as_poly(other)

    def __rsub__(self, other: int) -> Poly:
        return as_poly(other) - self

    def __mul__(self, other: Poly | int) -> Poly:
        o = as_poly(other)
        return Poly((_times(m, n), c * d) for m, c in self.terms for n, d in o.terms)

    __rmul__ = __mul__

    def __floordiv__(self, other: Poly | int) -> Poly:
        den = as_poly(other)
        n, d = self.constant, den.constant
        if n is not None and d is not None and d != 0:
            return as_poly(n // d)
        exact = divide_exactly(self, den) if d != 0 else None
        if exact is not None:
            return exact
        if d is not None and d > 0:
            return _floor_divide(self, d)
        return Poly([(((FloorDiv(self, den), 1),), 1)])

    def __mod__(self, other: Poly | int) -> Poly:
        den = as_poly(other)
        n, d = self.constant, den.constant
        if n is not None and d is not None and d != 0:
            return as_poly(n % d)
        if d != 0 and divide_exactly(self, den) is not None:
            return ZERO
        return Poly([(((Mod(self, den), 1),), 1)])

    def substitute(self, values: Mapping[Sym, Poly]) -> Poly:
        """Replace variables, also inside atoms."""
        if not values or not self.terms:
            return self
        terms: list[tuple[Monomial, int]] = []
        for monomial, c in self.terms:
            if all(isinstance(atom, Sym) and atom not in values for atom, _ in monomial):
                terms.append((monomial, c))
                continue
            product = as_poly(c)
            for atom, power in monomial:
                factor = _substitute_atom(atom, values)
                for _ in range(power):
                    product = product * factor
            terms.extend(product.terms)
        return Poly(terms)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The integer value under `name -> value`.

        Raises:
            KeyError: a variable has no value.
            ZeroDivisionError: a `//` or `%` by zero.
        """
        return self._evaluate(values, strict=True)

    def estimate(self, values: Mapping[str, int]) -> int:
        """The same, for sizes that are only assumed: 0 for a `//` or `%` by zero."""
        return self._evaluate(values, strict=False)

    def _evaluate(self, values: Mapping[str, int], strict: bool) -> int:
        total = 0
        for monomial, c in self.terms:
            product = c
            for atom, power in monomial:
                product *= _evaluate_atom(atom, values, strict) ** power
            total += product
        return total

    def __str__(self) -> str:
        # kept: the order of nested atoms goes by their text, which would be built anew at every level
        if not self._text:
            object.__setattr__(self, "_text", self._written())
        return self._text

    def _written(self) -> str:
        if not self.terms:
            return "0"
        # axes first, as an index expression is read: c0 + 1024*c1; then dims, then the constant
        ordered = sorted(self.terms, key=lambda t: _print_key(t[0]))
        parts: list[str] = []
        for monomial, c in ordered:
            text = _term_text(monomial, abs(c))
            if not parts:
                parts.append(f"-{text}" if c < 0 else text)
            else:
                parts.append(f" - {text}" if c < 0 else f" + {text}")
        return "".join(parts)

    def __repr__(self) -> str:
        return f"Poly({self})"


def _join_parts(collected: dict[Monomial, int]) -> None:
    """*Rewrite*: `max(a - b, 0) + min(a, b)` -> `a`: what is behind a place and what is before it."""
    linear = [m for m in collected if len(m) == 1 and m[0][1] == 1 and isinstance(m[0][0], MinMax)]
    for later, before in permutations(linear, 2):
        behind, ahead = later[0][0], before[0][0]
        assert isinstance(behind, MinMax) and isinstance(ahead, MinMax)
        if (behind.which, ahead.which) != ("max", "min") or ZERO not in behind.args:
            continue
        if len(behind.args) > 2 or len(ahead.args) > 2:
            continue
        rest = behind.args[0] if behind.args[1] == ZERO else behind.args[1]
        whole = next((a for a, b in permutations(ahead.args) if a - b == rest), None)
        c, d = collected[later], collected[before]
        if whole is None or c * d <= 0:
            continue
        share = min(c, d, key=abs)
        collected[later], collected[before] = c - share, d - share
        for monomial, factor in whole.terms:
            collected[monomial] = collected.get(monomial, 0) + share * factor


def _print_key(monomial: Monomial) -> tuple[object, ...]:
    axes = tuple(a.key for a, _ in monomial if isinstance(a, Sym) and a.axis)
    return (not monomial, not axes, axes, _monomial_key(monomial))


def _term_text(monomial: Monomial, c: int) -> str:
    factors: list[str] = [] if c == 1 and monomial else [str(c)]
    for atom, power in monomial:
        text = str(atom)
        factors.extend([text] * power)
    return "*".join(factors)


def _times(a: Monomial, b: Monomial) -> Monomial:
    if not a:
        return b
    if not b:
        return a
    powers: dict[Atom, int] = dict(a)
    for atom, n in b:
        powers[atom] = powers.get(atom, 0) + n
    return tuple(sorted(powers.items(), key=lambda t: t[0].key))


def _atom_symbols(atom: Atom) -> tuple[Sym, ...]:
    match atom:
        case Sym():
            return (atom,)
        case FloorDiv(num, den) | Mod(num, den):
            return (*num.symbols(), *den.symbols())
        case MinMax(_, args):
            return tuple(s for a in args for s in a.symbols())


def operands(atom: Atom) -> tuple[Poly, ...]:
    """What `//`, `%`, `min` or `max` is taken of; nothing for a variable."""
    match atom:
        case FloorDiv(num, den) | Mod(num, den):
            return (num, den)
        case MinMax(_, args):
            return args
        case Sym():
            return ()


def _substitute_atom(atom: Atom, values: Mapping[Sym, Poly]) -> Poly:
    match atom:
        case Sym():
            return values[atom] if atom in values else Poly([(((atom, 1),), 1)])
        case FloorDiv(num, den):
            return num.substitute(values) // den.substitute(values)
        case Mod(num, den):
            return num.substitute(values) % den.substitute(values)
        case MinMax(which, args):
            replaced = [a.substitute(values) for a in args]
            return minimum(*replaced) if which == "min" else maximum(*replaced)


def _evaluate_atom(atom: Atom, values: Mapping[str, int], strict: bool) -> int:
    if isinstance(atom, Sym):
        return values[atom.name]
    parts = [p.evaluate(values) if strict else p.estimate(values) for p in operands(atom)]
    match atom:
        case FloorDiv():
            return parts[0] // parts[1] if strict or parts[1] else 0
        case Mod():
            return parts[0] % parts[1] if strict or parts[1] else 0
        case MinMax(which, _):
            return min(parts) if which == "min" else max(parts)


ZERO = Poly()


def as_poly(value: Poly | int) -> Poly:
    return value if isinstance(value, Poly) else Poly([((), value)])


ONE = as_poly(1)


def dim(name: str) -> Poly:
    """The size named `name`."""
    return Poly([(((Sym(name), 1),), 1)])


def axis(name: str) -> Poly:
    """The loop axis named `name`, as an index."""
    return Poly([(((Sym(name, axis=True), 1),), 1)])


def product(sizes: Iterable[Poly]) -> Poly:
    result = ONE
    for size in sizes:
        result = result * size
    return result


def is_nonnegative(p: Poly) -> bool:
    """True when `p >= 0` is plain from its form: dims, and max with such an argument, are >= 0, and
    `n // d` lies between `(n - d + 1) / d` and `n / d`."""
    if _has_nonnegative_terms(p):
        return True
    bound = _without_floors(p)
    return bound is not None and _has_nonnegative_terms(bound)


def _has_nonnegative_terms(p: Poly) -> bool:
    return all(c > 0 and all(_atom_nonnegative(a, n) for a, n in m) for m, c in p.terms)


def _without_floors(p: Poly) -> Poly | None:
    """A polynomial at most as large as `p` without its floor divisions by numbers; None if it has none.

    Each stands alone in its term, with a coefficient that its divisor divides.
    """
    terms: list[tuple[Monomial, int]] = []
    found = False
    for monomial, c in p.terms:
        atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == 1 else None
        den = atom.den.constant if isinstance(atom, FloorDiv) else None
        if not isinstance(atom, FloorDiv) or den is None or den <= 0 or c % den:
            terms.append((monomial, c))
            continue
        found = True
        bound = atom.num if c < 0 else atom.num - den + 1
        terms.extend(((c // den) * bound).terms)
    return Poly(terms) if found else None


def _atom_nonnegative(atom: Atom, power: int) -> bool:
    if power % 2 == 0:
        return True
    match atom:
        case Sym():
            return True
        case FloorDiv(num, den):
            return is_nonnegative(num) and is_positive(den)
        case Mod(_, den):
            return is_positive(den)
        case MinMax(which, args):
            found = [is_nonnegative(a) for a in args]
            return all(found) if which == "min" else any(found)


def is_positive(p: Poly) -> bool:
    """True when `p >= 1` is plain from its form."""
    return is_nonnegative(p - 1)


def minimum(*args: Poly | int) -> Poly:
    return _min_max("min", [as_poly(a) for a in args])


def maximum(*args: Poly | int) -> Poly:
    return _min_max("max", [as_poly(a) for a in args])


def _min_max(which: str, args: list[Poly]) -> Poly:
    """Drop every argument that another one provably beats; fold what is left into one atom."""
    flat = [b for a in args for b in _alternatives(which, a)]
    kept: list[Poly] = []
    for a in flat:
        if any(_beats(which, b, a) for b in kept):
            continue
        kept = [b for b in kept if not _beats(which, a, b)]
        kept.append(a)
    if len(kept) == 1:
        return kept[0]
    ordered = tuple(sorted(kept, key=lambda p: [(_monomial_key(m), c) for m, c in p.terms]))
    return Poly([(((MinMax(which, ordered), 1),), 1)])


def _alternatives(which: str, a: Poly) -> list[Poly]:
    """The arguments that stand for `a` in `which`: `max(b, c) + d` is the greater of `b + d` and `c + d`."""
    nested = [
        (m[0][0], c)
        for m, c in a.terms
        if len(m) == 1 and isinstance(m[0][0], MinMax) and m[0][0].which == which and m[0][1] == 1
    ]
    if len(nested) != 1 or nested[0][1] != 1:
        return [a]
    atom = nested[0][0]
    assert isinstance(atom, MinMax)
    rest = a - Poly([(((atom, 1),), 1)])
    return [b + rest for b in atom.args]


def _beats(which: str, a: Poly, b: Poly) -> bool:
    return is_nonnegative(b - a) if which == "min" else is_nonnegative(a - b)


def _floor_divide(num: Poly, den: int) -> Poly:
    """`num // den` for a positive number: multiples of `den` come out, `max` and `min` go outside, as `//` is
    monotone. So `x[::2]` and `x[1::2]` of `f32[2 * N]` both have N elements.
    """
    for which in ("max", "min"):
        alternatives = _alternatives(which, num)
        if len(alternatives) > 1:
            return _min_max(which, [a // den for a in alternatives])
    whole = Poly((m, c // den) for m, c in num.terms if c % den == 0)
    rest = Poly((m, c) for m, c in num.terms if c % den)
    if rest.constant is not None:
        return whole + rest.constant // den
    return whole + Poly([(((FloorDiv(rest, as_poly(den)), 1),), 1)])


def divide_exactly(num: Poly, den: Poly) -> Poly | None:
    """`num / den` when it is a polynomial with integer coefficients, else None."""
    if den == ONE:
        return num
    if not num.terms:
        return ZERO if den.terms else None
    if len(den.terms) == 1:
        return _divide_by_monomial(num, *den.terms[0])
    if num == den:
        return ONE
    return _divide_with_sympy(num, den)


def _divide_by_monomial(num: Poly, monomial: Monomial, c: int) -> Poly | None:
    out: list[tuple[Monomial, int]] = []
    for m, k in num.terms:
        powers: dict[Atom, int] = dict(m)
        if k % c:
            return None
        for atom, n in monomial:
            if powers.get(atom, 0) < n:
                return None
            powers[atom] -= n
        out.append((tuple((a, n) for a, n in powers.items() if n), k // c))
    return Poly(out)


@lru_cache(maxsize=4096)
def _divide_with_sympy(num: Poly, den: Poly) -> Poly | None:
    shared = set(num.atoms())
    if not shared.issuperset(den.atoms()):
        return None
    import sympy

    atoms = sorted(shared, key=lambda a: a.key)
    variables = [sympy.Symbol(f"v{k}") for k in range(len(atoms))]
    position = dict(zip(atoms, variables, strict=True))

    def encode(p: Poly) -> sympy.Expr:
        return sympy.Add(*(c * sympy.Mul(*(position[a] ** n for a, n in m)) for m, c in p.terms))

    quotient, remainder = sympy.div(sympy.Poly(encode(num), *variables), sympy.Poly(encode(den), *variables))
    if not remainder.is_zero or any(not c.is_integer for c in quotient.coeffs()):
        return None
    return Poly(
        (tuple((a, n) for a, n in zip(atoms, powers, strict=True) if n), int(c))
        for powers, c in quotient.terms()
    )
