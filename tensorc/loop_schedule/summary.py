"""What became of a kernel, in figures: nests, bytes, and where every buffer lives.

Bytes moved by a nest are the sizes of the arrays it reads and of those it writes, each once; scratch rows
stay in cache and do not count. The tests recount them from the C text and from the interpreter's accesses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tensorc.index_algebra import ZERO, Poly, product
from tensorc.loop_ir.program import Buffer, Role
from tensorc.loop_schedule.program import Kept, Nest, NestProgram
from tensorc.loop_schedule.walk import read_buffers, written_buffers
from tensorc.scheduler.nest_shape import NestKind
from tensorc.scheduler.sizes import choose_figures


def nest_count(program: NestProgram) -> int:
    """Loop nests in the emitted code."""
    return sum(1 for n in program.nests if n.shape.kind is not NestKind.NOP)


def moved_bytes(program: NestProgram, nest: Nest) -> Poly:
    """Bytes of the arrays a nest reads plus those it writes."""
    arrays = {b.name: b for b in program.buffers}
    touched = (*read_buffers(nest), *written_buffers(nest))
    return _total([arrays[name] for name in touched if name in arrays])


def intermediate_bytes(program: NestProgram) -> Poly:
    """Bytes of work arrays that have memory of their own."""
    own = {location for name, location in program.memory}
    return _total([b for b in program.buffers if b.role is Role.TEMPORARY and b.name in own])


def _total(buffers: Sequence[Buffer]) -> Poly:
    total = ZERO
    for b in buffers:
        total = total + product(b.shape) * b.dtype.size
    return total


def render_summary(program: NestProgram, symbolic: bool = False) -> str:
    """The closing lines of the fusion log."""
    figures = choose_figures(program.signature)

    def show(size: Poly) -> str:
        return str(size) if symbolic else str(figures.of(size))

    nests = [n for n in program.nests if n.shape.kind is not NestKind.NOP]
    moved = ZERO
    for n in nests:
        moved = moved + moved_bytes(program, n)
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
                f"  {n.name:<{width}}  {n.shape.kind:<7}  {places}; {show(moved_bytes(program, n))} B"
            )
    lines.extend(_kept(program, k, show) for k in program.kept)
    lines.append(_allocations(program, show))
    return "\n".join(lines)


def _kept(program: NestProgram, kept: Kept, show: Callable[[Poly], str]) -> str:
    """What keeping a value costs and saves: it is stored once and read back, what it reads no longer is."""
    buffer = next(b for b in program.buffers if b.name == kept.buffer)
    size = show(_total([buffer]))
    return (
        f"  {kept.maker} keeps a value in the memory of {_label(program, buffer)} for {kept.user}: "
        f"{size} B stored and {size} B loaded instead of {kept.cost} operations an element again"
    )


def _names(program: NestProgram, buffers: Sequence[str]) -> str:
    shown = {b.name: _label(program, b) for b in program.buffers}
    return ", ".join(shown[b] for b in buffers if b in shown) or "nothing"


def _label(program: NestProgram, buffer: Buffer) -> str:
    return buffer.name if buffer.result is None else program.signature.result_name(buffer.result)


def _allocations(program: NestProgram, show: Callable[[Poly], str]) -> str:
    """`allocates out (4096 B); buf0 is a register`."""
    location = dict(program.memory)
    new = [b for b in program.buffers if b.role is Role.OUTPUT]
    new += [b for b in program.buffers if b.role is Role.TEMPORARY and location[b.name] == b.name]
    parts = ["allocates " + ", ".join(f"{_label(program, b)} ({show(_total([b]))} B)" for b in new)]
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
