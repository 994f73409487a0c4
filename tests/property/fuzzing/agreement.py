"""One text through every path: both interpreters, every build, one thread and two, with `out=` and without.

All of it must agree: the loop interpreter lies within the tensor interpreter's bounds, and every compiled
kernel has the loop interpreter's bits, whatever the policy, compiler, `-O` level and number of threads.
"""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from harness import (
    Call,
    Outcome,
    assert_same_outcome,
    build_module,
    check_bounds,
    check_text,
    lower,
    run_loops,
    run_module,
)
from programs import draw_arguments, draw_sizes

from tensorc.api import Module
from tensorc.driver import CompileOptions
from tensorc.interp.scalar_ops import ElementaryLibrary
from tensorc.tensor_ir.program import TensorProgram

SANITIZERS = ("address", "undefined")
BUILDS = {
    "default": CompileOptions(),
    "inductor": CompileOptions(policy="inductor-2.8", opt_level=1),
    "unfused": CompileOptions(policy="none", opt_level=1),
    "clang": CompileOptions(cxx="clang++"),
    "portable": CompileOptions(target="x86-64-v3", opt_level=1),
    "sanitized": CompileOptions(cxx="g++", opt_level=0, sanitize=SANITIZERS),
}
"""Builds whose results must have the same bits, by name; `unfused` considers no pair of nodes."""

CALLS = 3
THREADS = (1, 2)


@dataclass(frozen=True, slots=True)
class Failure:
    """What failed: the step (a build's name, or `check`, `interpreters`), the kernel, how, and the message.

    `how` tells failures of one cause from others while a program shrinks: `differs`, or an exception's type.
    """

    step: str
    kernel: str
    how: str
    message: str

    def is_like(self, other: Failure | None) -> bool:
        return other is not None and (self.step, self.how) == (other.step, other.how)


@dataclass(frozen=True, slots=True)
class Counts:
    """What has been compared: kernels, their calls, and results compared with another path's."""

    kernels: int = 0
    calls: int = 0
    comparisons: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.kernels + other.kernels, self.calls + other.calls, self.comparisons + other.comparisons
        )


class Disagreement(Exception):  # noqa: N818 - what is found, not an error of the fuzzer
    """A failure was found; `failure` says which."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.message)


def available(build: str) -> bool:
    """Whether the compiler that a build asks for is installed."""
    compiler = BUILDS[build].cxx
    return compiler is None or shutil.which(compiler) is not None


def check_agreement(
    text: str,
    seed: str,
    builds: tuple[str, ...],
    elementary: ElementaryLibrary,
    cache: Path,
    say: Callable[[str, str], None] = lambda step, kernel: None,
) -> Counts:
    """Compare every path; `say` hears of each step before it is taken.

    Raises:
        Disagreement: something failed, or two paths differ.
    """
    say("check", "")
    programs = _attempt("check", "", lambda: check_text(text))
    counts = Counts()
    calls: list[Call] = []
    for program in programs:
        name = program.signature.name
        say("interpreters", name)
        made = _attempt("interpreters", name, lambda p=program: _interpret(p, seed, elementary))
        calls.extend(made)
        counts += Counts(1, len(made), 2 * len(made))
    for build in builds:
        say(build, "")
        module = _attempt(build, "", lambda b=build: build_module(text, BUILDS[b], cache))
        for call in calls:
            say(build, call.kernel)
            compared = _attempt(build, call.kernel, lambda c=call, m=module: _compare(m, c))
            counts += Counts(0, 0, compared)
    return counts


def _attempt(step: str, kernel: str, action: Callable[[], Any]) -> Any:
    try:
        return action()
    except AssertionError as error:
        raise Disagreement(Failure(step, kernel, "differs", str(error))) from error
    except Exception as error:
        message = "".join(traceback.format_exception(error))
        raise Disagreement(Failure(step, kernel, type(error).__name__, message)) from error


def _interpret(program: TensorProgram, seed: str, elementary: ElementaryLibrary) -> tuple[Call, ...]:
    """Calls of a kernel that depend on the seed and its name only, with the results that are expected."""
    name = program.signature.name
    random = Random(f"{seed} {name}")
    loops, other = lower(program, "default"), lower(program, "inductor-2.8")
    calls = []
    for _ in range(CALLS):
        sizes = draw_sizes(random, program.signature)
        arguments = draw_arguments(random, program.signature, sizes)
        expected = run_loops(loops, arguments, elementary)
        check_bounds(program, arguments, expected)
        context = f"{name} at {sizes}, loops of inductor-2.8"
        assert_same_outcome(run_loops(other, arguments, elementary), expected, context)
        calls.append(Call(name, sizes, arguments, expected))
    return tuple(calls)


def _compare(module: Module, call: Call) -> int:
    """Call the kernel with one thread and with two, into new arrays and into given ones."""
    kept = {name: np.array(a, copy=True) for name, a in call.arguments.items()}
    compared = 0
    for threads, outcome in _outcomes(module, call):
        assert_same_outcome(outcome, call.expected, f"{call.kernel} at {dict(call.sizes)}, {threads}")
        compared += 1
    for name, before in kept.items():
        assert _same_memory(before, call.arguments[name]), f"{call.kernel}: {name} was written"
    return compared


def _outcomes(module: Module, call: Call) -> Iterator[tuple[str, Outcome]]:
    for threads in THREADS:
        yield f"{threads} threads", run_module(module, call, threads)
    if call.expected.error:
        return
    given = tuple(np.full(r.shape, 1, r.dtype) for r in call.expected.results)
    arguments = _with_out(call.arguments, given)
    yield "out=", run_module(module, Call(call.kernel, call.sizes, arguments, call.expected), 2)
    yield "what out= holds", Outcome(given)


def _with_out(arguments: Mapping[str, Any], given: tuple[Any, ...]) -> dict[str, Any]:
    return {**arguments, "out": given[0] if len(given) == 1 else given}


def _same_memory(a: Any, b: Any) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()
