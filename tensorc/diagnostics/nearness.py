"""Which known name a misspelt one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 2  # names in one proposal
_SHORT = 3  # a word as short as this keeps its first letter


def near_names(name: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The nearest candidates: another case, else few enough edits, else a long word that `name` begins.

    One edit per three letters is allowed, so that a short word is never "corrected" into an unrelated one;
    several equally near names are given together, and none when they are many.
    """
    known = sorted(set(candidates) - {name})
    lower = name.lower()
    same = tuple(c for c in known if c.lower() == lower)
    if same:
        return same[:_MOST]
    allowed = min(len(name) // 3, 3)
    ranked = [(edits(lower, c.lower(), allowed), c) for c in known] if allowed else []
    best = min((e for e, _ in ranked if e <= allowed), default=None)
    if best is None:
        found = [c for c in known if len(name) > 3 and c.lower().startswith(lower)]
    else:
        found = [c for e, c in ranked if e == best]
        # a typo rarely hits the first letter
        same_start = [c for c in found if c[0].lower() == lower[0]]
        found = same_start if same_start or len(name) <= _SHORT else found
    return tuple(found) if len(found) <= _MOST else ()


def edits(a: str, b: str, most: int) -> int:
    """How many letters to insert, drop, replace or swap with the next one, `most + 1` at most."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        last, row = row, [i]
        for j, y in enumerate(b, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before = last
    return min(row[-1], most + 1)
