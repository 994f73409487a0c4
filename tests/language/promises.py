"""Tables of promises: a row is a kernel, its arguments and what NumPy makes of them.

The kernels of a table are compiled as one file, since compiling is what costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tensorc
from tensorc.diagnostics.model import Diagnostic, DiagnosticBag, Severity
from tensorc.sema.check import check_file
from tensorc.source import Source
from tensorc.syntax.parser import parse_file


@dataclass(frozen=True, slots=True)
class Raises:
    """What a call raises, and the words of the message."""

    error: type[Exception]
    words: tuple[str, ...] = ()


def raises(error: type[Exception], *words: str) -> Raises:
    return Raises(error, words)


@dataclass(frozen=True, slots=True)
class Row:
    """One promise. `body` is what stands behind `return`, or a whole body.

    `expected` is an array, a tuple of arrays, a function of the arguments that gives them, or `Raises`.
    `ulp` is the allowed error in units of the result's last place; 0 asks for equal bits, NaNs aside.
    """

    promise: str
    parameters: str
    body: str
    arguments: Sequence[Any]
    expected: Any
    ulp: int = 0
    results: str = ""
    requires: str = ""

    def text(self, name: str) -> str:
        results = f" -> {self.results}" if self.results else ""
        requires = f" requires {self.requires}" if self.requires else ""
        body = self.body if "return " in self.body else f"return {self.body}"
        return f"kernel {name}({self.parameters}){results}{requires} {{\n{body}\n}}"


def compile_rows(rows: Sequence[Row], preamble: str = "", **options: Any) -> Mapping[str, Callable[..., Any]]:
    """Promise -> kernel, all compiled as one file."""
    texts = [row.text(f"k{n}") for n, row in enumerate(rows)]
    module = tensorc.compile("\n".join([preamble, *texts]), **options)
    kernels = {row.promise: module[f"k{n}"] for n, row in enumerate(rows)}
    assert len(kernels) == len(rows), "two rows of one name"
    return kernels


def check_row(kernel: Callable[..., Any], row: Row) -> None:
    """Call the kernel and compare dtype, shape and every bit (or within `ulp`)."""
    if isinstance(row.expected, Raises):
        with pytest.raises(row.expected.error) as caught:
            kernel(*row.arguments)
        assert type(caught.value) is row.expected.error
        for word in row.expected.words:
            assert word in str(caught.value)
        return
    found = kernel(*row.arguments)
    expected = row.expected
    if callable(expected):
        with np.errstate(all="ignore"):
            expected = expected(*row.arguments)
    if not isinstance(expected, tuple):
        expected, found = (expected,), (found,)
    assert len(found) == len(expected)
    for f, e in zip(found, expected, strict=True):
        same(f, np.asarray(e), row.ulp)


def same(found: Any, expected: np.ndarray[Any, Any], ulp: int = 0) -> None:
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.flags.c_contiguous
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    number = ~np.isnan(expected)
    if ulp == 0:
        np.testing.assert_array_equal(found[number], expected[number])
        np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(expected[number]))
    else:
        np.testing.assert_array_max_ulp(found[number], expected[number], ulp)


def rows_test(rows: Sequence[Row], preamble: str = "") -> tuple[Any, Any]:
    """The fixture that compiles the rows and the test that checks each."""

    @pytest.fixture(scope="module")
    def kernels() -> Mapping[str, Callable[..., Any]]:
        return compile_rows(rows, preamble)

    @pytest.mark.parametrize("row", rows, ids=[r.promise for r in rows])
    def test_promise(kernels: Mapping[str, Callable[..., Any]], row: Row) -> None:
        check_row(kernels[row.promise], row)

    return kernels, test_promise


# -- refused programs ------------------------------------------------------------------------------


def messages(text: str) -> tuple[Diagnostic, ...]:
    """Everything the front end says about a text."""
    bag = DiagnosticBag()
    check_file(parse_file(Source("test.tdsl", text), bag), bag)
    return bag.items


def errors(text: str) -> tuple[Diagnostic, ...]:
    return tuple(d for d in messages(text) if d.severity is Severity.ERROR)


def words_of(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.message} | {diagnostic.label} | {diagnostic.help}"


def only_error(text: str, code: str, *words: str) -> Diagnostic:
    """The one error of a text: no second message for the same cause."""
    found = errors(text)
    assert [d.code for d in found] == [code], [(d.code, d.message) for d in found]
    for word in words:
        assert word in words_of(found[0])
    assert found[0].span is not None
    return found[0]
