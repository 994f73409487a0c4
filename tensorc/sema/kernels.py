"""One kernel: parameters, body, results and the checks of a call, as a `TensorProgram`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from tensorc.diagnostics.model import DiagnosticBag, Severity
from tensorc.dtypes import DType
from tensorc.index_algebra import Poly, Sym, axis, dim
from tensorc.sema.bindings import AxisPlace, find_bindings
from tensorc.sema.builder import Builder, Site, TooLargeError
from tensorc.sema.calls import evaluate_call
from tensorc.sema.declarations import called_functions
from tensorc.sema.expressions import Context, run
from tensorc.sema.functions import check_alone, run_body
from tensorc.sema.iteration import comprehend
from tensorc.sema.parameters import check_kernel_features, read_parameters
from tensorc.sema.requirements import equal_sizes, read_requires
from tensorc.sema.results import check_results
from tensorc.sema.scopes import FileScope, Frame
from tensorc.sema.shapes import numbers_fit
from tensorc.sema.sizes import SymbolTable
from tensorc.sema.values import POISON, Tensor, Value
from tensorc.signature import Generic, Param, Signature, SizeCheck
from tensorc.syntax import ast
from tensorc.tensor_ir.program import EQUAL_SIZES, Gather, ParamRef, SizeValue, TensorOp, TensorProgram, View

NO_TYPES: Mapping[str, DType] = {}


def check_kernel(
    scope: FileScope,
    node: ast.Kernel,
    bag: DiagnosticBag,
    types: Mapping[str, DType] = NO_TYPES,
    generic: Generic | None = None,
) -> TensorProgram | None:
    """The kernel's program, or None when it has errors (which are in the bag).

    `types` says what the dtype parameters are, `generic` which kernel this is a case of.
    """
    own = DiagnosticBag()
    c = Context(Builder(own), scope, SymbolTable(scope.dims), evaluate_call, comprehend, types)
    try:
        program = _check(c, node, generic)
    except TooLargeError:
        program = None
    for diagnostic in own.items:
        bag.add(diagnostic)
    return None if own.has_errors else program


def check_uncalled(scope: FileScope, bag: DiagnosticBag) -> None:
    """Report what is wrong in the file's `def`s that no kernel has inlined, whatever their arguments.

    Those that no other calls come first: what they inline need not be looked at again.
    """
    skipped = {*scope.homes, *scope.inlined, *scope.recursive}
    pending = {name: f for name, f in scope.functions.items() if name not in skipped}
    called = {callee for function in pending.values() for callee in called_functions(function, pending)}
    for name in sorted(pending, key=called.__contains__):
        if name in scope.inlined:
            continue
        own = DiagnosticBag()
        symbols = SymbolTable(scope.dims)
        symbols.bound.update(scope.dims)
        c = Context(Builder(own), scope, symbols, evaluate_call, comprehend)
        with suppress(TooLargeError):
            run(check_alone(c, pending[name]))
        for diagnostic in own.items:
            if diagnostic.severity is Severity.ERROR:
                bag.add(diagnostic)


def _check(c: Context, node: ast.Kernel, generic: Generic | None) -> TensorProgram | None:
    check_kernel_features(c, node)
    read = read_parameters(c, node)
    params = tuple(p for p in read if p is not None)
    scalars = tuple(p.name for p in params if not p.shape and p.dtype.is_integer)
    _bind_symbols(c, node, params, scalars, complete=len(params) == len(read))
    frame = _parameter_frame(c, node, read)
    requires = read_requires(c, node, frame)
    c.symbols.equal.update(equal_sizes(requires, (*c.symbols.seen, *scalars)))
    _use_equal_sizes(c, frame)
    frame.sizes = c.symbols.seen
    returned: Value | None = run(run_body(c, node.body, frame))
    results = check_results(c, node, returned)
    _warn_unused(c, frame)
    if results is None or c.builder.bag.has_errors:
        return None
    if not _numbers_fit(c.builder, requires):
        return None
    mentioned = _mentioned_dims(c.builder, params, requires)
    used = tuple(name for name in scalars if name in mentioned)
    for name in used:
        c.symbols.value(name, node.span)
    bound = find_bindings(params, used)
    checks = (
        *_axis_checks(params, bound.checked),
        *requires,
        *c.builder.checks,
    )
    signature = Signature(
        node.name,
        params,
        results.declared,
        c.symbols.dims(),
        bound.bindings,
        checks,
        node.doc,
        node.span,
        generic,
    )
    return TensorProgram(signature, tuple(c.builder.ops), results.values, node.span)


def _bind_symbols(
    c: Context, node: ast.Kernel, params: Sequence[Param], scalars: Sequence[str], complete: bool
) -> None:
    """Find out which symbols a call binds; report those that no parameter binds."""
    found = find_bindings(params, scalars)
    c.symbols.bound.update(b.dim for b in found.bindings)
    for name in [n for n in c.symbols.seen if not c.symbols.is_fixed(n) and n not in c.symbols.bound]:
        c.symbols.bound.add(name)
        if complete:
            c.builder.error(
                "TC0209",
                f"no parameter of `{node.name}` binds the size `{name}`",
                c.symbols.seen[name],
                label="used here, but no axis can be solved for it",
                help=f"add an axis that is just {name}, or take it as a parameter `{name}: i64`",
            )
    arrays = [p for p in params if p.name not in scalars]
    for param in arrays:
        if param.name in c.symbols.seen:
            c.builder.error(
                "TC0207",
                f"`{param.name}` is both a parameter and a size",
                param.span,
                help="only an integer scalar parameter can be a size: rename one of them",
            )


def _parameter_frame(c: Context, node: ast.Kernel, read: Sequence[Param | None]) -> Frame:
    """The kernel's names: a `param` op per parameter, an erroneous one poisoned."""
    frame = Frame()
    for position, (written, param) in enumerate(zip(node.params, read, strict=True)):
        value: Value = POISON
        if param is not None:
            site = Site(param.span, param.name)
            value = c.builder.emit("param", (), ParamRef(position), param.dtype, param.shape, site)
            c.builder.give_name(value, param.name)
            if not param.shape and param.dtype.is_integer:
                value = Tensor(value.id, value.dtype, (), size=dim(param.name))
        if written.name not in (*frame.names, "_"):
            frame.bind(c.builder.bag, written.name, value, written.span)
            frame.names[written.name].read = True
    return frame


def _use_equal_sizes(c: Context, frame: Frame) -> None:
    """Give the parameters the sizes that stand for theirs, so that equal ones are known as equal."""
    places = {Sym(name): size for name, size in c.symbols.equal.items()}
    for name, local in frame.names.items():
        value = local.value
        if not isinstance(value, Tensor):
            continue
        shape = tuple(size.substitute(places) for size in value.shape)
        if shape != value.shape:
            index = [axis(f"i{k}") for k in range(len(shape))]
            local.value = c.builder.view(EQUAL_SIZES, value, index, shape, Site(local.span, name))
        elif value.size is not None:
            local.value = replace(value, size=value.size.substitute(places))


def _warn_unused(c: Context, frame: Frame) -> None:
    if c.builder.bag.has_errors:
        return
    for name, local in frame.names.items():
        if not local.read:
            c.builder.bag.warning(
                "TC0213", f"`{name}` is never used", local.span, help="delete it, or call it `_`"
            )


# -- checks of a call ------------------------------------------------------------------------------


def _polys_of(op: TensorOp) -> Iterator[Poly]:
    """The sizes and indices of an operation."""
    yield from op.shape
    if isinstance(op.attrs, View):
        yield from op.attrs.index
    elif isinstance(op.attrs, Gather):
        yield from (p for p in op.attrs.places if isinstance(p, Poly))
    elif isinstance(op.attrs, SizeValue):
        yield op.attrs.size


def _numbers_fit(k: Builder, requires: Sequence[SizeCheck]) -> bool:
    """Report a size that holds a number of more than 64 bits, which no call computes with."""
    sizes = [(p, op.span) for op in k.ops for p in _polys_of(op)]
    for check in (*requires, *k.checks):
        sizes += [(side, check.span) for r in check.relations for side in (r.left, r.right)]
    return all(numbers_fit(k, size, span) for size, span in sizes)


def _mentioned_dims(k: Builder, params: Sequence[Param], requires: Sequence[SizeCheck]) -> frozenset[str]:
    """Every dim that a size or index of the kernel mentions."""
    polys: dict[Poly, None] = {}
    for op in k.ops:
        polys.update(dict.fromkeys(_polys_of(op)))
    for param in params:
        polys.update(dict.fromkeys(param.shape))
    for check in (*requires, *k.checks):
        for relation in check.relations:
            polys.update({relation.left: None, relation.right: None})
    return frozenset(name for p in polys for name in p.dims())


def _axis_checks(params: Sequence[Param], checked: Sequence[AxisPlace]) -> tuple[SizeCheck, ...]:
    checks: list[SizeCheck] = []
    for place in checked:
        param = params[place.param]
        text = f"axis {place.axis} of '{param.name}' must have size {place.size}"
        checks.append(
            SizeCheck("axis", place.size, "==", place.size, text, param.span, place.param, place.axis)
        )
    return tuple(checks)
