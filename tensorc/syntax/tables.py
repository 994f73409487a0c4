"""The parser of `grammar/tdsl.lark`: finding the grammar, building its tables, keeping them in a cache.

Building the LALR tables takes about a second, loading them some 20 ms. The cache is a convenience: a
file in it that is damaged, of another version or not writable changes nothing but the time.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from io import BytesIO
from pathlib import Path

import lark
import platformdirs
from lark.lark import PostLex

OPENERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
"""Terminal names of the brackets that open, with those that close them."""


class DropNewlines(PostLex):
    """Drops the newlines inside `( )` and `[ ]`, where they mean nothing."""

    always_accept = ("_NL",)

    def process(self, stream: Iterator[lark.Token]) -> Iterator[lark.Token]:
        depth = 0
        for token in stream:
            if token.type in ("LPAR", "LSQB"):
                depth += 1
            elif token.type in ("RPAR", "RSQB"):
                depth = max(0, depth - 1)
            if token.type != "_NL" or not depth:
                yield token


def grammar_text() -> str:
    """The grammar: beside this module in an installed wheel, in `grammar/` of a source tree.

    Raises:
        FileNotFoundError: neither place has it (a broken installation).
    """
    packaged = resources.files(__package__ or "tensorc.syntax").joinpath("tdsl.lark")
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    tree = Path(__file__).resolve().parents[2] / "grammar" / "tdsl.lark"
    return tree.read_text(encoding="utf-8")


def build_parser(grammar: str, *, strict: bool = False) -> lark.Lark:
    """Build the tables; `strict` also proves that no two terminals collide (needs interegular)."""
    return lark.Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        postlex=DropNewlines(),
        maybe_placeholders=True,
        propagate_positions=True,
        strict=strict,
    )


@lru_cache(maxsize=1)
def tdsl_parser() -> lark.Lark:
    """The parser of this process, from the user's cache directory where that works."""
    return load_parser(platformdirs.user_cache_path("tensorc", appauthor=False))


def load_parser(cache_directory: Path) -> lark.Lark:
    """The parser, from `cache_directory` when its tables are there; else built, and stored there."""
    grammar = grammar_text()
    path = cache_directory / f"grammar-{_cache_key(grammar)}.tables"
    parser = _load_tables(path)
    if parser is None:
        parser = build_parser(grammar)
        _store_tables(parser, path)
    return parser


def _cache_key(grammar: str) -> str:
    """Everything the tables depend on. The class that drops newlines is pickled by name."""
    parts = (grammar, lark.__version__, sys.version, DropNewlines.__module__)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _load_tables(path: Path) -> lark.Lark | None:
    """The parser stored at `path`, or None when there is none that can be used."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body, digest = data[:-32], data[-32:]
    if hashlib.sha256(body).digest() != digest:
        return None
    try:
        return lark.Lark.load(BytesIO(body))
    except (pickle.UnpicklingError, KeyError, AttributeError, ImportError, TypeError, EOFError):
        return None


def _store_tables(parser: lark.Lark, path: Path) -> None:
    """Write the tables so that a reader sees all of them or none; give up without a word."""
    buffer = BytesIO()
    parser.save(buffer)
    body = buffer.getvalue()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body + hashlib.sha256(body).digest())
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
