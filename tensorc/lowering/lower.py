"""TensorProgram to LoopProgram: one node per stored value, everything else inlined into bodies.

*Requires*: a verified TensorProgram. *Ensures*: a LoopProgram whose nodes stand in a valid order; views
have become index expressions; a value inlined at the same index twice is computed once.
*Rewrite*: `t1 = sin(x); t2 = t1.T; t3 = t2 + 1` -> `buf0[i0, i1] = sin(x[i1, i0]) + 1` (producer inlining).
"""

from __future__ import annotations

from dataclasses import replace

from tensorc.index_algebra import ONE, ZERO, Poly, axis, product
from tensorc.loop_ir.program import (
    Axis,
    Buffer,
    LoopNode,
    LoopProgram,
    MatmulNode,
    Node,
    NopNode,
    Origin,
    Reduction,
    Role,
    Scan,
    Tree,
)
from tensorc.lowering.inline import BodyBuilder, Stored, flat_index, stored_element
from tensorc.lowering.realize import choose_realized, is_parameter_array, reshape_base
from tensorc.tensor_ir.program import ParamRef, Reduce, TensorOp, TensorProgram
from tensorc.tensor_ir.program import Scan as TensorScan


def lower_program(program: TensorProgram, policy: str) -> LoopProgram:
    """Choose what is stored (`choose_realized`), then build each stored value's node."""
    return _Lowering(program, choose_realized(program, policy)).run()


class _Lowering:
    """The state of one lowering: which values have buffers so far, and the nodes in order."""

    def __init__(self, program: TensorProgram, realized: frozenset[int]) -> None:
        self.program = program
        self.realized = realized
        self.stored: dict[int, Stored] = {}
        self.buffers: list[Buffer] = []
        self.nodes: list[Node] = []

    def run(self) -> LoopProgram:
        for value, op in enumerate(self.program.ops):
            if isinstance(op.attrs, ParamRef) and op.shape:
                name = self.program.signature.params[op.attrs.position].name
                self.buffers.append(Buffer(name, op.dtype, op.shape, Role.INPUT))
                self.stored[value] = Stored(name, op.shape)
            elif op.op == "view" and is_parameter_array(self.program, value):
                self.stored[value] = Stored(self.stored[op.operands[0]].buffer, op.shape)
        first_result: dict[int, int] = {}
        for position, value in enumerate(self.program.results):
            first_result.setdefault(value, position)
        for value in sorted(self.realized):
            if not is_parameter_array(self.program, value):
                self._add_node(value, first_result.get(value))
        for position, value in enumerate(self.program.results):
            if is_parameter_array(self.program, value) or first_result[value] != position:
                self._add_copy(value, position)
        return LoopProgram(self.program.signature, tuple(self.buffers), tuple(self.nodes))

    def _new_buffer(self, op: TensorOp, result: int | None) -> str:
        name = f"buf{len(self.nodes)}"
        while any(p.name == name for p in self.program.signature.params):
            name += "_"
        role = Role.TEMPORARY if result is None else Role.OUTPUT
        self.buffers.append(Buffer(name, op.dtype, op.shape, role, result))
        return name

    def _add_node(self, value: int, result: int | None) -> None:
        op = self.program.ops[value]
        buffer = self._new_buffer(op, result)
        name = f"op{len(self.nodes)}"
        if product(op.shape) == ZERO:
            node: Node = NopNode(name, buffer, (_origin(op),))
        elif op.op == "matmul":
            node = self._matmul(name, buffer, op)
        elif isinstance(op.attrs, Reduce):
            node = self._reduction(name, buffer, op, op.attrs)
        elif isinstance(op.attrs, TensorScan):
            node = self._scan(name, buffer, op, op.attrs)
        elif op.op == "reshape":
            node = self._reshape(name, buffer, value)
        else:
            node = self._pointwise(name, buffer, value)
        self.nodes.append(node)
        self.stored[value] = Stored(buffer, op.shape)

    def _add_copy(self, value: int, position: int) -> None:
        """A result that is a parameter, or a value that is already another result."""
        op = self.program.ops[value]
        buffer = self._new_buffer(op, position)
        name = f"op{len(self.nodes)}"
        if product(op.shape) == ZERO:
            self.nodes.append(NopNode(name, buffer, (Origin("copy", op.name, op.span),)))
            return
        self.nodes.append(self._pointwise(name, buffer, value, copy=True))

    def _pointwise(self, name: str, buffer: str, value: int, copy: bool = False) -> LoopNode:
        op = self.program.ops[value]
        axes, index = _axes(op.shape, "i")
        builder = BodyBuilder(self.program, self.stored, axes)
        result = builder.build(value, index)
        origins = builder.origins() or (Origin("copy", op.name, op.span),)
        if copy:
            origins = (Origin("copy", op.name, op.span),)
        return LoopNode(
            name, buffer, axes, (), builder.body(), result, flat_index(index, op.shape), None, origins
        )

    def _reshape(self, name: str, buffer: str, value: int) -> LoopNode:
        """A stored reshape: its operand's elements in order, computed where they are not stored."""
        base = reshape_base(self.program, value)
        shape = self.program.ops[base].shape
        if base in self.stored or not shape:
            return self._pointwise(name, buffer, value)
        axes, index = _axes(shape, "i")
        builder = BodyBuilder(self.program, self.stored, axes)
        result = builder.build(base, index)
        origins = (*builder.origins(), _origin(self.program.ops[value]))
        return LoopNode(
            name, buffer, axes, (), builder.body(), result, flat_index(index, shape), None, origins
        )

    def _reduction(self, name: str, buffer: str, op: TensorOp, attrs: Reduce) -> LoopNode:
        operand = op.operands[0]
        shape = self.program.ops[operand].shape
        kept = [k for k in range(len(shape)) if k not in attrs.axes]
        iter_axes, kept_index = _axes(tuple(shape[k] for k in kept), "i")
        reduce_axes, reduced_index = _axes(tuple(shape[k] for k in attrs.axes), "r")
        reduce_axes = reduce_axes or (Axis("r0", ONE),)
        position = {k: p for k, p in zip(kept, kept_index, strict=True)}
        position |= {k: p for k, p in zip(attrs.axes, reduced_index, strict=True)}
        builder = BodyBuilder(self.program, self.stored, (*iter_axes, *reduce_axes))
        result = builder.build(operand, tuple(position[k] for k in range(len(shape))))
        return LoopNode(
            name,
            buffer,
            iter_axes,
            reduce_axes,
            builder.body(),
            result,
            flat_index(kept_index, op.shape),
            Reduction(attrs.kind, _tree(shape, attrs.axes), attrs.correction),
            (*builder.origins(), _origin(op)),
        )

    def _scan(self, name: str, buffer: str, op: TensorOp, attrs: TensorScan) -> LoopNode:
        axes, index = _axes(op.shape, "i")
        builder = BodyBuilder(self.program, self.stored, axes)
        result = builder.build(op.operands[0], index)
        scanned = sum(extent != 1 for extent in op.shape[: attrs.axis])
        return LoopNode(
            name,
            buffer,
            axes,
            (),
            builder.body(),
            result,
            flat_index(index, op.shape),
            None,
            (*builder.origins(), _origin(op)),
            Scan(attrs.kind, scanned),
        )

    def _matmul(self, name: str, buffer: str, op: TensorOp) -> MatmulNode:
        left, right = (self.program.ops[a] for a in op.operands)
        batch = tuple(Axis(f"b{k}", size) for k, size in enumerate(op.shape[:-2]))
        lead = tuple(axis(a.name) for a in batch)
        return MatmulNode(
            name,
            buffer,
            stored_element(self.program, self.stored, op.operands[0], (*lead, axis("i"), axis("k"))),
            stored_element(self.program, self.stored, op.operands[1], (*lead, axis("k"), axis("j"))),
            batch,
            left.shape[-2],
            left.shape[-1],
            right.shape[-1],
            tuple(replace(_origin(op), op=word) for word in op.origin.split()),
        )


def _axes(shape: tuple[Poly, ...], prefix: str) -> tuple[tuple[Axis, ...], tuple[Poly, ...]]:
    """A loop axis for each extent other than 1, and the index of every axis."""
    axes: list[Axis] = []
    index: list[Poly] = []
    for extent in shape:
        if extent == 1:
            index.append(ZERO)
            continue
        axes.append(Axis(f"{prefix}{len(axes)}", extent))
        index.append(axis(axes[-1].name))
    return tuple(axes), tuple(index)


def _tree(shape: tuple[Poly, ...], axes: tuple[int, ...]) -> Tree:
    """Rows when the last axis (of extent other than 1) is reduced, or nothing but it would be left."""
    wide = [k for k, extent in enumerate(shape) if extent != 1]
    return Tree.ROWS if not wide or wide[-1] in axes else Tree.COLUMNS


def _origin(op: TensorOp) -> Origin:
    return Origin(op.origin, op.name, op.span, op.pin or "")
