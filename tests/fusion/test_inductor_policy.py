"""`inductor-2.8` against what torch 2.8.0 decided: nodes, dependencies, pairs, verdicts, scores, fusions.

Names of nodes and buffers are compared by position: torch numbers also what it drops. Seven of 38 programs
studied are not here, for TDSL as written gives another list of nodes than torch does after its own rewrites:
gelu_linear and long_chain (bias or sum moved into the product), concat_relu (relu moved below the
concatenation), adam_inplace (mutation), transpose_add (layout of the result), cumsum (a bookkeeping node) and
batch_stats (mean and var of one operand, lowered together).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from front_end import PROGRAMS, fuse_file

from tensorc.loop_ir.program import LoopNode, MatmulNode, Node
from tensorc.scheduler import events, reasons
from tensorc.scheduler.dependencies import Dep, StarDep, print_group, print_size
from tensorc.scheduler.program import FusedProgram

FACTS: dict[str, Any] = {
    name: facts
    for name, facts in json.loads((Path(__file__).parent / "facts.json").read_text()).items()
    if name != "_readme"
}
CODES = {
    "no shared data": reasons.NO_SHARED_DATA,
    "intermediate nodes": reasons.INTERMEDIATE_NODES,
    "full reduction first": reasons.FULL_REDUCTION,
    "loop shapes differ": reasons.LOOP_SHAPES,
}
WELFORD = {"sum", "var"}  # torch has one kind for both results of its variance


class Renamed:
    """Our names for torch's, by the position of the nodes."""

    def __init__(self, facts: dict[str, Any], nodes: tuple[Node, ...]) -> None:
        self.names = {f["name"]: n.name for f, n in zip(facts["nodes"], nodes, strict=True)}
        self.names |= {f["writes"][0][0]: n.buffer for f, n in zip(facts["nodes"], nodes, strict=True)}

    def cluster(self, name: str) -> str:
        return "_".join(self.names[part] for part in name.split("_"))

    def dep(self, dep: list[Any]) -> tuple[Any, ...]:
        buffer, index, ranges = dep
        return (self.names.get(buffer, buffer), index, tuple(ranges.items()))


def dep_facts(fused: FusedProgram, dep: Dep) -> tuple[Any, ...]:
    if isinstance(dep, StarDep):
        return (dep.buffer, "*", ())
    ranges = tuple((name, fused.figures.of(extent)) for name, extent in dep.ranges)
    return (dep.buffer, print_size(dep.index, fused.figures), ranges)


def kind_facts(node: Node) -> tuple[str, str | None]:
    if isinstance(node, LoopNode):
        return ("reduction", node.reduction.kind) if node.reduction else ("pointwise", None)
    return ("extern" if isinstance(node, MatmulNode) else "nop", None)


def considered(fused: FusedProgram) -> list[events.PairConsidered]:
    return [e for e in fused.events if isinstance(e, events.PairConsidered) and not e.again]


@pytest.mark.parametrize("name", FACTS)
def test_nodes_and_dependencies(name: str) -> None:
    fused = fuse_file(name, "inductor-2.8")
    renamed = Renamed(FACTS[name], fused.loop.nodes)
    for fact, node, own in zip(FACTS[name]["nodes"], fused.loop.nodes, fused.deps, strict=True):
        kind, reduction = kind_facts(node)
        assert kind == fact["kind"]
        if fact.get("reduction") == "welford_reduce":
            assert reduction in WELFORD
        else:
            assert reduction == fact.get("reduction")
        assert fact.get("group") == (print_group(own.group, fused.figures) if own.group else None)
        reads = {dep_facts(fused, d) for d in own.reads}
        assert reads == {renamed.dep(d) for d in (*fact["met"], *fact["unmet"])}
        assert [dep_facts(fused, d) for d in own.writes] == [renamed.dep(d) for d in fact["writes"]]


@pytest.mark.parametrize("name", FACTS)
def test_candidate_pairs(name: str) -> None:
    fused = fuse_file(name, "inductor-2.8")
    renamed = Renamed(FACTS[name], fused.loop.nodes)
    waiting = {(e.round, e.first, e.second) for e in fused.events if isinstance(e, events.PairWaits)}
    found = [
        {
            "pair": (e.round, e.first, e.second),
            "relation": e.kind,
            "shared": e.saving.shared if e.saving else None,
            "allowed": e.reason.allows,
            "code": None if e.reason.allows else e.reason.code,
            "waits": (e.round, e.first, e.second) in waiting,
        }
        for e in considered(fused)
    ]
    assert found == [
        {
            "pair": (f["round"], renamed.cluster(f["first"]), renamed.cluster(f["second"])),
            "relation": f["relation"],
            "shared": f["shared_bytes"],
            "allowed": f["verdict"] == "can fuse",
            "code": CODES[f["reason"]] if "reason" in f else None,
            "waits": f.get("waits", False),
        }
        for f in FACTS[name]["pairs"]
    ]


@pytest.mark.parametrize("name", FACTS)
def test_scores(name: str) -> None:
    scores = [e.score for e in considered(fuse_file(name, "inductor-2.8"))]
    for fact, score in zip(FACTS[name]["pairs"], scores, strict=True):
        if "score" in fact:
            assert score == tuple(fact["score"])
        elif fact["verdict"] != "can fuse":
            assert score is None


@pytest.mark.parametrize("name", FACTS)
def test_fusions_and_rounds(name: str) -> None:
    fused = fuse_file(name, "inductor-2.8")
    renamed = Renamed(FACTS[name], fused.loop.nodes)
    found = [(e.round, e.first, e.second, e.join) for e in fused.events if isinstance(e, events.Fused)]
    assert found == [
        (f["round"], renamed.cluster(f["first"]), renamed.cluster(f["second"]), f["kind"])
        for f in FACTS[name]["fusions"]
    ]
    assert fused.events[-1] == events.FusionFinished(FACTS[name]["rounds"])
    assert len(fused.groups) == FACTS[name]["nodes_after"]


def test_every_program_has_facts() -> None:
    assert {p.stem for p in PROGRAMS.glob("*.tdsl")} == set(FACTS)
    assert len(FACTS) == 31
