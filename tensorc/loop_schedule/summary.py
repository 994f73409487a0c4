"""What became of a kernel, in figures: nests, bytes, and where every buffer lives.

`traffic` says what counts as moved. The tests recount it from the C text and the interpreter's accesses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tensorc.index_algebra import ZERO, Poly
from tensorc.loop_ir.program import Buffer, Role
from tensorc.loop_schedule.program import Kept, NestProgram
from tensorc.loop_schedule.traffic import array_bytes, moved_bytes, total_bytes
from tensorc.loop_schedule.walk import read_buffers, written_buffers
from tensorc.scheduler.nest_shape import NestKind
from tensorc.scheduler.sizes import choose_figures


def nest_count(program: NestProgram) -> int:
    """Loop nests in the emitted code."""
    return sum(1 for n in program.nests if n.shape.kind is not NestKind.NOP)


def intermediate_bytes(program: NestProgram) -> Poly:
    """Bytes of work arrays that have memory of their own."""
    own = {location for name, location in program.memory}
    return total_bytes([b for b in program.buffers if b.role is Role.TEMPORARY and b.name in own])


def render_summary(program: NestProgram, symbolic: bool = False) -> str:
    """The closing lines of the fusion log."""
    figures = choose_figures(program.signature)

    def show(size: Poly) -> str:
        return str(size) if symbolic else str(figures.of(size))

    nests = [n for n in program.nests if n.shape.kind is not NestKind.NOP]
    moved = ZERO
    for n in nests:
        moved = moved + moved_bytes(program.buffers, n)
    name = nests[0].name if len(nests) == 1 else program.signature.name
    count = f"{len(nests)} nest" + ("" if len(nests) == 1 else "s")
    lines = [
        f"kernel {name}: {count}, {show(intermediate_bytes(program))} B of intermediates, "
        f"{show(moved)} B moved (unfused {show(program.unfused_bytes)})"
    ]
    if len(nests) > 1:
        width = max(len(n.name) for n in nests)
        for n in nests:
            places = f"reads {_names(program, read_buffers(n))}; writes {_names(program, written_buffers(n))}"
            lines.append(
                f"  {n.name:<{width}}  {n.shape.kind:<7}  {places}; {show(moved_bytes(program.buffers, n))} B"
            )
    lines.extend(_kept(program, k, show) for k in program.kept)
    lines.append(_allocations(program, show))
    return "\n".join(lines)


def _kept(program: NestProgram, kept: Kept, show: Callable[[Poly], str]) -> str:
    """What keeping a value costs and saves."""
    buffer = program.buffer(kept.buffer)
    return (
        f"  {kept.maker} keeps a value in {_label(program, buffer)} for {kept.user}: "
        f"{show(kept.extra_bytes)} B more, {kept.cost} operations an element less"
    )


def _names(program: NestProgram, buffers: Sequence[str]) -> str:
    return ", ".join(_labels(program, buffers)) or "nothing"


def _labels(program: NestProgram, buffers: Sequence[str]) -> list[str]:
    """The arrays among `buffers`, results by their own names."""
    shown = {b.name: _label(program, b) for b in program.buffers}
    return [shown[b] for b in buffers if b in shown]


def _label(program: NestProgram, buffer: Buffer) -> str:
    return buffer.name if buffer.result is None else program.signature.result_name(buffer.result)


def _allocations(program: NestProgram, show: Callable[[Poly], str]) -> str:
    """`allocates out (4096 B); buf0 is a register`."""
    location = dict(program.memory)
    new = [b for b in program.buffers if b.role is Role.OUTPUT]
    new += [b for b in program.buffers if b.role is Role.TEMPORARY and location[b.name] == b.name]
    parts = ["allocates " + ", ".join(f"{_label(program, b)} ({show(array_bytes(b))} B)" for b in new)]
    for name, place in program.memory:
        if place != name:
            host = next(b for b in program.buffers if b.name == place)
            parts.append(f"{name} uses the memory of {_label(program, host)}")
    for nest in program.nests:
        registers = list(nest.registers)
        if registers:
            verb = "is a register" if len(registers) == 1 else "are registers"
            parts.append(f"{', '.join(registers)} {verb}")
        for s in nest.scratch:
            size = show(s.extent * s.dtype.size)
            parts.append(f"{s.buffer} is a scratch of {size} B per thread")
    return "; ".join(parts)


def summary_record(program: NestProgram) -> dict[str, object]:
    """The figures of `render_summary` as plain dicts, for JSON."""
    of = choose_figures(program.signature).of
    location = dict(program.memory)
    return {
        "nests": [
            {
                "name": n.name,
                "kind": str(n.shape.kind),
                "nodes": list(n.nodes),
                "reads": _labels(program, read_buffers(n)),
                "writes": _labels(program, written_buffers(n)),
                "moved_bytes": of(moved_bytes(program.buffers, n)),
                "registers": list(n.registers),
                "scratch": {s.buffer: of(s.extent) * s.dtype.size for s in n.scratch},
            }
            for n in program.nests
        ],
        "allocated_bytes": {
            _label(program, b): of(array_bytes(b))
            for b in program.buffers
            if b.role is Role.OUTPUT or location.get(b.name) == b.name
        },
        "shared_memory": {name: place for name, place in program.memory if name != place},
        "intermediate_bytes": of(intermediate_bytes(program)),
        "unfused_bytes": of(program.unfused_bytes),
    }
