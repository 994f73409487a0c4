"""Matrix products with the bits of the generated kernels: a fixed order of fused multiply-adds.

For each result, in blocks of 256 along k: `acc = fma(left, right, acc)` from 0 in order of k; the first
block's sum is the result so far, each later one is added to it. Integers wrap; bool is or of and.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
MultiplyAdd = Callable[[Array, Array, Array], Array]

K_BLOCK = 256


def multiply_matrices(left: Array, right: Array, fma: MultiplyAdd) -> Array:
    """`left @ right` of shapes (..., m, k) and (..., k, n); `fma` is the runtime's, of their dtype."""
    depth = left.shape[-1]
    if left.dtype.kind != "f":
        return np.asarray(np.matmul(left, right))
    shape = np.broadcast_shapes((*left.shape[:-1], 1), (*right.shape[:-2], 1, right.shape[-1]))
    total = np.zeros(shape, left.dtype)
    for begin in range(0, depth, K_BLOCK):
        block = np.zeros(shape, left.dtype)
        for k in range(begin, min(begin + K_BLOCK, depth)):
            columns, rows = left[..., k, None], right[..., None, k, :]
            block = fma(np.broadcast_to(columns, shape), np.broadcast_to(rows, shape), block)
        total = block if begin == 0 else total + block
    return total
