"""`tensorc doctor`: what tensorc finds on this machine, and whether it can build and run a kernel."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tensorc import __version__
from tensorc.cli.options import message_options

if TYPE_CHECKING:
    from pathlib import Path

    from tensorc.toolchain.compiler import Compiler

NO_COMPILER = 3

_PROBE = """
#ifdef _OPENMP
extern "C" int omp_get_max_threads(void);
#endif
extern "C" __attribute__((visibility("default"))) int probe() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}
"""


@click.command("doctor")
@click.option("--cxx", metavar="COMMAND", help="Also try this C++ compiler.")
@message_options
def doctor_command(cxx: str | None) -> int:
    """Show compilers, CPU, OpenMP, cache and versions; status 3 if no compiler works."""
    for line in _machine_lines():
        click.echo(line)
    usable = 0
    for line, works in _compiler_lines(cxx):
        click.echo(line)
        usable += works
    if not usable:
        click.echo("no C++ compiler works: install g++ or clang++, or name one with --cxx", err=True)
    return 0 if usable else NO_COMPILER


def _machine_lines() -> Iterator[str]:
    from importlib import metadata

    from tensorc.api import read_environment
    from tensorc.artefacts.loader_process import default_threads
    from tensorc.toolchain.cache import default_cache_directory
    from tensorc.toolchain.target import default_target, probe_host, target_names

    environment = read_environment()
    host = probe_host()
    packages = ("numpy", "cffi", "lark", "sympy", "click")
    versions = ", ".join(f"{p} {metadata.version(p)}" for p in packages)
    yield f"tensorc    {__version__}"
    yield f"python     {platform.python_version()} ({sys.executable}), {versions}"
    yield f"machine    {platform.system()} {host.arch}, {default_threads()} threads by default"
    yield f"targets    {', '.join(target_names(host))}; compile defaults to {default_target(host).name}"
    yield f"cache      {environment.cache_dir or default_cache_directory()}"
    named = [("CXX", environment.cxx), ("TENSORC_TARGET", environment.target)]
    named.append(("CXXFLAGS", " ".join(environment.cxx_flags)))
    settings = [f"{name}={value}" for name, value in named if value]
    if settings:
        yield f"settings   {', '.join(settings)}"


def _compiler_lines(cxx: str | None) -> Iterator[tuple[str, bool]]:
    """A line for every compiler that is there, and whether it builds a library."""
    import shutil

    from tensorc.api import read_environment
    from tensorc.diagnostics.model import ToolchainError
    from tensorc.toolchain.compiler import CANDIDATES, find_compiler

    asked = [c for c in (cxx, read_environment().cxx) if c]
    for command in dict.fromkeys([*asked, *(c for c in CANDIDATES if shutil.which(c))]):
        try:
            compiler = find_compiler(command)
        except ToolchainError as error:
            yield f"compiler   {command}: {error.diagnostics[0].message}", False
            continue
        serial, openmp = (_try_build(compiler, threads) for threads in ("none", "openmp"))
        words = "OpenMP works" if not openmp else "no OpenMP, use --threads=none"
        yield f"compiler   {compiler}: {serial or words}", not serial


def _try_build(compiler: Compiler, threads: str) -> str:
    """What is wrong with building and loading a library in this mode; empty if nothing is."""
    import tempfile
    from pathlib import Path

    from tensorc.diagnostics.model import CompileError
    from tensorc.toolchain.build import BuildOptions, build_library
    from tensorc.toolchain.target import probe_host, resolve_target

    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "probe.so"
        target = resolve_target("generic", probe_host())
        try:
            build_library(_PROBE, library, compiler, target, BuildOptions(threads=threads))
        except CompileError as error:
            return error.diagnostics[0].message
        return _try_load(library)


def _try_load(library: Path) -> str:
    from cffi import FFI

    ffi = FFI()
    ffi.cdef("int probe(void);")
    try:
        return "" if ffi.dlopen(str(library)).probe() >= 1 else "a built library gives wrong answers"
    except OSError as error:
        return f"a built library cannot be loaded: {error}"
