"""Simplify a TensorProgram: fold constants, apply exact rewrites, merge common ops, drop dead ops.

*Requires* a verified program. *Ensures* the same results bit for bit (NaN for NaN): only rewrites that the
language contract, section 4, calls exact. So no `x * 0`, no `x - x`, no reassociation. Parameters stay,
used or not: they are the kernel's signature.

*Rewrite*: the table `_RULES`, tried in order on every op, operands first; each rule's docstring shows
before -> after. (Constant folding, algebraic simplification, CSE, DCE elsewhere.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from tensorc.dtypes import COMPUTES_IN, holds
from tensorc.index_algebra import ZERO, Poly, Sym, axis
from tensorc.operators import OPERATORS
from tensorc.tensor_ir.constant_fold import Number, fold_cast, fold_operator, round_to
from tensorc.tensor_ir.program import (
    EQUAL_SIZES,
    Attrs,
    Concat,
    Constant,
    Gather,
    Reduce,
    SizeValue,
    TensorOp,
    TensorProgram,
    View,
)


def simplify_program(p: TensorProgram) -> TensorProgram:
    """The simplified program; `p` itself when nothing changes."""
    build = _Builder()
    renamed: list[int] = []
    for op in p.ops:
        operands = tuple(renamed[k] for k in op.operands)
        renamed.append(build.add(op if operands == op.operands else replace(op, operands=operands)))
    ops, results = _drop_dead_ops(build.ops, tuple(renamed[k] for k in p.results))
    if len(ops) == len(p.ops) and results == p.results and all(map(_is, ops, p.ops)):
        return p
    return replace(p, ops=ops, results=results)


def _is(a: TensorOp, b: TensorOp) -> bool:
    return a is b


def _drop_dead_ops(
    ops: list[TensorOp], results: tuple[int, ...]
) -> tuple[tuple[TensorOp, ...], tuple[int, ...]]:
    """Keep what the results need, and every parameter; number the values anew."""
    live = [op.op == "param" for op in ops]
    for k in results:
        live[k] = True
    for k in range(len(ops) - 1, -1, -1):
        if live[k]:
            for operand in ops[k].operands:
                live[operand] = True
    position: dict[int, int] = {}
    kept: list[TensorOp] = []
    for k, op in enumerate(ops):
        if not live[k]:
            continue
        operands = tuple(position[o] for o in op.operands)
        position[k] = len(kept)
        kept.append(op if operands == op.operands else replace(op, operands=operands))
    return tuple(kept), tuple(position[k] for k in results)


class _Builder:
    """The ops written so far, without two equal ones."""

    def __init__(self) -> None:
        self.ops: list[TensorOp] = []
        self._known: dict[tuple[object, ...], int] = {}

    def add(self, op: TensorOp) -> int:
        """The value of `op` after all rewrites: an existing one or a new one."""
        changed: TensorOp | int | None = op
        while isinstance(changed, TensorOp):
            op = changed
            changed = self._rewrite_once(op)
        if changed is not None:
            return changed
        key = (op.op, op.operands, _attrs_key(op.attrs), op.dtype, op.shape)
        found = self._known.get(key)
        if found is None:
            self._known[key] = found = len(self.ops)
            self.ops.append(op)
        elif (op.name and not self.ops[found].name) or (op.pin and not self.ops[found].pin):
            known = self.ops[found]
            self.ops[found] = replace(known, name=known.name or op.name, pin=known.pin or op.pin)
        return found

    def _rewrite_once(self, op: TensorOp) -> TensorOp | int | None:
        for rule in _RULES:
            changed = rule(self, op)
            if changed is not None:
                return changed
        return None

    def splat(self, value: int) -> Number | None:
        """The constant that every element of `value` is, if it is a constant or a view of one."""
        op = self.ops[value]
        if op.op == "view":
            op = self.ops[op.operands[0]]
        return op.attrs.value if isinstance(op.attrs, Constant) else None

    def add_splat(self, number: Number, like: TensorOp) -> int | TensorOp:
        """An array of `number` with the type and the place of `like`."""
        scalar = replace(like, op="constant", operands=(), attrs=Constant(number), shape=())
        if not like.shape:
            return scalar
        constant = self.add(replace(scalar, name=""))
        return replace(like, op="view", operands=(constant,), attrs=View("broadcast_to", ()))


def _attrs_key(attrs: Attrs) -> object:
    match attrs:
        case Constant(value=float() as value):
            return value.hex(), math.copysign(1.0, value)  # hex() writes no sign of a NaN
        case Constant(value=value):
            return value
        case View(_, index):
            return index
        case Gather(_, places):
            return places
        case Reduce(kind, axes, correction):
            return kind, axes, correction
        case _:
            return attrs


Rule = Callable[[_Builder, TensorOp], TensorOp | int | None]


def fold_size(build: _Builder, op: TensorOp) -> TensorOp | None:
    """`size (64)` -> `constant 64`"""
    if not isinstance(op.attrs, SizeValue) or op.attrs.size.constant is None:
        return None
    return replace(op, op="constant", attrs=Constant(round_to(op.attrs.size.constant, op.dtype)))


def fold_constants(build: _Builder, op: TensorOp) -> TensorOp | int | None:
    """`add 1 2` -> `3`, also on arrays of one value; what only the runtime fixes is left to it."""
    if op.op != "cast" and op.op not in OPERATORS:
        return None
    values: list[Number] = []
    for k in op.operands:
        number = build.splat(k)
        if number is None:
            return None
        values.append(number)
    if op.op == "cast":
        return build.add_splat(fold_cast(values[0], op.dtype), op)
    folded = fold_operator(op.op, values, build.ops[op.operands[-1]].dtype, op.dtype)
    return None if folded is None else build.add_splat(folded, op)


def drop_identity_view(build: _Builder, op: TensorOp) -> int | None:
    """`view %0 [i0, i1]` of the same shape -> `%0`"""
    if not isinstance(op.attrs, View) or op.shape != build.ops[op.operands[0]].shape:
        return None
    same = op.attrs.index == tuple(axis(f"i{k}") for k in range(len(op.shape)))
    return op.operands[0] if same else None


def compose_views(build: _Builder, op: TensorOp) -> TensorOp | None:
    """`view (view %0 [g]) [f]` -> `view %0 [g after f]`"""
    if not isinstance(op.attrs, View):
        return None
    source = build.ops[op.operands[0]]
    if not isinstance(source.attrs, View) or source.attrs.kind == EQUAL_SIZES:
        return None
    outer: dict[Sym, Poly] = {Sym(f"i{k}", axis=True): f for k, f in enumerate(op.attrs.index)}
    index = tuple(g.substitute(outer) for g in source.attrs.index)
    return replace(op, operands=source.operands, attrs=View(op.attrs.kind, index))


def flatten_concat(build: _Builder, op: TensorOp) -> TensorOp | int | None:
    """`concat (concat %0 %1) %2` along one axis -> `concat %0 %1 %2`; `concat %0` -> `%0`; empty ones go"""
    if not isinstance(op.attrs, Concat):
        return None
    parts: list[int] = []
    for k in op.operands:
        source = build.ops[k]
        parts.extend(source.operands if source.attrs == op.attrs and not source.pin else (k,))
    full = [k for k in parts if build.ops[k].shape[op.attrs.axis] != ZERO] or parts[:1]
    if len(full) == 1:
        return full[0]
    return None if tuple(full) == op.operands else replace(op, operands=tuple(full))


def drop_cast(build: _Builder, op: TensorOp) -> TensorOp | int | None:
    """`cast %0` to its own dtype -> `%0`; `cast (cast %0)` -> `cast %0` when the inner one loses nothing"""
    if op.op != "cast":
        return None
    source = build.ops[op.operands[0]]
    if source.dtype == op.dtype:
        return op.operands[0]
    if source.op != "cast":
        return None
    inner = build.ops[source.operands[0]]
    lossless = holds(source.dtype, inner.dtype) and not source.dtype.is_bool
    if inner.dtype.is_integer and source.dtype.is_float and op.dtype.is_integer:
        lossless = lossless and holds(op.dtype, inner.dtype)  # out of range floats saturate, integers wrap
    return replace(op, operands=source.operands) if lossless else None


def drop_neutral_operand(build: _Builder, op: TensorOp) -> int | None:
    """`x * 1`, `x / 1`, `x + -0.0`, `x - 0.0`, integer `x + 0`, `x // 1`, ... -> `x`

    `x + 0.0` is not among them: it turns -0.0 into 0.0.
    """
    if len(op.operands) != 2:
        return None
    left, right = op.operands
    dtype = build.ops[left].dtype
    kind = dtype.domain
    if _is_neutral(build.splat(right), _NEUTRAL_RIGHT.get((op.op, kind))):
        return left
    if op.op in ("add", "multiply") and _is_neutral(build.splat(left), _NEUTRAL_RIGHT.get((op.op, kind))):
        return right
    return None


_NEUTRAL_RIGHT: dict[tuple[str, str], Number] = {
    ("add", "f"): -0.0,
    ("add", "i"): 0,
    ("add", "b"): 0,
    ("subtract", "f"): 0.0,
    ("subtract", "i"): 0,
    ("multiply", "f"): 1.0,
    ("multiply", "i"): 1,
    ("multiply", "b"): 1,
    ("divide", "f"): 1.0,
    ("floor_divide", "i"): 1,
    ("left_shift", "i"): 0,
    ("right_shift", "i"): 0,
    ("bitwise_or", "i"): 0,
    ("bitwise_xor", "i"): 0,
    ("bitwise_or", "b"): 0,
    ("bitwise_xor", "b"): 0,
    ("logical_or", "b"): 0,
    ("logical_and", "b"): 1,
}


def _is_neutral(value: Number | None, neutral: Number | None) -> bool:
    if value is None or neutral is None or value != neutral:
        return False
    return math.copysign(1.0, value) == math.copysign(1.0, neutral)


def drop_double_inverse(build: _Builder, op: TensorOp) -> int | None:
    """`-(-x)`, `~~x`, `not not x` -> `x`"""
    if op.op not in ("negative", "bitwise_invert", "logical_not"):
        return None
    source = build.ops[op.operands[0]]
    return source.operands[0] if source.op == op.op else None


def choose_where(build: _Builder, op: TensorOp) -> int | None:
    """`where true x y` -> `x`; `where c x x` -> `x`"""
    if op.op != "where":
        return None
    condition, chosen, other = op.operands
    if chosen == other:
        return chosen
    value = build.splat(condition)
    if value is None:
        return None
    return chosen if value else other


def multiply_by_reciprocal(build: _Builder, op: TensorOp) -> TensorOp | None:
    """`x / 8.0` -> `x * 0.125`: for a power of two both round the same real number"""
    if op.op != "divide" or op.dtype in COMPUTES_IN:
        return None
    divisor = build.splat(op.operands[1])
    if divisor is None or not math.isfinite(divisor) or abs(math.frexp(divisor)[0]) != 0.5:
        return None
    # the reciprocal must be a normal number; that of a subnormal divisor may overflow
    smallest, largest = (-126, 126) if op.dtype.size == 4 else (-1022, 1022)
    if not smallest <= math.frexp(divisor)[1] - 1 <= largest:
        return None
    splat = build.add_splat(1.0 / divisor, replace(op, name=""))
    reciprocal = splat if isinstance(splat, int) else build.add(splat)
    return replace(op, op="multiply", operands=(op.operands[0], reciprocal))


def divide_by_power_of_two(build: _Builder, op: TensorOp) -> TensorOp | None:
    """Integer `x // 8` -> `x >> 3`, `x % 8` -> `x & 7`: both round down, also below 0"""
    if op.op not in ("floor_divide", "remainder") or not op.dtype.is_integer or op.dtype in COMPUTES_IN:
        return None
    divisor = build.splat(op.operands[1])
    if not isinstance(divisor, int) or divisor < 2 or divisor & (divisor - 1):
        return None
    quotient = op.op == "floor_divide"
    splat = build.add_splat(divisor.bit_length() - 1 if quotient else divisor - 1, replace(op, name=""))
    other = splat if isinstance(splat, int) else build.add(splat)
    return replace(op, op="right_shift" if quotient else "bitwise_and", operands=(op.operands[0], other))


def expand_power(build: _Builder, op: TensorOp) -> TensorOp | int | None:
    """`x ** 1` -> `x`; `x ** 2` -> `square x`, which rounds the exact square once"""
    if op.op != "power":
        return None
    exponent = build.splat(op.operands[1])
    if exponent == 1:
        return op.operands[0]
    return replace(op, op="square", operands=op.operands[:1]) if exponent == 2 else None


_RULES: tuple[Rule, ...] = (
    fold_size,
    fold_constants,
    drop_identity_view,
    compose_views,
    flatten_concat,
    drop_cast,
    drop_neutral_operand,
    drop_double_inverse,
    choose_where,
    multiply_by_reciprocal,
    divide_by_power_of_two,
    expand_power,
)
