"""Names of kernels' groups and words for nodes, as the logs print them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tensorc.loop_ir.program import LoopNode, MatmulNode, Node, NopNode, Origin

MAX_NAME = 64
SHORT_NAMES = {
    "multiply": "mul",
    "subtract": "sub",
    "divide": "div",
    "negative": "neg",
    "power": "pow",
}


def group_name(nodes: Iterable[Node], number: int) -> str:
    """`fused_sin_add_sum_relu_mul_0`: distinct origins in order, cut to whole words, and the number."""
    words: dict[str, None] = {}
    for node in nodes:
        words |= dict.fromkeys(origin_words(node))
    name = "fused"
    for word in words:
        if len(name) + 1 + len(word) > MAX_NAME:
            break
        name += f"_{word}"
    return f"{name}_{number}"


def origin_words(node: Node) -> tuple[str, ...]:
    """A node's tensor operations, each once, in order, as words that may stand in an identifier."""
    words = (re.sub(r"\W+", "_", SHORT_NAMES.get(o.op, o.op)).strip("_") for o in node.origins)
    return tuple(dict.fromkeys(word for word in words if word))


def kind_words(node: Node) -> str:
    """`Reduction(sum)`, `Scan(sum)`, `Pointwise`, `Matmul` or `Nop`."""
    match node:
        case LoopNode():
            if node.scan is not None:
                return f"Scan({node.scan.kind})"
            return "Pointwise" if node.reduction is None else f"Reduction({node.reduction.kind})"
        case MatmulNode():
            return "Matmul"
        case NopNode():
            return "Nop"


def place_words(origins: tuple[Origin, ...], is_result: bool) -> str:
    """The user's names, pins and lines: `z, s @inline: lines 2-3`, `return: line 4`."""
    named = dict.fromkeys(f"{o.name} @{o.pin}" if o.pin else o.name for o in origins if o.name)
    if is_result and not (origins and origins[-1].name):
        named["return"] = None
    places = sorted({_line(o) for o in origins})
    names = ", ".join(named)
    if not places:
        return names
    lines = f"line {places[0]}" if len(places) == 1 else f"lines {places[0]}-{places[-1]}"
    return f"{names}: {lines}" if names else lines


def _line(origin: Origin) -> int:
    """Where the user wrote the operation: inside a `def` that was inlined, the call."""
    return (origin.span.via[-1] if origin.span.via else origin.span).line
