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
