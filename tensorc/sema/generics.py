"""Kernels with dtype parameters: one program for each choice of dtypes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod

from tensorc.diagnostics.model import DiagnosticBag, Severity
from tensorc.dtypes import SUPPORTED, DType
from tensorc.sema import foreign
from tensorc.sema.kernels import check_kernel
from tensorc.sema.scopes import FileScope, dtype_names, near
from tensorc.signature import Generic
from tensorc.syntax import ast
from tensorc.tensor_ir.program import TensorProgram

MOST_INSTANCES = 64


def instance_name(name: str, dtypes: tuple[str, ...]) -> str:
    """`ln_f32`: what the kernel of one choice of dtypes is called."""
    return "_".join((name, *dtypes))


def instance_names(node: ast.Kernel) -> tuple[str, ...]:
    """The names that a kernel takes: its own, and one per choice of dtypes."""
    if not node.type_params or _count(node) > MOST_INSTANCES:
        return (node.name,)
    # a dtype that is there twice is reported where it is written
    return (node.name, *dict.fromkeys(instance_name(node.name, names) for names in _choices(node)))


def check_instances(scope: FileScope, node: ast.Kernel, bag: DiagnosticBag) -> tuple[TensorProgram, ...]:
    """The programs of a kernel, one per choice of its dtype parameters; none when it has errors."""
    if not node.type_params:
        program = check_kernel(scope, node, bag)
        return () if program is None else (program,)
    if not _check_declaration(scope, node, bag):
        return ()
    names = [p.name for p in node.type_params]
    deciding = tuple(_deciding_parameter(node, name) for name in names)
    programs: list[TensorProgram] = []
    for choice in _choices(node):
        types = {name: SUPPORTED[c] for name, c in zip(names, choice, strict=True)}
        written = tuple(node.params[k].type.span.text for k in deciding)
        generic = Generic(node.name, deciding, written, tuple(types.values()), _head(node))
        own = DiagnosticBag()
        named = replace(node, name=instance_name(node.name, choice))
        program = check_kernel(scope, named, own, types, generic)
        _report(own, bag, types)
        if program is None:
            # the same error for the next dtype says nothing new
            return ()
        programs.append(program)
    return tuple(programs)


def _report(own: DiagnosticBag, bag: DiagnosticBag, types: Mapping[str, DType]) -> None:
    note = f"where {', '.join(f'{name} is {dtype}' for name, dtype in types.items())}"
    for d in own.items:
        bag.add(replace(d, notes=(*d.notes, note)) if d.severity is Severity.ERROR else d)


def _choices(node: ast.Kernel) -> Iterator[tuple[str, ...]]:
    return product(*(p.choices for p in node.type_params))


def _count(node: ast.Kernel) -> int:
    return prod(len(p.choices) for p in node.type_params)


def _deciding_parameter(node: ast.Kernel, name: str) -> int:
    """The first array parameter of a dtype parameter's type, -1 when there is none."""
    found = (k for k, p in enumerate(node.params) if p.type.name == name and p.type.sizes)
    return next(found, -1)


def _head(node: ast.Kernel) -> str:
    """The kernel's head as it is written."""
    types = ", ".join(p.span.text for p in node.type_params)
    params = ", ".join(p.span.text for p in node.params)
    head = f"{node.name}[{types}]({params})"
    if node.results is None:
        return head
    if len(node.results) == 1 and not node.results[0].name:
        return f"{head} -> {node.results[0].type.span.text}"
    return f"{head} -> ({', '.join(r.span.text for r in node.results)})"


# -- the declaration -------------------------------------------------------------------------------


def _check_declaration(scope: FileScope, node: ast.Kernel, bag: DiagnosticBag) -> bool:
    """False after an error in the dtype parameters themselves."""
    found = [_check_parameter(scope, node, p, bag) for p in node.type_params]
    names = [p.name for p in node.type_params]
    for position, parameter in enumerate(node.type_params):
        if parameter.name in names[:position]:
            bag.error("TC0207", f"two dtype parameters are called `{parameter.name}`", parameter.span)
            return False
    if all(found) and _count(node) > MOST_INSTANCES:
        message = f"`{node.name}` stands for {_count(node)} kernels, more than {MOST_INSTANCES}"
        bag.error("TC0504", message, node.type_params[0].span.to(node.type_params[-1].span))
        return False
    return all(found)


def _check_parameter(
    scope: FileScope, node: ast.Kernel, parameter: ast.TypeParam, bag: DiagnosticBag
) -> bool:
    name, span = parameter.name, parameter.span
    for position, choice in enumerate(parameter.choices):
        if choice in parameter.choices[:position]:
            bag.error("TC0207", f"{name} has the dtype {choice} twice", span)
            return False
        if choice not in SUPPORTED:
            known = foreign.DTYPES.get(choice)
            help = f"write {known}" if known else near(choice, dtype_names())
            bag.error(
                "TC0306", f"unknown dtype `{choice}`", span, label="expected a dtype, as f32", help=help
            )
            return False
    if name in SUPPORTED or name in scope.declared:
        bag.error("TC0207", f"`{name}` has a meaning already", span, help="call the dtype parameter T")
        return False
    if _deciding_parameter(node, name) < 0:
        bag.error(
            "TC0306",
            f"no array parameter has the dtype {name}",
            span,
            label="nothing in a call tells which dtype it is",
            help=f"write an array parameter as x: {name}[N]",
        )
        return False
    return True
