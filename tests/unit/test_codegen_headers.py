"""Every elementary operation alone brings the headers it needs, in every width that kernels use."""

from __future__ import annotations

import subprocess

import pytest

from tensorc.codegen.emit import runtime_text
from tensorc.operators import FAST, OPERATORS

FLAGS = ("-std=c++17", "-fsyntax-only", "-march=haswell", "-Wall", "-Wextra", "-Werror", "-xc++", "-")
ELEMENTARY = [name for name, row in OPERATORS.items() if row.elementary and not row.strict]
FORMS = [(name, t) for name in ELEMENTARY for t in ("f32", "f32w", "f64")]
FORMS += [("power", t) for t in ("f32", "f64")]
FORMS += [(name, t) for name in FAST.values() for t in ("f32", "f32w")]


def kernel(name: str, lanes: str) -> str:
    parameters = "xyz"[: OPERATORS[name].arity]
    typed = ", ".join(f"tc_{lanes} {p}" for p in parameters)
    return f"TC_INLINE tc_{lanes} use({typed}) {{ return tc_{name}_{lanes}({', '.join(parameters)}); }}\n"


@pytest.mark.parametrize(("name", "lanes"), FORMS)
def test_a_unit_with_one_function_compiles(name: str, lanes: str) -> None:
    text = kernel(name, lanes)
    subprocess.run(("g++", *FLAGS), check=True, text=True, input=runtime_text(text) + text)


def test_a_unit_without_functions_has_no_elementary_header() -> None:
    assert "ELEMENTARY" not in runtime_text(kernel("sqrt", "f32"))


def test_functions_of_one_type_leave_the_other_out() -> None:
    assert "ELEMENTARY_F64_H" not in runtime_text(kernel("power", "f32"))
    assert "ELEMENTARY_MORE_F32_H" not in runtime_text(kernel("exp", "f32w"))
    assert "ELEMENTARY_F32_H" not in runtime_text(kernel("erfc", "f64"))
