"""The C that kernels are made of, as data: the subset of C that C++17 shares.

Nothing but `print_c` turns it into text. Names and types are plain strings.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    id: str


@dataclass(frozen=True, slots=True)
class Integer:
    value: int


@dataclass(frozen=True, slots=True)
class Literal:
    """A finite, non-negative floating literal, or an unsigned one, spelt with its suffix."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """`op` is one of `-`, `!`, `&`, `*`."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Index:
    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Cast:
    type: str
    operand: Expr


Expr = Name | Integer | Literal | Call | Unary | Binary | Conditional | Index | Cast


@dataclass(frozen=True, slots=True)
class Declare:
    """`type name[size] = value;` with the parts that are given."""

    type: str
    name: str
    value: Expr | None = None
    size: Expr | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Evaluate:
    expr: Expr


@dataclass(frozen=True, slots=True)
class For:
    """`for (; condition; variable += step) { body }`; `start` None continues with the variable as it is."""

    variable: str
    start: Expr | None
    condition: Expr
    step: int
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Return:
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Pragma:
    text: str


@dataclass(frozen=True, slots=True)
class Comment:
    text: str


Stmt = Declare | Assign | Evaluate | For | If | Block | Return | Pragma | Comment


@dataclass(frozen=True, slots=True)
class Parameter:
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Function:
    """`head` is what stands before the name: linkage, attributes and result type."""

    head: str
    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Verbatim top-level text: the runtime's headers, declarations, the manifest."""

    text: str


@dataclass(frozen=True, slots=True)
class Unit:
    items: tuple[Function | Text, ...]
