"""A kernel's outward face: parameters, results, dims, checks. Every artefact is derived from it.

The C function takes parameters, results, then one `int64_t` per dim in order of first appearance
(a dim that is an integer scalar parameter is not passed twice), then `threads`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tensorc.dtypes import DType
from tensorc.index_algebra import Poly
from tensorc.source import Span

RELATIONS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter. Rank 0 is a scalar passed by value, the only kind with a default."""

    name: str
    dtype: DType
    shape: tuple[Poly, ...]
    written: str
    span: Span
    default: int | float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One result: a new C-contiguous array. `written` is the type as in the source or as inferred."""

    name: str
    dtype: DType
    shape: tuple[Poly, ...]
    written: str


@dataclass(frozen=True, slots=True)
class Dim:
    """A size symbol. `fixed` dims have a value and are not passed; `hint` only feeds estimates."""

    name: str
    fixed: int | None = None
    hint: int | None = None


@dataclass(frozen=True, slots=True)
class Binding:
    """How a call finds a dim: `coefficient * dim + rest == extent` of `param`'s `axis`.

    `axis` is None for an integer scalar parameter, whose value is the dim. Bindings are applied in
    order; `coefficient` and `rest` hold only dims that are bound before.
    """

    dim: str
    param: int
    axis: int | None
    coefficient: Poly
    rest: Poly


@dataclass(frozen=True, slots=True)
class Relation:
    """`left OP right` of sizes, OP one of == != < <= > >=."""

    left: Poly
    relation: str
    right: Poly


@dataclass(frozen=True, slots=True)
class SizeCheck:
    """A relation of sizes to be true at the call, or in its place one of `otherwise`.

    `kind` says what it is for: "axis" (`param`'s `axis` has this size), "requires", "shape" (a declared
    size), "nonempty" (a reduction without identity), "nonnegative" (an extent), "index" (a subscript is in
    range), "range" (an index is, for every step of its iterators: the text says what it reaches), "divisor"
    (of a size, not zero). For "axis", `left` and `right` are the declared size.
    """

    kind: str
    left: Poly
    relation: str
    right: Poly
    text: str
    span: Span
    param: int | None = None
    axis: int | None = None
    otherwise: tuple[Relation, ...] = ()

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What the call compares: one of these must be true."""
        return (Relation(self.left, self.relation, self.right), *self.otherwise)


@dataclass(frozen=True, slots=True)
class Generic:
    """The kernel with dtype parameters that a kernel is one case of: chosen when the parameters at the
    positions `params` (in the source of the types `types`) have the `dtypes`. `written` is its head there.
    """

    name: str
    params: tuple[int, ...]
    types: tuple[str, ...]
    dtypes: tuple[DType, ...]
    written: str


@dataclass(frozen=True, slots=True)
class Signature:
    """`dims` in order of first appearance; `doc` is the kernel's `##` comment."""

    name: str
    params: tuple[Param, ...]
    results: tuple[Result, ...]
    dims: tuple[Dim, ...]
    bindings: tuple[Binding, ...]
    checks: tuple[SizeCheck, ...]
    doc: str
    span: Span
    generic: Generic | None = None

    @property
    def passed_dims(self) -> tuple[str, ...]:
        """Dims that are arguments of the C function: bound from arrays, not fixed, not scalars."""
        scalars = {p.name for p in self.params if not p.shape}
        return tuple(d.name for d in self.dims if d.fixed is None and d.name not in scalars)

    def result_name(self, position: int) -> str:
        """The result's written name, else `out` (the only one) or `out0`, `out1`, ..."""
        name = self.results[position].name
        if name:
            return name
        return "out" if len(self.results) == 1 else f"out{position}"
