"""Interpret a TensorProgram with NumPy: the oracle that compiled kernels are checked against.

Two modes. `reference` carries every float value in float64 and does not round it, so the result is what exact
arithmetic gives, nearly. `exact` rounds after each operation as the kernel does: what IEEE 754 fixes has the
kernel's bits, and decisions (comparisons, casts to integers) fall as they do there.
In both a value beyond the range of its type is infinite. An operation on f16 or bf16 is one on f32, whose
result is rounded to the type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tensorc.dtypes import I64, DType, computation_type, holds
from tensorc.errors import IRError
from tensorc.index_algebra import Poly
from tensorc.interp.binding import BoundCall, bind_arguments
from tensorc.interp.error_bounds import (
    EXACT,
    ROUNDED_EXACTLY,
    Approx,
    Bounds,
    cast_bound,
    half_ulps_of,
    propagated_bound,
    representable,
    rounding_error,
)
from tensorc.interp.float_values import round_values
from tensorc.interp.indices import evaluate_index, index_mesh
from tensorc.interp.reduction_bounds import matmul_bound, reduction_bound
from tensorc.interp.tensor_reductions import apply_reduction, merge_axes
from tensorc.interp.tensor_scans import apply_scan, scan_bound
from tensorc.interp.tensor_values import Values, apply_operator, cast_values
from tensorc.tensor_ir.program import (
    Concat,
    Constant,
    Gather,
    ParamRef,
    Reduce,
    Scan,
    SizeValue,
    TensorOp,
    TensorProgram,
    View,
)

Mode = Literal["reference", "exact"]


def _overflow(dtype: DType) -> float:
    """The smallest magnitude that rounds to infinity in a type narrower than f64."""
    return float(np.ldexp(2.0 - np.ldexp(1.0, -dtype.precision), dtype.max_exponent))


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first element, in row-major order, where a result is outside its bound."""

    index: tuple[int, ...]
    result: int | float | bool
    expected: int | float | bool
    bound: float

    def __str__(self) -> str:
        place = ", ".join(map(str, self.index))
        return f"[{place}] is {self.result!r}, expected {self.expected!r} within {self.bound:.3g}"


def interpret(
    program: TensorProgram, arrays: Mapping[str, object], mode: Mode = "reference"
) -> tuple[npt.NDArray[Any], ...]:
    """The results, float results as float64 arrays (in `exact` mode they hold values of their dtype).

    Raises:
        TypeError, ValueError: as `bind_arguments`; ValueError also for an integer to a negative power.
        IndexError: a gather's index is out of range.
    """
    return tuple(a.value for a in _Run(program, arrays, mode, with_bounds=False).results())


def interpret_with_bounds(
    program: TensorProgram, arrays: Mapping[str, object], mode: Mode = "reference"
) -> tuple[tuple[npt.NDArray[Any], ...], tuple[Bounds, ...]]:
    """The results, and for each element of each how far a compiled kernel's may be from it."""
    found = _Run(program, arrays, mode, with_bounds=True).results()
    return tuple(a.value for a in found), tuple(np.broadcast_to(a.bound, a.value.shape) for a in found)


def compare(result: npt.NDArray[Any], value: npt.NDArray[Any], bound: Bounds) -> Mismatch | None:
    """The first element of `result` farther from `value` than `bound`; NaN equals NaN, -0 equals 0.

    Raises:
        ValueError: the shapes differ.
    """
    if result.shape != value.shape:
        raise ValueError(f"result has shape {result.shape}, expected {value.shape}")
    if value.dtype.kind != "f":
        good = (result == value) | (bound > 0)
    else:
        with np.errstate(all="ignore"):
            distance = np.abs(result.astype(np.float64) - value)
        good = (result == value) | (np.isnan(result) & np.isnan(value)) | np.isinf(bound)
        good = good | (np.isfinite(value) & (distance <= bound))
    if good.all():
        return None
    index = tuple(int(k) for k in np.argwhere(~good)[0])
    return Mismatch(index, result[index].item(), value[index].item(), float(bound[index]))


class _Run:
    """One evaluation: the values computed so far, by number."""

    def __init__(
        self, program: TensorProgram, arrays: Mapping[str, object], mode: Mode, with_bounds: bool
    ) -> None:
        self._program = program
        self._mode = mode
        self._with_bounds = with_bounds
        self._call: BoundCall = bind_arguments(program.signature, arrays)
        self._known: list[Approx | None] = []

    def results(self) -> tuple[Approx, ...]:
        last_use = {k: n for n, op in enumerate(self._program.ops) for k in op.operands}
        kept = frozenset(self._program.results)
        with np.errstate(all="ignore"):
            for n, op in enumerate(self._program.ops):
                self._known.append(self._evaluate(op))
                for k in op.operands:
                    if last_use[k] == n and k not in kept:
                        self._known[k] = None
        return tuple(self._value(k) for k in self._program.results)

    def _value(self, k: int) -> Approx:
        found = self._known[k]
        assert found is not None, "a value is kept until its last use"
        return found

    def _evaluate(self, op: TensorOp) -> Approx:
        shape = self._call.shape(op.shape)
        args = [self._value(k) for k in op.operands]
        match op.attrs:
            case ParamRef(position):
                found = Approx(_carried(self._call.arguments[position], op.dtype), EXACT)
            case Constant(value=value):
                found = Approx(_carried(np.asarray(value, op.dtype.carrier), op.dtype), EXACT)
            case SizeValue(size):
                number = np.asarray(size.evaluate(self._call.dims), np.int64)
                found = Approx(cast_values(number, I64, op.dtype), EXACT)
            case View():
                found = self._view(op.attrs, args[0], shape)
            case Concat(axis):
                found = _join(args, axis)
            case Gather():
                found = self._gather(op.attrs, args, shape)
            case Reduce():
                found = self._reduce(op, op.attrs, args[0])
            case Scan(kind, axis):
                found = self._scan(op, kind, axis, args[0])
            case None if op.op == "reshape":
                bound = args[0].bound
                whole = bound.reshape(shape) if bound.ndim else bound
                found = Approx(args[0].value.reshape(shape), whole)
            case None:
                found = self._compute(op, args, shape)
        if found.value.shape != shape:
            raise IRError(f"{op.op} at {op.span}", f"gave shape {found.value.shape}, not {shape}")
        return found

    def _view(self, view: View, source: Approx, shape: tuple[int, ...]) -> Approx:
        if 0 in shape:
            return Approx(np.empty(shape, source.value.dtype), EXACT)
        mesh = index_mesh([f"i{k}" for k in range(len(shape))], shape)
        at = tuple(evaluate_index(p, mesh, self._call.dims) for p in view.index)
        for k, (index, extent) in enumerate(zip(at, source.value.shape, strict=True)):
            if index.min() < 0 or index.max() >= extent:
                raise IRError(f"view {view.kind}", f"index {view.index[k]} leaves the axis of {extent}")
        value = np.broadcast_to(source.value[at], shape)
        bound = np.broadcast_to(source.bound, source.value.shape)[at] if source.bound.ndim else source.bound
        return Approx(value, np.broadcast_to(bound, shape) if bound.ndim else bound)

    def _gather(self, gather: Gather, args: Sequence[Approx], shape: tuple[int, ...]) -> Approx:
        source = args[0]
        if 0 in shape:
            return Approx(np.empty(shape, source.value.dtype), EXACT)
        mesh = index_mesh([f"i{k}" for k in range(len(shape))], shape)
        at: list[Values] = []
        for place, extent in zip(gather.places, source.value.shape, strict=True):
            if isinstance(place, Poly):
                at.append(evaluate_index(place, mesh, self._call.dims))
                continue
            index = args[place.operand].value
            index = np.where(index < 0, index + extent, index) if place.wraps else index
            if ((index < 0) | (index >= extent)).any():
                if not place.checked:
                    raise IRError(f"gather {gather.kind}", f"an index leaves the axis of {extent}")
                raise IndexError(place.message)
            at.append(index)
        value = np.broadcast_to(source.value[tuple(at)], shape)
        if not source.bound.ndim:
            return Approx(value, source.bound)
        spread = np.broadcast_to(source.bound, source.value.shape)
        return Approx(value, np.broadcast_to(spread[tuple(at)], shape))

    def _reduce(self, op: TensorOp, attrs: Reduce, x: Approx) -> Approx:
        merged = merge_axes(x.value, attrs.axes)
        raw = apply_reduction(attrs, merged)
        bound = EXACT
        if self._with_bounds:
            spread = merge_axes(np.broadcast_to(x.bound, x.value.shape), attrs.axes)
            bound = reduction_bound(attrs, Approx(merged, spread), raw, computation_type(op.dtype))
        half_ulps = 1 if attrs.kind in ("var", "std") else 0  # the others' bounds hold their roundings
        rounds = attrs.kind not in ("max", "min")
        return self._settle(raw, bound, half_ulps, op.dtype, fixed=False, rounds=rounds)

    def _scan(self, op: TensorOp, kind: str, axis: int, x: Approx) -> Approx:
        if x.value.size == 0:
            return Approx(x.value, EXACT)
        moved = np.moveaxis(x.value, axis, -1)
        raw = apply_scan(kind, moved)
        bound = EXACT
        if self._with_bounds:
            spread = np.moveaxis(np.broadcast_to(x.bound, x.value.shape), axis, -1)
            bound = scan_bound(kind, Approx(moved, spread), raw, computation_type(op.dtype))
        # maxima are not rounded, sums of f32 once, within their bound
        half_ulps = 1 if kind == "prod" and computation_type(op.dtype).size == 4 else 0
        rounds = kind in ("sum", "prod")
        found = self._settle(raw, bound, half_ulps, op.dtype, fixed=False, rounds=rounds)
        whole = np.broadcast_to(found.bound, raw.shape)
        return Approx(np.moveaxis(found.value, -1, axis), np.moveaxis(whole, -1, axis))

    def _compute(self, op: TensorOp, args: Sequence[Approx], shape: tuple[int, ...]) -> Approx:
        if op.op == "iota":
            return Approx(np.arange(shape[0], dtype=np.int64), EXACT)
        if op.op == "cast":
            return self._cast(op, args[0])
        if op.op == "matmul":
            raw = np.matmul(args[0].value, args[1].value)
            bound = (
                matmul_bound(args[0], args[1], raw, computation_type(op.dtype))
                if self._with_bounds
                else EXACT
            )
            return self._settle(raw, bound, 0, op.dtype, fixed=False, rounds=True)
        raw = apply_operator(op.op, [a.value for a in args])
        bound = propagated_bound(op.op, args, raw) if self._with_bounds else EXACT
        half_ulps = half_ulps_of(op.op, computation_type(op.dtype)) if op.dtype.is_float else 0
        return self._settle(raw, bound, half_ulps, op.dtype, fixed=not half_ulps or op.op in ROUNDED_EXACTLY)

    def _cast(self, op: TensorOp, x: Approx) -> Approx:
        source = self._program.ops[op.operands[0]].dtype
        raw = cast_values(x.value, source, op.dtype)
        bound = cast_bound(x, raw, source, op.dtype) if self._with_bounds else EXACT
        half_ulps = 1 if op.dtype.is_float and source.is_float and not holds(op.dtype, source) else 0
        return self._round(raw, bound, half_ulps, op.dtype, fixed=True)

    def _settle(
        self, raw: Values, bound: Bounds, half_ulps: float, dtype: DType, fixed: bool, rounds: bool = False
    ) -> Approx:
        """Bring a raw result into its dtype, by way of the one it is computed in.

        `fixed`: the operation's rounded result follows from its operands to the bit. `rounds`: its bound
        holds roundings, also where `half_ulps` is 0.
        """
        wide = computation_type(dtype)
        found = self._round(raw, bound, half_ulps, wide, fixed)
        if wide == dtype or not dtype.is_float:
            return found
        return self._round(found.value, found.bound, 1 if half_ulps or rounds else 0, dtype, fixed=True)

    def _round(self, raw: Values, bound: Bounds, half_ulps: float, dtype: DType, fixed: bool) -> Approx:
        """Round a raw result to its dtype and add the rounding error to the propagated `bound`."""
        if not dtype.is_float:
            return Approx(raw, bound)
        value = _in_range(raw, dtype)
        if self._mode == "exact":
            value = round_values(value, dtype)
        if not self._with_bounds:
            return Approx(value, EXACT)
        error = rounding_error(np.abs(raw) + bound, half_ulps, dtype)
        if not fixed:
            bound = bound + error + _distance_of_finite(value, raw)
        elif half_ulps:
            known = bound == 0 if self._rounds_alike(dtype) else (bound == 0) & representable(raw, dtype)
            bound = np.where(known, 0.0, bound + error + _distance_of_finite(value, raw))
        return Approx(value, _overflow_doubt(raw, value, bound, dtype))

    def _rounds_alike(self, dtype: DType) -> bool:
        """True when this interpreter rounds as the kernel does: always in f64."""
        return self._mode == "exact" or dtype.size == 8


def _join(parts: Sequence[Approx], axis: int) -> Approx:
    value = np.concatenate([p.value for p in parts], axis=axis)
    if all(p.exact for p in parts):
        return Approx(value, EXACT)
    bounds = [np.broadcast_to(p.bound, p.value.shape) for p in parts]
    return Approx(value, np.concatenate(bounds, axis=axis))


def _distance_of_finite(a: Values, b: Values) -> Bounds:
    return np.where(np.isfinite(a) & np.isfinite(b), np.abs(a - b), 0.0)


def _carried(array: npt.NDArray[Any], dtype: DType) -> Values:
    return array.astype(np.float64) if dtype.is_float else array


def _in_range(value: Values, dtype: DType) -> Values:
    if dtype.size == 8:
        return value
    return np.where(np.abs(value) >= _overflow(dtype), np.copysign(np.inf, value), value)


def _overflow_doubt(raw: Values, value: Values, bound: Bounds, dtype: DType) -> Bounds:
    """Infinite where the kernel's value may or may not overflow; 0 where it surely does."""
    if dtype.size == 8:
        return np.where(np.isfinite(value) & ~np.isfinite(np.abs(value) + bound), np.inf, bound)
    certain = (np.abs(raw) - bound >= _overflow(dtype)) | (bound == 0)
    near = np.abs(raw) + bound >= _overflow(dtype)
    settled = np.where(np.isfinite(value), bound, np.where(np.isfinite(raw), 0.0, bound))
    return np.where(near & np.isfinite(raw) & ~certain, np.inf, settled)
