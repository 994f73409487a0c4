"""The store of built kernels: a library is found again by the hash of all that determines it.

An entry is `KEY/kernel.so` with `KEY/kernel.sha256`. An entry whose library does not match its checksum
is built anew. The directory must belong to the user: loading a library runs its code.
"""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

from tensorc.toolchain.build import BuildOptions, compile_flags, compile_library, link_flags
from tensorc.toolchain.compiler import Compiler
from tensorc.toolchain.files import OutputError, write_all
from tensorc.toolchain.target import Target

_ATTEMPTS = 5


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
    key = cache_key(cpp, compiler, target, options, abi_version)
    library, checksum = directory / key / "kernel.so", directory / key / "kernel.sha256"
    if _is_intact(library, checksum, key):
        return library
    built: bytes | None = None
    for attempt in range(_ATTEMPTS):
        try:
            with _lock(directory, key):
                if not _is_intact(library, checksum, key):
                    built = built or _build(cpp, compiler, target, options)
                    write_all({library: built, checksum: _checksum(built, key)})
            return library
        except (OSError, OutputError) as error:
            # someone may be clearing the store at this moment
            if attempt + 1 == _ATTEMPTS or not _has_vanished(error):
                raise error if isinstance(error, OutputError) else OutputError(directory, error) from None
    raise AssertionError("the last attempt returns or raises")


def _lock(directory: Path, key: str) -> AbstractContextManager[object]:
    from filelock import FileLock

    directory.mkdir(parents=True, exist_ok=True)
    return FileLock(directory / f"{key}.lock")


def _build(cpp: str, compiler: Compiler, target: Target, options: BuildOptions) -> bytes:
    """The library's bytes, built outside of the store, which may be cleared meanwhile."""
    with tempfile.TemporaryDirectory(prefix="tensorc-") as folder:
        library = Path(folder).absolute() / "kernel.so"
        compile_library(cpp, library, compiler, target, options)
        return library.read_bytes()


def _has_vanished(error: OSError | OutputError) -> bool:
    cause = error.cause if isinstance(error, OutputError) else error
    return isinstance(cause, FileNotFoundError)


def _is_intact(library: Path, checksum: Path, key: str) -> bool:
    # to read from a pipe that lies in their place would be to wait
    if not (library.is_file() and checksum.is_file()):
        return False
    try:
        return checksum.read_bytes() == _checksum(library.read_bytes(), key)
    except OSError:
        return False


def _checksum(library: bytes, key: str) -> bytes:
    """Of the library and of its place, so that swapped entries are noticed too."""
    return hashlib.sha256(key.encode() + library).hexdigest().encode()
