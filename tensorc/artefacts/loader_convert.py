"""Turns what a caller passes into what the kernel takes: C-contiguous arrays and C numbers.

Nothing is converted to another dtype. Part of every generated `kernel.py`: nothing of tensorc is imported
but loader modules.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

DTYPES = {
    "bool": np.dtype(np.bool_),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
CONTIGUOUS_ALIGNED = 0x0101  # NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED


def describe(value: Any) -> str:
    """`float32 (5,)` for an array, the type's name for anything else."""
    if isinstance(value, np.ndarray) and type(value).__module__ != "numpy.ma":
        return f"{value.dtype} {value.shape}"
    if type(value).__module__ in ("builtins", "numpy"):
        return f"{type(value).__name__} {value!r:.40}" if np.isscalar(value) else f"a {type(value).__name__}"
    return f"a {type(value).__module__}.{type(value).__qualname__}"


class ScalarParam:
    """A parameter passed by value."""

    __slots__ = ("name", "kernel", "dtype", "written", "low", "high")
    rank = 0

    def __init__(self, kernel: str, spec: dict[str, Any]) -> None:
        self.kernel = kernel
        self.name = spec["name"]
        self.written = spec["written"]
        self.dtype = DTYPES[spec["dtype"]]
        bits = 8 * self.dtype.itemsize - 1
        self.low, self.high = -(1 << bits), (1 << bits) - 1

    def convert(self, value: Any) -> Any:
        if type(value) is np.ndarray and value.ndim == 0:
            value = value[()]
        kind = self.dtype.kind
        if kind == "f":
            if isinstance(value, (float, int, np.floating, np.integer, np.bool_)):
                return self._to_float(value)
        elif kind == "b":
            if isinstance(value, (bool, np.bool_)):
                return int(value)
        elif isinstance(value, (int, np.integer, np.bool_)):
            number = int(value)
            if self.low <= number <= self.high:
                return number
            raise ValueError(
                f"{self.kernel}(): argument '{self.name}' is {number}, which no {self.written} holds"
            )
        found = f"{self.kernel}(): argument '{self.name}' is {describe(value)}"
        raise TypeError(f"{found}, expected {self.written}")

    convert_in_place = convert

    def _to_float(self, value: Any) -> float:
        try:
            return float(value)
        except OverflowError:
            raise ValueError(
                f"{self.kernel}(): argument '{self.name}' is too large for {self.written}"
            ) from None


class ArrayParam:
    """A parameter passed as a pointer to C-contiguous elements."""

    __slots__ = ("name", "kernel", "dtype", "written", "rank")

    def __init__(self, kernel: str, spec: dict[str, Any]) -> None:
        self.kernel = kernel
        self.name = spec["name"]
        self.written = spec["written"]
        self.dtype = DTYPES[spec["dtype"]]
        self.rank = len(spec["shape"])

    def convert(self, value: Any) -> Any:
        """`value` as a C-contiguous, aligned array of this dtype.

        Raises:
            TypeError: no array, or another dtype or byte order.
        """
        if type(value) is not np.ndarray:
            value = self._to_array(value)
        if value.dtype is not self.dtype:
            self._check_dtype(value)
        if value.flags.num & CONTIGUOUS_ALIGNED == CONTIGUOUS_ALIGNED:
            return value
        return value.copy(order="C")

    def convert_in_place(self, value: Any) -> Any:
        """As `convert`, but ValueError where that would copy."""
        array = self.convert(value)
        source = value if isinstance(value, np.ndarray) else self._to_array(value)
        if source.flags.num & CONTIGUOUS_ALIGNED != CONTIGUOUS_ALIGNED:
            raise ValueError(
                f"{self.kernel}(): argument '{self.name}' is not C-contiguous and aligned, "
                "and copy='never' forbids the copy"
            )
        return array

    def as_array(self, value: Any) -> Any:
        """`value` as an array of any dtype; TypeError where it is none."""
        return value if type(value) is np.ndarray else self._to_array(value)

    def _to_array(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            masked = sys.modules.get("numpy.ma")
            if masked is None or not isinstance(value, masked.MaskedArray):
                return np.asarray(value)
        elif hasattr(value, "__array_interface__"):
            return np.asarray(value)
        elif hasattr(value, "__dlpack__"):
            try:
                return np.from_dlpack(value)
            except (BufferError, RuntimeError, TypeError, ValueError) as error:
                raise TypeError(
                    f"{self.kernel}(): argument '{self.name}' cannot be read through DLPack: {error}"
                ) from error
        elif hasattr(value, "__array__"):
            return np.asarray(value)
        else:
            try:
                return np.asarray(memoryview(value))
            except (TypeError, ValueError):
                pass
        raise TypeError(
            f"{self.kernel}(): argument '{self.name}' is {describe(value)}, expected an array {self.written}"
        )

    def _check_dtype(self, value: Any) -> None:
        if value.dtype == self.dtype:
            return
        found = f"{self.kernel}(): argument '{self.name}' is {describe(value)}, expected {self.written}"
        if not value.dtype.isnative and value.dtype.newbyteorder("=") == self.dtype:
            raise TypeError(f"{found} in this machine's byte order")
        raise TypeError(f"{found}; convert it with .astype('{self.dtype}')")
