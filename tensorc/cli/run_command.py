"""`tensorc run`: compile a kernel and call it once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from tensorc.cli.options import (
    build_options,
    make_observer,
    message_options,
    schedule_options,
    size_options,
    stage_options,
)
from tensorc.cli.report import Reporter
from tensorc.cli.signals import ended_at_once

if TYPE_CHECKING:
    from tensorc.api import Kernel, Module
    from tensorc.signature import Signature
    from tensorc.tensor_ir.program import TensorProgram

CHECK_FAILED = 4


@click.command("run")
@click.argument("file", metavar="FILE|-")
@click.argument("inputs", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("-k", "--kernel", "name", metavar="NAME", help="Which kernel of a file that has several.")
@click.option("-o", "output", metavar="FILE.npz", help="Save the results.")
@click.option("--check", is_flag=True, help="Compare with the interpreter; exit status 4 if they differ.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads to run on (default: all CPUs allowed).")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of random inputs.")
@schedule_options
@build_options
@size_options
@stage_options
@message_options
@click.pass_context
def run_command(
    ctx: click.Context,
    file: str,
    inputs: tuple[str, ...],
    name: str | None,
    output: str | None,
    check: bool,
    threads: int | None,
    seed: int,
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
) -> int:
    """Compile a kernel for this machine and call it.

    Inputs are x=@x.npy, x=rand:1024x1024 or eps=1e-5. A missing one is its default, else random with the
    sizes of the others or of the hints.
    """
    from tensorc.api import load_unit
    from tensorc.cli.run_inputs import make_inputs
    from tensorc.driver import CompileOptions
    from tensorc.syntax.read import read_source

    if until is not None:
        raise click.UsageError("run needs every stage: use --until with compile or explain")
    options = CompileOptions(
        policy=policy,
        math=math,
        cxx=cxx,
        target=target,
        opt_level=opt_level,
        debug=debug,
        sanitize=sanitize,
        dims=dims,
        hints=hints,
    )
    module = load_unit(read_source(file), options, observe=make_observer(print_after, time_stages))
    ctx.ensure_object(Reporter).show(module.unit.warnings)
    position = _choose(module, name, inputs)
    program = module.unit.reference[position]
    arrays = make_inputs(program.signature, inputs, seed)
    kernel = module[program.signature.name]
    results, seconds = _call(kernel, program.signature, arrays, threads)
    if output is not None:
        _save(output, program.signature, results)
    click.echo(_summary(program.signature, results, seconds))
    return _check(program, arrays, results) if check else 0


def _choose(module: Module, name: str | None, inputs: tuple[str, ...]) -> int:
    """The position of the kernel to run; of one with dtype parameters, the case that the inputs choose.

    Raises:
        InputError: TC0804; TC0803, no case takes the inputs.
    """
    from tensorc.cli.run_inputs import InputError, fitting_cases
    from tensorc.diagnostics.model import Diagnostic

    signatures = module.unit.signatures
    written = list(dict.fromkeys(s.generic.name if s.generic else s.name for s in signatures))
    wanted = written[0] if name is None and len(written) == 1 else name
    chosen = [s for s in signatures if s.name == wanted]
    cases = [s for s in signatures if s.generic is not None and s.generic.name == wanted]
    if cases and not chosen:
        chosen = fitting_cases(cases, inputs)
    if len(chosen) == 1:
        return signatures.index(chosen[0])
    file = module.unit.source.name
    listed = f"kernels: {', '.join(s.name for s in chosen or signatures)}"
    if chosen:
        message = f"the inputs fit several cases of kernel '{wanted}': name one with -k"
    elif wanted is not None:
        message = f"{file} has no kernel '{wanted}'"
    else:
        message = f"{file} has several kernels: name one with -k"
    raise InputError([Diagnostic("TC0804", message, None, notes=(listed,))])


def _call(
    kernel: Kernel, signature: Signature, arrays: dict[str, Any], threads: int | None
) -> tuple[tuple[Any, ...], float]:
    """The results and the seconds of one call.

    Raises:
        InputError: TC0803, the kernel refuses the inputs.
    """
    from tensorc.cli.run_inputs import input_error

    start = time.perf_counter()
    try:
        with ended_at_once():
            returned = kernel(*arrays.values(), threads=threads)
    except (TypeError, ValueError, IndexError, MemoryError) as error:
        raise input_error(str(error), signature) from None
    seconds = time.perf_counter() - start
    return (returned if len(signature.results) > 1 else (returned,)), seconds


def _save(output: str, signature: Signature, results: tuple[Any, ...]) -> None:
    """Write the results by name as .npz, atomically; NumPy's `savez` has names of its own that clash.

    A bf16 is saved as its bits: .npy has no type for it.

    Raises:
        OutputError: TC0604.
    """
    import io
    import zipfile
    from pathlib import Path

    from numpy.lib import format as npy

    from tensorc.artefacts.loader_convert import elements
    from tensorc.toolchain.files import write_all

    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for k, result in enumerate(results):
            with archive.open(f"{signature.result_name(k)}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, elements(result), allow_pickle=False)
    write_all({Path(output): data.getvalue()})


def _summary(signature: Signature, results: tuple[Any, ...], seconds: float) -> str:
    shown = ", ".join(f"{signature.result_name(k)} {r.dtype} {r.shape}" for k, r in enumerate(results))
    return f"{signature.name}: {shown}  {seconds * 1e3:.3f} ms"


def _check(program: TensorProgram, arrays: dict[str, Any], results: tuple[Any, ...]) -> int:
    """Compare with the interpreter within the language's bounds; the exit status."""
    import numpy as np

    from tensorc.interp.float_values import carried
    from tensorc.interp.tensor_interp import compare, interpret_with_bounds

    values, bounds = interpret_with_bounds(program, _as_arrays(program.signature, arrays), "exact")
    status = 0
    for k, (result, value, bound) in enumerate(zip(results, values, bounds, strict=True)):
        name = f"{program.signature.name}.{program.signature.result_name(k)}"
        numbers = carried(np.asarray(result), program.signature.results[k].dtype)
        mismatch = compare(numbers, np.asarray(value), bound)
        if mismatch is None:
            click.echo(f"check: {name} agrees with the interpreter")
        else:
            click.echo(f"check: {name}{mismatch}", err=True)
            status = CHECK_FAILED
    return status


def _as_arrays(signature: Signature, arrays: dict[str, Any]) -> dict[str, Any]:
    """Scalars stay numbers; arrays are as the kernel read them."""
    import numpy as np

    return {p.name: (np.asarray(arrays[p.name]) if p.shape else arrays[p.name]) for p in signature.params}
