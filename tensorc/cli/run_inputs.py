"""The inputs of `tensorc run`: `x=@x.npy`, `x=rand:1024x1024`, `eps=1e-5`; what is missing is made up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorc.artefacts.loader_convert import array_dtype
from tensorc.diagnostics.model import CompileError, Diagnostic
from tensorc.dtypes import DType
from tensorc.index_algebra import Poly
from tensorc.interp.float_values import carried, round_values, stored
from tensorc.signature import Param, Signature

ASSUMED_SIZE = 1024
"""The value of a dim that has neither a value nor a hint."""

_RANDOM = re.compile(r"rand(?::(\d+(?:x\d+)*)?)?")
_LARGEST_RANDOM_INTEGER = 100

Array = npt.NDArray[Any]


class InputError(CompileError):
    """An input of the command line is wrong."""

    exit_status = 2


def input_error(message: str, signature: Signature) -> InputError:
    params = ", ".join(f"{p.name}: {p.written}" for p in signature.params)
    notes = (f"{signature.name} takes {params or 'no arguments'}",)
    return InputError([Diagnostic("TC0803", message, None, notes=notes)])


def make_inputs(signature: Signature, words: Sequence[str], seed: int) -> dict[str, Any]:
    """Every parameter's array or number. Sizes that no given input decides are those of the hints.

    Raises:
        InputError: TC0803.
    """
    params = {p.name: p for p in signature.params}
    given = _split_words(signature, words)
    generator = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for name, text in given.items():
        found[name] = _read_input(signature, params[name], text, generator)
    sizes = _sizes(signature, found)
    for p in signature.params:
        if p.name not in found:
            found[p.name] = _make_up(signature, p, sizes, generator)
    return {p.name: found[p.name] for p in signature.params}


def fitting_cases(cases: Sequence[Signature], words: Sequence[str]) -> list[Signature]:
    """Those of the cases of a kernel with dtype parameters that take the files among the inputs.

    Raises:
        InputError: TC0803, a file cannot be read, or none of them takes it.
    """
    first = cases[0]
    assert first.generic is not None
    given = _split_words(first, words)
    fitting = list(cases)
    for position in first.generic.params:
        param = first.params[position]
        path = given.get(param.name, "")
        if not path.startswith("@"):
            continue
        found = _load(first, param, path[1:]).dtype
        fitting = [s for s in fitting if _takes(s.params[position].dtype, found)]
        if not fitting:
            message = f"no case of kernel '{first.generic.name}' takes {found} for '{param.name}'"
            names = ", ".join(s.name for s in cases)
            raise InputError([Diagnostic("TC0803", message, None, notes=(f"cases: {names}",))])
    return fitting


def _takes(dtype: DType, found: np.dtype[Any]) -> bool:
    """Whether arrays of `found` are taken for `dtype`: a bf16 as its bits too."""
    return found == array_dtype(dtype.name) or (dtype.name == "bf16" and found == np.dtype(np.uint16))


def _random_input(
    signature: Signature, param: Param, shape: tuple[int, ...], generator: np.random.Generator
) -> Array:
    """Raises InputError (TC0803) where NumPy cannot make an array of that size."""
    try:
        return _random(param.dtype, shape, generator)
    except (MemoryError, ValueError) as error:
        shown = "x".join(map(str, shape))
        raise input_error(f"no memory for '{param.name}' of {shown} elements: {error}", signature) from None


def _split_words(signature: Signature, words: Sequence[str]) -> dict[str, str]:
    names = [p.name for p in signature.params]
    found: dict[str, str] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not text:
            raise input_error(f"the input '{word}' is not of the form NAME=VALUE", signature)
        if name not in names:
            raise input_error(f"kernel '{signature.name}' has no parameter '{name}'", signature)
        if name in found:
            raise input_error(f"the input '{name}' is given twice", signature)
        found[name] = text
    return found


def _read_input(signature: Signature, param: Param, text: str, generator: np.random.Generator) -> Any:
    if text.startswith("@"):
        return _load(signature, param, text[1:])
    match = _RANDOM.fullmatch(text)
    if match and param.shape:
        if match.group(1) is None:
            raise input_error(f"'{param.name}={text}' needs a shape, such as rand:1024x1024", signature)
        shape = tuple(int(n) for n in match.group(1).split("x"))
        return _random_input(signature, param, shape, generator)
    if param.shape:
        raise input_error(
            f"'{param.name}={text}' is no array: write {param.name}=@FILE.npy or {param.name}=rand:8x8",
            signature,
        )
    return _read_number(signature, param, text)


def _load(signature: Signature, param: Param, path: str) -> Array:
    try:
        loaded = np.load(path, allow_pickle=False)
    except OSError as error:
        reason = error.strerror or str(error)
        raise input_error(f"cannot read '{path}' for '{param.name}': {reason}", signature) from None
    except (ValueError, EOFError) as error:
        raise input_error(f"'{path}' for '{param.name}' is no .npy file: {error}", signature) from None
    if not isinstance(loaded, np.ndarray):
        loaded.close()
        raise input_error(f"'{path}' for '{param.name}' holds several arrays, not one", signature)
    return loaded


def _read_number(signature: Signature, param: Param, text: str) -> int | float | bool:
    try:
        if param.dtype.is_float:
            return float(text)
        if param.dtype.is_bool:
            return {"true": True, "false": False}[text.lower()]
        return int(text)
    except (KeyError, ValueError):
        raise input_error(f"'{text}' is no {param.written} for '{param.name}'", signature) from None


def _sizes(signature: Signature, given: dict[str, Any]) -> dict[str, int]:
    """Every dim: fixed, solved from the given inputs, a default, else its hint."""
    sizes = {d.name: d.fixed for d in signature.dims if d.fixed is not None}
    numbers = {p.name: given.get(p.name, p.default) for p in _size_params(signature)}
    sizes.update((name, int(number)) for name, number in numbers.items() if number is not None)
    equations = [
        (size, extent)
        for p in signature.params
        if p.shape and p.name in given
        for size, extent in zip(p.shape, given[p.name].shape, strict=False)
    ]
    # each pass can make another equation solvable, and solves at least one or is the last
    for _ in signature.dims:
        for size, extent in equations:
            _solve_for_one(size, extent, sizes)
    for d in signature.dims:
        sizes.setdefault(d.name, d.hint if d.hint is not None else ASSUMED_SIZE)
    return sizes


def _size_params(signature: Signature) -> list[Param]:
    """The integer numbers that are sizes."""
    dims = {d.name for d in signature.dims}
    return [p for p in signature.params if not p.shape and p.name in dims]


def _solve_for_one(size: Poly, extent: int, sizes: dict[str, int]) -> None:
    """If all but one dim of `size` is known, and it is linear, learn that one; a remainder is the call's to
    refuse."""
    unknown = [s for s in size.symbols() if s.name not in sizes]
    if len(unknown) != 1 or not size.is_linear_in(unknown[0]):
        return
    zero, one = (size.evaluate({**sizes, unknown[0].name: n}) for n in (0, 1))
    if one != zero:
        sizes[unknown[0].name] = max(0, (extent - zero) // (one - zero))


def _make_up(
    signature: Signature, param: Param, sizes: dict[str, int], generator: np.random.Generator
) -> Any:
    if param.shape:
        shape = tuple(n.evaluate(sizes) for n in param.shape)
        if min(shape, default=0) < 0:
            raise input_error(f"'{param.name}' would have the negative size {min(shape)}", signature)
        return _random_input(signature, param, shape, generator)
    if param.default is not None:
        return _default(param)
    if param.name in sizes:
        return sizes[param.name]
    return carried(_random(param.dtype, (), generator), param.dtype)[()].item()


def _default(param: Param) -> int | float | bool:
    assert param.default is not None
    return bool(param.default) if param.dtype.is_bool else param.default


def _random(dtype: DType, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Normal floats, small integers, coin tosses; always the same for a seed."""
    if dtype.is_bool:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if dtype.is_integer:
        limit = _LARGEST_RANDOM_INTEGER
        low = 0 if dtype.is_unsigned else -limit
        return np.asarray(generator.integers(low, limit, shape, endpoint=True), dtype.numpy)
    rounded = round_values(generator.standard_normal(shape), dtype)
    return stored(np.asarray(rounded, dtype.carrier), dtype)
