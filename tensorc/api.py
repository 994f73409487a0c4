"""The library's front door: compile a program in this process and call its kernels.

This and the command line are the only places that read the environment: CXX, CXXFLAGS, TENSORC_CACHE_DIR and
TENSORC_TARGET.
"""

from __future__ import annotations

import ctypes
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from tensorc.artefacts.loader_runtime import ABI_VERSION, GenericCall, KernelCall, load_kernels
from tensorc.diagnostics.model import CompileError, Diagnostic, ToolchainError
from tensorc.driver import (
    MATH_MODES,
    POLICIES,
    SANITIZERS,
    THREAD_MODES,
    CompiledUnit,
    CompileOptions,
    Observer,
    Toolchain,
    compile_text,
    library_text,
    resolve_toolchain,
    unit_manifest,
)
from tensorc.signature import Signature
from tensorc.source import Source

if TYPE_CHECKING:
    from cffi import FFI

    from tensorc.artefacts.manifest import Json
    from tensorc.scheduler.events import Event
    from tensorc.scheduler.program import FusedProgram

__all__ = ["CompileError", "Environment", "Kernel", "Module", "compile", "load_unit", "read_environment"]


@dataclass(frozen=True, slots=True)
class Environment:
    """What the process's environment asks for; None where it says nothing."""

    cxx: str | None
    cxx_flags: tuple[str, ...]
    cache_dir: str | None
    target: str | None


def read_environment() -> Environment:
    get = os.environ.get
    return Environment(
        cxx=get("CXX") or None,
        cxx_flags=tuple(shlex.split(get("CXXFLAGS", ""))),
        cache_dir=get("TENSORC_CACHE_DIR") or None,
        target=get("TENSORC_TARGET") or None,
    )


class Kernel:
    """A compiled kernel. Calling it takes the parameters in order or by name.

    `out` is an array to write to (a tuple of arrays for several results), `threads` the number of threads;
    `copy="never"` refuses what would be copied first. Several results come as a named tuple.
    """

    def __init__(self, module: Module, call: KernelCall | GenericCall, position: int) -> None:
        self._module = module
        self._call = call
        self._position = position
        self.__name__ = call.name
        self.__doc__ = call.spec["doc"] or None

    def __call__(
        self,
        /,
        *args: Any,
        out: Any = None,
        threads: int | None = None,
        copy: str = "auto",
        **named: Any,
    ) -> Any:
        """Run the kernel.

        Raises:
            TypeError: an argument's number, name, dtype or kind.
            ValueError: a size, a precondition, an overlap. IndexError: a gathered index.
        """
        if named or len(args) != len(self._call.parameters):
            args = bind_arguments(self._call, args, named)
        return self._call.call(args, out, threads, copy)

    @property
    def signature(self) -> str:
        """The kernel's head as it would be written, with inferred types."""
        return self._call.signature

    @property
    def source(self) -> str:
        """The text of the file that the kernel is from."""
        return self._module.source

    @property
    def cpp(self) -> str:
        """The generated translation unit."""
        return self._module.cpp

    @property
    def fusion(self) -> tuple[Event, ...]:
        """Every decision of the scheduler, in order."""
        return self._fused.events

    def fusion_log(self, symbolic: bool = False) -> str:
        """What `tensorc explain` prints: at the hints, or with the names of dims kept."""
        return explain_text(self._module.unit, self._position, symbolic)

    @property
    def _fused(self) -> FusedProgram:
        return self._module.unit.fused[self._position]

    def __repr__(self) -> str:
        return f"<tensorc kernel {self.signature}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild_kernel, (self._module, self.__name__))


class Module:
    """The kernels of one file: `module["name"]`, or `module.name` where nothing else has that name.

    A kernel with dtype parameters is there by its name, and each of its cases as `name_f32` and so on.
    """

    def __init__(
        self, unit: CompiledUnit, calls: Mapping[str, KernelCall | GenericCall], cpp: str, library: Path
    ) -> None:
        self.unit = unit
        self.cpp = cpp
        self.library = library
        places = {s.name: k for k, s in enumerate(unit.signatures)}
        self._kernels = {
            name: Kernel(self, call, places[call.kernels[0] if isinstance(call, GenericCall) else name])
            for name, call in calls.items()
        }

    @property
    def source(self) -> str:
        return self.unit.source.text

    def __getitem__(self, name: str) -> Kernel:
        try:
            return self._kernels[name]
        except KeyError:
            raise KeyError(f"no kernel '{name}'; there are {', '.join(self._kernels)}") from None

    def __getattr__(self, name: str) -> Kernel:
        kernels = self.__dict__.get("_kernels", {})
        if name in kernels:
            kernel: Kernel = kernels[name]
            return kernel
        raise AttributeError(f"no kernel '{name}'; there are {', '.join(kernels)}")

    def __iter__(self) -> Iterator[str]:
        """The kernels' names in the order of the file: of one with dtype parameters, those of its cases."""
        return (s.name for s in self.unit.signatures)

    def __len__(self) -> int:
        return len(self.unit.signatures)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._kernels})

    def __repr__(self) -> str:
        return f"<tensorc module of {', '.join(self._kernels)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # by content: another machine builds it for its own CPU
        from tensorc.syntax.imports import imported_sources

        source = self.unit.source
        texts = tuple((s.path, s.text) for s in imported_sources(self.unit.file) if s.path is not None)
        return (
            _rebuild_module,
            (source.name, source.text, source.path, replace(self.unit.options, texts=texts)),
        )


def explain_text(unit: CompiledUnit, position: int, symbolic: bool) -> str:
    """The fusion log of one kernel and what came of it: nests, bytes, buffers, freedoms of math=fast."""
    from tensorc.loop_schedule.summary import render_summary
    from tensorc.scheduler.log import render_text
    from tensorc.tensor_ir.relax import render_relaxations

    parts = [render_text(unit.fused[position], symbolic), render_summary(unit.nests[position], symbolic)]
    if unit.options.math == "fast":
        parts.append(render_relaxations(unit.reference[position]))
    return "".join(p if p.endswith("\n") else f"{p}\n" for p in parts)


def compile(
    path_or_source: str | os.PathLike[str],
    *,
    policy: str = "default",
    target: str | None = None,
    cxx: str | None = None,
    opt_level: int = 2,
    threads: str = "openmp",
    math: str = "strict",
    debug: bool = False,
    sanitize: Sequence[str] = (),
    dims: Mapping[str, int] | None = None,
    hints: Mapping[str, int] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Module:
    """Compile a program and load it; unchanged programs come from the cache.

    A `pathlib.Path`, or a str that ends in `.tdsl` and has no newline, is a file; any other str is source.
    `target` is this machine by default, `cxx` the compiler of CXX or the first found, `cache_dir` that of
    TENSORC_CACHE_DIR or the user's. `dims` fixes sizes, `hints` feeds the estimates.
    `math="fast"` takes the freedoms of `docs/numerics.md`: results may differ from strict ones by roundings.

    Raises:
        CompileError: the program has errors, all listed in `.diagnostics`.
        ToolchainError: (a CompileError) the C++ compiler is missing or failed.
        TypeError, ValueError: an option has a type or a value that it does not take.
    """
    check_options(
        policy=policy,
        target=target,
        cxx=cxx,
        opt_level=opt_level,
        threads=threads,
        math=math,
        debug=debug,
        sanitize=sanitize,
        dims=dims,
        hints=hints,
        cache_dir=cache_dir,
    )
    options = CompileOptions(
        policy=policy,
        target=target,
        cxx=cxx,
        opt_level=opt_level,
        threads=threads,
        math=math,
        debug=debug,
        sanitize=tuple(sanitize),
        dims=tuple((dims or {}).items()),
        hints=tuple((hints or {}).items()),
    )
    source = _find_source(path_or_source)
    return load_unit(source, options, Path(cache_dir) if cache_dir is not None else None)


_OPTION_VALUES: Mapping[str, tuple[object, ...]] = {
    "policy": POLICIES,
    "threads": THREAD_MODES,
    "math": MATH_MODES,
    "opt_level": (0, 1, 2, 3),
}
_OPTION_TYPES: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "target": ("a str", (str, NoneType)),
    "cxx": ("a str", (str, NoneType)),
    "debug": ("a bool", (bool,)),
    "sanitize": ("a list of str", (list, tuple)),
    "dims": ("a dict of sizes by name", (Mapping, NoneType)),
    "hints": ("a dict of sizes by name", (Mapping, NoneType)),
    "cache_dir": ("a path", (str, os.PathLike, NoneType)),
}


def check_options(**given: Any) -> None:
    """Look at the options of `compile` as they were given.

    Raises:
        TypeError: an option, or the name of a size, has another type. ValueError: no such value.
    """
    for name, value in given.items():
        if name in _OPTION_VALUES:
            _check_value(name, value, _OPTION_VALUES[name])
        else:
            expected, types = _OPTION_TYPES[name]
            if not isinstance(value, types):
                raise TypeError(f"{name}={value!r} is not {expected}")
    for value in given["sanitize"]:
        _check_value("sanitize", value, SANITIZERS)
    for sizes in (given["dims"] or {}, given["hints"] or {}):
        for dim, size in sizes.items():
            _check_size(dim, size)


def _check_value(name: str, value: object, values: tuple[object, ...]) -> None:
    # True equals 1
    if not any(type(value) is type(v) and value == v for v in values):
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, values))}")


def _check_size(dim: object, size: object) -> None:
    from tensorc.codegen.size_limits import ARRAY_LIMIT

    if not isinstance(dim, str):
        raise TypeError(f"the name of a size is a str, not {dim!r}")
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ValueError(f"the size {dim}={size!r} is no whole number from 0 up")
    if size >= ARRAY_LIMIT:
        raise ValueError(f"the size {dim}={size} is not below 2^47")


def _find_source(path_or_source: str | os.PathLike[str]) -> Source:
    if isinstance(path_or_source, str) and ("\n" in path_or_source or not path_or_source.endswith(".tdsl")):
        return Source("<source>", path_or_source)
    if not isinstance(path_or_source, str | os.PathLike):
        raise TypeError(f"a program is a str or a path, not {path_or_source!r}")
    from tensorc.syntax.read import read_source

    return read_source(os.fspath(path_or_source))


def load_unit(
    source: Source, options: CompileOptions, cache_dir: Path | None = None, observe: Observer | None = None
) -> Module:
    """Compile and load `source`: for this machine unless a target is given, through the cache.

    Raises:
        CompileError, ToolchainError: as `compile`.
    """
    from cffi import FFI

    from tensorc.artefacts.loader import cdef
    from tensorc.toolchain.cache import default_cache_directory

    environment = read_environment()
    resolved = replace(
        options,
        target=options.target or environment.target or "native",
        cxx=options.cxx or environment.cxx,
        cxx_flags=options.cxx_flags or environment.cxx_flags,
    )
    if cache_dir is None:
        cache_dir = Path(environment.cache_dir) if environment.cache_dir else default_cache_directory()
    unit = compile_text(source, resolved, observe)
    toolchain = resolve_toolchain(resolved)
    manifest = unit_manifest(unit, toolchain.target)
    cpp = library_text(unit, manifest)
    ffi = FFI()
    ffi.cdef(cdef(manifest))
    _require_sanitizer_runtime(resolved, toolchain)
    library, calls = _load_cached(cpp, toolchain, manifest, ffi, cache_dir)
    # what is pickled is what was asked for, not what this machine made of it
    unit = replace(unit, options=options)
    return Module(unit, calls, cpp, library)


def _require_sanitizer_runtime(options: CompileOptions, toolchain: Toolchain) -> None:
    """A library with the address sanitizer ends a process that was started without its runtime.

    Raises:
        ToolchainError: TC0603.
    """
    if "address" not in options.sanitize or hasattr(ctypes.CDLL(None), "__asan_init"):
        return
    runtime = "libclang_rt.asan-x86_64.so" if toolchain.compiler.family == "clang" else "libasan.so"
    preload = f"LD_PRELOAD=$({shlex.join(toolchain.compiler.command)} -print-file-name={runtime})"
    message = "this process was started without the address sanitizer's runtime"
    raise ToolchainError([Diagnostic("TC0603", message, None, help=f"start it with {preload}")])


def _load_cached(
    cpp: str, toolchain: Toolchain, manifest: Json, ffi: FFI, cache_dir: Path
) -> tuple[Path, dict[str, KernelCall | GenericCall]]:
    """The library from the store, loaded. An entry that is cleared away before it is loaded is built again.

    Raises:
        ToolchainError: TC0602, TC0603.
    """
    from tensorc.toolchain.cache import cached_library
    from tensorc.toolchain.compiler import toolchain_error

    while True:
        library = cached_library(
            cpp, toolchain.compiler, toolchain.target, toolchain.options, ABI_VERSION, cache_dir
        )
        try:
            return library, load_kernels(ffi, str(library), manifest)
        except ImportError as error:
            if library.exists():
                message = f"what the C++ compiler built cannot be loaded: {error}"
                raise toolchain_error("TC0603", message) from None


def bind_arguments(
    call: KernelCall | GenericCall, args: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Any, ...]:
    """All arguments in order: the given ones by place and name, defaults for the rest.

    Raises:
        TypeError: one is missing, unknown, given twice, or one too many.
    """
    parameters = call.parameters
    if len(args) > len(parameters):
        arguments = "argument" if len(parameters) == 1 else "arguments"
        raise TypeError(f"{call.name}() takes {len(parameters)} {arguments}, not {len(args)}")
    values = dict(zip(parameters, args, strict=False))
    for name, value in named.items():
        if name not in parameters:
            raise TypeError(f"{call.name}() has no parameter '{name}'")
        if name in values:
            raise TypeError(f"{call.name}() got two values for '{name}'")
        values[name] = value
    missing = [p for p in parameters if p not in values and p not in call.defaults]
    if missing:
        raise TypeError(f"{call.name}() misses {', '.join(repr(m) for m in missing)}: {call.signature}")
    return tuple(values[p] if p in values else call.defaults[p] for p in parameters)


def signature_of(module: Module, name: str) -> Signature:
    """The signature record of a kernel."""
    return next(s for s in module.unit.signatures if s.name == name)


def _rebuild_module(name: str, text: str, path: str | None, options: CompileOptions) -> Module:
    return load_unit(Source(name, text, path), options)


def _rebuild_kernel(module: Module, name: str) -> Kernel:
    return module[name]
