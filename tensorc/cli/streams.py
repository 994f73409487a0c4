"""The standard streams of the process: usable when they are closed, with failures told apart."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class StandardOutputError(Exception):
    """Standard output takes no more; the text is the system's reason."""


class _Output(io.FileIO):
    """Standard output. What goes wrong with it is no fault of whatever was being written."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise StandardOutputError(error.strerror) from None


class _Messages(io.FileIO):
    """Standard error. Messages that it does not take are lost: the exit status still tells."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def prepare_streams() -> None:
    """Make closed streams the null device, and failures of the others clear."""
    for number in range(3):
        if not _is_open(number):
            # an opened file gets the lowest free number, which is that of the stream
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout = _writer(sys.stdout, _Output, 1)
    sys.stderr = _writer(sys.stderr, _Messages, 2)


def drop_output() -> None:
    """Send what is still to be written to the null device: nobody reads it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _writer(stream: TextIO | None, raw: Callable[..., io.FileIO], number: int) -> TextIO:
    """A text stream to the file descriptor `number`, with the encoding of `stream`."""
    file = raw(number, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=stream.encoding if stream is not None else "utf-8",
        errors=stream.errors if stream is not None else "backslashreplace",
        line_buffering=number == 2 or file.isatty(),
    )
