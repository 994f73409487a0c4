from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tensorc.diagnostics.model import CompileError, ToolchainError
from tensorc.toolchain.build import BuildOptions, build_library, compile_flags
from tensorc.toolchain.cache import cache_key, cached_library
from tensorc.toolchain.compiler import CANDIDATES, Compiler, find_compiler, probe_compiler
from tensorc.toolchain.files import OutputError, write_all
from tensorc.toolchain.target import Host, default_target, probe_host, resolve_target

TEXT = 'extern "C" __attribute__((visibility("default"))) int f(int x) { return x + 1; }\n'
GENERIC = resolve_target("generic", probe_host())
SERIAL = BuildOptions(threads="none")
COMPILERS = [c for c in ("g++", "clang++") if shutil.which(c)]


@pytest.fixture(autouse=True)
def kept_sources(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a failing compiler leaves behind goes where the tests clean up."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("kept")))


def script(folder: Path, body: str, name: str = "fake-cxx") -> str:
    """An executable shell script that plays a compiler."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def failing_after_probe(folder: Path, failure: str) -> Compiler:
    """A compiler that answers the probe as the real one and then does `failure`."""
    real = shutil.which(find_compiler().command[0])
    body = f'for a in "$@"; do if [ "$a" = -dM ]; then exec {real} "$@"; fi; done\n{failure}'
    return probe_compiler((script(folder, body),))


def code_of(error: CompileError) -> str:
    return error.diagnostics[0].code


@pytest.mark.parametrize("name", COMPILERS)
def test_finds_family_and_version(name: str) -> None:
    compiler = find_compiler(name)
    assert compiler.family == {"g++": "gcc", "clang++": "clang"}[name]
    assert compiler.major >= 9
    said = subprocess.run([name, "-dumpversion"], capture_output=True, text=True, check=True).stdout.strip()
    assert compiler.version.startswith(said)


def test_takes_a_command_with_arguments_and_a_path_with_spaces(tmp_path: Path) -> None:
    assert find_compiler(f"{COMPILERS[0]} -pipe").command == (COMPILERS[0], "-pipe")
    folder = tmp_path / "with space"
    folder.mkdir()
    wrapper = script(folder, f'exec {shutil.which(COMPILERS[0])} "$@"')
    assert find_compiler(wrapper).command == (wrapper,)


def test_no_compiler_lists_what_was_searched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError) as caught:
        find_compiler()
    (found,) = caught.value.diagnostics
    assert found.code == "TC0601"
    assert all(name in found.notes[0] for name in (*CANDIDATES, "CXX"))
    assert "--cxx" in found.help
    assert caught.value.exit_status == 3


@pytest.mark.parametrize("cxx", ["no-such-compiler", "'unclosed"])
def test_named_compiler_that_is_not_there(cxx: str) -> None:
    with pytest.raises(ToolchainError) as caught:
        find_compiler(cxx)
    assert code_of(caught.value) == "TC0601"


def test_compiler_that_does_not_run(tmp_path: Path) -> None:
    broken = script(tmp_path, "echo 'licence expired' >&2; exit 5")
    with pytest.raises(ToolchainError) as caught:
        find_compiler(broken)
    (found,) = caught.value.diagnostics
    assert found.code == "TC0603"
    assert "exit status 5" in found.message
    assert any(broken in note for note in found.notes)
    assert any("licence expired" in note for note in found.notes)


def test_program_that_is_no_compiler(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError) as caught:
        find_compiler(script(tmp_path, "echo hello"))
    assert code_of(caught.value) == "TC0603"


def test_old_compiler_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="too old"):
        find_compiler(script(tmp_path, "echo '#define __GNUC__ 4'"))


def test_failing_compiler_reports_and_leaves_nothing(tmp_path: Path) -> None:
    compiler = failing_after_probe(tmp_path, "echo 'internal compiler error: x' >&2; exit 4")
    out = tmp_path / "out"
    with pytest.raises(ToolchainError) as caught:
        build_library(TEXT, out / "kernel.so", compiler, GENERIC, SERIAL)
    (found,) = caught.value.diagnostics
    assert found.code == "TC0602"
    assert "internal compiler error" not in found.message
    command, kept, said = found.notes
    assert compiler.command[0] in command
    kept_path = Path(kept.rpartition(" ")[2])
    assert kept_path.read_text() == TEXT
    assert str(kept_path) in command
    assert "internal compiler error" in said
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    ("failure", "words"),
    [("exit 0", "wrote no library"), ("kill -9 $$", "killed by signal 9")],
    ids=["silent", "killed"],
)
def test_compiler_that_lies_or_dies(tmp_path: Path, failure: str, words: str) -> None:
    compiler = failing_after_probe(tmp_path, failure)
    with pytest.raises(ToolchainError, match=words):
        build_library(TEXT, tmp_path / "kernel.so", compiler, GENERIC, SERIAL)
    assert not (tmp_path / "kernel.so").exists()


def test_long_output_is_shortened(tmp_path: Path) -> None:
    compiler = failing_after_probe(tmp_path, "seq 1 500 >&2; exit 1")
    with pytest.raises(ToolchainError) as caught:
        build_library(TEXT, tmp_path / "kernel.so", compiler, GENERIC, SERIAL)
    assert "and 488 more lines" in caught.value.diagnostics[0].notes[-1]


def test_failure_keeps_the_old_library(tmp_path: Path) -> None:
    library = tmp_path / "kernel.so"
    library.write_bytes(b"old")
    with pytest.raises(ToolchainError):
        build_library("not C++", library, find_compiler(), GENERIC, SERIAL)
    assert library.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["kernel.so"]


@pytest.mark.parametrize("name", COMPILERS)
@pytest.mark.parametrize("threads", ["none", "openmp"])
def test_library_needs_no_cxx_runtime(tmp_path: Path, name: str, threads: str) -> None:
    loop = "#pragma omp parallel for\nfor (int i = 0; i < n; i++) s = __builtin_fmod(n, 3);"
    body = f"{{ double s = 0;\n{loop} return s; }}"
    text = f'extern "C" __attribute__((visibility("default"))) double f(int n) {body}\n'
    library = tmp_path / "kernel.so"
    build_library(text, library, find_compiler(name), GENERIC, BuildOptions(threads=threads))
    listed = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
    needed = {
        line.split("[")[1].split("]")[0].split(".")[0] for line in listed.splitlines() if "NEEDED" in line
    }
    runtime = {"openmp": {"libgomp", "libomp"}, "none": set()}[threads]
    assert needed <= {"libc", "libm", "ld-linux-x86-64", "libdl"} | runtime
    assert bool(needed & {"libgomp", "libomp"}) == (threads == "openmp")


@pytest.mark.parametrize("name", COMPILERS)
def test_code_that_needs_the_cxx_runtime_does_not_link(tmp_path: Path, name: str) -> None:
    text = 'extern "C" __attribute__((visibility("default"))) void* f(long n) { return new char[n]; }\n'
    with pytest.raises(ToolchainError, match="TC0602"):
        build_library(text, tmp_path / "kernel.so", find_compiler(name), GENERIC, SERIAL)


def test_paths_with_odd_characters(tmp_path: Path) -> None:
    folder = tmp_path / "a b'c\"d é"
    build_library(TEXT, folder / "k.so", find_compiler(), GENERIC, SERIAL, {folder / "k.h": b"x"})
    assert sorted(p.name for p in folder.iterdir()) == ["k.h", "k.so"]


def test_unwritable_places(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "taken.so").mkdir()
    for library in (tmp_path / "file" / "kernel.so", tmp_path / "taken.so"):
        with pytest.raises(OutputError) as caught:
            build_library(TEXT, library, find_compiler(), GENERIC, SERIAL, {library.with_suffix(".h"): b""})
        assert code_of(caught.value) == "TC0604"
        assert caught.value.exit_status == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "taken.so"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    """Neither as the library nor beside it, also at the end of a symbolic link; nothing else is written."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "old.h").write_text("old")
    before = sorted(p.name for p in tmp_path.iterdir())
    reasons = {"pipe": "not a regular file", "link": "not a regular file", "round": "symbolic links"}
    for name, reason in reasons.items():
        with pytest.raises(OutputError, match=f"{name}': .*{reason}") as caught:
            build_library("", tmp_path / name, find_compiler(), GENERIC, SERIAL, {tmp_path / "old.h": b""})
        assert code_of(caught.value) == "TC0604"
        with pytest.raises(OutputError, match=reason):
            write_all({tmp_path / "old.h": b"", tmp_path / "new" / "x.py": b"", tmp_path / name: b""})
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert (tmp_path / "old.h").read_text() == "old"


def test_symbolic_links_stay_and_lead_to_what_is_written(tmp_path: Path) -> None:
    target = tmp_path / "far" / "target.h"
    target.parent.mkdir()
    target.write_text("old")
    for name, leads_to in {"a": "far/target.h", "b": "a", "c": "new/dangling.h"}.items():
        (tmp_path / name).symlink_to(leads_to)
    write_all({tmp_path / "b": b"one", tmp_path / "c": b"two", tmp_path / "plain": b"three"})
    assert all((tmp_path / name).is_symlink() for name in "abc")
    assert (target.read_text(), (tmp_path / "new" / "dangling.h").read_text()) == ("one", "two")
    found = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()]
    assert sorted(found) == ["a", "b", "c", "far/target.h", "new/dangling.h", "plain"]
    (tmp_path / "k.so").symlink_to("far/real.so")
    build_library(TEXT, tmp_path / "k.so", find_compiler(), GENERIC, SERIAL, {tmp_path / "k.h": b""})
    assert (tmp_path / "far" / "real.so").read_bytes().startswith(b"\x7fELF")


def test_store_with_a_pipe_in_it(tmp_path: Path) -> None:
    library = cached_library(TEXT, find_compiler(), GENERIC, SERIAL, 1, tmp_path)
    library.unlink()
    os.mkfifo(library)
    with pytest.raises(OutputError, match="not a regular file"):
        cached_library(TEXT, find_compiler(), GENERIC, SERIAL, 1, tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="cannot write"):
        write_all({tmp_path / "x": b""})


def test_strict_flags_win_over_the_users() -> None:
    flags = compile_flags(GENERIC, replace(SERIAL, extra_flags=("-ffast-math", "-O3")))
    assert flags[:4] == ("-ffast-math", "-O3", "-fno-fast-math", "-fno-unsafe-math-optimizations")
    assert flags.index("-O2") > flags.index("-O3")
    assert "-ffp-contract=off" in flags


def test_targets() -> None:
    old = Host("x86_64", frozenset({"sse4_2"}))
    new = Host("x86_64", frozenset(resolve_target("x86-64-v3", old).features) | {"avx512f"})
    assert default_target(old).name == "generic"
    assert default_target(new).name == "x86-64-v3"
    assert default_target(Host("aarch64", frozenset())).flags == ()
    assert {"avx2", "fma"} <= set(default_target(new).features)
    assert "avx512f" in resolve_target("native", new).features
    assert resolve_target("native", old).features == ("sse4_2",)
    with pytest.raises(CompileError) as caught:
        resolve_target("x86-64-v3", Host("aarch64", frozenset()))
    assert code_of(caught.value) == "TC0605"


def test_target_features_are_what_the_compiler_enables() -> None:
    """The table says no less than g++ itself, read from its macros."""
    host = probe_host()
    if not host.is_x86_64:
        pytest.skip("x86-64 only")
    macros = {
        "__AVX2__": "avx2",
        "__FMA__": "fma",
        "__BMI2__": "bmi2",
        "__F16C__": "f16c",
        "__AVX512F__": "avx512f",
    }
    macros |= {
        "__SSE4_2__": "sse4_2",
        "__AVX512VNNI__": "avx512_vnni",
        "__GFNI__": "gfni",
        "__AVX512BW__": "avx512bw",
    }
    for name in ("x86-64-v2", "x86-64-v3", "x86-64-v4", "native"):
        target = resolve_target(name, host)
        command = [*find_compiler().command, *target.flags, "-dM", "-E", "-x", "c++", "/dev/null"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert {f for m, f in macros.items() if m in said} <= set(target.features)


def test_cache_builds_once_and_mends_damage(tmp_path: Path) -> None:
    counter = tmp_path / "count"
    real = shutil.which(find_compiler().command[0])
    compiler = probe_compiler((script(tmp_path, f'echo x >> {counter}; exec {real} "$@"'),))
    counter.write_text("")

    def get() -> Path:
        return cached_library(TEXT, compiler, GENERIC, SERIAL, 1, tmp_path / "cache")

    first = get()
    assert get() == first
    assert counter.read_text().count("x") == 1
    intact = first.read_bytes()
    first.write_bytes(intact[:100])
    assert get().read_bytes() == intact
    (first.parent / "kernel.sha256").unlink()
    assert get().read_bytes() == intact
    assert counter.read_text().count("x") == 3


def test_swapped_entries_are_noticed(tmp_path: Path) -> None:
    def get(text: str) -> Path:
        return cached_library(text, find_compiler(), GENERIC, SERIAL, 1, tmp_path)

    one, two = get(TEXT).parent, get(TEXT.replace("f(", "g(")).parent
    honest = (one / "kernel.so").read_bytes()
    one.rename(tmp_path / "aside")
    two.rename(one)
    (tmp_path / "aside").rename(two)
    assert get(TEXT).read_bytes() == honest


def test_relative_folder_that_looks_like_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    build_library(TEXT, Path("-lead") / "k.so", find_compiler(), GENERIC, SERIAL)
    assert (tmp_path / "-lead" / "k.so").exists()


def test_store_cleared_while_in_use(tmp_path: Path) -> None:
    """Processes build and find one entry while another keeps removing the whole store."""
    program = f"""
import ctypes, sys
from pathlib import Path
from tensorc.toolchain.build import BuildOptions
from tensorc.toolchain.cache import cached_library
from tensorc.toolchain.compiler import find_compiler
from tensorc.toolchain.target import probe_host, resolve_target
for _ in range(6):
    cached_library({TEXT!r}, find_compiler(), resolve_target("generic", probe_host()),
                   BuildOptions(threads="none"), 1, Path(sys.argv[1]))
"""
    store = tmp_path / "store"
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(store)], stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    while any(p.poll() is None for p in started):
        shutil.rmtree(store, ignore_errors=True)
        time.sleep(0.05)
    assert [p.communicate()[1] for p in started] == ["", ""]
    assert [p.returncode for p in started] == [0, 0]


def test_cache_key_depends_on_all_that_matters() -> None:
    compiler = Compiler(("g++",), "gcc", "12.2.0", "x86_64")
    host = Host("x86_64", frozenset({"avx2"}))
    keys = [
        cache_key(TEXT, compiler, GENERIC, SERIAL, 1),
        cache_key(TEXT + " ", compiler, GENERIC, SERIAL, 1),
        cache_key(TEXT, replace(compiler, version="12.2.1"), GENERIC, SERIAL, 1),
        cache_key(TEXT, compiler, resolve_target("native", host), SERIAL, 1),
        cache_key(TEXT, compiler, resolve_target("native", Host("x86_64", frozenset())), SERIAL, 1),
        cache_key(TEXT, compiler, GENERIC, BuildOptions(), 1),
        cache_key(TEXT, compiler, GENERIC, replace(SERIAL, opt_level=3), 1),
        cache_key(TEXT, compiler, GENERIC, SERIAL, 2),
    ]
    assert len(set(keys)) == len(keys)


def test_two_processes_build_one_entry(tmp_path: Path) -> None:
    program = f"""
import json, sys
from pathlib import Path
from tensorc.toolchain.build import BuildOptions
from tensorc.toolchain.cache import cached_library
from tensorc.toolchain.compiler import find_compiler
from tensorc.toolchain.target import probe_host, resolve_target
print(cached_library({TEXT!r}, find_compiler(), resolve_target("generic", probe_host()),
                     BuildOptions(threads="none"), 1, Path({json.dumps(str(tmp_path))})))
"""
    started = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = {p.communicate()[0] for p in started}
    assert all(p.returncode == 0 for p in started)
    assert len(said) == 1
