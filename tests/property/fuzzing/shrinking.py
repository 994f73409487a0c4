"""Make a failing kernel small: drop results, statements and parameters while it fails in the same way.

A text that does not pass the checker is no candidate, so most attempts cost no build.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tensorc.diagnostics.model import CompileError, DiagnosticBag
from tensorc.errors import InternalError
from tensorc.sema.check import check_file
from tensorc.source import Source
from tensorc.syntax.parser import parse_file

NAME = re.compile(r"[A-Za-z_]\w*")
_KERNEL = re.compile(r"kernel (\w+)\((.*)\) \{$")


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel as the generator writes it: one statement a line, the returned expressions apart."""

    header: tuple[str, ...]
    name: str
    params: tuple[str, ...]
    statements: tuple[str, ...]
    results: tuple[str, ...]

    def __str__(self) -> str:
        head = f"kernel {self.name}({', '.join(self.params)}) {{"
        body = (*self.statements, f"return {', '.join(self.results)}")
        return "\n".join((*self.header, head, *(f"    {line}" for line in body), "}")) + "\n"


def split_kernels(text: str) -> tuple[KernelText, ...]:
    """The kernels of a grown file, each with what stands before the first one."""
    lines = text.splitlines()
    starts = [k for k, line in enumerate(lines) if _KERNEL.match(line)]
    header = tuple(lines[: starts[0]])
    return tuple(
        _read_kernel(header, lines[a:b]) for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)
    )


def _read_kernel(header: tuple[str, ...], lines: list[str]) -> KernelText:
    found = _KERNEL.match(lines[0])
    assert found is not None
    body = [line.strip() for line in lines[1 : lines.index("}")]]
    results = split_list(body[-1].removeprefix("return "))
    return KernelText(header, found[1], split_list(found[2]), tuple(body[:-1]), results)


def split_list(text: str) -> tuple[str, ...]:
    """The items of a list that stand outside all brackets."""
    items, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            items.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return (*items, last) if last else tuple(items)


def shrink(kernel: KernelText, fails: Callable[[str], bool], attempts: int = 200) -> KernelText:
    """The smallest kernel found that still fails; `fails` is asked at most `attempts` times."""
    left = attempts
    progress = True
    while progress and left > 0:
        progress = False
        for candidate in _smaller(kernel):
            if not is_valid(str(candidate)):
                continue
            left -= 1
            if fails(str(candidate)):
                kernel, progress = candidate, True
                break
            if left <= 0:
                break
    return kernel


def is_valid(text: str) -> bool:
    """Whether the checker accepts a text."""
    bag = DiagnosticBag()
    try:
        check_file(parse_file(Source("<shrinking>", text), bag), bag)
        bag.raise_if_errors()
    except (CompileError, InternalError):
        return False
    return True


def _smaller(k: KernelText) -> Iterator[KernelText]:
    """Kernels with less in them, the greatest steps first."""
    if len(k.results) > 1:
        for n in range(len(k.results)):
            yield replace(k, results=(k.results[n],))
    yield from _cut_short(k)
    for n in reversed(range(len(k.statements))):
        yield replace(k, statements=_without(k.statements, n))
        yield from _bypassed(k, n)
    for n in range(len(k.params)):
        yield replace(k, params=_without(k.params, n))
    for n in range(len(k.header)):
        yield replace(k, header=_without(k.header, n))
    yield from _simpler_statements(k)


def _cut_short(k: KernelText) -> Iterator[KernelText]:
    """Kernels that return an earlier value, and nothing after it."""
    for n, statement in enumerate(k.statements[:-1]):
        for name in _targets(statement):
            yield replace(k, statements=k.statements[: n + 1], results=(name,))


def _bypassed(k: KernelText, n: int) -> Iterator[KernelText]:
    """Kernels in which an operand takes the place of the value that statement `n` gives."""
    targets = _targets(k.statements[n])
    operands = [m for m in NAME.findall(k.statements[n].split("=", 1)[1]) if m in _known(k, n)]
    for operand in dict.fromkeys(operands):
        rest = tuple(_renamed(s, targets, operand) for s in k.statements[n + 1 :])
        results = tuple(dict.fromkeys(_renamed(r, targets, operand) for r in k.results))
        yield replace(k, statements=k.statements[:n] + rest, results=results)


def _simpler_statements(k: KernelText) -> Iterator[KernelText]:
    """Kernels whose statement `n` has a name fewer, or a plain parameter in the place of a value."""
    params = [p.split(":")[0] for p in k.params]
    for n, statement in enumerate(k.statements):
        left, right = statement.split(" = ", 1)
        for name in dict.fromkeys(m for m in NAME.findall(right) if m in _known(k, n)):
            for other in (*(p for p in params if p != name), "1"):
                if name in params and other != "1":
                    continue
                changed = f"{left} = {_renamed(right, (name,), other)}"
                yield replace(k, statements=(*k.statements[:n], changed, *k.statements[n + 1 :]))


def _targets(statement: str) -> tuple[str, ...]:
    left = statement.split("=", 1)[0]
    return tuple(NAME.findall(left.split("[", 1)[0]))


def _known(k: KernelText, n: int) -> frozenset[str]:
    names = {p.split(":")[0] for p in k.params}
    return frozenset(names.union(*(_targets(s) for s in k.statements[:n])))


def _renamed(text: str, names: tuple[str, ...], other: str) -> str:
    return NAME.sub(lambda m: other if m[0] in names else m[0], text)


def _without(items: tuple[str, ...], n: int) -> tuple[str, ...]:
    return items[:n] + items[n + 1 :]
