"""Where a piece of code stands: how dims, axes, buffers and values are spelt there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tensorc.codegen.c_ast import Binary, Expr, Integer, Name
from tensorc.codegen.expressions import size_expr
from tensorc.index_algebra import Atom, Poly, Sym, as_poly
from tensorc.loop_ir.program import Load
from tensorc.loop_schedule.program import RuntimeFailure

LANES = 8


@dataclass(frozen=True, slots=True)
class Context:
    """How values are spelt at one place of the code.

    `names` maps dims, axes and sizes that are computed ahead to C names, `arrays` buffers and scalar
    parameters; `vector` is the vector axis, if any, whose first lane is at `at`; `lanes` is the expression of
    the number of active lanes, None when all eight are. `suffix` keeps the copies of an unrolled body apart;
    `copied` holds the values that have copies, `varying` those that differ between lanes (known where gathers
    ask). `strip` is where a strip of columns begins whose scans have a carry for each vector. A check's
    status is 16 + its failure's position in `failures`. `conditions` are the guards of the nest's `inside`
    values, `extents` those of its loops.
    """

    names: Mapping[Atom, str]
    arrays: Mapping[str, str]
    vector: str | None = None
    at: Expr | None = None
    lanes: Expr | None = None
    suffix: str = ""
    copied: frozenset[str] = field(default_factory=frozenset)
    varying: frozenset[str] = field(default_factory=frozenset)
    failures: tuple[RuntimeFailure, ...] = ()
    strip: Expr | None = None
    conditions: Mapping[str, tuple[Poly, ...]] = field(default_factory=dict)
    extents: Mapping[str, Poly] = field(default_factory=dict)

    def value(self, name: str) -> Expr:
        return Name(self.value_name(name))

    def value_name(self, name: str) -> str:
        return name + self.suffix if name in self.copied else name

    def element(self, buffer: str, offset: Expr) -> Expr:
        """The address of an element of a buffer."""
        base = Name(self.arrays[buffer])
        return base if offset == Integer(0) else Binary("+", base, offset)

    def address(self, load: Load) -> Expr:
        """The address of what the first lane loads."""
        return self.element(load.buffer, split_index(load.index, self)[0])

    def inside(self, axis: str, at: Expr, lanes: Expr | None, body: frozenset[str], suffix: str) -> Context:
        """The context of one copy of a vector loop's body, which declares the values `body`."""
        return replace(self, vector=axis, at=at, lanes=lanes, suffix=suffix, copied=body)


def split_index(index: Poly, context: Context) -> tuple[Expr, Poly]:
    """An index at the first lane, and its stride along the vector axis."""
    if context.vector is None or context.at is None:
        return size_expr(index, context.names), as_poly(0)
    variable = Sym(context.vector, axis=True)
    stride = index.coefficient(variable)
    rest = index - stride * Poly([(((variable, 1),), 1)])
    if not stride.terms:
        return size_expr(rest, context.names), stride
    scaled = context.at if stride == 1 else Binary("*", context.at, size_expr(stride, context.names))
    return (scaled if not rest.terms else Binary("+", size_expr(rest, context.names), scaled)), stride
