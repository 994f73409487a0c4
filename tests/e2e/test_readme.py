"""What the README and the language page show is run: commands, Python sessions, programs.

Of the README's fenced blocks, `console` is run line by line in a directory with a copy of the examples,
and what it prints is compared (`...` matches anything); `pycon` is a doctest in that directory, run after the
commands; `tdsl` and `c` are parts of example files; the `make` targets that a `sh` block names exist. On the
language page every `tdsl` block compiles.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tensorc

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LANGUAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent


def fenced_blocks(text: str, info: str) -> list[str]:
    return re.findall(rf"^```{re.escape(info)}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def split_session(block: str) -> list[tuple[str, str]]:
    """`$ command` and the lines it prints, in order."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    assert parts[0] == "", f"a console block starts with a command: {parts[0]!r}"
    return list(zip(parts[1::2], parts[2::2], strict=True))


SESSIONS = [pair for block in fenced_blocks(README, "console") for pair in split_session(block)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the README's reader, its commands run; their outputs are compared elsewhere."""
    where = tmp_path_factory.mktemp("reader")
    shutil.copytree(ROOT / "examples", where / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return where


@pytest.fixture(scope="module")
def outputs(place: Path) -> list[str]:
    """What each command of `SESSIONS` prints, run in order."""
    return [run_shell(command, place) for command, _ in SESSIONS]


def run_shell(command: str, place: Path) -> str:
    env = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "TENSORC_CACHE_DIR": str(place / "cache"),
    }
    done = subprocess.run(
        ["bash", "-c", f"{command} 2>&1"], cwd=place, env=env, capture_output=True, check=False
    )
    return done.stdout.decode()


def test_readme_shows_commands() -> None:
    shown = " ".join(command for command, _ in SESSIONS)
    for name in ("compile", "run", "check", "explain --fusion-log"):
        assert f"tensorc {name}" in shown


@pytest.mark.parametrize("number", range(len(SESSIONS)), ids=lambda n: SESSIONS[n][0].split(" -")[0])
def test_command_prints_what_the_readme_shows(outputs: list[str], number: int, update_golden: bool) -> None:
    (command, expected), got = SESSIONS[number], outputs[number]
    matches = doctest.OutputChecker().check_output(expected.rstrip(), got.rstrip(), doctest.ELLIPSIS)
    if update_golden and not matches:
        shown = (ROOT / "README.md").read_text(encoding="utf-8")
        new = shown.replace(f"$ {command}\n{expected}", f"$ {command}\n{got.rstrip()}\n")
        (ROOT / "README.md").write_text(new, encoding="utf-8")
        return
    assert matches, f"expected:\n{expected}\ngot:\n{got}"


@pytest.mark.parametrize("session", fenced_blocks(README, "pycon"))
def test_python_session(outputs: list[str], place: Path, session: str) -> None:
    (place / "session.txt").write_text(session, encoding="utf-8")
    program = (
        "import doctest, sys; sys.path.insert(0, 'build')\n"
        "result = doctest.testfile('session.txt', module_relative=False, optionflags=doctest.ELLIPSIS)\n"
        "assert result.attempted > 0\n"
        "sys.exit(result.failed > 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_programs_are_parts_of_examples() -> None:
    for suffix in ("tdsl", "c"):
        sources = [p.read_text(encoding="utf-8") for p in (ROOT / "examples").glob(f"*.{suffix}")]
        blocks = fenced_blocks(README, suffix)
        assert blocks
        for block in blocks:
            assert any(block in source for source in sources), block


def test_make_targets_exist() -> None:
    targets = re.findall(r"\bmake ([a-z]+)", " ".join(fenced_blocks(README, "sh")))
    assert {"demo", "test"} <= set(targets)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("number", range(len(fenced_blocks(LANGUAGE, "tdsl"))))
def test_language_page_compiles(number: int) -> None:
    module = tensorc.compile(fenced_blocks(LANGUAGE, "tdsl")[number])
    assert module


def later_operations() -> list[str]:
    """The names in the last column of the language page's table of operations."""
    section = LANGUAGE.split("## 3. Operations")[1].split("## 4.")[0]
    rows = [re.split(r"(?<!\\)\|", line) for line in section.splitlines() if line.startswith("| ")]
    assert rows[0][3].strip() == "later"
    return [word for row in rows[1:] for word in re.sub(r"`[^`]*`", "", row[3]).split()]


def codes_of(text: str) -> set[str]:
    try:
        tensorc.compile(text)
    except tensorc.CompileError as error:
        return {d.code for d in error.diagnostics}
    return set()


@pytest.mark.parametrize("name", later_operations())
def test_later_operations_say_so(name: str) -> None:
    assert codes_of(f"kernel k(x: f32[N, D]) {{ return {name}(x) }}") == {"TC0501"}


def test_later_constructs_say_so() -> None:
    assert codes_of("kernel k(x: f32[N]) {\n iterate 3 with x {\n x = x * 2\n }\n return x\n}") == {"TC0503"}
