"""Read a source text from a file or from standard input."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tensorc.diagnostics.model import CompileError, Diagnostic
from tensorc.source import Source, Span

STDIN = "-"


class UnreadableSourceError(CompileError):
    """The file that was asked for cannot be read: a mistake in the request, not in the program."""

    exit_status = 2


def read_source(path: str | Path) -> Source:
    """The text of the file at `path`; `-` is standard input. A byte order mark is dropped.

    Raises:
        UnreadableSourceError: TC0801, no such file, a directory, no permission.
        CompileError: TC0113, not UTF-8; TC0114, nothing in it.
    """
    name = "<stdin>" if str(path) == STDIN else str(path)
    text = _decode(name, _read_bytes(path, name))
    source = Source(name, text, None if str(path) == STDIN else _real_path(path, name))
    if not source.text.strip():
        found = "there is only white space" if source.text else "it has 0 bytes"
        raise CompileError(
            [
                Diagnostic(
                    "TC0114",
                    f"`{name}` is empty",
                    Span(source, 0, 0),
                    label=found,
                    help="a program has at least one kernel: `kernel f(x: f32[N]) { return x * 2 }`",
                )
            ]
        )
    return source


def _read_bytes(path: str | Path, name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(path) == STDIN else Path(path).read_bytes()
    except FileNotFoundError:
        message, help = f"there is no file `{name}`", _near_file(Path(path))
    except IsADirectoryError:
        message, help = f"`{name}` is a directory", "give a file, such as `program.tdsl`"
    except OSError as error:
        message, help = f"`{name}` cannot be read: {(error.strerror or str(error)).lower()}", ""
    except ValueError:
        message, help = f"{name!r} is not a path: it has a NUL byte", ""
    raise UnreadableSourceError([Diagnostic("TC0801", message, None, help=help)])


def _real_path(path: str | Path, name: str) -> str:
    """What imports are relative to."""
    try:
        return os.path.realpath(path)
    except OSError:
        message = f"`{name}` cannot be read: the working directory does not exist any more"
        raise UnreadableSourceError([Diagnostic("TC0801", message, None)]) from None


def _near_file(path: Path) -> str:
    """A proposal when the suffix was left out."""
    candidate = path.with_name(path.name + ".tdsl") if path.name else path
    return f"did you mean `{candidate}`?" if candidate != path and os.path.isfile(candidate) else ""


def _decode(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        offset = error.start
    if data.startswith(b"\xef\xbb\xbf"):
        # the decoder counts from behind the mark
        offset += 3
    # what comes before the bad byte is text, so the place can be shown as in any other message
    before = data[:offset].decode("utf-8-sig")
    shown = Source(name, before + "\ufffd")
    help = "save the file as UTF-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        help = "the file looks like UTF-16; save it as UTF-8"
    raise CompileError(
        [
            Diagnostic(
                "TC0113",
                f"`{name}` is not UTF-8 text",
                Span(shown, len(before), len(before) + 1),
                label=f"byte 0x{data[offset]:02x} at offset {offset}",
                help=help,
            )
        ]
    )
