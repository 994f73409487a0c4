"""Widen a TensorProgram: operations of dtypes without lane arithmetic are carried out in a wider one.

*Requires* a verified program. *Ensures* the same results bit for bit, and that only `where` and what moves
values (views, casts, ...) is left on the dtypes of `COMPUTES_IN`; u32 and u64 are reduced and scanned in
signed lanes.

*Rewrite*: `add x y : f16` -> `cast (add (cast x : f32) (cast y : f32)) : f16`: each operation is rounded (or
wraps) as the language says, so that neither fusing nor storing changes a value. (Type legalisation by
promotion elsewhere.) The bits of sums and products do not depend on the sign; the order of u32 is that of i32
once the top bit is flipped.
"""

from __future__ import annotations

from dataclasses import replace

from tensorc.dtypes import COMPUTES_IN, I32, I64, U32, U64, DType
from tensorc.operators import OPERATORS, Typing
from tensorc.tensor_ir.program import Attrs, Constant, Reduce, Scan, TensorOp, TensorProgram, View

_SIGNED = {U32: I32, U64: I64}


def widen_program(p: TensorProgram) -> TensorProgram:
    """The program with every operation in a dtype that lanes compute in; `p` itself when nothing changes."""
    if not any(op.dtype in COMPUTES_IN or op.dtype in _SIGNED for op in p.ops):
        return p
    build = _Builder()
    renamed: list[int] = []
    for op in p.ops:
        renamed.append(build.widen(replace(op, operands=tuple(renamed[k] for k in op.operands))))
    return replace(p, ops=tuple(build.ops), results=tuple(renamed[k] for k in p.results))


class _Builder:
    """The ops written so far."""

    def __init__(self) -> None:
        self.ops: list[TensorOp] = []

    def widen(self, op: TensorOp) -> int:
        """Append `op` or what it becomes; the value that stands for it."""
        if op.op in ("reduce", "scan", "matmul"):
            return self._widen_accumulation(op)
        row = OPERATORS.get(op.op)
        if row is None or row.typing is Typing.WHERE:
            return self._append(op)
        narrow = self.ops[op.operands[-1]].dtype
        wide = COMPUTES_IN.get(narrow)
        if wide is None:
            return self._append(op)
        operands = tuple(self._cast(k, wide, op) for k in op.operands)
        if op.dtype != narrow:  # a bool
            return self._append(replace(op, operands=operands))
        computed = self._append(replace(op, operands=operands, dtype=wide, pin=None))
        return self._append(replace(op, op="cast", operands=(computed,), origin=op.origin if op.pin else ""))

    def _widen_accumulation(self, op: TensorOp) -> int:
        """A reduction, a scan or a matrix product, whose value is stored before it is rounded."""
        narrow = self.ops[op.operands[0]].dtype
        wide = COMPUTES_IN.get(narrow) or _SIGNED.get(narrow)
        if wide is None:
            return self._append(op)
        kind = op.attrs.kind if isinstance(op.attrs, Reduce | Scan) else "matmul"
        flipped = narrow.is_unsigned and narrow in _SIGNED and kind in ("max", "min", "argmax", "argmin")
        operands = op.operands
        if flipped:
            operands = tuple(self._flip(k, op) for k in operands)
        operands = tuple(self._cast(k, wide, op) for k in operands)
        if kind in ("argmax", "argmin"):
            return self._append(replace(op, operands=operands))
        computed = wide
        if kind in ("sum", "prod") and wide.is_integer:
            computed = I64
        if computed == op.dtype:
            return self._append(replace(op, operands=operands))
        value = self._append(replace(op, operands=operands, dtype=computed, pin=None))
        cast = replace(op, op="cast", operands=(value,), attrs=None, origin="cast")
        if not flipped:
            return self._append(cast)
        return self._flip(self._append(replace(cast, name="", pin=None)), op)

    def _append(self, op: TensorOp) -> int:
        self.ops.append(op)
        return len(self.ops) - 1

    def _derived(
        self, like: TensorOp, op: str, operands: tuple[int, ...], attrs: Attrs, dtype: DType
    ) -> TensorOp:
        """An operation without name or origin of its own, with the shape of its first operand."""
        shape = self.ops[operands[0]].shape if operands else ()
        return TensorOp(op, operands, attrs, dtype, shape, like.span, "")

    def _cast(self, value: int, dtype: DType, like: TensorOp) -> int:
        return self._append(self._derived(like, "cast", (value,), None, dtype))

    def _flip(self, value: int, like: TensorOp) -> int:
        """The value with its top bit inverted."""
        source = self.ops[value]
        top = Constant((source.dtype.highest + 1) // 2)
        mask = self._append(self._derived(like, "constant", (), top, source.dtype))
        if source.shape:
            view = self._derived(like, "view", (mask,), View("broadcast_to", ()), source.dtype)
            mask = self._append(replace(view, shape=source.shape))
        flipped = self._derived(like, "bitwise_xor", (value, mask), None, source.dtype)
        return self._append(replace(flipped, origin=like.origin))
