"""Which tensor values are stored in a buffer; every other value is recomputed where it is used.

Always stored: results of the kernel, of reductions, of scans and of matrix products, the operands of a matrix
product that are more than a view, the sources of gathers likewise, and what the user pinned with
`@materialize`; those of a reshape, which reads its operand's memory in order, but for a reshape that is
stored itself: its node goes through the operand's axes. What is pinned with `@inline` is not stored unless
it has to be. The rest is a choice of policy:

`default`: a pointwise value is stored when it holds an elementary function (or is as dear as one) and
  (a) several nodes need it and each of them can run in one row loop with the others, so that it lives in a
      row scratch: every reduction among them keeps a leading axis and reduces the last one, every scan has an
      axis before the one it runs along; or
  (b) it is broadcast along a leading axis, where no loop can hoist it.
  A value that several nodes need is stored too when its expression has more than 64 operations. Where
  the only user of a value is computed from it, the choice is that user's: the same nodes need it, and it
  holds more.
Under both policies a concat with other concats inside, of more than 8 choices between operands in all, is
stored: each use would copy the operands under other guards, which share nothing (a chain of rolls would
double at every link).

`inductor-2.8`: TorchInductor's rules: a value with several users, or broadcast, is stored when its expression
  holds exp or sigmoid (silu, softplus and logaddexp do), or more than 50 operations; several users also when
  it reads more than 4 buffers. So is the operand of a scan, which a library function reads from memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.index_algebra import Sym
from tensorc.operators import OPERATORS
from tensorc.tensor_ir.program import EQUAL_SIZES, Pin, Reduce, Scan, TensorOp, TensorProgram, View

STRUCTURAL = frozenset({"param", "constant", "size", "iota"})
HEAVY_COST = 20
GATHER_COST = 8
DEFAULT_LARGE = 64
MOST_CHOICES = 8
INDUCTOR_HEAVY = frozenset(
    {"exp", "sigmoid", "silu", "softplus", "logaddexp", "fast_sigmoid", "fast_silu"},
)
COMPOSED = {"silu": 2, "fast_silu": 2, "gelu": 5, "softplus": 6, "logaddexp": 9}
"""Operations that count as the several of which TorchInductor builds them."""
INDUCTOR_LARGE = 50
INDUCTOR_READS = 4


@dataclass(frozen=True, slots=True)
class Expression:
    """What inlining a value would copy: its operations' number and cost, the choices that its concats make
    between their operands, and the stored values it reads."""

    operations: int
    choices: int
    cost: int
    heavy: bool
    inductor_heavy: bool
    reads: frozenset[int]


def choose_realized(program: TensorProgram, policy: str) -> frozenset[int]:
    """The values that get a buffer (parameters have theirs and are not listed)."""
    users = _users(program)
    realized = set(_always(program, policy, users))
    reach = _reaches(program, users, realized)
    expressions: list[Expression] = []
    for value, op in enumerate(program.ops):
        expression = _expression(op, [expressions[a] for a in op.operands])
        if value in realized or op.op == "param":
            expression = _read_of(value)
        elif _is_computed(op) and op.pin is not Pin.INLINE:
            if policy == "inductor-2.8":
                wanted = _inductor_wants(program, value, expression, users)
            else:
                passed_on = len(users[value]) == 1 and _is_computed(program.ops[users[value][0]])
                wanted = not passed_on and _default_wants(program, expression, reach[value])
            if wanted:
                realized.add(value)
                expression = _read_of(value)
        elif op.op == "concat" and _is_nested(op, expression) and op.pin is not Pin.INLINE:
            realized.add(value)
            expression = _read_of(value)
        expressions.append(expression)
    return frozenset(realized)


def _always(program: TensorProgram, policy: str, users: list[list[int]]) -> list[int]:
    found = list(program.results)
    for value, op in enumerate(program.ops):
        if op.op in ("reduce", "scan", "matmul") or op.pin is Pin.MATERIALIZE:
            found.append(value)
        if op.op == "matmul" or (op.op == "scan" and policy == "inductor-2.8"):
            found.extend(v for v in (_view_base(program, a) for a in op.operands) if v is not None)
        if op.op == "gather":
            found.extend(_gathered_from(program, op.operands[0]))
    stored = set(found)
    for value, op in enumerate(program.ops):
        if op.op == "reshape" and value not in stored and not _only_reshaped(program, users[value]):
            found.append(reshape_base(program, value))
    results = frozenset(program.results)
    return [v for v in found if v in results or not is_parameter_array(program, v)]


def is_parameter_array(program: TensorProgram, value: int) -> bool:
    """True for a parameter, also under other names of its sizes."""
    op = program.ops[value]
    return op.op == "param" or (isinstance(op.attrs, View) and op.attrs.kind == EQUAL_SIZES)


def _only_reshaped(program: TensorProgram, users: list[int]) -> bool:
    """True when nothing reads the elements of a reshape but other reshapes, which read its operand."""
    return bool(users) and all(program.ops[u].op == "reshape" for u in users)


def _view_base(program: TensorProgram, value: int) -> int | None:
    """The value under a chain of views, None when it is a parameter array or a reshape (which has a base)."""
    while program.ops[value].op == "view":
        value = program.ops[value].operands[0]
    op = program.ops[value]
    return None if op.op == "reshape" or (op.op == "param" and op.shape) else value


def _gathered_from(program: TensorProgram, source: int) -> list[int]:
    """What a gather's source must store: the value under its views, or itself when that is a scalar."""
    base = _view_base(program, source)
    if base is None:
        return []
    return [base if program.ops[base].shape else source]


def reshape_base(program: TensorProgram, value: int) -> int:
    """The value whose memory a chain of reshapes reads."""
    while program.ops[value].op == "reshape":
        value = program.ops[value].operands[0]
    return value


def _is_computed(op: TensorOp) -> bool:
    return op.op in OPERATORS or op.op in ("cast", "gather")


def _read_of(value: int) -> Expression:
    return Expression(0, 0, 0, False, False, frozenset({value}))


def _expression(op: TensorOp, operands: list[Expression]) -> Expression:
    row = OPERATORS.get(op.op)
    cost = row.cost if row is not None else GATHER_COST if op.op == "gather" else 0
    reads: frozenset[int] = frozenset().union(*(e.reads for e in operands)) if operands else frozenset()
    return Expression(
        operations=sum(e.operations for e in operands) + (COMPOSED.get(op.op, 1) if _is_computed(op) else 0),
        choices=min(sum(e.choices for e in operands) + _own_choices(op), 1 << 30),
        cost=min(sum(e.cost for e in operands) + cost, 1 << 30),
        heavy=any(e.heavy for e in operands) or (row is not None and row.elementary),
        inductor_heavy=any(e.inductor_heavy for e in operands) or op.op in INDUCTOR_HEAVY,
        reads=reads,
    )


def _is_nested(op: TensorOp, e: Expression) -> bool:
    """True when a concat's operands hold so many choices of their own that copies of it would be large."""
    return e.choices > MOST_CHOICES and e.choices > _own_choices(op)


def _own_choices(op: TensorOp) -> int:
    return len(op.operands) - 1 if op.op == "concat" else 0


def _users(program: TensorProgram) -> list[list[int]]:
    users: list[list[int]] = [[] for _ in program.ops]
    for value, op in enumerate(program.ops):
        for operand in dict.fromkeys(op.operands):
            users[operand].append(value)
    return users


def _inductor_wants(program: TensorProgram, value: int, e: Expression, users: list[list[int]]) -> bool:
    reused = len(users[value]) > 1
    if not reused and not any(_is_broadcast(program.ops[u]) for u in users[value]):
        return False
    return e.inductor_heavy or e.operations > INDUCTOR_LARGE or (reused and len(e.reads) > INDUCTOR_READS)


def _is_broadcast(op: TensorOp) -> bool:
    """True for a view whose result has an axis of extent other than 1 that its index does not use."""
    return op.op == "view" and bool(_unused_axes(op))


def _unused_axes(op: TensorOp) -> list[int]:
    assert isinstance(op.attrs, View)
    used = {s for p in op.attrs.index for s in p.symbols()}
    return [k for k, size in enumerate(op.shape) if size != 1 and Sym(f"i{k}", axis=True) not in used]


def _default_wants(program: TensorProgram, e: Expression, reach: Reach) -> bool:
    if not e.heavy and e.cost < HEAVY_COST and e.operations <= DEFAULT_LARGE:
        return False
    if reach.leading:
        return True
    if len(reach.nodes) < 2:
        return False
    if e.operations > DEFAULT_LARGE:
        return True
    return all(_shares_rows(program.ops[n], program) for n in reach.nodes)


@dataclass(frozen=True, slots=True)
class Reach:
    """The stored values that inlining a value would copy it into, and whether a leading broadcast lies on
    the way."""

    nodes: frozenset[int]
    leading: bool


def _reaches(program: TensorProgram, users: list[list[int]], stored: set[int]) -> list[Reach]:
    """The reach of every value when only the values in `stored` are."""
    found: list[Reach] = [Reach(frozenset(), False)] * len(program.ops)
    for value in range(len(program.ops) - 1, -1, -1):
        leading = False
        parts: list[frozenset[int]] = []
        for user in users[value]:
            leading = leading or _broadcasts_leading(program.ops[user])
            if user in stored:
                parts.append(frozenset({user}))
            else:
                parts.append(found[user].nodes)
                leading = leading or found[user].leading
        nodes = parts[0] if len(parts) == 1 else frozenset().union(*parts)
        found[value] = Reach(nodes, leading)
    return found


def _broadcasts_leading(op: TensorOp) -> bool:
    """A broadcast axis stands before an axis the operand has: the value is the same in every outer step."""
    if op.op != "view":
        return False
    unused = _unused_axes(op)
    used = [k for k, size in enumerate(op.shape) if size != 1 and k not in unused]
    return bool(unused and used) and min(unused) < max(used)


def _shares_rows(op: TensorOp, program: TensorProgram) -> bool:
    if op.op == "matmul":
        return False
    if isinstance(op.attrs, Scan):
        return op.attrs.axis > 0
    if not isinstance(op.attrs, Reduce):
        return len(op.shape) > 1
    rank = len(program.ops[op.operands[0]].shape)
    return len(op.attrs.axes) < rank and rank - 1 in op.attrs.axes and 0 not in op.attrs.axes
