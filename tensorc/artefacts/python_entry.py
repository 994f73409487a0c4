"""Why `import kernel` finds `kernel.py` although `kernel.so` lies beside it.

Python looks for extension modules before source files, and takes any `.so` for one. So the library has the
entry point that Python then asks for, `PyInit_STEM`, and all it does is load the `.py` of the same name.
The C API is looked up when that happens: the library needs no Python to be built, linked or used from C.
"""

from __future__ import annotations

import re

_ENTRY = """
#include <dlfcn.h>

namespace tdsl_python {{

// The stable ABI's PyModuleDef (Python 3.5 and later), with the object header as two words.
using Word = __INTPTR_TYPE__;
struct Slot {{ int id; void* value; }};
struct Definition {{
    Word references; void* type; void* init; Word index; void* copy;
    const char* name; const char* doc; Word size; void* methods; Slot* slots;
    void* traverse; void* clear; void* free;
}};

template <typename F> F api(const char* name) {{ return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name)); }}

// Runs `code` with `spec` defined, and returns a new reference to the `result` it defines, or null.
BASELINE void* run(const char* code, void* spec) {{
    auto import = api<void* (*)(const char*)>("PyImport_ImportModule");
    auto call = api<void* (*)(void*, const char*, const char*, ...)>("PyObject_CallMethod");
    auto new_dict = api<void* (*)()>("PyDict_New");
    auto set = api<int (*)(void*, const char*, void*)>("PyDict_SetItemString");
    auto get = api<void* (*)(void*, const char*)>("PyDict_GetItemString");
    auto retain = api<void (*)(void*)>("Py_IncRef");
    auto release = api<void (*)(void*)>("Py_DecRef");
    if (!import || !call || !new_dict || !set || !get || !retain || !release) return nullptr;
    void* builtins = import("builtins");
    void* names = new_dict();
    void* result = nullptr;
    if (builtins && names && (!spec || set(names, "spec", spec) == 0)) {{
        if (void* done = call(builtins, "exec", "sO", code, names)) {{
            release(done);
            result = get(names, "result");
            if (result) retain(result);
        }}
    }}
    if (names) release(names);
    if (builtins) release(builtins);
    return result;
}}

BASELINE void* create(void* spec, void*) {{
    return run(
        "import importlib.util, sys\\n"
        "own = importlib.util.spec_from_file_location(spec.name, spec.origin[:-3] + '.py')\\n"
        "sys.modules[spec.name] = module = importlib.util.module_from_spec(own)\\n"
        "try:\\n"
        "    own.loader.exec_module(module)\\n"
        "    result = sys.modules[spec.name]\\n"
        "except BaseException:\\n"
        "    sys.modules.pop(spec.name, None)\\n"
        "    raise\\n",
        spec);
}}

}}  // namespace tdsl_python

extern "C" __attribute__((visibility("default"))) BASELINE void* PyInit_{stem}() {{
    auto create = reinterpret_cast<void*>(tdsl_python::create);
    static tdsl_python::Slot slots[] = {{{{1, create}}, {{0, nullptr}}}};  // 1 is Py_mod_create
    static tdsl_python::Definition definition = {{
        1, nullptr, nullptr, 0, nullptr, "{stem}", nullptr, 0, nullptr, slots, nullptr, nullptr, nullptr}};
    // free-threaded builds lay objects out in another way
    void* checked = tdsl_python::run(
        "import sys\\n"
        "if 't' in getattr(sys, 'abiflags', ''):\\n"
        "    raise ImportError('free-threaded Python: load {stem}.py with importlib instead')\\n"
        "result = True\\n",
        nullptr);
    if (!checked) return nullptr;
    tdsl_python::api<void (*)(void*)>("Py_DecRef")(checked);
    auto initialise = tdsl_python::api<void* (*)(void*)>("PyModuleDef_Init");
    return initialise ? initialise(&definition) : nullptr;
}}
"""

# This code runs before the loader has looked at the CPU, so it keeps to the oldest instructions.
_BASELINE = """
#if defined(__x86_64__)
#define BASELINE __attribute__((target("arch=x86-64")))
#else
#define BASELINE
#endif
"""


def render_python_entry(stem: str) -> str:
    """C++ text for a library whose file is called `STEM.so`; empty if `import STEM` cannot be written."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", stem):
        return ""
    return _BASELINE.replace("BASELINE", "TDSL_BASELINE") + _ENTRY.format(stem=stem).replace(
        "BASELINE", "TDSL_BASELINE"
    )
