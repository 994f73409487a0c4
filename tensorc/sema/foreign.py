"""Spellings of other array libraries, and what to write instead."""

from __future__ import annotations

MODULES = frozenset(["np", "numpy", "torch", "jnp", "jax", "lax", "tf", "xp", "math", "scipy", "F", "nn"])
"""Names before a dot that are libraries, when the program does not define them."""

KEYWORDS: dict[str, tuple[str, ...]] = {
    "dim": ("axis",),
    "dims": ("axes", "axis"),
    "axes": ("axis",),
    "axis": ("axes",),
    "axis1": ("axes",),
    "keepdim": ("keepdims",),
    "keep_dims": ("keepdims",),
    "ddof": ("correction",),
    "unbiased": ("correction",),
    "input": ("x", "x1"),
    "self": ("x", "x1"),
    "a": ("x", "x1"),
    "m": ("x",),
    "array": ("x",),
    "other": ("x2",),
    "b": ("x2",),
    "a_min": ("min",),
    "a_max": ("max",),
    "size": ("shape",),
    "newshape": ("shape",),
    "diagonal": ("k", "offset"),
    "offset": ("k",),
    "perm": ("axes",),
    "value": ("fill_value",),
    "constant_values": ("value",),
    "pad": ("pad_width",),
    "reps": ("repetitions",),
    "shifts": ("shift",),
    "exclusive": ("include_initial",),
    "N": ("n_rows",),
    "M": ("n_cols",),
}
"""Keyword -> the parameter that it is called here; the first that the operation has."""

KEYWORD_NOTES = {
    "out": "leave it out: a kernel writes its results, and its caller may pass out=",
    "where": "choose with where(condition, x, 0) inside the operation",
    "initial": "leave it out: combine the result with the value, as in maximum(max(x), value)",
    "device": "leave it out: a kernel runs on the CPU",
    "inplace": "leave it out: arrays are values, and the compiler reuses memory where it can",
    "approximate": 'write gelu_tanh(x), which comes with `import "std/nn.tdsl"`',
    "order": "leave it out: elements are in row-major order",
    "casting": "leave it out: an explicit cast is f32(x)",
    "decimals": "write round(x * 100) / 100",
}
"""Keywords that have nothing in their place."""

_NN = ', which comes with `import "std/nn.tdsl"`'

# fmt: off
OPERATIONS = {
    # operators
    "add": "x + y", "subtract": "x - y", "sub": "x - y", "multiply": "x * y", "mul": "x * y",
    "divide": "x / y", "div": "x / y", "true_divide": "x / y", "floor_divide": "x // y",
    "remainder": "x % y", "mod": "x % y", "fmod": "x - trunc(x / y) * y; x % y has the sign of y",
    "pow": "x ** y", "power": "x ** y", "float_power": "f64(x) ** y", "neg": "-x", "negate": "-x",
    "positive": "x", "divmod": "x // y and x % y", "equal": "x == y", "not_equal": "x != y",
    "eq": "x == y", "ne": "x != y", "lt": "x < y", "le": "x <= y", "gt": "x > y", "ge": "x >= y",
    "less": "x < y", "less_equal": "x <= y", "greater": "x > y", "greater_equal": "x >= y",
    "logical_and": "x and y", "logical_or": "x or y", "logical_not": "not x", "logical_xor": "x ^ y",
    "bitwise_and": "x & y", "bitwise_or": "x | y", "bitwise_xor": "x ^ y", "bitwise_not": "~x",
    "bitwise_invert": "~x", "invert": "~x", "left_shift": "x << n", "right_shift": "x >> n",
    "bitwise_left_shift": "x << n", "bitwise_right_shift": "x >> n",
    # elementwise
    "absolute": "abs(x)", "fabs": "abs(x)", "clamp": "clip(x, lo, hi)", "clamp_min": "maximum(x, lo)",
    "clamp_max": "minimum(x, hi)", "fmax": "maximum(x, y), which keeps NaN",
    "fmin": "minimum(x, y), which keeps NaN", "arcsin": "asin(x)", "arccos": "acos(x)",
    "arctan": "atan(x)", "arctan2": "atan2(y, x)", "arcsinh": "asinh(x)", "arccosh": "acosh(x)",
    "arctanh": "atanh(x)", "fix": "trunc(x)", "rint": "round(x)", "around": "round(x)",
    "deg2rad": "x * (pi / 180)", "radians": "x * (pi / 180)", "rad2deg": "x * (180 / pi)",
    "degrees": "x * (180 / pi)", "expit": "sigmoid(x)", "logit": "log(x / (1 - x))", "swish": "silu(x)",
    "relu6": "clip(x, 0, 6)", "hardtanh": "clip(x, -1, 1)", "threshold": "where(x > t, x, value)",
    "heaviside": "where(x > 0, 1, 0)", "signbit": "copysign(1, x) < 0", "isneginf": "x == -inf",
    "isposinf": "x == inf", "isclose": "abs(x - y) <= tol", "nan_to_num": "where(isnan(x), 0, x)",
    "lerp": "x + w * (y - x)", "addcmul": "x + a * b", "addcdiv": "x + a / b", "frac": "x - trunc(x)",
    "square_": "square(x)", "sgn": "sign(x)", "xlogy": "where(x == 0, 0, x * log(y))",
    "sinc": "where(x == 0, 1, sin(pi * x) / (pi * x))", "logaddexp2": "log2(exp2(x) + exp2(y))",
    "cond": "where(c, x, y)", "piecewise": "where(c, x, y)", "select": "where(c, x, y), or x[i]",
    "conj": "x", "conjugate": "x",
    # reductions
    "amax": "max(x)", "amin": "min(x)", "ptp": "max(x) - min(x)",
    "average": "mean(x), or sum(w * x) / sum(w)", "nansum": "sum(where(isnan(x), 0, x))",
    "nanmax": "max(where(isnan(x), -inf, x))", "nanmin": "min(where(isnan(x), inf, x))",
    "nanmean": "sum(where(isnan(x), 0, x)) / sum(not isnan(x))", "norm": "sqrt(sum(x * x))",
    "trace": "sum(diagonal(x))", "alltrue": "all(x)", "sometrue": "any(x)",
    "nonzero": "count_nonzero(x); a result's size cannot depend on values",
    "allclose": "all(abs(x - y) <= tol)", "array_equal": "all(x == y)", "logsumexp_": "logsumexp(x)",
    "cumsum": "cumulative_sum(x, axis=0)", "cumprod": "cumulative_prod(x, axis=0)",
    "cummax": "cumulative_max(x, axis=0)", "cummin": "cumulative_min(x, axis=0)", "diff": "x[1:] - x[:-1]",
    "bincount": "segment_sum(w, x, size=n)", "histogram": "segment_sum(w, x, size=n)",
    # products
    "mm": "x @ y", "bmm": "x @ y", "mv": "x @ y", "dot": "x @ y", "inner": "x @ y.T, or vecdot(x, y)",
    "ger": "outer(x, y)", "addmm": "c + x @ y", "baddbmm": "c + x @ y", "linear": "x @ w.T + b",
    "vdot": "vecdot(x, y)", "multi_dot": "x @ y @ z", "kron": "x[:, None] * y",
    "dot_general": 'einsum("ij,jk->ik", x, y)', "einsum_path": 'einsum("ij,jk->ik", x, y)',
    # layout
    "transpose": "permute_dims(x, axes), x.T for rank 2, or x.mT", "permute": "permute_dims(x, axes)",
    "swapaxes": "permute_dims(x, axes)", "moveaxis": "permute_dims(x, axes)",
    "movedim": "permute_dims(x, axes)", "rollaxis": "permute_dims(x, axes)",
    "unsqueeze": "expand_dims(x, axis=0), or x[None]", "expand": "broadcast_to(x, shape)",
    "expand_as": "broadcast_to(x, y.shape)", "view": "reshape(x, shape)",
    "view_as": "reshape(x, y.shape)", "flatten": "reshape(x, (N * M,))", "ravel": "reshape(x, (N * M,))",
    "unflatten": "reshape(x, shape)", "resize": "reshape(x, shape)",
    "concatenate": "concat((x, y), axis=0)", "cat": "concat((x, y), axis=0)",
    "hstack": "concat((x, y), axis=1)", "vstack": "concat((x, y), axis=0)",
    "dstack": "stack((x, y), axis=2)", "column_stack": "stack((x, y), axis=1)",
    "split": "slices, as in x[:n] and x[n:]", "chunk": "slices, as in x[:n] and x[n:]",
    "array_split": "slices, as in x[:n] and x[n:]", "unbind": "x[0], x[1] and so on",
    "narrow": "x[start:stop]", "dynamic_slice": "x[start:stop]",
    "dynamic_update_slice": "update(x, part, (start:stop,))", "fliplr": "flip(x, axis=1)",
    "flipud": "flip(x, axis=0)", "rot90": "flip(x.T, axis=0)", "repeat_interleave": "repeat(x, n)",
    "diag": "diagonal(x), or eye(N) * x", "diag_embed": "eye(N) * x[..., None]",
    "tri": "tril(ones((N, N)))", "meshgrid": "x[:, None] and y[None, :]",
    "index_select": "take(x, i, axis=0)", "gather": "take_along_axis(x, i, axis=0)",
    "take_along_dim": "take_along_axis(x, i, axis=0)", "embedding": "take(x, i, axis=0)",
    "masked_select": "where(mask, x, 0); a result's size cannot depend on values",
    "index_add": "scatter_add(x, i, y)",
    "compress": "where(mask, x, 0); a result's size cannot depend on values",
    # creation
    "empty": "zeros(shape)", "empty_like": "zeros_like(x)", "array": "a literal or a parameter",
    "asarray": "x alone", "tensor": "a literal or a parameter", "as_tensor": "x alone",
    "from_numpy": "a parameter", "linspace": "start + arange(n) * ((stop - start) / (n - 1))",
    "identity": "eye(N)", "iota": "arange(N)", "one_hot": "x[:, None] == arange(n)",
    "new_zeros": "zeros(shape)", "new_ones": "ones(shape)",
    # networks
    "softmin": f"softmax(-x){_NN}", "logsigmoid": f"log_sigmoid(x){_NN}",
    "hardswish": f"hard_swish(x){_NN}", "hardsigmoid": f"hard_sigmoid(x){_NN}",
    "layer_norm": f"layernorm(x){_NN}", "rms_norm": f"rmsnorm(x){_NN}",
    "normalize": f"l2_normalize(x){_NN}", "mse_loss": f"mse(x, y){_NN}", "l1_loss": f"mae(x, y){_NN}",
    "huber_loss": f"huber(x, y){_NN}", "smooth_l1_loss": f"huber(x, y){_NN}",
    "binary_cross_entropy_with_logits": f"binary_cross_entropy(x, y){_NN}",
    "scaled_dot_product_attention": f"attention(q, k, v){_NN}",
    # conversions
    "float": "f32(x)", "double": "f64(x)", "half": "f16(x)", "long": "i64(x)", "int": "i32(x)",
    "short": "i16(x)", "bfloat16": "bf16(x)", "type": "x.astype(f32)", "to": "x.astype(f32)",
    "type_as": "x.astype(f32)", "cast": "astype(x, f32)",
    # Python
    "len": "x.shape[0]", "range": "arange(n); an iterator is written `for i in n`",
}
"""Operation or method -> what to write for it."""

_NOTES = {
    "leave it out: a kernel has no output but its results": "print",
    "pass random numbers as a parameter: a kernel gives the same result on every call":
        "rand randn randint random normal uniform bernoulli dropout randperm",
    "leave it out: there are no gradients, a kernel computes what it says":
        "backward grad requires_grad_ no_grad",
    "leave it out: a kernel is compiled": "jit compile",
    "leave it out: operations work on whole arrays, and a `def` takes any shape":
        "vmap vectorize apply_along_axis map",
    "`iterate steps with a { … }` repeats a number of steps": "scan fori_loop while_loop",
    "a result's size cannot depend on values": "unique argwhere flatnonzero extract",
    "index notation counts: `y[i] = x[i] for i in N`": "enumerate zip",
    "in index notation: `y[i] = sum(x[i + u] * w[u] for u in K) for i in N - K + 1`":
        "conv1d conv2d conv3d convolve correlate",
    "in index notation: `y[i] = max(x[2 * i + u] for u in 2) for i in N // 2`":
        "max_pool1d max_pool2d avg_pool1d avg_pool2d",
    "there is no such operation":
        "median percentile quantile searchsorted digitize cross inv det svd solve lgamma gammaln digamma "
        "erfinv fft nextafter gcd lcm",
    "arrays are values: there is no change in place":
        "add_ sub_ mul_ div_ clamp_ fill_ zero_ copy_ relu_ exp_ sqrt_",
}
NOTES = {name: note for note, names in _NOTES.items() for name in names.split()}
"""Operation or method -> a sentence, where there is nothing to write in its place."""

METHODS = {
    "t": "x.T",
    "contiguous": "x alone: every result is C-contiguous",
    "clone": "x alone: values never alias",
    "copy": "x alone: values never alias",
    "detach": "x alone",
    "cpu": "x alone",
    "cuda": "x alone",
    "numpy": "x alone",
    "size": "x.shape[i]",
    "item": "sum(x), or x[0]",
    "tolist": "x alone",
    "fill": "full_like(x, value)",
    "masked_fill": "where(mask, value, x)",
    "numel": "the product of x.shape[i]",
    "dim": "the rank as a number: it is static",
}

ATTRIBUTES = {
    "H": "x.mT",
    "mH": "x.mT",
    "ndim": "the rank as a number: it is static",
    "size": "the product of x.shape[i]",
    "dtype": "a dtype name, as f32",
    "real": "x",
    "flat": "reshape(x, (N * M,))",
    "data": "x",
    "at": "update(x, part, (…))",
}

VALUES = {
    "newaxis": "None", "NaN": "nan", "NAN": "nan", "Inf": "inf", "infty": "inf", "Infinity": "inf",
    "PI": "pi",
}

DTYPES = {
    "float": "f32", "double": "f64", "float16": "f16", "float32": "f32", "float64": "f64",
    "bfloat16": "bf16", "half": "f16", "int": "i64", "long": "i64", "short": "i16", "int8": "i8",
    "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "boolean": "bool", "bool_": "bool", "single": "f32", "float_": "f64", "int_": "i64",
    "byte": "u8", "char": "i8", "uint": "u32", "f8": "f64", "f4": "f32", "i4": "i32",
}
# fmt: on


def advice(name: str) -> str:
    """What to write for a foreign operation or method, as a help line; empty for a name that is not known."""
    instead = OPERATIONS.get(name) or METHODS.get(name)
    return f"write {instead}" if instead else NOTES.get(name, "")
