"""LoopPrograms written by hand: a buffer's name, shape, loads and origins give its node."""

from __future__ import annotations

from collections.abc import Sequence

from tensorc.dtypes import F32, DType
from tensorc.index_algebra import Poly, Sym, as_poly, axis, dim
from tensorc.loop_ir.program import (
    Axis,
    Buffer,
    Load,
    LoopNode,
    LoopProgram,
    MatmulNode,
    Node,
    NopNode,
    Origin,
    Reduction,
    Role,
    ScalarOp,
    Tree,
)
from tensorc.signature import Dim, Signature
from tensorc.source import Source, Span

N, D = dim("N"), dim("D")
I0, I1, R0, R1 = axis("i0"), axis("i1"), axis("r0"), axis("r1")
Extent = Poly | int


class Hand:
    """Collects buffers and nodes of one kernel; nodes are op0, op1, ... and write buf0, buf1, ..."""

    def __init__(
        self, name: str, hints: dict[str, int | None] | None = None, text: str = "", fixed: bool = False
    ) -> None:
        self.source = Source(f"examples/{name}.tdsl", text or f"kernel {name}\n")
        sizes = {"N": 1024, "D": 1024} if hints is None else hints
        self.dims = tuple(Dim(k, fixed=v) if fixed else Dim(k, hint=v) for k, v in sizes.items())
        self.name = name
        self.buffers: list[Buffer] = []
        self.nodes: list[Node] = []

    def input(self, name: str, *shape: Extent, dtype: DType = F32) -> None:
        self.buffers.append(Buffer(name, dtype, _sizes(shape), Role.INPUT))

    def origin(self, op: str, name: str = "", line: int = 1) -> Origin:
        start = self.source.line_starts[line - 1]
        return Origin(op, name, Span(self.source, start, start + 1))

    def add(
        self,
        loads: Sequence[tuple[str, Poly]],
        iterate: Sequence[Extent] = (),
        reduce: Sequence[Extent] = (),
        kind: str = "sum",
        out: int | None = None,
        origins: Sequence[tuple[str, str, int]] = (),
        dtype: DType = F32,
    ) -> str:
        """A pointwise node, or with `reduce` a reduction; `loads` in i0.. and r0..; the buffer's name."""
        buffer = f"buf{len(self.nodes)}"
        shape = _sizes(iterate)
        iter_axes = tuple(Axis(f"i{k}", e) for k, e in enumerate(shape))
        reduce_axes = tuple(Axis(f"r{k}", e) for k, e in enumerate(_sizes(reduce)))
        body = [ScalarOp("load", (), dtype, Load(b, p)) for b, p in loads]
        for k in range(1, len(loads)):
            previous = len(body) - 1 if k > 1 else 0
            body.append(ScalarOp("add", (previous, k), dtype))
        rows = any(
            Sym(a.name, axis=True) in p.symbols() and p.coefficient(Sym(a.name, axis=True)) == 1
            for a in reduce_axes
            for _, p in loads
        )
        reduction = Reduction(kind, Tree.ROWS if rows else Tree.COLUMNS) if reduce_axes else None
        store = as_poly(0)
        for a in iter_axes:
            store = store * a.extent + axis(a.name)
        self._own(buffer, shape, out, dtype)
        marks = tuple(self.origin(*o) for o in origins) or (self.origin("add"),)
        self.nodes.append(
            LoopNode(
                f"op{len(self.nodes)}",
                buffer,
                iter_axes,
                reduce_axes,
                tuple(body),
                len(body) - 1,
                store,
                reduction,
                marks,
            )
        )
        return buffer

    def matmul(self, left: str, right: str, m: Extent, k: Extent, n: Extent, out: int | None = None) -> str:
        buffer = f"buf{len(self.nodes)}"
        mm, kk, nn = _sizes((m, k, n))
        i, j, inner = axis("i"), axis("j"), axis("k")
        self._own(buffer, (mm, nn), out, F32)
        self.nodes.append(
            MatmulNode(
                f"op{len(self.nodes)}",
                buffer,
                Load(left, i * kk + inner),
                Load(right, inner * nn + j),
                (),
                mm,
                kk,
                nn,
                (self.origin("matmul"),),
            )
        )
        return buffer

    def nop(self, out: int | None = None) -> str:
        buffer = f"buf{len(self.nodes)}"
        self._own(buffer, (as_poly(0),), out, F32)
        self.nodes.append(NopNode(f"op{len(self.nodes)}", buffer, (self.origin("zeros"),)))
        return buffer

    def program(self) -> LoopProgram:
        span = Span(self.source, 0, 1)
        signature = Signature(self.name, (), (), self.dims, (), (), "", span)
        return LoopProgram(signature, tuple(self.buffers), tuple(self.nodes))

    def _own(self, name: str, shape: tuple[Poly, ...], out: int | None, dtype: DType) -> None:
        role = Role.TEMPORARY if out is None else Role.OUTPUT
        self.buffers.append(Buffer(name, dtype, shape, role, out))


def _sizes(extents: Sequence[Extent]) -> tuple[Poly, ...]:
    return tuple(as_poly(e) for e in extents)


def chain() -> LoopProgram:
    h = Hand("chain", text="kernel chain(x)\n    return relu(sin(x) + 1)\n")
    h.input("x", N, D)
    h.add([("x", I0 * D + I1)], (N, D), out=0, origins=[("sin", "", 2), ("add", "", 2), ("relu", "", 2)])
    return h.program()


def epilogue() -> LoopProgram:
    h = Hand("epilogue", text="kernel epilogue(x)\n    z = \n    s = \n    return\n")
    h.input("x", N, D)
    marks = [("sin", "z", 2), ("add", "z", 2), ("sum", "s", 3)]
    s = h.add([("x", I0 * D + R0)], (N,), (D,), origins=marks)
    h.add([(s, I0)], (N,), out=0, origins=[("relu", "", 4), ("mul", "", 4)])
    return h.program()


def wall() -> LoopProgram:
    h = Hand("wall")
    h.input("x", N, D)
    s = h.add([("x", R0 * D + R1)], (), (N, D), origins=[("sin", "y", 1), ("sum", "s", 1)])
    h.add([("x", I0 * D + I1), (s, as_poly(0))], (N, D), out=0)
    return h.program()


def mismatch() -> LoopProgram:
    h = Hand("mismatch")
    h.input("x", N, D)
    h.add([("x", I0 * D + I1)], (N, D), out=0)
    h.add([("x", I1 * D + I0)], (D, N), out=1)
    return h.program()
