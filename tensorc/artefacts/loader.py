"""`kernel.py`: the loader's modules joined into one text, then the manifest, then a function per kernel."""

from __future__ import annotations

import ast
import io
import json
import keyword
from collections.abc import Sequence
from importlib import resources

from tensorc.artefacts.manifest import Json
from tensorc.dtypes import SUPPORTED

_MODULES = ("loader_process.py", "loader_convert.py", "loader_outputs.py", "loader_runtime.py")

KEYWORDS = ("out", "threads", "copy")

_HEAD = '''"""Kernels compiled from {source} by tensorc {version}.

Needs NumPy and cffi, and {library} beside this file.
"""

from __future__ import annotations

'''

_TAIL = '''
_MANIFEST = json.loads({manifest})

{ffi}

def _define_kernels({calls}: dict[str, Any]) -> dict[str, Any]:
    """The public functions, in a scope of their own: a kernel may be called `max` or `np`."""
{functions}
    return {{{entries}}}


def _publish(name: str, kernels: dict[str, Any]) -> None:
    """Make the module that importers see: the kernels, and nothing of the loader."""
    loader = sys.modules[name]
    public = ModuleType(name, loader.__doc__)
    for key in ("__file__", "__spec__", "__loader__", "__package__", "__cached__"):
        if hasattr(loader, key):
            setattr(public, key, getattr(loader, key))
    for key, function in kernels.items():
        function.__module__ = name
        function.__qualname__ = key
        setattr(public, key, function)
    public.__all__ = list(kernels)  # type: ignore[attr-defined]
    public.__manifest__ = _MANIFEST  # type: ignore[attr-defined]
    _make_result.__qualname__ = "__make_result__"  # where unpickling a result finds it
    public.__make_result__ = _make_result  # type: ignore[attr-defined]
    sys.modules[name] = public


_publish(
    __name__,
    _define_kernels(
        load_kernels(_FFI, os.path.join(os.path.dirname(os.path.abspath(__file__)), {library!r}), _MANIFEST)
    ),
)
'''


def render_loader(manifest: Json, library_name: str) -> str:
    """The text of the Python module for the library file `library_name` (in the same directory)."""
    imports, body = _join_modules()
    kernels = [*manifest["kernels"], *generic_kernels(manifest)]
    names = python_names([k["name"] for k in kernels])
    calls = _fresh("calls", names)
    functions = "\n".join(_function(k, n, calls) for k, n in zip(kernels, names, strict=True))
    entries = ", ".join(f'"{n}": {n}' for n in names)
    head = _HEAD.format(
        source=docstring_safe(manifest["source"]["name"]),
        version=manifest["tensorc"],
        library=docstring_safe(library_name),
    )
    tail = _TAIL.format(
        manifest=_manifest_literal(manifest),
        ffi=_ffi_text(manifest),
        calls=calls,
        functions=functions,
        entries=entries,
        library=library_name,
    )
    return f"{head}{imports}\n{body}{tail}"


def generic_kernels(manifest: Json) -> list[Json]:
    """The kernels with dtype parameters, in the form of the others: of several dtypes it says "any".

    A default is "" here: it is known when a case is chosen.
    """
    found: list[Json] = []
    by_name = {k["name"]: k for k in manifest["kernels"]}
    for generic in manifest.get("generics", ()):
        cases = [by_name[c["kernel"]] for c in generic["cases"]]
        head = {key: generic[key] for key in ("name", "signature", "doc")}
        merged = {
            part: [_merged(same) for same in zip(*(k[part] for k in cases), strict=True)]
            for part in ("params", "results")
        }
        found.append({**head, **merged})
    return found


def _merged(same: Sequence[Json]) -> Json:
    """One parameter or result of all cases."""
    dtypes = {s["dtype"] for s in same}
    default = None if same[0].get("default") is None else ""
    return {**same[0], "dtype": same[0]["dtype"] if len(dtypes) == 1 else "any", "default": default}


def cdef(manifest: Json) -> str:
    """The declarations cffi needs; arrays are `void *`, their dtypes are checked before the call."""
    lines = ["extern const char tdsl_manifest[];"]
    for kernel in manifest["kernels"]:
        arguments = [
            "const void *" if p["shape"] else SUPPORTED[p["dtype"]].scalar_c for p in kernel["params"]
        ]
        arguments.extend("void *" for _ in kernel["results"])
        arguments.extend("int64_t" for _ in kernel["passed_dims"])
        lines.append(f"int32_t {kernel['symbol']}({', '.join([*arguments, 'int32_t'])});")
    return "\n".join(lines)


def _ffi_text(manifest: Json) -> str:
    """cffi's own precompiled form of the declarations, so that importing needs no C parser."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(cdef(manifest))
    ffi.set_source("_kernels", None, compiler_verbose=False)
    code = io.StringIO()
    ffi.emit_python_code(code)
    text = code.getvalue()
    return text[text.index("ffi = ") :].replace("ffi = ", "_FFI = ", 1)


def _join_modules() -> tuple[str, str]:
    """The import block and the joined bodies of the loader modules, without docstrings."""
    imports: dict[str, None] = {"from types import ModuleType": None, "import _cffi_backend": None}
    bodies: list[str] = []
    for name in _MODULES:
        text = (resources.files("tensorc.artefacts") / name).read_text(encoding="utf-8")
        lines = text.splitlines()
        first_line = 0
        for node in ast.parse(text).body:
            is_docstring = isinstance(node, ast.Expr) and node.col_offset == 0 and node.lineno == 1
            if not is_docstring and not isinstance(node, ast.Import | ast.ImportFrom):
                break
            first_line = node.end_lineno or 0
            module = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            own = module.startswith(("tensorc", "__future__"))
            if not is_docstring and not own:
                imports[ast.unparse(node)] = None
        bodies.append("\n".join(lines[first_line:]).strip("\n"))
    return "\n".join(_sorted_imports(imports)), "\n\n\n".join(["", *bodies]) + "\n"


def _sorted_imports(imports: dict[str, None]) -> list[str]:
    return sorted(imports, key=lambda line: (line.split()[1] in ("numpy", "_cffi_backend"), line))


def _manifest_literal(manifest: Json) -> str:
    text = json.dumps(manifest, indent=1, ensure_ascii=True, allow_nan=False)
    # escapes are doubled rather than the string made raw: a raw one cannot hold three quotes
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{escaped}"""'


def _function(kernel: Json, name: str, calls: str) -> str:
    """One public function. The names it needs itself are chosen to differ from the kernel's own."""
    parameters = python_names([p["name"] for p in kernel["params"]], taken=KEYWORDS)
    call = _fresh("_call", (*parameters, name, calls))
    bound = f'{calls}["{kernel["name"]}"]'
    heads = python_heads(
        parameters,
        [
            f'{bound}.defaults["{p["name"]}"]' if isinstance(p["default"], str) else p["default"]
            for p in kernel["params"]
        ],
    )
    keywords = ["out=None", "threads=None", 'copy="auto"']
    arguments = "".join(f"{n}, " for n in parameters)
    doc = docstring_safe(f"{kernel['signature']}\n\n{kernel['doc']}".rstrip())
    doc = doc.replace("\n", "\n        ").replace("\n        \n", "\n\n")
    factory = _fresh("_make", (name, calls))
    return f'''
    def {factory}({call}):
        def {name}({", ".join([*heads, *keywords])}):
            """{doc}"""
            return {call}(({arguments}), out, threads, copy)

        return {name}

    {name} = {factory}({bound}.call)
    {name}.signature = {bound}.signature
'''


def python_heads(names: Sequence[str], defaults: Sequence[object]) -> list[str]:
    """The parameters of a `def`, up to and with the `*` that the keywords follow.

    A parameter without a default may follow one with a default in TDSL, but not in Python: from the
    first such default on, all are keywords only.
    """
    required = [k for k, default in enumerate(defaults) if default is None]
    with_default = [k for k, default in enumerate(defaults) if default is not None]
    star = len(names)
    if required and with_default and with_default[0] < required[-1]:
        star = with_default[0]
    heads = [n if d is None else f"{n}={d}" for n, d in zip(names, defaults, strict=True)]
    return [*heads[:star], "*", *heads[star:]]


def python_names(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """`names` as Python identifiers: a keyword gets a trailing underscore; all stay distinct."""
    used = set(taken) | {n for n in names if not keyword.iskeyword(n)}
    found: list[str] = []
    for name in names:
        python = _fresh(f"{name}_", tuple(used)) if keyword.iskeyword(name) else name
        used.add(python)
        found.append(python)
    return found


def _fresh(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def docstring_safe(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"') + (" " if text.endswith('"') else "")
