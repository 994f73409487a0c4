"""Writes results so that no reader ever sees half of one: staged beside the target, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tensorc.diagnostics.model import CompileError, Diagnostic


class OutputError(CompileError):
    """A result cannot be written where the command line asked for it; `cause` is the system's reason."""

    exit_status = 2

    def __init__(self, path: Path, cause: OSError) -> None:
        self.cause = cause
        reason = cause.strerror or str(cause)
        super().__init__([Diagnostic("TC0604", f"cannot write '{path}': {reason}", None)])


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


def publish(staged: Mapping[Path, Path]) -> None:
    """Move each staged file (key) to its final path (value), replacing what is there.

    All destinations are checked before the first is replaced.

    Raises:
        OutputError: TC0604.
    """
    for final in staged.values():
        if final.is_dir():
            raise OutputError(final, IsADirectoryError(0, "it is a directory"))
    for temporary, final in staged.items():
        try:
            os.replace(temporary, final)
        except OSError as error:
            raise OutputError(final, error) from None


def write_staged(staging: Path, contents: Mapping[Path, bytes]) -> dict[Path, Path]:
    """Write each content (final path -> bytes) into `staging`; the staged files and where they belong.

    Raises:
        OutputError: TC0604.
    """
    staged: dict[Path, Path] = {}
    for position, (path, data) in enumerate(contents.items()):
        temporary = staging / f"staged{position}"
        try:
            temporary.write_bytes(data)
        except OSError as error:
            raise OutputError(path, error) from None
        staged[temporary] = path
    return staged


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write files that share a directory (path -> content), all or none.

    Raises:
        OutputError: TC0604.
    """
    with staging_directory(next(iter(contents)).parent) as staging:
        publish(write_staged(staging, contents))
