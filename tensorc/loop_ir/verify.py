"""Verify a LoopProgram: buffers, nodes and their scalar bodies against a table of what is legal.

Runs at stage borders. A rule returns the problem as a sentence, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tensorc.dtypes import BOOL, COMPUTES_IN, I64, SUPPORTED, U32, U64
from tensorc.errors import IRError
from tensorc.index_algebra import Atom, Poly, Sym
from tensorc.loop_ir.program import (
    Axis,
    Buffer,
    Gather,
    IndexValue,
    Inside,
    Literal,
    Load,
    LoopNode,
    LoopProgram,
    MatmulNode,
    Node,
    NopNode,
    Place,
    Role,
    ScalarOp,
    ScalarRef,
    Scan,
)
from tensorc.operators import OPERATORS, REDUCTIONS
from tensorc.signature import Signature
from tensorc.tensor_ir.verify import fits_integer, operand_types_problem, reduction_dtype, scan_problem


def verify_loop_program(p: LoopProgram) -> None:
    """Check the buffers, then every node in order, then that every buffer was written once.

    Raises:
        IRError: naming the first buffer, node or operation that is not legal.
    """
    where = f"kernel {p.signature.name}"
    problem = _buffers_problem(p)
    if problem is not None:
        raise IRError(where, problem)
    readable = {b.name: b for b in p.buffers if b.role is Role.INPUT}
    scope = _Scope(p.signature, {b.name: b for b in p.buffers}, readable)
    for node in p.nodes:
        problem = _node_problem(node, scope)
        if problem is not None:
            raise IRError(f"{where}, {node.name}", problem)
        readable[node.buffer] = scope.buffers[node.buffer]
    unwritten = [b.name for b in p.buffers if b.name not in readable]
    if unwritten:
        raise IRError(where, f"no node writes {unwritten[0]}")


class _Scope:
    """What a node may mention: dims, parameters, all buffers, and those already written."""

    def __init__(self, signature: Signature, buffers: dict[str, Buffer], readable: dict[str, Buffer]) -> None:
        self.dims = frozenset(d.name for d in signature.dims)
        self.scalars = {q.name: q.dtype for q in signature.params if not q.shape}
        self.buffers = buffers
        self.readable = readable


def _buffers_problem(p: LoopProgram) -> str | None:
    names = [b.name for b in p.buffers]
    if len(set(names)) != len(names):
        return "two buffers have one name"
    params = {q.name: (q.dtype, q.shape) for q in p.signature.params if q.shape}
    for b in p.buffers:
        if b.role is Role.INPUT and params.get(b.name) != (b.dtype, b.shape):
            return f"input {b.name} is not a parameter of that type"
        if (b.result is not None) != (b.role is Role.OUTPUT):
            return f"{b.name} is {b.role} and has result {b.result}"
    given = sorted(b.result for b in p.buffers if b.result is not None)
    if given != list(range(len(p.signature.results))):
        return f"buffers give the results {given} of {len(p.signature.results)}"
    for b in p.buffers:
        if b.result is not None and b.dtype != p.signature.results[b.result].dtype:
            return f"{b.name} is {b.dtype}, result {b.result} is {p.signature.results[b.result].dtype}"
    return None


def _node_problem(node: Node, scope: _Scope) -> str | None:
    target = scope.buffers.get(node.buffer)
    if target is None:
        return f"writes {node.buffer}, which is no buffer"
    if node.buffer in scope.readable:
        return f"writes {node.buffer}, which is an input or already written"
    if not node.origins:
        return "has no origin"
    match node:
        case LoopNode():
            return _loop_problem(node, target, scope)
        case MatmulNode():
            return _matmul_problem(node, target, scope)
        case NopNode():
            return None


def _loop_problem(node: LoopNode, target: Buffer, scope: _Scope) -> str | None:
    axes = (*node.iter_axes, *node.reduce_axes)
    problem = _axes_problem(axes, scope) or _index_problem(node.store_index, node.iter_axes, scope)
    if problem is not None:
        return problem
    for position, op in enumerate(node.body):
        problem = _scalar_problem(op, position, node, scope)
        if problem is not None:
            return f"%{position} = {op.op}: {problem}"
    if not 0 <= node.result < len(node.body):
        return f"its result %{node.result} does not exist"
    return _result_problem(node, target)


def _result_problem(node: LoopNode, target: Buffer) -> str | None:
    computed = node.body[node.result].dtype
    if node.scan is not None:
        return _scan_problem(node, node.scan, target)
    if node.reduction is None:
        if node.reduce_axes:
            return "is pointwise and has reduction axes"
        return None if computed == target.dtype else f"stores {computed} in {target.dtype} {target.name}"
    if not node.reduce_axes:
        return "is a reduction over no axis"
    if node.reduction.kind not in REDUCTIONS:
        return f"there is no reduction {node.reduction.kind}"
    if computed in _NOT_REDUCED:
        return f"reduces {computed}, which no lanes do"
    expected = reduction_dtype(node.reduction.kind, computed)
    return None if expected == target.dtype else f"stores {expected} in {target.dtype} {target.name}"


_NOT_REDUCED = (*COMPUTES_IN, U32, U64)
"""What `tensor_ir/widen` reduces and scans in another type."""


def _scan_problem(node: LoopNode, scan: Scan, target: Buffer) -> str | None:
    computed = node.body[node.result].dtype
    if node.reduction is not None or node.reduce_axes:
        return "is a scan and a reduction"
    if not 0 <= scan.axis < len(node.iter_axes):
        return f"scans axis {scan.axis} of {len(node.iter_axes)}"
    if computed != target.dtype:
        return f"stores {computed} in {target.dtype} {target.name}"
    return f"scans {computed}" if computed in _NOT_REDUCED else scan_problem(scan.kind, computed)


def _axes_problem(axes: Sequence[Axis], scope: _Scope) -> str | None:
    names = [a.name for a in axes]
    if len(set(names)) != len(names):
        return "two axes have one name"
    for a in axes:
        problem = _index_problem(a.extent, (), scope)
        if problem is not None:
            return f"extent of {a.name}: {problem}"
    return None


def _index_problem(index: Poly, axes: Sequence[Axis], scope: _Scope) -> str | None:
    """Variables are dims or `axes`, and the axes enter linearly."""
    names = frozenset(a.name for a in axes)
    for symbol in index.symbols():
        if symbol.name not in (names if symbol.axis else scope.dims):
            return f"{index} holds {symbol.name}, which is neither a dim nor one of its axes"
    for monomial, _ in index.terms:
        if sum(power for atom, power in monomial if _holds_axis(atom)) > 1:
            return f"{index} is not affine"
        if any(_holds_axis(atom) and not isinstance(atom, Sym) for atom, _ in monomial):
            return f"{index} is not affine"
    return None


def _holds_axis(atom: Atom) -> bool:
    return bool(Poly([(((atom, 1),), 1)]).axes())


def _scalar_problem(op: ScalarOp, position: int, node: LoopNode, scope: _Scope) -> str | None:
    if op.dtype.name not in SUPPORTED:
        return f"dtype {op.dtype} cannot be computed with"
    if any(not 0 <= k < position for k in op.args):
        return "an operand is not an earlier value"
    rule = _RULES.get(op.op)
    if rule is not None:
        return rule(op, node, scope)
    row = OPERATORS.get(op.op)
    if row is None:
        return "no such operation"
    if op.attrs is not None or len(op.args) != row.arity:
        return f"has {len(op.args)} operands and attrs {op.attrs}"
    operands = [node.body[k].dtype for k in op.args]
    if op.op != "where" and operands[-1] in COMPUTES_IN:
        return f"there is no arithmetic in {operands[-1]}: it computes in {COMPUTES_IN[operands[-1]]}"
    return operand_types_problem(row, operands, op.dtype)


def _load(op: ScalarOp, node: LoopNode, scope: _Scope) -> str | None:
    if not isinstance(op.attrs, Load) or op.args:
        return "is not a load"
    return _load_problem(op.attrs, (*node.iter_axes, *node.reduce_axes), scope) or _same_dtype(
        op, scope.readable[op.attrs.buffer]
    )


def _same_dtype(op: ScalarOp, buffer: Buffer) -> str | None:
    return None if op.dtype == buffer.dtype else f"loads {op.dtype} from {buffer.dtype} {buffer.name}"


def _load_problem(load: Load, axes: Sequence[Axis], scope: _Scope) -> str | None:
    if load.buffer not in scope.readable:
        return f"reads {load.buffer}, which is not written before"
    return _index_problem(load.index, axes, scope) or _guards_problem(load.guards, axes, scope)


def _guards_problem(guards: Sequence[Poly], axes: Sequence[Axis], scope: _Scope) -> str | None:
    return next((p for p in (_index_problem(g, axes, scope) for g in guards) if p is not None), None)


def _inside(op: ScalarOp, node: LoopNode, scope: _Scope) -> str | None:
    if not isinstance(op.attrs, Inside) or op.args or not op.attrs.guards:
        return "has no guards"
    if op.dtype != BOOL:
        return "gives a bool"
    return _guards_problem(op.attrs.guards, (*node.iter_axes, *node.reduce_axes), scope)


def _place(op: ScalarOp, node: LoopNode, scope: _Scope) -> str | None:
    if not isinstance(op.attrs, Place) or len(op.args) not in (1, 2):
        return "is not the place of one index"
    if op.dtype != I64 or node.body[op.args[0]].dtype != I64:
        return "a place and its index are i64"
    if any(node.body[k].dtype != BOOL for k in op.args[1:]):
        return "where it counts is no bool"
    return _index_problem(op.attrs.extent, (), scope)


def _gather(op: ScalarOp, node: LoopNode, scope: _Scope) -> str | None:
    if not isinstance(op.attrs, Gather) or not op.args or len(op.args) != len(op.attrs.strides):
        return "is not a gather with a stride for each place"
    if op.attrs.buffer not in scope.readable:
        return f"reads {op.attrs.buffer}, which is not written before"
    if any(node.body[k].dtype != I64 for k in op.args):
        return "a place is an i64"
    problems = [_index_problem(op.attrs.offset, (*node.iter_axes, *node.reduce_axes), scope)]
    problems += [_index_problem(stride, (), scope) for stride in op.attrs.strides]
    problems.append(_same_dtype(op, scope.readable[op.attrs.buffer]))
    return next((p for p in problems if p is not None), None)


def _scalar(op: ScalarOp, node: LoopNode, scope: _Scope) -> str | None:
    if not isinstance(op.attrs, ScalarRef) or op.args:
        return "is not a scalar"
    expected = scope.scalars.get(op.attrs.param)
    return None if op.dtype == expected else f"{op.attrs.param} is not a {op.dtype} scalar parameter"


def _constant(op: ScalarOp, node: LoopNode, scope: _Scope) -> str | None:
    if not isinstance(op.attrs, Literal) or op.args:
        return "is not a literal"
    value = op.attrs.value
    if isinstance(value, float) is not op.dtype.is_float:
        return f"{value!r} is not a value of {op.dtype}"
    fits = isinstance(value, float) or fits_integer(value, op.dtype)
    return None if fits else f"{value} does not fit {op.dtype}"


def _index(op: ScalarOp, node: LoopNode, scope: _Scope) -> str | None:
    if not isinstance(op.attrs, IndexValue) or op.args:
        return "is not an index"
    if op.dtype.is_bool:
        return "an index is a number"
    return _index_problem(op.attrs.index, (*node.iter_axes, *node.reduce_axes), scope)


def _cast(op: ScalarOp, node: LoopNode, scope: _Scope) -> str | None:
    return None if len(op.args) == 1 and op.attrs is None else "takes one operand and no attrs"


def _matmul_problem(node: MatmulNode, target: Buffer, scope: _Scope) -> str | None:
    inner = [Axis("i", node.m), Axis("k", node.k), Axis("j", node.n)]
    problem = _axes_problem((*node.batch, *inner), scope)
    problem = problem or _load_problem(node.left, (*node.batch, inner[0], inner[1]), scope)
    problem = problem or _load_problem(node.right, (*node.batch, inner[1], inner[2]), scope)
    if problem is None and (node.left.guards or node.right.guards):
        problem = "an operand has guards"
    if problem is not None:
        return problem
    operands = [scope.readable[load.buffer].dtype for load in (node.left, node.right)]
    return _first_other(operands, target)


def _first_other(operands: Iterable[object], target: Buffer) -> str | None:
    other = next((t for t in operands if t != target.dtype), None)
    return None if other is None else f"multiplies {other} into {target.dtype} {target.name}"


Rule = Callable[[ScalarOp, LoopNode, _Scope], str | None]

_RULES: dict[str, Rule] = {
    "load": _load,
    "place": _place,
    "gather": _gather,
    "scalar": _scalar,
    "constant": _constant,
    "index": _index,
    "inside": _inside,
    "cast": _cast,
}
