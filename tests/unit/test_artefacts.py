from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cffi import FFI
from handmade_library import (
    GRID,
    LIBRARY,
    SCALE,
    SPLIT,
    WINDOW,
    HandMade,
    array,
    make_signature,
    result,
    scalar,
)

from tensorc.artefacts.abi import c_arguments, check_symbols
from tensorc.artefacts.header import render_header
from tensorc.artefacts.loader import python_heads, python_names, render_loader
from tensorc.artefacts.manifest import KernelFacts, render_manifest, render_manifest_symbol, signature_text
from tensorc.artefacts.python_entry import render_python_entry
from tensorc.artefacts.stub import render_stub
from tensorc.diagnostics.model import CompileError
from tensorc.dtypes import BF16, BOOL, F16, F32, F64, I64, DType
from tensorc.index_algebra import dim
from tensorc.signature import Dim, Signature

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "manifest.schema.json").read_text())


def prototype(signature: Signature) -> str:
    return ", ".join(a.declaration for a in c_arguments(signature))


def test_c_arguments() -> None:
    assert prototype(SCALE.signature) == (
        "const float* x, const float* w, float eps, float* out, int64_t N, int64_t D, int32_t threads"
    )
    # an integer scalar that is a dim is passed once; names that C keeps for itself are changed
    assert prototype(GRID.signature) == "int64_t n, uint8_t flag, double start, double* out, int32_t threads"
    assert prototype(SPLIT.signature) == (
        "const double* calls, int32_t class_, double* lambda, int64_t* _low, int64_t H, int32_t threads"
    )


def test_fixed_dims_are_not_passed_and_names_stay_distinct() -> None:
    signature = make_signature(
        "f",
        [array("out", F32, dim("K")), array("int_", F64, dim("int")), scalar("x", BOOL)],
        [result("", F32), result("x", I64)],
        dims=[Dim("K", fixed=4), Dim("int")],
    )
    assert prototype(signature) == (
        "const float* out, const double* int_, uint8_t x, float* out0, int64_t* x_, "
        "int64_t int__, int32_t threads"
    )


def test_signature_text() -> None:
    assert signature_text(GRID.signature) == "np(n: i64, flag: bool = false, start: f64 = -inf) -> f64[n]"
    assert (
        signature_text(SPLIT.signature) == "max(calls: f64[2*H], class: i32) -> (lambda: f64[H], _low: i64)"
    )
    rounded = make_signature("f", [scalar("a", F32, 9.999999747378752e-06)], [result("", F32)])
    assert signature_text(rounded) == "f(a: f32 = 1e-05) -> f32"


# -- header ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    LIBRARY.build(folder)
    return folder


CALLER = """
#include <stdio.h>
#include <string.h>
#include "kernel.h"
#include "kernel.h"
int main(void) {
    float x[6] = {0, 1, 2, 3, 4, 5}, w[3] = {1, 2, 3}, out[6];
    int32_t status = tdsl_scale(x, w, 0.5f, out, 2, 3, 0);
    printf("%d %g %g %d\\n", (int)status, out[1], out[5], strstr(tdsl_manifest, "\\"abi\\":1") != NULL);
    return 0;
}
"""


@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_header_is_usable(folder: Path, compiler: str, language: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = folder / f"caller_{compiler}.{language}"
    source.write_text(CALLER)
    program = source.with_suffix(".out")
    standard = {"c": "-std=c99", "c++": "-std=c++11"}[language]
    flags = [standard, "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{folder}"]
    link = [str(folder / "kernel.so"), f"-Wl,-rpath,{folder}", "-o", str(program)]
    subprocess.run([compiler, *flags, "-x", language, str(source), "-x", "none", *link], check=True)
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert said == "0 2.5 15.5 1\n"


def test_header_says_what_a_caller_must_know() -> None:
    text = render_header([SCALE, SPLIT], "my-kernel.h", "pre_")
    assert "#ifndef TENSORC_MY_KERNEL_H" in text
    assert "int32_t pre_scale(" in text
    assert " * out may be exactly x\n" in text
    assert " * requires D >= 1\n" in text
    assert " * w: f32[D]\n" in text
    assert "16+k" in text
    assert text.count("/*") == text.count("*/")


# -- manifest -------------------------------------------------------------------------------------


def problems(value: Any, schema: dict[str, Any], place: str = "$") -> list[str]:
    """What breaks the schema, for the keywords that the schema uses."""
    if "$ref" in schema:
        schema = {**SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]], **schema}
        schema.pop("$ref", None)
        return problems(value, schema, place)
    found: list[str] = []
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float)}
    kinds |= {"boolean": bool, "null": type(None)}
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if wanted and not any(isinstance(value, kinds[k]) for k in wanted):
        found.append(f"{place} is no {wanted}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place} is {value}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{place} is {value}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{place} does not match")
    if isinstance(value, dict) and "properties" in schema:
        found += [f"{place} lacks {k}" for k in schema["required"] if k not in value]
        found += [f"{place}.{k} is unknown" for k in value if k not in schema["properties"]]
        for k, v in value.items():
            found += problems(v, schema["properties"].get(k, {}), f"{place}.{k}")
    if isinstance(value, list):
        for k, v in enumerate(value):
            found += problems(v, schema.get("items", {}), f"{place}[{k}]")
    return found


@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64])
def test_a_default_of_minus_zero_keeps_its_sign(dtype: DType) -> None:
    signature = make_signature("f", [scalar("d", dtype, -0.0)], [result("out", dtype)])
    assert signature_text(signature) == f"f(d: {dtype} = -0.0) -> {dtype}"
    manifest = HandMade((KernelFacts(signature),), "").manifest()
    assert str(manifest["kernels"][0]["params"][0]["default"]) == "-0.0"


def test_manifest_keeps_to_its_schema() -> None:
    manifest = LIBRARY.manifest()
    assert problems(manifest, SCHEMA) == []
    assert json.loads(render_manifest(manifest)) == manifest
    del manifest["kernels"][0]["params"][0]["dtype"]
    manifest["extra"] = 1
    assert len(problems(manifest, SCHEMA)) == 2


def test_manifest_is_a_symbol_of_the_library(folder: Path) -> None:
    ffi = FFI()
    ffi.cdef("extern const char tdsl_manifest[];")
    library = ffi.dlopen(str(folder / "kernel.so"))
    assert json.loads(ffi.string(library.tdsl_manifest)) == LIBRARY.manifest()


def test_manifest_of_awkward_text(tmp_path: Path) -> None:
    doc = 'quotes " and \\ and ??/ and é and \u2028 and %s and */ and ' + "long " * 200
    facts = KernelFacts(make_signature("f", [], [result("out", F32)], doc=doc))
    manifest = {**LIBRARY.manifest(), "kernels": [], "note": facts.signature.doc}
    source = tmp_path / "m.cpp"
    source.write_text(render_manifest_symbol(manifest) + 'extern "C" int puts(const char*);\n')
    with source.open("a") as f:
        f.write("int main() { puts(tdsl_manifest); }\n")
    compiler = shutil.which("g++") or shutil.which("clang++")
    assert compiler is not None
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-std=c++17"]
    subprocess.run([compiler, *flags, source, "-o", tmp_path / "m"], check=True)
    said = subprocess.run([tmp_path / "m"], capture_output=True, text=True, check=True).stdout
    assert json.loads(said)["note"] == doc


# -- Python ---------------------------------------------------------------------------------------


def test_python_names() -> None:
    assert python_names(["class", "class_", "x", "lambda"]) == ["class__", "class_", "x", "lambda_"]
    assert python_names(["out"], taken=("out",)) == ["out"]


def test_defaults_in_the_middle() -> None:
    assert python_heads(["a", "b"], [None, 1]) == ["a", "b=1", "*"]
    assert python_heads(["a", "b", "c"], [None, 1, None]) == ["a", "*", "b=1", "c"]
    assert python_heads([], []) == ["*"]


@pytest.mark.parametrize("render", [lambda m: render_loader(m, "kernel.so"), render_stub])
def test_generated_python_parses(render: Any) -> None:
    ast.parse(render(LIBRARY.manifest()))


def test_generated_loader_imports_nothing_of_tensorc() -> None:
    text = render_loader(LIBRARY.manifest(), "kernel.so")
    imports = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    # ml_dtypes only where it is installed, for bf16
    assert imports - set(sys.stdlib_module_names) == {"numpy", "_cffi_backend", "ml_dtypes"}


def test_stub_is_typed(tmp_path: Path) -> None:
    """mypy accepts right calls of the stub and sees wrong ones."""
    (tmp_path / "kernel.pyi").write_text(render_stub(LIBRARY.manifest()))
    (tmp_path / "use.py").write_text(
        "import kernel\nimport numpy as np\n"
        "x = np.zeros((3, 4), np.float32)\n"
        "reveal_type(kernel.scale(x, x[0], eps=2, threads=1))\n"
        "reveal_type(kernel.max(np.zeros(4), 1)[0])\n"
        "print(kernel.scale.signature, kernel.np(3, True))\n"
        "kernel.scale(x)\n"
        "kernel.np('3')\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--hide-error-context", "use.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    lines = [line for line in said.splitlines() if line.startswith("use.py")]
    assert "32Bit" in lines[0] and ("float64" in lines[1] or "64Bit" in lines[1])
    assert [line.split(":")[1] for line in lines if "error" in line] == ["7", "8"]


# -- C names --------------------------------------------------------------------------------------


def test_symbols_that_cannot_be() -> None:
    check_symbols(["malloc", "main", "new", "x"], "tdsl_")
    for name, prefix in (("manifest", "tdsl_"), ("main", ""), ("new", ""), ("x", "a-b"), ("x", "1")):
        with pytest.raises(CompileError) as caught:
            check_symbols([name], prefix)
        assert caught.value.diagnostics[0].code == "TC0805"


def test_python_entry_only_where_it_can_be_imported() -> None:
    assert "PyInit_kernel" in render_python_entry("kernel")
    assert render_python_entry("my-kernel") == render_python_entry("é") == render_python_entry("1") == ""


def test_window_sizes_are_solved_from_the_manifest() -> None:
    (entry,) = [k for k in LIBRARY.manifest()["kernels"] if k["name"] == WINDOW.signature.name]
    assert entry["bindings"][1] == {"dim": "N", "param": 1, "axis": 0, "coefficient": "1", "rest": "K - 1"}
