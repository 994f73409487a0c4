"""Bodies of vector loops: values, checks and stores in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tensorc.codegen.c_ast import Stmt
from tensorc.codegen.context import Context
from tensorc.codegen.gathers import emit_gather, with_varying
from tensorc.codegen.values import emit_check, emit_let, emit_scan, emit_store
from tensorc.loop_ir.program import Gather, Place
from tensorc.loop_schedule import program as nest_ir


def declared(body: Iterable[nest_ir.Stmt]) -> frozenset[str]:
    """The values a loop body declares."""
    return frozenset(s.name for s in body if isinstance(s, nest_ir.Let | nest_ir.Scan))


def emit_simple(body: Sequence[nest_ir.Stmt], context: Context) -> list[Stmt]:
    """A body of values, checks and stores."""
    context = with_varying(context, body)
    out: list[Stmt] = []
    for s in body:
        if isinstance(s, nest_ir.Let) and isinstance(s.attrs, Place | Gather):
            out.append(emit_gather(s, context))
        elif isinstance(s, nest_ir.Let):
            out.append(emit_let(s, context))
        elif isinstance(s, nest_ir.Check):
            out.append(emit_check(s, context))
        elif isinstance(s, nest_ir.Scan):
            out.append(emit_scan(s, context))
        elif isinstance(s, nest_ir.Store):
            out.append(emit_store(s, context))
        else:
            raise AssertionError(f"{type(s).__name__} inside a vector loop")
    return out
