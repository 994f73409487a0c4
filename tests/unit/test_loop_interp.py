from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tensorc.diagnostics.model import DiagnosticBag
from tensorc.errors import IRError
from tensorc.index_algebra import axis, dim
from tensorc.interp.elementary_library import ElementaryLibrary
from tensorc.interp.loop_interp import interpret_loops
from tensorc.interp.matmul_tree import multiply_matrices
from tensorc.loop_ir.program import LoopNode, LoopProgram
from tensorc.loop_ir.verify import verify_loop_program
from tensorc.lowering.lower import lower_program
from tensorc.sema.check import check_file
from tensorc.source import Source
from tensorc.syntax.parser import parse_file
from tensorc.tensor_ir.simplify import simplify_program
from tensorc.tensor_ir.widen import widen_program

RNG = np.random.default_rng(11)


@pytest.fixture(scope="module")
def elementary(tmp_path_factory: pytest.TempPathFactory) -> ElementaryLibrary:
    return ElementaryLibrary.build(tmp_path_factory.mktemp("elementary"))


def _lower(kernel: str, policy: str = "default") -> LoopProgram:
    bag = DiagnosticBag()
    (program,) = check_file(parse_file(Source("test", f"{kernel}\n"), bag), bag)
    bag.raise_if_errors()
    loops = lower_program(simplify_program(widen_program(program)), policy)
    verify_loop_program(loops)
    return loops


def _data(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def test_pointwise_has_the_bits_of_f32_arithmetic(elementary: ElementaryLibrary) -> None:
    x, y = _data(5, 9), _data(9)
    loops = _lower("kernel k(x: f32[N, M], y: f32[M]) { return (x * y + 0.1) / x, x[::-1, 1:] }")
    (first, second), _ = interpret_loops(loops, {"x": x, "y": y}, elementary)
    np.testing.assert_array_equal(first, (x * y + np.float32(0.1)) / x)
    np.testing.assert_array_equal(second, x[::-1, 1:])


def test_elementary_functions_are_the_runtimes(elementary: ElementaryLibrary) -> None:
    x = _data(37)
    loops = _lower("kernel k(x: f32[N]) { return exp(x) }")
    (found,), _ = interpret_loops(loops, {"x": x}, elementary)
    assert found.dtype == np.float32
    ulps = np.abs(found - np.exp(x.astype(np.float64))) / np.spacing(found)
    assert ulps.max() < 1.0


def test_accesses_of_a_reduction_and_its_epilogue(elementary: ElementaryLibrary) -> None:
    loops = _lower("kernel k(x: f32[N, M]) { s = sum(sin(x) + x, axis=1); return relu(s) * 2 }")
    _, counts = interpret_loops(loops, {"x": _data(7, 20)}, elementary)
    assert [(dict(n.loads), dict(n.stores)) for n in counts.nodes] == [
        ({"x": 140}, {"buf0": 7}),
        ({"buf0": 7}, {"buf1": 7}),
    ]
    assert counts.bytes_moved == 4 * (140 + 7 + 7 + 7)


def test_distinct_elements_are_counted_once_per_node(elementary: ElementaryLibrary) -> None:
    loops = _lower("kernel k(x: f32[N, M], w: f32[M]) { return (x[:-1] + x[1:]) * w, x[::2, 0] }")
    _, counts = interpret_loops(loops, {"x": _data(7, 4), "w": _data(4)}, elementary)
    assert dict(counts.nodes[0].loads) == {"x": 28, "w": 4}
    assert dict(counts.nodes[1].loads) == {"x": 4}


def test_accesses_of_a_product_with_a_transposed_operand(elementary: ElementaryLibrary) -> None:
    x, y = _data(3, 5), _data(4, 5)
    loops = _lower("kernel k(x: f32[N, K], y: f64[M, K]) { return x @ f32(y).T }")
    (found,), counts = interpret_loops(loops, {"x": x, "y": y.astype(np.float64)}, elementary)
    np.testing.assert_allclose(found, x.astype(np.float64) @ y.T, rtol=1e-5, atol=1e-6)
    product = counts.nodes[-1]
    assert sorted(product.loads.values()) == [15, 20]
    assert list(product.stores.values()) == [12]


def test_empty_arrays_access_nothing(elementary: ElementaryLibrary) -> None:
    loops = _lower("kernel k(x: f32[N, M]) { return sum(x, axis=1), x + 1 }")
    (total, other), counts = interpret_loops(loops, {"x": np.zeros((3, 0), np.float32)}, elementary)
    assert total.tolist() == [0.0, 0.0, 0.0]
    assert other.shape == (3, 0)
    assert [sum(n.loads.values()) for n in counts.nodes] == [0, 0]


def test_an_empty_maximum_raises(elementary: ElementaryLibrary) -> None:
    loops = _lower("kernel k(x: f32[N]) { return max(x) }")
    with pytest.raises(ValueError, match="non-empty"):
        interpret_loops(loops, {"x": np.zeros(0, np.float32)}, elementary)


def test_integers_indices_and_scalars(elementary: ElementaryLibrary) -> None:
    loops = _lower("kernel k(x: i32[N], s: i32 = 3) { return x * s + i32(arange(N)), x // (x - 1), N * x }")
    x = np.array([2**31 - 1, 1, -5], np.int32)
    (first, second, third), _ = interpret_loops(loops, {"x": x}, elementary)
    assert first.tolist() == [2**31 - 3, 4, -13]
    assert second.tolist() == [1, 0, 0]
    assert third.tolist() == [2**31 - 3, 3, -15]


def _changed(loops: LoopProgram, **changes: object) -> LoopProgram:
    first = loops.nodes[0]
    assert isinstance(first, LoopNode)
    return replace(loops, nodes=(replace(first, **changes), *loops.nodes[1:]))  # type: ignore[arg-type]


def test_a_load_outside_its_buffer_is_an_internal_error(elementary: ElementaryLibrary) -> None:
    loops = _lower("kernel k(x: f32[N]) { return x + 1 }")
    node = loops.nodes[0]
    assert isinstance(node, LoopNode)
    load = next(op for op in node.body if op.op == "load")
    outside = replace(load, attrs=replace(load.attrs, index=axis("i0") + 1))  # type: ignore[type-var]
    body = tuple(outside if op is load else op for op in node.body)
    with pytest.raises(IRError, match="leaves its 4 elements"):
        interpret_loops(_changed(loops, body=body), {"x": _data(4)}, elementary)


def test_every_element_is_written_once(elementary: ElementaryLibrary) -> None:
    loops = _lower("kernel k(x: f32[N]) { return x + 1 }")
    with pytest.raises(IRError, match="once"):
        interpret_loops(_changed(loops, store_index=axis("i0") * 0), {"x": _data(4)}, elementary)
    shifted = _changed(loops, store_index=dim("N") - axis("i0"))
    with pytest.raises(IRError, match="once"):
        interpret_loops(shifted, {"x": _data(4)}, elementary)


def test_products_are_blocks_of_fused_multiply_adds() -> None:
    left, right = _data(2, 300), _data(300, 3)
    calls: list[tuple[int, ...]] = []

    def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        calls.append(c.shape)
        return (a.astype(np.float64) * b + c).astype(np.float32)

    found = multiply_matrices(left, right, fma)
    blocks = []
    for begin, end in ((0, 256), (256, 300)):
        total = np.float32(0)
        for k in range(begin, end):
            total = np.float32(np.float64(left[1, k]) * np.float64(right[k, 2]) + np.float64(total))
        blocks.append(total)
    assert len(calls) == 300
    assert found[1, 2] == blocks[0] + blocks[1]


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_products_of_nothing(shape: tuple[int, int]) -> None:
    m, k = shape
    found = multiply_matrices(_data(m, k), _data(k, 4), lambda a, b, c: c)
    np.testing.assert_array_equal(found, np.zeros((m, 4), np.float32))


def test_policies_may_store_differently_and_give_the_same_bits(elementary: ElementaryLibrary) -> None:
    kernel = """kernel k(x: f32[N, M]) {
        e = exp(x - max(x, axis=1, keepdims=true))
        return e / sum(e, axis=1, keepdims=true)
    }"""
    x = _data(6, 33)
    found = [
        interpret_loops(_lower(kernel, p), {"x": x}, elementary)[0][0] for p in ("default", "inductor-2.8")
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0].sum(axis=1), 1.0, rtol=1e-6)
