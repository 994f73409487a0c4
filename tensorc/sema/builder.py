"""The program under construction: emits operations, casts and broadcasts operands, collects checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tensorc.diagnostics.model import DiagnosticBag
from tensorc.dtypes import BOOL, I64, DType
from tensorc.index_algebra import ONE, ZERO, Poly, axis, is_nonnegative, is_positive
from tensorc.sema.numbers import constant_value, default_dtype, fits
from tensorc.sema.values import Known, Numeric, Size, Tensor, describe
from tensorc.signature import SizeCheck
from tensorc.source import Span
from tensorc.tensor_ir.program import Attrs, Constant, Pin, Reduce, Shape, SizeValue, TensorOp, View

STRUCTURAL = frozenset({"view", "reshape", "concat"})
"""Operations that move elements and change none: they have the dtype of their operands, whatever it is."""
MAX_RANK = 64
LONGEST_SIZE = 20_000
"""As many axes as NumPy's arrays have at most."""


class TooLargeError(Exception):
    """The kernel is beyond what can be compiled; the message is in the bag."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where an operation is written and what the user called it."""

    span: Span
    origin: str


_IN_NUMBERS = str.maketrans("", "", "_.")  # signs that a literal may hold beside letters and digits


class Builder:
    """Operations, size checks and messages of one kernel."""

    def __init__(self, bag: DiagnosticBag) -> None:
        self.bag = bag
        self.ops: list[TensorOp] = []
        self.checks: list[SizeCheck] = []
        # weak constants keep their exact number, to be rounded once when they adapt
        self._numbers: dict[int, Known] = {}

    # -- operations ----------------------------------------------------------------------------

    def emit(
        self,
        op: str,
        operands: Sequence[Tensor],
        attrs: Attrs,
        dtype: DType,
        shape: Shape,
        site: Site,
        weak: bool = False,
    ) -> Tensor:
        self.check_rank(len(shape), site.span)
        self._check_length(shape, site.span)
        ids = tuple(t.id for t in operands)
        self.ops.append(TensorOp(op, ids, attrs, dtype, shape, site.span, site.origin))
        return Tensor(len(self.ops) - 1, dtype, shape, weak)

    def check_rank(self, rank: int, span: Span) -> None:
        """Raises TooLargeError, after an error, for more axes than an array can have."""
        if rank > MAX_RANK:
            label = f"expected at most {MAX_RANK} axes, found {rank}"
            self.error("TC0504", "the array has too many axes", span, label=label)
            raise TooLargeError

    def _check_length(self, shape: Shape, span: Span) -> None:
        """Raises TooLargeError, after an error, for a size that grew out of many slices of slices."""
        longest = max((len(str(size)) for size in shape), default=0)
        if longest > LONGEST_SIZE:
            label = f"it would be {longest} characters long, at most {LONGEST_SIZE} are computed with"
            help = "take fewer slices of slices, or bounds that are parameters"
            self.error(
                "TC0504", "a size of this array is too long an expression", span, label=label, help=help
            )
            raise TooLargeError

    def constant(self, number: Known, dtype: DType, site: Site, weak: bool = False) -> Tensor:
        """A rank-0 constant; a number that does not fit `dtype` is an error (and becomes 0)."""
        if not fits(number, dtype):
            self.literal_error(number, dtype, site.span)
            number = Known(False if dtype == BOOL else 0)
        value = constant_value(number, dtype)
        result = self.emit("constant", (), Constant(value), dtype, (), site, weak)
        self._numbers[result.id] = number
        return result

    def size(self, poly: Poly, dtype: DType, site: Site, weak: bool = False) -> Tensor:
        """A size as a rank-0 value, computed in i64: a number in it that does not fit is an error."""
        known = poly.constant
        if known is not None:
            return self.constant(Known(known), dtype, site, weak)
        for number in (Known(n) for _, n in poly.terms):
            if not fits(number, I64):
                self.literal_error(number, I64, site.span)
        return self.emit("size", (), SizeValue(poly), dtype, (), site, weak)

    def elementwise(self, op: str, operands: Sequence[Tensor], dtype: DType, site: Site) -> Tensor:
        """An operation on operands that already agree in shape and dtype."""
        return self.emit(op, operands, None, dtype, operands[0].shape, site)

    def cast(self, value: Tensor, dtype: DType, site: Site) -> Tensor:
        """A strong value of `dtype`; weak values are re-typed rather than converted where exact."""
        if value.weak:
            return self._adapt(value, dtype)
        if value.dtype == dtype:
            return value
        return self.emit("cast", (value,), None, dtype, value.shape, site)

    def promote(self, value: Tensor, dtype: DType, site: Site) -> Tensor:
        """A cast that the user did not write: it has no origin of its own."""
        return self.cast(value, dtype, Site(site.span, ""))

    def view(self, kind: str, value: Tensor, index: Sequence[Poly], shape: Shape, site: Site) -> Tensor:
        return self.emit("view", (value,), View(kind, tuple(index)), value.dtype, shape, site, value.weak)

    def reduce(self, value: Tensor, attrs: Reduce, dtype: DType, site: Site) -> Tensor:
        shape = tuple(s for k, s in enumerate(value.shape) if k not in attrs.axes)
        return self.emit("reduce", (value,), attrs, dtype, shape, site)

    # -- operands ------------------------------------------------------------------------------

    def materialize(self, value: Numeric, dtype: DType, site: Site, weak: bool = False) -> Tensor:
        """The value as a tensor of `dtype`. `weak` keeps the result weak."""
        match value:
            case Known(_, None):
                return self.constant(value, dtype, site, weak)
            case Known():
                own = default_dtype(value)
                return self.promote(self.constant(Known(value.value), own, site), dtype, site)
            case Size(poly):
                return self.size(poly, dtype, site, weak)
        result = self.promote(value, dtype, site)
        return replace(result, weak=True) if weak and not result.weak else result

    def broadcast(self, value: Tensor, shape: Shape, site: Site, kind: str = "broadcast_to") -> Tensor:
        """A view of the wider `shape`; axes of size 1 repeat. The caller has checked that it fits."""
        if value.shape == shape:
            return value
        lead = len(shape) - len(value.shape)
        index = tuple(
            axis(f"i{lead + k}") if size == shape[lead + k] else ZERO for k, size in enumerate(value.shape)
        )
        return self.view(kind, value, index, shape, site)

    def _adapt(self, value: Tensor, dtype: DType) -> Tensor:
        """Re-type a weak value: through views and `where` down to its constants, which round once."""
        if value.dtype == dtype:
            return replace(value, weak=False)
        order = self._adaptable(value.id)
        adapted: dict[int, int] = {}
        for position in order:
            op = self.ops[position]
            site = Site(op.span, op.origin)
            if op.op == "constant":
                number = self._numbers[position]
                adapted[position] = self.constant(number, dtype, site).id
            elif op.op == "size":
                adapted[position] = self.emit("size", (), op.attrs, dtype, (), site).id
            elif op.op in STRUCTURAL:
                adapted[position] = self._retyped(op, tuple(adapted[o] for o in op.operands), dtype)
            elif op.op == "where":
                branches = (op.operands[0], adapted[op.operands[1]], adapted[op.operands[2]])
                adapted[position] = self._retyped(op, branches, dtype)
            else:
                strong = Tensor(position, op.dtype, op.shape)
                adapted[position] = self.promote(strong, dtype, site).id
        return Tensor(adapted[value.id], dtype, value.shape)

    def _retyped(self, op: TensorOp, operands: tuple[int, ...], dtype: DType) -> int:
        self.ops.append(replace(op, operands=operands, dtype=dtype, name=""))
        return len(self.ops) - 1

    def _adaptable(self, root: int) -> tuple[int, ...]:
        """The operations that are re-typed together with `root`, operands first."""
        found = {root}
        pending = [root]
        while pending:
            op = self.ops[pending.pop()]
            branches = op.operands[1:] if op.op == "where" else op.operands if op.op in STRUCTURAL else ()
            fresh = [k for k in branches if k not in found]
            found.update(fresh)
            pending.extend(fresh)
        return tuple(sorted(found))

    # -- names, checks, messages -----------------------------------------------------------------

    def give_name(self, value: Tensor, name: str) -> None:
        """Remember the user's name of a value, unless it has one already.

        A view that came with the value (`keepdims`) shares its name with what it shows.
        """
        position = value.id
        while not self.ops[position].name:
            op = self.ops[position]
            self.ops[position] = replace(op, name=name)
            if op.op != "view" or self.ops[op.operands[0]].span != op.span:
                return
            position = op.operands[0]

    def pin(self, value: Tensor, pin: Pin) -> str:
        """Fix whether a value is stored; what stands against it, "" when nothing does."""
        position = value.id
        # a view that came with the value (`keepdims`) is no value of its own
        while self.ops[position].op == "view" and self.ops[self.ops[position].operands[0]].span == (
            self.ops[position].span
        ):
            position = self.ops[position].operands[0]
        op = self.ops[position]
        if op.op == "param":
            return "a parameter is what the caller passes"
        if pin is Pin.INLINE and op.op in ("reduce", "scan", "matmul"):
            return "what a reduction, a scan or a matrix product gives is always stored"
        self.ops[position] = replace(op, pin=pin)
        return ""

    def require(self, kind: str, left: Poly, relation: str, right: Poly, text: str, span: Span) -> None:
        """Have a relation of sizes checked at the call, unless it is plain that it holds."""
        if holds(left, relation, right):
            return
        known = [(c.kind, c.left, c.relation, c.right) for c in self.checks]
        if (kind, left, relation, right) not in known:
            self.checks.append(SizeCheck(kind, left, relation, right, text, span))

    def error(self, code: str, message: str, span: Span, *, label: str = "", help: str = "") -> None:
        self.bag.error(code, message, span, label=label, help=help)

    def literal_error(self, number: Known, dtype: DType, span: Span) -> None:
        """A number that does not fit: as an operand of a larger expression, or alone."""
        text = describe(Known(number.value))
        alone = span.text.lstrip("-").translate(_IN_NUMBERS).isalnum()
        help = f"cast the other operand to a wider type, or write {dtype}(...) to convert on purpose"
        self.error(
            "TC0303",
            f"{text} does not fit {dtype}",
            span,
            label=f"expected a value of {dtype}",
            help="" if alone else help,
        )


def holds(left: Poly, relation: str, right: Poly) -> bool:
    """True when it is plain that a relation of sizes holds whatever they are."""
    difference = left - right
    match relation:
        case "==":
            return difference == ZERO
        case "!=":
            return is_positive(difference) or is_positive(-difference)
        case ">=":
            return is_nonnegative(difference)
        case ">":
            return is_positive(difference)
        case "<=":
            return is_nonnegative(-difference)
        case "<":
            return is_positive(-difference)
    return False


def element_count(shape: Sequence[Poly]) -> Poly:
    total = ONE
    for size in shape:
        total = total * size
    return total
