"""Building a node's scalar body: values that are not stored are inlined at the index they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from tensorc.dtypes import I64
from tensorc.index_algebra import ONE, ZERO, Poly, Sym
from tensorc.loop_ir.program import (
    IndexValue,
    Literal,
    Load,
    Origin,
    ScalarOp,
    ScalarRef,
)
from tensorc.lowering.realize import reshape_base
from tensorc.tensor_ir.program import (
    Constant,
    ParamRef,
    Reduce,
    SizeValue,
    TensorOp,
    TensorProgram,
    View,
)

Index = tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """A value's buffer and its shape (the buffer is C-contiguous)."""

    buffer: str
    shape: tuple[Poly, ...]


def flat_index(index: Index, shape: tuple[Poly, ...]) -> Poly:
    """The element offset of `index` in a C-contiguous array of `shape`."""
    offset, stride = ZERO, ONE
    for position, extent in zip(reversed(index), reversed(shape), strict=True):
        offset = offset + position * stride
        stride = stride * extent
    return offset


class BodyBuilder:
    """Collects the scalar operations of one body; (value, index) pairs are shared."""

    def __init__(self, program: TensorProgram, stored: dict[int, Stored]) -> None:
        self._program = program
        self._stored = dict(stored)
        self._ops: list[ScalarOp] = []
        self._done: dict[tuple[int, Index], int] = {}
        self._origins: dict[int, Origin] = {}

    def body(self) -> tuple[ScalarOp, ...]:
        return tuple(self._ops)

    def origins(self) -> tuple[Origin, ...]:
        """The tensor operations inlined, in program order."""
        ordered = [self._origins[v] for v in sorted(self._origins)]
        return tuple(dict.fromkeys(ordered))

    def build(self, value: int, index: Index) -> int:
        """The position in the body of `value` at `index`. Walks with a stack: expressions are deep."""
        stack = [(value, index)]
        while stack:
            key = stack[-1]
            if key in self._done:
                stack.pop()
                continue
            needed = self._needs(*key)
            missing = [n for n in needed if n not in self._done]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            self._done[key] = self._emit(key[0], key[1], [self._done[n] for n in needed])
        return self._done[value, index]

    def _needs(self, value: int, index: Index) -> list[tuple[int, Index]]:
        op = self._program.ops[value]
        if value in self._stored or op.op == "reshape":
            return []
        if isinstance(op.attrs, View):
            places = {Sym(f"i{k}", axis=True): p for k, p in enumerate(index)}
            return [(op.operands[0], tuple(p.substitute(places) for p in op.attrs.index))]
        return [(operand, index) for operand in op.operands]

    def _emit(self, value: int, index: Index, args: list[int]) -> int:
        op = self._program.ops[value]
        if value in self._stored:
            stored = self._stored[value]
            load = Load(stored.buffer, flat_index(index, stored.shape))
            return self._append(ScalarOp("load", (), op.dtype, load))
        if op.op == "reshape":
            return self._emit_reshape(value, index)
        match op.attrs:
            case View():
                return args[0]
            case ParamRef(position):
                name = self._program.signature.params[position].name
                return self._append(ScalarOp("scalar", (), op.dtype, ScalarRef(name)))
            case Constant(number):
                return self._append(ScalarOp("constant", (), op.dtype, Literal(number)))
            case SizeValue(size):
                return self._append(ScalarOp("index", (), op.dtype, IndexValue(size)))
            case Reduce():
                raise AssertionError("reductions are always stored")
            case None:
                return self._emit_computed(value, op, index, args)
            case _:
                assert_never(op.attrs)

    def _emit_reshape(self, value: int, index: Index) -> int:
        """A load at the same place in row-major order; of a scalar, its only element."""
        base = reshape_base(self._program, value)
        if base not in self._stored:
            assert not self._program.ops[base].shape, "the operand of a reshape is stored"
            return self._emit(base, (), [])
        self._origins[value] = Origin("reshape", self._program.ops[value].name, self._program.ops[value].span)
        load = Load(self._stored[base].buffer, flat_index(index, self._program.ops[value].shape))
        return self._append(ScalarOp("load", (), self._program.ops[value].dtype, load))

    def _emit_computed(self, value: int, op: TensorOp, index: Index, args: list[int]) -> int:
        if op.op == "iota":
            return self._append(ScalarOp("index", (), I64, IndexValue(index[0])))
        if op.op != "cast" or op.origin != "":
            self._origins[value] = Origin(op.origin, op.name, op.span, op.pin or "")
        return self._append(ScalarOp(op.op, tuple(args), op.dtype))

    def _append(self, op: ScalarOp) -> int:
        self._ops.append(op)
        return len(self._ops) - 1
