"""The abstract syntax tree: one frozen class per construct of `grammar/tdsl.lark`, each with its span.

Expressions may nest thousands deep (a sum of 3,000 terms is a left-leaning tree): walk them with an
explicit stack. Nodes compare by identity.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.source import Source, Span


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    span: Span


# -- expressions -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    id: str


@dataclass(frozen=True, slots=True, eq=False)
class Int(Node):
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class Float(Node):
    """`text` is the literal as written: it is rounded once, to the type it adapts to."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Bool(Node):
    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class NoneLiteral(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class String(Node):
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Node):
    """`op` is one of `-`, `+`, `~`, `not`."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Node):
    """`op` is one of `+ - * / // % ** @ & | ^ << >> and or`."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Compare(Node):
    """A chain `first OP operands[0] OP operands[1] ...`, as in Python."""

    first: Expr
    ops: tuple[str, ...]
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Keyword(Node):
    name: str
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """`function(args, keywords)`; `x.sum(axis=1)` is a call of an `Attribute`."""

    function: Expr
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Attribute(Node):
    value: Expr
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Node):
    """`start:stop:step`, each part may be missing."""

    start: Expr | None
    stop: Expr | None
    step: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Ellipsis(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Subscript(Node):
    value: Expr
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tuple(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Iterator(Node):
    """`name in extent`."""

    name: str
    extent: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Comprehension(Node):
    """`function(body for iterators)`."""

    function: Expr
    body: Expr
    iterators: tuple[Iterator, ...]


Expr = (
    Name
    | Int
    | Float
    | Bool
    | NoneLiteral
    | String
    | Unary
    | Binary
    | Compare
    | Call
    | Attribute
    | Slice
    | Ellipsis
    | Subscript
    | Tuple
    | Comprehension
)

# -- types, statements ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TypeExpr(Node):
    """`f32`, `f32[N, D]`, `T[H - 2]`; `sizes` is () for rank 0."""

    name: str
    sizes: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Decorator(Node):
    """`@name` or `@name(args)` before a statement or a kernel."""

    name: str
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Target(Node):
    """The left side of an assignment: a name, perhaps with a type."""

    name: str
    type: TypeExpr | None


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Node):
    decorators: tuple[Decorator, ...]
    targets: tuple[Target, ...]
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class IndexDefinition(Node):
    """`name[indices] = value for iterators`."""

    decorators: tuple[Decorator, ...]
    name: str
    indices: tuple[str, ...]
    value: Expr
    iterators: tuple[Iterator, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Iterate(Node):
    """`iterate [counter in] steps with carried { body }`."""

    counter: str | None
    steps: Expr
    carried: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Return(Node):
    values: tuple[Expr, ...]


Statement = Assign | IndexDefinition | Iterate | Return

# -- items of a file -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Import(Node):
    path: str


@dataclass(frozen=True, slots=True, eq=False)
class Const(Node):
    name: str
    type: TypeExpr | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class DimDeclaration(Node):
    """`name`, `name = value` (fixed) or `name ~ hint`."""

    name: str
    value: Expr | None
    hint: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Dims(Node):
    declarations: tuple[DimDeclaration, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FunctionParam(Node):
    name: str
    default: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Function(Node):
    """`def`; an expression body is one `Return`."""

    name: str
    params: tuple[FunctionParam, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TypeParam(Node):
    """`T: f32 | f64`."""

    name: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class KernelParam(Node):
    name: str
    type: TypeExpr
    default: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class Kernel(Node):
    """`results` is None when they are not written; a single unnamed result is one param named ""."""

    decorators: tuple[Decorator, ...]
    name: str
    type_params: tuple[TypeParam, ...]
    params: tuple[KernelParam, ...]
    results: tuple[KernelParam, ...] | None
    requires: tuple[Expr, ...]
    body: tuple[Statement, ...]
    doc: str


Item = Import | Const | Dims | Function | Kernel


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """One source file. Items that did not parse are missing; their errors are in the bag.

    `imported` is None until the imports are loaded; imports that failed are missing.
    `broken` holds the names that the missing items would declare.
    """

    source: Source
    items: tuple[Item, ...]
    imported: tuple[Imported, ...] | None = None
    broken: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Imported(Node):
    """An import statement's place, and the file it brings in."""

    file: File
