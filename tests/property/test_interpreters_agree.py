"""Random programs: the loop interpreter is within the tensor interpreter's bounds, whatever the policy."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from harness import assert_same_outcome, check_bounds, check_text, lower, run_loops
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import HEADER, draw_arguments, draw_sizes, grow_kernel

from tensorc.dtypes import SUPPORTED
from tensorc.interp.scalar_ops import ElementaryLibrary
from tensorc.operators import OPERATORS

CALLS = 2


def _agree(random: Random, elementary: ElementaryLibrary) -> tuple[int, int]:
    """Grow one kernel, call it, compare; the elements with a finite bound, and all elements."""
    text = f"{HEADER}{grow_kernel(random, 'k0')}\n"
    (program,) = check_text(text)
    loops = lower(program, "default")
    other = lower(program, "inductor-2.8")
    decided = total = 0
    for _ in range(CALLS):
        sizes = draw_sizes(random, program.signature)
        arguments = draw_arguments(random, program.signature, sizes)
        try:
            outcome = run_loops(loops, arguments, elementary)
            known, elements = check_bounds(program, arguments, outcome)
            assert_same_outcome(
                run_loops(other, arguments, elementary), outcome, "inductor-2.8 against default"
            )
        except AssertionError as error:
            raise AssertionError(f"{error}\n{sizes}\n{text}") from error
        decided, total = decided + known, total + elements
    return decided, total


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_grown_programs(elementary: ElementaryLibrary, random: Random) -> None:
    _agree(random, elementary)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_functions_on_dense_samples(elementary: ElementaryLibrary, dtype: str) -> None:
    """The bounds allow for what the reference itself is off by: f64 functions of the C library by units."""
    rows = [row for row in OPERATORS.values() if (row.elementary or row.name == "power") and not row.strict]
    calls = [f"{row.name}({', '.join('xy'[: row.arity])})" for row in rows if row.name != "power"]
    text = f"kernel k(x: {dtype}[N], y: {dtype}[N]) {{ return {', '.join((*calls, 'abs(x) ** y'))} }}"
    (program,) = check_text(text)
    random = np.random.default_rng(1)
    numpy_type = SUPPORTED[dtype].numpy
    arguments = {n: random.normal(scale=s, size=40_000).astype(numpy_type) for n, s in (("x", 2), ("y", 3))}
    outcome = run_loops(lower(program, "default"), arguments, elementary)
    known, elements = check_bounds(program, arguments, outcome)
    assert known > 0.95 * elements


@pytest.mark.parametrize("columns", [1, 3, 7, 64])
def test_long_f64_sums_of_short_rows(elementary: ElementaryLibrary, columns: int) -> None:
    """Equal terms round alike, so that their errors add up: in f64 over as many terms as a chain is long."""
    text = f"kernel k(x: f64[N, {columns}]) {{ return sum(x), sum(x * x), mean(x), var(x), std(x, axis=0) }}"
    (program,) = check_text(text)
    for value in (0.1, -1.0 / 3.0, 5.46020, 1e300 / 3e5):
        x = np.full((40_000 // columns, columns), value)
        x[::2] *= 1.5
        outcome = run_loops(lower(program, "default"), {"x": x}, elementary)
        known, elements = check_bounds(program, {"x": x}, outcome)
        assert known > 0 and elements == 4 + columns


@pytest.mark.parametrize("seed", range(3))
def test_seeded_programs_are_mostly_decided(elementary: ElementaryLibrary, seed: int) -> None:
    """Bounds that are infinite everywhere would agree with anything."""
    decided = total = 0
    for n in range(20):
        known, elements = _agree(Random(f"{seed}.{n}"), elementary)
        decided, total = decided + known, total + elements
    assert decided > 0.9 * total
