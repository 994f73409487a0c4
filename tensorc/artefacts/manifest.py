"""The manifest: everything a caller needs to know of a library, as JSON (`docs/manifest.schema.json`).

It is an exported symbol of the library, the file beside it, and what the loader works from. Sizes are
expressions in the dims: integers, `+ - *`, `//`, `%`, `min(...)` and `max(...)`, as in Python.
"""

from __future__ import annotations

import hashlib
import json
import keyword
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tensorc import __version__
from tensorc.artefacts.abi import ABI_VERSION, MANIFEST_SYMBOL, c_arguments, c_symbol
from tensorc.dtypes import BF16, F16, DType, round_to_float
from tensorc.signature import Param, Signature
from tensorc.toolchain.target import Target

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RuntimeErrorEntry:
    """Entry of the table of run-time errors: status 16 + position. `kind` names a Python exception."""

    kind: str
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """One kernel as later stages know it.

    `inplace[k]` lists the parameter positions whose array may be exactly result `k`; `fusion` is the
    summary of what was fused, JSON values.
    """

    signature: Signature
    inplace: tuple[tuple[int, ...], ...] = ()
    errors: tuple[RuntimeErrorEntry, ...] = ()
    fusion: tuple[Mapping[str, Any], ...] = ()


def build_manifest(
    kernels: Sequence[KernelFacts],
    target: Target,
    *,
    source_name: str,
    source_text: str,
    prefix: str,
    threads: str,
    options: Mapping[str, Any] | None = None,
) -> Json:
    """The manifest of a library that holds `kernels`; `threads` is openmp or none."""
    generics = _generics(kernels)
    return {
        "abi": ABI_VERSION,
        "tensorc": __version__,
        "source": {"name": source_name, "sha256": hashlib.sha256(source_text.encode()).hexdigest()},
        "target": {"name": target.name, "arch": target.arch, "features": list(target.features)},
        "threads": threads,
        "prefix": prefix,
        "options": dict(options or {}),
        "kernels": [_kernel(k, prefix) for k in kernels],
        **({"generics": generics} if generics else {}),
    }


def _generics(kernels: Sequence[KernelFacts]) -> list[Json]:
    """The kernels with dtype parameters, each with the kernels that are its cases."""
    found: dict[str, Json] = {}
    for signature in (k.signature for k in kernels):
        generic = signature.generic
        if generic is None:
            continue
        entry = {
            "name": generic.name,
            "signature": generic.written,
            "doc": signature.doc,
            "params": list(generic.params),
            "written": list(generic.types),
            "cases": [],
        }
        case = {"dtypes": [d.name for d in generic.dtypes], "kernel": signature.name}
        found.setdefault(generic.name, entry)["cases"].append(case)
    return list(found.values())


def signature_text(signature: Signature) -> str:
    """The head of the kernel as it would be written, with inferred result types."""
    params = ", ".join(
        f"{p.name}: {p.written}" + (f" = {_default_text(p)}" if p.default is not None else "")
        for p in signature.params
    )
    results = signature.results[0].written
    if len(signature.results) > 1 or signature.results[0].name not in ("", "out"):
        named = (f"{signature.result_name(k)}: {r.written}" for k, r in enumerate(signature.results))
        results = f"({', '.join(named)})"
    requires = ", ".join(c.text for c in signature.checks if c.kind == "requires")
    return f"{signature.name}({params}) -> {results}" + (f" requires {requires}" if requires else "")


def _kernel(facts: KernelFacts, prefix: str) -> Json:
    s = facts.signature
    inplace = facts.inplace or ((),) * len(s.results)
    prototype = ", ".join(a.declaration for a in c_arguments(s))
    return {
        "name": s.name,
        "symbol": c_symbol(s.name, prefix),
        "prototype": f"int32_t {c_symbol(s.name, prefix)}({prototype})",
        "signature": signature_text(s),
        "doc": s.doc,
        "params": [
            {
                "name": p.name,
                "dtype": p.dtype.name,
                "shape": [str(n) for n in p.shape],
                "written": p.written,
                "default": _json_default(p),
            }
            for p in s.params
        ],
        "results": [
            {
                "name": s.result_name(k),
                "field": _field(s.result_name(k)),
                "dtype": r.dtype.name,
                "shape": [str(n) for n in r.shape],
                "written": r.written,
                "inplace": list(inplace[k]),
            }
            for k, r in enumerate(s.results)
        ],
        **_sizes(s),
        "errors": [{"kind": e.kind, "message": e.message, "line": e.line} for e in facts.errors],
        "fusion": [dict(entry) for entry in facts.fusion],
    }


def _sizes(s: Signature) -> Json:
    return {
        "dims": [{"name": d.name, "fixed": d.fixed, "hint": d.hint} for d in s.dims],
        "passed_dims": list(s.passed_dims),
        "bindings": [
            {
                "dim": b.dim,
                "param": b.param,
                "axis": b.axis,
                "coefficient": str(b.coefficient),
                "rest": str(b.rest),
            }
            for b in s.bindings
        ],
        "checks": [
            {
                "kind": c.kind,
                "left": str(c.left),
                "relation": c.relation,
                "right": str(c.right),
                "text": c.text,
                "line": c.span.line,
                "otherwise": [
                    {"left": str(r.left), "relation": r.relation, "right": str(r.right)} for r in c.otherwise
                ],
                "param": c.param,
                "axis": c.axis,
            }
            for c in s.checks
        ],
    }


def _field(name: str) -> str:
    """The result's name in the named tuple; one that starts with `_` is reached by position only."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _json_default(param: Param) -> bool | int | float | str | None:
    """JSON has no NaN and no infinity: they are written as strings."""
    value = param.default
    if value is None or param.dtype.is_integer:
        return value
    if param.dtype.is_bool:
        return bool(value)
    short = float(_default_text(param))
    return short if math.isfinite(short) else str(short)


def _default_text(param: Param) -> str:
    """The default as it would be written in a program: the shortest text that rounds to it."""
    value = param.default
    assert value is not None
    if param.dtype.is_bool:
        return str(bool(value)).lower()
    return _shortest(float(value), param.dtype) if param.dtype.is_float else str(value)


def _shortest(value: float, dtype: DType) -> str:
    """The shortest decimal that rounds to a value of a float dtype."""
    if dtype not in (BF16, F16):
        return str(np.dtype(dtype.numpy).type(value))
    for digits in range(1, 6):
        text = f"{value:.{digits}g}"
        if not math.isfinite(value) or round_to_float(Fraction(text), dtype) == value:
            break
    return str(float(text))


def render_manifest(manifest: Json) -> str:
    """The manifest as a file."""
    return json.dumps(manifest, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def render_manifest_symbol(manifest: Json) -> str:
    """C++ text that defines the manifest as an exported string, on one line of JSON."""
    text = json.dumps(manifest, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    escaped = (_escape(text[i : i + 90]) for i in range(0, len(text), 90))
    lines = "\n".join(f'    "{part}"' for part in escaped)
    return (
        'extern "C" {\n'
        f'extern const char {MANIFEST_SYMBOL}[] __attribute__((visibility("default")));\n'
        f"const char {MANIFEST_SYMBOL}[] =\n{lines};\n"
        "}\n"
    )


def _escape(text: str) -> str:
    # "??" would start a trigraph under -std=c++14 and older
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
