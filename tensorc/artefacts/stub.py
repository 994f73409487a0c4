"""`kernel.pyi`: the types of the generated module, for editors and type checkers."""

from __future__ import annotations

from collections.abc import Sequence

from tensorc.artefacts.loader import KEYWORDS, docstring_safe, generic_kernels, python_heads, python_names
from tensorc.artefacts.manifest import Json
from tensorc.dtypes import SUPPORTED

# "any": of a kernel with dtype parameters, what its cases have of different dtypes
_SCALARS = {
    **{d.name: "_Integer" if d.is_integer else "_Number" for d in SUPPORTED.values()},
    "bool": "bool",
    "any": "_Number",
}
# bf16 is ml_dtypes.bfloat16 or bits
_ELEMENTS = {
    **{d.name: f"_np.{d.numpy}" for d in SUPPORTED.values()},
    "bool": "_np.bool_",
    "bf16": "Any",
    "any": "Any",
}

_HEAD = '''"""Kernels compiled from {source} by tensorc {version}."""

from typing import Any, Final, Literal, NamedTuple

import numpy as _np
import numpy.typing as _npt

_Integer = int | _np.integer[Any]
_Number = float | int | _np.floating[Any] | _np.integer[Any]

'''


def render_stub(manifest: Json) -> str:
    """The stub's text."""
    kernels = [*manifest["kernels"], *generic_kernels(manifest)]
    names = python_names([k["name"] for k in kernels])
    head = _HEAD.format(source=docstring_safe(manifest["source"]["name"]), version=manifest["tensorc"])
    return head + "\n".join(_kernel(k, n, names) for k, n in zip(kernels, names, strict=True))


def _kernel(kernel: Json, name: str, names: Sequence[str]) -> str:
    parameters = python_names([p["name"] for p in kernel["params"]], taken=KEYWORDS)
    annotated = [f"{n}: {_parameter(p)}" for n, p in zip(parameters, kernel["params"], strict=True)]
    heads = python_heads(annotated, [None if p["default"] is None else "..." for p in kernel["params"]])
    results = [f"_npt.NDArray[{_ELEMENTS[r['dtype']]}]" for r in kernel["results"]]
    returned, declared = results[0], ""
    if len(results) > 1:
        returned = _unused(f"{name}_result", names)
        declared = _named_tuple(returned, [r["field"] for r in kernel["results"]], results)
    out = results[0] if len(results) == 1 else f"tuple[{', '.join(results)}]"
    heads.extend(
        (f"out: {out} | None = None", "threads: int | None = None", 'copy: Literal["auto", "never"] = "auto"')
    )
    owner = _unused(f"_{name}_kernel", names)
    this = "self" if "self" not in parameters else "self_"
    doc = docstring_safe(f"{kernel['signature']}\n\n{kernel['doc']}".rstrip()).replace("\n", "\n        ")
    return f'''{declared}class {owner}:
    signature: str
    def __call__({this}, {", ".join(heads)}) -> {returned}:
        """{doc}"""

{name}: Final[{owner}]
'''


def _parameter(param: Json) -> str:
    # any array type is taken: NumPy's, one with __array_interface__, one that speaks DLPack
    return "Any" if param["shape"] else _SCALARS[param["dtype"]]


def _named_tuple(name: str, fields: Sequence[str], types: Sequence[str]) -> str:
    """A field that starts with an underscore has no name here, as it has none in the tuple."""
    if any(f.startswith("_") for f in fields):
        return f"{name} = tuple[{', '.join(types)}]\n\n"
    lines = "\n".join(f"    {f}: {t}" for f, t in zip(fields, types, strict=True))
    return f"class {name}(NamedTuple):\n{lines}\n\n"


def _unused(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
