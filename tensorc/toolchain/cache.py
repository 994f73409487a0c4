"""The store of built kernels: a library is found again by the hash of all that determines it.

An entry is `KEY/kernel.so` with `KEY/kernel.sha256`. An entry whose library does not match its checksum
is built anew. The directory must belong to the user: loading a library runs its code.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from tensorc.toolchain.build import BuildOptions, build_library, compile_flags, link_flags
from tensorc.toolchain.compiler import Compiler
from tensorc.toolchain.files import output_error
from tensorc.toolchain.target import Target


def default_cache_directory() -> Path:
    """Where libraries are kept when the user names no place."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("tensorc", appauthor=False))


def cache_key(cpp: str, compiler: Compiler, target: Target, options: BuildOptions, abi_version: int) -> str:
    """Hash of the unit, the compiler, the flags, the CPU features that `native` stands for, the ABI."""
    parts = (
        cpp,
        compiler.identity,
        *compile_flags(target, options),
        *link_flags(compiler, options),
        *target.features,
        f"abi {abi_version}",
    )
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()[:40]


def cached_library(
    cpp: str,
    compiler: Compiler,
    target: Target,
    options: BuildOptions,
    abi_version: int,
    directory: Path,
) -> Path:
    """The library of `cpp` in the store, built first if it is not there or damaged.

    Raises:
        ToolchainError: TC0603, TC0602.
        OutputError: TC0604, the store cannot be written.
    """
    entry = directory / cache_key(cpp, compiler, target, options, abi_version)
    library, checksum = entry / "kernel.so", entry / "kernel.sha256"
    if _is_intact(library, checksum):
        return library
    from filelock import FileLock

    try:
        entry.mkdir(parents=True, exist_ok=True)
        lock = FileLock(entry / "lock")
        lock.acquire()
    except OSError as error:
        raise output_error(entry, error) from None
    try:
        if not _is_intact(library, checksum):
            build_library(cpp, library, compiler, target, options)
            checksum.write_text(_sha256(library), encoding="ascii")
    finally:
        lock.release()
    return library


def _is_intact(library: Path, checksum: Path) -> bool:
    try:
        return checksum.read_text(encoding="ascii") == _sha256(library)
    except (OSError, UnicodeDecodeError):
        return False


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
