"""Arrays that are provably empty, read by nests that are not: products of no depth, reductions, copies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorc

X = np.zeros((3, 0), np.float32)
CASES: dict[str, tuple[str, Callable[[Any], tuple[Any, ...]]]] = {
    "copies": ("t = asin(x); return t, t + 1, t, x", lambda x: (x, x, x, x)),
    "product": ("t = asin(x); return t @ t.mT, t", lambda x: (x @ x.T, x)),
    "product_only": ("t = asin(x); return t @ t.mT", lambda x: (x @ x.T,)),
    "product_of_sum": ("t = sum(x, axis=1, keepdims=true); return (t * x) @ x.T", lambda x: (x @ x.T,)),
    "chain": ("a = x.T @ x; b = a @ a; return x @ b @ x.T", lambda x: (x @ x.T,)),
    "pinned": ("@materialize t = sin(x); return sum(t, axis=1), sum(t)", lambda x: (x.sum(1), x.sum())),
    "views": ("t = sin(x); return t[::-1, :], t.T + 1, t[:, :0]", lambda x: (x[::-1], x.T, x)),
    "reshaped": ("t = sin(x); return reshape(t, (0, N)), reshape(t, (0,))", lambda x: (x.T, x[0])),
    "index": (
        "y[i, j] = sum(x[i, k] * x[j, k] for k in 0) for i in N, j in N; return y",
        lambda x: (x @ x.T,),
    ),
}


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
def test_empty_arrays_are_read(policy: str, tmp_path: Path) -> None:
    text = "\n".join(f"kernel {name}(x: f32[N, 0]) {{ {body} }}" for name, (body, _) in CASES.items())
    module = tensorc.compile(text + "\n", policy=policy, cache_dir=tmp_path)
    for name, (_, reference) in CASES.items():
        for threads in (1, 2):
            found = module[name](X, threads=threads)
            results = found if isinstance(found, tuple) else (found,)
            for result, expected in zip(results, reference(X), strict=True):
                np.testing.assert_array_equal(result, expected, err_msg=name, strict=True)
