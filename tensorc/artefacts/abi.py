"""The C face of a kernel: symbol, prototype and dimension arguments, all from its signature.

`int32_t PREFIX_NAME(parameters, results, dims, int32_t threads)`: arrays as pointers to their C-contiguous
elements, scalars by value, one `int64_t` per passed dim, `threads` 0 for the OpenMP runtime's default.
A bool is a `uint8_t`, 0 or 1; elements of f16 and bf16 are `uint16_t` bits, scalars of them `float`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tensorc.artefacts.loader_runtime import ABI_VERSION
from tensorc.diagnostics.model import CompileError, Diagnostic
from tensorc.signature import Signature

__all__ = [
    "ABI_VERSION",
    "CArgument",
    "MANIFEST_SYMBOL",
    "STATUS_CODES",
    "c_arguments",
    "c_symbol",
    "check_symbols",
]

MANIFEST_SYMBOL = "tdsl_manifest"
DEFAULT_PREFIX = "tdsl_"

STATUS_CODES = (
    (0, "ok"),
    (1, "a size or a precondition does not hold, or sizes are too large"),
    (2, "no memory for work arrays"),
    (3, "this CPU lacks what the kernel was compiled for"),
)
FIRST_RUNTIME_ERROR = 16

# C and C++ keywords, and what the header itself uses
_C_WORD_LIST = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class
compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum
explicit export extern false float for friend goto if inline int int32_t int64_t linux long mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch
template this thread_local threads throw true try typedef typeid typename uint8_t union unix
unsigned using virtual void volatile wchar_t while xor xor_eq
"""
_C_WORDS = frozenset(_C_WORD_LIST.split())


@dataclass(frozen=True, slots=True)
class CArgument:
    """One argument: `role` is param, result, dim or threads; `meaning` is its TDSL type or dim."""

    role: str
    c_type: str
    c_name: str
    meaning: str

    @property
    def declaration(self) -> str:
        return f"{self.c_type} {self.c_name}"


def c_symbol(name: str, prefix: str) -> str:
    return f"{prefix}{name}"


def c_arguments(signature: Signature) -> tuple[CArgument, ...]:
    """The arguments of the C function in order; names that C cannot have get trailing underscores."""
    taken: set[str] = set()

    def fresh(name: str) -> str:
        while name in taken or name in _C_WORDS:
            name += "_"
        taken.add(name)
        return name

    found: list[CArgument] = []
    for p in signature.params:
        c_type = f"const {p.dtype.c}*" if p.shape else p.dtype.scalar_c
        found.append(CArgument("param", c_type, fresh(p.name), p.written))
    for k, r in enumerate(signature.results):
        found.append(CArgument("result", f"{r.dtype.c}*", fresh(signature.result_name(k)), r.written))
    found.extend(CArgument("dim", "int64_t", fresh(d), d) for d in signature.passed_dims)
    found.append(CArgument("threads", "int32_t", "threads", "threads"))
    return tuple(found)


def check_symbols(names: Iterable[str], prefix: str) -> None:
    """Refuse a prefix that is no identifier, or gives a kernel the manifest's own symbol.

    Raises:
        CompileError: TC0805.
    """
    if prefix and not (prefix.isascii() and prefix.isidentifier()):
        raise CompileError(
            [Diagnostic("TC0805", f"the symbol prefix '{prefix}' is not the start of a C name", None)]
        )
    clash = [n for n in names if c_symbol(n, prefix) in (MANIFEST_SYMBOL, *_C_WORDS, "main")]
    if clash:
        symbol = c_symbol(clash[0], prefix)
        raise CompileError(
            [
                Diagnostic(
                    "TC0805",
                    f"kernel '{clash[0]}' would have the C symbol '{symbol}', which is taken",
                    None,
                    help="choose another --prefix",
                )
            ]
        )
