"""Values of a nest: merging the bodies of its nodes, each operation once, at the loop level it needs.

Level 0 is the top of the nest, level 1 one step of its outer loops, deeper levels belong to a sweep. A value
goes to the deepest level among its axes and its operands, so what does not change in a loop is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tensorc.dtypes import I64, DType
from tensorc.index_algebra import Poly, Sym
from tensorc.loop_ir.guards import index_polys
from tensorc.loop_ir.program import (
    Gather,
    IndexValue,
    Inside,
    Literal,
    Load,
    LoopNode,
    Place,
    ScalarAttrs,
    ScalarOp,
)
from tensorc.loop_schedule.program import Check, Leaf, Let, RuntimeFailure, Scan

Resolve = Callable[[Load], "str | Load"]


@dataclass(slots=True)
class Names:
    """The value names of one nest, and the level each value stands at."""

    level: dict[str, int] = field(default_factory=dict)
    truth: dict[str, bool] = field(default_factory=dict)
    """What `inside` values are whose guards no axis is in."""

    def fresh(self, level: int) -> str:
        name = f"v{len(self.level)}"
        self.level[name] = level
        return name


class Scope:
    """A stretch of code in which equal operations are computed once; scopes nest.

    `lets[level]` collects what this scope adds at each level.
    """

    def __init__(self, names: Names, levels: Mapping[str, int], parent: Scope | None = None) -> None:
        self.names = names
        self.levels = dict(levels)
        self.parent = parent
        self.lets: dict[int, list[Leaf]] = {}
        self._known: dict[tuple[object, ...], str] = {}

    def add_body(self, node: LoopNode, rename: Mapping[Sym, Poly], resolve: Resolve) -> str:
        """Add a node's body with its axes renamed; the name of its result value.

        `resolve` says what a load (already renamed) reads: a value of the nest, or memory.
        """
        names: list[str] = []
        for op in node.body:
            attrs = renamed_attrs(op.attrs, rename)
            if isinstance(attrs, Load):
                found = resolve(attrs)
                if isinstance(found, str):
                    names.append(found)
                    continue
                attrs = found
            if isinstance(attrs, Load | Inside) and any(_holds(g) is not None for g in attrs.guards):
                names.append(self._add_decided(op, attrs))
                continue
            operand = node.body[op.args[-1]].dtype if op.args else op.dtype
            args = tuple(names[a] for a in op.args)
            names.append(self.add(op.op, args, op.dtype, operand, attrs))
            if isinstance(attrs, Place):
                self._check_place(names[-1], args[1:], attrs)
            if _has_open_exponent(node, op):
                self._check_exponent(args[1], op.dtype, node)
        return names[node.result]

    def add(
        self, op: str, args: tuple[str, ...], dtype: DType, operand_dtype: DType, attrs: ScalarAttrs
    ) -> str:
        if op == "where" and args[1] == args[2]:
            return args[1]
        if op == "where" and args[0] in self.names.truth:
            return args[1] if self.names.truth[args[0]] else args[2]
        key = (op, args, dtype, operand_dtype, _attrs_key(attrs))
        found = self._find(key)
        if found is not None:
            return found
        level = max([self.names.level[a] for a in args] + [self._level_of(attrs)])
        name = self.names.fresh(level)
        let = Let(name, op, args, dtype, operand_dtype, attrs)
        home = self._home(level)
        home._known[key] = name
        home.lets.setdefault(level, []).append(let)
        return name

    def _add_decided(self, op: ScalarOp, attrs: Load | Inside) -> str:
        """A load or test without the guards that are plain numbers; a load that never reads is 0."""
        never = any(_holds(g) is False for g in attrs.guards)
        open_ = tuple(g for g in attrs.guards if _holds(g) is None)
        if isinstance(attrs, Load):
            if never:
                zero = Literal(0.0 if op.dtype.is_float else 0)
                return self.add("constant", (), op.dtype, op.dtype, zero)
            return self.add(op.op, (), op.dtype, op.dtype, replace(attrs, guards=open_))
        if open_ and not never:
            return self.add(op.op, (), op.dtype, op.dtype, Inside(open_))
        name = self.add("constant", (), op.dtype, op.dtype, Literal(not never))
        self.names.truth[name] = not never
        return name

    def add_scan(self, node: LoopNode, value: str) -> str:
        """Add the scan of a node whose body's value is `value`, at the innermost level of this scope."""
        assert node.scan is not None
        level = max(self.levels.values())
        name = self.names.fresh(level)
        scan = Scan(name, node.scan.kind, value, node.body[node.result].dtype)
        self.lets.setdefault(level, []).append(scan)
        return name

    def _check_exponent(self, exponent: str, dtype: DType, node: LoopNode) -> None:
        """Integer powers need exponents of 0 or more."""
        line = next(
            (o.span.line for o in node.origins if o.op in ("pow", "power")), node.origins[0].span.line
        )
        failure = RuntimeFailure("ValueError", "an integer cannot be raised to a negative power", line)
        self._check(exponent, dtype, failure)

    def _check_place(self, place: str, inside: tuple[str, ...], attrs: Place) -> None:
        """A place is -1 where the index is out of range, which counts only `inside`."""
        if inside:
            zero = self.add("constant", (), I64, I64, Literal(0))
            place = self.add("where", (*inside, place, zero), I64, I64, None)
        self._check(place, I64, RuntimeFailure("IndexError", attrs.message, attrs.line))

    def _check(self, value: str, dtype: DType, failure: RuntimeFailure) -> None:
        """A value must not be negative; checked once, at its own level."""
        key = ("nonnegative", value)
        if self._find(key) is not None:
            return
        level = self.names.level[value]
        home = self._home(level)
        home._known[key] = value
        home.lets.setdefault(level, []).append(Check("nonnegative", value, dtype, failure))

    def take(self, level: int) -> list[Leaf]:
        """Remove and return what was collected at `level`."""
        return self.lets.pop(level, [])

    def _home(self, level: int) -> Scope:
        """The outermost scope that covers `level`: what a step computes once serves all its sweeps."""
        scope = self
        while scope.parent is not None and level <= max(scope.parent.levels.values(), default=0):
            scope = scope.parent
        return scope

    def _find(self, key: tuple[object, ...]) -> str | None:
        scope: Scope | None = self
        while scope is not None:
            if key in scope._known:
                return scope._known[key]
            scope = scope.parent
        return None

    def _level_of(self, attrs: ScalarAttrs) -> int:
        axes = [name for p in index_polys(attrs) for name in p.axes()]
        scope: Scope | None = self
        levels: dict[str, int] = {}
        while axes and scope is not None:
            levels = scope.levels | levels
            scope = scope.parent
        return max((levels[a] for a in axes), default=0)


def renamed_attrs(attrs: ScalarAttrs, rename: Mapping[Sym, Poly]) -> ScalarAttrs:
    """What an operation reads with the axes of its node renamed."""
    match attrs:
        case Load(buffer, index, guards):
            return Load(buffer, index.substitute(rename), tuple(g.substitute(rename) for g in guards))
        case IndexValue(index):
            return IndexValue(index.substitute(rename))
        case Inside(guards):
            return Inside(tuple(g.substitute(rename) for g in guards))
        case Gather(buffer, offset, strides):
            return Gather(buffer, offset.substitute(rename), strides)
        case _:
            return attrs


def _holds(guard: Poly) -> bool | None:
    """None where it depends on a loop or on the call."""
    return None if guard.constant is None else guard.constant >= 0


def _has_open_exponent(node: LoopNode, op: ScalarOp) -> bool:
    """True for a signed integer power whose exponent is no literal (those are checked when compiling)."""
    if op.op != "power" or op.dtype.kind != "i":
        return False
    return not isinstance(node.body[op.args[1]].attrs, Literal)


def _attrs_key(attrs: ScalarAttrs) -> object:
    if isinstance(attrs, Literal):
        return (type(attrs.value).__name__, repr(attrs.value))
    return attrs
