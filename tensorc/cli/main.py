"""The `tensorc` command: a thin shell over the library. Exit statuses are those of the language contract.

Commands import the compiler when they run, so that `--help` and `--version` load neither NumPy nor SymPy nor
Lark.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from tensorc import __version__
from tensorc.cli.check_command import check_command
from tensorc.cli.compile_command import compile_command
from tensorc.cli.doctor_command import doctor_command
from tensorc.cli.explain_command import explain_command
from tensorc.cli.report import Reporter, write_report
from tensorc.cli.run_command import run_command
from tensorc.cli.signals import heed_requests
from tensorc.cli.streams import StandardOutputError, drop_output, prepare_streams

if TYPE_CHECKING:
    from tensorc.diagnostics.model import CompileError

USAGE_ERROR = 2
INTERNAL_ERROR = 70
INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="tensorc %(version)s")
def tensorc() -> None:
    """Compile small tensor programs to fused native CPU kernels, and say what was fused and why."""


for command in (compile_command, check_command, explain_command, run_command, doctor_command):
    tensorc.add_command(command)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its status."""
    prepare_streams()
    heed_requests()
    sys.exit(run(sys.argv[1:] if argv is None else argv))


def run(arguments: Sequence[str]) -> int:
    """Run the command line; the exit status."""
    status = 0
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # whoever read our output has gone: that is their choice, and no reason for a message at exit
        drop_output()
    except StandardOutputError as error:
        drop_output()
        click.echo(f"error: cannot write the output: {error}", err=True)
        return USAGE_ERROR
    return status


def _run(arguments: Sequence[str]) -> int:
    reporter = Reporter()
    try:
        result: Any = tensorc.main(list(arguments), prog_name="tensorc", standalone_mode=False, obj=reporter)
        return result if isinstance(result, int) else 0
    except click.exceptions.Abort:
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE_ERROR
    except click.UsageError as error:
        _show_usage_error(error)
        return USAGE_ERROR
    except click.ClickException as error:
        error.show()
        return USAGE_ERROR
    except (BrokenPipeError, StandardOutputError):
        raise
    except Exception as error:
        return _show_failure(error, reporter, arguments)


def _show_usage_error(error: click.UsageError) -> None:
    """The message and where help is; not the whole usage text."""
    path = error.ctx.command_path if error.ctx is not None else "tensorc"
    click.echo(f"error: {error.format_message()}\nTry '{path} --help'.", err=True)


def _is_usage(error: CompileError) -> bool:
    """True when the command line is at fault and not the program: files, options, targets."""
    return all(d.code.startswith("TC08") or d.code == "TC0605" for d in error.diagnostics)


def _show_failure(error: Exception, reporter: Reporter, arguments: Sequence[str]) -> int:
    from tensorc.diagnostics.model import CompileError

    if isinstance(error, CompileError):
        reporter.show(error.diagnostics)
        return USAGE_ERROR if _is_usage(error) else error.exit_status
    try:
        place = f"a report is in {write_report(error, arguments)}"
    except OSError as failure:
        place = f"no report could be written: {failure.strerror}"
    summary = f"{type(error).__name__}: {error}".splitlines()[0]
    click.echo(f"error[TC0901]: internal error: {summary}\n  {place}", err=True)
    return INTERNAL_ERROR
