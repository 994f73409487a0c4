"""The declarations of a file: dims, constants and functions, and the clashes among their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tensorc.diagnostics.model import DiagnosticBag, Label
from tensorc.sema.builder import Builder, TooLargeError
from tensorc.sema.calls import evaluate_call
from tensorc.sema.constants import as_number
from tensorc.sema.expressions import Context, evaluate, run
from tensorc.sema.iteration import comprehend
from tensorc.sema.numbers import constant_value, fits
from tensorc.sema.results import head_of
from tensorc.sema.scopes import DimFact, FileScope, Frame, warn_hiding
from tensorc.sema.sizes import SymbolTable
from tensorc.sema.types import read_dtype
from tensorc.sema.values import POISON, Known, Value, describe, is_poisoned
from tensorc.source import Span
from tensorc.syntax import ast


def read_declarations(
    file: ast.File, bag: DiagnosticBag, dims: Mapping[str, int], hints: Mapping[str, int]
) -> FileScope:
    """The names of a file and of its imports. The command fixes `dims`; its `hints` go before theirs."""
    return _read_file(file, bag, dims, hints, {})


def check_kernel_names(
    file: ast.File, bag: DiagnosticBag, names_of: Callable[[ast.Kernel], tuple[str, ...]]
) -> None:
    """Report kernels whose names clash; `names_of` lists all that a kernel takes."""
    kernels: dict[str, Span] = {}
    for item in file.items:
        if isinstance(item, ast.Kernel):
            _check_kernel_name(item, bag)
            for name in names_of(item):
                if not _declare(bag, kernels, name, head_of(item), "kernels"):
                    break


def _read_file(
    file: ast.File,
    bag: DiagnosticBag,
    dims: Mapping[str, int],
    hints: Mapping[str, int],
    known: dict[ast.File, FileScope],
) -> FileScope:
    """The scope of one file. `known` holds those that are read: a file may be imported on two ways."""
    if file in known:
        return known[file]
    imported = file.imported or ()
    failed = len(imported) < sum(1 for item in file.items if isinstance(item, ast.Import))
    kernels = frozenset(item.name for item in file.items if isinstance(item, ast.Kernel))
    scope = FileScope(incomplete=failed, broken=file.broken, kernels=kernels)
    for name in {**hints, **dims}:
        scope.dims[name] = DimFact(dims.get(name), hints.get(name))
    for item in imported:
        _bring_in(bag, scope, _read_file(item.file, bag, dims, hints, known))
    _read_functions(file, bag, scope)
    scope.recursive = _find_recursion(scope, bag)
    scope.later = frozenset(item.name for item in file.items if isinstance(item, ast.Const))
    scope.later |= {
        size.name for item in file.items if isinstance(item, ast.Dims) for size in item.declarations
    }
    for declaration in file.items:
        match declaration:
            case ast.Dims():
                for size in declaration.declarations:
                    _read_dim(size, bag, scope, dims, hints)
            case ast.Const():
                _read_const(declaration, bag, scope)
    known[file] = scope
    return scope


def _bring_in(bag: DiagnosticBag, scope: FileScope, imported: FileScope) -> None:
    """Add an imported file's names, except for those that are here already on another way."""
    scope.incomplete = scope.incomplete or imported.incomplete
    scope.broken |= imported.broken
    for name, span in imported.declared.items():
        if scope.declared.get(name) is span or not _declare(bag, scope.declared, name, span, "declarations"):
            continue
        if name in imported.functions:
            scope.functions[name] = imported.functions[name]
            scope.homes[name] = imported.homes.get(name, imported)
        elif name in imported.consts:
            scope.consts[name] = imported.consts[name]
        elif name in imported.dims:
            scope.dims[name] = imported.dims[name]


def _check_kernel_name(node: ast.Kernel, bag: DiagnosticBag) -> None:
    if node.name.startswith("__") and node.name.endswith("__"):
        bag.error(
            "TC0207",
            f"a kernel cannot be called `{node.name}`: modules of Python keep such names",
            head_of(node),
            help="choose a name without `__`",
        )


def _declare(bag: DiagnosticBag, names: dict[str, Span], name: str, span: Span, what: str) -> bool:
    """Record a name; False after the error that it is taken."""
    if name not in names:
        names[name] = span
        return True
    bag.error(
        "TC0207",
        f"two {what} are called `{name}`",
        span,
        label="the second one",
        secondary=(Label(names[name], "the first one"),),
    )
    return False


def _read_functions(file: ast.File, bag: DiagnosticBag, scope: FileScope) -> None:
    for item in file.items:
        if not isinstance(item, ast.Function):
            continue
        if _declare(bag, scope.declared, item.name, head_of(item), "declarations"):
            warn_hiding(bag, item.name, head_of(item))
            scope.functions[item.name] = item
        first: dict[str, Span] = {}
        for parameter in item.params:
            if not _declare(bag, first, parameter.name, parameter.span, "parameters"):
                scope.functions.pop(item.name, None)
                scope.broken |= {item.name}
            warn_hiding(bag, parameter.name, parameter.span)


def _read_dim(
    node: ast.DimDeclaration,
    bag: DiagnosticBag,
    scope: FileScope,
    dims: Mapping[str, int],
    hints: Mapping[str, int],
) -> None:
    if not _declare(bag, scope.declared, node.name, node.span, "declarations"):
        return
    fixed = None
    if node.value is not None:
        value = evaluate_constant(node.value, bag, scope, Frame(of_size=True))
        number = value.value if isinstance(value, Known) and value.kind == "i" else None
        if not is_poisoned(value) and (number is None or number < 0):
            bag.error(
                "TC0410",
                f"the size {node.name} must be a non-negative integer, found {describe(value)}",
                node.value.span,
                label="expected an integer >= 0",
            )
        fixed = int(number) if number is not None and number >= 0 else None
    scope.later -= {node.name}
    asked = dims.get(node.name, fixed)
    if fixed is not None and asked != fixed:
        message = f"the size {node.name} is {fixed} in the program, not {asked}"
        help = f"write `{node.name} ~ {fixed}` to leave it open"
        bag.error("TC0802", message, node.span, label="fixed here", help=help)
    hint = hints.get(node.name, node.hint)
    scope.dims[node.name] = DimFact(asked, hint)


def _read_const(node: ast.Const, bag: DiagnosticBag, scope: FileScope) -> None:
    if not _declare(bag, scope.declared, node.name, node.span, "declarations"):
        return
    warn_hiding(bag, node.name, node.span)
    value = evaluate_constant(node.value, bag, scope, Frame())
    if node.type is not None and isinstance(value, Known):
        value = _typed_constant(node, value, bag, scope)
    scope.consts[node.name] = value
    scope.later -= {node.name}


def _typed_constant(node: ast.Const, value: Known, bag: DiagnosticBag, scope: FileScope) -> Value:
    """`const X: f32 = 0.1`: the number is rounded to the type and insists on it."""
    assert node.type is not None
    c = _context(bag, scope)
    dtype = read_dtype(c, node.type, Frame())
    if node.type.sizes:
        bag.error("TC0405", "a constant is a scalar", node.type.span, label="expected rank 0")
        return POISON
    if dtype is None:
        return POISON
    if value.dtype is not None and value.dtype != dtype:
        c.builder.error(
            "TC0301",
            f"the type says {dtype}, but the value is {describe(value)}",
            node.value.span,
            label=f"expected {dtype}, found {value.dtype}",
            help=f"a type never converts: write {dtype}(...)",
        )
        return POISON
    mixed = (value.kind == "b") != dtype.is_bool or (value.kind == "f" and dtype.is_integer)
    if mixed or not fits(value, dtype):
        c.builder.literal_error(value, dtype, node.value.span)
        return POISON
    number = constant_value(value, dtype)
    return Known(bool(number) if dtype.is_bool else number, dtype)


def evaluate_constant(node: ast.Expr, bag: DiagnosticBag, scope: FileScope, frame: Frame) -> Value:
    """The number of a constant expression, or poison after an error."""
    own = DiagnosticBag()
    try:
        c = _context(own, scope)
        value = as_number(c.builder, run(evaluate(c, node, frame)))
    except TooLargeError:
        value = POISON
    for diagnostic in own.items:
        bag.add(diagnostic)
    if isinstance(value, Known) or is_poisoned(value):
        return value
    if own.has_errors:
        return POISON
    bag.error(
        "TC0307",
        "the value is not known at compile time",
        node.span,
        label=f"found {describe(value)}",
        help="constants are numbers and arithmetic of them",
    )
    return POISON


def _context(bag: DiagnosticBag, scope: FileScope) -> Context:
    return Context(Builder(bag), scope, SymbolTable(scope.dims), evaluate_call, comprehend)


# -- recursion -------------------------------------------------------------------------------------


def _find_recursion(scope: FileScope, bag: DiagnosticBag) -> frozenset[str]:
    """The functions that reach themselves; each circle is reported once, at a call on the way round."""
    own = {name: f for name, f in scope.functions.items() if name not in scope.homes}
    calls = {name: called_functions(f, own) for name, f in own.items()}
    recursive: list[str] = []
    for name in own:
        place = _way_back(name, calls)
        if place is None:
            continue
        told = any(_reaches(other, name, calls) and _reaches(name, other, calls) for other in recursive)
        recursive.append(name)
        if told:
            continue
        bag.error(
            "TC0206",
            f"`{name}` calls itself",
            place,
            label="on the way back to itself" if place.text != name else "calls itself here",
            help="a def is always inlined, so it may not recurse",
        )
    return frozenset(recursive)


def _way_back(name: str, calls: Mapping[str, Mapping[str, Span]]) -> Span | None:
    """The call in `name`'s body from which `name` is reached again."""
    return next((span for callee, span in calls[name].items() if _reaches(callee, name, calls)), None)


def _reaches(start: str, goal: str, calls: Mapping[str, Mapping[str, Span]]) -> bool:
    seen = {start}
    pending = [start]
    while pending:
        current = pending.pop()
        if current == goal:
            return True
        fresh = [n for n in calls[current] if n not in seen]
        seen.update(fresh)
        pending.extend(fresh)
    return False


def called_functions(function: ast.Function, own: Mapping[str, ast.Function]) -> dict[str, Span]:
    """The defs of the file that a body calls, each with its first place."""
    found: dict[str, Span] = {}
    pending: list[object] = [*function.body, *function.params]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and isinstance(node.function, ast.Name):
            name = node.function.id
            if name in own:
                found.setdefault(name, node.function.span)
        pending.extend(_children(node))
    return dict(sorted(found.items(), key=lambda item: item[1].start))


def _children(node: object) -> Iterator[object]:
    if isinstance(node, tuple):
        yield from node
    elif isinstance(node, ast.Node):
        for name in type(node).__dataclass_fields__:
            value = getattr(node, name)
            if isinstance(value, ast.Node | tuple):
                yield value
