"""Scans as C: where the carries stand, and the loops of column scans (`runtime/scan.h` has the steps).

A carry belongs to the loop that runs in order: one for a vector loop along the scanned axis, one for each
vector of a strip of columns otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tensorc.codegen.c_ast import (
    Binary,
    Call,
    Declare,
    Evaluate,
    Expr,
    For,
    Index,
    Integer,
    Name,
    Stmt,
    Unary,
)
from tensorc.codegen.context import LANES, Context
from tensorc.codegen.expressions import size_expr
from tensorc.codegen.loops import less, let, plus, serial_loop, thread_loop, vector_range
from tensorc.codegen.values import carry_name, scan_type
from tensorc.index_algebra import product
from tensorc.loop_ir.program import Axis
from tensorc.loop_schedule import program as nest_ir

SCAN_STRIP = 512


def emit_column_scan(scan: nest_ir.ColumnScan, context: Context) -> list[Stmt]:
    """Strips of columns, divided among the threads where the scan is at the top of its nest."""
    strip = Axis("strip", (scan.columns.extent + (SCAN_STRIP - 1)) // SCAN_STRIP)
    body = _strip(scan, context)
    if not scan.parallel:
        return [serial_loop(strip, body, context)]
    axes = (*scan.iterate, strip)
    return thread_loop(axes, size_expr(product(a.extent for a in axes), context.names), body, context)


def _strip(scan: nest_ir.ColumnScan, context: Context) -> list[Stmt]:
    begin, end = Name("column_begin"), Name("column_end")
    columns = size_expr(scan.columns.extent, context.names)
    inside = replace(context, strip=begin)
    row = vector_range(scan.columns, begin, end, scan.body, inside)
    return [
        let("column_begin", Binary("*", Name("strip"), Integer(SCAN_STRIP))),
        let("column_end", Call("tc_min", (plus(begin, SCAN_STRIP), columns))),
        *(s for one in scans_in(scan.body) for s in _carries(one)),
        serial_loop(scan.axis, row, context),
    ]


def scans_in(body: Sequence[nest_ir.Stmt]) -> list[nest_ir.Scan]:
    """The scans that run along a loop with `body`."""
    return [s for s in body if isinstance(s, nest_ir.Scan)]


def _carries(scan: nest_ir.Scan) -> list[Stmt]:
    """A carry for each vector of a strip, and a loop that starts them."""
    name, kind = carry_name(scan), f"{scan_type(scan)}_col"
    count = SCAN_STRIP // LANES
    at: Expr = Unary("&", Index(Name(name), Name("k")))
    start = Evaluate(Call(f"{kind}_begin", (at,)))
    return [
        Declare(f"struct {kind}", name, size=Integer(count)),
        For("k", Integer(0), less(Name("k"), Integer(count)), 1, (start,)),
    ]
