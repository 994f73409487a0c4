"""The parser: what each construct becomes, where it stands, and that depth is no limit."""

import ast as python_ast
from collections.abc import Iterator
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorc.diagnostics.model import DiagnosticBag
from tensorc.source import Source
from tensorc.syntax import ast
from tensorc.syntax.parser import parse_file

CORPUS = {
    "contract": """\
dims N ~ 1024, D ~ 1024          # hints
dims H = 64, W = 2 * 32
const SQRT1_2 = 0.7071067811865476
const LIMIT: f64 = -1e-3
import "std/nn.tdsl"

def gelu(x) = 0.5 * x * (1 + erf(x * SQRT1_2))
def softmax(x, axis=-1) {
    e = exp(x - max(x, axis=axis, keepdims=true))
    return e / sum(e, axis=axis, keepdims=true)
}

## Numerically stable softmax over the last axis.
kernel rows(x: f32[N, D]) -> f32[N, D] {
    return softmax(x)
}

kernel stats(x: f32[N, D], eps: f32 = 1e-5) -> (mu: f32[N], rstd: f32[N]) requires D >= 1 {
    mu = mean(x, axis=1)
    return mu, 1 / sqrt(var(x, axis=1) + eps)
}
""",
    "iterate": """\
kernel jacobi(a: f32[N, N], steps: i32) -> f32[N, N] {
    iterate steps with a {
        inner = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a = update(a, inner, (1:-1, 1:-1))
    }
    return a
}
kernel power(a: f32[N, N], v: f32[N], w: f32[N], n: i32) -> (a: f32[N], b: f32[N]) {
    iterate t in n with v,
        w { v = a @ w; w = v * t }
    return v,
        w
}
""",
    "index notation": """\
kernel stencil(x: f32[H, W]) -> f32[H, W - 1] {
    @materialize
    b[i, j] = (x[i, j] + x[i, j+1]) / 2
        for i in H,
            j in W - 1
    return b
}
kernel product(a: f32[I, K], b: f32[K, J], w: f32[5, 5]) {
    c[i, j] = sum(a[i, k] * b[k, j] for k in K) for i in I, j in J
    d[i] = sum(a[2*i + u, v // 2] * w[u, v] for u in 5, v in 5) for i in I // 2
    return c, d
}
""",
    "forms": """\
kernel all_of_it[T: f32 | f64, U: i32](
    x: T[2 * H, (H - K) // 2 + 1],   # a comment inside brackets
    i: U[N, K, 3], scale: T = 2.0, flag: bool[] = true,
) -> (
    a: T[N],
    return_: bool,
) requires N % 8 == 0, 1 <= K <= 7,
    K != 3
{
    _, top = split(x[:, None], sizes=(1, 2,), mode="edge")
    y: f32[N] = x[..., ::-1, 0]; z = x.T.mT.shape[0]
    e = ((), (x,), (1:-1, ::2), None, False)
    s = not x == y and x < y <= z or -x ** -2 ** y @ z % 3 // 2
    m = ~x & y | z ^ x << 2 >> 1
    n = 0xFF + 0b101 + 1_000 + .5 + 1. + 1e5 + 2.5E-3 + 1_0.0_1
    r = x.sum(axis=1).reshape((N, -1))(3)
    return s, m
}
""",
    "layout": """\
@inline
@unroll(4, deep=true)
kernel f(x: f32[N])
    -> f32[N]
    requires N > 0
{ return x };;
const A = 1; const B =
    2
kernel g(x: f32[N]) {}
""",
}


def parse(text: str) -> ast.File:
    bag = DiagnosticBag()
    file = parse_file(Source("test.tdsl", text), bag)
    assert [d.message for d in bag.items] == []
    return file


def statement(text: str) -> ast.Statement:
    (kernel,) = parse(f"kernel f(x: f32[N]) {{\n{text}\n}}\n").items
    assert isinstance(kernel, ast.Kernel)
    return kernel.body[0]


def expression(text: str) -> ast.Expr:
    found = statement(f"return {text}")
    assert isinstance(found, ast.Return)
    return found.values[0]


def children(node: ast.Node) -> Iterator[ast.Node]:
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, ast.Node):
            yield value
        elif isinstance(value, tuple):
            yield from (v for v in value if isinstance(v, ast.Node))


def nodes(file: ast.File) -> list[ast.Node]:
    found: list[ast.Node] = []
    pending: list[ast.Node] = list(file.items)
    while pending:
        found.append(pending.pop())
        pending.extend(children(found[-1]))
    return found


@pytest.mark.parametrize("name", CORPUS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_corpus_parses_and_every_node_lies_within_its_parent(name: str, newline: str) -> None:
    file = parse(CORPUS[name].replace("\n", newline))
    assert file.items
    for node in nodes(file):
        assert node.span.source is file.source
        assert node.span.text.strip() == node.span.text != ""
        for child in children(node):
            assert node.span.start <= child.span.start <= child.span.end <= node.span.end


def test_a_node_covers_its_own_text() -> None:
    file = parse(CORPUS["forms"])
    texts = {(type(n).__name__, n.span.text) for n in nodes(file)}
    assert {
        ("Call", 'split(x[:, None], sizes=(1, 2,), mode="edge")'),
        ("Keyword", 'mode="edge"'),
        ("Subscript", "x[..., ::-1, 0]"),
        ("Slice", "::-1"),
        ("Ellipsis", "..."),
        ("Binary", "(H - K) // 2 + 1"),
        ("Binary", "H - K"),
        ("Compare", "1 <= K <= 7"),
        ("Tuple", "()"),
        ("Tuple", "(x,)"),
        ("Target", "y: f32[N]"),
        ("TypeParam", "T: f32 | f64"),
        ("KernelParam", "scale: T = 2.0"),
        ("Return", "return s, m"),
        ("Call", "x.sum(axis=1).reshape((N, -1))(3)"),
    } <= texts


def test_a_kernel() -> None:
    items = parse(CORPUS["forms"]).items
    (kernel,) = items
    assert isinstance(kernel, ast.Kernel)
    assert kernel.name == "all_of_it"
    assert [(t.name, t.choices) for t in kernel.type_params] == [("T", ("f32", "f64")), ("U", ("i32",))]
    assert [p.name for p in kernel.params] == ["x", "i", "scale", "flag"]
    assert [len(p.type.sizes) for p in kernel.params] == [2, 3, 0, 0]
    assert kernel.results is not None
    assert [(r.name, r.type.name, len(r.type.sizes)) for r in kernel.results] == [
        ("a", "T", 1),
        ("return_", "bool", 0),
    ]
    assert [r.span.text for r in kernel.requires] == ["N % 8 == 0", "1 <= K <= 7", "K != 3"]
    assert kernel.doc == ""
    assert len(kernel.body) == 9


def test_results_that_are_not_named_or_not_written() -> None:
    first, second = parse("kernel f(x: f32[N]) -> f32[N] { return x }\nkernel g() { return 1 }").items
    assert isinstance(first, ast.Kernel)
    assert isinstance(second, ast.Kernel)
    assert first.results is not None
    assert [(r.name, r.type.span.text, r.default) for r in first.results] == [("", "f32[N]", None)]
    assert second.results is None
    assert second.params == ()


def test_decorators() -> None:
    kernel = parse(CORPUS["layout"]).items[0]
    assert isinstance(kernel, ast.Kernel)
    assert [d.name for d in kernel.decorators] == ["inline", "unroll"]
    unroll = kernel.decorators[1]
    assert ([a.span.text for a in unroll.args], [k.name for k in unroll.keywords]) == (["4"], ["deep"])
    assert kernel.span.text.startswith("@inline")
    stencil = parse(CORPUS["index notation"]).items[0]
    assert isinstance(stencil, ast.Kernel)
    definition = stencil.body[0]
    assert isinstance(definition, ast.IndexDefinition)
    assert [d.name for d in definition.decorators] == ["materialize"]
    assert (definition.name, definition.indices) == ("b", ("i", "j"))
    assert [(i.name, i.extent.span.text) for i in definition.iterators] == [("i", "H"), ("j", "W - 1")]


def test_dims_consts_imports_and_functions() -> None:
    hints, fixed, _, limit, imported, gelu, softmax, *_ = parse(CORPUS["contract"]).items
    assert isinstance(hints, ast.Dims)
    assert [(d.name, d.value, d.hint) for d in hints.declarations] == [("N", None, 1024), ("D", None, 1024)]
    assert isinstance(fixed, ast.Dims)
    assert [(d.name, d.value and d.value.span.text, d.hint) for d in fixed.declarations] == [
        ("H", "64", None),
        ("W", "2 * 32", None),
    ]
    assert isinstance(limit, ast.Const)
    assert limit.type is not None
    assert limit.span.text == "const LIMIT: f64 = -1e-3"
    assert isinstance(imported, ast.Import)
    assert imported.path == "std/nn.tdsl"
    assert isinstance(gelu, ast.Function)
    (body,) = gelu.body
    assert isinstance(body, ast.Return)
    assert body.values[0].span.text == "0.5 * x * (1 + erf(x * SQRT1_2))"
    assert isinstance(softmax, ast.Function)
    assert [(p.name, p.default and p.default.span.text) for p in softmax.params] == [
        ("x", None),
        ("axis", "-1"),
    ]
    assert len(softmax.body) == 2


def test_iterate() -> None:
    _, power = parse(CORPUS["iterate"]).items
    assert isinstance(power, ast.Kernel)
    loop = power.body[0]
    assert isinstance(loop, ast.Iterate)
    assert (loop.counter, loop.carried, loop.steps.span.text, len(loop.body)) == ("t", ("v", "w"), "n", 2)
    plain = statement("iterate 3 with x { x = x * 2 }")
    assert isinstance(plain, ast.Iterate)
    assert plain.counter is None


def test_a_chained_comparison_keeps_every_operand() -> None:
    chain = expression("x < y <= z != 0")
    assert isinstance(chain, ast.Compare)
    assert chain.first.span.text == "x"
    assert chain.ops == ("<", "<=", "!=")
    assert [o.span.text for o in chain.operands] == ["y", "z", "0"]


def test_a_comprehension_is_not_a_call() -> None:
    found = expression("max(x[i + u] * w[u] for u in 5, v in N // 2)")
    assert isinstance(found, ast.Comprehension)
    assert (found.function.span.text, found.body.span.text) == ("max", "x[i + u] * w[u]")
    assert [(i.name, i.extent.span.text) for i in found.iterators] == [("u", "5"), ("v", "N // 2")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("00", 0),
        ("42", 42),
        ("1_000", 1000),
        ("0xFf", 255),
        ("0b101", 5),
        ("9223372036854775808", 2**63),
    ],
)
def test_integers(text: str, value: int) -> None:
    found = expression(text)
    assert isinstance(found, ast.Int)
    assert found.value == value


@pytest.mark.parametrize("text", ["0.1", "1.", ".5", "1e5", "2.5E-3", "1_0.0_1"])
def test_a_float_keeps_its_text(text: str) -> None:
    found = expression(text)
    assert isinstance(found, ast.Float)
    assert found.text == text


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("True", True), ("false", False), ("False", False)]
)
def test_bools_in_both_spellings(text: str, value: bool) -> None:
    found = expression(text)
    assert isinstance(found, ast.Bool)
    assert found.value is value


def test_reserved_words_are_whole_words() -> None:
    found = expression("android or notation")
    assert isinstance(found, ast.Binary)
    assert (found.left.span.text, found.op, found.right.span.text) == ("android", "or", "notation")


@pytest.mark.parametrize(
    ("text", "doc"),
    [
        ("## One line.\nkernel f() {}", "One line."),
        ("##One.\n##\n##  Two.  \n@inline\nkernel f() {}", "One.\n\n Two."),
        ("## Not this.\n\nkernel f() {}", ""),
        ("## Not this.\n# nor this\nkernel f() {}", ""),
        ("# no doc\nkernel f() {}", ""),
        ("const A = 1\n## This.\r\nkernel f() {}", "This."),
    ],
)
def test_doc_comments(text: str, doc: str) -> None:
    kernel = parse(text).items[-1]
    assert isinstance(kernel, ast.Kernel)
    assert kernel.doc == doc


def test_a_file_without_items_parses() -> None:
    assert parse("# nothing\n").items == ()


def test_a_sum_of_ten_thousand_terms() -> None:
    node = expression(" + ".join(f"x{k}" for k in range(10_000)))
    depth = 0
    while isinstance(node, ast.Binary):
        assert node.span.start == node.left.span.start
        node, depth = node.left, depth + 1
    assert depth == 9_999


@pytest.mark.parametrize(
    "text",
    [
        "(" * 2000 + "x" + ")" * 2000,
        "f(" * 2000 + "x" + ")" * 2000,
        "-" * 5000 + "x",
        "**".join(["x"] * 3000),
        "x" + "[0]" * 3000,
        "x" + ".T" * 3000,
        " < ".join(["x"] * 3000),
    ],
)
def test_depth_is_no_limit(text: str) -> None:
    assert expression(text).span.text == (text.strip("()") if text.startswith("(") else text)


# -- precedence, against Python's own parser -------------------------------------------------------

_BINARY = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "@",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "and",
    "or",
    "<",
    "<=",
    "==",
    "!=",
]
_expressions = st.recursive(
    st.sampled_from(["a", "b", "3", "0.5"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(_BINARY), inner).map(" ".join),
        st.tuples(st.sampled_from(["-", "+", "~"]), inner).map("".join),
        inner.map(lambda e: f"(not {e})"),
        inner.map(lambda e: f"({e})"),
        inner.map(lambda e: f"f({e}).T[{e}]"),
    ),
    max_leaves=12,
)


def shape_of(node: ast.Expr) -> str:
    match node:
        case ast.Binary():
            return f"({shape_of(node.left)} {node.op} {shape_of(node.right)})"
        case ast.Unary():
            return f"({node.op} {shape_of(node.operand)})"
        case ast.Compare():
            parts = [f"{op} {shape_of(o)}" for op, o in zip(node.ops, node.operands, strict=True)]
            return f"({shape_of(node.first)} {' '.join(parts)})"
        case ast.Call():
            return f"{shape_of(node.function)}({', '.join(map(shape_of, node.args))})"
        case ast.Attribute():
            return f"{shape_of(node.value)}.{node.name}"
        case ast.Subscript():
            return f"{shape_of(node.value)}[{', '.join(map(shape_of, node.items))}]"
        case _:
            return node.span.text


_PYTHON = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Div": "/",
    "FloorDiv": "//",
    "Mod": "%",
    "Pow": "**",
    "MatMult": "@",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
    "LShift": "<<",
    "RShift": ">>",
    "And": "and",
    "Or": "or",
    "Lt": "<",
    "LtE": "<=",
    "Eq": "==",
    "NotEq": "!=",
    "USub": "-",
    "UAdd": "+",
    "Invert": "~",
    "Not": "not",
}


def python_shape(node: python_ast.expr) -> str:
    match node:
        case python_ast.BinOp(left, op, right):
            return f"({python_shape(left)} {_PYTHON[type(op).__name__]} {python_shape(right)})"
        case python_ast.BoolOp(op, values):
            text = python_shape(values[0])
            for value in values[1:]:
                text = f"({text} {_PYTHON[type(op).__name__]} {python_shape(value)})"
            return text
        case python_ast.UnaryOp(op, operand):
            return f"({_PYTHON[type(op).__name__]} {python_shape(operand)})"
        case python_ast.Compare(left, ops, comparators):
            pairs = zip(ops, comparators, strict=True)
            parts = [f"{_PYTHON[type(op).__name__]} {python_shape(c)}" for op, c in pairs]
            return f"({python_shape(left)} {' '.join(parts)})"
        case python_ast.Call(function, args, _):
            return f"{python_shape(function)}({', '.join(map(python_shape, args))})"
        case python_ast.Attribute(value, name, _):
            return f"{python_shape(value)}.{name}"
        case python_ast.Subscript(value, index, _):
            return f"{python_shape(value)}[{python_shape(index)}]"
        case _:
            return python_ast.unparse(node)


@settings(max_examples=150, deadline=None)
@given(_expressions)
def test_precedence_is_that_of_python(text: str) -> None:
    assert shape_of(expression(text)) == python_shape(python_ast.parse(text, mode="eval").body)
