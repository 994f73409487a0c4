"""Whole kernels and files: parameters, statements, results."""

from __future__ import annotations

from random import Random

from programs import elementwise, gathers, index_notation, joining, layout, products, reductions, scans
from programs.growing import FIXED, SYMBOLS, Kernel, Term, add_statement
from tensorc.dtypes import BF16, F16, F32, SUPPORTED, U16

OPERATIONS = (elementwise, reductions, scans, layout, joining, products, index_notation, gathers)
"""The modules whose statements a kernel is grown from: importing one registers them."""

HEADER = """\
dims N ~ 64, M ~ 17, K ~ 9
const HALF = 0.5
def centred(x) = x - mean(x, axis=-1, keepdims=true)
def squash(x, low=-1) { y = maximum(x, low); return minimum(y, 1) }
def spread(x) { a = max(x, axis=-1, keepdims=true); b = min(x, axis=-1, keepdims=true); return a, a - b }
def blend(c, a, b) = where(c, a, HALF * b)
"""


def grow_file(random: Random, kernels: int) -> str:
    """The text of a file of `kernels` kernels, `k0`, `k1`, ..."""
    return HEADER + "\n".join(grow_kernel(random, f"k{n}") for n in range(kernels)) + "\n"


def grow_kernel(random: Random, name: str) -> str:
    k = Kernel(random)
    params = [_param(k, f"p{n}") for n in range(1 + random.randrange(3))]
    if k.chance(30):
        params.append("s: f32 = 0.75")
        k.terms.append(Term("s", F32, ()))
    if k.chance(10):
        text, dtype = k.pick((("r: f16 = 0.3", F16), ("r: bf16 = 1.7", BF16), ("r: u16 = 3", U16)))
        params.append(text)
        k.terms.append(Term("r", dtype, ()))
    for _ in range(2 + random.randrange(8)):
        add_statement(k)
    if not k.lines:  # every statement found nothing that fits
        k.assign(f"{k.terms[0].text} + {k.terms[0].text}", k.terms[0].dtype, k.terms[0].shape)
    results = _results(k)
    body = "\n".join(f"    {line}" for line in (*k.lines, f"return {', '.join(results)}"))
    return f"kernel {name}({', '.join(params)}) {{\n{body}\n}}"


def _param(k: Kernel, name: str) -> str:
    usual = k.pick(("f32", "f32", "f32", "f32", "f64", "f64", "i32", "i64", "bool"))
    dtype = SUPPORTED[k.pick(tuple(SUPPORTED)) if k.chance(40) else usual]
    first = k.terms[0].shape if k.terms and k.chance(60) else None
    rank = k.pick((1, 1, 2, 2, 2, 3))
    # every symbol is bound by an axis that is just that symbol
    shape = first or tuple(k.pick(SYMBOLS if k.chance(75) else FIXED) for _ in range(rank))
    k.terms.append(Term(name, dtype, shape))
    return f"{name}: {dtype}[{', '.join(shape)}]"


def _results(k: Kernel) -> list[str]:
    """The last value, and up to two others; now and then a parameter or the same value twice."""
    locals_ = [t.text for t in k.terms if t.text.startswith("t")]
    extra = [k.pick(locals_) for _ in range(k.pick((0, 0, 1, 2)))]
    if k.chance(5):
        extra.append("p0")
    return list(dict.fromkeys([*extra, locals_[-1]])) if k.chance(95) else [locals_[-1], locals_[-1]]
