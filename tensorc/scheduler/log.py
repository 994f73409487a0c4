"""The fusion log as text and as JSON, rendered from the events alone.

Lines and figures are those of Inductor's log where it has them; remarks stand to the right of column 52.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tensorc.loop_ir.program import Role
from tensorc.scheduler import events, reasons
from tensorc.scheduler.dependencies import Dep, NodeDeps, print_dep, print_group
from tensorc.scheduler.events import Event
from tensorc.scheduler.names import kind_words, origin_words, place_words
from tensorc.scheduler.policy import INDUCTOR
from tensorc.scheduler.program import FusedProgram
from tensorc.scheduler.score import Saving
from tensorc.scheduler.sizes import Figures

REMARK_COLUMN = 52
WIDEST_COLUMN = 60


def render_text(fused: FusedProgram, symbolic: bool = False) -> str:
    """The log: a header, the nodes, the decisions. `symbolic` keeps the names of dims in sizes."""
    figures = None if symbolic else fused.figures
    signature = fused.loop.signature
    span = signature.span
    lines = [f"{signature.name}  {span.source.name}:{span.line}"]
    lines += node_lines(fused, figures)
    for event in fused.events:
        lines += event_lines(event)
        if fused.policy == INDUCTOR and isinstance(event, events.PairConsidered):
            lines += _score_lines(event)
    return "\n".join(lines) + "\n"


def node_lines(fused: FusedProgram, figures: Figures | None) -> list[str]:
    """Two or more lines a node: what it is, where it comes from, its reads and writes; aligned."""
    results = {b.name for b in fused.loop.buffers if b.role is Role.OUTPUT}
    rows = [
        (
            node.name,
            kind_words(node),
            f"group {print_group(own.group, figures)}" if own.group is not None else "",
            place_words(node.origins, node.buffer in results),
            f"origins {' '.join(origin_words(node))}",
        )
        for node, own in zip(fused.loop.nodes, fused.deps, strict=True)
    ]
    widths = [min(max((len(row[k]) for row in rows), default=0), WIDEST_COLUMN) for k in range(4)]
    produced = {n.buffer for n in fused.loop.nodes}
    tables = [access_rows(own, produced, figures) for own in fused.deps]
    access_width = min(max((len(t) for table in tables for _, t in table[:-1]), default=0), WIDEST_COLUMN)
    lines: list[str] = []
    for row, table in zip(rows, tables, strict=True):
        name, kind, group, place, origins = (t.ljust(w) for t, w in zip(row, (*widths, 0), strict=True))
        lines.append(f"  {name}  {kind}  {group}   {place}   {origins}".rstrip())
        lines += _access_lines(table, access_width, 4 + widths[0])
    return lines


def access_rows(deps: NodeDeps, produced: set[str], figures: Figures | None) -> list[tuple[str, str]]:
    """(`reads` | `unmet` | `writes`, dependency) rows of one node; the write is the last."""
    met = [d for d in deps.reads if d.buffer not in produced]
    unmet = [d for d in deps.reads if d.buffer in produced]
    groups: list[tuple[str, list[Dep]]] = [("reads", met), ("unmet", unmet), ("writes", list(deps.writes))]
    return [(word, print_dep(d, figures)) for word, found in groups for d in found]


def _access_lines(table: list[tuple[str, str]], width: int, indent: int) -> list[str]:
    *read, (word, write) = table
    pad = " " * indent
    if not read:
        return [f"{pad}{word} {write}"]
    lines = []
    previous = ""
    for label, text in read:
        lines.append(f"{pad}{label if label != previous else '':5}  {text}")
        previous = label
    lines[-1] = f"{lines[-1].ljust(len(pad) + 7 + width)}       {word}  {write}"
    return lines


def event_lines(event: Event) -> Iterator[str]:
    """The text of one event; some looks at a pair say nothing new and have none."""
    match event:
        case events.NodeRemoved(node, buffer):
            yield f"removed {node}: no result needs {buffer}"
        case events.SizeAssumed(dim, value):
            yield f"no hint for {dim}: figures take {value}"
        case events.RoundStarted(number, rounds, nodes):
            yield f"===== attempting fusion ({number}/{rounds}): {nodes} nodes ====="
        case events.PairConsidered():
            yield from _pair_lines(event)
        case events.PairWaits(_, first, second, reason):
            yield _remark(f"not yet fusing {first} with {second}", reason.sentence)
        case events.CandidatesFound(_, count):
            yield f"found {count} possible fusions"
        case events.Fused():
            yield _remark(f"fusing {event.first} with {event.second}", _fusion_remark(event))
        case events.RoundFinished(number, rounds, before, after):
            yield f"completed fusion round ({number}/{rounds}): fused {before} nodes into {after} nodes"
        case events.FusionFinished(rounds):
            yield f"===== fusion complete ({rounds} iterations) ====="
        case _:
            assert_never(event)


def _pair_lines(pair: events.PairConsidered) -> Iterator[str]:
    if pair.saving is not None and not pair.again:
        shared = f"{pair.first} and {pair.second} has {pair.saving.shared} shared data"
        blocks = pair.saving.in_blocks
        yield _remark(shared, f"{blocks} in blocks: touched in two orders") if blocks else shared
    if not pair.reason.allows:
        yield f"cannot fuse {pair.first} with {pair.second}: {pair.reason.sentence}"


def _score_lines(pair: events.PairConsidered) -> Iterator[str]:
    """Inductor's key: template class, both or neither a reduction, shared bytes, closeness."""
    if pair.score is not None and not pair.again:
        yield f"score of {pair.first} and {pair.second}: {pair.score}"


def _fusion_remark(event: events.Fused) -> str:
    return "; ".join((event.kind, *saving_words(event.saving)))


def saving_words(saving: Saving) -> Iterator[str]:
    """`removes an 8192 B round trip`, `saves 4096 B of loads`."""
    if saving.round_trips:
        yield f"removes {article(saving.round_trips)} {saving.round_trips} B round trip"
    if saving.loads:
        yield f"saves {saving.loads} B of loads"


def article(number: int) -> str:
    """`a` or `an`, as the number is read: an 8, an 11 thousand, an 18 million, an 80."""
    digits = str(number)
    leading = digits[: (len(digits) - 1) % 3 + 1]
    return "an" if leading[0] == "8" or leading in ("11", "18") else "a"


def _remark(text: str, remark: str) -> str:
    return f"{text.ljust(REMARK_COLUMN)}{remark}" if len(text) < REMARK_COLUMN else f"{text}  {remark}"


def render_json(fused: FusedProgram) -> list[dict[str, object]]:
    """The events as plain dicts: `event` names the kind, the other keys are the fields."""
    return [event_dict(event) for event in fused.events]


def event_dict(event: Event) -> dict[str, object]:
    """One event as a dict of strings, numbers, lists and dicts."""
    found: dict[str, object] = {"event": type(event).__name__}
    for name in event.__slots__:
        found[name] = _plain(getattr(event, name))
    return found


def _plain(value: object) -> object:
    match value:
        case Saving(loads, round_trips, in_blocks):
            return {
                "shared": value.shared,
                "loads": loads,
                "round_trips": round_trips,
                "in_blocks": in_blocks,
            }
        case reasons.Reason(code, sentence):
            return {"code": code, "sentence": sentence}
        case tuple():
            return list(value)
        case _:
            return value
