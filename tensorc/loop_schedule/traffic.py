"""Bytes: of an array, and of what a nest moves.

A nest moves every array it reads and every array it writes once; scratch rows stay in cache and do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tensorc.index_algebra import ZERO, Poly, product
from tensorc.loop_ir.program import Buffer
from tensorc.loop_schedule.program import Nest
from tensorc.loop_schedule.walk import read_buffers, written_buffers


def array_bytes(buffer: Buffer) -> Poly:
    """The size of a whole buffer in bytes."""
    return product(buffer.shape) * buffer.dtype.size


def total_bytes(buffers: Iterable[Buffer]) -> Poly:
    """The sizes of arrays, added."""
    total = ZERO
    for b in buffers:
        total = total + array_bytes(b)
    return total


def moved_bytes(buffers: Sequence[Buffer], nest: Nest) -> Poly:
    """Bytes of the arrays (of `buffers`) a nest reads plus those it writes."""
    arrays = {b.name: b for b in buffers}
    touched = (*read_buffers(nest), *written_buffers(nest))
    return total_bytes(arrays[name] for name in touched if name in arrays)
