"""`tensorc run`: inputs given and made up, results, checks."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command import ONE, call, files, place, tensorc

__all__ = ["place"]  # the directory of every test here


def test_run(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(5, dtype=np.float32)
    np.save("x.npy", x)
    status, out, err = call(capsys, "run", "one.tdsl", "x=@x.npy", "a=3", "-o", "out.npz", "--check")
    assert (status, err) == (0, "")
    assert re.match(r"double: out float32 \(5,\)  \d+\.\d+ ms\n", out)
    assert "agrees with the interpreter" in out
    with np.load("out.npz") as saved:
        assert saved.files == ["out"]
        np.testing.assert_array_equal(saved["out"], 3 * x)


def test_run_makes_inputs_up(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pair.tdsl").write_text(
        "dims N ~ 6, D = 3\nkernel f(x: f32[N, D], w: f32[D], k: i32[2 * N], b: bool[N]) {\n"
        "    return where(b[:, None], x * w, x), k\n}\n"
    )
    for words, shape in (
        ([], (6, 3)),
        (["x=rand:4x3"], (4, 3)),
        (["k=rand:10"], (5, 3)),
        (["--hint=N=2"], (2, 3)),
    ):
        status, out, err = call(capsys, "run", "pair.tdsl", *words, "--check")
        assert (status, err) == (0, "")
        assert f"float32 {shape}" in out
    first = [call(capsys, "run", "pair.tdsl", "-o", f"{k}.npz")[0] for k in "ab"]
    assert first == [0, 0]
    with np.load("a.npz") as a, np.load("b.npz") as b:
        assert all(np.array_equal(a[n], b[n]) for n in a.files)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x"], "the input 'x' is not of the form NAME=VALUE"),
        (["y=3"], "has no parameter 'y'"),
        (["x=rand:3", "x=rand:3"], "given twice"),
        (["x=3"], "'x=3' is no array"),
        (["x=rand"], "needs a shape"),
        (["x=@none.npy"], "cannot read 'none.npy'"),
        (["x=@one.tdsl"], "is no .npy file"),
        (["x=rand:3", "a=three"], "'three' is no f32 for 'a'"),
        (["x=rand:3x3"], "argument 'x' is float32 (3, 3), expected f32[N]"),
        (["x=rand:9999999999999999"], "no memory for 'x' of 9999999999999999 elements"),
        (["x=@f64.npy"], "argument 'x' is float64 (3,), expected f32[N]"),
        (["x=rand:0"], "requires N >= 1"),
    ],
)
def test_run_refuses_inputs(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    np.save("f64.npy", np.zeros(3))
    status, out, err = call(capsys, "run", "one.tdsl", *words, "-o", "out.npz")
    assert (status, out) == (2, "")
    assert err.startswith("error[TC0803]: ") and said in err
    assert "double takes x: f32[N], a: f32" in err
    assert "out.npz" not in files()


def test_run_chooses_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = call(capsys, "run", "two.tdsl")
    assert status == 2 and "several kernels: name one with -k" in err and "double, grid" in err
    status, out, _ = call(capsys, "run", "two.tdsl", "-k", "grid", "n=4", "--check")
    assert status == 0 and "float64 (4,)" in out
    status, _, err = call(capsys, "run", "two.tdsl", "-k", "none")
    assert status == 2 and "error[TC0804]" in err


def test_run_takes_defaults_of_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.tdsl").write_text(
        "kernel b(x: f32[N], t: bool = true, u: bool = false) { return where(t and not u, x, -x) }\n"
        "kernel i(n: i64 = 3, k: u8 = 2) { return arange(n) * k }\n"
        "kernel s(x: f32[n], n: i64 = 3) { return x * f32(n) }\n"
        "kernel f(x: f32[N], a: f16 = 0.5, c: bf16 = -2, d: f64 = inf) {\n"
        "    return x * f32(a), x * f32(c), x * f32(d)\n}\n"
    )
    np.save("x.npy", np.ones(3, np.float32))
    for words in (["b", "x=@x.npy", "-o", "b.npz"], ["i"], ["s"], ["s", "x=@x.npy"], ["f"]):
        assert call(capsys, "run", "d.tdsl", "--check", "-k", *words)[::2] == (0, ""), words
    with np.load("b.npz") as saved:
        assert saved["out"].tolist() == [1, 1, 1]
    assert "float32 (3,)" in call(capsys, "run", "d.tdsl", "-k", "s")[1]


def test_run_chooses_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    generic = "kernel g[T: f32 | f64, U: f32 | i32](x: T[N], y: U[N], a: T = 2) { return x * a, y }\n"
    Path("g.tdsl").write_text(generic)
    Path("more.tdsl").write_text(generic + ONE)
    for name in ("float32", "float64", "int32", "int8"):
        np.save(f"{name}.npy", np.zeros(3, name))
    for file, words, case in (
        ("g.tdsl", ["x=@float64.npy", "y=@int32.npy"], "g_f64_i32"),
        ("more.tdsl", ["-k", "g", "x=@float32.npy", "y=@float32.npy"], "g_f32_f32"),
        ("more.tdsl", ["-k", "g_f64_i32"], "g_f64_i32"),
    ):
        status, out, err = call(capsys, "run", file, *words)
        assert (status, err) == (0, "") and out.startswith(f"{case}: ")
    for words, code, said in (
        ([], "TC0804", "several cases of kernel 'g'"),
        (["x=rand:3"], "TC0804", "g_f32_f32, g_f32_i32, g_f64_f32, g_f64_i32"),
        (["x=@float64.npy"], "TC0804", "kernels: g_f64_f32, g_f64_i32"),
        (["x=@int8.npy"], "TC0803", "no case of kernel 'g' takes int8 for 'x'"),
        (["x=@none.npy"], "TC0803", "cannot read 'none.npy'"),
        (["z=3"], "TC0803", "has no parameter 'z'"),
    ):
        status, _, err = call(capsys, "run", "more.tdsl", "-k", "g", *words)
        assert status == 2 and f"error[{code}]" in err and said in err
    assert "several kernels: name one with -k" in call(capsys, "run", "more.tdsl")[2]


def test_failed_check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A kernel that computes something else than the program says: here, by a wrong constant in its C++."""
    import tensorc.api

    honest = tensorc.api.library_text

    def spoiled(*args: object) -> str:
        text = honest(*args)  # type: ignore[arg-type]
        marker = "tdsl_double("
        assert marker in text
        head, _, tail = text.partition(marker)
        brace = tail.index("{") + 1
        return f"{head}{marker}{tail[:brace]} a = a + 1;{tail[brace:]}".replace("const float a", "float a")

    monkeypatch.setattr(tensorc.api, "library_text", spoiled)
    status, _, err = call(capsys, "run", "one.tdsl", "x=rand:8", "--check")
    assert status == 4
    assert re.search(r"check: double\.out\[0\] is .*, expected ", err)


def test_run_from_stdin_with_threads() -> None:
    done = tensorc("run", "-", "x=rand:100", "--threads", "1", "--check", given=ONE.encode())
    assert done.returncode == 0, done.stderr
