"""Running one case against a module that looks like tensorc, and comparing what comes out."""

from __future__ import annotations

import builtins
import pathlib
import re
import traceback

import numpy as np
from cases import PROGRAMS


def mode_of(case):
    return case.compare if isinstance(case.compare, str) else case.compare[0]


def as_tuple(v):
    return tuple(v) if isinstance(v, tuple) else (v,)


def show(v):
    v = np.asarray(v)
    return (
        repr(v.item())
        if v.ndim == 0
        else np.array2string(v, threshold=8, edgeitems=3, separator=",").replace("\n", "")
    )


def _first(bad, got, want):
    k = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
    more = int(bad.sum()) - 1
    at = f" at {list(k)}" if k else ""
    return f"got {show(got[k])}, want {show(want[k])}{at}" + (f" (and {more} more)" if more else "")


def ulp_error(got, want):
    """Error in units of the last place of got's type; want is a float64 (or the same type) reference."""
    t = got.dtype.type
    largest = np.finfo(t).max
    below = np.nextafter(largest, t(0))
    with np.errstate(all="ignore"):
        narrow = np.asarray(want, np.float64).astype(t)
        gap = np.spacing(np.minimum(np.abs(np.where(np.isnan(narrow), t(1), narrow)), below)).astype(
            np.float64
        )
        top = float(largest) + float(np.spacing(below))  # infinity counts as the next number, except in f64
        g, w = got.astype(np.float64), np.asarray(want, np.float64)
        err = (
            np.abs(
                np.where(np.isinf(g), np.copysign(top, g), g) - np.where(np.isinf(w), np.copysign(top, w), w)
            )
            / gap
        )
        same = (np.isinf(g) & np.isinf(narrow) & (np.sign(g) == np.sign(w))) | (np.isnan(g) & np.isnan(w))
    return np.where(same, 0.0, err)


def differ(got, want, compare, dtype, args):
    """None, or one line saying how got differs."""
    mode = compare if isinstance(compare, str) else compare[0]
    if not isinstance(got, np.ndarray):
        return f"result is a {type(got).__name__}, not an ndarray"
    want = np.asarray(want)
    dtype = np.dtype(dtype) if dtype is not None else want.dtype
    if got.dtype != dtype:
        return f"dtype {got.dtype}, want {dtype}"
    if got.shape != want.shape:
        return f"shape {got.shape}, want {want.shape}"
    if got.size == 0:
        return None
    if mode == "exact" or got.dtype.kind not in "f":
        if got.dtype.kind == "f":
            w = want.astype(got.dtype)
            ok = ((got == w) & (np.signbit(got) == np.signbit(w))) | (np.isnan(got) & np.isnan(w))
        else:
            ok = got == want
        return None if ok.all() else _first(~ok, got, want)
    nan = np.isnan(got) != np.isnan(want)
    if nan.any():
        return "NaN pattern: " + _first(nan, got, want)
    if mode == "ulp":
        err = ulp_error(got, want)
        bad = err > compare[1]
        return (
            None
            if not bad.any()
            else _first(bad, got, want) + f", worst {err.max():.3g} ulp, allowed {compare[1]}"
        )
    g, w = got.astype(np.float64), want.astype(np.float64)
    if mode == "rtol":
        tol = compare[1] * np.abs(w) + (compare[2] if len(compare) > 2 else 0.0)
    else:
        tol = compare[1](*args) if callable(compare[1]) else compare[1]
    inf = np.isinf(g) | np.isinf(w)
    bad = np.where(inf, g != w, ~(np.abs(g - w) <= tol)) & ~np.isnan(w)
    return None if not bad.any() else _first(bad, got, want)


# ----------------------------------------------------------------------------------------------------------
# -----
# running one case against a module that looks like tensorc


class CaseError(Exception):
    pass


def quiet():
    return np.errstate(all="ignore")


def points(case):
    if case.sweep is not None:
        yield from case.sweep()
    else:
        yield "", tuple(case.inputs() if callable(case.inputs) else case.inputs)


def expected_of(case, args):
    with quiet():
        return as_tuple(case.expected(*args) if callable(case.expected) else case.expected)


def freeze(a):
    return a.tobytes() if isinstance(a, np.ndarray) and a.nbytes <= 1 << 26 else None


class Ctx:
    """What a script gets."""

    def __init__(self, case, backend, module):
        self.case, self.backend, self.module = case, backend, module

    def __getitem__(self, name):
        return self.module[name]

    @property
    def kernel(self):
        return self.module[self.case.kernel]

    def compile(self, text):
        return self.backend.compile(text)

    CompileError = property(lambda self: self.backend.CompileError)

    def check(self, got, want, compare="exact", dtype=None, args=()):
        for g, w in zip(as_tuple(got), as_tuple(want), strict=True):
            said = differ(g, w, compare, dtype, args)
            assert said is None, said


def messages_of(err):
    ds = list(getattr(err, "diagnostics", None) or [])
    if not ds:
        raise CaseError("CompileError without diagnostics")
    for d in ds:
        code = str(getattr(d, "code", ""))
        if not re.fullmatch(r"TC\d{4}", code):
            raise CaseError(f"diagnostic code {code!r} is not of the form TCnnnn")
        if not str(getattr(d, "message", "")).strip():
            raise CaseError(f"diagnostic {code} has no message")
        if getattr(d, "span", None) is None:
            raise CaseError(f"diagnostic {code} has no span")
    return [str(d.message) for d in ds]


def want_words(words, texts):
    for w in words:
        if not any(re.search(w, t, re.I | re.S) for t in texts):
            raise CaseError(f"no message matches {w!r}: {' | '.join(texts)[:300]}")


def run_compile_error(case, backend):
    try:
        backend.compile(PROGRAMS / case.tdsl)
    except backend.CompileError as err:
        want_words(case.compare[1:], messages_of(err))
        return
    raise CaseError("compiled without an error")


def run_calls(case, kernel):
    mode = mode_of(case)
    seen, nfail, first, total = {}, 0, None, 0
    for label, args in points(case):
        total += 1
        try:
            run_point(case, kernel, mode, label, args, seen)
        except CaseError as err:
            nfail += 1
            first = first or (label, str(err))
    if nfail:
        where = f" [{first[0]}]" if first[0] else ""
        raise CaseError(f"{first[1]}{where}" + (f"; {nfail} of {total} calls fail" if total > 1 else ""))
    if total == 0:
        raise CaseError("the sweep is empty")


def run_point(case, kernel, mode, label, args, seen):
    before = [freeze(a) for a in args]
    if mode == "raises":
        kinds = tuple(getattr(builtins, k) for k in case.compare[1].split("|"))
        try:
            kernel(*args, **case.kwargs)
        except kinds as err:
            if case.compare[2:] and not getattr(kernel, "is_reference", False):
                want_words(case.compare[2:], [str(err)])
        except Exception as err:
            raise CaseError(
                f"raised {type(err).__name__}: {str(err)[:200]}; want {case.compare[1]}"
            ) from None
        else:
            raise CaseError(f"no exception, want {case.compare[1]}")
        return
    want = expected_of(case, args)
    runs = [dict(case.kwargs, threads=t) for t in case.threads] or [dict(case.kwargs)]
    bits = None
    for kw in runs * case.repeat:
        try:
            got = as_tuple(kernel(*args, **kw))
        except Exception as err:
            raise CaseError(f"raised {type(err).__name__}: {str(err)[:300]}") from None
        if len(got) != len(want):
            raise CaseError(f"{len(got)} results, want {len(want)}")
        dtypes = case.dtype if isinstance(case.dtype, tuple) else (case.dtype,) * len(want)
        for j, (g, w, d) in enumerate(zip(got, want, dtypes, strict=False)):
            said = differ(g, w, case.compare, d, args)
            if said:
                raise CaseError(
                    (f"result {j}: " if len(want) > 1 else "") + said + (f" ({kw})" if case.threads else "")
                )
        for j, g in enumerate(got):
            if not g.flags.c_contiguous:
                raise CaseError(f"result {j} is not C-contiguous")
            others = [a for a in args if isinstance(a, np.ndarray)] + [h for i, h in enumerate(got) if i != j]
            if any(np.may_share_memory(g, o) for o in others if g.size and o.size):
                raise CaseError(f"result {j} shares memory with an input or another result")
        now = [g.tobytes() for g in got]
        if bits is not None and now != bits:
            raise CaseError(f"bits differ between calls ({kw})")
        bits = now
        if case.same_bits:
            for g in got:
                for e in g.ravel():
                    if seen.setdefault(label, e.tobytes()) != e.tobytes():
                        raise CaseError(
                            "the same input value gives different bits in different positions or lengths"
                        )
    for k, (a, was) in enumerate(zip(args, before, strict=False)):
        if was is not None and a.tobytes() != was:
            raise CaseError(f"argument {k} was modified")


def run_case(case, backend, modules):
    """Raises CaseError (or an AssertionError from a script) when the case does not hold."""
    if mode_of(case) == "compile_error":
        return run_compile_error(case, backend)
    if case.tdsl not in modules:
        try:
            modules[case.tdsl] = backend.compile(PROGRAMS / case.tdsl)
        except backend.CompileError as err:
            found = " | ".join(f"{d.code}: {d.message}" for d in err.diagnostics)
            modules[case.tdsl] = CaseError(f"{case.tdsl} does not compile: {found[:400]}")
    module = modules[case.tdsl]
    if isinstance(module, CaseError):
        raise module
    if mode_of(case) == "script":
        case.script(Ctx(case, backend, module))
    else:
        run_calls(case, module[case.kernel])


def verdict(case, backend, modules):
    """None, or one line."""
    try:
        run_case(case, backend, modules)
    except (CaseError, AssertionError) as err:
        return str(err) or f"assertion: {traceback.extract_tb(err.__traceback__)[-1].line}"
    except Exception as err:
        at = traceback.extract_tb(err.__traceback__)[-1]
        return f"{type(err).__name__}: {str(err)[:300]} ({pathlib.Path(at.filename).name}:{at.lineno})"
    return None


class Reference:
    """Looks like a kernel; is the case's reference in plain NumPy."""

    is_reference = True

    def __init__(self, function):
        self._function = function

    def __call__(self, *args, threads=None, **kwargs):
        args = tuple(a.copy() if isinstance(a, np.ndarray) and a.nbytes <= 1 << 26 else a for a in args)
        with quiet():
            got = tuple(np.array(v, order="C") for v in as_tuple(self._function(*args, **kwargs)))
        return got[0] if len(got) == 1 else got


def check_reference(case):
    """Run the reference in the place of the kernel.

    Raises:
        CaseError: it does not give what the case expects.
    """
    run_calls(case, Reference(case.ref))
