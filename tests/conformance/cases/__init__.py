"""The conformance cases: what each kernel of `programs/` must return, raise or refuse.

`docs/language.md` decides. Constants are written out where they are the point of a case; `ref` is always a
plain NumPy version of the kernel, so that each right value has two sources, which `test_cases.py` compares.
"""

from cases import (
    calls,
    functions,
    fusion,
    indexing,
    integers,
    memory,
    names,
    nan_inf,
    numerics,
    result_types,
    shapes,
    toolchain,
)
from cases.kit import CASES, PROGRAMS, Case

AREAS = (
    numerics,
    functions,
    nan_inf,
    integers,
    shapes,
    memory,
    fusion,
    indexing,
    result_types,
    names,
    toolchain,
    calls,
)
"""One module an area; importing it adds its cases."""

__all__ = ["AREAS", "CASES", "PROGRAMS", "Case"]
