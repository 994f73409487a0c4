"""Counted, not quoted: nests, bytes and arrays of every log, recounted from the C and from actual accesses.

Nothing here reads the nest program's own records: a nest is a block of statements in the C AST of the
kernel's body, an array is touched where the C loads or stores through its pointer, work arrays are those that
the entry point allocates, and the sizes are those of arrays that the loop interpreter accessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorc.codegen import c_ast as c
from tensorc.codegen.emit import build_unit
from tensorc.codegen.kernel import EmitOptions
from tensorc.driver import CompiledUnit, CompileOptions, compile_text
from tensorc.interp.elementary_library import ElementaryLibrary
from tensorc.interp.loop_interp import AccessCounts, interpret_loops
from tensorc.loop_schedule.program import NestProgram
from tensorc.loop_schedule.summary import render_summary
from tensorc.scheduler import events
from tensorc.signature import Signature
from tensorc.source import Source

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "examples").glob("*.tdsl")) + sorted((ROOT / "tests/fusion/programs").glob("*.tdsl"))
POLICIES = ("default", "inductor-2.8")
SIZE = 24
"""Every dim of a file, so that an interpreter's run is cheap."""

SMALL = {
    "map and sums": "(x: f32[N, D]) { y = exp(x); return y, sum(y), max(x) }",
    "rows of rows": "(x: f32[B, N, D]) { s = sum(x, axis=2); return s - max(s, axis=1, keepdims=true) }",
    "batch norm": "(x: f32[B, N, D]) { m = mean(x, axis=(0, 1)); return (x - m) / std(x, axis=(0, 1)) }",
    "products": "(x: f32[N, D], w: f32[D, D]) { a = x @ w; b = relu(a) @ w; return b @ w }",
    "product and sum": "(x: f32[N, D], w: f32[D, D]) { return sum(x @ w, axis=1) }",
    "outer": "(x: f32[N], y: f32[M]) { return x[:, None] * exp(y)[None, :] }",
    "transposed": "(x: f32[N, D]) { return exp(x).T, sum(exp(x), axis=0) }",
    "scalars": "(x: f64[N], a: f64) { m = mean(x); return m * a, m + a, sqrt(m) }",
    "dtypes": "(x: i32[N, D]) { return sum(x, axis=1), f64(x), x > 3 }",
    "argmax": "(x: f32[N, D]) { return argmax(x, axis=1), max(x, axis=0) }",
    "copies": "(x: f32[N, D]) { return x, x + 1 }",
    "mean over rows": "(x: f32[N, D]) { c = x - mean(x, axis=0); return c / sqrt(sum(c * c)) }",
    "embedding": "(t: f32[N, D], i: i64[M]) { e = take(t, i, axis=0); return sum(e, axis=0), e * 2 }",
    "gathered": "(x: f32[N], i: i64[M]) { y = exp(x); return take(y, i), take_along_axis(x, i) }",
    "constant": "(x: f32[N]) { return zeros((N,), dtype=f32), full((3,), 2.5, dtype=f64), x }",
    "scans": "(x: f32[N, D]) { e = exp(x); return cumulative_sum(e, axis=1) / sum(e, axis=1)[:, None] }",
    "column scans": "(x: f32[N, D]) { c = cumulative_sum(x, axis=0); return c, cumulative_max(c, axis=0) }",
    "scans of one axis": "(x: f32[N]) { c = cumulative_sum(x); return c / 2, sum(c), c / sum(x) }",
    "scans inside": (
        "(x: f32[B, N, D]) { m = max(x, axis=(1, 2), keepdims=true); return cumulative_sum(x, axis=1) - m }"
    ),
    "kept beside a row sum": "(x: f32[N, D]) { e = exp(x); return e / sum(e) + sum(x * 2, axis=1)[:, None] }",
    "kept for a scan": "(x: f32[N, D]) { e = exp(x); return cumulative_sum(e, axis=1) / sum(e) }",
    "joined": "(x: f32[N, D], y: f32[M, D]) { return concat((x, y * 2), axis=0) }",
    "join rows": "(x: f32[N, D], y: f32[N, K]) { c = concat((x, y), axis=1); return c, sum(c, axis=1) }",
    "joined twice": "(x: f32[N, D]) { c = concat((exp(x), x), axis=1); return c @ c.T, sum(c) }",
    "padded": "(x: f32[N, D]) { p = pad(x, 1); return p[1:, 1:] + p[:-1, :-1] }",
    "statistic joined": "(x: f32[N, D]) { s = sum(x, axis=1); return concat((x - s[:, None], x), axis=1) }",
    "rolled": "(x: f32[N, D]) { y = exp(x); return y - roll(y, 1, axis=1), max(y, axis=1) }",
    "tiled": "(x: f32[N, D]) { return tile(x * 2, (2, 3)), repeat(x, 2, axis=0) }",
    "shared work": "(x: f32[N, D], w: f32[D, D]) { a = x @ w; b = a @ w; d = b @ w; return d @ w }",
}


def _texts() -> Iterator[tuple[str, str]]:
    """The files, fixed dims made hints so that SIZE applies, and the small ones."""
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        free = re.sub("^dims .*", lambda m: m[0].replace("=", "~"), text, flags=re.MULTILINE)
        yield f"{path.parent.name}/{path.stem}", free
    for name, text in SMALL.items():
        yield name, f"kernel f{text}"


TEXTS = dict(_texts())


@dataclass(frozen=True, slots=True)
class Recount:
    """What the C says: for each nest the pointers it loads from and stores to, and the arrays allocated."""

    loads: tuple[frozenset[str], ...]
    stores: tuple[frozenset[str], ...]
    allocated: frozenset[str]


def _expressions(node: Any) -> Iterator[Any]:
    """Every expression under a statement or expression, with a stack."""
    pending = [node]
    while pending:
        at = pending.pop()
        if isinstance(at, c.Expr):
            yield at
        if isinstance(at, tuple):
            pending.extend(at)
        elif hasattr(at, "__slots__"):
            pending.extend(getattr(at, name) for name in at.__slots__)


def _pointers(address: Any, pointers: frozenset[str]) -> set[str]:
    return {e.id for e in _expressions(address) if isinstance(e, c.Name) and e.id in pointers}


def _accesses(nest: c.Block, pointers: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    loads: set[str] = set()
    stores: set[str] = set()
    for e in _expressions(nest):
        if isinstance(e, c.Call) and re.match(r"tc_(load|gather)", e.function):
            loads |= _pointers(e.args[0], pointers)
        elif isinstance(e, c.Call) and e.function.startswith("tc_store"):
            stores |= _pointers(e.args[0], pointers)
        elif isinstance(e, c.Unary) and e.op == "*":
            loads |= _pointers(e.operand, pointers)
    if any(isinstance(s, c.For) and s.variable == "k_begin" for s in _statements(nest)):
        # a product's result is its own accumulator: between two blocks of k it is loaded again
        loads -= stores
    return frozenset(loads), frozenset(stores)


def _statements(block: c.Block) -> Iterator[c.Stmt]:
    pending: list[c.Stmt] = [block]
    while pending:
        s = pending.pop()
        yield s
        if isinstance(s, c.Block | c.For):
            pending.extend(s.body)
        elif isinstance(s, c.If):
            pending.extend((*s.then, *s.otherwise))


def recount(functions: tuple[c.Function, c.Function], signature: Signature) -> Recount:
    """Count in the two functions of a kernel; arrays by the names that the log gives them."""
    body, entry = functions
    written = [p.name for p in signature.params] + [
        signature.result_name(k) for k in range(len(signature.results))
    ]
    named = {p.name: name for p, name in zip(entry.parameters, written, strict=False)}
    pointers = _pointers_of(body)
    nests = [s for s in body.body if isinstance(s, c.Block)]
    touched = [_accesses(nest, pointers) for nest in nests]
    allocated = {
        s.name
        for s in entry.body
        if isinstance(s, c.Declare) and s.name in pointers and isinstance(s.value, c.Cast)
    }

    def known(names: frozenset[str]) -> frozenset[str]:
        return frozenset(named.get(n, n) for n in names)

    return Recount(
        tuple(known(loads) for loads, _ in touched),
        tuple(known(stores) for _, stores in touched),
        frozenset(allocated),
    )


def _pointers_of(body: c.Function) -> frozenset[str]:
    """The arrays: neither scratch rows nor the states of a divided reduction."""
    return frozenset(
        p.name
        for p in body.parameters
        if p.type.endswith("*") and not p.type.startswith("struct ") and p.name != "scratch"
    )


@cache
def _compile(text: str, policy: str) -> CompiledUnit:
    source = Source("t", text)
    checked = compile_text(source, CompileOptions(until="check"))
    dims = dict.fromkeys(d.name for s in checked.signatures for d in s.dims if d.fixed is None)
    hints = tuple((name, SIZE) for name in dims)
    return compile_text(source, CompileOptions(policy=policy, until="loops", hints=hints))


def _functions(unit: CompiledUnit) -> list[tuple[c.Function, c.Function]]:
    items = [f for f in build_unit(unit.nests, EmitOptions()).items if isinstance(f, c.Function)]
    return list(zip(items[::2], items[1::2], strict=True))


@pytest.fixture(scope="module")
def elementary(tmp_path_factory: pytest.TempPathFactory) -> ElementaryLibrary:
    return ElementaryLibrary.build(tmp_path_factory.mktemp("elementary"))


def _interpret(
    unit: CompiledUnit, position: int, elementary: ElementaryLibrary
) -> tuple[AccessCounts, dict[str, int]]:
    """The accesses of one call, and the bytes of every array in it by its name in the C."""
    fused = unit.fused[position].loop
    signature = fused.signature
    random = np.random.default_rng(0)
    sizes = {d.name: SIZE if d.fixed is None else d.fixed for d in signature.dims}
    arguments = {
        p.name: (random.random([s.evaluate(sizes) for s in p.shape]) * 9).astype(p.dtype.numpy)
        for p in signature.params
    }
    results, counts = interpret_loops(fused, arguments, elementary)
    found = {name: a.nbytes for name, a in arguments.items()}
    found |= {signature.result_name(k): r.nbytes for k, r in enumerate(results)}
    for node in counts.nodes:  # each node stores every element of its buffer
        found |= {b: n * counts.element_bytes[b] for b, n in node.stores.items() if b not in found}
    return counts, found


HEAD = re.compile(r"kernel (\S+): (\d+) nests?, (\d+) B of intermediates, (\d+) B moved \(unfused (\d+)\)")


def check_summary(
    summary: str, counted: Recount, size: Mapping[str, int], accesses: AccessCounts, result_names: set[str]
) -> None:
    """Compare what a summary prints with what was counted."""
    head = HEAD.match(summary)
    assert head is not None, summary
    _, nests, intermediates, moved, unfused = head.groups()
    assert int(nests) == len(counted.loads), summary
    work = {name: size[name] for name in counted.allocated}
    assert int(intermediates) == sum(work.values()), (summary, work)
    touched = [name for side in (counted.loads, counted.stores) for names in side for name in names]
    assert int(moved) == sum(size[name] for name in touched), (summary, counted)
    # the interpreter counts elements; the log whole arrays, also where a slice reads a part
    assert int(unfused) >= accesses.bytes_moved
    allocated, *notes = summary.splitlines()[-1].removeprefix("allocates ").split("; ")
    listed = dict(re.findall(r"(\w+) \((\d+) B\)", allocated))
    assert listed == {name: str(size[name]) for name in counted.allocated | result_names}, summary
    arrays = {name for names in (*counted.loads, *counted.stores) for name in names}
    for note in notes:
        if "register" in note or "scratch" in note:
            gone = re.findall(r"buf\d+", note)
            assert gone
            assert not set(gone) & arrays, f"{note}, and the C has it in memory"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", TEXTS)
def test_summary(name: str, policy: str, elementary: ElementaryLibrary) -> None:
    unit = _compile(TEXTS[name], policy)
    for position, (program, functions) in enumerate(zip(unit.nests, _functions(unit), strict=True)):
        accesses, size = _interpret(unit, position, elementary)
        counted = recount(functions, program.signature)
        check_summary(render_summary(program), counted, size, accesses, _result_names(program))


def _result_names(program: NestProgram) -> set[str]:
    signature = program.signature
    return {signature.result_name(k) for k in range(len(signature.results))}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", TEXTS)
def test_nodes_that_the_log_fuses_are_one_nest(name: str, policy: str) -> None:
    """Each union of the nodes of `fusing` lines is one block of the C, and so is each node left alone."""
    unit = _compile(TEXTS[name], policy)
    for fused, functions in zip(unit.fused, _functions(unit), strict=True):
        groups: dict[str, str] = {n.name: n.name for n in fused.loop.nodes}
        for event in fused.events:
            if isinstance(event, events.Fused):
                joined = set(f"{event.first}_{event.second}".split("_"))
                into = min(joined, key=list(groups).index)
                homes = {groups[node] for node in joined}
                groups = {node: into if home in homes else home for node, home in groups.items()}
        blocks = [s for s in functions[0].body if isinstance(s, c.Block)]
        assert len(blocks) == len(set(groups.values()))


def test_single_nodes_move_what_the_interpreter_counts(elementary: ElementaryLibrary) -> None:
    """Without slices, the elements a node touches are the arrays it touches."""
    for text in ("(x: f32[N, D]) { return x / sum(x) }", SMALL["products"], SMALL["batch norm"]):
        unit = _compile(f"kernel f{text}", "default")
        accesses, _ = _interpret(unit, 0, elementary)
        head = HEAD.match(render_summary(unit.nests[0]))
        assert head is not None
        assert int(head.group(5)) == accesses.bytes_moved


WRONG = {
    "a nest too few": lambda text: text.replace(": 2 nests", ": 1 nest"),
    "a byte too few moved": lambda text: re.sub(r"(\d+) B moved", lambda m: f"{int(m[1]) - 1} B moved", text),
    "no intermediates": lambda text: re.sub(r"\d+ B of inter", "0 B of inter", text),
    "unfused too little": lambda text: re.sub(r"unfused \d+", "unfused 17", text),
    "an array as a register": lambda text: text + "; buf0 is a register",
    "an array not listed": lambda text: re.sub(r"buf0 \(\d+ B\)", "", text),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_record_is_found(wrong: str, elementary: ElementaryLibrary) -> None:
    unit = _compile((ROOT / "tests/fusion/programs/col_center.tdsl").read_text("utf-8"), "default")
    accesses, size = _interpret(unit, 0, elementary)
    counted = recount(_functions(unit)[0], unit.nests[0].signature)
    true = render_summary(unit.nests[0])
    changed = WRONG[wrong](true)
    assert changed != true
    check_summary(true, counted, size, accesses, _result_names(unit.nests[0]))
    with pytest.raises(AssertionError):
        check_summary(changed, counted, size, accesses, _result_names(unit.nests[0]))


def test_a_nest_program_that_quotes_itself_is_found(elementary: ElementaryLibrary) -> None:
    """The record drops a nest and an array that the code still has."""
    unit = _compile((ROOT / "tests/fusion/programs/col_center.tdsl").read_text("utf-8"), "default")
    accesses, size = _interpret(unit, 0, elementary)
    counted = recount(_functions(unit)[0], unit.nests[0].signature)
    program = unit.nests[0]
    for lie in (
        replace(program, nests=program.nests[1:]),
        replace(program, buffers=tuple(b for b in program.buffers if b.name != "buf0"), memory=()),
        replace(program, unfused_bytes=program.unfused_bytes - program.unfused_bytes),
    ):
        with pytest.raises(AssertionError):
            check_summary(render_summary(lie), counted, size, accesses, _result_names(program))
