"""Imports: which names arrive, whose names a definition sees, and what cannot be imported."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensorc
from tensorc.diagnostics.model import CompileError, Diagnostic

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def write(directory: Path, **files: str) -> Path:
    """Files of a directory; the one called `main` is returned."""
    for name, text in files.items():
        path = directory / f"{name.replace('__', '/')}.tdsl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return directory / "main.tdsl"


def errors(path: Path) -> tuple[Diagnostic, ...]:
    with pytest.raises(CompileError) as caught:
        tensorc.compile(path)
    return caught.value.diagnostics


def test_definitions_constants_and_sizes_arrive_on_every_way(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main='import "a.tdsl"\nimport "lib/b.tdsl"\n'
        "kernel k(x: f32[N, H]) { return twice(x) + up(x) + HALF }",
        a='import "lib/c.tdsl"\ndef twice(x) = double(x)',
        lib__b='import "c.tdsl"\ndef up(x) = double(x) * HALF + H',
        lib__c="dims H = 4\nconst HALF = 0.5\ndef double(x) = x * 2",
    )
    k = tensorc.compile(main)["k"]
    assert k.signature == "k(x: f32[N, H]) -> f32[N, 4]"
    np.testing.assert_array_equal(k(X), X * 2 + (X * 2 * np.float32(0.5) + 4) + np.float32(0.5))


def test_a_definition_sees_the_names_of_its_own_file(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main='import "lib.tdsl"\ndef max(x) = x * 100\nkernel k(x: f32[N]) { return peak(x) }',
        lib="def peak(x) = max(x)",
    )
    assert tensorc.compile(main)["k"](X[0]) == X[0].max()


def test_kernels_of_an_imported_file_stay_there(tmp_path: Path) -> None:
    both = "kernel k(x: f32[N]) { return f(x) }"
    main = write(
        tmp_path,
        main=f'import "lib.tdsl"\n{both}',
        lib=f"def f(x) = -x\n{both}\nkernel other(x: f32) {{ return x }}",
    )
    assert list(tensorc.compile(main)) == ["k"]


def test_an_error_in_an_imported_definition_shows_both_places(tmp_path: Path) -> None:
    main = write(
        tmp_path, main='import "lib.tdsl"\nkernel k(x: f32[N]) { return f(x) }', lib="\ndef f(x) = x + totl"
    )
    (found,) = errors(main)
    assert found.code == "TC0201" and found.span is not None
    assert (found.span.source.name, found.span.line) == (str(tmp_path / "lib.tdsl"), 2)
    assert [(call.source.name, call.line) for call in found.span.via] == [(str(main), 2)]


def test_every_error_of_every_file_is_reported_in_reading_order(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main='import "lib.tdsl"\nkernel k(x: f32[N]) { return y }',
        lib="const A = B\ndef f(x) = f(x)",
    )
    found = errors(main)
    assert [d.code for d in found] == ["TC0206", "TC0201", "TC0201"]
    assert [d.span.source.name == str(main) for d in found if d.span] == [False, False, True]


def test_a_syntax_error_of_an_imported_file(tmp_path: Path) -> None:
    found = errors(
        write(tmp_path, main='import "lib.tdsl"\nkernel k(x: f32) { return x }', lib="def f(x = x")
    )
    assert [d.span.source.name for d in found if d.span] == [str(tmp_path / "lib.tdsl")]


def test_two_definitions_of_a_name_point_at_both_files(tmp_path: Path) -> None:
    kernel = "kernel k(x: f32) { return x }"
    main = write(
        tmp_path, main=f'import "a.tdsl"\nimport "b.tdsl"\n{kernel}', a="def f(x) = x", b="const f = 1"
    )
    (found,) = errors(main)
    assert found.code == "TC0207" and found.span is not None
    assert found.span.source.name.endswith("b.tdsl")
    assert found.secondary[0].span.source.name.endswith("a.tdsl")


CYCLES = [
    ({"main": 'import "main.tdsl"'}, ["main.tdsl imports itself"]),
    (
        {"main": 'import "a.tdsl"', "a": 'import "./b.tdsl"', "b": 'import "a.tdsl"'},
        ["a.tdsl imports", "b.tdsl imports"],
    ),
    ({"main": 'import "d/a.tdsl"', "d__a": 'import "../main.tdsl"'}, ["main.tdsl imports"]),
]


@pytest.mark.parametrize(("files", "words"), CYCLES)
def test_a_cycle_is_named(tmp_path: Path, files: dict[str, str], words: list[str]) -> None:
    files = files | {"main": files["main"] + "\nkernel k(x: f32) { return x }"}
    (found,) = errors(write(tmp_path, **files))
    assert found.code == "TC0214"
    assert [w for w in words if w not in found.label] == []


def test_a_cycle_through_a_link_ends(tmp_path: Path) -> None:
    main = write(tmp_path, main='import "loop/main.tdsl"\nkernel k(x: f32) { return x }')
    (tmp_path / "loop").symlink_to(tmp_path)
    (found,) = errors(main)
    assert found.code == "TC0214" and "imports itself" in found.label


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("no.tdsl", "there is no file"),
        (".", "is a directory"),
        ("bytes.tdsl", "not UTF-8"),
        ("../std/nn.tdsl", "no file"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, path: str, words: str) -> None:
    (tmp_path / "bytes.tdsl").write_bytes(b"def f(x) = \xff")
    (found,) = errors(write(tmp_path, main=f'import "{path}"\nkernel k(x: f32) {{ return x }}'))
    assert found.code == "TC0214" and words in found.label
    assert found.span is not None and found.span.text == f'import "{path}"'


def test_a_failed_import_is_the_only_error(tmp_path: Path) -> None:
    body = "kernel k(x: f32[N]) { return f(x) + A }"
    (found,) = errors(write(tmp_path, main=f'import "no.tdsl"\n{body}'))
    assert found.code == "TC0214"
    (found,) = errors(write(tmp_path, main=f'import "lib.tdsl"\n{body}', lib='import "no.tdsl"'))
    assert found.code == "TC0214"


def test_a_long_chain_of_imports_ends_with_a_message(tmp_path: Path) -> None:
    for n in range(150):
        (tmp_path / f"f{n}.tdsl").write_text(f'import "f{n + 1}.tdsl"\n')
    (found,) = errors(write(tmp_path, main='import "f0.tdsl"\nkernel k(x: f32) { return x }'))
    assert found.code == "TC0504"


def test_the_command_finds_what_is_beside_the_file(tmp_path: Path) -> None:
    write(
        tmp_path,
        sub__main='import "lib.tdsl"\nkernel k(x: f32[N]) { return f(x) }',
        sub__lib="def f(x) = x + 1",
    )
    command = [sys.executable, "-m", "tensorc", "check", "--types"]
    done = subprocess.run(
        [*command, "sub/main.tdsl"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "k(x: f32[N]) -> f32[N]\n"
    text = (tmp_path / "sub/main.tdsl").read_text()
    done = subprocess.run(
        [*command, "-"], cwd=tmp_path, input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "error[TC0214]" in done.stderr


def test_a_pickled_kernel_needs_no_file(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main='import "a.tdsl"\nkernel k(x: f32[N]) { return f(x) }',
        a='import "b.tdsl"',
        b="def f(x) = x + 1",
    )
    data = pickle.dumps(tensorc.compile(main)["k"])
    for path in tmp_path.glob("*.tdsl"):
        path.unlink()
    again = pickle.loads(data)
    np.testing.assert_array_equal(again(X[0]), X[0] + 1)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again))(X[0]), X[0] + 1)
