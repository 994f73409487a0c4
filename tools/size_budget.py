"""The size budget: hard limits fail, in `tensorc/` soft limits are listed.

A file is measured whole, a function from `def` to its last line without its docstring: an explanation
should never be cut to fit.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_SOFT, FILE_HARD = 400, 600
FUNCTION_SOFT, FUNCTION_HARD = 40, 60
SUFFIXES = (".py", ".h")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing over a limit: where, how many lines, and whether it is over the hard limit."""

    place: str
    lines: int
    hard: bool


def measure_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is None:
        return lines
    return lines - ((first.end_lineno or first.lineno) - first.lineno + 1)


def measure_file(path: Path) -> Iterator[Finding]:
    name = path.relative_to(ROOT).as_posix()
    text = path.read_text(encoding="utf-8")
    count = len(text.splitlines())
    if count > FILE_SOFT:
        yield Finding(name, count, count > FILE_HARD)
    if path.suffix != ".py":
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = measure_function(node)
            if count > FUNCTION_SOFT:
                yield Finding(f"{name}:{node.lineno} {node.name}()", count, count > FUNCTION_HARD)


def sorted_files(folder: str) -> list[Path]:
    return sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in SUFFIXES)


def main() -> int:
    files = {folder: sorted_files(folder) for folder in ("tensorc", "tests", "tools", "benchmarks")}
    findings = [
        f
        for folder, paths in files.items()
        for p in paths
        for f in measure_file(p)
        if f.hard or folder == "tensorc"
    ]
    for finding in findings:
        print(f"size budget: {finding.lines:4d} lines  {'OVER' if finding.hard else 'soft'}  {finding.place}")
    over = sum(f.hard for f in findings)
    print(
        f"size budget: {sum(map(len, files.values()))} files, {len(findings) - over} over a soft limit, "
        f"{over} over a hard limit"
    )
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
