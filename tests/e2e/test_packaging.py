"""What users install: the wheel in an environment of its own, and a compiled kernel without tensorc."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(sysconfig.get_paths()["purelib"])


def needed_distributions(requirements: list[str]) -> dict[str, metadata.Distribution]:
    """The distributions that `requirements` lead to, taken from the running environment."""
    found: dict[str, metadata.Distribution] = {}
    todo = [Requirement(r) for r in requirements]
    while todo:
        requirement = todo.pop()
        name = requirement.name.lower()
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found[name] = metadata.distribution(name)
        todo.extend(Requirement(r) for r in found[name].requires or ())
    return found


def make_environment(where: Path, requirements: list[str]) -> Path:
    """A new virtual environment that holds exactly what `requirements` lead to; returns its Python.

    The files are copied from the running environment: no network, and a dependency that is used but not
    declared is missing here as it would be for a user.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", where], check=True)
    site = next(where.glob("lib/python*/site-packages"))
    for distribution in needed_distributions(requirements).values():
        for file in distribution.files or ():
            source = Path(str(distribution.locate_file(file)))
            if source.is_relative_to(SITE) and source.suffix != ".pyc" and source.is_file():
                target = site / source.relative_to(SITE)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
    return where / "bin" / "python"


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that must succeed, in an environment without this tree on its path."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(cwd),
            "TENSORC_CACHE_DIR": str(cwd / "cache"),
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the tree."""
    out = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = out.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `tensorc` command of an environment that holds the wheel and its declared dependencies only."""
    where = tmp_path_factory.mktemp("wheel") / "env"
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().split("\n\n")[0].splitlines()
    requirements = [
        line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")
    ]
    python = make_environment(where, requirements)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        wheel,
    ]
    done = subprocess.run(list(map(str, pip)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return python.with_name("tensorc")


@pytest.fixture(scope="module")
def kernel(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with softmax compiled by the installed command, elsewhere than the tree."""
    work = tmp_path_factory.mktemp("user")
    shutil.copy(ROOT / "examples" / "softmax.tdsl", work)
    run(installed, "compile", "softmax.tdsl", "-o", "build/kernel.so", cwd=work)
    return work / "build"


def test_wheel_ships_grammar_headers_and_pages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert archive.read("tensorc/syntax/tdsl.lark") == (ROOT / "grammar" / "tdsl.lark").read_bytes()
    headers = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("tensorc/codegen/runtime/*.h")}
    pages = {f"tensorc/diagnostics/pages/{p.name}" for p in ROOT.glob("docs/errors/*.md")}
    assert headers
    assert pages
    assert headers | pages | {"tensorc/py.typed", "tensorc/std/nn.tdsl"} <= names
    assert not [n for n in names if n.startswith(("tests/", "docs/", "grammar/", "tools/"))]


def test_installed_command_tells_its_version(installed: Path, tmp_path: Path) -> None:
    assert metadata.version("tensorc") in run(installed, "--version", cwd=tmp_path)


def test_editable_command_tells_the_same_version(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("tensorc")
    assert metadata.version("tensorc") in run(command, "--version", cwd=tmp_path)


def test_installed_command_compiles(kernel: Path) -> None:
    assert {p.name for p in kernel.iterdir()} == {"kernel.so", "kernel.py", "kernel.pyi", "kernel.h"}


def test_kernel_runs_without_tensorc(kernel: Path, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env", ["numpy", "cffi"])
    program = """
import importlib.util
assert importlib.util.find_spec("tensorc") is None
import numpy as np
import kernel
x = np.arange(12, dtype=np.float32).reshape(3, 4)
y = kernel.softmax(x)
e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
assert y.dtype == np.float32 and y.shape == (3, 4)
assert np.abs(y - e / e.sum(axis=1, keepdims=True)).max() < 1e-6
print("ran")
"""
    assert run(python, "-W", "error", "-c", program, cwd=kernel) == "ran\n"
