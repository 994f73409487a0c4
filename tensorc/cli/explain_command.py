"""`tensorc explain`: the fusion log of a program, or the page of a message code."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tensorc.cli.options import (
    compile_file,
    make_observer,
    message_options,
    schedule_options,
    size_options,
    stage_options,
)

if TYPE_CHECKING:
    from tensorc.driver import CompiledUnit

_CODE = re.compile(r"TC\d{4}")


@click.command("explain")
@click.argument("file", metavar="FILE|-|CODE")
@click.option("--fusion-log", is_flag=True, help="Nodes, every decision, loop nests and bytes (the default).")
@click.option("--json", "as_json", is_flag=True, help="The same as one JSON object.")
@click.option("--symbolic", is_flag=True, help="Keep the names of sizes instead of their hints.")
@click.option("-k", "--kernel", metavar="NAME", help="Only this kernel.")
@schedule_options
@size_options
@stage_options
@message_options
def explain_command(
    file: str,
    fusion_log: bool,
    as_json: bool,
    symbolic: bool,
    kernel: str | None,
    policy: str,
    math: str,
    dims: tuple[tuple[str, int], ...],
    hints: tuple[tuple[str, int], ...],
    until: str | None,
    print_after: tuple[str, ...],
    time_stages: bool,
) -> None:
    """Say which operations were fused, which were not, and why; or what a code such as TC0401 means."""
    if _CODE.fullmatch(file):
        click.echo(read_page(file), nl=False)
        return
    if fusion_log and as_json:
        raise click.UsageError("--fusion-log is text: choose it or --json")
    from tensorc.driver import CompileOptions

    options = CompileOptions(policy=policy, math=math, dims=dims, hints=hints, until=until or "loops")
    unit = compile_file(file, options, make_observer(print_after, time_stages))
    if until is not None:
        from tensorc.cli.stage_text import stage_text

        click.echo(stage_text(until, unit.values[until]), nl=False)
        return
    chosen = _choose(unit, kernel)
    if as_json:
        click.echo(json.dumps(_record(unit, chosen), indent=1, ensure_ascii=False))
        return
    from tensorc.api import explain_text

    click.echo("\n".join(explain_text(unit, k, symbolic) for k in chosen), nl=False)


def _choose(unit: CompiledUnit, kernel: str | None) -> list[int]:
    """The positions of the kernels to show.

    Raises:
        InputError: TC0804.
    """
    names = [s.name for s in unit.signatures]
    if kernel is None:
        return list(range(len(names)))
    # a kernel with dtype parameters is all of its cases
    chosen = [
        k
        for k, s in enumerate(unit.signatures)
        if kernel == s.name or (s.generic is not None and kernel == s.generic.name)
    ]
    if not chosen:
        from tensorc.cli.run_inputs import InputError
        from tensorc.diagnostics.model import Diagnostic

        message = f"{unit.source.name} has no kernel '{kernel}'"
        raise InputError([Diagnostic("TC0804", message, None, notes=(f"kernels: {', '.join(names)}",))])
    return chosen


def _record(unit: CompiledUnit, chosen: list[int]) -> dict[str, Any]:
    from tensorc.artefacts.manifest import signature_text
    from tensorc.loop_schedule.summary import summary_record
    from tensorc.scheduler.log import render_json

    return {
        "source": unit.source.name,
        "policy": unit.options.policy,
        "math": unit.options.math,
        "kernels": [
            {
                "name": unit.signatures[k].name,
                "signature": signature_text(unit.signatures[k]),
                "events": render_json(unit.fused[k]),
                **summary_record(unit.nests[k]),
                "relaxations": [
                    {"kind": r.kind, "origin": r.origin, "line": r.span.line}
                    for r in unit.reference[k].relaxations
                ],
            }
            for k in chosen
        ],
    }


def read_page(code: str) -> str:
    """The page of a message code: from the package, or from the tree of an editable install.

    Raises:
        UsageError: there is no such code.
    """
    shipped = resources.files("tensorc.diagnostics").joinpath("pages", f"{code}.md")
    if shipped.is_file():
        return shipped.read_text(encoding="utf-8")
    page = Path(__file__).resolve().parents[2] / "docs" / "errors" / f"{code}.md"
    if page.is_file():
        return page.read_text(encoding="utf-8")
    raise click.UsageError(f"no message has the code {code}")
