"""Builds one translation unit into a shared library that needs libc, libm and the OpenMP runtime only."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tensorc.diagnostics.model import ToolchainError
from tensorc.toolchain.compiler import Compiler, describe_exit, first_lines, run_compiler, toolchain_error
from tensorc.toolchain.files import OutputError, replacing, write_file
from tensorc.toolchain.target import Target

# Strict IEEE without traps or errno, wrapping integers, only the kernels visible, no C++ runtime.
_COMPILE_FLAGS = (
    *("-std=c++17", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv"),
    *("-fvisibility=hidden", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"),
)
_STRICT = ("-fno-fast-math", "-fno-unsafe-math-optimizations")
"""Behind the flags of the user. Either one, left alone, has g++ link code that flushes subnormals."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """`threads` is openmp or none; `sanitize` lists sanitizers (address, undefined).

    `extra_flags` are the user's (CXXFLAGS); they come first, so that none of them weakens a promise.
    """

    opt_level: int = 2
    threads: str = "openmp"
    debug: bool = False
    sanitize: tuple[str, ...] = ()
    extra_flags: tuple[str, ...] = ()


def compile_flags(target: Target, options: BuildOptions) -> tuple[str, ...]:
    """Flags that decide the code; the cache key holds them."""
    extra = (*options.extra_flags, *_STRICT) if options.extra_flags else ()
    flags = [*extra, f"-O{options.opt_level}", *_COMPILE_FLAGS, *target.flags]
    if options.debug:
        flags.append("-g")
    if options.threads == "openmp":
        flags.append("-fopenmp")
    if options.sanitize:
        flags.extend((f"-fsanitize={','.join(options.sanitize)}", "-fno-omit-frame-pointer"))
    return tuple(flags)


def link_flags(compiler: Compiler, options: BuildOptions) -> tuple[str, ...]:
    """Flags after the source file: leave libstdc++ out, and refuse symbols that nothing defines.

    g++ learned `-nostdlib++` in version 13 only, so its default libraries are listed without libstdc++.
    Sanitizers bring their own runtime, which `-nodefaultlibs` would drop.
    """
    if sys.platform == "darwin":
        return ("-nostdlib++",)
    # never unloaded: the OpenMP runtime would go with it, under the feet of its waiting threads
    stays = ("-Wl,-z,nodelete",)
    if options.sanitize:
        # clang links its sanitizers into programs only, unless told that this is a library
        shared = ("-shared-libsan",) if compiler.family == "clang" else ()
        return (*stays, *shared, "-Wl,--as-needed")
    strict = (*stays, "-Wl,-z,defs", "-Wl,--as-needed")
    if compiler.family == "clang":
        return (*strict, "-nostdlib++", "-lm", "-ldl")
    openmp = ("-lgomp",) if options.threads == "openmp" else ()
    return (*strict, "-nodefaultlibs", *openmp, "-lm", "-ldl", "-lc", "-lgcc")


def build_library(
    cpp: str,
    destination: Path,
    compiler: Compiler,
    target: Target,
    options: BuildOptions,
    companions: Mapping[Path, bytes] | None = None,
) -> None:
    """Compile `cpp` to `destination`, and write `companions` (path -> content) with it.

    Everything is made in directories beside the destinations and renamed when all of it is there.

    Raises:
        ToolchainError: TC0603, TC0602.
        OutputError: TC0604.
    """
    contents = companions or {}
    with replacing((destination, *contents)) as staged:
        compile_library(cpp, staged[destination], compiler, target, options)
        for path, data in contents.items():
            write_file(staged[path], data, path)


def compile_library(
    cpp: str, library: Path, compiler: Compiler, target: Target, options: BuildOptions
) -> None:
    """Compile `cpp` to the file `library`; its directory is scratch space of the caller.

    Raises:
        ToolchainError: TC0603 the compiler cannot be started; TC0602 it failed.
        OutputError: TC0604 the source cannot be written.
    """
    source = library.parent / "kernel.cpp"
    try:
        source.write_text(cpp, encoding="utf-8")
    except OSError as error:
        raise OutputError(source, error) from None
    argv = [
        *compiler.command,
        *compile_flags(target, options),
        *("-shared", "-o", str(library), str(source)),
        *link_flags(compiler, options),
        *_sanitizer_path(compiler, options),
    ]
    result = run_compiler(argv, "TC0603")
    if result.returncode == 0 and library.is_file():
        return
    kept = _keep_source(cpp)
    moved = {str(source): kept, str(library): str(Path(kept).with_suffix(".so"))}
    command = [moved.get(word, word) for word in argv]
    output = result.stderr.replace(str(source), kept)
    raise _failure(compiler, command, kept, result.returncode, output, options)


def _sanitizer_path(compiler: Compiler, options: BuildOptions) -> tuple[str, ...]:
    """Where the loader finds clang's shared sanitizers, which are not on its path."""
    if not options.sanitize or compiler.family != "clang":
        return ()
    result = run_compiler([*compiler.command, "-print-runtime-dir"], "TC0603")
    return (f"-Wl,-rpath,{result.stdout.strip()}",) if result.returncode == 0 else ()


def _keep_source(cpp: str) -> str:
    """Save the unit outside the staging directory, for whoever looks into the failure."""
    folder = Path(tempfile.mkdtemp(prefix="tensorc-failed-"))
    kept = folder / "kernel.cpp"
    kept.write_text(cpp, encoding="utf-8")
    return str(kept)


def _failure(
    compiler: Compiler, command: list[str], kept: str, status: int, output: str, options: BuildOptions
) -> ToolchainError:
    what = describe_exit(status) if status else "it reported success but wrote no library"
    help = ""
    if options.threads == "openmp" and ("omp" in output.lower()):
        help = (
            "the compiler's OpenMP support seems to be missing (Debian: libomp-dev for clang); "
            "install it or build with --threads=none"
        )
    return toolchain_error(
        "TC0602",
        f"the C++ compiler {shlex.join(compiler.command)} failed on the generated code: {what}",
        f"command: {shlex.join(command)}",
        f"the generated source is kept in {kept}",
        *first_lines(output),
        help=help,
    )
