"""Cut a text that does not parse into items, by where lines in column 1 begin one."""

from __future__ import annotations

import re

ITEM = re.compile(r"(?:kernel|def|dims|const|import)\b")
# A misspelt or foreign keyword: two words and a bracket, which no statement begins with.
LIKE_ITEM = re.compile(
    r"(?!(?:return|iterate|requires|not|for|with|and|or|in)\b)[A-Za-z_]\w*[ \t]+[A-Za-z_]\w*\s*[(\[]"
)
LEADS_IN = ("##", "@")
# What declares a name in column 1, right or not: `def f`, `let a`, `a =`, `dims N ~ 4, D = 2`.
_DECLARES = re.compile(r"(?:[A-Za-z_]+[ \t]+)?([A-Za-z_]\w*)")
_DECLARES_MORE = re.compile(r",\s*([A-Za-z_]\w*)\s*[=~:]")


def split_items(text: str) -> tuple[tuple[int, int], ...]:
    """Ranges of `text`, in order and without gaps, that each hold about one item.

    Doc comments and decorators in column 1 go with the kernel below them; elsewhere (in a block that
    is not indented) they begin nothing.
    """
    starts = [0]
    leading: int | None = None
    offset = 0
    for line in text.split("\n"):
        if ITEM.match(line) or LIKE_ITEM.match(line):
            starts.append(offset if leading is None else leading)
            leading = None
        elif line.startswith(LEADS_IN):
            leading = offset if leading is None else leading
        elif line.strip():
            leading = None
        offset += len(line) + 1
    bounds = [*dict.fromkeys(starts), len(text)]
    return tuple((a, b) for a, b in zip(bounds, bounds[1:], strict=False) if a < b)


def declared_names(item: str) -> set[str]:
    """The names that an item which does not parse seems to declare, to be unknown for that reason alone."""
    names: set[str] = set()
    for line in item.split("\n"):
        first = _DECLARES.match(line)
        if first is None or line.startswith("kernel"):
            continue
        names.add(first.group(1))
        if not re.match(r"(?:def|fn|func)\b", line):
            names.update(_DECLARES_MORE.findall(line))
    return names
