"""tensorc: a compiler from a small tensor language to native CPU kernels.

`compile`, `Module`, `Kernel` and `CompileError` are loaded when first used: `import tensorc` itself brings in
neither NumPy nor SymPy nor Lark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorc.api import CompileError, Kernel, Module, compile

__version__ = "0.1.0"
__all__ = ["CompileError", "Kernel", "Module", "__version__", "compile"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tensorc' has no attribute {name!r}")
    from tensorc import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__"])
