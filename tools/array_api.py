"""The functions of the array API standard 2025.12 beside TDSL: how each is spelt, or why it is left out.

`operations_page.py` prints this table into docs/operations.md; the tests check that every spelling compiles.
"""

from __future__ import annotations

STANDARD: dict[str, tuple[str, ...]] = {
    "constants": ("e", "inf", "nan", "newaxis", "pi"),
    "creation": (
        *("arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace"),
        *("meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like"),
    ),
    "data types": (
        *("astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"),
        *("__array_namespace_info__",),
    ),
    "elementwise": (
        *("abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and"),
        *("bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil"),
        *("clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor"),
        *("floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan", "less"),
        *("less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not"),
        *("logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "nextafter"),
        *("not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit"),
        *("sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc"),
    ),
    "indexing": ("take", "take_along_axis"),
    "linear algebra": ("matmul", "matrix_transpose", "tensordot", "vecdot"),
    "manipulation": (
        *(
            "broadcast_arrays",
            "broadcast_shapes",
            "broadcast_to",
            "concat",
            "expand_dims",
            "flip",
            "moveaxis",
        ),
        *("permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack"),
    ),
    "searching": ("argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"),
    "sets": ("isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
    "sorting": ("argsort", "sort"),
    "statistics": (
        *("cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"),
    ),
    "utility": ("all", "any", "diff"),
}
"""Every function and constant of the standard by section. Extensions (`linalg`, `fft`) are left out whole."""

SPELT: dict[str, str] = {
    "newaxis": "x[:, None]",
    "add": "x + y",
    "bitwise_and": "i & j",
    "bitwise_invert": "~i",
    "bitwise_left_shift": "i << j",
    "bitwise_or": "i | j",
    "bitwise_right_shift": "i >> j",
    "bitwise_xor": "i ^ j",
    "divide": "x / y",
    "equal": "x == y",
    "floor_divide": "x // y",
    "greater": "x > y",
    "greater_equal": "x >= y",
    "less": "x < y",
    "less_equal": "x <= y",
    "logical_and": "b and c",
    "logical_not": "not b",
    "logical_or": "b or c",
    "logical_xor": "b != c",
    "multiply": "x * y",
    "not_equal": "x != y",
    "positive": "+x",
    "pow": "x ** y",
    "remainder": "x % y",
    "subtract": "x - y",
    "empty": "zeros((N, M))",
    "empty_like": "zeros_like(x)",
    "linspace": "arange(N) * 0.5 + 1",
    "moveaxis": "permute_dims(x, (1, 0))",
    "signbit": "copysign(1, x) < 0",
    "diff": "x[:, 1:] - x[:, :-1]",
    "broadcast_arrays": "broadcast_to(x, (2, N, M))",
    "meshgrid": "arange(N)[:, None] + arange(M)",
    "isin": "any(x[:, :, None] == v, axis=-1)",
    "searchsorted": "count_nonzero(v < x[:, :, None], axis=-1)",
    "unstack": "x[0], x[1]",
}
"""What has another spelling here, of x, y: f32[N, M], i, j: i32[N], b, c: bool[N] and v: f32[K]."""

LEFT_OUT: dict[str, str] = {
    "asarray": "arrays come in as parameters",
    "from_dlpack": "a matter of the caller: NumPy's from_dlpack gives what a kernel takes",
    "can_cast": "dtypes are static: the compiler answers",
    "finfo": "dtypes are static: write the number",
    "iinfo": "dtypes are static: write the number",
    "isdtype": "dtypes are static: the compiler answers",
    "result_type": "dtypes are static: the compiler answers (`tensorc check --types`)",
    "__array_namespace_info__": "about a Python namespace",
    "conj": "no complex types",
    "imag": "no complex types",
    "real": "no complex types",
    "nextafter": "not built; nothing else gives it",
    "broadcast_shapes": "shapes are static expressions: the compiler computes them",
    "nonzero": "the result's size would depend on values",
    "unique_all": "the result's size would depend on values",
    "unique_counts": "the result's size would depend on values",
    "unique_inverse": "the result's size would depend on values",
    "unique_values": "the result's size would depend on values",
    "argsort": "of a later version, with loops",
    "sort": "of a later version, with loops",
}
"""Why a function is not there."""
