"""Builds tensor programs by hand, so that tests of the IR need no front end."""

from __future__ import annotations

from tensorc.dtypes import BOOL, F32, I64, DType
from tensorc.index_algebra import Poly, as_poly, axis, dim
from tensorc.operators import OPERATORS, Typing
from tensorc.signature import Binding, Dim, Param, Result, Signature, SizeCheck
from tensorc.source import Source, Span
from tensorc.tensor_ir.program import (
    Constant,
    ParamRef,
    Reduce,
    SizeValue,
    TensorOp,
    TensorProgram,
    View,
)
from tensorc.tensor_ir.verify import reduction_dtype

SPAN = Span(Source("test.tdsl", "kernel test\n"), 0, 6)
Size = Poly | int | str


def size(value: Size) -> Poly:
    return dim(value) if isinstance(value, str) else as_poly(value)


class ProgramBuilder:
    """Collects ops; every method returns the value's number."""

    def __init__(self) -> None:
        self.ops: list[TensorOp] = []
        self.params: list[Param] = []
        self.checks: list[SizeCheck] = []

    def op(
        self,
        op: str,
        operands: tuple[int, ...],
        attrs: object,
        dtype: DType,
        shape: tuple[Poly, ...],
        name: str = "",
    ) -> int:
        self.ops.append(TensorOp(op, operands, attrs, dtype, shape, SPAN, op, name))  # type: ignore[arg-type]
        return len(self.ops) - 1

    def param(
        self, name: str, dtype: DType = F32, shape: tuple[Size, ...] = (), default: float | None = None
    ) -> int:
        sizes = tuple(size(s) for s in shape)
        self.params.append(Param(name, dtype, sizes, f"{dtype}", SPAN, default))
        return self.op("param", (), ParamRef(len(self.params) - 1), dtype, sizes, name)

    def constant(self, value: float, dtype: DType = F32) -> int:
        return self.op("constant", (), Constant(value), dtype, ())

    def size(self, value: Size, dtype: DType = I64) -> int:
        return self.op("size", (), SizeValue(size(value)), dtype, ())

    def iota(self, extent: Size) -> int:
        return self.op("iota", (), None, I64, (size(extent),))

    def call(self, op: str, *operands: int, name: str = "") -> int:
        row, last = OPERATORS[op], self.ops[operands[-1]]
        gives_bool = row.typing in (Typing.COMPARE, Typing.LOGICAL, Typing.PREDICATE)
        return self.op(op, operands, None, BOOL if gives_bool else last.dtype, last.shape, name)

    def cast(self, value: int, dtype: DType) -> int:
        return self.op("cast", (value,), None, dtype, self.ops[value].shape)

    def view(
        self, value: int, index: tuple[Poly | int, ...], shape: tuple[Size, ...], kind: str = "slice"
    ) -> int:
        polys = tuple(as_poly(p) for p in index)
        return self.op(
            "view", (value,), View(kind, polys), self.ops[value].dtype, tuple(size(s) for s in shape)
        )

    def splat(self, value: float, shape: tuple[Size, ...], dtype: DType = F32) -> int:
        return self.view(self.constant(value, dtype), (), shape, "broadcast_to")

    def reduce(self, kind: str, value: int, *axes: int, correction: float = 0.0) -> int:
        source = self.ops[value]
        shape = tuple(s for k, s in enumerate(source.shape) if k not in axes)
        return self.op(
            "reduce", (value,), Reduce(kind, axes, correction), reduction_dtype(kind, source.dtype), shape
        )

    def matmul(self, left: int, right: int) -> int:
        a, b = self.ops[left], self.ops[right]
        return self.op("matmul", (left, right), None, a.dtype, (*a.shape[:-1], b.shape[-1]))

    def program(self, *results: int) -> TensorProgram:
        """The program; each dim is bound by the first parameter axis that is just that dim."""
        named = tuple(
            Result(f"out{k}", self.ops[v].dtype, self.ops[v].shape, "") for k, v in enumerate(results)
        )
        bindings: dict[str, Binding] = {}
        for p, param in enumerate(self.params):
            for a, s in enumerate(param.shape):
                if s.dims() and s == dim(s.dims()[0]) and s.dims()[0] not in bindings:
                    bindings[s.dims()[0]] = Binding(s.dims()[0], p, a, as_poly(1), as_poly(0))
                else:
                    self.checks.append(SizeCheck("axis", s, "==", s, str(s), SPAN, p, a))
        signature = Signature(
            "test",
            tuple(self.params),
            named,
            tuple(Dim(d) for d in bindings),
            tuple(bindings.values()),
            tuple(self.checks),
            "",
            SPAN,
        )
        return TensorProgram(signature, tuple(self.ops), results, SPAN)


def i(k: int) -> Poly:
    """The result axis `k` of a view."""
    return axis(f"i{k}")
