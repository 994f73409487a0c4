"""Semantic errors: the code, the place, and what a reader needs in the message."""

from __future__ import annotations

import pytest

from tensorc.diagnostics.model import Diagnostic, DiagnosticBag, Severity
from tensorc.sema.check import check_file
from tensorc.source import Source
from tensorc.syntax.parser import parse_file


def messages(text: str) -> tuple[Diagnostic, ...]:
    bag = DiagnosticBag()
    check_file(parse_file(Source("test.tdsl", text), bag), bag)
    return bag.items


def words_of(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.message} | {diagnostic.label} | {diagnostic.help}"


# (parameters, returned expression, code, text under the carets, words of the message)
EXPRESSIONS = [
    ("x: f32[N]", "x + totl", "TC0201", "totl", ["unknown name `totl`"]),
    ("total: f32[N]", "totl + 1", "TC0201", "totl", ["did you mean `total`"]),
    ("x: f32[N]", "x + sum", "TC0201", "sum", ["is an operation", "sum(...)"]),
    ("x: f32[N]", "x.foo", "TC0201", "x.foo", ["f32[N]", "foo"]),
    ("x: f32[N]", "sine(x)", "TC0203", "sine", ["did you mean `sin`"]),
    ("x: f32[N]", "x(1)", "TC0203", "x", ["is a value"]),
    ("x: f32[N]", "maximum(x)", "TC0204", "maximum(x)", ["takes 2 arguments, found 1"]),
    ("x: f32[N]", "sin(x, x)", "TC0204", "sin(x, x)", ["takes 1 argument, found 2"]),
    ("x: f32[N, D]", "sum(x, 1)", "TC0204", "1", ["axis by name", "axis=1"]),
    ("x: f32[N]", "max(x, x)", "TC0204", "x", ["maximum(x, y)"]),
    ("x: f32[N]", "f32(x, x)", "TC0204", "f32(x, x)", ["one argument"]),
    ("x: f32[N]", "sum(x, axs=0)", "TC0205", "axs=0", ["axs", "did you mean `axis`"]),
    ("x: f32[N]", "max(x, dtype=f64)", "TC0205", "dtype=f64", ["no parameter `dtype`"]),
    ("x: f32[N]", "sin(x, x=x)", "TC0207", "x=x", ["twice"]),
    ("x: f32[N, D]", "sum(x, dim=1)", "TC0211", "dim=1", ["dim", "write axis=1"]),
    ("x: f32[N, D]", "max(x, axis=1, keepdim=true)", "TC0211", "keepdim=true", ["write keepdims=true"]),
    ("x: f32[N]", "var(x, ddof=1)", "TC0211", "ddof=1", ["write correction=1"]),
    ("x: f32[N]", "amax(x)", "TC0211", "amax", ["max(x)"]),
    ("x: f32[N, D]", "x.t()", "TC0211", "x.t", ["x.T"]),
    ("x: f32[N]", "x.contiguous()", "TC0211", "x.contiguous", ["C-contiguous"]),
    ("x: f32[N]", "torch.sin(x)", "TC0211", "torch.sin", ["write sin(...)"]),
    ("x: f32[N]", "np.linalg.norm(x)", "TC0211", "np.linalg.norm", ["sqrt(sum(x * x))"]),
    ("x: f32[N]", "x + np.pi", "TC0211", "np.pi", ["write pi"]),
    ("x: f32[N]", "pow(x, 2)", "TC0211", "pow", ["x ** y"]),
    ("x: f32[N]", "where((x, x), x, x)", "TC0301", "(x, x)", ["a tuple of 2"]),
    ("x: f32[N]", "x & 1", "TC0302", "x & 1", ["`&`", "found f32"]),
    ("x: bool[N]", "x - x", "TC0302", "x - x", ["`-`", "bool", "x ^ y"]),
    ("x: bool[N]", "-x", "TC0302", "-x", ["not x"]),
    ("x: bool[N]", "+x", "TC0302", "+x", ["bool"]),
    ("x: f32[N]", "not x", "TC0302", "not x", ["expected bool, found f32"]),
    ("x: f32[N]", "x << 1", "TC0302", "x << 1", ["expected integers, found f32"]),
    ("x: i32[N]", "x ** -2", "TC0302", "x ** -2", ["-2"]),
    ("x: f32[N]", "where(x, 1, 2)", "TC0302", "where(x, 1, 2)", ["x != 0"]),
    ("x: f32[N]", "mean(x, dtype=i32)", "TC0302", "i32", ["mean", "i32"]),
    ("x: bool[N, N]", "x @ x", "TC0302", "x @ x", ["bool"]),
    ("x: i32[N]", "cumulative_sum(x, dtype=bool)", "TC0302", "bool", ["cumulative_sum", "number dtype"]),
    ("x: f32[N, D]", "cumulative_sum(x)", "TC0403", "cumulative_sum(x)", ["2 axes", "axis=-1"]),
    ("x: f32", "cumulative_max(x)", "TC0403", "cumulative_max(x)", ["a scalar"]),
    ("x: f32[N]", "cumulative_sum(x, axis=1)", "TC0403", "1", ["axis 1 is out of range"]),
    ("x: f32[N]", "cumulative_max(x, dtype=f64)", "TC0205", "dtype=f64", ["no parameter `dtype`"]),
    ("x: f32[N]", "cumsum(x)", "TC0211", "cumsum", ["cumulative_sum(x, axis=0)"]),
    ("x: f32[N]", "x.cumprod()", "TC0211", "x.cumprod", ["cumulative_prod(x, axis=0)"]),
    ("x: f32[N]", "cumulative_sum(x, include_initial=1)", "TC0307", "1", ["include_initial", "true"]),
    ("x: i32[N]", "x + 3000000000", "TC0303", "x + 3000000000", ["3000000000", "i32"]),
    ("x: i64[N]", "x + 9223372036854775808", "TC0303", "x + 9223372036854775808", ["i64"]),
    ("x: f32[N]", "x * 1e39", "TC0303", "x * 1e39", ["1e+39", "f32"]),
    ("x: f32[N]", "x * 1e400", "TC0303", "1e400", ["1e400", "inf"]),
    ("x: i32[N]", "full_like(x, 0.5)", "TC0303", "0.5", ["0.5", "i32"]),
    ("x: f32[N]", "i64(9223372036854775808)", "TC0303", "i64(9223372036854775808)", ["i64"]),
    ("x: f32[N]", "astype(x, 3)", "TC0306", "3", ["expected a dtype"]),
    ("x: f32[N], k: f32", "sum(x, axis=k)", "TC0307", "k", ["axis", "compile time"]),
    ("x: f32[N]", "sum(x, keepdims=1)", "TC0307", "1", ["keepdims"]),
    ("x: f32[3], y: f32[4]", "x + y", "TC0401", "x + y", ["f32[3]", "f32[4]", "3 and 4"]),
    ("x: f32[N], y: f32[M]", "x + y", "TC0402", "x + y", ["f32[N]", "f32[M]", "one name"]),
    ("x: f32[N], y: f32[3]", "x + y", "TC0402", "x + y", ["N and 3"]),
    ("x: f32[N, D]", "sum(x, axis=2)", "TC0403", "2", ["axis 2", "-2 to 1"]),
    ("x: f32", "sum(x, axis=0)", "TC0403", "0", ["is a scalar"]),
    ("x: f32[N, D]", "argmax(x, axis=(0, 1))", "TC0403", "(0, 1)", ["one axis"]),
    ("x: f32[3]", "x[3]", "TC0404", "3", ["index 3", "size 3"]),
    ("x: f32[3]", "x[-4]", "TC0404", "-4", ["index -4"]),
    ("x: f32[N]", "x[N]", "TC0404", "N", ["index N"]),
    ("x: f32[N]", "x[::0]", "TC0404", "0", ["step", "0"]),
    ("x: f32[N]", "x[0.5]", "TC0404", "0.5", ["0.5"]),
    ("x: f32[N, D]", "x[..., ...]", "TC0404", "...", ["one `...`"]),
    ("x: f32[N]", "x.shape[1] + x", "TC0404", "x.shape[1]", ["tuple of 1"]),
    ("x: f32[N]", "x[0, 0]", "TC0405", "x[0, 0]", ["f32[N]", "2 are indexed"]),
    ("x: f32[N, D, K]", "x.T", "TC0405", "x.T", ["rank 2", "x.mT"]),
    ("x: f32[N]", "x.mT", "TC0405", "x.mT", ["f32[N]"]),
    ("x: f32[N, D]", "permute_dims(x, (0,))", "TC0405", "(0,)", ["needs 2 axes, found 1"]),
    ("x: f32[N], s: f32", "x @ s", "TC0405", "x @ s", ["x * y"]),
    ("x: f32[N, D]", "squeeze(x, axis=0)", "TC0406", "0", ["size N"]),
    ("x: f32[N, D], y: f32[N, D]", "x @ y", "TC0407", "x @ y", ["D", "N", ".T"]),
    ("x: f32[0]", "max(x)", "TC0408", "max(x)", ["f32[0]"]),
    ("x: f32[4]", "argmin(x[4:])", "TC0408", "argmin(x[4:])", ["f32[0]"]),
    ("x: f32[N]", "broadcast_to(x, (N, 3))", "TC0409", "broadcast_to(x, (N, 3))", ["(N, 3)"]),
    ("x: f32[N]", "zeros((x,))", "TC0410", "(x,)", ["size", "f32[N]"]),
    ("x: f32[N]", "zeros((-1,))", "TC0410", "(-1,)", ["negative"]),
    ("x: f32[N]", "zeros((N // 0,))", "TC0410", "N // 0", ["zero"]),
    ("x: f32[N, D]", "sum(x, axis=(0, -2))", "TC0411", "(0, -2)", ["axis -2", "twice"]),
    ("x: f32[N]", "x.sort()", "TC0501", "x.sort", ["not supported yet"]),
    ("x: f32[N, M]", 'einsum("ij,jk->ik", x)', "TC0106", '"ij,jk->ik"', ["2 lists", "1 operand"]),
    ("x: f32[N, M]", 'einsum("ijk->i", x)', "TC0106", '"ijk->i"', ["3 letters", "the 2 axes"]),
    ("x: f32[N, M]", 'einsum("i->i", x)', "TC0106", '"i->i"', ["1 letter for", "the 2 axes"]),
    ("x: f32[N, M]", 'einsum("i1->i", x)', "TC0106", '"i1->i"', ["not a list of letters"]),
    ("x: f32[N, M]", 'einsum("ij->ii", x)', "TC0106", '"ij->ii"', ["a letter twice"]),
    ("x: f32[N, M]", 'einsum("ij->k", x)', "TC0106", '"ij->k"', ["no operand has"]),
    ("x: f32[N, M]", 'einsum("i...->i", x)', "TC0106", '"i...->i"', ["missing in the result"]),
    ("x: f32[N, M]", 'einsum("ij->i->j", x)', "TC0106", '"ij->i->j"', ["not a list of letters"]),
    ("x: f32[N, M]", "einsum(x, x)", "TC0106", "x", ["as a string"]),
    ("x: f32[N, M]", 'einsum("ij->i")', "TC0204", 'einsum("ij->i")', ["einsum(subscripts, x1"]),
    ("x: f32[N, M]", 'einsum("ij,jk->ik", x, x)', "TC0407", None, ["sizes M and N"]),
    ("x: f32[N, M]", 'einsum("ii->i", x)', "TC0407", None, ["sizes N and M"]),
    ("x: f32[1, M]", 'einsum("ii->i", x)', "TC0407", None, ["sizes 1 and M"]),
    ("x: bool[N]", 'einsum("i->", x)', "TC0302", None, ["bool"]),
    ("x: f32[N, M]", "tensordot(x, x, axes=1)", "TC0407", None, ["sizes M and N"]),
    ("x: f32[N, M]", "tensordot(x, x, axes=3)", "TC0403", "3", ["expected 0 to 2"]),
    ("x: f32[N, M]", "tensordot(x, x, axes=((0, 1), 0))", "TC0403", None, ["2 of x1 and 1 of x2"]),
    ("x: f32[N, M]", "tensordot(x, x, 1)", "TC0204", "1", ["axes by name"]),
    ("x: f32[N, M]", "vecdot(x, x[0, :-1])", "TC0407", None, ["sizes M and"]),
    ("x: f32[N, M]", "vecdot(x, x[0], axis=1)", "TC0403", "1", ["from the end"]),
    ("x: f32[N, M]", "outer(x, x)", "TC0405", "outer(x, x)", ["two vectors"]),
    ("x: f32[N]", "tril(x)", "TC0405", "tril(x)", ["at least 2 axes"]),
    ("x: f32[N, M]", "tril(x, k=0.5)", "TC0410", "0.5", ["an integer"]),
    ("x: f32[N]", "diagonal(x)", "TC0405", "diagonal(x)", ["at least 2 axes"]),
    ("x: f32[N, M]", "diagonal(x, offset=N)", "TC0307", "N", ["offset"]),
    ("x: f32[N]", "flip(x, axis=1)", "TC0403", "1", ["axis 1"]),
    ("x: f32[N]", "x + eye(x)", "TC0410", "x", ["a size"]),
    ("x: f32[N], i: i64[M]", "x[i]", "TC0503", "i", ["index array", "take(x, i, axis=0)"]),
    ("x: f32[N, D], i: i64[M]", "take(x, i)", "TC0204", "take(x, i)", ["needs axis="]),
    ("x: f32[N], i: f32[M]", "take(x, i)", "TC0302", "i", ["an index must be an integer"]),
    ("x: f32[N], i: bool[M]", "take(x, i)", "TC0302", "i", ["an index must be an integer"]),
    ("x: f32, i: i64[M]", "take(x, i)", "TC0405", "x", ["rank 0"]),
    ("x: f32[N], i: i64[M]", "take(x, i, axis=1)", "TC0403", "1", ["out of range"]),
    ("x: f32[N, D], i: i64[N]", "take_along_axis(x, i)", "TC0405", "i", ["rank 2", "take(x, i, axis=…)"]),
    (
        *("x: f32[N, D], i: i64[M, D]", "take_along_axis(x, i, axis=1)", "TC0402"),
        *("take_along_axis(x, i, axis=1)", ["different sizes"]),
    ),
    ("x: f32[N]", "x[x > 0]", "TC0503", "x > 0", ["mask"]),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "expression", "code", "place", "words"), EXPRESSIONS)
def test_expression(parameters: str, expression: str, code: str, place: str | None, words: list[str]) -> None:
    (found,) = messages(f"kernel k({parameters}) {{\n    return {expression}\n}}")
    assert found.code == code
    assert found.severity is Severity.ERROR
    assert found.span is not None
    assert (found.span.text, found.span.line) == (found.span.text if place is None else place, 2)
    for word in words:
        assert word in words_of(found)


# (file, code, text under the carets, words of the message)
FILES = [
    ("kernel k(x: f32[N]) {\n y = x\n y = 1\n return y\n}", "TC0202", "y", ["assigned twice"]),
    ("def f(x) = f(x)\nkernel k(x: f32) { return x }", "TC0206", "f", ["`f` calls itself"]),
    ("def f(x) = x\ndef f(x) = x\nkernel k(x: f32) { return x }", "TC0207", "def f(x) = x", ["`f`"]),
    ("const A = 1\ndims A\nkernel k(x: f32) { return x }", "TC0207", "A", ["`A`"]),
    ("kernel k(x: f32, x: f32) { return x }", "TC0207", "x: f32", ["two parameters"]),
    ("kernel k(x: f32) -> (a: f32, a: f32) { return x, x }", "TC0207", "a: f32", ["two results"]),
    ("kernel k(x: f32) { return x }\nkernel k(x: f32) { return x }", "TC0207", None, ["`k`"]),
    ("kernel k(out: f32[N]) { return out }", "TC0207", "out: f32[N]", ["out", "out_"]),
    ("kernel k(_: f32[N]) { return 1 }", "TC0207", "_: f32[N]", ["cannot be called `_`"]),
    ("kernel __name__(x: f32[N]) { return x }", "TC0207", None, ["Python"]),
    ("kernel k(N: f32[N]) { return N }", "TC0207", "N: f32[N]", ["parameter and a size"]),
    ("kernel k(x: f32[N * M]) { return x }", "TC0209", "N", ["`N`"]),
    ("kernel k(x: f32[N]) -> f32[M] { return x }", "TC0209", "M", ["`M`", "M: i64"]),
    ("dims M ~ 4\nkernel k(x: f32[N]) { return x * M }", "TC0209", "M", ["`M`"]),
    ("kernel k(x: f32[N]) { y = x }", "TC0210", "kernel k(x: f32[N]) { y = x }", ["returns nothing"]),
    ("kernel k(x: f32) -> (a: f32, b: f32) { return x }", "TC0210", "x", ["2 results", "returns 1"]),
    ("kernel k(x: f32) {\n a, b = x\n return a\n}", "TC0210", "a, b = x", ["2 names"]),
    ("kernel k(x: f32) {\n return x\n y = x\n}", "TC0210", "y = x", ["nothing after"]),
    ("def f(x) { y = x }\nkernel k(x: f32) { return f(x) }", "TC0210", None, ["`f` returns nothing"]),
    ("const A = 1", "TC0212", "", ["test.tdsl"]),
    ("kernel k(x: f32[N]) {\n y: f64[N] = x\n return y\n}", "TC0301", "y: f64[N]", ["f64", "f32"]),
    ("kernel k(x: f32[N], e: i32 = 0.5) { return x }", "TC0303", "0.5", ["i32"]),
    ("const A: i32 = 3000000000\nkernel k(x: f32) { return x }", "TC0303", "3000000000", ["i32"]),
    ("kernel k(x: i32[N]) -> f32[N] { return x * 2 }", "TC0305", "x * 2", ["i32[N]", "f32[N]", "converts"]),
    ("kernel k(x: float32[N]) { return x }", "TC0306", "float32[N]", ["write f32"]),
    ("kernel k(x: f31[N]) { return x }", "TC0306", "f31[N]", ["did you mean"]),
    ("const A = exp(1)\nkernel k(x: f32) { return x }", "TC0307", "exp(1)", ["compile time"]),
    ("kernel k(x: f32[N], y: f32[N] = 0) { return x }", "TC0307", "0", ["only scalar"]),
    ("kernel k(x: f32[N]) -> f32 { return x }", "TC0406", "x", ["rank 1", "rank 0"]),
    ("kernel k(x: f32[N]) -> f32[N + 1] { return x }", "TC0406", "x", ["N + 1", "axis 0"]),
    ("kernel k(x: f32[3]) -> f32[4] { return x }", "TC0406", "x", ["size 3", "says 4"]),
    ("kernel k(x: f32[N]) {\n y: f32[4, N] = x\n return y\n}", "TC0406", "y: f32[4, N]", ["rank 1"]),
    ("kernel k(x: f32[0.5]) { return x }", "TC0410", "0.5", ["0.5"]),
    ("dims H = -1\nkernel k(x: f32) { return x }", "TC0410", "-1", ["H", "-1"]),
    (
        'import "std/no.tdsl"\nkernel k(x: f32) { return x }',
        "TC0214",
        'import "std/no.tdsl"',
        ["std/nn.tdsl"],
    ),
    ('import "near.tdsl"\nkernel k(x: f32) { return x }', "TC0214", 'import "near.tdsl"', ["a text"]),
    ('import "/x.tdsl"\nkernel k(x: f32) { return x }', "TC0214", 'import "/x.tdsl"', ["relative"]),
    ('import "std/nn.tdsl"\nimport "std/nn.tdsl"\nkernel k(x: f32) { return x }', "TC0207", None, ["twice"]),
    (
        'import "std/nn.tdsl"\ndef mse(x) = x\nkernel k(x: f32) { return x }',
        "TC0207",
        "def mse(x) = x",
        ["mse"],
    ),
    ("kernel k(x: f32[N]) { return softmax(x) }", "TC0203", "softmax", ['import "std/nn.tdsl"']),
    ("kernel k(x: f32[N]) { return F.softmax(x) }", "TC0211", "F.softmax", ['import "std/nn.tdsl"']),
    ("kernel k[T: f32 | f31](x: T[N]) { return x }", "TC0306", "T: f32 | f31", ["did you mean"]),
    ("kernel k[T: f32 | float](x: T[N]) { return x }", "TC0306", "T: f32 | float", ["write f32"]),
    ("kernel k[T: f32 | f32](x: T[N]) { return x }", "TC0207", "T: f32 | f32", ["f32 twice"]),
    ("kernel k[T: f32, T: f64](x: T[N]) { return x }", "TC0207", "T: f64", ["two dtype parameters"]),
    ("kernel k[f32: f64](x: f32[N]) { return x }", "TC0207", "f32: f64", ["a meaning already"]),
    ("const T = 1\nkernel k[T: f64](x: T[N]) { return x }", "TC0207", "T: f64", ["a meaning already"]),
    ("kernel k[T: f32](x: f32[N], s: T) { return x }", "TC0306", "T: f32", ["no array parameter", "x: T[N]"]),
    ("kernel k[T: f32](x: T[N]) { return x }\nkernel k_f32(x: f32) { return x }", "TC0207", None, ["k_f32"]),
    ("kernel k[T: f32 | f64](x: T[N]) -> f32[N] { return x }", "TC0305", "x", ["f64"]),
    ("kernel k[T: f32 | f64](x: T[T]) { return x }", "TC0410", "T", ["the dtype f32"]),
    (
        "def f(x, i) {\n y[j] = x[i] for j in 2\n return y\n}\n"
        "kernel k(x: f32[N]) {\n z[i] = f(x, i) for i in N\n return z\n}",
        "TC0503",
        "y[j] = x[i] for j in 2",
        ["called from index notation"],
    ),
    ("def f(x) = T(x)\nkernel k[T: f32](x: T[N]) { return f(x) }", "TC0203", "T", ["unknown operation"]),
    ("kernel k(x: f32) {\n @inline y = x\n return y\n}", "TC0115", "@inline", ["parameter"]),
    ("kernel k(x: f32[N]) {\n @inline y = sum(x)\n return y\n}", "TC0115", "@inline", ["always stored"]),
    ("kernel k(x: f32[N]) {\n @inline y = cumulative_sum(x)\n return y\n}", "TC0115", "@inline", ["a scan"]),
    (
        "kernel k(x: f32[N]) {\n @inline y = x.shape\n return x * y[0]\n}",
        "TC0115",
        "@inline",
        ["not an array"],
    ),
    ("kernel k(x: f32[N]) {\n @inline(1) y = x + 1\n return y\n}", "TC0115", "@inline(1)", ["no arguments"]),
    ("kernel k(x: f32) {\n @inline @materialize y = x + 1\n return y\n}", "TC0115", None, ["already"]),
    (
        "kernel k(x: f32) {\n @inlined y = x + 1\n return y\n}",
        "TC0203",
        "@inlined",
        ["did you mean `inline`"],
    ),
    ("kernel k(x: f32, n: i32) {\n iterate n with x { x = x }\n return x\n}", "TC0503", None, ["iterate"]),
    ("const K = 3; kernel k(x: f32[N]) requires N >= 1, K > 4 { return x }", "TC0412", "K > 4", ["3 > 4"]),
    ("kernel k(x: f32[N]) requires N != N { return x }", "TC0412", "N != N", ["never holds"]),
    ("kernel k(x: f32) requires x > 0 { return x }", "TC0503", "x", ["compares sizes"]),
    ("kernel k(x: f32[N]) requires N > 0 or N { return x }", "TC0302", "N", ["`and`, `or` and `not`"]),
]


@pytest.mark.parametrize(("text", "code", "place", "words"), FILES)
def test_file(text: str, code: str, place: str | None, words: list[str]) -> None:
    errors = [d for d in messages(text) if d.severity is Severity.ERROR]
    assert code in [d.code for d in errors]
    assert len(errors) <= 2
    found = next(d for d in errors if d.code == code)
    assert found.span is not None
    if place is not None:
        assert found.span.text == place
    for word in words:
        assert word in words_of(found)


# (the statement that defines y, code, text under the carets, words of the message); x: f32[N, M], v: f32[7]
INDEX_NOTATION = [
    ("y[i] = x[i, 0] for i in N + 1", "TC0404", "i", ["reaches N", "the size is N"]),
    ("y[i, j] = x[i - 1, j] for i in N, j in M", "TC0404", "i - 1", ["reaches -1"]),
    ("y[i, j] = x[i, 2 * j] for i in N, j in M", None, "", []),
    ("y[i, j] = x[i, 2 * j + 1] for i in N, j in M", "TC0404", "2 * j + 1", ["reaches 2*M - 1"]),
    ("y[i] = v[i] for i in 8", "TC0404", "i", ["reaches 7", "the size is 7"]),
    ("y[i] = v[7 - i] for i in 7", "TC0404", "7 - i", ["reaches 7"]),
    ("y[i] = v[6 - i] for i in 7", None, "", []),
    ("y[i] = sum(v[i + u] for u in 3) for i in 6", "TC0404", "i + u", ["reaches 7"]),
    ("y[i] = x[i, M] for i in N", "TC0404", "M", ["reaches M"]),
    ("y[i] = v[i - 8] for i in 1", "TC0404", "i - 8", ["reaches -8"]),
    ("y[i] = x[i] for i in N", "TC0405", "x[i]", ["2 axes", "index every axis"]),
    ("y[i] = x for i in N", "TC0405", "x", ["a whole array"]),
    ("y[i] = x[i, 0] + x for i in N", "TC0405", "x", ["a whole array"]),
    ("y[i] = v[i] @ v[i] for i in 7", "TC0405", "v[i] @ v[i]", ["sum(a[i, k] * b[k, j] for k in K)"]),
    ("y[i] = sum(v[i]) for i in 7", "TC0405", "sum(v[i])", ["sum(x[k] for k in K)"]),
    ("y[i] = squeeze(v[i], axis=0) for i in 7", "TC0405", "squeeze(v[i], axis=0)", ["whole arrays"]),
    ("y[i] = v[i][0] for i in 7", "TC0405", "v[i][0]", ["no axes"]),
    ("y[i] = x[i, :] for i in N", "TC0503", ":", ["index every axis"]),
    ("y[i] = x[i, None] for i in N", "TC0503", "None", ["index every axis"]),
    ("y[i] = v[i // 2] for i in 15", "TC0404", "i // 2", ["reaches 7, and the size is 7"]),
    ("y[i] = v[(i - 1) // 2] for i in 7", "TC0404", "(i - 1) // 2", ["reaches -1"]),
    ("y[i] = v[i % 8] for i in 8", "TC0404", "i % 8", ["reaches 7"]),
    ("y[i] = v[v[i]] for i in 7", "TC0404", "v[i]", ["an integer", "an element of f32"]),
    ("y[i] = v[i + 0.5] for i in 7", "TC0404", "i + 0.5", ["an integer"]),
    ("y[i] = mean(x[i, k] for k in M) for i in N", "TC0203", "mean", ["takes no `for`", "sum"]),
    ("y[i, i] = x[i, i] for i in N", "TC0119", None, ["`i` stands there twice"]),
    ("y[i] = x[i, j] for i in N, j in M", "TC0119", None, ["`j` is on one side only", "y[i, j]"]),
    ("y[i, j] = v[i] for i in 7", "TC0119", None, ["`j` is on one side only"]),
    ("y = sum(x[i, j] for i in N, i in M)", "TC0207", "i in M", ["two iterators"]),
    ("y[i] = sum(x[i, i] for i in M) for i in N", "TC0202", "i in M", ["a name that is taken"]),
    ("y[v] = 1 for v in N", "TC0202", "v in N", ["a name that is taken"]),
    ("y[i] = sum(x[i, k] for k in i) for i in N", "TC0503", "i", ["where"]),
    ("y = sum(v[i] for i in 0.5)", "TC0410", "0.5", ["a size"]),
    ("y = sum(v[i] for i in -1)", "TC0410", "-1", ["negative"]),
    ("y = max(v[i] for i in 0)", "TC0408", "max(v[i] for i in 0)", ["empty"]),
    ("y[i] = (v[i], 1) for i in 7", "TC0301", "(v[i], 1)", ["a tuple"]),
    ("y[i] = v[i] and true for i in 7", "TC0302", "v[i] and true", ["bool"]),
    ("y[i] = v[i] for i in n", "TC0201", "n", ["unknown name"]),
    ("@inline y[i] = sum(x[k, i] for k in N) for i in M", "TC0115", "@inline", ["always stored"]),
]


@pytest.mark.parametrize(("statement", "code", "place", "words"), INDEX_NOTATION)
def test_index_notation(statement: str, code: str | None, place: str | None, words: list[str]) -> None:
    text = f"kernel k(x: f32[N, M], v: f32[7]) {{\n {statement}\n return y\n}}"
    errors = [d for d in messages(text) if d.severity is Severity.ERROR]
    assert [d.code for d in errors] == ([] if code is None else [code])
    for found in errors:
        assert found.span is not None
        assert place is None or found.span.text == place
        assert [w for w in words if w not in words_of(found)] == []


WARNINGS = [
    ("kernel k(x: f32[N], i: i32[N]) { return x * i }", "TC0304", "x * i"),
    ("kernel k(max: f32[N]) { return max }", "TC0208", "max: f32[N]"),
    ("def exp(x) = x\nkernel k(x: f32[N]) { return exp(x) }", "TC0208", "def exp(x) = x"),
    ("const pi = 3\nkernel k(x: f32[N]) { return x * pi }", "TC0208", "const pi = 3"),
    ("kernel k(x: f32[N]) {\n sum = x\n return sum\n}", "TC0208", "sum"),
    ("kernel k(x: f32[N]) {\n y = sin(x)\n return x\n}", "TC0213", "y"),
]


@pytest.mark.parametrize(("text", "code", "place"), WARNINGS)
def test_warning(text: str, code: str, place: str) -> None:
    (found,) = messages(text)
    assert (found.severity, found.code) == (Severity.WARNING, code)
    assert found.span is not None and found.span.text == place


def test_the_usual_names_are_no_surprise() -> None:
    text = "kernel k(x: f32[N], w: f32[N]) {\n e = exp(x)\n _ = sin(x)\n return e * w, i64(x) == 2\n}"
    assert messages(text) == ()


def test_a_second_assignment_shows_the_first() -> None:
    (found,) = messages("kernel k(x: f32[N]) {\n value = x\n value = x + 1\n return value\n}")
    assert found.span is not None and found.span.line == 3
    assert [(s.span.line, s.text) for s in found.secondary] == [(2, "first assigned here")]


def test_an_error_inside_a_def_keeps_the_call() -> None:
    (found,) = messages("def f(x, y) = x + y\nkernel k(x: f32[3], y: f32[4]) {\n    return f(x, y)\n}")
    assert found.span is not None
    assert (found.span.text, found.span.line) == ("x + y", 1)
    assert [(s.text, s.line) for s in found.span.via] == [("f(x, y)", 3)]


def test_a_circle_of_defs_is_reported_once() -> None:
    text = "def f(x) = g(x)\ndef g(x) = h(x)\ndef h(x) = f(x)\nkernel k(x: f32) { return f(x) }"
    assert [(d.code, d.span.text if d.span else "") for d in messages(text)] == [("TC0206", "g")]


def test_messages_come_in_the_order_of_the_source() -> None:
    text = (
        "kernel a(x: f33[N]) -> f34[N] {\n return u\n}\n"
        "const A = zz\n"
        "def f(x) = x + w\n"
        "kernel b(x: f32[N]) {\n y = f(x)\n return v\n}"
    )
    found = [d.span.text for d in messages(text) if d.span is not None]
    assert found == ["f33[N]", "f34[N]", "u", "zz", "w", "v"]
