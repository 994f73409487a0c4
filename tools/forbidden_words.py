"""Words that must not be in the tree: unfinished marks, paths of one machine, addresses of registries."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Written in pieces, so that this file does not contain what it looks for.
FORBIDDEN = {
    "unfinished mark": re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"),
    "path of one machine": re.compile(r"(?<![\w.])/(?:ho" r"me|ro" r"ot|Us" r"ers|wo" r"rk)/\w"),
    "address of a registry": re.compile(r"(?:py" r"pi\.org|pythonho" r"sted|npmjs\.|index-" r"url)"),
}


def tracked_files() -> list[Path]:
    """Files of the repository; outside of one (an unpacked archive), nothing is checked."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    return [ROOT / name for name in listing.stdout.split("\0") if name]


def find_words(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (UnicodeDecodeError, FileNotFoundError):
        return []
    name = path.relative_to(ROOT).as_posix()
    return [
        f"{name}:{number}: {what}: {match.group()}"
        for number, line in enumerate(lines, 1)
        for what, pattern in FORBIDDEN.items()
        if (match := pattern.search(line))
    ]


def main() -> int:
    found = [line for path in tracked_files() for line in find_words(path)]
    for line in found:
        print(line)
    print(f"forbidden words: {len(found)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
