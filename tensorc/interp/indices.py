"""Evaluate index polynomials on whole index spaces with NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tensorc.index_algebra import Atom, FloorDiv, MinMax, Mod, Poly, Sym, as_poly

Indices = npt.NDArray[np.int64]


def index_mesh(names: Sequence[str], extents: Sequence[int]) -> dict[str, Indices]:
    """One array per axis, `0 .. extent - 1` along its own dimension, that broadcast together."""
    rank = len(names)
    mesh: dict[str, Indices] = {}
    for k, (name, extent) in enumerate(zip(names, extents, strict=True)):
        shape = [1] * rank
        shape[k] = extent
        mesh[name] = np.arange(extent, dtype=np.int64).reshape(shape)
    return mesh


def evaluate_index(index: Poly, axes: Mapping[str, Indices], dims: Mapping[str, int]) -> Indices:
    """`index` for every point of the mesh `axes`, broadcastable to its shape."""
    known = index.substitute({Sym(name): as_poly(value) for name, value in dims.items()})
    total = np.zeros((1,) * len(axes), dtype=np.int64)
    for monomial, coefficient in known.terms:
        product = np.full((1,) * len(axes), coefficient, dtype=np.int64)
        for atom, power in monomial:
            product = product * _evaluate_atom(atom, axes) ** power
        total = total + product
    return total


def _evaluate_atom(atom: Atom, axes: Mapping[str, Indices]) -> Indices:
    match atom:
        case Sym(name):
            return axes[name]
        case FloorDiv(num, den):
            return evaluate_index(num, axes, {}) // evaluate_index(den, axes, {})
        case Mod(num, den):
            return evaluate_index(num, axes, {}) % evaluate_index(den, axes, {})
        case MinMax(which, args):
            combine = np.minimum if which == "min" else np.maximum
            found = evaluate_index(args[0], axes, {})
            for arg in args[1:]:
                found = combine(found, evaluate_index(arg, axes, {}))
            return found
