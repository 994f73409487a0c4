"""Building a node's scalar body: values that are not stored are inlined at the index they are needed.

An operand of a concat is inlined under guards: the conditions on the loop axes under which the element is one
of its own. They go into its loads, so that no element out of an array is read; which operand's value counts
is a `where` on the same conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from tensorc.dtypes import BOOL, I64, DType
from tensorc.index_algebra import ONE, ZERO, Poly, Sym
from tensorc.loop_ir.guards import always_holds, box, is_implied, never_holds, whole_ranges
from tensorc.loop_ir.program import (
    Axis,
    Gather,
    IndexValue,
    Inside,
    Literal,
    Load,
    Origin,
    Place,
    ScalarOp,
    ScalarRef,
)
from tensorc.lowering.realize import reshape_base
from tensorc.tensor_ir.program import (
    Concat,
    Constant,
    GatheredPlace,
    ParamRef,
    Reduce,
    Scan,
    SizeValue,
    TensorOp,
    TensorProgram,
    View,
)
from tensorc.tensor_ir.program import Gather as TensorGather

Index = tuple[Poly, ...]
Guards = tuple[Poly, ...]


@dataclass(frozen=True, slots=True)
class Need:
    """A value at an index, needed where the guards hold."""

    value: int
    index: Index
    guards: Guards


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


def view_index(view: View, index: Index) -> Index:
    """Where a view at `index` reads its operand."""
    places = {Sym(f"i{k}", axis=True): p for k, p in enumerate(index)}
    return tuple(p.substitute(places) for p in view.index)


def stored_element(program: TensorProgram, stored: Mapping[int, Stored], value: int, index: Index) -> Load:
    """The element of a value that views and reshapes make of a stored one."""
    while value not in stored:
        op = program.ops[value]
        if op.op == "reshape":
            return Load(stored[reshape_base(program, value)].buffer, flat_index(index, op.shape))
        assert isinstance(op.attrs, View), "what a product or a gather reads is stored"
        index = view_index(op.attrs, index)
        value = op.operands[0]
    return Load(stored[value].buffer, flat_index(index, stored[value].shape))


class BodyBuilder:
    """Collects the scalar operations of one body over the loops `axes`; equal needs are shared."""

    def __init__(self, program: TensorProgram, stored: dict[int, Stored], axes: Sequence[Axis]) -> None:
        self._program = program
        self._stored = dict(stored)
        self._extents = {a.name: a.extent for a in axes}
        self._ranges = whole_ranges(self._extents)
        self._ops: list[ScalarOp] = []
        self._done: dict[Need, int] = {}
        self._origins: dict[int, Origin] = {}

    def body(self) -> tuple[ScalarOp, ...]:
        return tuple(self._ops)

    def origins(self) -> tuple[Origin, ...]:
        """The tensor operations inlined, in program order."""
        ordered = [self._origins[v] for v in sorted(self._origins)]
        return tuple(dict.fromkeys(ordered))

    def build(self, value: int, index: Index) -> int:
        """The position in the body of `value` at `index`. Walks with a stack: expressions are deep."""
        root = Need(value, index, ())
        stack = [root]
        while stack:
            key = stack[-1]
            if key in self._done:
                stack.pop()
                continue
            needed = self._needs(key)
            missing = [n for n in needed if n not in self._done]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            self._done[key] = self._emit(key, [self._done[n] for n in needed])
        return self._done[root]

    def _needs(self, need: Need) -> list[Need]:
        op = self._program.ops[need.value]
        if need.value in self._stored or op.op == "reshape":
            return []
        match op.attrs:
            case View():
                return [Need(op.operands[0], view_index(op.attrs, need.index), need.guards)]
            case Concat():
                return [part for part, _ in self._parts(op, op.attrs.axis, need)]
            case TensorGather():
                return [Need(operand, need.index, need.guards) for operand in op.operands[1:]]
            case _:
                return [Need(operand, need.index, need.guards) for operand in op.operands]

    def _parts(self, op: TensorOp, axis: int, need: Need) -> list[tuple[Need, Poly]]:
        """The operands of a concat that may have the element, each with where its part begins."""
        parts: list[tuple[Need, Poly]] = []
        reached: list[bool] = []
        ranges = (self._ranges, box(need.guards, self._extents) or self._ranges)
        begin, last = ZERO, len(op.operands) - 1
        for k, operand in enumerate(op.operands):
            own = need.index[axis] - begin
            extent = self._program.ops[operand].shape[axis]
            asked = ([own] if k else []) + ([extent - 1 - own] if k < last else [])
            unknown = [
                g
                for g in asked
                if not is_implied(g, need.guards) and not any(always_holds(g, r) for r in ranges)
            ]
            index = (*need.index[:axis], own, *need.index[axis + 1 :])
            parts.append((Need(operand, index, (*need.guards, *dict.fromkeys(unknown))), begin))
            reached.append(not any(never_holds(g, r) for g in asked for r in ranges))
            begin = begin + extent
        # none is reached where no loop runs
        return [part for part, can in zip(parts, reached, strict=True) if can] or parts[:1]

    def _emit(self, need: Need, args: list[int]) -> int:
        value, index = need.value, need.index
        op = self._program.ops[value]
        if value in self._stored:
            stored = self._stored[value]
            load = Load(stored.buffer, flat_index(index, stored.shape), need.guards)
            return self._append(ScalarOp("load", (), op.dtype, load))
        if op.op == "reshape":
            return self._emit_reshape(need)
        match op.attrs:
            case Concat():
                return self._emit_concat(op, op.attrs.axis, need, args)
            case View():
                return args[0]
            case TensorGather():
                return self._emit_gather(need, op.attrs, args)
            case ParamRef(position):
                name = self._program.signature.params[position].name
                return self._append(ScalarOp("scalar", (), op.dtype, ScalarRef(name)))
            case Constant(number):
                return self._append(ScalarOp("constant", (), op.dtype, Literal(number)))
            case SizeValue(size):
                return self._append(ScalarOp("index", (), op.dtype, IndexValue(size)))
            case Reduce() | Scan():
                raise AssertionError("reductions and scans are always stored")
            case None:
                return self._emit_computed(need, op, args)
            case _:
                assert_never(op.attrs)

    def _emit_concat(self, op: TensorOp, axis: int, need: Need, args: list[int]) -> int:
        """`where(i >= begin2, part2, where(i >= begin1, part1, part0))`"""
        self._origins[need.value] = Origin(op.origin, op.name, op.span, op.pin or "")
        parts = self._parts(op, axis, need)
        result = args[0]
        for (_, begin), arg in zip(parts[1:], args[1:], strict=True):
            condition = need.index[axis] - begin
            inside = self._append(ScalarOp("inside", (), BOOL, Inside((condition,))))
            result = self._append(ScalarOp("where", (inside, arg, result), op.dtype))
        return result

    def _emit_gather(self, need: Need, attrs: TensorGather, args: list[int]) -> int:
        """The places of the indices, then the gather at all of them."""
        op = self._program.ops[need.value]
        source = op.operands[0]
        here = {Sym(f"i{k}", axis=True): p for k, p in enumerate(need.index)}
        at: list[Poly] = []
        gathered: list[tuple[Sym, int]] = []
        for k, place in enumerate(attrs.places):
            if isinstance(place, Poly):
                at.append(place.substitute(here))
                continue
            extent = self._program.ops[source].shape[k]
            position = self._emit_place(args[place.operand - 1], place, extent, op.span.line, need.guards)
            gathered.append((Sym(f"gathered{k}", axis=True), position))
            at.append(Poly([(((gathered[-1][0], 1),), 1)]))
        read = stored_element(self._program, self._stored, source, tuple(at))
        strides = tuple(read.index.coefficient(variable) for variable, _ in gathered)
        offset = read.index.substitute({variable: ZERO for variable, _ in gathered})
        self._origins[need.value] = Origin(op.origin, op.name, op.span, op.pin or "")
        places = tuple(position for _, position in gathered)
        return self._append(ScalarOp("gather", places, op.dtype, Gather(read.buffer, offset, strides)))

    def _emit_place(self, index: int, place: GatheredPlace, extent: Poly, line: int, guards: Guards) -> int:
        """An index as a place; -1, where nothing is read, where a guard fails."""
        inside = (self._append(ScalarOp("inside", (), BOOL, Inside(guards))),) if guards else ()
        if place.checked:
            check = Place(extent, place.wraps, place.message, line)
            return self._append(ScalarOp("place", (index, *inside), I64, check))
        if not inside:
            return index
        outside = self._append(ScalarOp("constant", (), I64, Literal(-1)))
        return self._append(ScalarOp("where", (*inside, index, outside), I64))

    def _emit_reshape(self, need: Need) -> int:
        """A load at the same place in row-major order; of a scalar, its only element."""
        value = need.value
        base = reshape_base(self._program, value)
        if base not in self._stored:
            assert not self._program.ops[base].shape, "the operand of a reshape is stored"
            return self._emit(Need(base, (), ()), [])
        self._origins[value] = Origin("reshape", self._program.ops[value].name, self._program.ops[value].span)
        place = flat_index(need.index, self._program.ops[value].shape)
        load = Load(self._stored[base].buffer, place, need.guards)
        return self._append(ScalarOp("load", (), self._program.ops[value].dtype, load))

    def _emit_computed(self, need: Need, op: TensorOp, args: list[int]) -> int:
        if op.op == "iota":
            return self._append(ScalarOp("index", (), I64, IndexValue(need.index[0])))
        if op.op != "cast" or op.origin != "":
            self._origins[need.value] = Origin(op.origin, op.name, op.span, op.pin or "")
        if op.op == "power" and op.dtype.is_integer and need.guards:
            args = [args[0], self._only_inside(args[1], op.dtype, need.guards)]
        return self._append(ScalarOp(op.op, tuple(args), op.dtype))

    def _only_inside(self, arg: int, dtype: DType, guards: Guards) -> int:
        """A value where the guards hold, 0 elsewhere: what a run-time check looks at."""
        if isinstance(self._ops[arg].attrs, Literal):
            return arg
        inside = self._append(ScalarOp("inside", (), BOOL, Inside(guards)))
        zero = self._append(ScalarOp("constant", (), dtype, Literal(0)))
        return self._append(ScalarOp("where", (inside, arg, zero), dtype))

    def _append(self, op: ScalarOp) -> int:
        self._ops.append(op)
        return len(self._ops) - 1
