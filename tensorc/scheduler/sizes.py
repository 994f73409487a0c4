"""Numbers for sizes: a score needs bytes, so every dim gets a value, and the log says which were assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensorc.index_algebra import Poly, Sym, as_poly, dim
from tensorc.signature import Signature

ASSUMED_SIZE = 1024


@dataclass(frozen=True, slots=True)
class Figures:
    """A value for every dim: the fixed size, else the hint, else 1024 (`assumed` lists those dims)."""

    values: Mapping[str, int]
    assumed: tuple[str, ...]

    def of(self, size: Poly) -> int:
        """The number a polynomial in the dims comes to."""
        constant = size.constant
        return size.estimate(self.values) if constant is None else constant

    def applied(self, p: Poly) -> Poly:
        """`p` with numbers for the dims; axes stay."""
        return p.substitute({Sym(name): as_poly(n) for name, n in self.values.items()})


def choose_figures(signature: Signature) -> Figures:
    """The figures of a kernel: fixed sizes and hints as declared, 1024 for the rest."""
    values: dict[str, int] = {}
    assumed: list[str] = []
    for d in signature.dims:
        known = d.fixed if d.fixed is not None else d.hint
        if known is None:
            assumed.append(d.name)
        values[d.name] = ASSUMED_SIZE if known is None else known
    return Figures(values, tuple(assumed))


def fixed_sizes(signature: Signature) -> dict[Sym, Poly]:
    """What to put for the dims whose size is known when compiling."""
    fixed = {d.name: d.fixed for d in signature.dims if d.fixed is not None}
    return {s: as_poly(fixed[name]) for name in fixed for s in dim(name).symbols()}
