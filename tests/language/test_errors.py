"""Section 7 of the language: what a wrong program is told."""
# ruff: noqa: E501

from __future__ import annotations

import re

import pytest
from promises import errors, messages, only_error, words_of

from tensorc.diagnostics.nearness import near_names
from tensorc.sema import foreign
from tensorc.sema.operations import LATER, OPERATIONS
from tensorc.syntax.imports import STANDARD

P = "x: f32[N, D], y: f32[N, D], v: f32[D], m: f32[N], i: i32[N, D], b: bool[N, D], s: f32, n: i64, z: f32[1, N, 1]"

# One mistake, one message: (what is written, the code, words of the message).
EXPRESSIONS = [
    ("reshape(x, (N, -1))", "TC0410", ["never filled in", "write D for -1"]),
    ("reshape(x, -1)", "TC0410", ["write D*N for -1"]),
    ("reshape(x, (-1, -1))", "TC0410", ["negative"]),
    ("x.reshape(N, D)", "TC0204", ["shape is one tuple: (N, D)"]),
    ("permute_dims(x, 1, 0)", "TC0204", ["axes is one tuple: (1, 0)"]),
    ("zeros(N, D)", "TC0204", ["shape is one tuple: (N, D)"]),
    ("zeros([N, D])", "TC0121", ["round brackets"]),
    ("flip(x, 0)", "TC0204", ["write axis=0"]),
    ("max(x, y)", "TC0204", ["maximum(x, y)"]),
    ("x.T()", "TC0203", [".T without brackets"]),
    ("x.shape()", "TC0203", [".shape without brackets"]),
    ("x.astype(float)", "TC0211", ["write f32"]),
    ("x.astype(np.float64)", "TC0211", ["write f64"]),
    ("np.float32(x)", "TC0211", ["write f32(x)"]),
    ("x[:, np.newaxis]", "TC0211", ["write None"]),
    ("x[:, newaxis]", "TC0211", ["write None"]),
    ("x + None", "TC0301", ["`+` needs a tensor or a number, found None"]),
    ("-None", "TC0301", ["unary `-` needs"]),
    ("(x, y) * 2", "TC0301", ["`*`", "a tuple of 2"]),
    ("N // 0 * x", "TC0410", ["`//` of a size by zero"]),
    ("i << 1.0", "TC0302", ["`<<`", "found i32 and f64"]),
    ("x ^ 2", "TC0302", ["x ** 2"]),
    ("x > 0 & x < 1", "TC0302", ["binds tighter", "(x > 0) & (x < 1)"]),
    ("s[0]", "TC0405", ["f32 has no axes, but 1 is indexed"]),
    ("v[0, 0]", "TC0405", ["f32[D] has 1 axis, but 2 are indexed"]),
    ("broadcast_to(x, (D,))", "TC0409", ["(D,)"]),
    ("maximum(x1=x, y)", "TC0117", []),
    ("sum(x, dims=1)", "TC0110", ["`axis`"]),
    ("sum(x, for=1)", "TC0110", ["`for`"]),
    ("std(x, unbiased=false)", "TC0211", ["write correction=0"]),
    ("std(x, unbiased=True)", "TC0211", ["write correction=1"]),
    ("maximum(input=x, x2=y)", "TC0211", ["x1=x"]),
    ("sum(x, where=b)", "TC0211", ["where(condition, x, 0)"]),
    ("sum(x, out=y)", "TC0211", ["caller may pass out="]),
    ("x - mean(x, axis=1)", "TC0402", ["keepdims=true", "[:, None]"]),
    ("m * x", "TC0402", ["[:, None]"]),
    ("x[1:-1] + y", "TC0402", ["slice one of them"]),
    ("x.T + x", "TC0402", ["use one name for both"]),
    ("x * i[:, :1] + n * v[:-1]", "TC0402", []),
    ("arange(0, N, 0.1)", "TC0410", ["fractions of at most 1048576", "start + arange(n) * step"]),
    ("arange(0, nan, 0.1)", "TC0410", ["(stop - start) / step is too large, or NaN"]),
    ("arange(0, 1, 0.0)", "TC0404", ["is 0"]),
    ("arange(0.5, N, N)", "TC0307", ["the step of arange"]),
    ("arange(0, sum(x), 0.5)", "TC0307", ["the stop of arange must be a number or a size, found f32"]),
    ("update(x, y, (0:1, 0:1))", "TC0501", ["`update` is not supported yet"]),
    ("x.update(y, (0:1, 0:1))", "TC0501", ["`update` is not supported yet"]),
    ("segment_sum(m, n, size=256)", "TC0501", ["`segment_sum`"]),
    ("segment_max(m, n, size=256)", "TC0501", []),
    ("segment_min(m, n, size=256)", "TC0501", []),
    ("segment_prod(m, n, size=256)", "TC0501", []),
    ("scatter_add(m, n, m)", "TC0501", []),
    ("sort(x, axis=1)", "TC0501", []),
    ("argsort(x)", "TC0501", []),
    ("topk(x, 3)", "TC0501", []),
    ("sum(x[a, 0] for a in range(N))", "TC0211", ["for a in N"]),
    ("sum(x[a, 0] for a in N, axis=0)", "TC0119", ["no keywords"]),
    ("mean(x[a, 0] for a in N)", "TC0203", ["takes no `for`"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "code", "words"), EXPRESSIONS, ids=[e.replace("[", "(") for e, *_ in EXPRESSIONS]
)
def test_one_message_for_one_mistake(expression: str, code: str, words: list[str]) -> None:
    found = only_error(f"kernel k({P}) {{\n    return {expression}\n}}", code, *words)
    assert found.span is not None and found.span.line == 2
    # a failed operation does not warn on top
    if code.startswith("TC04"):
        assert all(
            d is found or d.span != found.span for d in messages(f"kernel k({P}) {{ return {expression} }}")
        )


FILES = [
    ("an item that does not parse is not unknown", "def f(x): return x\nkernel k(x: f32) { return f(x) }", "TC0109", ["`:`"]),
    ("let at the top", "let a = 1\nkernel k(x: f32) { return x * a }", "TC0108", ["let"]),
    ("a plain assignment at the top", "a = 1\nkernel k(x: f32) { return x * a }", "TC0115", ["const a"]),
    ("two constants in one", "const a = 1, b = 2\nkernel k(x: f32) { return x * a + b }", "TC0101", []),
    ("a constant without a value", "const a\nkernel k(x: f32) { return x * a }", "TC0101", []),
    ("dims that do not parse", "dims N: 4, M ~ 2\nkernel k(x: f32) { return x * N }", "TC0109", []),
    ("a foreign function", "function f(x) = x\nkernel k(x: f32) { return f(x) }", "TC0108", ["`def`"]),
    ("a constant below", "const a = b\nconst b = 1\nkernel k(x: f32) { return x * a }", "TC0201", ["move the declaration of b"]),
    ("a kernel that calls a kernel", "kernel a(x: f32) { return x }\nkernel b(x: f32) { return a(x) }", "TC0203", ["kernels do not call each other"]),
    ("a decorated kernel", "@inline kernel k(x: f32) { return x }", "TC0115", ["no decorators"]),
    ("sizes in round brackets", "kernel k(x: f32(N)) { return x }", "TC0109", ["f32[…]"]),
    ("sizes in angle brackets", "kernel k(x: f32<N>) { return x }", "TC0109", ["f32[…]"]),
    ("a size left open", "kernel k(x: f32[:, N]) { return x }", "TC0109", ["every axis"]),
    ("a dotted dtype", "kernel k(x: np.float32[N]) { return x }", "TC0109", ["`f32`"]),
    ("no dtype", "kernel k(x: [N]) { return x }", "TC0109", ["write `x: f32[…]`"]),
    ("another case", "kernel k(x: F32[N]) { return x }", "TC0306", ["did you mean `f32`?"]),
    ("angle brackets of a generic", "kernel k<T>(x: T[N]) { return x }", "TC0109", ["[T: f32 | f64]"]),
    ("a precondition without comparison", "kernel k(x: f32[N]) requires N % 8 { return x }", "TC0302", ["N % 8 == 0"]),
    ("two parameters of one name", "def f(x, x) = x\nkernel k(x: f32) { return f(x, x) }", "TC0207", ["`x`"]),
    ("a size below", "dims H = W\ndims W = 4\nkernel k(x: f32[H]) { return x }", "TC0201", ["move the declaration of W"]),
    ("a def as a method", "def f(x) = x\nkernel k(x: f32) { return x.f() }", "TC0203", ["f(x)"]),
    ("an iterator of a taken name", "kernel k(i: f32[N]) {\n y[i] = i for i in N\n return y\n}", "TC0202", ["the iterator `i`"]),
    ("an iterator inside of its own", "kernel k(x: f32[N]) {\n y[i] = sum(x[i] for i in N) for i in N\n return y\n}", "TC0202", ["the iterator `i`"]),
    ("returns", "kernel k(x: f32[N]) returns f32[N] { return x }", "TC0109", ["write `-> f32[N]`"]),
    ("iterate", "kernel k(a: f32[N], n: i32) {\n iterate n with a { a = a * 2 }\n return a\n}", "TC0503", ["`iterate`"]),
    ("iterate with a step", "kernel k(a: f32[N], n: i32) {\n iterate t in n with a { a = a * t }\n return a\n}", "TC0503", ["`iterate`"]),
    ("a reserved word as a keyword of a call", "kernel k(x: f32[N]) {\n return clip(x,\n  in=1)\n}", "TC0110", ["`in`"]),
    ("a default that does not fit", "kernel k(x: i32 = 1.5) { return x }", "TC0303", ["1.5 does not fit i32"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "words"), [f[1:] for f in FILES], ids=[f[0] for f in FILES])
def test_one_message_for_one_mistake_in_a_file(text: str, code: str, words: list[str]) -> None:
    only_error(text, code, *words)


FOREIGN_PROGRAMS = [
    (
        "a layer norm of PyTorch",
        "mu = x.mean(dim=-1, keepdim=True)\n spread = x.var(dim=-1, keepdim=True, unbiased=False)\n return (x - mu) / torch.sqrt(spread + 1)",
        ["axis=-1", "keepdims=True", "axis=-1", "keepdims=True", "correction=0", "sqrt(...)"],
    ),
    (
        "a chain of views",
        "y = x.view(N * D).view(N, D)\n z = y.permute(1, 0).contiguous()\n return z.t()",
        ["reshape(x, shape)", "permute_dims", "C-contiguous", "x.T"],
    ),
    ("a mask", 'return x.masked_fill(x > 0, float("-inf"))', ["where(mask, value, x)", "write -inf"]),
    ("an unknown name is told once", "z = x + q\n w = z * q\n return w - q", ["unknown name `q`"]),
    ("an unknown operation is told once", "return foo(x) + foo(x + 1)", ["unknown operation `foo`"]),
    ("NumPy", "e = np.exp(x - x.max(axis=-1, keepdims=True))\n return e / np.sum(e, axis=-1)", ["exp(...)", "sum(...)"]),
    ("a sum over an index", "c[i, j] += x[i, j]\n return c", ["c[i, j] = sum(… for k in K) for i, j in …"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "told"), [p[1:] for p in FOREIGN_PROGRAMS], ids=[p[0] for p in FOREIGN_PROGRAMS]
)
def test_programs_of_other_libraries(body: str, told: list[str]) -> None:
    found = errors(f"kernel k(x: f32[N, D]) {{\n {body}\n}}")
    assert len(found) == len(told), [words_of(d) for d in found]
    for diagnostic, words in zip(found, told, strict=True):
        assert words in words_of(diagnostic)


def test_every_error_in_one_run() -> None:
    text = (
        "const A = unknown1\n"
        "def f(x) = x + unknown2\n"
        "kernel a(x: f32[N]) -> f64[N] {\n y = x + unknown3\n z = sin(x, x)\n return x\n}\n"
        "kernel b(x: f32[N], y: f32[M]) { return f(x), x + y, A }\n"
        "kernel c(x: f31[N]) { return x }\n"
        "kernel d(x f32[N]) { return x }\n"
    )
    found = [d.code for d in errors(text)]
    assert sorted(found) == sorted(
        ["TC0109", "TC0201", "TC0201", "TC0201", "TC0204", "TC0305", "TC0402", "TC0306"]
    )


ALONE = [
    ("an unknown name in a def that nothing calls", "def f(x) = x + q\n", "TC0201", "q"),
    ("a wrong call in a def that nothing calls", "def f(x) {\n y = sin(x, x)\n return y\n}\n", "TC0204", "sin(x, x)"),
    ("an unknown operation in a def that nothing calls", "def f(x, axis=-1) = summ(x, axis=axis)\n", "TC0203", "summ"),
    ("a def that nothing calls returns nothing", "def f(x) { y = x }\n", "TC0210", "def f(x) { y = x }"),
    ("an unknown default", "def f(x, y=q) = x + y\n", "TC0201", "q"),
    ("a def that is called with what has an error", "def f(x) = x + q\n", "TC0201", "q"),
]  # fmt: skip


@pytest.mark.parametrize(("definition", "code", "place"), [a[1:] for a in ALONE], ids=[a[0] for a in ALONE])
def test_defs_are_checked_without_a_call(definition: str, code: str, place: str) -> None:
    found = only_error(f"{definition}kernel k(x: f32) {{ return x }}", code)
    assert found.span is not None
    assert found.span.text == place
    assert [d.code for d in errors(f"{definition}kernel k(x: f32) {{ return f(unknown) + 1 }}")] == [
        code,
        "TC0201",
    ]


def test_an_error_in_a_def_is_told_once() -> None:
    text = "def f(x) = x + q\nkernel k(x: f32) { return f(x) + f(x * 2) }\nkernel l(x: f64) { return f(x) }"
    only_error(text, "TC0201", "`q`")


@pytest.mark.parametrize(
    "definition",
    [
        "dims D ~ 4\ndef f(x) = x * D + zeros(D)",
        "def f(x, n) = reshape(x, (n, x.shape[0] // n)) + x[1 : x.shape[0] - 1, None, ...]",
        "def f(x, axis) = sum(x, axis=(axis, 0)) + cumulative_sum(x, axis=axis)",
        "def f(x, dtype) = x.astype(dtype) + zeros((3,), dtype=dtype)",
        "def f(x, w) {\n y[i] = sum(x[i + u] * w[u] for u in w.shape[0]) for i in x.shape[0] - w.shape[0] + 1\n return y\n}",
        "def f(x) {\n a, b = g(x)\n return a + b\n}\ndef g(x) { return x, x.T }",
        'def f(x) = pad(x, ((x.shape[0], 1),)) + concat((x, x)) + einsum("i,i->i", x, x) + tensordot(x, x, axes=x) + roll(x, x)',
    ],
)
def test_a_def_without_a_call_is_not_blamed_for_what_its_arguments_decide(definition: str) -> None:
    assert not errors(f"{definition}\nkernel k(x: f32) {{ return x }}")


# -- other libraries -------------------------------------------------------------------------------

FLOATS = ", ".join(f"{name}: f32[N, N]" for name in "xywabcz")
INTEGERS = "x: i32[N, N], y: i32[N, N]"
BOOLS = "x: bool[N, N], y: bool[N, N]"
OPERANDS = {
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_invert", "invert"], INTEGERS),
    **dict.fromkeys(["left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"], INTEGERS),
    **dict.fromkeys(["logical_and", "logical_or", "logical_not", "logical_xor"], BOOLS),
    **dict.fromkeys(["where", "cond", "piecewise", "select", "masked_fill", "masked_select", "compress"], FLOATS.replace("c: f32", "c: bool")),
    "ger": "x: f32[N], y: f32[M]",
    "outer": "x: f32[N], y: f32[M]",
    "one_hot": "x: i32[N]",
    "gather": "x: f32[N, D], i: i64[M, D]",
    "take_along_dim": "x: f32[N, D], i: i64[M, D]",
    "diag": "x: f32[N, N]",
    "diag_embed": "x: f32[N]",
}  # fmt: skip
MEANINGS = {
    "lo": "0", "hi": "1", "t": "0", "value": "0", "tol": "1e-3", "n": "3", "axes": "(1, 0)", "shape": "(N, N)", "start": "0",
    "stop": "4", "i": "0", "q": "x", "k": "x", "v": "x", "M": "N", "mask": "(x > 0)",
}  # fmt: skip
ADVICE = sorted({**foreign.OPERATIONS, **foreign.METHODS}.items())
WORDS = re.compile(r", or |, which | for rank 2|; | and |: | alone|, x\.T|, as in ")


@pytest.mark.parametrize(("name", "advice"), ADVICE, ids=[n for n, _ in ADVICE])
def test_advice_is_right(name: str, advice: str) -> None:
    """What a help line says to write checks, as far as it is one expression."""
    expression = WORDS.split(advice)[0] if name not in ("logical_and",) else advice
    if expression.startswith(("a ", "the ", "slices", "x[0], ")):
        return
    declared = OPERANDS.get(name, FLOATS)
    for word, meaning in MEANINGS.items():
        if f"{word}: " in declared:
            continue
        expression = re.sub(rf"(?<![\w.]){word}\b(?![(=])", meaning, expression)
    called = re.match(r"\w+", expression)
    if called is not None and called.group() in LATER:
        return
    text = f'import "std/nn.tdsl"\nkernel op({declared}) {{ return {expression} }}'
    found = errors(text)
    assert not found, (expression, [words_of(d) for d in found])


NUMPY_AND_TORCH = """
abs absolute add all amax amin any arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort array
asarray average bitwise_and bitwise_not bitwise_or bitwise_xor broadcast_to cbrt ceil clip concatenate copysign cos cosh
count_nonzero cross cumprod cumsum deg2rad degrees diag diagonal diff divide dot einsum empty empty_like equal exp exp2 expand_dims
expm1 eye fabs fix flatten flip fliplr flipud floor floor_divide fmax fmin fmod full full_like greater greater_equal heaviside
histogram hstack hypot identity inner invert isclose isfinite isinf isnan kron left_shift less less_equal linspace log log10
log1p log2 logaddexp logical_and logical_not logical_or logical_xor matmul max maximum mean median meshgrid min minimum mod
moveaxis multiply nan_to_num nanmax nanmean nanmin nansum negative nonzero norm not_equal ones ones_like outer pad percentile
positive power prod ptp rad2deg radians ravel reciprocal remainder repeat reshape right_shift rint roll rollaxis rot90 round sign
signbit sin sinc sinh sort split sqrt square squeeze stack std subtract sum swapaxes take tan tanh tensordot tile trace transpose
tri tril triu trunc unique vander_ var vdot vstack where zeros zeros_like
addmm baddbmm bmm bernoulli cat chunk clamp conv2d cummax cosine_similarity cross_entropy detach div dropout elu embedding eq erf
erfc expand expit fill_ gather ge gelu gt hardtanh huber_loss index_select item layer_norm le leaky_relu lerp linear log_softmax
logit logsumexp lt masked_fill masked_select max_pool2d mish mm movedim mse_loss mul mv narrow ne neg normalize numel one_hot permute
pow rand randn relu relu6 rsqrt scaled_dot_product_attention scatter_add select selu sigmoid silu softmax softplus softsign sub
swish t topk tril unbind unfold_ unsqueeze view vmap fori_loop scan jit grad len range print
"""


@pytest.mark.parametrize("name", [n for n in NUMPY_AND_TORCH.split() if not n.endswith("_") or n == "fill_"])
def test_the_usual_names_are_known(name: str) -> None:
    """Every usual name of NumPy, PyTorch and JAX is an operation, or its message says what to write."""
    standard = (STANDARD / "nn.tdsl").read_text(encoding="utf-8")
    if name in OPERATIONS or name in LATER:
        return
    (found,) = errors(f"kernel k(x: f32[N]) {{ return {name}(x) }}")
    assert found.code == ("TC0203" if f"def {name}(" in standard else "TC0211")
    assert found.help
    (found,) = errors(f"kernel k(x: f32[N]) {{ return np.{name}(x) }}")
    assert found.code == "TC0211"
    assert found.help


# -- misspelt names --------------------------------------------------------------------------------

NEAR = [
    ("sine", ("sin", "sinh")), ("sqr", ("sqrt",)), ("EXP", ("exp",)), ("Sum", ("sum",)), ("maximun", ("maximum",)),
    ("permute_dim", ("permute_dims",)), ("tahn", ("tan", "tanh")), ("recip", ("reciprocal",)), ("sigmod", ("sigmoid",)),
    ("foo", ()), ("bar", ()), ("q", ()), ("tmp", ()), ("relation", ()), ("xx", ()), ("weights", ()), ("matrix", ("matrix_transpose",)),
    ("squeze", ("squeeze",)), ("brodcast_to", ("broadcast_to",)), ("argmx", ("argmax",)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "proposed"), NEAR, ids=[n for n, _ in NEAR])
def test_near_names(name: str, proposed: tuple[str, ...]) -> None:
    assert near_names(name, (*OPERATIONS, *LATER, "var", "x", "e")) == proposed
