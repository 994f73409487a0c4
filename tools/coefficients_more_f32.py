"""Fits for tensorc/codegen/runtime/elementary_more_tables.h: f32 functions, most of them in double lanes.

Double coefficients serve results that are rounded to f32 once, so about 2^-32 is enough of each fit.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
from coefficient_tables import Table, fitted, split
from minimax import Problem, round_to_bits

Inverses = Callable[[], tuple[mp.mpf, ...]]

BORDER = 1 + mp.mpf("1e-6")
"""Margin of a range for the rounding that picks a piece or a multiple."""
SHORT = 2**16
"""Integers up to 2^8 plus a multiple of 1 / SHORT are exact in f32."""
LOG_LOW, LOG_HIGH = mp.mpf("-0.06"), mp.mpf("0.0785")
"""Range of r = mantissa / m - 1 on the pieces of log."""


def _double(name: str, f: Problem) -> Table:
    return fitted(name, "f64", f, refits=0)


def _even(count: int) -> tuple[int, ...]:
    return tuple(range(0, 2 * count, 2))


def exp_and_exp2() -> list[Table]:
    """P of e^r = 1 + r P(r) for |r| <= ln(2) / 2, and of 2^r for |r| <= 1/2."""
    half, natural = BORDER / 2, BORDER * mp.log(2) / 2
    e = Problem(lambda r: mp.expm1(r) / r, lambda r: r / mp.exp(r), -natural, natural, tuple(range(7)))
    two = Problem(
        lambda r: mp.expm1(r * mp.log(2)) / r,
        lambda r: r / mp.mpf(2) ** r,
        -half,
        half,
        tuple(range(7)),
    )
    return [_double("tcf_exp_wide", e), _double("tcf_exp2_wide", two)]


def sinh_and_cosh() -> list[Table]:
    """S of sinh(r) = r + r^3 S(r^2) and C of cosh(r) = 1 + r^2 C(r^2) for |r| <= ln(2) / 2."""
    border = BORDER * mp.log(2) / 2
    sine = Problem(
        lambda r: (mp.sinh(r) - r) / r**3, lambda r: r**3 / mp.sinh(r), mp.mpf(0), border, _even(3)
    )
    cosine = Problem(
        lambda r: (mp.cosh(r) - 1) / r**2, lambda r: r**2 / mp.cosh(r), mp.mpf(0), border, _even(3)
    )
    return [_double("tcf_sinh_wide", sine), _double("tcf_cosh_wide", cosine)]


def sin_and_cos() -> list[Table]:
    """S of sin(r) = r + r^3 S(r^2) and C of cos(r) = 1 + r^2 C(r^2) for |r| <= pi / 4, for tan."""
    border = BORDER * mp.pi / 4
    sine = Problem(lambda r: (mp.sin(r) - r) / r**3, lambda r: r**3 / mp.sin(r), mp.mpf(0), border, _even(4))
    cosine = Problem(
        lambda r: (mp.cos(r) - 1) / r**2, lambda r: r**2 / mp.cos(r), mp.mpf(0), border, _even(4)
    )
    constants = [
        Table("tcf_half_pi_wide", "f64", split(mp.pi / 2, "f64", 2)),
        Table("tcf_inv_half_pi_wide", "f64", split(2 / mp.pi, "f64", 1)),
    ]
    return [*constants, _double("tcf_sin_wide_p", sine), _double("tcf_cos_wide_p", cosine)]


def fast_sin() -> list[Table]:
    """P of sin(r) = r + r^3 P(r^2) for |r| <= pi / 2, and pi in three words, for math=fast."""
    problem = Problem(
        lambda r: (mp.sin(r) - r) / r**3,
        lambda r: r**3 / mp.sin(r),
        mp.mpf(0),
        mp.pi / 2 * (1 + mp.mpf("1e-5")),
        _even(4),
    )
    return [
        Table("tcf_fast_pi", "f32", split(mp.pi, "f32", 3)),
        Table("tcf_fast_inv_pi", "f32", split(1 / mp.pi, "f32", 1)),
        fitted("tcf_fast_sin_p", "f32", problem, refits=3),
    ]


def asin_and_atan() -> list[Table]:
    """P of asin(u) = u + u^3 P(u^2) for u <= 1/2, and of atan(u) for u <= tan(pi / 8)."""
    sine = Problem(
        lambda u: (mp.asin(u) - u) / u**3,
        lambda u: u**3 / mp.asin(u),
        mp.mpf(0),
        mp.mpf(1) / 2,
        _even(7),
    )
    tangent = Problem(
        lambda u: (mp.atan(u) - u) / u**3,
        lambda u: u**3 / mp.atan(u),
        mp.mpf(0),
        BORDER * (mp.sqrt(2) - 1),
        _even(6),
    )
    return [_double("tcf_asin_wide", sine), _double("tcf_atan_wide", tangent)]


def log_wide() -> list[Table]:
    """P of log(1 + r) = r + r^2 P(r) and of log2(1 + r) = r P(r) on the pieces."""
    natural = Problem(
        lambda r: (mp.log1p(r) - r) / r**2,
        lambda r: r**2 / mp.log1p(r),
        LOG_LOW,
        LOG_HIGH,
        tuple(range(6)),
    )
    two = Problem(
        lambda r: mp.log1p(r) / r / mp.log(2),
        lambda r: r * mp.log(2) / mp.log1p(r),
        LOG_LOW,
        LOG_HIGH,
        tuple(range(7)),
    )
    ln2 = Table("tcf_ln2_wide", "f64", split(mp.log(2), "f64", 1))
    log2e = Table("tcf_log2e_wide", "f64", split(1 / mp.log(2), "f64", 1))
    return [ln2, log2e, _double("tcf_log_wide", natural), _double("tcf_log2_wide", two)]


def log_of_base(name: str, base: int, inverses: Inverses) -> list[Table]:
    """log(m) of each piece, r scale + r^2 P(r) = log(1 + r), and log(2), to `base`, in float words."""
    ln = mp.log(base)
    exact = [-mp.log(c) / ln for c in inverses()]
    high = tuple(mp.nint(v * SHORT) / SHORT for v in exact)
    low = tuple(round_to_bits(v - h, 24) for v, h in zip(exact, high, strict=True))
    problem = Problem(
        lambda r: (mp.log1p(r) - r) / r**2 / ln,
        lambda r: r**2 * ln / mp.log1p(r),
        LOG_LOW,
        LOG_HIGH,
        tuple(range(5)),
    )
    step = mp.nint(mp.log(2) / ln * SHORT) / SHORT
    return [
        Table(f"tcf_{name}_value", "f32", high),
        Table(f"tcf_{name}_value_low", "f32", low),
        Table(f"tcf_{name}_scale", "f32", split(1 / ln, "f32", 2)),
        Table(f"tcf_{name}_two", "f32", (step, round_to_bits(mp.log(2) / ln - step, 24))),
        fitted(f"tcf_{name}_p", "f32", problem, refits=4),
    ]


def erfc_scaled(t: mp.mpf) -> mp.mpf:
    return mp.exp(t * t) * mp.erfc(t)


def erfc_wide() -> list[Table]:
    """P of erfc(t) = e^(-t^2) w P(1 - 6 w), w = 1 / (t + 3), for 0 <= t <= 10.1."""

    def target(v: mp.mpf) -> mp.mpf:
        t = 3 * (1 + v) / (1 - v)
        return erfc_scaled(t) * (t + 3)

    problem = Problem(
        target, lambda v: 1 / target(v), mp.mpf(-1), mp.mpf("7.1") / mp.mpf("13.1"), tuple(range(10))
    )
    return [_double("tcf_erfc_wide", problem)]


def groups(inverses: Inverses) -> dict[str, Callable[[], list[Table]]]:
    """The groups of tools/coefficients.py; `inverses` are the 1 / m of the pieces of log."""
    return {
        "exp_wide_f32": exp_and_exp2,
        "sinh_f32": sinh_and_cosh,
        "tan_f32": sin_and_cos,
        "asin_f32": asin_and_atan,
        "fast_sin_f32": fast_sin,
        "log_wide_f32": log_wide,
        "log2_f32": lambda: log_of_base("log2", 2, inverses),
        "log10_f32": lambda: log_of_base("log10", 10, inverses),
        "erfc_f32": erfc_wide,
    }
