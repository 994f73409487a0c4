"""`tensorc compile`: a program to a library and what is needed to call it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tensorc.cli.options import (
    build_options,
    compile_file,
    make_observer,
    message_options,
    schedule_options,
    size_options,
    stage_options,
)

if TYPE_CHECKING:
    from tensorc.driver import CompiledUnit, CompileOptions

KINDS = ("so", "py", "pyi", "h", "json", "cpp")
DEFAULT_KINDS = ("so", "py", "pyi", "h")


def _read_kinds(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """`so,cpp=PATH` as kind -> path, "" for the place beside the library."""
    found: dict[str, str] = {}
    for word in (word.strip() for value in values for word in value.split(",")):
        kind, equals, path = word.partition("=")
        if kind not in KINDS or (equals and not path):
            raise click.BadParameter(f"'{word}' is none of {', '.join(KINDS)}, with =PATH or without")
        if found.setdefault(kind, path) != path:
            raise click.BadParameter(f"'{kind}' has two places")
    return found


@click.command("compile")
@click.argument("file", metavar="FILE|-")
@click.option("-o", "output", metavar="PATH", help="The library, else FILE with .so; - prints one text kind.")
@click.option(
    "--emit",
    "kinds",
    multiple=True,
    metavar="KIND[=PATH],...",
    callback=_read_kinds,
    help=f"What to write beside PATH: {', '.join(KINDS)}; by default {','.join(DEFAULT_KINDS)}.",
)
@click.option(
    "--threads",
    type=click.Choice(["openmp", "none"]),
    default="openmp",
    show_default=True,
    help="none builds serial code without an OpenMP runtime.",
)
@click.option("--prefix", default="tdsl_", show_default=True, help="Start of the kernels' C names.")
@schedule_options
@build_options
@size_options
@stage_options
@message_options
def compile_command(
    file: str,
    output: str | None,
    kinds: dict[str, str],
    threads: str,
    prefix: str,
    policy: str,
    math: str,
    cxx: str | None,
    target: str | None,
    opt_level: int,
    debug: bool,
    sanitize: tuple[str, ...],
    dims: tuple[tuple[str, int], ...],
    hints: tuple[tuple[str, int], ...],
    until: str | None,
    print_after: tuple[str, ...],
    time_stages: bool,
) -> None:
    """Compile a program to a shared library, its C header and its Python module."""
    from tensorc.api import read_environment
    from tensorc.driver import CompileOptions

    environment = read_environment()
    options = CompileOptions(
        policy=policy,
        math=math,
        target=target or environment.target,
        cxx=cxx or environment.cxx,
        cxx_flags=environment.cxx_flags,
        opt_level=opt_level,
        threads=threads,
        debug=debug,
        sanitize=sanitize,
        prefix=prefix,
        dims=dims,
        hints=hints,
        until=until or "codegen",
    )
    chosen = _choose_kinds(kinds, output)
    path = _library_path(file, output, chosen) if until is None and output != "-" else None
    unit = compile_file(file, options, make_observer(print_after, time_stages))
    if until is not None:
        from tensorc.cli.stage_text import stage_text

        click.echo(stage_text(until, unit.values[until]), nl=False)
    elif path is None:
        click.echo(_text_of(chosen[0], unit), nl=False)
    else:
        paths = {kind: Path(kinds.get(kind) or _beside(path, kind, chosen)) for kind in chosen}
        _check_paths(file, path, paths)
        _write(unit, options, path, paths)


def _choose_kinds(kinds: dict[str, str], output: str | None) -> tuple[str, ...]:
    """What to write: as asked for, else what the suffix of -o says, else the usual four."""
    suffix = Path(output).suffix.removeprefix(".") if output else ""
    chosen = tuple(kinds) or ((suffix,) if suffix in KINDS and suffix != "so" else DEFAULT_KINDS)
    if output == "-" and (len(chosen) != 1 or chosen == ("so",)):
        raise click.UsageError("-o - needs one --emit kind that is text, such as --emit=cpp")
    if output == "-" and any(kinds.values()):
        raise click.UsageError("-o - prints: leave out the path of --emit")
    return chosen


def _library_path(file: str, output: str | None, chosen: tuple[str, ...]) -> Path:
    if output is None and file == "-":
        raise click.UsageError("a program from standard input needs -o PATH")
    path = Path(output) if output is not None else Path(Path(file).name).with_suffix(".so")
    if not path.name or (output or "").endswith("/"):
        raise click.UsageError(f"-o {output} is a directory: give the library's name, such as kernel.so")
    if not path.suffix:
        path = path.with_name(f"{path.name}.so")
    is_single = len(chosen) == 1 or path.suffix.removeprefix(".") not in KINDS
    return path if is_single else path.with_suffix(".so")


def _beside(path: Path, kind: str, chosen: tuple[str, ...]) -> Path:
    """Where an artefact goes by default; the only one goes to the very path that was asked for."""
    if kind == "so" or chosen == (path.suffix.removeprefix("."),):
        return path
    return path.with_suffix(f".{kind}")


def _check_paths(file: str, library: Path, paths: dict[str, Path]) -> None:
    """Refuse to overwrite the program, two files at one place, and names that cannot be imported."""
    for path in paths.values():
        if file != "-" and os.path.exists(path) and path.samefile(file):
            raise click.UsageError(f"{path} is the program itself: give another path")
    if "py" in paths and "so" not in paths and _real_path(library) == _real_path(paths["py"]):
        name = library.with_suffix(".so")
        raise click.UsageError(f"{library} would load itself: give the name of its library, -o {name}")
    taken: dict[str, str] = {}
    for kind, path in paths.items():
        other = taken.setdefault(_real_path(path), kind)
        if other != kind:
            raise click.UsageError(f"{path} is the place of two kinds, {other} and {kind}")
    module = paths["py"].stem if "py" in paths else ""
    if module in ("numpy", "cffi"):
        raise click.UsageError(f"a module called {module} would hide the {module} it needs: rename it")


def _real_path(path: Path) -> str:
    """The same for two paths to one file."""
    try:
        return os.path.realpath(path)
    except OSError:
        # no working directory: that nothing can be written will be said
        return str(path)


def _write(unit: CompiledUnit, options: CompileOptions, path: Path, paths: dict[str, Path]) -> None:
    """Build and write everything, then print one line per kernel."""
    from tensorc.artefacts.manifest import signature_text
    from tensorc.driver import resolve_target_option, resolve_toolchain, write_artefacts

    if "so" in paths:
        toolchain = resolve_toolchain(options)
        write_artefacts(unit, paths.get("so", path).name, paths, toolchain.target, toolchain)
        built_with = f"{toolchain.target.name}, {toolchain.compiler.family} {toolchain.compiler.version}"
    else:
        target = resolve_target_option(options)
        write_artefacts(unit, paths.get("so", path).name, paths, target, None)
        built_with = target.name
    names = _short_names(tuple(paths.values()))
    for program in unit.nests:
        count = len(program.nests)
        loops = "1 loop nest" if count == 1 else f"{count} loop nests"
        click.echo(f"{signature_text(program.signature)}: {loops} ({built_with}) -> {names}")


def _short_names(written: tuple[Path, ...]) -> str:
    """`build/kernel.{so,py}` for files that differ in their suffix only."""
    if len({p.with_suffix("") for p in written}) > 1 or len(written) == 1:
        return " ".join(map(str, written))
    suffixes = ",".join(p.suffix.removeprefix(".") for p in written)
    return f"{written[0].with_suffix('')}.{{{suffixes}}}"


def _text_of(kind: str, unit: CompiledUnit) -> str:
    from tensorc.driver import artefact_text, resolve_target_option, unit_manifest

    return artefact_text(kind, unit, unit_manifest(unit, resolve_target_option(unit.options)), "kernel.so")
