"""What the operators of the syntax are called in the operator table, and in logs."""

from __future__ import annotations

# Binary operator -> row of the operator table, and its short name in logs
BINARY = {
    "+": ("add", "add"),
    "-": ("subtract", "sub"),
    "*": ("multiply", "mul"),
    "/": ("divide", "div"),
    "//": ("floor_divide", "floordiv"),
    "%": ("remainder", "mod"),
    "**": ("power", "pow"),
    "&": ("bitwise_and", "bitand"),
    "|": ("bitwise_or", "bitor"),
    "^": ("bitwise_xor", "bitxor"),
    "<<": ("left_shift", "shl"),
    ">>": ("right_shift", "shr"),
    "and": ("logical_and", "and"),
    "or": ("logical_or", "or"),
}
UNARY = {"-": ("negative", "neg"), "~": ("bitwise_invert", "invert"), "not": ("logical_not", "not")}
COMPARE = {
    "==": ("equal", "eq"),
    "!=": ("not_equal", "ne"),
    "<": ("less", "lt"),
    "<=": ("less_equal", "le"),
    ">": ("greater", "gt"),
    ">=": ("greater_equal", "ge"),
}

_WRITTEN = {origin: symbol for table in (BINARY, UNARY, COMPARE) for symbol, (_, origin) in table.items()}


def written(origin: str) -> str:
    """An operation's name in a message: the operator in backquotes, else what was called."""
    if origin in ("neg", "pos"):
        return f"unary `{'-' if origin == 'neg' else '+'}`"
    return f"`{_WRITTEN[origin]}`" if origin in _WRITTEN else origin
