"""Loads a library of kernels and calls them on arrays; needs cffi and NumPy only.

This text is also the first part of every generated `kernel.py`, so it imports nothing of tensorc. All it
knows about a kernel it reads from the manifest (`docs/manifest.schema.json`).

A call converts each argument, binds the dims, compares every size, makes or checks the outputs, and only
then enters native code; refusing a call leaves every array as it was. cffi releases the GIL meanwhile.
"""

from __future__ import annotations

import json
import operator
import os
import re
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tensorc.artefacts.loader_convert import ArrayParam, ScalarParam, array_dtype, describe, elements
from tensorc.artefacts.loader_outputs import Outputs, in_brackets
from tensorc.artefacts.loader_process import check_cpu, thread_count

ABI_VERSION = 1

_ERRORS: dict[str, type[Exception]] = {
    "IndexError": IndexError,
    "TypeError": TypeError,
    "ValueError": ValueError,
    "ZeroDivisionError": ZeroDivisionError,
}
_NAME = re.compile(r"[A-Za-z_]\w*(?![\w(])")  # a dim, not the min( or max( of an expression
_DIM = r"d_\g<0>"


class _Bind(NamedTuple):
    """`coefficient(sizes) * sizes[slot] + rest(sizes)` is the extent of `param`'s `axis`.

    None for a coefficient 1 and a rest 0; an axis None means the value of the scalar `param`.
    """

    slot: int
    param: int
    axis: int | None
    coefficient: Callable[..., int] | None
    rest: Callable[..., int] | None


@cache
def _result_class(name: str, fields: tuple[str, ...]) -> Any:
    base = namedtuple(name, fields, rename=True)  # type: ignore[misc]

    def reduce(self: Any) -> Any:
        return (_make_result, (name, fields, tuple(self)))

    return type(name, (base,), {"__slots__": (), "__reduce__": reduce, "__module__": __name__})


def _make_result(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """Rebuilds a pickled result."""
    return _result_class(name, fields)(*values)


class KernelCall:
    """One kernel of a loaded library: `call` takes the arguments in order and checks them all."""

    def __init__(self, spec: dict[str, Any], library: Any, ffi: Any, threaded: bool) -> None:
        self.spec = spec
        self.name: str = spec["name"]
        self.signature: str = spec["signature"]
        self.parameters: tuple[str, ...] = tuple(p["name"] for p in spec["params"])
        self.defaults: dict[str, Any] = {
            p["name"]: _number(p["default"]) for p in spec["params"] if p["default"] is not None
        }
        self.result_type: Any = None
        if len(spec["results"]) > 1:
            fields = tuple(r["field"] for r in spec["results"])
            self.result_type = _result_class(f"{self.name}_result", fields)
        self._library = library  # closed when nothing refers to it
        self._function = getattr(library, spec["symbol"])
        self._pointer = ffi.from_buffer
        self._threaded = threaded
        self._params = [(ArrayParam if p["shape"] else ScalarParam)(self.name, p) for p in spec["params"]]
        self._converters = {
            "auto": [p.convert for p in self._params],
            "never": [p.convert_in_place for p in self._params],
        }
        self._arrays = [k for k, p in enumerate(spec["params"]) if p["shape"]]
        self._outputs = Outputs(spec)
        self._result_dtypes = [r.dtype for r in self._outputs.results]
        self._dims: list[str] = [d["name"] for d in spec["dims"]]
        self._start: list[int | None] = [d["fixed"] for d in spec["dims"]]
        self._passed = [self._dims.index(d) for d in spec["passed_dims"]]
        self._bindings = [self._read_binding(b) for b in spec["bindings"]]
        self._checks = [c for c in spec["checks"] if c["kind"] != "axis"]
        self._facts = self._compile_facts()

    def _read_binding(self, b: dict[str, Any]) -> _Bind:
        coefficient, rest = b["coefficient"], b["rest"]
        return _Bind(
            self._dims.index(b["dim"]),
            b["param"],
            b["axis"],
            None if coefficient == "1" else self._compile(coefficient),
            None if rest == "0" else self._compile(rest),
        )

    def _compile(self, expression: str) -> Callable[..., Any]:
        """A function of all dims. The expression is the manifest's: integers, dims, + - * // % min max."""
        # a dim may be called `lambda` or `class`
        heads = ", ".join(f"d_{dim}" for dim in self._dims)
        text = f"lambda {heads}: {_NAME.sub(_DIM, expression)}"
        names = {"__builtins__": {}, "min": min, "max": max}
        return eval(text, names)  # type: ignore[no-any-return]

    def _compile_facts(self) -> Callable[..., Any]:
        """All a call needs to know of its sizes, in one go: extents of arrays and results, checks."""
        arrays = "".join(f"{_shape_text(self.spec['params'][k])}, " for k in self._arrays)
        results = "".join(f"{_shape_text(r)}, " for r in self.spec["results"])
        checks = "*".join(f"({_any_of(c)})" for c in self._checks)
        return self._compile(f"(({arrays}), ({results}), {checks or 1})")

    def call(self, args: tuple[Any, ...], out: Any = None, threads: Any = None, copy: str = "auto") -> Any:
        """Run the kernel on `args`, one per parameter in order.

        Raises:
            TypeError: a dtype or kind of argument. ValueError: a size, a check, an overlap, `threads`.
            IndexError: a gathered index. MemoryError: no memory for work arrays.
        """
        if copy not in self._converters:
            raise ValueError(f"{self.name}(): copy must be 'auto' or 'never', not {copy!r}")
        count = thread_count(self.name, threads)
        values = list(map(operator.call, self._converters[copy], args))
        sizes = self._bind(values)
        try:
            shapes, result_shapes, checks_hold = self._facts(*sizes)
        except ZeroDivisionError:
            raise ValueError(f"{self.name}(): a size is divided by zero ({self._bound(values)})") from None
        arrays = self._arrays
        for k, shape in zip(arrays, shapes):  # noqa: B905
            if values[k].shape != shape:
                self._refuse_array(k, values)
        if not checks_hold:
            self._refuse_check(values, sizes)
        if out is not None:
            outs = self._outputs.check(out, result_shapes, values, args, self._bound)
        else:
            try:
                outs = list(map(np.empty, result_shapes, self._result_dtypes))
            except ValueError as error:
                self._refuse_result(result_shapes, values, error)
        pointer = self._pointer
        for k in arrays:
            values[k] = pointer(elements(values[k]))
        for array in outs:
            values.append(pointer(elements(array)))
        for k in self._passed:
            values.append(sizes[k])
        status = self._function(*values, count if self._threaded else 1)
        if status:
            self._raise_status(status, sizes)
        return outs[0] if self.result_type is None else self.result_type(*outs)

    def _bind(self, values: list[Any]) -> list[Any]:
        """The dims' values in order.

        Raises:
            ValueError: a size has no whole or no non-negative solution.
        """
        sizes = self._start.copy()
        for slot, param, axis, coefficient, rest in self._bindings:
            try:
                extent = values[param] if axis is None else values[param].shape[axis]
            except IndexError:
                self._refuse_array(param, values)
            if coefficient is not None or rest is not None:
                try:
                    extent = _solve(extent, coefficient, rest, sizes)
                except ZeroDivisionError:
                    extent = None
            if extent is None or extent < 0:
                self._refuse_binding(slot, param, values, extent)
            sizes[slot] = extent
        return sizes

    def _refuse_result(
        self, shapes: tuple[tuple[int, ...], ...], values: list[Any], error: ValueError
    ) -> NoReturn:
        for r, shape in zip(self._outputs.results, shapes, strict=True):
            if min(shape, default=0) < 0:
                raise ValueError(
                    f"{self.name}(): result '{r.name}', {r.written}, would have the negative size "
                    f"{min(shape)} ({self._bound(values)})"
                ) from None
        raise ValueError(f"{self.name}(): {error} ({self._bound(values)})") from None

    def _bound_dims(self, values: list[Any]) -> list[tuple[int, str, int]]:
        """Parameter, dim and value of what can be bound, also when some argument is wrong."""
        sizes: list[Any] = self._start.copy()
        found: list[tuple[int, str, int]] = []
        for slot, param, axis, coefficient, rest in self._bindings:
            if not self._rank_is_right(param, values):
                continue
            try:
                extent = values[param] if axis is None else values[param].shape[axis]
                extent = _solve(extent, coefficient, rest, sizes)
            except (TypeError, ZeroDivisionError):
                continue
            if extent is not None:
                sizes[slot] = extent
                found.append((param, self._dims[slot], extent))
        return found

    def _bound(self, values: list[Any]) -> str:
        """`N=3, D=4 from 'x'; K=2 from 'w'`."""
        groups: dict[int, list[str]] = {}
        for param, dim, extent in self._bound_dims(values):
            groups.setdefault(param, []).append(f"{dim}={extent}")
        return "; ".join(f"{', '.join(g)} from '{self.parameters[p]}'" for p, g in groups.items())

    def _rank_is_right(self, k: int, values: list[Any]) -> bool:
        return k not in self._arrays or values[k].ndim == self._params[k].rank

    def _refuse_array(self, k: int, values: list[Any]) -> NoReturn:
        param = self._params[k]
        words = set(_NAME.findall(" ".join([param.written, *self.spec["params"][k]["shape"]])))
        known = {dim: fixed for dim, fixed in zip(self._dims, self._start, strict=True) if fixed is not None}
        known.update((dim, extent) for _, dim, extent in self._bound_dims(values))
        used = [f"{dim}={known[dim]}" for dim in self._dims if dim in known and dim in words]
        # a size written as a `const` is no dim
        axes = param.written.partition("[")[2].rstrip("]").split(", ")
        constants = {w: n for w, n in zip(axes, self.spec["params"][k]["shape"], strict=False) if n.isdigit()}
        used += [f"{w}={n}" for w, n in constants.items() if w.isidentifier() and w not in known]
        sizes = f" with {', '.join(used)}" if used else ""
        raise ValueError(
            f"{self.name}(): argument '{param.name}' is {describe(values[k])}, expected {param.written}"
            f"{sizes}{in_brackets(self._bound(values))}"
        )

    def _refuse_binding(self, slot: int, param: int, values: list[Any], extent: int | None) -> NoReturn:
        if not self._rank_is_right(param, values):
            self._refuse_array(param, values)
        dim, name = self._dims[slot], self.parameters[param]
        if values[param] is extent:
            raise ValueError(f"{self.name}(): argument '{name}' is {extent}, and a size cannot be negative")
        why = f"{dim} would be {extent}" if extent is not None else f"no whole {dim} fits"
        raise ValueError(
            f"{self.name}(): argument '{name}' is {describe(values[param])}, expected "
            f"{self._params[param].written}: {why}{in_brackets(self._bound(values))}"
        )

    def _refuse_check(self, values: list[Any], sizes: list[Any]) -> NoReturn:
        check = next(c for c in self._checks if not self._compile(_any_of(c))(*sizes))
        what = f"requires {check['text']}" if check["kind"] == "requires" else check["text"]
        if check["kind"] == "range":
            raise ValueError(f"{self.name}(): {what}{in_brackets(self._bound(values))}")
        written = [r[side] for r in (check, *check["otherwise"]) for side in ("left", "right")]
        sides = {w: self._compile(w)(*sizes) for w in written}
        found = ", ".join(f"{w} is {v}" for w, v in sides.items() if str(v) != w) or "it is false"
        raise ValueError(f"{self.name}(): {what}, but {found}{in_brackets(self._bound(values))}")

    def _raise_status(self, status: int, sizes: list[Any]) -> NoReturn:
        errors = self.spec["errors"]
        if 16 <= status < 16 + len(errors):
            error = errors[status - 16]
            bound = ", ".join(f"{dim}={size}" for dim, size in zip(self._dims, sizes, strict=False))
            raise _ERRORS[error["kind"]](f"{self.name}(): {error['message']}{in_brackets(bound)}")
        if status == 1:
            bound = ", ".join(f"{dim}={size}" for dim, size in zip(self._dims, sizes, strict=False))
            raise ValueError(f"{self.name}(): the sizes of this call are too large{in_brackets(bound)}")
        if status == 2:
            raise MemoryError(f"{self.name}(): no memory for the kernel's work arrays")
        if status == 3:
            raise RuntimeError(f"{self.name}(): this CPU lacks what the kernel was compiled for")
        raise RuntimeError(f"{self.name}(): the kernel returned the unknown status {status}")


class GenericCall:
    """A kernel with dtype parameters: `call` chooses one of its cases by the dtypes of some arguments."""

    def __init__(self, spec: dict[str, Any], calls: dict[str, KernelCall]) -> None:
        self.spec = spec
        self.name: str = spec["name"]
        self.signature: str = spec["signature"]
        self.kernels: tuple[str, ...] = tuple(c["kernel"] for c in spec["cases"])
        first = calls[self.kernels[0]]
        self.parameters = first.parameters
        # each case rounds a default to its own dtype: None stands for that
        self.defaults: dict[str, Any] = dict.fromkeys(first.defaults)
        self._positions: list[int] = spec["params"]
        self._readers = [
            ArrayParam(self.name, {**first.spec["params"][k], "written": written})
            for k, written in zip(self._positions, spec["written"], strict=True)
        ]
        self._cases = {tuple(map(array_dtype, c["dtypes"])): calls[c["kernel"]] for c in spec["cases"]}
        for c in spec["cases"]:  # bits are taken for bf16 where no case takes them for themselves
            bits = tuple(array_dtype("u16" if d == "bf16" else d) for d in c["dtypes"])
            self._cases.setdefault(bits, calls[c["kernel"]])

    def call(self, args: tuple[Any, ...], out: Any = None, threads: Any = None, copy: str = "auto") -> Any:
        """Run the case that fits `args`. Raises as `KernelCall.call`."""
        values = [r.as_array(args[k]) for r, k in zip(self._readers, self._positions, strict=True)]
        chosen = self._cases.get(tuple(v.dtype for v in values))
        if chosen is None:
            found = ", ".join(
                f"'{r.name}' is {describe(v)}" for r, v in zip(self._readers, values, strict=True)
            )
            cases = " or ".join(", ".join(c["dtypes"]) for c in self.spec["cases"])
            raise TypeError(f"{self.name}(): argument {found}, expected {cases}: {self.signature}")
        if any(a is None for a in args):
            defaults = chosen.defaults
            args = tuple(
                defaults[p] if a is None and p in defaults else a
                for a, p in zip(args, self.parameters, strict=True)
            )
        return chosen.call(args, out, threads, copy)


def _solve(extent: int, coefficient: Any, rest: Any, sizes: list[Any]) -> int | None:
    """The whole `d` with `coefficient * d + rest == extent`, None if there is none."""
    value = extent if rest is None else extent - rest(*sizes)
    if coefficient is None:
        return value
    quotient, remainder = divmod(value, coefficient(*sizes))
    return None if remainder else quotient


def _any_of(check: dict[str, Any]) -> str:
    """What must be true of the sizes, as an expression."""
    relations = (check, *check["otherwise"])
    return "|".join(f"(({r['left']}) {r['relation']} ({r['right']}))" for r in relations)


def _shape_text(spec: dict[str, Any]) -> str:
    return f"({''.join(f'{s}, ' for s in spec['shape'])})"


def _number(default: Any) -> Any:
    """JSON has no NaN and no infinity: the manifest writes them as strings."""
    return float(default) if isinstance(default, str) else default


def open_library(ffi: Any, path: str, manifest: dict[str, Any]) -> Any:
    """The library at `path`, which must be the one that `manifest` describes.

    Raises:
        ImportError: the CPU, the OpenMP runtime or the file is not as it must be.
    """
    name = os.path.basename(path)
    check_cpu(manifest, name)
    try:
        library = ffi.dlopen(path)
    except OSError as error:
        reason = str(error).split(".  Additionally")[0]  # what cffi tried next, to no purpose
        runtime = next((r for r in ("libgomp", "libomp") if r in reason), None)
        if runtime is None or not os.path.exists(path):
            raise ImportError(f"cannot load {path}: {reason}") from error
        raise ImportError(
            f"{name} needs the OpenMP runtime {runtime}, which could not be loaded: {reason} "
            "(install it, or compile the kernel with --threads=none)"
        ) from error
    if json.loads(ffi.string(library.tdsl_manifest)) != manifest:
        raise ImportError(f"{path} and its Python module were not made together: compile again")
    return library


def load_kernels(ffi: Any, path: str, manifest: dict[str, Any]) -> dict[str, KernelCall | GenericCall]:
    """All kernels of the library at `path`, by name, those with dtype parameters last.

    Raises ImportError as `open_library` does.
    """
    if manifest["abi"] != ABI_VERSION:
        raise ImportError(f"{path} has ABI version {manifest['abi']}, this loader reads {ABI_VERSION}")
    library = open_library(ffi, path, manifest)
    threaded = manifest["threads"] == "openmp"
    calls = {k["name"]: KernelCall(k, library, ffi, threaded) for k in manifest["kernels"]}
    return {**calls, **{g["name"]: GenericCall(g, calls) for g in manifest.get("generics", ())}}
