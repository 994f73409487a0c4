"""Array versions of the runtime's elementary functions, in a shared library built from its own headers.

An interpreter that must give a kernel's bits cannot use NumPy's functions. The library has
`tc_array_<name>_<type>` for every elementary operation of the table that the headers define, and for `power`
and `fma`.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import cffi
import numpy as np
from numpy.typing import NDArray

from tensorc.dtypes import F32, F64, DType
from tensorc.operators import OPERATORS

Array = NDArray[Any]

_FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv")
_NAMES = (*(name for name, row in OPERATORS.items() if row.elementary), "power", "fma")
_PARAMETERS = "xyz"


@dataclass(frozen=True, slots=True, eq=False)
class ElementaryLibrary:
    """The loaded library; `names` holds what it has, as `exp_f32`."""

    names: frozenset[str]
    _ffi: cffi.FFI = field(repr=False)
    _library: Any = field(repr=False)

    @staticmethod
    def build(
        cache: Path, compiler: str = "g++", target: Sequence[str] = ("-march=native",)
    ) -> ElementaryLibrary:
        """Load the library from `cache`, compiling it first where headers, compiler and target are new.

        Raises RuntimeError with the compiler's output when it fails, OSError when it cannot be run.
        """
        with as_file(files("tensorc.codegen") / "runtime") as runtime:
            command = (compiler, *_FLAGS, *target, f"-I{runtime}")
            # macros are part of the text: they name the compiler's version and the instruction set
            text = _run((*command, "-E", "-dD", "-P", "-xc++", "-"), '#include "runtime.h"\n')
            names = _defined_names(text)
            source = "".join(_wrapper(*name.rsplit("_", 1)) for name in names)
            digest = hashlib.sha256(f"{command}{text}{source}".encode()).hexdigest()[:24]
            path = cache / f"elementary-{digest}.so"
            if not path.exists():
                _compile(command, f'#include "runtime.h"\n{source}', path)
        ffi = cffi.FFI()
        ffi.cdef("".join(_declaration(*name.rsplit("_", 1)) + ";\n" for name in names))
        return ElementaryLibrary(frozenset(names), ffi, ffi.dlopen(str(path)))

    def apply(self, name: str, operands: Sequence[Array], dtype: DType) -> Array:
        """`name` on operands of one shape, all of `dtype` (f32 or f64). KeyError if the headers lack it."""
        if f"{name}_{dtype}" not in self.names:
            raise KeyError(f"{name}_{dtype}")
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        inputs = [np.ascontiguousarray(np.broadcast_to(x, shape), dtype.numpy) for x in operands]
        out = np.empty(shape, dtype.numpy)
        pointers = [self._ffi.cast(f"{_C[dtype.name]} *", array.ctypes.data) for array in (*inputs, out)]
        getattr(self._library, f"tc_array_{name}_{dtype}")(out.size, *pointers)
        return out


_C = {F32.name: "float", F64.name: "double"}


def _defined_names(text: str) -> tuple[str, ...]:
    return tuple(f"{name}_{t}" for name in _NAMES for t in _C if re.search(rf"\btc_{name}_{t}\(", text))


def _declaration(name: str, dtype: str) -> str:
    operands = "".join(f"const {_C[dtype]} *{p}, " for p in _PARAMETERS[: OPERATORS[name].arity])
    return f"void tc_array_{name}_{dtype}(long long n, {operands}{_C[dtype]} *out)"


def _wrapper(name: str, dtype: str) -> str:
    parameters = _PARAMETERS[: OPERATORS[name].arity]
    full = ", ".join(f"tc_load_{dtype}({p} + i)" for p in parameters)
    part = ", ".join(f"tc_load_part_{dtype}({p} + i, (int)(n - i))" for p in parameters)
    return f"""
extern "C" {_declaration(name, dtype)} {{
    long long i = 0;
    for (; i + 8 <= n; i += 8) tc_store_{dtype}(out + i, tc_{name}_{dtype}({full}));
    if (i < n) tc_store_part_{dtype}(out + i, tc_{name}_{dtype}({part}), (int)(n - i));
}}
"""


def _compile(command: Sequence[str], source: str, path: Path) -> None:
    """Atomic: another process may build the same library at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as directory:
        target = Path(directory) / path.name
        _run((*command, "-shared", "-fPIC", "-xc++", "-", "-xnone", "-o", str(target), "-lm"), source)
        os.replace(target, path)


def _run(command: Sequence[str], source: str) -> str:
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed on the elementary functions:\n{done.stderr}")
    return done.stdout
