"""The freedoms of `math=fast`, taken on a TensorProgram: contraction, reciprocals, cheaper functions.

*Requires* a simplified program. *Ensures* results that differ from the strict ones by roundings only: NaN,
infinities, signed zeros and subnormals keep their meaning. What is rewritten depends on the program and on
whether the target has fused multiply-add, never on the schedule: the bits stay the same for any number of
threads, fusion, policy and compiler. Only f32 and f64 are touched; a value that is pinned, or has another
user, is merged into none.

*Rewrite*: the table `_RULES`, tried in order on every op, operands first; each rule's docstring shows
before -> after. (LLVM's `contract`, `arcp`, `reassoc` and `afn` elsewhere.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from tensorc.dtypes import BOOL, F32, F64
from tensorc.operators import FAST, OPERATORS
from tensorc.tensor_ir.constant_fold import Number, round_to
from tensorc.tensor_ir.program import Constant, Relaxation, TensorOp, TensorProgram, View
from tensorc.tensor_ir.simplify import simplify_program


def relax_program(p: TensorProgram, has_fma: bool) -> TensorProgram:
    """The program with every freedom taken, and a list of them; `p` itself when there is none to take."""
    relaxed = _Relaxer(p, has_fma)
    for op in p.ops:
        relaxed.add(op)
    return simplify_program(relaxed.program()) if relaxed.notes else p


def render_relaxations(p: TensorProgram) -> str:
    """A line for each kind of freedom that was taken: how often, and of which operations in which lines."""
    rows: dict[str, list[str]] = {}
    for r in p.relaxations:
        rows.setdefault(r.kind, []).append(f"{r.origin} (line {r.span.line})")
    lines = [f"  {kind:<13}  {len(found)}  {', '.join(dict.fromkeys(found))}" for kind, found in rows.items()]
    return "\n".join([f"math fast: {len(p.relaxations)} taken", *lines])


class _Relaxer:
    """The ops written so far. A `private` value has one user, which may take its place."""

    def __init__(self, p: TensorProgram, has_fma: bool) -> None:
        self.source = p
        self.has_fma = has_fma
        self.ops: list[TensorOp] = []
        self.notes: list[Relaxation] = []
        self._renamed: list[int] = []
        self._single = _single_use(p)
        self._private: set[int] = set()

    def program(self) -> TensorProgram:
        results = tuple(self._renamed[k] for k in self.source.results)
        notes = (*self.source.relaxations, *self.notes)
        return replace(self.source, ops=tuple(self.ops), results=results, relaxations=notes)

    def add(self, op: TensorOp) -> None:
        ready = replace(op, operands=tuple(self._renamed[k] for k in op.operands))
        place = self._rewritten(ready) if _may_change(ready) else self.emit(ready)
        if self._single[len(self._renamed)] and op.pin is None:
            self._private.add(place)
        self._renamed.append(place)

    def _rewritten(self, op: TensorOp) -> int:
        for rule in _RULES:
            found = rule(self, op)
            if found is not None:
                kind, op = found
                self.notes.append(Relaxation(kind, op.origin, op.span))
        return self.emit(op)

    def emit(self, op: TensorOp) -> int:
        self.ops.append(op)
        return len(self.ops) - 1

    def private(self, value: int, *names: str) -> TensorOp | None:
        """The op of `value` when it is one of `names` and nothing but the op at hand reads it."""
        op = self.ops[value]
        return op if value in self._private and op.op in names else None

    def splat(self, value: int) -> Number | None:
        """The constant that every element of `value` is, if it is a constant or a view of one."""
        op = self.ops[value]
        if op.op == "view":
            op = self.ops[op.operands[0]]
        return op.attrs.value if isinstance(op.attrs, Constant) else None

    def unary(self, name: str, operand: int, like: TensorOp) -> int:
        return self.emit(replace(like, op=name, operands=(operand,), attrs=None, name="", pin=None))

    def constant(self, number: float, like: TensorOp) -> int:
        """An array of `number` with the type and the shape of `like`."""
        scalar = replace(
            like, op="constant", operands=(), attrs=Constant(number), shape=(), name="", pin=None
        )
        place = self.emit(scalar)
        if not like.shape:
            return place
        view = View("broadcast_to", ())
        return self.emit(replace(like, op="view", operands=(place,), attrs=view, name="", pin=None))


def _single_use(p: TensorProgram) -> list[bool]:
    """For each value, whether exactly one operand of one op is it, and no result."""
    count = [0] * len(p.ops)
    for op in p.ops:
        for k in op.operands:
            count[k] += 1
    for k in p.results:
        count[k] += 2
    return [n == 1 for n in count]


def _may_change(op: TensorOp) -> bool:
    return op.dtype in (F32, F64) and op.op in OPERATORS


def _moderate(number: Number | None, like: TensorOp) -> float | None:
    """The number, when it and its reciprocal are far from overflow and underflow in the op's type."""
    if number is None or not math.isfinite(number) or number == 0:
        return None
    limit = 100 if like.dtype == F32 else 900
    return float(number) if abs(math.frexp(number)[1]) <= limit else None


Found = tuple[str, TensorOp]
Rule = Callable[[_Relaxer, TensorOp], Found | None]


def choose_cheaper_function(r: _Relaxer, op: TensorOp) -> Found | None:
    """`sin x` -> `fast_sin x` on f32, and so on for every operator that has such a form."""
    if op.dtype != F32 or op.op not in FAST:
        return None
    return "function", replace(op, op=FAST[op.op])


def expand_power(r: _Relaxer, op: TensorOp) -> Found | None:
    """`x ** 3` -> `square(x) * x`, `x ** 4` -> `square(square(x))`, `x ** 5`: at most 4 ulp"""
    exponent = r.splat(op.operands[1]) if op.op == "power" else None
    if exponent not in (3, 4, 5):
        return None
    base = op.operands[0]
    square = r.unary("square", base, op)
    if exponent == 3:
        return "function", replace(op, op="multiply", operands=(square, base))
    if exponent == 4:
        return "function", replace(op, op="square", operands=(square,))
    return "function", replace(op, op="multiply", operands=(r.unary("square", square, op), base))


def multiply_by_reciprocal(r: _Relaxer, op: TensorOp) -> Found | None:
    """`x / 3` -> `x * 0.33333334`"""
    divisor = _moderate(r.splat(op.operands[1]), op) if op.op == "divide" else None
    if divisor is None:
        return None
    reciprocal = r.constant(float(round_to(1.0 / divisor, op.dtype)), op)
    return "reciprocal", replace(op, op="multiply", operands=(op.operands[0], reciprocal))


def share_reciprocal(r: _Relaxer, op: TensorOp) -> Found | None:
    """`x / view d` -> `x * view s * view (1 / (d * s))` where several elements share one of d's

    s is 1, and for a tiny or huge d a power of two that keeps the reciprocal a normal number: it would be
    infinite for a subnormal d. A size needs no s.
    """
    if op.op != "divide" or r.splat(op.operands[1]) is not None:
        return None
    view = r.ops[op.operands[1]]
    if not isinstance(view.attrs, View) or not _repeats(view):
        return None
    divisor, dividend = view.operands[0], op.operands[0]
    like = replace(op, shape=r.ops[divisor].shape, name="", pin=None)
    if r.ops[divisor].op == "size":
        reciprocal = r.unary("reciprocal", divisor, like)
    else:
        scale, reciprocal = _scaled_reciprocal(r, divisor, like)
        scales = r.emit(replace(view, operands=(scale,), name=""))
        dividend = r.emit(replace(op, op="multiply", operands=(dividend, scales), name="", pin=None))
    reciprocals = r.emit(replace(view, operands=(reciprocal,), name=""))
    return "reciprocal", replace(op, op="multiply", operands=(dividend, reciprocals))


def _repeats(view: TensorOp) -> bool:
    """Whether an axis of the view (of more than one element) is not in its index."""
    assert isinstance(view.attrs, View)
    used = {name for position in view.attrs.index for name in position.axes()}
    return any(n != 1 and f"i{k}" not in used for k, n in enumerate(view.shape))


def _scaled_reciprocal(r: _Relaxer, divisor: int, like: TensorOp) -> tuple[int, int]:
    """s and 1 / (d * s), with the type and the shape of `like`."""
    limit, step = (2.0**100, 2.0**64) if like.dtype == F32 else (2.0**900, 2.0**512)
    size = r.unary("abs", divisor, like)
    tiny = _elementwise(r, "less", (size, r.constant(1 / limit, like)), replace(like, dtype=BOOL))
    huge = _elementwise(r, "greater", (size, r.constant(limit, like)), replace(like, dtype=BOOL))
    rest = _elementwise(r, "where", (huge, r.constant(1 / step, like), r.constant(1.0, like)), like)
    scale = _elementwise(r, "where", (tiny, r.constant(step, like), rest), like)
    return scale, r.unary("reciprocal", _elementwise(r, "multiply", (divisor, scale), like), like)


def _elementwise(r: _Relaxer, name: str, operands: tuple[int, ...], like: TensorOp) -> int:
    return r.emit(replace(like, op=name, operands=operands))


def merge_constants(r: _Relaxer, op: TensorOp) -> Found | None:
    """`(x * 3) * 5` -> `x * 15`, `(x + 3) - 5` -> `x + -2`"""
    if op.op not in ("multiply", "add", "subtract"):
        return None
    outer = _with_constant(r, op)
    if outer is None:
        return None
    rest, second = outer
    inner = r.private(rest, "multiply") if op.op == "multiply" else r.private(rest, "add", "subtract")
    found = _with_constant(r, inner) if inner is not None else None
    if found is None:
        return None
    first = found[1]
    merged = float(round_to(first * second if op.op == "multiply" else first + second, op.dtype))
    if op.op == "multiply" and _moderate(merged, op) is None:
        return None
    name = "multiply" if op.op == "multiply" else "add"
    return "reassociation", replace(op, op=name, operands=(found[0], r.constant(merged, op)))


def _with_constant(r: _Relaxer, op: TensorOp) -> tuple[int, float] | None:
    """The other operand, and the factor (far from overflow) or addend (finite, negated by `subtract`)."""
    left, right = op.operands
    for value, other in ((right, left), (left, right)):
        number = r.splat(value)
        if number is None or not math.isfinite(number) or (op.op == "subtract" and value == left):
            continue
        if op.op != "multiply":
            return other, float(-number if op.op == "subtract" else number)
        if _moderate(number, op) is not None:
            return other, float(number)
    return None


def contract_product(r: _Relaxer, op: TensorOp) -> Found | None:
    """`a * b + c` -> `fma a b c`, `a * b - c`, `c - a * b`, and `square a` in the place of `a * b`"""
    if not r.has_fma or op.op not in ("add", "subtract"):
        return None
    left, right = op.operands
    product = r.private(left, "multiply", "square")
    if product is not None:
        addend = right if op.op == "add" else r.unary("negative", right, op)
        return "contraction", replace(op, op="fma", operands=(*_factors(product), addend))
    product = r.private(right, "multiply", "square")
    if product is None:
        return None
    first, second = _factors(product)
    factor = first if op.op == "add" else r.unary("negative", first, op)
    return "contraction", replace(op, op="fma", operands=(factor, second, left))


def _factors(product: TensorOp) -> Sequence[int]:
    return product.operands if product.op == "multiply" else (product.operands[0], product.operands[0])


_RULES: tuple[Rule, ...] = (
    choose_cheaper_function,
    expand_power,
    multiply_by_reciprocal,
    share_reciprocal,
    merge_constants,
    contract_product,
)
