"""`tensorc check`: every error of a program, and the types it infers."""

from __future__ import annotations

import click

from tensorc.cli.options import compile_file, message_options, size_options


@click.command("check")
@click.argument("file", metavar="FILE|-")
@click.option("--types", is_flag=True, help="Print each kernel's head with inferred types.")
@size_options
@message_options
def check_command(
    file: str, types: bool, dims: tuple[tuple[str, int], ...], hints: tuple[tuple[str, int], ...]
) -> None:
    """Report every error of a program; write nothing."""
    from tensorc.artefacts.manifest import signature_text
    from tensorc.driver import CompileOptions

    unit = compile_file(file, CompileOptions(dims=dims, hints=hints, until="check"))
    if types:
        for signature in unit.signatures:
            click.echo(signature_text(signature))
