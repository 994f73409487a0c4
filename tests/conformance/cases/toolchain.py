"""Kernels whose surroundings the other tests change: paths, caches, processes."""

from __future__ import annotations

import numpy as np

from cases.kit import add, f64, i64

add("C87", "value", "next", inputs=(f64([1]),), expected=f64([2]), ref=lambda x: x + 1)
add("C88", "value", "triple", inputs=(f64([1, 2]),), expected=f64([3, 6]), ref=lambda x: x * 3)
add("C90", "value", "root", inputs=(f64([4]),), expected=f64([2]), ref=np.sqrt)
add("C91", "value", "before", inputs=(i64([0, 1, 2]),), expected=i64([-1, 0, 1]), ref=lambda x: x - 1)
add("C94", "value", "seven", inputs=(i64([6]),), expected=i64([42]), ref=lambda x: x * 7)
add("C96", "value", "minus", inputs=(f64([1]),), expected=f64([-1]), ref=lambda x: -x)
add(
    "C97",
    "value",
    "total",
    inputs=lambda: (np.ones(100000),),
    expected=f64(100000),
    ref=np.sum,
    threads=(1, 2),
)
