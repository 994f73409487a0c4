"""Checks the arrays that a caller gives for the results, before anything is written.

Part of every generated `kernel.py`: nothing of tensorc is imported but loader modules.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tensorc.artefacts.loader_convert import CONTIGUOUS_ALIGNED, array_dtype, describe

_OUT_FLAGS = CONTIGUOUS_ALIGNED | 0x0400  # NPY_ARRAY_WRITEABLE
_OVERLAP_WORK: Any = 100_000  # steps of NumPy's exact overlap test before it counts as an overlap


def in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


class Result(NamedTuple):
    """`inplace` lists the parameters whose array may be exactly this result."""

    name: str
    written: str
    dtype: Any
    inplace: tuple[int, ...]
    is_bf16: bool


class Outputs:
    """The results of one kernel."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._kernel: str = spec["name"]
        self._parameters = [p["name"] for p in spec["params"]]
        self._arrays = [k for k, p in enumerate(spec["params"]) if p["shape"]]
        self.results = [
            Result(
                r["name"], r["written"], array_dtype(r["dtype"]), tuple(r["inplace"]), r["dtype"] == "bf16"
            )
            for r in spec["results"]
        ]

    def check(
        self,
        out: Any,
        shapes: tuple[tuple[int, ...], ...],
        values: list[Any],
        args: tuple[Any, ...],
        bound: Callable[[list[Any]], str],
    ) -> list[Any]:
        """The caller's arrays in order, when each may be written.

        `values` are the converted arguments, `args` the given ones, `bound` tells the sizes of a call.

        Raises:
            TypeError: a kind, number or dtype. ValueError: a shape, a layout, an overlap.
        """
        count = len(self.results)
        if count == 1 and isinstance(out, np.ndarray):
            outs = [out]
        elif isinstance(out, tuple):
            outs = list(out)
        else:
            wanted = "an array" if count == 1 else f"a tuple of {count} arrays"
            raise TypeError(f"{self._kernel}(): out is {describe(out)}, expected {wanted}")
        if len(outs) != count:
            raise TypeError(f"{self._kernel}(): out has {len(outs)} arrays, expected {count}")
        for position, array in enumerate(outs):
            self._check_out(position, array, shapes[position], lambda: bound(values))
            for k in self._arrays:
                self._check_overlap(position, array, k, values[k], args[k])
            if any(np.may_share_memory(array, other) for other in outs[:position]):
                raise ValueError(f"{self._kernel}(): two of the out arrays overlap")
        return outs

    def _out_name(self, position: int) -> str:
        return "out" if len(self.results) == 1 else f"out[{position}] ('{self.results[position].name}')"

    def _check_out(self, position: int, array: Any, shape: tuple[int, ...], bound: Callable[[], str]) -> None:
        result = self.results[position]
        what = f"{self._kernel}(): {self._out_name(position)}"
        if type(array) is not np.ndarray:
            raise TypeError(f"{what} is {describe(array)}, expected a numpy.ndarray")
        if array.dtype != result.dtype and not (result.is_bf16 and array.dtype == np.uint16):
            raise TypeError(f"{what} is {describe(array)}, expected {result.written}")
        if array.shape != shape:
            raise ValueError(
                f"{what} is {describe(array)}, expected {result.written} with shape {shape}"
                f"{in_brackets(bound())}"
            )
        if array.flags.num & _OUT_FLAGS != _OUT_FLAGS:
            if not array.flags.writeable:
                raise ValueError(f"{what} is read-only")
            raise ValueError(f"{what} is not C-contiguous and aligned")

    def _check_overlap(self, position: int, out: Any, k: int, value: Any, given: Any) -> None:
        """Refuse an output in the memory of input `k`, unless it is that input and the plan allows it.

        `given` is what the caller passed: a strided view of `out` was copied, but is refused as well,
        so that the answer does not depend on the layout.
        """
        source = given if isinstance(given, np.ndarray) else value
        if not np.may_share_memory(out, source):
            return
        try:
            if not np.shares_memory(out, source, max_work=_OVERLAP_WORK):
                return
        except np.exceptions.TooHardError:
            pass
        same = out.shape == source.shape and out.strides == source.strides and out.dtype == source.dtype
        same = same and out.ctypes.data == source.ctypes.data
        if same and k in self.results[position].inplace:
            return
        what = f"{self._kernel}(): {self._out_name(position)}"
        verb = "is" if same else "overlaps"
        why = ", and this kernel cannot work in place" if same else ""
        raise ValueError(f"{what} {verb} argument '{self._parameters[k]}'{why}")
