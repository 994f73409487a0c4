"""Runs a text through the stages, the interpreters and the compiler, and compares what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from programs import draw_arguments, draw_sizes

from tensorc.api import Module, load_unit
from tensorc.artefacts.loader_convert import array_dtype
from tensorc.diagnostics.model import DiagnosticBag
from tensorc.driver import CompileOptions
from tensorc.interp.binding import bind_arguments
from tensorc.interp.float_values import carried
from tensorc.interp.loop_interp import AccessCounts, interpret_loops
from tensorc.interp.scalar_ops import ElementaryLibrary
from tensorc.interp.tensor_interp import compare, interpret_with_bounds
from tensorc.loop_ir.program import LoopNode, LoopProgram, NopNode
from tensorc.loop_ir.verify import verify_loop_program
from tensorc.lowering.lower import lower_program
from tensorc.scheduler.policy import POLICIES, FusionPolicy
from tensorc.sema.check import check_file
from tensorc.signature import Result
from tensorc.source import Source
from tensorc.syntax.parser import parse_file
from tensorc.tensor_ir.program import TensorProgram
from tensorc.tensor_ir.relax import relax_program
from tensorc.tensor_ir.simplify import simplify_program
from tensorc.tensor_ir.verify import verify_tensor_program
from tensorc.tensor_ir.widen import widen_program
from tensorc.toolchain.target import Target, probe_host, resolve_target

Results = tuple[npt.NDArray[Any], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call gave: its results, or the type of the exception it raised.

    `unread`: a node that gathers has no iterations, or an array provably no elements, so that the indices of
    another schedule of the same program may be checked although nothing is read with them.
    """

    results: Results
    error: str = ""
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a kernel, and what the interpreters say about it."""

    kernel: str
    sizes: Mapping[str, int]
    arguments: Mapping[str, Any]
    expected: Outcome


def check_text(text: str) -> tuple[TensorProgram, ...]:
    """The checked programs of `text`, which has no errors."""
    bag = DiagnosticBag()
    programs = check_file(parse_file(Source("<grown>", text), bag), bag)
    bag.raise_if_errors()
    for p in programs:
        verify_tensor_program(p)
    return programs


def relaxed(program: TensorProgram, math: str) -> TensorProgram:
    """The program as widened and simplified, under math=fast as relaxed too, each step verified."""
    widened = widen_program(program)
    verify_tensor_program(widened)
    simplified = simplify_program(widened)
    if math == "fast":
        simplified = relax_program(simplified, probe_target().has_fma)
    verify_tensor_program(simplified)
    return simplified


def probe_target() -> Target:
    return resolve_target("native", probe_host())


def lower(program: TensorProgram, policy: str, math: str = "strict") -> LoopProgram:
    """The loop program of a checked program, each step verified."""
    loops = lower_program(relaxed(program, math), policy)
    verify_loop_program(loops)
    return loops


def run_loops(loops: LoopProgram, arguments: Mapping[str, Any], elementary: ElementaryLibrary) -> Outcome:
    unread = False
    try:
        unread = _gathers_nothing(loops, arguments)
        results, _ = interpret_loops(loops, arguments, elementary)
    except (ValueError, IndexError) as error:
        return Outcome((), type(error).__name__, unread)
    return Outcome(tuple(map(_as_loader_gives, results, loops.signature.results)), "", unread)


def _as_loader_gives(array: npt.NDArray[Any], result: Result) -> npt.NDArray[Any]:
    return array.view(array_dtype(result.dtype.name))


def _gathers_nothing(loops: LoopProgram, arguments: Mapping[str, Any]) -> bool:
    call = bind_arguments(loops.signature, arguments)
    if any(isinstance(n, NopNode) for n in loops.nodes):
        return True  # nothing tells what it would have gathered
    gathering = [n for n in loops.nodes if isinstance(n, LoopNode) and n.gathered()]
    return any(0 in call.shape([a.extent for a in (*n.iter_axes, *n.reduce_axes)]) for n in gathering)


def count_accesses(
    loops: LoopProgram, arguments: Mapping[str, Any], elementary: ElementaryLibrary
) -> AccessCounts:
    return interpret_loops(loops, arguments, elementary)[1]


def check_bounds(program: TensorProgram, arguments: Mapping[str, Any], outcome: Outcome) -> tuple[int, int]:
    """Compare with the tensor interpreter; the elements that have a finite bound, and all elements."""
    try:
        values, bounds = interpret_with_bounds(simplify_program(program), arguments, "exact")
    except (ValueError, IndexError) as error:
        refused: Exception | None = error
    else:
        refused = None
    if outcome.unread and isinstance(refused, IndexError):
        return 0, 0
    assert bool(outcome.error) == bool(refused), f"{outcome.error!r}, the tensor interpreter: {refused!r}"
    if refused is not None:
        return 0, 0
    decided = total = 0
    for result, value, bound, declared in zip(
        outcome.results, values, bounds, program.signature.results, strict=True
    ):
        mismatch = compare(carried(result, declared.dtype), value, bound)
        assert mismatch is None, f"{declared.name}{mismatch}"
        decided += int(np.isfinite(bound).sum())
        total += bound.size
    return decided, total


def assert_same_outcome(found: Outcome, expected: Outcome, context: str) -> None:
    """Equal exceptions, or results of equal bits, but for the sign and payload of a NaN."""
    if (found.unread or expected.unread) and "IndexError" in (found.error, expected.error):
        return
    assert found.error == expected.error, f"{context}: {found.error!r} != {expected.error!r}"
    for k, (a, b) in enumerate(zip(found.results, expected.results, strict=True)):
        assert a.dtype == b.dtype, f"{context}, result {k}"
        assert a.shape == b.shape, f"{context}, result {k}"
        same = _bits(a) == _bits(b)
        if a.dtype.kind in "fV":  # V is bf16
            same |= np.isnan(a) & np.isnan(b)
        at = np.argwhere(~same)
        if at.size:
            first = tuple(int(n) for n in at[0])
            message = f"{context}, result {k}{list(first)}: {a[first]!r} != {b[first]!r}"
            raise AssertionError(f"{message} ({len(at)} of {a.size} differ)")


def _bits(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)


def draw_calls(
    random: Random,
    programs: Sequence[TensorProgram],
    per_kernel: int,
    elementary: ElementaryLibrary,
    math: str = "strict",
) -> tuple[Call, ...]:
    """Random calls of every kernel with the loop interpreter's results, checked against the bounds."""
    calls: list[Call] = []
    for program in programs:
        loops = lower(program, "default", math)
        judged = program if math == "strict" else relaxed(program, math)
        for _ in range(per_kernel):
            sizes = draw_sizes(random, program.signature)
            arguments = draw_arguments(random, program.signature, sizes)
            expected = run_loops(loops, arguments, elementary)
            check_bounds(judged, arguments, expected)
            calls.append(Call(program.signature.name, sizes, arguments, expected))
    return tuple(calls)


UNFUSED = FusionPolicy("none", inductor_rules=False, partners=0)
"""Considers no pair of nodes, so that every node is a nest of its own."""


def build_module(text: str, options: CompileOptions, directory: Path) -> Module:
    """Compile and load `text`, for this machine unless the options have a target; with a policy `none`."""
    options = replace(options, target=options.target or "native")
    with patch.dict(POLICIES, {UNFUSED.name: UNFUSED}):
        return load_unit(Source("<grown>", text), options, directory)


def run_module(module: Module, call: Call, threads: int) -> Outcome:
    try:
        found = module[call.kernel](**call.arguments, threads=threads)
    except (ValueError, IndexError) as error:
        return Outcome((), type(error).__name__)
    return Outcome(tuple(found) if isinstance(found, tuple) else (found,))
