"""Work arrays that share memory, and barriers: never a bit's difference to every array having its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tensorc.api import Module, load_unit
from tensorc.driver import CompileOptions, compile_text
from tensorc.loop_ir.program import Buffer, Role
from tensorc.loop_schedule import schedule
from tensorc.loop_schedule.memory import place_barriers, share_memory
from tensorc.loop_schedule.program import Nest, NestProgram
from tensorc.source import Source

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "property"))
from programs import draw_arguments, draw_sizes, grow_file  # noqa: E402

FILES = sorted((ROOT / "tests/fusion/programs").glob("*.tdsl"))


def own_memory(buffers: Sequence[Buffer], nests: Sequence[Nest]) -> tuple[tuple[str, str], ...]:
    return tuple((b.name, b.name) for b in buffers if b.role is Role.TEMPORARY)


def nests_of(body: str) -> NestProgram:
    text = f"kernel f(x: f32[N, D], w: f32[D, D]) {{ {body} }}"
    (program,) = compile_text(Source("t", text), CompileOptions(until="loops")).nests
    return program


def shares(body: str) -> dict[str, str]:
    return {name: home for name, home in nests_of(body).memory if name != home}


def test_a_dead_array_of_the_same_size_is_used_again() -> None:
    """Of a chain of products, the third is written where the first was."""
    assert shares("a = x @ w; b = a @ w; return b @ w") == {}
    assert shares("a = x @ w; b = a @ w; c = b @ w; return c @ w") == {"buf2": "buf0"}
    assert shares("a = x @ w; b = a @ w; c = b @ w; return c @ w + a") == {"buf3": "buf1"}
    # a product over its own operand would read what it has overwritten
    assert "buf1" not in shares("a = x @ w; b = a @ w; return b @ w")


def test_a_nest_overwrites_what_it_reads_element_by_element() -> None:
    assert shares("a = x @ w; b = relu(a); return b @ w") == {"buf1": "buf0"}
    assert shares("a = x @ w; b = a - max(a, axis=1, keepdims=true); return b @ w") == {"buf2": "buf0"}
    assert shares("a = x @ w; b = a - a[0]; return b @ w") == {}
    assert shares("a = x @ w; b = a - a[0, 0]; return b @ w") == {}
    assert shares("a = x @ w; b = a - a[:, ::-1]; return b @ w") == {}


def test_only_arrays_of_one_dtype_and_size_share() -> None:
    assert shares("a = x @ w; b = f64(a); return b @ f64(w)") == {}
    assert shares("a = w @ w; b = x @ a; return b @ w") == {}


def test_every_temporary_has_one_home_and_results_have_their_own() -> None:
    for path in FILES:
        unit = compile_text(Source(path.name, path.read_text("utf-8")), CompileOptions(until="loops"))
        for program in unit.nests:
            temporaries = [b.name for b in program.buffers if b.role is Role.TEMPORARY]
            homes = dict(program.memory)
            assert sorted(homes) == sorted(temporaries)
            assert all(homes[home] == home for home in homes.values())


def test_barriers_stand_where_a_nest_needs_another_ones_work() -> None:
    assert [n.barrier for n in nests_of("return sum(x, axis=1), sum(x, axis=0)").nests] == [False, False]
    assert [n.barrier for n in nests_of("return x / sum(x)").nests] == [False, True]
    assert [n.barrier for n in nests_of("a = x @ w; b = a @ w; return b @ w").nests] == [False, True, True]
    # the third waits for the first two; one barrier serves both
    body = "a = x @ w; b = w @ w; return a @ b"
    assert [n.barrier for n in nests_of(body).nests] == [False, False, True]


def test_a_barrier_before_memory_is_written_that_is_still_read() -> None:
    program = nests_of("a = x @ w; b = a @ w; c = b @ w; return c @ w")
    apart = place_barriers(program.nests[:1], {})
    assert [n.barrier for n in apart] == [False]
    first, second = program.nests[0], program.nests[2]
    # `second` reads nothing of `first`, and writes other memory, then its very memory
    (_, free) = place_barriers((first, second), {})
    (_, bound) = place_barriers((first, second), {"buf2": "buf0"})
    assert (free.barrier, bound.barrier) == (False, True)


def test_share_memory_of_no_nests() -> None:
    assert share_memory((), ()) == ()


PROGRAMS = {
    "products": "a = x @ w; b = relu(a); c = b @ w; d = c - max(c, axis=1, keepdims=true); return d @ w",
    "columns": "a = exp(x - max(x, axis=0)); b = a / sum(a, axis=0); return b @ w, b - mean(b)",
    "whole": "a = x / sum(x); b = a - var(a); c = b * mean(b); return c / sqrt(sum(c * c)), c[:, ::-1]",
    "mixed": "a = x @ w; b = a / sum(a); c = b - a[0]; d = c.T @ c; e = d @ w.T; return softmax2(e) @ w",
    "crossing": "a = x @ w; b = x - a; c = b / sum(b); d = c @ w; e = d + a; return e / sum(e, axis=0)",
}
PRELUDE = """\
def softmax2(x) { e = exp(x - max(x, axis=1, keepdims=true)); return e / sum(e, axis=1, keepdims=true) }
"""
TEXT = PRELUDE + "".join(
    f"kernel {name}(x: f32[N, D], w: f32[D, D]) {{ {body} }}\n" for name, body in PROGRAMS.items()
)
GROWN = 24
OPTIONS = CompileOptions(target="native", opt_level=1)


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> tuple[Module, Module]:
    """The programs and many grown ones, with memory shared and without."""
    text = TEXT + grow_file(Random("memory"), GROWN)
    directory = tmp_path_factory.mktemp("memory")
    shared = load_unit(Source("shared", text), OPTIONS, directory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "share_memory", own_memory)
        apart = load_unit(Source("apart", text), OPTIONS, directory)
    assert shared.cpp != apart.cpp
    return shared, apart


def _run(module: Module, kernel: str, arguments: dict[str, Any], threads: int) -> tuple[bytes, ...] | str:
    try:
        found = module[kernel](**arguments, threads=threads)
    except ValueError as error:
        return str(error)
    return tuple(r.tobytes() for r in (found if isinstance(found, tuple) else (found,)))


def test_programs_that_share() -> None:
    unit = compile_text(Source("t", TEXT), CompileOptions(until="loops"))
    sharing = {p.signature.name for p in unit.nests if any(a != b for a, b in p.memory)}
    assert sharing >= {"products", "mixed"}


# just above the work at which threads start, so that they meet at a barrier every few microseconds
@pytest.mark.parametrize("kernel", PROGRAMS)
def test_sharing_and_threads_change_no_bit(modules: tuple[Module, Module], kernel: str) -> None:
    shared, apart = modules
    random = np.random.default_rng(3)
    for n, d in ((96, 64), (200, 33), (41, 129)):
        x = random.standard_normal((n, d), np.float32) + 1
        arguments = {"x": x, "w": random.standard_normal((d, d), np.float32)}
        expected = _run(apart, kernel, arguments, 1)
        assert _run(shared, kernel, arguments, 1) == expected
        for _ in range(12):
            assert _run(shared, kernel, arguments, 2) == expected
            assert _run(apart, kernel, arguments, 2) == expected


def test_sharing_changes_no_bit_of_grown_programs(modules: tuple[Module, Module]) -> None:
    shared, apart = modules
    random = Random("memory calls")
    compared = 0
    for signature in shared.unit.signatures:
        if signature.name in PROGRAMS:
            continue
        sizes = draw_sizes(random, signature)
        arguments = dict(draw_arguments(random, signature, sizes))
        assert _run(shared, signature.name, arguments, 2) == _run(apart, signature.name, arguments, 1)
        compared += 1
    assert compared == GROWN
