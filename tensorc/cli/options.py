"""Options that several commands share, and how they become `CompileOptions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tensorc.cli.report import FORMATS, Reporter

if TYPE_CHECKING:
    from tensorc.driver import CompiledUnit, CompileOptions, StageReport

F = TypeVar("F", bound=Callable[..., Any])

# Spelled out, because the driver that owns them is not loaded for --help; a test compares the two.
STAGES = ("parse", "check", "widen", "simplify", "relax", "lower", "schedule", "loops", "codegen")
POLICIES = ("default", "inductor-2.8")
MATH_MODES = ("strict", "fast")
SANITIZERS = ("address", "undefined")


_MOST_DIGITS = 100


class SizeType(click.ParamType[tuple[str, int]]):
    """`N=1024`."""

    name = "NAME=SIZE"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        name, equals, size = str(value).partition("=")
        is_number = size.isascii() and size.isdigit() and len(size) <= _MOST_DIGITS
        if not equals or not name or not is_number:
            self.fail(f"'{value}' is not of the form N=1024", param, ctx)
        return name, int(size)


def _set_format(ctx: click.Context, _: click.Parameter, value: str) -> None:
    ctx.ensure_object(Reporter).format = value


def _set_color(ctx: click.Context, _: click.Parameter, value: str) -> None:
    ctx.ensure_object(Reporter).color = value


def apply(*options: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator of several, in the order of the help text."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


message_options = apply(
    click.option(
        "--error-format",
        type=click.Choice(FORMATS),
        default="human",
        show_default=True,
        expose_value=False,
        is_eager=True,
        callback=_set_format,
        help="How messages are printed; json goes to standard output.",
    ),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        expose_value=False,
        is_eager=True,
        callback=_set_color,
        help="Colour in messages.",
    ),
)

size_options = apply(
    click.option("--dim", "dims", type=SizeType(), multiple=True, help="Fix a size."),
    click.option("--hint", "hints", type=SizeType(), multiple=True, help="A size to estimate with."),
)

schedule_options = apply(
    click.option(
        "--policy",
        type=click.Choice(POLICIES),
        default="default",
        show_default=True,
        help="Rules of the scheduler.",
    ),
    click.option(
        "--math",
        "math",
        type=click.Choice(MATH_MODES),
        default="strict",
        show_default=True,
        help="fast allows contraction, reciprocals and functions within 4 ulp (docs/numerics.md).",
    ),
)

build_options = apply(
    click.option("--cxx", metavar="COMMAND", help="The C++ compiler (else CXX, g++, clang++, c++)."),
    click.option(
        "--target",
        metavar="NAME",
        help="native, generic, x86-64-v2, x86-64-v3, x86-64-v4 (see `tensorc doctor`).",
    ),
    click.option(
        "-O",
        "opt_level",
        type=click.IntRange(0, 3),
        default=2,
        show_default=True,
        help="The compiler's optimisation level; it never changes a result.",
    ),
    click.option("-g", "debug", is_flag=True, help="Debug information."),
    click.option(
        "--sanitize",
        type=click.Choice(SANITIZERS),
        multiple=True,
        help="Build with a sanitizer (repeatable).",
    ),
)

stage_options = apply(
    click.option("--until", type=click.Choice(STAGES), help="Stop after a stage and print what it made."),
    click.option(
        "--print-after", type=click.Choice(STAGES), multiple=True, help="Print what a stage made, on stderr."
    ),
    click.option("--time-stages", is_flag=True, help="Print how long each stage took, on stderr."),
)


def make_observer(print_after: tuple[str, ...], time_stages: bool) -> Callable[[StageReport], None]:
    """Prints on standard error what --print-after and --time-stages ask for."""

    def observe(report: StageReport) -> None:
        if time_stages:
            click.echo(f"{report.stage:10} {report.seconds * 1e3:8.1f} ms", err=True)
        if report.stage in print_after:
            from tensorc.cli.stage_text import stage_text

            click.echo(f"===== after {report.stage} =====", err=True)
            click.echo(stage_text(report.stage, report.value), err=True, nl=False)

    return observe


def compile_file(
    path: str, options: CompileOptions, observe: Callable[[StageReport], None] | None = None
) -> CompiledUnit:
    """Read and compile a file (`-` is standard input), and show its warnings."""
    from tensorc.driver import compile_text
    from tensorc.syntax.read import read_source

    unit = compile_text(read_source(path), options, observe)
    click.get_current_context().ensure_object(Reporter).show(unit.warnings)
    return unit
