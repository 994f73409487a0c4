"""Results written over an input: the bits of a fresh run where it is allowed, refused elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tensorc.api import Module, load_unit
from tensorc.driver import CompileOptions, compile_text
from tensorc.loop_schedule.aliasing import may_overwrite, safe_inputs
from tensorc.source import Source

# for each kernel the pairs (result, parameter) that are allowed
ROW_MAX = "max(x, axis=1, keepdims=true)"
ROW_SUM = "sum(e, axis=1, keepdims=true)"
ROW_MEAN = "mean(x, axis=1, keepdims=true)"
KERNELS: dict[str, tuple[str, set[tuple[int, int]]]] = {
    "chain": ("(x: f32[N, D]) { return sin(x) * 2 + x }", {(0, 0)}),
    "two": ("(x: f32[N, D], y: f32[N, D]) { return x + y, x - y }", {(0, 0), (0, 1), (1, 0), (1, 1)}),
    "softmax": (f"(x: f32[N, D]) {{ e = exp(x - {ROW_MAX}); return e / {ROW_SUM} }}", {(0, 0)}),
    "norm": (f"(x: f32[N, D]) {{ return (x - {ROW_MEAN}) / std(x, axis=1, keepdims=true) }}", {(0, 0)}),
    "residual": (f"(x: f32[N, D], y: f32[N, D]) {{ return y + softplus2(x) - {ROW_MAX} }}", {(0, 0), (0, 1)}),
    "copy": ("(x: f32[N, D], y: f32[N, D]) { return x }", {(0, 0), (0, 1)}),
    "unread": ("(x: f32[N, D], y: f32[N, D]) { return x * 0.5 }", {(0, 0), (0, 1)}),
    "shared_row": ("(x: f32[N, D], r: f32[D]) { return x + r }", {(0, 0)}),
    "map_and_sum": ("(x: f32[N, D]) { y = sin(x); return y, sum(y) }", {(0, 0)}),
    "map_and_var": ("(x: f32[N, D]) { y = sin(x); return y, var(y) }", {(0, 0)}),
    "wall": ("(x: f32[N, D]) { return x / sum(x) }", {(0, 0)}),
    "col_center": ("(x: f32[N, D]) { return x - mean(x, axis=0) }", {(0, 0)}),
    # another thread, or a later step, still reads what would be overwritten
    "first_element": ("(x: f32[N, D]) { return x - x[0, 0] }", set()),
    "first_row": ("(x: f32[N, D]) { return x - x[0] }", set()),
    "last_in_rows": ("(x: f32[N, D]) { return x - mean(x, axis=1, keepdims=true) + x[0, 0] }", set()),
    "square_t": ("(x: f32[N, N]) { return x + x.T }", set()),
    "rolled": ("(x: f32[N, D]) { return roll(x, 1, axis=0), roll(x, 1, axis=1) + x }", set()),
    "reversed": ("(x: f32[N, D]) { return x[:, ::-1] }", set()),
    "product": ("(x: f32[N, N], y: f32[N, N]) { return x @ y }", set()),
    "product_then": ("(x: f32[N, N], y: f32[N, N]) { return x @ y + x }", {(0, 0), (0, 1)}),
    "sums": ("(r: f32[N], x: f32[N, N]) { return sum(x, axis=1) + r[0], sum(x, axis=0) }", set()),
    "other_dtype": ("(x: f64[N, D]) { return f32(x) }", set()),
    "other_shape": ("(x: f32[N, D]) { return x.T + 1 }", set()),
}  # fmt: skip
TEXT = "def softplus2(x) = log1p(exp(x))\n" + "".join(f"kernel {n}{t}\n" for n, (t, _) in KERNELS.items())
SIZES = ({"N": 5, "D": 7}, {"N": 1, "D": 1}, {"N": 600, "D": 600}, {"N": 8, "D": 70000})
OPTIONS = CompileOptions(target="native", opt_level=1)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    return load_unit(Source("aliasing", TEXT), OPTIONS, tmp_path_factory.mktemp("aliasing"))


def pairs(module: Module, kernel: str) -> set[tuple[int, int]]:
    program = next(p for p in module.unit.nests if p.signature.name == kernel)
    return {(k, p) for k, allowed in enumerate(safe_inputs(program)) for p in allowed}


@pytest.mark.parametrize("kernel", KERNELS)
def test_which_results_may_be_which_inputs(module: Module, kernel: str) -> None:
    assert pairs(module, kernel) == KERNELS[kernel][1]


def _arguments(module: Module, kernel: str, sizes: dict[str, int]) -> list[npt.NDArray[Any]]:
    signature = next(p.signature for p in module.unit.nests if p.signature.name == kernel)
    random = np.random.default_rng(7)
    return [
        random.standard_normal([s.evaluate(sizes) for s in p.shape]).astype(p.dtype.numpy)
        for p in signature.params
    ]


def _results(found: Any) -> tuple[npt.NDArray[Any], ...]:
    return tuple(found) if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", [k for k, (_, allowed) in KERNELS.items() if allowed])
def test_in_place_has_the_bits_of_a_fresh_run(module: Module, kernel: str, threads: int) -> None:
    call = module[kernel]
    for sizes in SIZES:
        if "N, N" in KERNELS[kernel][0] and sizes["N"] == 600:
            continue
        fresh = _results(call(*_arguments(module, kernel, sizes), threads=threads))
        for result, param in sorted(KERNELS[kernel][1]):
            for _ in range(3 if sizes["N"] == 600 else 1):
                arguments = _arguments(module, kernel, sizes)
                out = [np.empty_like(r) for r in fresh]
                out[result] = arguments[param]
                given = tuple(out) if len(out) > 1 else out[0]
                found = _results(call(*arguments, out=given, threads=threads))
                assert found[result] is arguments[param]
                for got, want in zip(found, fresh, strict=True):
                    assert got.tobytes() == want.tobytes(), (sizes, result, param)


def test_two_results_over_two_inputs(module: Module) -> None:
    x, y = _arguments(module, "two", {"N": 600, "D": 600})
    total, difference = x + y, x - y
    module["two"](x, y, out=(y, x), threads=2)
    assert np.array_equal(y, total)
    assert np.array_equal(x, difference)


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_not_allowed_is_refused(module: Module, kernel: str) -> None:
    """Nothing is written; other overlaps than an exact one are always refused."""
    sizes = {"N": 5, "D": 5}
    arguments = _arguments(module, kernel, sizes)
    fresh = _results(module[kernel](*arguments))
    before = [a.tobytes() for a in arguments]
    for result, r in enumerate(fresh):
        for param, a in enumerate(arguments):
            if a.shape != r.shape or a.dtype != r.dtype or (result, param) in KERNELS[kernel][1]:
                continue
            out = [np.empty_like(f) for f in fresh]
            out[result] = a
            with pytest.raises(ValueError, match="out"):
                module[kernel](*arguments, out=tuple(out) if len(out) > 1 else out[0])
    assert [a.tobytes() for a in arguments] == before


def test_shifted_overlap_is_refused(module: Module) -> None:
    memory = np.zeros(40, np.float32)
    x, out = memory[:35].reshape(5, 7), memory[5:].reshape(5, 7)
    with pytest.raises(ValueError, match="out"):
        module["chain"](x, out=out)


def test_may_overwrite_asks_the_loops() -> None:
    def check(text: str) -> bool:
        (program,) = compile_text(Source("t", text), CompileOptions(until="loops")).nests
        (nest,) = program.nests
        return may_overwrite(nest, "x", next(b.name for b in program.buffers if b.result == 0))

    assert check("kernel f(x: f32[N]) { return x + 1 }")
    assert check("kernel f(x: f32[N], y: f32[N]) { return y + 1 }")
    assert check("kernel f(x: f32[B, N, D]) { return x - max(x, axis=2, keepdims=true) }")
    assert not check("kernel f(x: f32[N]) { return x + x[::-1] }")
    assert not check("kernel f(x: f32[N]) { return x + x[0] }")
    assert not check("kernel f(x: f32[N], y: f32[N, N]) { return sum(y * x, axis=1) }")
    assert not check("kernel f(x: f32[N], y: f32[N, N]) { return sum(y * x[:, None], axis=0) }")
    # both results are of one sweep, which reads an element before it stores there
    assert check(f"kernel f(x: f32[N, D]) {{ return broadcast_to({ROW_MAX}, (N, D)), x - {ROW_MAX} }}")
    # here the second sweep reads what the first has stored over
    text = f"y = x - {ROW_MAX}; return y, x / sum(exp(y), axis=1, keepdims=true)"
    assert not check(f"kernel f(x: f32[N, D]) {{ {text} }}")
