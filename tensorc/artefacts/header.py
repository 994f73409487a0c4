"""`kernel.h`: the library's C prototypes, usable from C and C++."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from tensorc.artefacts.abi import (
    ABI_VERSION,
    FIRST_RUNTIME_ERROR,
    MANIFEST_SYMBOL,
    STATUS_CODES,
    CArgument,
    c_arguments,
    c_symbol,
)
from tensorc.artefacts.manifest import KernelFacts, signature_text


def render_header(kernels: Sequence[KernelFacts], file_name: str, prefix: str) -> str:
    """The header's text; `file_name` gives the include guard."""
    guard = re.sub(r"\W", "_", f"tensorc_{PurePath(file_name).name}".upper(), flags=re.ASCII)
    codes = "\n".join(f" *   {code:<3} {meaning}" for code, meaning in STATUS_CODES)
    bodies = "\n".join(_kernel(k, prefix) for k in kernels)
    return f"""/* Kernels compiled by tensorc, ABI version {ABI_VERSION}.
 *
 * Arrays are C-contiguous and aligned to their element type. An output may not overlap an input or another
 * output, except where noted. `threads` is the number of threads to use, 0 for the OpenMP default.
 * Every function may be called from several threads at once. It returns:
{codes}
 *   {FIRST_RUNTIME_ERROR}+k entry k of the kernel's "errors" in the manifest
 */
#ifndef {guard}
#define {guard}

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* The JSON manifest of this library, zero-terminated. */
extern const char {MANIFEST_SYMBOL}[];

{bodies}
#ifdef __cplusplus
}}
#endif

#endif
"""


def _kernel(facts: KernelFacts, prefix: str) -> str:
    signature = facts.signature
    arguments = c_arguments(signature)
    lines = [signature_text(signature)]
    if signature.doc:
        lines.extend(("", *signature.doc.splitlines()))
    lines.append("")
    lines.extend(f"{a.c_name}: {a.meaning}" for a in arguments if a.role in ("param", "result"))
    lines.extend(_in_place_notes(facts, arguments))
    lines.extend(f"requires {c.text}" for c in signature.checks if c.kind == "requires")
    comment = "\n".join(f" * {_comment_safe(line)}".rstrip() for line in lines)
    parameters = ",\n    ".join(a.declaration for a in arguments)
    return f"/*\n{comment}\n */\nint32_t {c_symbol(signature.name, prefix)}(\n    {parameters});\n"


def _in_place_notes(facts: KernelFacts, arguments: Sequence[CArgument]) -> list[str]:
    params = [a for a in arguments if a.role == "param"]
    results = [a for a in arguments if a.role == "result"]
    return [
        f"{result.c_name} may be exactly {params[position].c_name}"
        for result, positions in zip(results, facts.inplace, strict=False)
        for position in positions
    ]


def _comment_safe(line: str) -> str:
    return line.replace("*/", "* /").replace("/*", "/ *")
