"""Fits of gelu and softplus for tools/coefficients.py.

gelu(x) is relu(x) - gate(|x|) with gate(t) = t Q(t) and Q(t) = erfc(t / sqrt(2)) / 2, a function that falls
to 0 and is wanted with its relative error; softplus(x) is relu(x) + log(1 + e), e = e^-|x|.
"""

from __future__ import annotations

from collections.abc import Callable

import mpmath as mp
from coefficient_pieces import Pieces
from coefficient_tables import Table, fitted, split
from minimax import Problem, round_to_bits

MARGIN = 1 + mp.mpf("1e-6")
NEAR_ZERO = mp.mpf("1e-6")
GELU_BORDER = mp.mpf(3) / 4
GELU_SLOPE = mp.mpf(3) / 8
GELU_CENTRE = 5
GELU_VALUE = mp.mpf(15) / 32
GELU_LIMIT = "5.4"
GELU_BEND = "0.2"
LAST_INDEX = "7.49"
"""Just below 7.5, which would round to piece 8."""


def tail(t: mp.mpf) -> mp.mpf:
    """The normal distribution's probability of more than t."""
    return mp.erfc(t / mp.sqrt(2)) / 2


def gelu_gate(t: mp.mpf) -> mp.mpf:
    return t * tail(t)


def log_slope(e: mp.mpf) -> mp.mpf:
    return mp.log1p(e) / e if e else mp.mpf(1)


def gelu_steps() -> tuple[mp.mpf, mp.mpf]:
    """a and b of the index a t + b t^2, rounded: narrower pieces where the gate falls faster."""
    limit, bend = mp.mpf(GELU_LIMIT), mp.mpf(GELU_BEND)
    step = mp.mpf(LAST_INDEX) / (limit + bend * limit**2)
    return step, bend * step


def gelu_borders() -> list[mp.mpf]:
    a, b = gelu_steps()
    ends = [(mp.sqrt(a * a + 4 * b * (i + mp.mpf("0.5"))) - a) / (2 * b) for i in range(8)]
    return [mp.mpf(0), *ends]


def softplus_borders() -> list[mp.mpf]:
    """Around i / 7.49, the index being e * 7.49 rounded."""
    return [mp.mpf(0)] + [(i + mp.mpf("0.5")) / mp.mpf(LAST_INDEX) for i in range(8)]


# the gate's centres lie right of the middle: left of a centre the polynomial adds to the value, right of it
# digits cancel
PIECES = {
    "gelu": Pieces(gelu_gate, gelu_borders, 8, middle="0.7"),
    "softplus": Pieces(log_slope, softplus_borders, 4),
}


def constants() -> list[Table]:
    return [
        Table("tcf_sqrt_half_wide", "f64", split(mp.sqrt(mp.mpf(1) / 2), "f64", 1)),
        Table("tcf_gelu_step", "f32", tuple(round_to_bits(step, 24) for step in gelu_steps())),
    ]


def gelu_near() -> Table:
    """Q of gelu(x) = x (1/2 + x (3/8 + Q(x^2))) for |x| <= 3/4."""
    problem = Problem(
        lambda x: mp.erf(x / mp.sqrt(2)) / (2 * x) - GELU_SLOPE,
        lambda x: x / tail(x),
        NEAR_ZERO,
        GELU_BORDER * MARGIN,
        tuple(range(0, 20, 2)),
    )
    return fitted("tcd_gelu_near_p", "f64", problem, refits=2)


def gelu_far() -> Table:
    """P of Q(t) = e^(-t^2 / 2) (15/32 + P(q)) / (1 + t), q = (t - 5) / (t + 5), for t from 3/4 on."""

    def scaled(q: mp.mpf) -> mp.mpf:
        t = GELU_CENTRE * (1 + q) / (1 - q)
        return (1 + t) * mp.exp(t * t / 2) * tail(t)

    def place(t: mp.mpf) -> mp.mpf:
        return (t - GELU_CENTRE) / (t + GELU_CENTRE)

    problem = Problem(
        lambda q: scaled(q) - GELU_VALUE,
        lambda q: 1 / scaled(q),
        place(GELU_BORDER / MARGIN),
        place(mp.mpf("39")),
        tuple(range(22)),
    )
    return fitted("tcd_gelu_far_p", "f64", problem, refits=1)


GROUPS: dict[str, Callable[[], list[Table]]] = {
    "composed_f32": constants,
    "gelu_f64": lambda: [gelu_near(), gelu_far()],
}
