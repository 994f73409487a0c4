"""Print the constants of the elementary functions in tensorc/codegen/runtime.

    python tools/coefficients.py [--only NAME ...] [--errors] [--write | --check]

Every definition stands in one of HEADERS as it is printed: --write puts it there, --check compares
(tests/unit/test_elementary_tables.py does the quick ones). With --errors, the largest weighted error of each
fit (in units of 2^-24 or 2^-53) follows it.
"""

from __future__ import annotations

import argparse
import re
import struct
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import coefficients_composed as composed
import coefficients_more_f32 as more_f32
import coefficients_more_f64 as more_f64
import mpmath as mp
from coefficient_pieces import Pieces, print_pieces
from coefficient_tables import (
    BITS,
    DIGITS,
    REFITS,
    Table,
    fitted,
    print_table,
    print_words,
    split,
)
from minimax import Problem, fit, round_to_bits

RUNTIME = Path(__file__).parent.parent / "tensorc" / "codegen" / "runtime"
HEADERS = (
    RUNTIME / "elementary_f32_tables.h",
    RUNTIME / "elementary_more_tables.h",
    RUNTIME / "elementary_composed_f32.h",
    RUNTIME / "elementary_fast_f32.h",
    RUNTIME / "elementary_f64.h",
    RUNTIME / "elementary_erf_f64.h",
    RUNTIME / "elementary_composed_f64.h",
    RUNTIME / "elementary_more_f64.h",
    RUNTIME / "elementary_angles_f64.h",
    RUNTIME / "elementary_power_f64.h",
)


def exp_tail(name: str, dtype: str, terms: int, relative_to: Callable[[mp.mpf], mp.mpf]) -> Table:
    """Q of e^r = 1 + r + r^2 Q(r) for |r| <= ln(2) / 2."""
    half = mp.log(2) / 2
    problem = Problem(
        lambda r: (mp.exp(r) - 1 - r) / r**2,
        lambda r: r**2 / relative_to(r),
        -half,
        half,
        tuple(range(terms)),
    )
    return fitted(name, dtype, problem, REFITS[dtype])


EIGHTH = mp.mpf(1) / 16 * (1 + mp.mpf("1e-4"))
"""Half the distance of eighths, with a margin for the rounding that picks one."""


def exp_eighth() -> Table:
    """P of e^r = 1 + r + r^2 P(r) for |r| <= ln(2) / 16."""
    border = EIGHTH * mp.log(2)
    problem = Problem(
        lambda r: (mp.exp(r) - 1 - r) / r**2, lambda r: r**2 / mp.exp(r), -border, border, (0, 1)
    )
    return fitted("tcf_exp_p", "f32", problem, refits=1)


def exp2_eighth() -> Table:
    """P of 2^r = 1 + r P(r) for |r| <= 1/16."""
    problem = Problem(
        lambda r: (mp.mpf(2) ** r - 1) / r, lambda r: r / mp.mpf(2) ** r, -EIGHTH, EIGHTH, (0, 1, 2)
    )
    return fitted("tcf_exp2_p", "f32", problem, refits=2)


def eighth_roots() -> list[Table]:
    """2^(i / 8) as a float, and the relative rest.

    The float stands with i / 8 taken from its exponent field: adding k + i / 8 there gives 2^(k + i / 8).
    """
    exact = [mp.mpf(2) ** (mp.mpf(i) / 8) for i in range(8)]
    high = [round_to_bits(x, 24) for x in exact]
    low = tuple(round_to_bits(x / h - 1, 24) for x, h in zip(exact, high, strict=True))
    turned = tuple(move_exponent_field(h, -i) for i, h in enumerate(high))
    return [Table("tcf_root_high", "f32", turned), Table("tcf_root_low", "f32", low)]


def move_exponent_field(value: mp.mpf, eighths: int) -> mp.mpf:
    """The float whose bits are those of the float `value` plus `eighths` of an exponent step."""
    bits = struct.unpack("<i", struct.pack("<f", float(value)))[0] + (eighths << 20)
    return mp.mpf(struct.unpack("<f", struct.pack("<i", bits))[0])


def exp2_tail(name: str, dtype: str, terms: int) -> Table:
    """P of 2^r = 1 + r P(r) for |r| <= 1/2."""
    problem = Problem(
        lambda r: (mp.mpf(2) ** r - 1) / r,
        lambda r: r / mp.mpf(2) ** r,
        mp.mpf(-1) / 2,
        mp.mpf(1) / 2,
        tuple(range(terms)),
    )
    return fitted(name, dtype, problem, REFITS[dtype])


LOG_FIRST = 0x3F3A0000
"""Bits of the lower border of the mantissas, 0.7265625; each eighth of the exponent step above is a piece."""
LOG_BELOW_ONE = mp.mpf("0.9655")
"""The m of the piece below the one around 1: near their border, where log(m) + log(1 + r) cancels."""


def log_pieces() -> list[Table]:
    """For each piece a float c close to 1 / m inside it, and log(m), which c makes a multiple of 2^-17.

    The piece around 1 has c = 1, so that log keeps its relative error there.
    """
    pieces: list[tuple[mp.mpf, mp.mpf]] = []
    for i in range(8):
        low, high = (float_of_bits(LOG_FIRST + (j << 20)) for j in (i, i + 1))
        if low < 1 < high:
            pieces.append((mp.mpf(1), mp.mpf(0)))
        else:
            pieces.append(inverse_with_short_log(LOG_BELOW_ONE if i == 3 else (low + high) / 2))
    inverses, values = zip(*pieces, strict=True)
    return [Table("tcf_log_inverse", "f32", inverses), Table("tcf_log_value", "f32", values)]


def float_of_bits(bits: int) -> mp.mpf:
    return mp.mpf(struct.unpack("<f", struct.pack("<i", bits))[0])


def inverse_with_short_log(middle: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """A float c = 1 / m with m near `middle` and log(m) within 2^-33 of a multiple of 2^-17, and log(m)."""
    start = mp.nint(mp.log(middle) * 2**17)
    for i in range(4000):
        value = (start + (i + 1) // 2 * (-1) ** i) / 2**17
        inverse = round_to_bits(mp.exp(-value), 24)
        if abs(mp.log(inverse) + value) < mp.mpf(2) ** -33:
            return inverse, value
    raise ArithmeticError(f"no inverse near {middle}")


def log_eighth() -> Table:
    """P of log(1 + r) = r + r^2 P(r) on the pieces."""
    problem = Problem(
        lambda r: (mp.log(1 + r) - r) / r**2,
        lambda r: r**2 / mp.log(1 + r),
        mp.mpf("-0.06"),
        mp.mpf("0.0785"),
        (0, 1, 2, 3),
    )
    return fitted("tcf_log_p", "f32", problem, refits=3)


def short_ln2() -> Table:
    """ln(2) with a first word of which 8-bit multiples are multiples of 2^-16 exactly."""
    first = mp.nint(mp.log(2) * 2**16) / 2**16
    return Table("tcf_ln2_short", "f32", (first, round_to_bits(mp.log(2) - first, 24)))


def log_tail_f64() -> Table:
    """R of 2 atanh(s) = 2 s + s^3 R(s^2), s = f / (2 + f), for 1 + f in [sqrt(1/2), sqrt(2)]."""
    bound = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
    problem = Problem(
        lambda s: (2 * mp.atanh(s) - 2 * s) / s**3,
        lambda s: s**3 / mp.atanh(s) / 2,
        mp.mpf(0),
        bound,
        tuple(range(0, 14, 2)),
    )
    return fitted("tcd_log_p", "f64", problem, REFITS["f64"])


def sin_half_turn() -> Table:
    """P of sin(r) = r P(r^2) for |r| <= pi / 2, in double words for the f32 functions."""
    problem = Problem(
        lambda r: mp.sin(r) / r, lambda r: r / mp.sin(r), mp.mpf(0), mp.pi / 2, tuple(range(0, 10, 2))
    )
    return fitted("tcf_sin_p", "f64", problem, refits=0)


def quarter_turn_f32() -> list[Table]:
    """S of sin(r) = r + r^3 S(r^2) and C of cos(r) = 1 - r^2 / 2 + r^4 C(r^2) for |r| <= pi / 4."""
    border = mp.pi / 4 * (1 + mp.mpf("1e-5"))
    sine = Problem(lambda r: (mp.sin(r) - r) / r**3, lambda r: r**3 / mp.sin(r), mp.mpf(0), border, (0, 2, 4))
    cosine = Problem(
        lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4,
        lambda r: r**4 / mp.cos(r),
        mp.mpf(0),
        border,
        (0, 2, 4),
    )
    return [fitted("tcf_sin_s", "f32", sine, refits=2), fitted("tcf_cos_c", "f32", cosine, refits=2)]


def sin_quarter_turn() -> Table:
    """S of sin(r) = r + r^3 S(r^2) for |r| <= pi / 4."""
    problem = Problem(
        lambda r: (mp.sin(r) - r) / r**3,
        lambda r: r**3 / mp.sin(r),
        mp.mpf(0),
        mp.pi / 4,
        tuple(range(0, 12, 2)),
    )
    return fitted("tcd_sin_p", "f64", problem, REFITS["f64"])


def cos_quarter_turn() -> Table:
    """C of cos(r) = 1 - r^2 / 2 + r^4 C(r^2) for |r| <= pi / 4."""
    problem = Problem(
        lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4,
        lambda r: r**4 / mp.cos(r),
        mp.mpf(0),
        mp.pi / 4,
        tuple(range(0, 12, 2)),
    )
    return fitted("tcd_cos_p", "f64", problem, REFITS["f64"])


def erf_borders() -> list[mp.mpf]:
    """Around i / 1.912, the index being t * 1.912 rounded."""
    return [mp.mpf(0)] + [(i + mp.mpf(1) / 2) / mp.mpf("1.912") for i in range(8)]


def tanh_borders() -> list[mp.mpf]:
    """Half octaves of 1 + 1.66 t, whose lane is the low three bits of its bits >> 22."""
    octaves = [mp.mpf(2) ** (i // 2) * (1 + mp.mpf(i % 2) / 2) for i in range(9)]
    return [(s - 1) / mp.mpf("1.66") for s in octaves]


PIECES: dict[str, Pieces] = {
    "erf": Pieces(mp.erf, erf_borders, 6, identity=True),
    "tanh": Pieces(mp.tanh, tanh_borders, 7, first_lane=6, identity=True),
    **composed.PIECES,
}


def erf_row(i: int) -> tuple[tuple[mp.mpf, ...], mp.mpf]:
    """Row (value, its low word, P0 .. P10) of erf(i / 4 + u) = value + u P(u), |u| <= 1/8, and its error.

    Row 0 is erf(u) = u + u P(u^2), up to 1/4: row 1 would lose digits below its centre.
    """
    border = mp.mpf(1) / (4 if i == 0 else 8)
    centre = mp.mpf(i) / 4
    at_centre = mp.erf(centre)
    shift = 1 if i == 0 else 0
    problem = Problem(
        lambda u: (mp.erf(centre + u) - at_centre) / u - shift,
        lambda u: u / mp.erf(centre + u),
        mp.mpf(0) if i == 0 else -border,
        border,
        tuple(range(0, 22, 2)) if i == 0 else tuple(range(11)),
    )
    values, error = fit(problem, BITS["f64"], REFITS["f64"])
    return (*split(at_centre, "f64", 2), *values), error


def erf_f64() -> list[Table]:
    """The 25 rows one after the other: erf is 1 from 5.95 on."""
    rows = [erf_row(i) for i in range(25)]
    values = tuple(value for row, _ in rows for value in row)
    return [Table("tcd_erf_rows", "f64", values, max(error for _, error in rows))]


def turn_words(bits: int, padding: int) -> list[int]:
    """Bits of 1 / (2 pi) after the point, `padding` zero bits first, in 64-bit words, last word complete."""
    count = -(-(bits + padding) // 64)
    with mp.workprec(64 * count + 64):
        scaled = int(mp.floor(mp.ldexp(1 / (2 * mp.pi), 64 * count - padding)))
    return [(scaled >> (64 * (count - 1 - i))) & (2**64 - 1) for i in range(count)]


def half_pi_words() -> tuple[mp.mpf, ...]:
    """pi / 2 for reduction by up to 2^7 quarter turns.

    The middle word is short, so that taking k times it from a small number leaves no rounding error; all are
    positive, which sin(-0) needs.
    """
    first = mp.floor(mp.pi / 2 * 2**23) / 2**23
    second = mp.floor((mp.pi / 2 - first) * 2**38) / 2**38
    return first, second, round_to_bits(mp.pi / 2 - first - second, 24)


def constants_f32() -> list[Table]:
    return [
        Table("tcf_ln2", "f32", split(mp.log(2), "f32", 2)),
        Table("tcf_log2e", "f32", split(1 / mp.log(2), "f32", 1)),
        Table("tcf_half_pi", "f32", half_pi_words()),
        Table("tcf_inv_half_pi", "f32", split(2 / mp.pi, "f32", 1)),
        Table("tcf_pi", "f64", split(mp.pi, "f64", 2)),
        Table("tcf_inv_pi", "f64", split(1 / mp.pi, "f64", 1)),
    ]


def constants_f64() -> list[Table]:
    return [
        Table("tcd_ln2", "f64", split(mp.log(2), "f64", 2)),
        Table("tcd_log2e", "f64", split(1 / mp.log(2), "f64", 1)),
        Table("tcd_half_pi", "f64", split(mp.pi / 2, "f64", 3)),
        Table("tcd_inv_half_pi", "f64", split(2 / mp.pi, "f64", 1)),
    ]


def relative_to_exp(r: mp.mpf) -> mp.mpf:
    return mp.exp(r)


def relative_to_expm1(r: mp.mpf) -> mp.mpf:
    return mp.expm1(r)


GROUPS: dict[str, Callable[[], list[Table]]] = {
    "constants_f32": constants_f32,
    "exp_f32": lambda: [exp_eighth(), *eighth_roots()],
    "exp2_f32": lambda: [exp2_eighth()],
    "expm1_f32": lambda: [exp_tail("tcf_expm1_p", "f32", 6, relative_to_expm1)],
    "log_f32": lambda: [short_ln2(), log_eighth(), *log_pieces()],
    "sin_f32": lambda: [sin_half_turn(), *quarter_turn_f32()],
    **{f"{name}_f32": partial(print_pieces, name, pieces) for name, pieces in PIECES.items()},
    "constants_f64": constants_f64,
    "exp_f64": lambda: [exp_tail("tcd_exp_p", "f64", 10, relative_to_exp)],
    "exp2_f64": lambda: [exp2_tail("tcd_exp2_p", "f64", 11)],
    "expm1_f64": lambda: [exp_tail("tcd_expm1_p", "f64", 11, relative_to_expm1)],
    "log_f64": lambda: [log_tail_f64()],
    "sin_f64": lambda: [sin_quarter_turn()],
    "cos_f64": lambda: [cos_quarter_turn()],
    "erf_f64": erf_f64,
    **more_f32.groups(lambda: log_pieces()[0].values),
    **more_f64.GROUPS,
    **composed.GROUPS,
}
WORDS: dict[str, Callable[[], tuple[str, list[int]]]] = {
    "turn_f32": lambda: ("tcf_turn", turn_words(104 + 128, 32)),
    "turn_f64": lambda: ("tcd_turn", turn_words(971 + 192, 64)),
}


def print_group(name: str, errors: bool = False) -> list[str]:
    """The definitions of one group, one string a table."""
    with mp.workdps(DIGITS):
        if name in WORDS:
            return [print_words(*WORDS[name]())]
        printed: list[str] = []
        for table in GROUPS[name]():
            printed.append(print_table(table))
            if errors and table.error is not None:
                unit = mp.mpf(2) ** -BITS[table.dtype]
                printed.append(f"// largest error {mp.nstr(table.error / unit, 4)} * 2^-{BITS[table.dtype]}")
        return printed


def name_of(definition: str) -> str:
    """The table's name in a printed definition."""
    return definition.split("[")[0].split()[-1]


def replace_definition(text: str, definition: str) -> str:
    """`text` with its definition of the same table replaced; unchanged when it has none."""
    pattern = rf"TC_CONST \w+ {name_of(definition)}\[\d+\] = \{{[^}}]*\}};"
    return re.sub(pattern, lambda _: definition, text)


def update_headers(definitions: Sequence[str]) -> None:
    for header in HEADERS:
        text = header.read_text()
        for definition in definitions:
            text = replace_definition(text, definition)
        header.write_text(text)


def missing_definitions(definitions: Sequence[str]) -> list[str]:
    """Names of the tables whose definition stands in no header as printed."""
    text = "".join(header.read_text() for header in HEADERS)
    return [name_of(d) for d in definitions if d not in text]


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the constants of the elementary function headers.")
    parser.add_argument("--only", nargs="+", choices=[*GROUPS, *WORDS], default=[*GROUPS, *WORDS])
    parser.add_argument("--errors", action="store_true", help="print the largest error of each fit")
    parser.add_argument("--write", action="store_true", help="put the constants into the headers")
    parser.add_argument("--check", action="store_true", help="fail when a header differs")
    arguments = parser.parse_args()
    printed = [line for name in arguments.only for line in print_group(name, arguments.errors)]
    if arguments.write:
        update_headers([line for line in printed if line.startswith("TC_CONST")])
    elif arguments.check:
        missing = missing_definitions([line for line in printed if line.startswith("TC_CONST")])
        if missing:
            raise SystemExit(f"not in the headers as fitted: {', '.join(missing)}")
    else:
        print("\n".join(printed))


if __name__ == "__main__":
    main()
