"""Minimax polynomials with coefficients of a machine format: Remez exchange on a grid, in mpmath.

`fit` minimises max |weight(x) * (target(x) - sum c_j x^e_j)| over an interval. Rounding a finished fit loses
digits, so coefficients are rounded one at a time, lowest power first, and the rest is fitted again around
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mpmath as mp

Real = Callable[[mp.mpf], mp.mpf]
GRID_PER_TERM = 24
EXCHANGES = 8
CONVERGED = mp.mpf("1.0001")


@dataclass(frozen=True, slots=True)
class Problem:
    """Approximate `target` on [low, high] by powers `exponents`, error weighted by `weight`."""

    target: Real
    weight: Real
    low: mp.mpf
    high: mp.mpf
    exponents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Samples:
    """The problem on its grid: one row of weighted basis values and one weighted target a point."""

    exponents: tuple[int, ...]
    points: tuple[mp.mpf, ...]
    rows: tuple[tuple[mp.mpf, ...], ...]
    values: tuple[mp.mpf, ...]


def round_to_bits(value: mp.mpf, bits: int) -> mp.mpf:
    """Nearest number with `bits` significant bits, ties to even."""
    if value == 0:
        return mp.mpf(0)
    scale = mp.mpf(2) ** (bits - 1 - mp.floor(mp.log(abs(value), 2)))
    return mp.nint(value * scale) / scale


def fit(problem: Problem, bits: int, refits: int) -> tuple[list[mp.mpf], mp.mpf]:
    """Coefficients of `bits` bits and the largest weighted error on the grid.

    After each of the first `refits` roundings the rest is fitted again; rounding all of the rest at once is
    tried at every step, and the best row of all is the answer.
    """
    grid = _sample(problem)
    fixed: list[mp.mpf] = []
    best: list[mp.mpf] = []
    best_error = mp.inf
    for _ in range(min(refits, len(problem.exponents) - 1) + 1):
        rounded = [round_to_bits(c, bits) for c in _exchange(grid, fixed, len(problem.exponents))]
        error = max(abs(e) for e in _errors(grid, fixed + rounded))
        if error < best_error:
            best, best_error = fixed + rounded, error
        fixed.append(rounded[0])
    return best, best_error


def _sample(problem: Problem) -> Samples:
    count = GRID_PER_TERM * (len(problem.exponents) + 2)
    middle, half = (problem.low + problem.high) / 2, (problem.high - problem.low) / 2
    points: list[mp.mpf] = []
    rows: list[tuple[mp.mpf, ...]] = []
    values: list[mp.mpf] = []
    for i in range(count):
        x = middle - half * mp.cos(mp.pi * (i + mp.mpf(1) / 2) / count)
        points.append(x)
        weight = abs(problem.weight(x))  # a change of sign would break the alternation
        rows.append(tuple(weight * x**e for e in problem.exponents))
        values.append(weight * problem.target(x))
    return Samples(problem.exponents, tuple(points), tuple(rows), tuple(values))


def _errors(grid: Samples, coefficients: Sequence[mp.mpf]) -> list[mp.mpf]:
    return _differences(grid.rows, grid.values, coefficients)


def _differences(
    rows: Sequence[Sequence[mp.mpf]], values: Sequence[mp.mpf], coefficients: Sequence[mp.mpf]
) -> list[mp.mpf]:
    return [v - mp.fdot(zip(row, coefficients, strict=True)) for row, v in zip(rows, values, strict=True)]


def _remainder(grid: Samples, fixed: Sequence[mp.mpf]) -> tuple[list[list[mp.mpf]], list[mp.mpf]]:
    """Rows and values once the first coefficients are fixed.

    The lowest power left is turned positive everywhere: only then does the best error alternate in sign.
    """
    start = len(fixed)
    odd = grid.exponents[start] % 2 == 1
    signs = [-1 if odd and x < 0 else 1 for x in grid.points]
    rows = [[sign * term for term in row[start:]] for sign, row in zip(signs, grid.rows, strict=True)]
    left = _differences([row[:start] for row in grid.rows], grid.values, fixed)
    return rows, [sign * v for sign, v in zip(signs, left, strict=True)]


def _exchange(grid: Samples, fixed: Sequence[mp.mpf], terms: int) -> list[mp.mpf]:
    """Best free coefficients once the first ones are fixed."""
    free = terms - len(fixed)
    rows, values = _remainder(grid, fixed)
    last = len(rows) - 1
    reference = [round(last * (1 - mp.cos(mp.pi * i / free)) / 2) for i in range(free + 1)]
    best: list[mp.mpf] = []
    best_error = mp.inf
    for _ in range(EXCHANGES):
        matrix = mp.matrix([[*rows[p], mp.mpf((-1) ** i)] for i, p in enumerate(reference)])
        solved = mp.lu_solve(matrix, mp.matrix([values[p] for p in reference]))
        solution = [solved[i] for i in range(free)]
        errors = _differences(rows, values, solution)
        error = max(abs(e) for e in errors)
        if error < best_error:
            best, best_error = solution, error
        following = _alternating_peaks(errors, free + 1)
        if len(following) != free + 1 or following == reference or error <= abs(solved[free]) * CONVERGED:
            break
        reference = following
    return best


def _alternating_peaks(errors: Sequence[mp.mpf], wanted: int) -> list[int]:
    """Grid positions of the largest error of each run of one sign, shortened from the ends to `wanted`."""
    peaks: list[int] = []
    for i, error in enumerate(errors):
        if peaks and (errors[peaks[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > wanted:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return peaks
