"""Fits of the f64 functions beyond the first headers, for tools/coefficients.py: logarithms to other bases,
inverse circular functions, erfc, cbrt and power.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
from coefficient_tables import Table, fitted, split
from minimax import Problem, round_to_bits

NEAR_ZERO = mp.mpf("1e-6")
"""Where quotients like (asin(x) - x) / x^3 begin: at 0 they are 0 / 0."""
MARGIN = 1 + mp.mpf("1e-6")
ERFC_BORDER = mp.mpf(3) / 4
ERFC_CENTRE = 4
ERFC_VALUE = mp.mpf(5) / 4


def even(terms: int) -> tuple[int, ...]:
    return tuple(range(0, 2 * terms, 2))


def log_bases() -> list[Table]:
    """1 / ln(2), 1 / ln(10) and log10(2) in two words."""
    return [
        Table("tcd_log2_e", "f64", split(1 / mp.log(2), "f64", 2)),
        Table("tcd_log10_e", "f64", split(1 / mp.log(10), "f64", 2)),
        Table("tcd_log10_2", "f64", split(mp.log10(2), "f64", 2)),
    ]


def asin_tail() -> Table:
    """P of asin(x) = x + x^3 P(x^2) for |x| <= 1/2."""
    problem = Problem(
        lambda x: (mp.asin(x) - x) / x**3,
        lambda x: x**3 / mp.asin(x),
        NEAR_ZERO,
        mp.mpf(1) / 2,
        even(13),
    )
    return fitted("tcd_asin_p", "f64", problem, refits=1)


def atan_tail() -> Table:
    """P of atan(x) = x + x^3 P(x^2) for |x| <= tan(pi / 8)."""
    problem = Problem(
        lambda x: (mp.atan(x) - x) / x**3,
        lambda x: x**3 / mp.atan(x),
        NEAR_ZERO,
        (mp.sqrt(2) - 1) * MARGIN,
        even(12),
    )
    return fitted("tcd_atan_p", "f64", problem, refits=1)


def erfc_near() -> Table:
    """Q of erfc(x) = 1 - x - x Q(x^2) for |x| <= 3/4."""
    problem = Problem(
        lambda x: mp.erf(x) / x - 1, lambda x: x / mp.erfc(x), NEAR_ZERO, ERFC_BORDER * MARGIN, even(11)
    )
    return fitted("tcd_erfc_near_p", "f64", problem, refits=2)


def erfc_far() -> Table:
    """P of erfc(x) = e^(-x^2) (5/4 + P(q)) / (1 + 2 x), q = (x - 4) / (x + 4), for x from 3/4 on."""

    def scaled(q: mp.mpf) -> mp.mpf:
        x = ERFC_CENTRE * (1 + q) / (1 - q)
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)

    def place(x: mp.mpf) -> mp.mpf:
        return (x - ERFC_CENTRE) / (x + ERFC_CENTRE)

    problem = Problem(
        lambda q: scaled(q) - ERFC_VALUE,
        lambda q: 1 / scaled(q),
        place(ERFC_BORDER / MARGIN),
        place(mp.mpf("27.3")),
        tuple(range(22)),
    )
    return fitted("tcd_erfc_far_p", "f64", problem, refits=1)


def cube_root() -> list[Table]:
    """P of m^(-1/3) = P(m) on [1, 2], a first guess; 2^(-i / 3)."""
    third = mp.mpf(1) / 3
    problem = Problem(lambda m: m**-third, lambda m: m**third, mp.mpf(1), mp.mpf(2), tuple(range(5)))
    roots = tuple(round_to_bits(mp.mpf(2) ** (-i * third), 53) for i in range(3))
    return [fitted("tcd_cbrt_p", "f64", problem, refits=0), Table("tcd_cbrt_root", "f64", roots)]


def log_long() -> list[Table]:
    """2/3 in two words and R of 2 atanh(s) = 2 s + 2/3 s^3 + s^5 R(s^2), to more than a double's digits."""
    border = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * MARGIN
    problem = Problem(
        lambda s: (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5,
        lambda s: s**5 / mp.atanh(s) / 2,
        mp.mpf("1e-3"),
        border,
        even(8),
    )
    return [
        Table("tcd_two_thirds", "f64", split(mp.mpf(2) / 3, "f64", 2)),
        fitted("tcd_log_long_p", "f64", problem, refits=2),
    ]


GROUPS: dict[str, Callable[[], list[Table]]] = {
    "log_bases_f64": log_bases,
    "cbrt_f64": cube_root,
    "quarter_pi_f64": lambda: [Table("tcd_quarter_pi", "f64", split(mp.pi / 4, "f64", 2))],
    "asin_f64": lambda: [asin_tail()],
    "atan_f64": lambda: [atan_tail()],
    "erfc_f64": lambda: [erfc_near(), erfc_far()],
    "log_long_f64": log_long,
}
