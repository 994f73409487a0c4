"""Functions on eight pieces for f32 lanes: a polynomial of each, its coefficients lanes of a register."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mpmath as mp
from coefficient_tables import REFITS, Table, fitted
from minimax import Problem, round_to_bits

COUNT = 8
MARGIN = mp.mpf("1e-6")
"""How far a piece reaches beyond its borders, for the rounding of the index computation."""
SHORT = mp.mpf("0.002") * mp.mpf(2) ** -24


@dataclass(frozen=True, slots=True)
class Pieces:
    """f on COUNT pieces between `borders`, the first of which is 0, by polynomials of `terms` coefficients.

    `first_lane` is the lane of piece 0, `middle` where in theirs the others have a centre (0 to 1).
    With `identity`, f(u) is u + u P(u) on piece 0, otherwise f(0) + u P(u).
    """

    f: Callable[[mp.mpf], mp.mpf]
    borders: Callable[[], list[mp.mpf]]
    terms: int
    first_lane: int = 0
    middle: str = "0.5"
    identity: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """f(c + u) = value + u P(u) on low <= c + u <= high; with c = 0 and an `identity`, f(u) = u + u P(u)."""

    centre: mp.mpf
    value: mp.mpf
    polynomial: Table


def centre_with_short_value(f: Callable[[mp.mpf], mp.mpf], near: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """A float near `near` at which f is a float to 0.002 ulp: the table's value then costs no accuracy."""
    goal = round_to_bits(f(near), 24)
    start = round_to_bits(mp.findroot(lambda x: f(x) - goal, near), 24)
    step = mp.mpf(2) ** (mp.floor(mp.log(start, 2)) - 23)
    for i in range(20000):
        centre = start + step * ((i + 1) // 2) * (-1) ** i
        exact = f(centre)
        value = round_to_bits(exact, 24)
        if abs(value / exact - 1) < SHORT:
            return centre, value
    raise ArithmeticError(f"no centre near {near}")


def fit_piece(pieces: Pieces, index: int) -> Piece:
    """Piece `index` between its borders, with a margin."""
    borders = pieces.borders()
    low, high = borders[index] * (1 - MARGIN), borders[index + 1] * (1 + MARGIN)
    f = pieces.f
    exponents = tuple(range(pieces.terms))
    if low == 0:
        value, slope = (mp.mpf(0), mp.mpf(1)) if pieces.identity else (round_to_bits(f(low), 24), mp.mpf(0))
        at_zero = Problem(lambda u: (f(u) - value) / u - slope, lambda u: u / f(u), low, high, exponents)
        return Piece(mp.mpf(0), value, fitted("", "f32", at_zero, REFITS["f32"]))
    centre, value = centre_with_short_value(f, low + mp.mpf(pieces.middle) * (high - low))
    problem = Problem(
        lambda u: (f(centre + u) - value) / u,
        lambda u: u / f(centre + u),
        low - centre,
        high - centre,
        exponents,
    )
    return Piece(centre, value, fitted("", "f32", problem, REFITS["f32"]))


def print_pieces(name: str, pieces: Pieces) -> list[Table]:
    """Eight pieces as tables by coefficient, one lane a piece."""
    found = [fit_piece(pieces, index) for index in range(COUNT)]
    turned = [found[(lane - pieces.first_lane) % COUNT] for lane in range(COUNT)]
    worst = max(p.polynomial.error or mp.mpf(0) for p in found)
    tables = [
        Table(f"tcf_{name}_centre", "f32", tuple(p.centre for p in turned)),
        Table(f"tcf_{name}_value", "f32", tuple(p.value for p in turned)),
    ]
    for j in range(pieces.terms):
        column = tuple(p.polynomial.values[j] for p in turned)
        tables.append(Table(f"tcf_{name}_p{j}", "f32", column, worst))
    return tables
