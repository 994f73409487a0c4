"""Turns what a caller passes into what the kernel takes: C-contiguous arrays and C numbers.

Nothing is converted to another dtype. Part of every generated `kernel.py`: nothing of tensorc is imported
but loader modules.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

_NUMPY_NAMES = {
    "bool": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
}
_BITS = np.dtype(np.uint16)
CONTIGUOUS_ALIGNED = 0x0101  # NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED


def array_dtype(name: str) -> Any:
    """The dtype of the arrays of a dtype: of bf16 that of ml_dtypes where it is installed, else its bits."""
    if name != "bf16":
        return np.dtype(_NUMPY_NAMES[name])
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return _BITS
    return np.dtype(bfloat16)


def elements(array: Any) -> Any:
    """The array as one that has the buffer protocol, which ml_dtypes' types lack."""
    return array.view(_BITS) if array.dtype.kind == "V" else array


def describe(value: Any) -> str:
    """`float32 (5,)` for an array, the type's name for anything else."""
    if isinstance(value, np.ndarray) and type(value).__module__ != "numpy.ma":
        return f"{value.dtype} {value.shape}"
    if type(value).__module__ in ("builtins", "numpy"):
        return f"{type(value).__name__} {value!r:.40}" if np.isscalar(value) else f"a {type(value).__name__}"
    return f"a {type(value).__module__}.{type(value).__qualname__}"


class ScalarParam:
    """A parameter passed by value."""

    __slots__ = ("name", "kernel", "type", "kind", "written", "low", "high")
    rank = 0

    def __init__(self, kernel: str, spec: dict[str, Any]) -> None:
        self.kernel = kernel
        self.name = spec["name"]
        self.written = spec["written"]
        self.type = spec["dtype"]
        self.kind = "f" if self.type == "bf16" else array_dtype(self.type).kind
        if self.kind in "iu":
            limits = np.iinfo(array_dtype(self.type))
            self.low, self.high = int(limits.min), int(limits.max)

    def convert(self, value: Any) -> Any:
        if type(value) is np.ndarray and value.ndim == 0:
            value = value[()]
        kind = self.kind
        if kind == "f":
            if isinstance(value, (float, int, np.floating, np.integer, np.bool_)) or _is_bfloat16(value):
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
            number = float(value)
        except OverflowError:
            raise ValueError(
                f"{self.kernel}(): argument '{self.name}' is too large for {self.written}"
            ) from None
        # what is passed is a C float: rounding to it first would round twice
        return _round_to(number, *_FORMATS[self.type]) if self.type in _FORMATS else number


_FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127)}


def _is_bfloat16(value: Any) -> bool:
    return type(value).__name__ == "bfloat16" and hasattr(value, "__float__")


def _round_to(number: float, precision: int, min_exponent: int, max_exponent: int) -> float:
    """A float rounded to nearest even in another format, overflow to infinity."""
    if number == 0 or not math.isfinite(number):
        return number
    unit = max(math.frexp(number)[1] - 1, min_exponent) - precision + 1
    rounded = math.ldexp(round(math.ldexp(number, -unit)), unit)
    return math.copysign(math.inf if abs(rounded) >= 2.0 ** (max_exponent + 1) else abs(rounded), number)


class ArrayParam:
    """A parameter passed as a pointer to C-contiguous elements."""

    __slots__ = ("name", "kernel", "dtype", "others", "written", "rank")

    def __init__(self, kernel: str, spec: dict[str, Any]) -> None:
        self.kernel = kernel
        self.name = spec["name"]
        self.written = spec["written"]
        self.dtype = array_dtype(spec["dtype"])
        # bf16 is taken as its bits too
        self.others = (_BITS,) if spec["dtype"] == "bf16" else ()
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
        if value.dtype == self.dtype or value.dtype in self.others:
            return
        found = f"{self.kernel}(): argument '{self.name}' is {describe(value)}, expected {self.written}"
        if not value.dtype.isnative and value.dtype.newbyteorder("=") == self.dtype:
            raise TypeError(f"{found} in this machine's byte order")
        if self.others:
            raise TypeError(f"{found}; bf16 arrays are of ml_dtypes.bfloat16, or uint16 that hold its bits")
        raise TypeError(f"{found}; convert it with .astype('{self.dtype}')")
