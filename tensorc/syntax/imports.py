"""Files that a file imports, parsed: what ships under `std/`, and paths relative to the importing file.

Files are told apart by their real path, so a file that is reached on two ways is read once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tensorc.diagnostics.model import CompileError, DiagnosticBag, Label
from tensorc.source import Source, Span
from tensorc.syntax import ast
from tensorc.syntax.parser import parse_file
from tensorc.syntax.read import read_source

STANDARD = Path(__file__).resolve().parent.parent / "std"
DEEPEST = 100

NO_TEXTS: Mapping[str, str] = {}


def parse_program(source: Source, bag: DiagnosticBag, texts: Mapping[str, str] = NO_TEXTS) -> ast.File:
    """`source` and all it imports; errors go into `bag`. See `load_imports` for `texts`."""
    return load_imports(parse_file(source, bag), bag, texts)


def load_imports(file: ast.File, bag: DiagnosticBag, texts: Mapping[str, str] = NO_TEXTS) -> ast.File:
    """`file` with everything it imports, directly and further on.

    `texts` are the contents of files by path (`Source.path`), taken instead of what the disk holds.
    """
    return _Loader(bag, texts).load(file, ())


def imported_sources(file: ast.File) -> tuple[Source, ...]:
    """The sources that `file` imports from outside of `std/`, each once, in the order of reading."""
    found: dict[str, Source] = {}
    pending = [file]
    while pending:
        current = pending.pop()
        for item in current.imported or ():
            path = item.file.source.path
            if path is not None and path not in found:
                found[path] = item.file.source
                pending.append(item.file)
    return tuple(found.values())


def standard_file_with(name: str) -> str:
    """The import path of the shipped file that defines `name`, "" when there is none."""
    head = re.compile(rf"^def {re.escape(name)}\(", re.MULTILINE)
    for path in sorted(STANDARD.glob("*.tdsl")):
        if head.search(path.read_text(encoding="utf-8")):
            return f"std/{path.name}"
    return ""


@dataclass(frozen=True, slots=True)
class _Place:
    """A file as found: what messages call it, its real path, whether it ships with tensorc."""

    name: str
    path: str
    standard: bool


@dataclass(slots=True)
class _Loader:
    bag: DiagnosticBag
    texts: Mapping[str, str]
    files: dict[str, ast.File] = field(default_factory=dict)

    def load(self, file: ast.File, chain: tuple[Source, ...]) -> ast.File:
        """`chain` holds the files on the way here, the first one first."""
        imported: list[ast.Imported] = []
        seen: dict[str, Span] = {}
        for node in file.items:
            if not isinstance(node, ast.Import):
                continue
            place = self._place(node, file.source)
            if place is None or not self._first_time(node, place, seen):
                continue
            found = self._file(node, place, (*chain, file.source))
            if found is not None:
                imported.append(ast.Imported(node.span, found))
        return replace(file, imported=tuple(imported))

    def _first_time(self, node: ast.Import, place: _Place, seen: dict[str, Span]) -> bool:
        first = seen.setdefault(place.path, node.span)
        if first is node.span:
            return True
        self.bag.error(
            "TC0207",
            f'"{node.path}" is imported twice',
            node.span,
            label="the second time",
            secondary=(Label(first, "the first time"),),
        )
        return False

    def _place(self, node: ast.Import, source: Source) -> _Place | None:
        """Where an import leads, or None after an error."""
        if os.path.isabs(node.path) or "\0" in node.path:
            message = f'"{node.path}" is not a relative path'
            help = "write the path from the directory of the importing file"
            self._error(node, message, "expected a relative path", help)
            return None
        parts = node.path.split("/")
        if parts[0] == "std":
            return self._standard_place(node, parts[1:])
        if source.standard:
            self._error(node, f'"{node.path}" is not part of `std/`', "std/ imports from std/ only", "")
            return None
        if source.path is None:
            self._error(
                node,
                f'"{node.path}" has no directory to be found in',
                "the program is a text, not a file",
                'save the program as a file; only `std/`, as in `import "std/nn.tdsl"`, is found from a text',
            )
            return None
        name = os.path.normpath(os.path.join(os.path.dirname(source.name), node.path))
        path = os.path.normpath(os.path.join(os.path.dirname(source.path), node.path))
        return _Place(name, path if path in self.texts else os.path.realpath(path), False)

    def _standard_place(self, node: ast.Import, parts: list[str]) -> _Place | None:
        names = [p.name for p in sorted(STANDARD.glob("*.tdsl"))]
        if len(parts) == 1 and parts[0] in names:
            return _Place(node.path, str(STANDARD / parts[0]), True)
        shipped = ", ".join(f"std/{n}" for n in names)
        self._error(
            node,
            f'there is no "{node.path}"',
            "not part of tensorc",
            f"std/ is what ships with it: {shipped}",
        )
        return None

    def _file(self, node: ast.Import, place: _Place, chain: tuple[Source, ...]) -> ast.File | None:
        """The parsed file with its imports, or None after an error."""
        paths = [s.path for s in chain]
        if place.path in paths:
            self._report_cycle(node, chain[paths.index(place.path) :])
            return None
        if place.path in self.files:
            return self.files[place.path]
        if len(chain) > DEEPEST:
            self.bag.error("TC0504", f"imports nest deeper than {DEEPEST}", node.span)
            return None
        source = self._read(node, place)
        if source is None:
            return None
        file = self.load(parse_file(source, self.bag), chain)
        self.files[place.path] = file
        return file

    def _read(self, node: ast.Import, place: _Place) -> Source | None:
        if place.path in self.texts:
            return Source(place.name, self.texts[place.path], place.path, place.standard)
        try:
            text = read_source(place.path).text
        except CompileError as error:
            for d in error.diagnostics:
                label = d.message.replace(place.path, place.name)
                self._error(node, f'"{node.path}" cannot be imported', label, d.help)
            return None
        return Source(place.name, text, None if place.standard else place.path, place.standard)

    def _report_cycle(self, node: ast.Import, cycle: tuple[Source, ...]) -> None:
        names = [s.name for s in cycle]
        way = " imports ".join((*names, names[0])) if len(names) > 1 else f"{names[0]} imports itself"
        self._error(node, f'"{node.path}" leads back to itself', way, "move what both need to a third file")

    def _error(self, node: ast.Import, message: str, label: str, help: str) -> None:
        self.bag.error("TC0214", message, node.span, label=label, help=help)
