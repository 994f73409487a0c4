"""Libraries for the loader's tests, written by hand: a signature, and C++ that keeps to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensorc.artefacts.header import render_header
from tensorc.artefacts.loader import render_loader
from tensorc.artefacts.manifest import KernelFacts, RuntimeErrorEntry, build_manifest, render_manifest_symbol
from tensorc.artefacts.python_entry import render_python_entry
from tensorc.artefacts.stub import render_stub
from tensorc.dtypes import BOOL, F32, F64, I32, I64, DType
from tensorc.index_algebra import ONE, ZERO, Poly, as_poly, dim
from tensorc.signature import Binding, Dim, Param, Result, Signature, SizeCheck
from tensorc.source import Source, Span
from tensorc.toolchain.build import BuildOptions, build_library
from tensorc.toolchain.compiler import Compiler, find_compiler
from tensorc.toolchain.target import Target, probe_host, resolve_target

SPAN = Span(Source("hand.tdsl", "kernel"), 0, 6)
EXPORT = 'extern "C" __attribute__((visibility("default"))) int32_t'


def array(name: str, dtype: DType, *shape: Poly | int) -> Param:
    sizes = tuple(as_poly(n) for n in shape)
    return Param(name, dtype, sizes, f"{dtype}[{', '.join(map(str, sizes))}]", SPAN)


def scalar(name: str, dtype: DType, default: int | float | None = None) -> Param:
    return Param(name, dtype, (), dtype.name, SPAN, default)


def result(name: str, dtype: DType, *shape: Poly | int) -> Result:
    sizes = tuple(as_poly(n) for n in shape)
    return Result(name, dtype, sizes, f"{dtype}[{', '.join(map(str, sizes))}]" if sizes else dtype.name)


def bind(name: str, param: int, axis: int | None, factor: Poly = ONE, rest: Poly = ZERO) -> Binding:
    return Binding(name, param, axis, factor, rest)


def requires(left: Poly, relation: str, right: int, text: str) -> SizeCheck:
    return SizeCheck("requires", left, relation, as_poly(right), text, SPAN)


def make_signature(name: str, params: Sequence[Param], results: Sequence[Result], **more: Any) -> Signature:
    return Signature(
        name,
        tuple(params),
        tuple(results),
        tuple(more.get("dims", ())),
        tuple(more.get("bindings", ())),
        tuple(more.get("checks", ())),
        more.get("doc", ""),
        SPAN,
    )


@dataclass(frozen=True)
class HandMade:
    """Kernels with their C++ bodies."""

    facts: tuple[KernelFacts, ...]
    bodies: str
    target: Target = field(default_factory=lambda: resolve_target("generic", probe_host()))
    threads: str = "none"

    def manifest(self) -> dict[str, Any]:
        return build_manifest(
            self.facts,
            self.target,
            source_name="hand.tdsl",
            source_text="kernel",
            prefix="tdsl_",
            threads=self.threads,
            options={"policy": "default", "math": "strict"},
        )

    def build(self, folder: Path, compiler: Compiler | None = None, stem: str = "kernel") -> Path:
        """Write STEM.so, .py, .pyi and .h into `folder`; returns the library's path."""
        manifest = self.manifest()
        library = folder / f"{stem}.so"
        text = (
            f"#include <stdint.h>\n{self.bodies}{render_manifest_symbol(manifest)}{render_python_entry(stem)}"
        )
        companions = {
            folder / f"{stem}.py": render_loader(manifest, library.name).encode(),
            folder / f"{stem}.pyi": render_stub(manifest).encode(),
            folder / f"{stem}.h": render_header(self.facts, f"{stem}.h", "tdsl_").encode(),
        }
        build_library(
            text,
            library,
            compiler or find_compiler(),
            self.target,
            BuildOptions(threads=self.threads),
            companions,
        )
        return library


N, D, H, K = dim("N"), dim("D"), dim("H"), dim("K")

SCALE = KernelFacts(
    make_signature(
        "scale",
        [array("x", F32, N, D), array("w", F32, D), scalar("eps", F32, 1e-5)],
        [result("out", F32, N, D)],
        dims=[Dim("N"), Dim("D")],
        bindings=[bind("N", 0, 0), bind("D", 0, 1)],
        checks=[requires(D, ">=", 1, "D >= 1")],
        doc='Scales rows; \\ and """ and */ are kept.',
    ),
    inplace=((0,),),
)
SPLIT = KernelFacts(
    make_signature(
        "max",
        [array("calls", F64, 2 * H), scalar("class", I32)],
        [result("lambda", F64, H), result("_low", I64)],
        dims=[Dim("H")],
        bindings=[bind("H", 0, 0, as_poly(2))],
    )
)
GRID = KernelFacts(
    make_signature(
        "np",
        [scalar("n", I64), scalar("flag", BOOL, 0), scalar("start", F64, float("-inf"))],
        [result("out", F64, dim("n"))],
        dims=[Dim("n")],
        bindings=[bind("n", 0, None)],
    )
)
WINDOW = KernelFacts(
    make_signature(
        "window",
        [array("w", F32, K), array("x", F32, N + K - 1)],
        [result("out", F32, N)],
        dims=[Dim("K"), Dim("N")],
        bindings=[bind("K", 0, 0), bind("N", 1, 0, rest=K - 1)],
    )
)
STATUS = KernelFacts(
    make_signature("status", [scalar("code", I32)], [result("out", I32)]),
    errors=(
        RuntimeErrorEntry("IndexError", "index 7 of 'x' is out of range on axis 0", 3),
        RuntimeErrorEntry("ValueError", "an integer to a negative power", 4),
    ),
)
THREADS = KernelFacts(make_signature("threads_used", [], [result("out", I32)]))

BODIES = f"""
{EXPORT} tdsl_scale(const float* x, const float* w, float eps, float* out, int64_t N, int64_t D, int32_t) {{
    for (int64_t i = 0; i < N * D; i++) out[i] = x[i] * w[i % D] + eps;
    return 0;
}}
{EXPORT} tdsl_max(const double* calls, int32_t cls, double* hi, int64_t* low, int64_t H, int32_t) {{
    for (int64_t i = 0; i < H; i++) hi[i] = calls[i] > calls[H + i] ? calls[i] : calls[H + i];
    *low = H + cls;
    return 0;
}}
{EXPORT} tdsl_np(int64_t n, uint8_t flag, double start, double* out, int32_t) {{
    for (int64_t i = 0; i < n; i++) out[i] = flag ? double(i) : start;
    return 0;
}}
{EXPORT} tdsl_window(const float* w, const float* x, float* out, int64_t K, int64_t N, int32_t) {{
    for (int64_t i = 0; i < N; i++) {{
        out[i] = 0;
        for (int64_t j = 0; j < K; j++) out[i] += w[j] * x[i + j];
    }}
    return 0;
}}
{EXPORT} tdsl_status(int32_t code, int32_t* out, int32_t) {{ *out = 0; return code; }}
{EXPORT} tdsl_threads_used(int32_t* out, int32_t threads) {{ *out = threads; return 0; }}
"""

LIBRARY = HandMade((SCALE, SPLIT, GRID, WINDOW, STATUS, THREADS), BODIES)
