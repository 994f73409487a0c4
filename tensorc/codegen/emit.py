"""NestPrograms to the text of one self-contained C++ translation unit: runtime, kernels, manifest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from tensorc.codegen.c_ast import Function, Text, Unit
from tensorc.codegen.kernel import EmitOptions, emit_kernel
from tensorc.codegen.print_c import print_function, print_unit
from tensorc.loop_schedule.program import NestProgram

_INCLUDE = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)

_FIRST = "exp|exp2|expm1|log|log1p|sin|cos|tanh|erf|sigmoid"
_COMPOSED = "gelu|silu|softplus|logaddexp"
_OPTIONAL = {
    "lanes_narrow.h": re.compile(r"tc_\w+_(i8|i16|u8|u16|f16|bf16)\b"),
    "lanes_unsigned.h": re.compile(r"tc_\w+_u(32|64)"),
    "lanes_guarded_narrow.h": re.compile(r"tc_(\w+_between|load_where)_(i8|i16|u\d+|f16|bf16)\b"),
    "lanes_guarded.h": re.compile(r"tc_(\w+_between|load_where)_\w+|tc_lanes_between"),
    "reduce_sum.h": re.compile(r"tc_(sum|prod)_\w+_begin"),
    "reduce_extreme.h": re.compile(r"tc_(max|min|any|all)_\w+_begin"),
    "scan.h": re.compile(r"tc_scan_\w+_begin"),
    "reduce_arg.h": re.compile(r"tc_arg(max|min)_\w+_begin"),
    "reduce_variance.h": re.compile(r"tc_(var|std)_\w+_begin"),
    "elementary_f32.h": re.compile(rf"tc_({_FIRST})_f32"),
    "lanes_gather_narrow.h": re.compile(r"tc_gather_(one|row|step|lanes)\w*_(i8|i16|u\d+|f16|bf16)\b"),
    "lanes_gather.h": re.compile(r"tc_(place|gather_(one|row|step|lanes))_"),
    "lanes_wide.h": re.compile(r"tc_f32w"),
    "elementary_more_f32.h": re.compile(
        r"tc_(log2|log10|tan|asin|acos|atan|sinh|cosh|asinh|acosh|atanh|erfc|cbrt)_f32"
    ),
    "elementary_composed_f32.h": re.compile(rf"tc_({_COMPOSED})_f32"),
    "elementary_fast_f32.h": re.compile(r"tc_fast_\w+_f32"),
    "elementary_binary_f32.h": re.compile(r"tc_(atan2|hypot|power)_f32"),
    "elementary_f64.h": re.compile(rf"tc_({_FIRST})_f64"),
    "elementary_erf_f64.h": re.compile(r"tc_erfc?_f64"),
    "elementary_composed_f64.h": re.compile(rf"tc_({_COMPOSED})_f64"),
    "elementary_more_f64.h": re.compile(r"tc_(log2|log10|sinh|cosh|asinh|acosh|atanh|cbrt)_f64"),
    "elementary_angles_f64.h": re.compile(r"tc_(tan|asin|acos|atan|atan2|hypot)_f64"),
    "elementary_power_f64.h": re.compile(r"tc_power_f64"),
}
"""The headers a unit needs only where its kernels match."""

_EXPORT = """\
#define TC_EXPORT __attribute__((visibility("default")))"""

_OPENMP = """\
extern "C" int omp_get_thread_num(void);
extern "C" int omp_get_num_threads(void);
extern "C" int omp_get_max_threads(void);

/* The threads a call asks for; 0 or less means the OpenMP runtime's default. */
TC_INLINE int tc_thread_count(int32_t threads) { return threads > 0 ? threads : omp_get_max_threads(); }"""


def build_unit(nests: Sequence[NestProgram], options: EmitOptions, tail: str = "") -> Unit:
    """The translation unit as a tree; `tail` is text that ends it (the manifest)."""
    functions: list[Function] = [f for nest in nests for f in emit_kernel(nest, options)]
    kernels = "\n".join(print_function(f) for f in functions)
    parts: list[Text | Function] = [Text(runtime_text(kernels)), Text(_EXPORT)]
    if options.openmp:
        parts.append(Text(_OPENMP))
    if options.cpu_features:
        parts.append(Text(_cpu_check_text(options.cpu_features)))
    parts.extend(functions)
    if tail:
        parts.append(Text(tail))
    return Unit(tuple(parts))


def _cpu_check_text(features: Sequence[str]) -> str:
    tests = " && ".join(f'__builtin_cpu_supports("{feature}")' for feature in features)
    return f"static int tc_cpu_supported(void) {{\n    return {tests};\n}}"


def emit_unit(nests: Sequence[NestProgram], options: EmitOptions, tail: str = "") -> str:
    """The C++ text of a file's kernels."""
    return print_unit(build_unit(nests, options, tail))


def runtime_text(kernels: str = "") -> str:
    """The runtime's headers in one piece, without those that `kernels` (C text) does not need.

    Parsing unused headers is most of a small kernel's compile time.
    """
    seen: set[str] = set()
    text = _expand("scalars.h", seen) + _expand("lanes.h", seen)
    for name, pattern in _OPTIONAL.items():
        if pattern.search(kernels):
            text += _expand(name, seen)
    return text


def _expand(name: str, seen: set[str]) -> str:
    if name in seen:
        return ""
    seen.add(name)
    return _INCLUDE.sub(lambda m: _expand(m.group(1), seen), _header(name))


@lru_cache(maxsize=64)
def _header(name: str) -> str:
    return files("tensorc.codegen").joinpath("runtime", name).read_text(encoding="utf-8")
