"""Writes results so that no reader ever sees half of one: staged beside the target, then renamed.

Only files are replaced: a symbolic link stays, and what it leads to is written.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tensorc.diagnostics.model import CompileError, Diagnostic


class OutputError(CompileError):
    """A result cannot be written where the command line asked for it; `cause` is the system's reason."""

    exit_status = 2

    def __init__(self, path: Path, cause: OSError) -> None:
        self.cause = cause
        reason = cause.strerror or str(cause)
        super().__init__([Diagnostic("TC0604", f"cannot write '{path}': {reason}", None)])


def final_path(path: Path) -> Path:
    """The file that is written for `path`, at the end of its symbolic links; it need not be there yet.

    Raises:
        OutputError: TC0604, something other than a file is there.
    """
    final = Path(os.path.realpath(path)) if os.path.islink(path) else path
    try:
        mode = final.lstat().st_mode
    except FileNotFoundError:
        return final
    except OSError as error:
        raise OutputError(path, error) from None
    if stat.S_ISREG(mode):
        return final
    if stat.S_ISLNK(mode):
        raise OutputError(path, OSError(errno.ELOOP, os.strerror(errno.ELOOP)))
    what = "it is a directory" if stat.S_ISDIR(mode) else "it is not a regular file"
    raise OutputError(path, OSError(errno.EINVAL, what))


@contextmanager
def staging_directory(folder: Path) -> Iterator[Path]:
    """A private directory inside `folder` (created if missing), removed afterwards whatever happens.

    Inside `folder`, because a rename is atomic only within one file system.

    Raises:
        OutputError: TC0604, `folder` cannot be created or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # absolute, because a relative path may look like an option of the compiler
        staging = Path(tempfile.mkdtemp(prefix=".tensorc-", dir=folder.absolute()))
    except OSError as error:
        raise OutputError(folder, error) from None
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def replacing(paths: Collection[Path]) -> Iterator[dict[Path, Path]]:
    """For each of `paths` a path to write its content to, which takes its place when the block has succeeded.

    All targets are checked first, and nothing is replaced before everything is written.

    Raises:
        OutputError: TC0604.
    """
    finals = {path: final_path(path) for path in paths}
    folders = dict.fromkeys(final.parent for final in finals.values())
    with ExitStack() as stack:
        staging = {folder: stack.enter_context(staging_directory(folder)) for folder in folders}
        staged = {
            path: staging[final.parent] / f"staged{k}" for k, (path, final) in enumerate(finals.items())
        }
        yield staged
        for path, final in finals.items():
            try:
                os.replace(staged[path], final)
            except OSError as error:
                raise OutputError(path, error) from None


def write_file(temporary: Path, data: bytes, path: Path) -> None:
    """Write the content that `path` shall have to a staged file.

    Raises:
        OutputError: TC0604.
    """
    try:
        temporary.write_bytes(data)
    except OSError as error:
        raise OutputError(path, error) from None


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write files (path -> content), all or none.

    Raises:
        OutputError: TC0604.
    """
    with replacing(contents) as staged:
        for path, data in contents.items():
            write_file(staged[path], data, path)
