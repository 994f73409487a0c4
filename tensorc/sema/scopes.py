"""What names mean: the file's declarations, and the frame of one kernel or one call of a `def`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tensorc.diagnostics.model import DiagnosticBag, Label
from tensorc.diagnostics.nearness import near_names
from tensorc.dtypes import SUPPORTED
from tensorc.sema.operations import LATER, OPERATIONS
from tensorc.sema.values import POISON, Value
from tensorc.source import Span
from tensorc.syntax import ast
from tensorc.tensor_ir.program import Shape

CONSTANTS = {"pi": 3.141592653589793, "e": 2.718281828459045, "inf": float("inf"), "nan": float("nan")}


@dataclass(slots=True)
class Local:
    """A parameter or an assigned name; `read` tells unused ones."""

    value: Value
    span: Span
    read: bool = False


@dataclass(frozen=True, slots=True)
class DimFact:
    """What the file and the command say about a size symbol."""

    fixed: int | None
    hint: int | None


@dataclass(slots=True)
class FileScope:
    """Declarations of one file and of what it imports; `recursive` holds the `def`s that reach themselves.

    An imported `def` is checked in the scope of the file that it is from, which is its entry in `homes`.
    `incomplete`: an import failed, so that a name may be unknown for that reason alone; `broken` holds the
    names of declarations that did not parse, `kernels` those that cannot be called, and `later` the constants
    that are not read yet. `inlined` collects the file's own `def`s that some kernel called.
    """

    dims: dict[str, DimFact] = field(default_factory=dict)
    consts: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, ast.Function] = field(default_factory=dict)
    homes: dict[str, FileScope] = field(default_factory=dict)
    incomplete: bool = False
    broken: frozenset[str] = frozenset()
    kernels: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()
    recursive: frozenset[str] = frozenset()
    declared: dict[str, Span] = field(default_factory=dict)
    inlined: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Frame:
    """The names in reach of one body.

    `call` is the place of the inlined call (None in a kernel), `function` the `def` it runs.
    `open_symbols` makes unknown names size symbols, as in the types of parameters; `in_type` is set in any
    other type, and `of_size` where the expression is a size. `domain` holds the extents of the iterators
    around, `sizes` the symbols that no local of a kernel may hide.
    """

    call: Span | None = None
    function: str = ""
    open_symbols: bool = False
    in_type: bool = False
    of_size: bool = False
    domain: Shape = ()
    names: dict[str, Local] = field(default_factory=dict)
    sizes: Mapping[str, Span] = field(default_factory=dict)

    def place(self, span: Span) -> Span:
        return span if self.call is None else span.called_from(self.call)

    def bind(self, bag: DiagnosticBag, name: str, value: Value, span: Span) -> None:
        """Assign a name once; `_` is thrown away."""
        if name == "_":
            return
        first = self.names.get(name)
        if first is not None:
            bag.error(
                "TC0202",
                f"`{name}` is assigned twice",
                span,
                label="assigned again here",
                secondary=(Label(first.span, "first assigned here"),),
                help=f"names are assigned once: choose another, as {name}2",
            )
            return
        if name in self.sizes:
            bag.error(
                "TC0207",
                f"`{name}` is both a local name and a size",
                span,
                label="hides the size",
                secondary=(Label(self.sizes[name], "a size here"),),
                help="rename one of them",
            )
            value = POISON
        self.names[name] = Local(value, span)


def warn_hiding(bag: DiagnosticBag, name: str, span: Span) -> None:
    """A name of the program that takes the place of an operation or constant."""
    # `e` is left out: it is the usual name of an exponential
    hides = name in OPERATIONS or name in LATER or name in SUPPORTED or name in ("pi", "inf", "nan")
    if hides:
        what = "constant" if name in CONSTANTS else "dtype" if name in SUPPORTED else "operation"
        bag.warning("TC0208", f"`{name}` hides the {what} of that name", span, label="from here on")


def near(name: str, candidates: Iterable[str]) -> str:
    """A help line with the nearest names, or nothing."""
    found = near_names(name, candidates)
    return f"did you mean {' or '.join(f'`{n}`' for n in found)}?" if found else ""


def dtype_names() -> tuple[str, ...]:
    return tuple(SUPPORTED)
