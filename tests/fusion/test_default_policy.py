"""The default policy: never more nests or bytes than `inductor-2.8`, and what only it fuses."""

from __future__ import annotations

import pytest
from front_end import PROGRAMS, fuse_file

from tensorc.loop_ir.program import Role
from tensorc.loop_schedule.traffic import array_bytes
from tensorc.scheduler import events, reasons
from tensorc.scheduler.nest_shape import NestKind, nest_shape
from tensorc.scheduler.policy import POLICIES
from tensorc.scheduler.program import FusedProgram

NAMES = sorted(p.stem for p in PROGRAMS.glob("*.tdsl"))

ONE_NEST_ONLY_HERE = {
    "two_outputs_ret": NestKind.ROWS,  # flat exp split to the rows of the sum
    "diamond_red": NestKind.ROWS,
    "mse": NestKind.WHOLE,  # the division follows the finished sum
    "pairwise": NestKind.ROWS,  # sqrt over (n*m) on a reduction over (n, m)
}


def moved_bytes(fused: FusedProgram) -> int:
    """For each group, the full size of every buffer that comes from outside or is needed outside."""
    buffers = {b.name: b for b in fused.loop.buffers}
    reads = {
        n.name: [d.buffer for d in own.reads] for n, own in zip(fused.loop.nodes, fused.deps, strict=True)
    }
    total = 0
    for group in fused.groups:
        inside = {n.name for n in group.nodes}
        written = {n.buffer for n in group.nodes}
        needed = {b for name, found in reads.items() if name not in inside for b in found}
        loads = {b for n in group.nodes for b in reads[n.name]} - written
        stores = {b for b in written if b in needed or buffers[b].role is Role.OUTPUT}
        total += sum(fused.figures.of(array_bytes(buffers[b])) for b in loads | stores)
    return total


@pytest.mark.parametrize("name", NAMES)
def test_never_more_nests_or_bytes(name: str) -> None:
    ours, theirs = fuse_file(name, "default"), fuse_file(name, "inductor-2.8")
    assert len(ours.groups) <= len(theirs.groups)
    assert moved_bytes(ours) <= moved_bytes(theirs)


@pytest.mark.parametrize(("name", "kind"), ONE_NEST_ONLY_HERE.items())
def test_one_nest_where_the_table_gives_two(name: str, kind: NestKind) -> None:
    (group,) = fuse_file(name, "default").groups
    assert group.shape.kind is kind
    assert len(fuse_file(name, "inductor-2.8").groups) == 2


@pytest.mark.parametrize("name", ["softmax", "layernorm", "rmsnorm", "log_softmax", "wide_softmax"])
def test_row_normalisations_are_one_row_loop(name: str) -> None:
    fused = fuse_file(name, "default")
    (group,) = fused.groups
    assert (group.shape.kind, group.shape.shared) == (NestKind.ROWS, 1)
    inputs = {b.name for b in fused.loop.buffers if b.role is not Role.TEMPORARY}
    compulsory = sum(fused.figures.of(array_bytes(b)) for b in fused.loop.buffers if b.name in inputs)
    assert moved_bytes(fused) == compulsory


def test_known_bytes() -> None:
    assert moved_bytes(fuse_file("epilogue", "default")) == 4198400
    assert moved_bytes(fuse_file("wall", "default")) == 12582920
    assert moved_bytes(fuse_file("softmax", "default")) == 8388608
    assert moved_bytes(fuse_file("two_outputs_ret", "default")) == 12587008


def test_matrix_products_are_refused_in_the_log() -> None:
    fused = fuse_file("mm_relu_sum", "default")
    (pair,) = [e for e in fused.events if isinstance(e, events.PairConsidered)]
    assert pair.reason.code == reasons.EXTERN
    assert pair.reason.sentence == "op0 is a matrix product with a nest of its own"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_groups_are_nests_and_partition_the_nodes(name: str, policy: str) -> None:
    fused = fuse_file(name, policy)
    members = [n.name for g in fused.groups for n in g.nodes]
    assert sorted(members) == sorted(n.name for n in fused.loop.nodes)
    for group in fused.groups:
        assert nest_shape(group.nodes) == group.shape
        assert len(group.fusions) == len(group.nodes) - 1
    assert len({g.name for g in fused.groups}) == len(fused.groups)
