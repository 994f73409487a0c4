"""Finds a C++ compiler and learns what it is, from the macros it predefines.

One run of the preprocessor answers family, version and target machine, and shows that the compiler
runs at all; the answer is kept for the process.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tensorc.diagnostics.model import Diagnostic, ToolchainError

CANDIDATES = ("g++", "clang++", "c++")
_WAYS_OUT = (
    "install one (Debian: apt-get install g++; macOS: xcode-select --install) or name one with --cxx or CXX"
)
_PATIENCE = 2.0
"""Seconds that a compiler has to end by itself."""
_OLDEST = {"gcc": 9, "clang": 10}


@dataclass(frozen=True, slots=True)
class Compiler:
    """`command` is the argv prefix; `family` is gcc or clang; `version` as the compiler writes it."""

    command: tuple[str, ...]
    family: str
    version: str
    machine: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    @property
    def identity(self) -> str:
        """Differs for compilers that may give different code."""
        return f"{self.family} {self.version} {self.machine}"

    def __str__(self) -> str:
        return f"{shlex.join(self.command)} ({self.family} {self.version}, {self.machine})"


def toolchain_error(code: str, message: str, *notes: str, help: str = "") -> ToolchainError:
    return ToolchainError([Diagnostic(code, message, None, notes=notes, help=help)])


def find_compiler(cxx: str | None = None) -> Compiler:
    """The compiler `cxx` (a command line, e.g. `ccache g++`), else the first candidate on the PATH.

    Raises:
        ToolchainError: TC0601 there is none; TC0603 it does not run, or is none we can use.
    """
    if cxx:
        return probe_compiler(_split(cxx))
    for name in CANDIDATES:
        if shutil.which(name) is not None:
            return probe_compiler((name,))
    raise toolchain_error(
        "TC0601",
        "no C++ compiler found",
        f"neither --cxx nor CXX names one, and the PATH has no {', '.join(CANDIDATES)}",
        help=_WAYS_OUT,
    )


def _split(cxx: str) -> tuple[str, ...]:
    try:
        command = tuple(shlex.split(cxx))
    except ValueError as error:
        raise toolchain_error("TC0601", f"cannot read the compiler command {cxx!r}: {error}") from None
    if command and shutil.which(command[0]) is not None:
        return command
    # a path with spaces is more likely meant as one word than as a command with arguments
    if shutil.which(cxx) is not None:
        return (cxx,)
    raise toolchain_error(
        "TC0601", f"the C++ compiler '{cxx}' was not found", "asked for by --cxx or CXX", help=_WAYS_OUT
    )


@lru_cache(maxsize=16)
def probe_compiler(command: tuple[str, ...]) -> Compiler:
    """What `command` is.

    Raises:
        ToolchainError: TC0603.
    """
    macros = _predefined_macros(command)
    if "__clang__" in macros:
        parts = (macros.get(f"__clang_{p}__", "0") for p in ("major", "minor", "patchlevel"))
        family, version = "clang", ".".join(parts)
    elif "__GNUC__" in macros:
        parts = (macros.get(m, "0") for m in ("__GNUC__", "__GNUC_MINOR__", "__GNUC_PATCHLEVEL__"))
        family, version = "gcc", ".".join(parts)
    else:
        raise toolchain_error("TC0603", f"'{shlex.join(command)}' is neither g++ nor clang++", help=_WAYS_OUT)
    compiler = Compiler(command, family, version, _machine(macros))
    if compiler.major < _OLDEST[family]:
        oldest = ", ".join(f"{f} {v}" for f, v in _OLDEST.items())
        raise toolchain_error(
            "TC0603", f"{compiler} is too old", f"the oldest that can build kernels: {oldest}", help=_WAYS_OUT
        )
    return compiler


def _predefined_macros(command: Sequence[str]) -> dict[str, str]:
    argv = [*command, "-dM", "-E", "-x", "c++", "-"]
    result = run_compiler(argv, "TC0603")
    if result.returncode != 0:
        raise toolchain_error(
            "TC0603",
            f"the C++ compiler '{shlex.join(command)}' does not work: {describe_exit(result.returncode)}",
            f"command: {shlex.join(argv)}",
            *first_lines(result.stderr),
            help=_WAYS_OUT,
        )
    lines = (line.split(None, 2) for line in result.stdout.splitlines())
    return {w[1]: (w[2] if len(w) > 2 else "") for w in lines if len(w) > 1 and w[0] == "#define"}


def _machine(macros: dict[str, str]) -> str:
    for macro, name in (("__x86_64__", "x86_64"), ("__aarch64__", "aarch64"), ("__riscv", "riscv")):
        if macro in macros:
            return name
    return "unknown"


def run_compiler(argv: Sequence[str], code: str) -> subprocess.CompletedProcess[str]:
    """Run a compiler command with an empty standard input.

    Raises:
        ToolchainError: `code`, the command cannot be started.
    """
    try:
        # in a group of its own, so that what it starts ends with it
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        )
    except OSError as error:
        raise toolchain_error(
            code,
            f"cannot start the C++ compiler '{argv[0]}': {error.strerror}",
            f"command: {shlex.join(argv)}",
        ) from None
    with process:
        try:
            out, err = process.communicate()
        except BaseException:
            _end_group(process)
            raise
    return subprocess.CompletedProcess(argv, process.returncode, out, err)


def _end_group(process: subprocess.Popen[str]) -> None:
    """End a compiler and its children: it is asked to, and removes its temporary files; else by force."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def describe_exit(status: int) -> str:
    return f"it was killed by signal {-status}" if status < 0 else f"it ended with exit status {status}"


def first_lines(text: str, count: int = 12) -> tuple[str, ...]:
    """The compiler's own words, shortened, as one note; none if it said nothing."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return ()
    more = [f"... and {len(lines) - count} more lines"] if len(lines) > count else []
    return ("\n  ".join(["the compiler said:", *lines[:count], *more]),)
