"""Texts for the front end that are mostly wrong: bytes, tokens, derivations of the grammar, broken programs.

Every choice comes from one `random.Random`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from random import Random

from lark.grammar import NonTerminal, Rule, Terminal
from programs import HEADER, grow_kernel

from tensorc.syntax.tables import tdsl_parser

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ("examples", "tests/conformance/programs", "tests/fusion/programs", "tensorc/std")
TOKEN = re.compile(r"[A-Za-z_]\w*|\d+\.\d*|\d+|\s+|##?[^\n]*|->|\*\*|//|[<>=!]=|<<|>>|.", re.S)
ODD = (
    *("\0", "\ufeff", "\r\n", "\r", "\t", "\f", "\u00a0", "\u2028", "é", "λ", "変", "🙂", "“", "”", "−", "×"),
    *("\x7f", "\x1b[31m", "\u202e", "ﬁ", "x\u0301", "\ud7ff"),
)
NUMBERS = (
    *("0", "1", "-1", "2", "7", "64", "9223372036854775807", "9223372036854775808", "-9223372036854775809"),
    *("1e999", "1e-999", "0.5", "-0.0", "1e30", "0x", "1_0", "4294967296", "N", "inf", "nan", "true", "None"),
)
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "@", "<", ">=", "&", "|", "<<", ">>", "and", "or", "=", ",")
ATOMS = (
    *NUMBERS,
    *(
        "x",
        "f32",
        "f32[N]",
        "bf16",
        "...",
        ":",
        "::",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        "\n",
        "=",
        "==",
        "->",
    ),
    *(
        "==",
        "->",
        "@",
        "**",
        "//",
        "%",
        "<<",
        "~",
        "not",
        "and",
        "for",
        "in",
        "return",
        "kernel",
        "def",
        "dims",
        "const",
    ),
    *("import", "iterate", "with", "requires", "@inline", "@materialize", "axis=0", "axis=-9", "axis=(0, 0)"),
    *("keepdims=true", "dtype=f64", "sum(", "max(", "reshape(", 'einsum("ij", ', '"'),
)


@lru_cache(maxsize=1)
def corpus() -> tuple[str, ...]:
    """The programs of the project, in the order of their paths."""
    paths = sorted(p for folder in SOURCES for p in (ROOT / folder).glob("*.tdsl"))
    return tuple(p.read_text(encoding="utf-8") for p in paths)


def draw_text(random: Random) -> bytes:
    """The bytes of one file."""
    makers: tuple[tuple[int, Callable[[Random], str]], ...] = (
        (3, _token_soup),
        (4, derive),
        (8, lambda r: mutate(r, r.choice(corpus()))),
        (5, lambda r: mutate(r, f"{HEADER}{grow_kernel(r, 'k0')}\n")),
    )
    at = random.randrange(21)
    if at == 20:
        return random.randbytes(random.randrange(200))
    for weight, make in makers:
        at -= weight
        if at < 0:
            return make(random).encode("utf-8", "surrogatepass")
    raise AssertionError("the weights cover the range")


def _token_soup(random: Random) -> str:
    words = [w for w in TOKEN.findall(random.choice(corpus())) if not w.isspace()]
    picked = [random.choice(words) if random.randrange(3) else random.choice(ATOMS) for _ in range(60)]
    return " ".join(picked[: 1 + random.randrange(60)])


# -- broken programs ---------------------------------------------------------------------------------


def mutate(random: Random, text: str) -> str:
    """`text` with one to six changes to its tokens, lines or characters."""
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        match random.randrange(14):
            case 0:
                text = "".join(_change(random, text.splitlines(keepends=True), "\n"))
            case 1:
                at = random.randrange(len(text) + 1)
                text = text[:at] + random.choice(ODD) + text[at:]
            case 2:
                at = random.randrange(len(text) + 1)
                text = text[:at] + text[at + random.randrange(12) :]
            case 3:
                other = random.choice(corpus())
                text = text[: random.randrange(len(text) + 1)] + other[random.randrange(len(other)) :]
            case 4 | 5 | 6:
                text = "".join(_change(random, TOKEN.findall(text), random.choice(ATOMS)))
            case _:
                text = "".join(_retarget(random, TOKEN.findall(text)))
    return text


def _retarget(random: Random, items: list[str]) -> list[str]:
    """A name in the place of another, a number of another, or an operator: what still parses, mostly."""
    at = random.randrange(len(items)) if items else 0
    for k in range(len(items)):
        word = items[(at + k) % len(items)]
        if word in OPERATORS:
            items[(at + k) % len(items)] = f" {random.choice(OPERATORS)} "
        elif word[0].isdigit():
            items[(at + k) % len(items)] = random.choice(NUMBERS)
        elif word.isidentifier():
            names = [w for w in items if w.isidentifier()]
            items[(at + k) % len(items)] = random.choice(names)
        else:
            continue
        break
    return items


def _change(random: Random, items: list[str], new: str) -> list[str]:
    """One of the items deleted, doubled, swapped with another, replaced, or one inserted."""
    if not items:
        return [new]
    a, b = random.randrange(len(items)), random.randrange(len(items))
    match random.randrange(5):
        case 0:
            del items[a]
        case 1:
            items.insert(b, items[a])
        case 2:
            items[a], items[b] = items[b], items[a]
        case 3:
            items[a] = new
        case _:
            items.insert(a, f" {new} ")
    return items


# -- derivations of the grammar ----------------------------------------------------------------------

_SAMPLES = {
    "NAME": ("x", "y", "N", "f", "sum", "max", "f32", "i64", "exp", "reshape", "where", "x", "x", "k"),
    "INT": ("0", "1", "2", "7", "100", "0x1F", "1_000"),
    "FLOAT": ("0.5", "1e-3", "2.", ".5", "1e30"),
    "STRING": ('"ij,jk->ik"', '"std/nn.tdsl"', '"no.tdsl"'),
    "CMP": ("==", "<", ">="),
    "_NL": ("\n",),
    "_SHL": ("<<",),
    "_SHR": (">>",),
}


@lru_cache(maxsize=1)
def _rules() -> dict[str, tuple[Rule, ...]]:
    found: dict[str, list[Rule]] = {}
    for rule in tdsl_parser().rules:
        found.setdefault(rule.origin.name, []).append(rule)
    return {name: tuple(rules) for name, rules in found.items()}


@lru_cache(maxsize=1)
def _terminals() -> dict[str, tuple[str, ...]]:
    fixed = {t.name: (t.pattern.value,) for t in tdsl_parser().terminals if t.pattern.type == "str"}
    return fixed | _SAMPLES


@lru_cache(maxsize=1)
def _depths() -> dict[str, int]:
    """The least depth of a derivation of each rule."""
    depths: dict[str, int] = {}
    while True:
        before = dict(depths)
        for name, rules in _rules().items():
            known = [d for d in map(_depth, rules) if d is not None]
            if known:
                depths[name] = min(known)
        if depths == before:
            return depths
        _DEPTHS.update(depths)


_DEPTHS: dict[str, int] = {}


def _depth(rule: Rule) -> int | None:
    inner = [_DEPTHS.get(s.name) for s in rule.expansion if isinstance(s, NonTerminal)]
    return None if None in inner else 1 + max((d for d in inner if d is not None), default=0)


def derive(random: Random, budget: int = 120) -> str:
    """A text that the grammar derives: an item or two, with a meaning only by chance."""
    depths = _depths()
    words: list[str] = []
    pending: list[Terminal | NonTerminal] = [NonTerminal("_item") for _ in range(1 + random.randrange(2))]
    while pending:
        symbol = pending.pop()
        if isinstance(symbol, Terminal):
            words.append(random.choice(_terminals()[symbol.name]))
            continue
        rules = _rules()[symbol.name]
        budget -= 1
        if budget < 0:
            rules = tuple(r for r in rules if _depth(r) == depths[symbol.name])
        pending.extend(reversed(random.choice(rules).expansion))
    return " ".join(words) + "\n"
