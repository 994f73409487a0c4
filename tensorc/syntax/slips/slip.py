"""What a slip is, and the parts that the tables share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slip:
    """One slip. `before` and `after` are patterns of the text around the place where the parse stops;
    `section`, `kind` (each: one of these words) and `accepts` (all of these) narrow it further, see `Place`.

    The mark runs from the group `here`, where there is one, else from the place, to the end of
    `after`, or, with `only_here`, to the end of that group. `adjacent` allows no space between
    `before` and the place. The texts may use the groups of the patterns and `$found`.
    """

    code: str
    example: str
    message: str
    help: str
    before: str = ""
    after: str = ""
    section: str = ""
    kind: str = ""
    accepts: tuple[str, ...] = ()
    label: str = ""
    only_here: bool = False
    adjacent: bool = False


LOOK_ALIKES = {
    "×": "*",
    "·": "*",
    "÷": "/",
    "−": "-",
    "–": "-",
    "—": "-",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "→": "->",
    "“": '"',
    "”": '"',
    "„": '"',
    "…": "...",
    "，": ",",
    "：": ":",
    "（": "(",
    "）": ")",
    "√": "sqrt(x)",
    "²": "** 2",
    "³": "** 3",
    "π": "pi",
    "∞": "inf",
    "∑": "sum(x)",
    "\u00a0": " ",
    "\u2009": " ",
    "\u202f": " ",
    "\u3000": " ",
    "\u200b": " ",
    "\ufeff": " ",
}
"""Characters that come from word processors and formulas, with what to write for them."""

STATEMENT = r"(?:[{;\n]|^)"  # what stands before a statement
DTYPE = r"(?:bool|b?f16|[iu](?:8|16|32|64)|f32|f64|float|double|int|float32|float64|int32|int64)"


def in_block(statement: str) -> str:
    return f"kernel f(x: f32[N], y: f32[N]) -> f32[N] {{\n    {statement}\n}}\n"
