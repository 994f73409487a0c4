"""Work arrays that share memory, and the barriers that threads need between nests.

An array takes over the memory of a dead one of the same dtype and size: one that no later nest reads, or one
that the writing nest itself overwrites element by element (`aliasing.may_overwrite`). Equal dtypes, so that
no element is ever accessed under two types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tensorc.index_algebra import ZERO, product
from tensorc.loop_ir.program import Buffer, Role
from tensorc.loop_schedule.aliasing import may_overwrite
from tensorc.loop_schedule.program import Nest
from tensorc.loop_schedule.walk import read_buffers, written_buffers


def share_memory(buffers: Sequence[Buffer], nests: Sequence[Nest]) -> tuple[tuple[str, str], ...]:
    """For each temporary, in the order they are written, the temporary whose memory it has.

    One without elements is never written, but may be read: it comes first, in its own place.
    """
    by_name = {b.name: b for b in buffers if b.role is Role.TEMPORARY}
    last_read = {name: k for k, nest in enumerate(nests) for name in read_buffers(nest)}
    holder: dict[str, str] = {}
    placed = [(name, name) for name, b in by_name.items() if product(b.shape) == ZERO]
    for k, nest in enumerate(nests):
        for name in written_buffers(nest):
            if name not in by_name:
                continue
            home = next(
                (
                    place
                    for place, old in holder.items()
                    if _alike(by_name[old], by_name[name]) and _is_free(old, name, last_read, k, nest)
                ),
                name,
            )
            holder[home] = name
            placed.append((name, home))
    return tuple(placed)


def _alike(a: Buffer, b: Buffer) -> bool:
    return a.dtype == b.dtype and product(a.shape) == product(b.shape)


def _is_free(old: str, new: str, last_read: Mapping[str, int], k: int, nest: Nest) -> bool:
    last = last_read.get(old, k)
    if last < k:
        return True
    return last == k and old in read_buffers(nest) and may_overwrite(nest, old, new)


def place_barriers(nests: Sequence[Nest], memory: Mapping[str, str]) -> tuple[Nest, ...]:
    """Mark the nests before which all threads must meet: those that touch what an unfinished nest wrote, or
    write what one still reads."""
    out: list[Nest] = []
    read: set[str] = set()
    written: set[str] = set()
    for nest in nests:
        reads = {memory.get(b, b) for b in read_buffers(nest)}
        writes = {memory.get(b, b) for b in written_buffers(nest)}
        barrier = bool(reads & written or writes & (read | written))
        if barrier:
            read, written = set(), set()
        read |= reads
        written |= writes
        out.append(replace(nest, barrier=barrier))
    return tuple(out)
