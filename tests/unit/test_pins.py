"""@materialize and @inline: what is stored, what `explain` says, and that no result changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorc
from tensorc.driver import CompileOptions, compile_text
from tensorc.loop_ir.program import Role
from tensorc.source import Source


def stored(body: str, policy: str = "default", definitions: str = "") -> list[str]:
    """The operations of each node; `*` marks a node whose value is no result."""
    text = f"{definitions}\nkernel f(x: f32[N, D], r: f32[D]) {{ {body} }}"
    (program,) = compile_text(Source("t", text), CompileOptions(policy=policy, until="lower")).loop
    temporary = {b.name for b in program.buffers if b.role is Role.TEMPORARY}
    return [" ".join(o.op for o in n.origins) + ("*" if n.buffer in temporary else "") for n in program.nodes]


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
def test_materialize_stores_what_would_be_recomputed(policy: str) -> None:
    assert stored("y = x * 2; return y + 1", policy) == ["mul add"]
    assert stored("@materialize y = x * 2; return y + 1", policy) == ["mul*", "add"]
    assert stored("@materialize y = x.T; return y + 1", policy) == ["copy*", "add"]
    assert stored("@materialize y[i, j] = x[j, i] for i in D, j in N; return y + 1", policy) == [
        "copy*",
        "add",
    ]
    text = "@materialize a, b = pair(x); return a + b"
    assert stored(text, policy, "def pair(x) { return x * 2, x * 3 }") == ["mul*", "mul*", "add"]


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
def test_inline_recomputes_what_would_be_stored(policy: str) -> None:
    text = "y = exp(x); return sum(y, axis=1), max(y, axis=1)"
    assert stored(text, policy) == ["exp*", "sum", "max"]
    assert stored(f"@inline {text}", policy) == ["exp sum", "exp max"]


def test_what_must_be_stored_stays_stored() -> None:
    assert stored("@inline y = x * 2; return y, y + 1") == ["mul", "add"]
    assert stored("@inline y = x * 2; return y @ y.T") == ["mul*", "matmul"]
    assert stored("@materialize y = sum(x, axis=1, keepdims=true); return x - y") == ["sum*", "sub"]


def test_a_pin_survives_the_merging_of_equal_values() -> None:
    assert stored("a = x * 2; @materialize b = x * 2; return a + 1, b + 2") == ["mul*", "add", "add"]


def test_explain_shows_pins_and_results_do_not_change(tmp_path: Path) -> None:
    text = """
kernel plain(x: f32[N, D]) { y = exp(x); return sum(y, axis=1), y / max(y) }
kernel inlined(x: f32[N, D]) { @inline y = exp(x); return sum(y, axis=1), y / max(y) }
kernel stored(x: f32[N, D]) { @materialize y = exp(x); return sum(y, axis=1), y / max(y) }
"""
    module = tensorc.compile(text, cache_dir=tmp_path)
    assert "y @inline: line 3" in module["inlined"].fusion_log()
    assert "y @materialize: line 4" in module["stored"].fusion_log()
    assert "@" not in module["plain"].fusion_log()
    x = np.random.default_rng(0).normal(size=(9, 37)).astype(np.float32)
    for found in (module["inlined"](x), module["stored"](x)):
        for ours, theirs in zip(found, module["plain"](x), strict=True):
            np.testing.assert_array_equal(ours, theirs)
