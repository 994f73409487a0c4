"""Bind a kernel's dims from its arguments and check its sizes, as the compiled kernel's loader does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensorc.index_algebra import Poly
from tensorc.interp.float_values import carried, is_array_of, round_values
from tensorc.signature import RELATIONS, Binding, Param, Signature, SizeCheck

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class BoundCall:
    """The arguments of one call, in the signature's order and dtypes, and the value of every dim."""

    arguments: tuple[Array, ...]
    dims: Mapping[str, int]

    def shape(self, sizes: tuple[Poly, ...]) -> tuple[int, ...]:
        """The extents that `sizes` have in this call."""
        return tuple(size.evaluate(self.dims) for size in sizes)


def bind_arguments(signature: Signature, arrays: Mapping[str, object]) -> BoundCall:
    """Convert the arguments (to their carriers), bind the dims and run all of the signature's checks.

    Raises:
        TypeError: an argument is missing, unknown, or of another dtype or kind.
        ValueError: a rank or size is wrong, or a precondition does not hold.
    """
    unknown = sorted(set(arrays) - {p.name for p in signature.params})
    if unknown:
        raise TypeError(f"{signature.name}(): no parameter is called {unknown[0]!r}")
    arguments = tuple(_argument(signature.name, p, arrays) for p in signature.params)
    dims = {d.name: d.fixed for d in signature.dims if d.fixed is not None}
    for binding in signature.bindings:
        dims.setdefault(binding.dim, _solve(signature, binding, arguments, dims))
    for check in signature.checks:
        _run_check(signature, check, arguments, dims)
    for param, argument in zip(signature.params, arguments, strict=True):
        expected = tuple(_size(signature, size, dims) for size in param.shape)
        if argument.shape != expected:
            raise ValueError(f"{_place(signature, param)} has shape {argument.shape}, expected {expected}")
    return BoundCall(arguments, dims)


def _place(signature: Signature, param: Param) -> str:
    return f"{signature.name}(): argument {param.name!r}"


def _argument(kernel: str, param: Param, arrays: Mapping[str, object]) -> Array:
    value = arrays.get(param.name, param.default)
    if value is None:
        raise TypeError(f"{kernel}(): argument {param.name!r} is missing")
    if not param.shape and not isinstance(value, np.ndarray):
        return _scalar(kernel, param, value)
    array = np.asarray(value)
    if not is_array_of(array, param.dtype):
        raise TypeError(f"{kernel}(): argument {param.name!r} is {array.dtype}, expected {param.dtype}")
    if array.ndim != len(param.shape):
        raise ValueError(
            f"{kernel}(): argument {param.name!r} has rank {array.ndim}, expected {len(param.shape)}"
        )
    return carried(array, param.dtype)


def _scalar(kernel: str, param: Param, value: object) -> Array:
    """A Python or NumPy number as a value of the parameter's dtype; a float is not an integer."""
    accepted = {"b": (bool, np.bool_), "i": (int, np.integer), "f": (int, float, np.number)}[
        param.dtype.domain
    ]
    if not isinstance(value, accepted) or (isinstance(value, bool) and param.dtype.is_integer):
        raise TypeError(f"{kernel}(): argument {param.name!r} is {value!r}, expected {param.dtype}")
    with np.errstate(over="ignore"):
        try:
            if param.dtype.is_float:
                return round_values(np.asarray(value, np.float64), param.dtype).astype(param.dtype.carrier)
            return np.asarray(value, dtype=param.dtype.numpy)
        except OverflowError as error:
            raise ValueError(f"{kernel}(): argument {param.name!r} = {value!r}: {error}") from error


def _solve(
    signature: Signature, binding: Binding, arguments: tuple[Array, ...], dims: Mapping[str, int]
) -> int:
    argument = arguments[binding.param]
    extent = int(argument) if binding.axis is None else argument.shape[binding.axis]
    coefficient = _size(signature, binding.coefficient, dims)
    rest = _size(signature, binding.rest, dims)
    if coefficient == 0 or (extent - rest) % coefficient:
        place = _place(signature, signature.params[binding.param])
        raise ValueError(f"{place}: no whole {binding.dim} gives the extent {extent}")
    value = (extent - rest) // coefficient
    if value < 0:
        raise ValueError(f"{signature.name}(): the size {binding.dim} = {value} is negative")
    return value


def _run_check(
    signature: Signature, check: SizeCheck, arguments: tuple[Array, ...], dims: Mapping[str, int]
) -> None:
    found: list[str] = []
    for r in check.relations:
        left, right = _size(signature, r.left, dims), _size(signature, r.right, dims)
        if RELATIONS[r.relation](left, right):
            return
        found.append(f"{left} {r.relation} {right}")
    raise ValueError(f"{signature.name}(): {check.text} does not hold: {', '.join(found)}")


def _size(signature: Signature, size: Poly, dims: Mapping[str, int]) -> int:
    try:
        return size.evaluate(dims)
    except ZeroDivisionError as error:
        raise ValueError(f"{signature.name}(): the size {size} divides by zero") from error
