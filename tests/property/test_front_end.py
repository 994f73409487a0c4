"""Any text gives located errors with codes, or a program: random ones, deep ones, long ones."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from fuzzing.front_end import Verdict, check_bytes, run_texts, shrink_bytes
from fuzzing.texts import corpus, derive, draw_text

from tensorc.diagnostics.model import DiagnosticBag
from tensorc.driver import CompileOptions
from tensorc.source import Source
from tensorc.syntax.parser import parse_file


@pytest.mark.parametrize("seed", range(2))
def test_random_texts(seed: int, tmp_path: Path) -> None:
    codes, faults = run_texts(f"ci {seed}", 150, tmp_path)
    assert not faults, [f.with_suffix(".txt").read_text() for f in faults]
    assert len(codes) > 15 and sum(codes.values()) == 150


def test_the_texts_reach_the_checker() -> None:
    """Not all is refused by the parser: otherwise the rest would not be tested."""
    parsed = Counter()
    for n in range(200):
        text = draw_text(Random(f"reach {n}")).decode("utf-8", "replace")
        bag = DiagnosticBag()
        file = parse_file(Source("<text>", text), bag)
        parsed["good" if file.items and not bag.has_errors else "bad"] += 1
    assert parsed["good"] > 40 and parsed["bad"] > 40


def test_derivations_parse() -> None:
    good = 0
    for n in range(40):
        bag = DiagnosticBag()
        parse_file(Source("<derived>", derive(Random(n))), bag)
        good += not bag.has_errors
    assert good > 20


def test_a_fault_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from fuzzing import front_end

    real = front_end.compile_text

    def planted(source: Source, options: CompileOptions) -> object:
        if "**" in source.text:
            raise RecursionError("planted")
        return real(source, options)

    monkeypatch.setattr(front_end, "compile_text", planted)
    data = corpus()[0].encode() + b"kernel bad(x: f32[N]) { return x ** 2 }\n"
    verdict = check_bytes(data, tmp_path / "a.tdsl")
    assert verdict.fault.startswith("RecursionError: planted")
    assert shrink_bytes(data, verdict, tmp_path / "a.tdsl", 30) == b"**"


def test_a_hang_is_a_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from fuzzing import front_end

    def forever(source: Source, options: CompileOptions) -> object:
        while True:
            pass

    monkeypatch.setattr(front_end, "compile_text", forever)
    assert check_bytes(b"kernel", tmp_path / "a.tdsl", 1) == Verdict("", "no end within 1 s")


def _kernel(expression: str, params: str = "x: f32[N]") -> str:
    return f"kernel f({params}) {{ return {expression} }}\n"


def _nested(n: int) -> str:
    return _kernel("sum(" * n + "x[i0]" + "".join(f" for i{k} in N)" for k in range(n)))


def _chain(depth: int) -> str:
    """A kernel with calls of `def`s `depth` deep, each of which adds an operation."""
    defs = "".join(f"def call{k}(x) = " + (f"call{k - 1}(x) + 1\n" if k else "x\n") for k in range(depth))
    return defs + _kernel(f"call{depth - 1}(x)")


def deep_texts(n: int) -> dict[str, tuple[str, str]]:
    """By name: a text with something `n` times in it, and what comes of it."""
    return {
        "parentheses": (_kernel("(" * n + "x" + ")" * n), "ok"),
        "unclosed": (_kernel("(" * n + "x"), "TC0103"),
        "closed too often": (_kernel("x" + ")" * n), "TC0104"),
        "brackets": (_kernel("x" + "[0" * n + "]" * n), "TC0405"),
        "tuples": (_kernel("x[" + "(" * n + "0" + ",)" * n + "]"), "TC0404"),
        "minus": (_kernel("-" * n + "x"), "ok"),
        "not": (_kernel("not " * n + "x", "x: bool[N]"), "ok"),
        "invert": (_kernel("~" * n + "x", "x: i32[N]"), "ok"),
        "sum": (_kernel("x" + " + x" * n), "ok"),
        "power": (_kernel("x" + " ** x" * n), "ok"),
        "chain": (_kernel("x" + " < x" * n), "ok"),
        "and": (_kernel("x" + " and x" * n, "x: bool[N]"), "ok"),
        "calls": (_kernel("relu(" * n + "x" + ")" * n), "ok"),
        "methods": (_kernel("x" + ".sum()" * n), "ok"),
        "subscripts": (_kernel("x" + "[::-1]" * n), "ok"),
        "arguments": (_kernel("maximum(" + "x, " * n + "x)"), "TC0204"),
        "indices": (_kernel("x[" + "0, " * n + "0]"), "TC0405"),
        "new axes": (_kernel("x[" + "None, " * n + "0]"), "TC0504"),
        "axes": (f"kernel f(x: f32[{', '.join(f'A{k}' for k in range(n))}]) {{ return x }}\n", "TC0504"),
        "iterators": (_kernel(f"sum(x[i0] for {', '.join(f'i{k} in 2' for k in range(100))})"), "TC0504"),
        "braces": ("{" * n, "TC0101"),
        "dots": ("." * n, "TC0101"),
        "constant": ("const A = " + "(" * n + "1" + ")" * n + "\n" + _kernel("x"), "ok"),
        "size": (f"kernel f(x: f32[{'(' * n}N{')' * n}]) {{ return x }}\n", "ok"),
        "size sum": (f"kernel f(x: f32[N], y: f32[{' + '.join('N' * 1000)}]) {{ return x }}\n", "ok"),
        "size product": (
            f"kernel f(x: f32[N, M], y: f32[{' * '.join(['(N + M + 1)'] * 300)}]) {{ return x }}\n",
            "TC0504",
        ),
        "definitions": (
            "".join(f"def f{k}(x) = " + (f"f{k - 1}(x)\n" if k else "x\n") for k in range(n // 50))
            + _kernel(f"f{n // 50 - 1}(x)"),
            "ok",
        ),
        "calls in definitions": (_chain(min(n, 1500)), "ok"),
        "too many calls in definitions": (_chain(2100), "TC0504"),
        "doubling": (
            "".join(f"def g{k}(x) = " + (f"g{k - 1}(x) + g{k - 1}(x)\n" if k else "x\n") for k in range(60))
            + _kernel("g59(x)"),
            "TC0504",
        ),
        "integer": (_kernel("x + " + "1" * n), "TC0112"),
        "fraction": (_kernel("x + 0." + "1" * n), "ok"),
        "exponent": (_kernel("x + 1e99999999999"), "TC0303"),
        "tiny": (_kernel("x + 1e-99999999999"), "ok"),
        "constant power": ("const A = 9 ** 9 ** 9 ** 9\n" + _kernel("x"), "TC0303"),
        "constant shift": ("const A = 1 << 100000000000\n" + _kernel("x"), "TC0303"),
        "statements": (
            "kernel f(t0: f32[N]) {\n" + "".join(f"t{k} = t{k - 1} + 1\n" for k in range(1, n // 3))
            + f"return t{n // 3 - 1}\n}}\n",
            "ok",
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", deep_texts(1))
def test_deep_texts(name: str, tmp_path: Path) -> None:
    text, code = deep_texts(10_000)[name]
    assert check_bytes(text.encode(), tmp_path / "deep.tdsl", 300, until="check") == Verdict(code)


def test_deep_texts_become_code(tmp_path: Path) -> None:
    """All of them in one, a few hundred deep: no stage after the checker recurses on depth."""
    texts = {name: text for name, (text, code) in deep_texts(400).items() if code == "ok"}
    for name, text in texts.items():
        assert check_bytes(text.encode(), tmp_path / "deep.tdsl", 300) == Verdict("ok"), name


def test_nested_comprehensions(tmp_path: Path) -> None:
    assert check_bytes(_nested(60).encode(), tmp_path / "deep.tdsl", 300) == Verdict("ok")
    assert check_bytes(_nested(1000).encode(), tmp_path / "deep.tdsl", 300, until="check") == Verdict("ok")


LONG_TEXTS = {
    "blanks": ("kernel f(x: f32[N]) { return x", " ", "}\n", "ok"),
    "lines": ("kernel f(x: f32[N]) { return x", "\n", "}\n", "ok"),
    "comment": ("#", "a", "\nkernel f(x: f32[N]) { return x }\n", "ok"),
    "junk": ("", "@", "", "TC0101"),
    "brackets": ("", "(", "", "TC0101"),
}
CHILD = """\
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from fuzzing.front_end import check_bytes
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
for path in map(Path, sys.argv[2:]):
    print(check_bytes(path.read_bytes(), path, 300, "check"))
"""


def test_long_texts(tmp_path: Path) -> None:
    """In a process that may have 3 GB of addresses, most of which the libraries take."""
    paths = []
    for name, (before, repeated, after, _) in LONG_TEXTS.items():
        count = 3_000_000 // len(repeated)
        paths.append(tmp_path / f"{name}.tdsl")
        paths[-1].write_bytes((before + repeated * count + after).encode())
    command = (sys.executable, "-c", CHILD, str(Path(__file__).parent), *map(str, paths))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    expected = [repr(Verdict(code)) for *_, code in LONG_TEXTS.values()]
    assert done.stdout.splitlines() == expected, done.stderr[-2000:]
