"""The value of an element depends neither on its position nor on the length of the array.

For every operator and dtype of the table: arrays of 0 to 40 elements with each special value at each
position. An element's expected bits come from the loop interpreter, which computes each element alone.
Reductions and scans: rows and columns of 0 to 40 elements with a special value at each position, against the
interpreter.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from harness import Outcome, assert_same_outcome, build_module, check_text, lower, run_loops

from tensorc.api import Module
from tensorc.driver import CompileOptions
from tensorc.dtypes import F32, SUPPORTED, DType
from tensorc.interp.float_values import round_values, stored
from tensorc.interp.scalar_ops import ElementaryLibrary
from tensorc.loop_ir.program import LoopNode, LoopProgram
from tensorc.operators import OPERATORS, REDUCTIONS, SCANS, Operator

Array = npt.NDArray[Any]
LENGTHS = range(41)
FLOATS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 5e-324, 1.5, -2.5, 88.8, 3e38, 1e300)
PAIRED = (0.0, -0.0, np.inf, np.nan, 1.5, -2.5, 1e-40)
OTHER = {"logical_not": "not {x}", "bitwise_invert": "~{x}", "where": "where({x} < {y}, {x}, {z})"}
_WRITTEN = tuple(row for row in OPERATORS.values() if not row.strict)
"""The operators that a program can ask for; under math=fast some become their faster forms."""
GROUPS = tuple(itertools.product(SUPPORTED.values(), (1, 2, 3)))


def specials(dtype: DType, paired: bool) -> Array:
    """What is special in a type, as the loader takes it."""
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.is_integer:
        numbers = (0, 1, dtype.highest, dtype.lowest, 3, dtype.highest - 6, dtype.lowest + 7)
        return np.array(numbers, dtype.numpy)
    with np.errstate(over="ignore"):
        rounded = round_values(np.array(PAIRED if paired else FLOATS), dtype)
        return stored(np.asarray(rounded, dtype.carrier), dtype)


def _written(row: Operator) -> str:
    """The operator in TDSL, with places for its operands."""
    if row.name in OTHER:
        return OTHER[row.name]
    if row.symbol and row.arity == 2:
        return f"{{x}} {row.symbol} {{y}}"
    return f"{row.name}({', '.join(('{x}', '{y}', '{z}')[: row.arity])})"


def operators_of(dtype: DType, arity: int) -> dict[str, str]:
    """By name, the expressions of the operators that a dtype has."""
    rows = [r for r in _WRITTEN if r.arity == arity and dtype.domain in r.domain]
    found = {r.name: _written(r) for r in rows}
    if "power" in found and dtype.is_integer:
        found["power"] = "{x} ** ({y} & 7)"
    if "negative" in found:
        found["negative"] = "-{x}"
    return {name: text.format(x="x", y="y", z="z") for name, text in found.items()}


def kernel_text(dtype: DType, arity: int) -> str:
    """A kernel whose results are the operators, all of the same operands."""
    params = ", ".join(f"{name}: {dtype}[N]" for name in "xyz"[:arity])
    values = ", ".join(operators_of(dtype, arity).values())
    return f"kernel f({params}) {{ return {values} }}\n"


def _results(value: Any) -> tuple[Array, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize(
    ("dtype", "arity", "math"), [*((*g, "strict") for g in GROUPS), (F32, 1, "fast")], ids=lambda v: str(v)
)
def test_elementwise(
    dtype: DType, arity: int, math: str, elementary: ElementaryLibrary, tmp_path: Path
) -> None:
    names = tuple(operators_of(dtype, arity))
    if not names:
        assert arity == 3
        return
    text = kernel_text(dtype, arity)
    (program,) = check_text(text)
    loops = lower(program, "default", math)
    fast = {op.op for node in loops.nodes if isinstance(node, LoopNode) for op in node.body}
    assert (math == "fast") == any(OPERATORS[name].strict for name in fast & OPERATORS.keys())
    module = build_module(text, CompileOptions(opt_level=1, math=math), tmp_path)
    base = specials(dtype, paired=arity > 1)
    if arity == 3:
        base = base[:5]
    tuples = itertools.product(range(len(base)), repeat=arity)
    operands = tuple(base[list(positions)] for positions in zip(*tuples, strict=True))
    alone = run_loops(loops, dict(zip("xyz", operands, strict=False)), elementary)
    assert not alone.error and len(alone.results) == len(names)
    count = len(operands[0])
    for length in LENGTHS:
        # every tuple of operands comes to every position; where there are many, to every other one
        for start in range(0, count, 1 if count < 50 else 5):
            picked = (np.arange(length) + start) % count
            found = module.f(*(o[picked] for o in operands))
            expected = Outcome(tuple(r[picked] for r in alone.results))
            where = f"{names} of {dtype}, {length} elements from {start}"
            assert_same_outcome(Outcome(tuple(_results(found))), expected, where)


def test_every_operator_is_swept() -> None:
    swept = {name for dtype, arity in GROUPS for name in operators_of(dtype, arity)}
    assert swept == {row.name for row in _WRITTEN}


# -- reductions and scans ----------------------------------------------------------------------------

KINDS = {"b": ("any", "all", "sum", "max", "argmax"), "f": tuple(REDUCTIONS)}
INTEGERS = tuple(k for k in REDUCTIONS if k not in ("var", "std"))


def reductions_of(dtype: DType) -> tuple[str, ...]:
    return KINDS.get(dtype.domain, INTEGERS)


def reduction_text(dtype: DType, shape: str, axis: str) -> str:
    """Kernels of the reductions that have a value for no elements, of the others, and of the scans."""
    kinds = reductions_of(dtype)
    calls = {
        "with_identity": [f"{k}(x{axis})" for k in kinds if not REDUCTIONS[k].empty_raises],
        "without": [f"{k}(x{axis})" for k in kinds if REDUCTIONS[k].empty_raises],
        "scans": [f"cumulative_{k}(x{axis or ', axis=0'})" for k in sorted(SCANS) if not dtype.is_bool],
    }
    return "".join(
        f"kernel {name}(x: {dtype}[{shape}]) {{ return {', '.join(values)} }}\n"
        for name, values in calls.items()
        if values
    )


def _rows(dtype: DType, length: int) -> Array:
    """A row for each special value at each position, the other elements 1."""
    base = specials(dtype, paired=False)
    one = np.ones((), np.bool_) if dtype.is_bool else np.asarray(stored(np.ones(1, dtype.carrier), dtype))[0]
    if length == 0:
        return np.full((3, 0), one, base.dtype)
    rows = np.full((len(base) * length, length), one, base.dtype)
    for k, (value, at) in enumerate(itertools.product(base, range(length))):
        rows[k, at] = value
    return rows


LAYOUTS: dict[str, tuple[str, str, Callable[[Array], Array]]] = {
    "rows": ("M, N", ", axis=1", lambda x: x),
    "columns": ("N, M", ", axis=0", lambda x: np.ascontiguousarray(x.T)),
}


@pytest.mark.parametrize("dtype", SUPPORTED.values(), ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reductions(layout: str, dtype: DType, elementary: ElementaryLibrary, tmp_path: Path) -> None:
    shape, axis, turned = LAYOUTS[layout]
    text = reduction_text(dtype, shape, axis)
    module = build_module(text, CompileOptions(opt_level=1), tmp_path)
    for program in check_text(text):
        loops = lower(program, "default")
        for length in LENGTHS:
            _compare(module, program.signature.name, loops, turned(_rows(dtype, length)), elementary)


@pytest.mark.parametrize("dtype", SUPPORTED.values(), ids=str)
def test_full_reductions(dtype: DType, elementary: ElementaryLibrary, tmp_path: Path) -> None:
    text = reduction_text(dtype, "N", "")
    module = build_module(text, CompileOptions(opt_level=1), tmp_path)
    for program in check_text(text):
        loops = lower(program, "default")
        for length in LENGTHS:
            rows = _rows(dtype, length)
            for row in rows[:: max(1, len(rows) // 4)]:
                _compare(module, program.signature.name, loops, row, elementary)


def _compare(module: Module, name: str, loops: LoopProgram, x: Array, elementary: ElementaryLibrary) -> None:
    expected = run_loops(loops, {"x": x}, elementary)
    try:
        found = Outcome(tuple(_results(module[name](x))))
    except ValueError:
        found = Outcome((), "ValueError")
    assert_same_outcome(found, expected, f"{name} of {x.dtype}{list(x.shape)}")
