"""Tables of constants: fitted, split into words, and printed as C++ definitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mpmath as mp
from minimax import Problem, fit, round_to_bits

BITS = {"f32": 24, "f64": 53}
REFITS = {"f32": 7, "f64": 2}
ROW = 4
DIGITS = 45


@dataclass(frozen=True, slots=True)
class Table:
    """A named row of constants for one element type; `error` is None for exact words."""

    name: str
    dtype: str
    values: tuple[mp.mpf, ...]
    error: mp.mpf | None = None


def print_number(value: mp.mpf, dtype: str) -> str:
    """A hexadecimal literal that is exactly `value`."""
    digits = float(value).hex()
    sign_and_lead, _, rest = digits.partition(".")
    mantissa, _, exponent = rest.partition("p")
    mantissa = mantissa.rstrip("0")
    point = f".{mantissa}" if mantissa else ""
    return f"{sign_and_lead}{point}p{int(exponent)}{'f' if dtype == 'f32' else ''}"


def print_table(table: Table) -> str:
    """The C++ definition of a table."""
    c_type = "float" if table.dtype == "f32" else "double"
    numbers = [print_number(v, table.dtype) for v in table.values]
    rows = [", ".join(numbers[i : i + ROW]) for i in range(0, len(numbers), ROW)]
    body = ",\n    ".join(rows)
    return f"TC_CONST {c_type} {table.name}[{len(numbers)}] = {{\n    {body}}};"


def print_words(name: str, words: Sequence[int]) -> str:
    rows = [", ".join(f"0x{w:016x}u" for w in words[i : i + ROW]) for i in range(0, len(words), ROW)]
    body = ",\n    ".join(rows)
    return f"TC_CONST tc_u64_t {name}[{len(words)}] = {{\n    {body}}};"


def fitted(name: str, dtype: str, problem: Problem, refits: int) -> Table:
    values, error = fit(problem, BITS[dtype], refits)
    return Table(name, dtype, tuple(values), error)


def split(value: mp.mpf, dtype: str, words: int) -> tuple[mp.mpf, ...]:
    """`value` as a sum of `words` numbers of falling size, each the nearest to what is left."""
    parts: list[mp.mpf] = []
    for _ in range(words):
        parts.append(round_to_bits(value - mp.fsum(parts), BITS[dtype]))
    return tuple(parts)
