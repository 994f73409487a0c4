"""The constants in the elementary function headers are those that tools/coefficients.py fits."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import mpmath as mp
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import coefficients as fitting  # noqa: E402
import minimax  # noqa: E402
from coefficient_pieces import fit_piece  # noqa: E402

SLOW = (*(f"{name}_f32" for name in fitting.PIECES), "erf_f64")
QUICK = tuple(name for name in (*fitting.GROUPS, *fitting.WORDS) if name not in SLOW)


def numbers_of(table):
    """The values of a table as they stand in the headers."""
    text = "".join(header.read_text() for header in fitting.HEADERS)
    body = re.search(rf" {table}\[\d+\] = \{{([^}}]*)\}}", text).group(1)
    return [float.fromhex(number.strip().rstrip("f")) for number in body.split(",")]


@pytest.mark.parametrize("group", QUICK)
def test_headers_hold_what_the_script_prints(group):
    assert fitting.missing_definitions(fitting.print_group(group)) == []


@pytest.mark.parametrize("row", [0, 3, 24])
def test_erf_rows_of_f64(row):
    with mp.workdps(fitting.DIGITS):
        values, error = fitting.erf_row(row)
    assert numbers_of("tcd_erf_rows")[13 * row : 13 * row + 13] == [float(v) for v in values]
    assert error < mp.mpf(2) ** -55


@pytest.mark.parametrize("index", [0, 4])
@pytest.mark.parametrize("name", fitting.PIECES)
def test_pieces_of_f32(name, index):
    pieces = fitting.PIECES[name]
    with mp.workdps(fitting.DIGITS):
        piece = fit_piece(pieces, index)
    lane = (index + pieces.first_lane) % 8
    assert numbers_of(f"tcf_{name}_centre")[lane] == piece.centre
    assert numbers_of(f"tcf_{name}_value")[lane] == piece.value
    fitted = [numbers_of(f"tcf_{name}_p{j}")[lane] for j in range(pieces.terms)]
    assert fitted == list(piece.polynomial.values)


def test_fit_finds_the_best_line():
    """The best line for x^2 on [0, 1] is x - 1/8, with error 1/8."""
    problem = minimax.Problem(lambda x: x * x, lambda x: mp.mpf(1), mp.mpf(0), mp.mpf(1), (0, 1))
    (constant, slope), error = minimax.fit(problem, 24, 0)
    assert abs(constant + 0.125) < 0.001 and abs(slope - 1) < 0.001 and abs(error - 0.125) < 0.001


def test_missing_definition_is_named():
    wrong = "TC_CONST float tcf_log2e[1] = {\n    0x1p0f};"
    assert fitting.missing_definitions([wrong]) == ["tcf_log2e"]
    mended = fitting.replace_definition("a TC_CONST float tcf_log2e[1] = {\n 2}; b", wrong)
    assert mended == f"a {wrong} b"
