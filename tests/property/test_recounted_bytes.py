"""The bytes of the log, recounted from the elements that the loop interpreter's nodes access."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from harness import check_text, count_accesses
from programs import draw_arguments, grow_file

from tensorc.driver import CompiledUnit, CompileOptions, compile_text
from tensorc.interp.loop_interp import AccessCounts
from tensorc.interp.scalar_ops import ElementaryLibrary
from tensorc.loop_ir.program import LoopProgram
from tensorc.loop_schedule.program import NestProgram
from tensorc.loop_schedule.traffic import moved_bytes
from tensorc.source import Source

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.tdsl"))
SIZES = {"N": 24, "D": 40, "H": 56, "M": 19, "K": 9}


def _compile(name: str, text: str, policy: str) -> CompiledUnit:
    return compile_text(Source(name, text), CompileOptions(policy=policy, until="loops"))


def _count(loops: LoopProgram, elementary: ElementaryLibrary) -> tuple[AccessCounts, dict[str, int]]:
    sizes = {d.name: d.fixed if d.fixed is not None else SIZES[d.name] for d in loops.signature.dims}
    arguments = draw_arguments(Random(5), loops.signature, sizes)
    return count_accesses(loops, arguments, elementary), sizes


def _recounted(counts: AccessCounts, nests: NestProgram) -> int:
    arrays = frozenset(b.name for b in nests.buffers)
    return counts.bytes_moved_by([n.nodes for n in nests.nests], arrays)


def _logged(nests: NestProgram, sizes: dict[str, int]) -> int:
    return sum(moved_bytes(nests.buffers, n).evaluate(sizes) for n in nests.nests)


def _extra(nests: NestProgram, sizes: dict[str, int]) -> int:
    """What the log says that kept values cost; the nodes, which the interpreter runs, compute them again."""
    return sum(k.extra_bytes.evaluate(sizes) for k in nests.kept)


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_move_what_the_log_says(path: Path, policy: str, elementary: ElementaryLibrary) -> None:
    unit = _compile(path.name, path.read_text(encoding="utf-8"), policy)
    for fused, nests in zip(unit.fused, unit.nests, strict=True):
        counts, sizes = _count(fused.loop, elementary)
        assert _recounted(counts, nests) + _extra(nests, sizes) == _logged(nests, sizes)


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
def test_grown_kernels_move_no_more_than_the_log_says(policy: str, elementary: ElementaryLibrary) -> None:
    """The log counts whole arrays; a nest that reads a slice may access fewer elements, never more."""
    text = grow_file(Random("bytes"), 40)
    check_text(text)
    unit = _compile("<grown>", text, policy)
    exact = 0
    for fused, nests in zip(unit.fused, unit.nests, strict=True):
        counts, sizes = _count(fused.loop, elementary)
        recounted, logged = _recounted(counts, nests) + _extra(nests, sizes), _logged(nests, sizes)
        assert recounted <= logged, nests.signature.name
        exact += recounted == logged
    assert exact > 20
