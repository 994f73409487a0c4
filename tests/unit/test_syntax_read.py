"""Reading a source: what is refused, with which code and where."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest

from tensorc.diagnostics.model import CompileError, Diagnostic
from tensorc.syntax import read
from tensorc.syntax.read import UnreadableSourceError, read_source


def refused(path: Path) -> Diagnostic:
    with pytest.raises(CompileError) as caught:
        read_source(path)
    (diagnostic,) = caught.value.diagnostics
    assert caught.value.exit_status == (2 if diagnostic.code == "TC0801" else 1)
    return diagnostic


def test_a_byte_order_mark_is_dropped_and_line_ends_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "ü λ.tdsl"
    path.write_bytes(b"\xef\xbb\xbfconst A = 1\r\n# \xc3\xa9\r\n")
    source = read_source(str(path))
    assert source.name == str(path)
    assert source.text == "const A = 1\r\n# é\r\n"
    assert source.line(2) == "# é"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(b"const A = 1\n"))
    monkeypatch.setattr(read.sys, "stdin", stdin)
    source = read_source("-")
    assert (source.name, source.text) == ("<stdin>", "const A = 1\n")


def test_a_missing_file_and_a_near_one(tmp_path: Path) -> None:
    (tmp_path / "a.tdsl").write_text("const A = 1\n")
    found = refused(tmp_path / "a")
    assert (found.code, found.span) == ("TC0801", None)
    assert found.message == f"there is no file `{tmp_path / 'a'}`"
    assert found.help == f"did you mean `{tmp_path / 'a.tdsl'}`?"
    assert refused(tmp_path / "b").help == ""
    assert issubclass(UnreadableSourceError, CompileError)


def test_a_directory(tmp_path: Path) -> None:
    found = refused(tmp_path)
    assert (found.code, found.message) == ("TC0801", f"`{tmp_path}` is a directory")


def test_a_path_with_a_nul_byte(tmp_path: Path) -> None:
    assert refused(tmp_path / "a\0b").code == "TC0801"


@pytest.mark.parametrize(
    ("content", "label"), [("", "it has 0 bytes"), (" \n\t\n", "there is only white space")]
)
def test_an_empty_file(tmp_path: Path, content: str, label: str) -> None:
    path = tmp_path / "empty.tdsl"
    path.write_text(content)
    found = refused(path)
    assert (found.code, found.label) == ("TC0114", label)
    assert found.span is not None
    assert str(found.span) == f"{path}:1:1"


@pytest.mark.parametrize(
    ("content", "offset", "place"),
    [
        (b"const A = 1\n# caf\xe9\n", 17, "2:6"),
        (b"\xef\xbb\xbf# \xc3\xa9 \xff\n", 8, "1:5"),
        (b"\xff\xfea\0", 0, "1:1"),
        (b"# \xe2\x82", 2, "1:3"),
    ],
)
def test_bytes_that_are_not_utf8(tmp_path: Path, content: bytes, offset: int, place: str) -> None:
    path = tmp_path / "bytes.tdsl"
    path.write_bytes(content)
    found = refused(path)
    assert found.code == "TC0113"
    assert found.label == f"byte 0x{content[offset]:02x} at offset {offset}"
    assert str(found.span) == f"{path}:{place}"
    assert ("UTF-16" in found.help) == content.startswith(b"\xff\xfe")
