"""One kernel as two C functions: the entry point (checks, memory, threads) and the body every thread runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tensorc.codegen.ahead import compute_ahead, name_atoms
from tensorc.codegen.c_ast import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Comment,
    Declare,
    Evaluate,
    Expr,
    Function,
    If,
    Integer,
    Name,
    Parameter,
    Pragma,
    Return,
    Stmt,
    Unary,
)
from tensorc.codegen.context import Context
from tensorc.codegen.expressions import approximate, c_names, combine, size_expr
from tensorc.codegen.loop_bodies import emit_simple
from tensorc.codegen.loops import (
    emit_parallel,
    emit_parallel_vector,
    emit_vector,
    less,
    let,
    plus,
    serial_loop,
)
from tensorc.codegen.matmul import emit_matmul
from tensorc.codegen.prune import prune_unused, used_names
from tensorc.codegen.reduce_columns import emit_column_reduce
from tensorc.codegen.reduce_rows import (
    emit_merge,
    emit_parallel_row_reduce,
    emit_row_reduce,
    part_counts,
)
from tensorc.codegen.reduce_state import state_type, widened
from tensorc.codegen.scans import emit_column_scan
from tensorc.codegen.size_limits import unsettled_sizes
from tensorc.codegen.specialize import inside_conditions
from tensorc.dtypes import I64, DType
from tensorc.index_algebra import Atom, Poly, Sym
from tensorc.loop_ir.program import Axis
from tensorc.loop_schedule import program as nest_ir
from tensorc.loop_schedule.program import Nest, NestProgram, RowReduce
from tensorc.loop_schedule.walk import loop_axes, walk
from tensorc.signature import SizeCheck

PARALLEL_WORK = 1 << 18
"""Below this many element operations a kernel runs on one thread: a region costs some microseconds."""


WORK_LIMIT = 1 << 62
"""Estimates saturate here."""


@dataclass(frozen=True, slots=True)
class EmitOptions:
    """`prefix` starts every entry point's name; `openmp` false leaves threads out; `lanes` is 8, or 16 for
    targets with 64-byte vectors. `cpu_features` are what the target needs, by the names that
    `__builtin_cpu_supports` takes: each entry point returns status 3 on a CPU without them."""

    prefix: str = "tdsl_"
    openmp: bool = True
    cpu_features: tuple[str, ...] = ()


def emit_kernel(program: NestProgram, options: EmitOptions) -> tuple[Function, Function]:
    """The body function and the entry point of a kernel."""
    return _Kernel(program, options).functions()


class _Kernel:
    """Names and parameters that the two functions of one kernel share."""

    def __init__(self, program: NestProgram, options: EmitOptions) -> None:
        self.program = program
        self.options = options
        signature = program.signature
        results = {b.result: b.name for b in program.buffers if b.result is not None}
        params = {f"array {p.name}": p.name for p in signature.params}
        outs = {f"result {k}": signature.result_name(k) for k in range(len(signature.results))}
        scalars = {p.name: p.dtype for p in signature.params if not p.shape}
        names = [d.name for d in signature.dims]
        # sizes are computed in 64 bits, whatever the type of a scalar that is one
        wide = [n for n in names if scalars.get(n, I64) != I64]
        dims = [n for n in names if n not in scalars or n in wide]
        wanted = {f"dim {n}": f"{n}_size" if n in wide else n for n in dims}
        chosen = c_names(params | outs | wanted)
        self.results = [chosen[key] for key in outs]
        self.arrays = {name: chosen[key] for key, name in params.items()}
        self.arrays |= {results[k]: c for k, c in enumerate(self.results)}
        self.arrays |= dict(program.memory)
        self.owners = [b for b in program.buffers if (b.name, b.name) in program.memory]
        self.dims = {d: chosen[f"dim {d}"] for d in dims}
        self.dims |= {n: self.arrays[n] for n in names if n not in dims}
        self.widened = [let(self.dims[n], Cast("int64_t", Name(self.arrays[n]))) for n in wide]
        self.sizes: dict[Atom, str] = {Sym(d): c for d, c in self.dims.items()}
        self.failures = program.failures()

    def functions(self) -> tuple[Function, Function]:
        body = self._body()
        return body, self._entry(body)

    # -- the body function

    def _body(self) -> Function:
        statements: list[Stmt] = list(self.widened)
        for nest in self.program.nests:
            if not nest.body:
                continue
            if nest.barrier:
                statements.extend(self._barrier())
            statements.append(Comment(f"{nest.name}: {nest.shape.kind}"))
            statements.append(Block(tuple(self._nest(nest))))
        pruned = prune_unused(statements)
        used = used_names(pruned)
        parameters = tuple(p for p in self._body_parameters() if p.name in used)
        name = f"tc_body_{self.program.signature.name}"
        return Function("static void", name, parameters, pruned)

    def _body_parameters(self) -> list[Parameter]:
        fixed = [Parameter("const int64_t", self.dims[d.name]) for d in self._fixed()]
        temporaries = [Parameter(f"{b.dtype.c} *", b.name) for b in self.owners]
        parts = [Parameter(f"struct {state} *", name) for name, state, _ in self._parts()]
        threads = [
            Parameter("int32_t *", "status"),
            Parameter("char *", "scratch"),
            Parameter("const int", "tid"),
            Parameter("const int", "nt"),
        ]
        return [*self._outer_parameters(), *fixed, *temporaries, *parts, *threads]

    def _outer_parameters(self) -> list[Parameter]:
        signature = self.program.signature
        out: list[Parameter] = []
        for p in signature.params:
            kind = f"const {p.dtype.c} *" if p.shape else f"const {p.dtype.scalar_c}"
            out.append(Parameter(kind, self.arrays[p.name]))
        out.extend(
            Parameter(f"{r.dtype.c} *", name) for r, name in zip(signature.results, self.results, strict=True)
        )
        out.extend(Parameter("const int64_t", self.dims[d]) for d in signature.passed_dims)
        return out

    def _fixed(self) -> list[Axis]:
        return [Axis(d.name, _constant(d.fixed)) for d in self.program.signature.dims if d.fixed is not None]

    def _context(self) -> Context:
        local = [*(f"{c}{k}" for c in "ijkrcb" for k in range(64)), "strip", "row"]
        names: dict[Atom, str] = {Sym(a, axis=True): a for a in local} | self.sizes
        return Context(names, self.arrays, failures=self.failures)

    def _barrier(self) -> list[Stmt]:
        if not self.options.openmp:
            return []
        return [If(less(Integer(1), Name("nt")), (Pragma("omp barrier"),))]

    def _nest(self, nest: Nest) -> list[Stmt]:
        statements = list(walk(nest.body))
        extents = {a.name: a.extent for s in statements for a in loop_axes(s)}
        context = replace(self._context(), conditions=inside_conditions(statements), extents=extents)
        out, context = compute_ahead(statements, context)
        offset: Expr = Name("scratch")
        if nest.scratch:
            local = dict(self.arrays)
            for piece in nest.scratch:
                local[piece.buffer] = piece.buffer
                pointer = Cast(f"{piece.dtype.c} *", offset)
                out.append(Declare(f"{piece.dtype.c} *const", piece.buffer, pointer))
                offset = plus(offset, self._lines(piece.extent, piece.dtype))
            context = replace(context, arrays=local)
        for k, s in enumerate(nest.body):
            before = nest.body[k - 1] if k else None
            out.extend(self._statement(nest, s, before, context))
        return out

    def _statement(
        self, nest: Nest, s: nest_ir.Stmt, before: nest_ir.Stmt | None, context: Context
    ) -> list[Stmt]:
        match s:
            case nest_ir.Let() | nest_ir.Check() | nest_ir.Scan() | nest_ir.Store():
                return emit_simple([s], context)
            case nest_ir.Serial():
                return [serial_loop(s.axis, self._all(nest, s.body, context), context)]
            case nest_ir.Vector():
                return emit_vector(s.axis, s.body, context)
            case nest_ir.ParallelVector():
                return emit_parallel_vector(s, context)
            case nest_ir.Parallel():
                return emit_parallel(s.axes, self._all(nest, s.body, context), context)
            case nest_ir.RowReduce():
                if s.parallel:
                    return emit_parallel_row_reduce(s, context, [n for n, _, _ in _nest_parts(nest)])
                return emit_row_reduce(s, context)
            case nest_ir.ColumnReduce():
                return emit_column_reduce(s, context)
            case nest_ir.ColumnScan():
                return emit_column_scan(s, context)
            case nest_ir.Single():
                return self._single(nest, s, before, context)
            case nest_ir.Matmul():
                return emit_matmul(s, context)

    def _all(self, nest: Nest, body: Sequence[nest_ir.Stmt], context: Context) -> list[Stmt]:
        return [c for s in body for c in self._statement(nest, s, None, context)]

    def _single(
        self, nest: Nest, s: nest_ir.Single, before: nest_ir.Stmt | None, context: Context
    ) -> list[Stmt]:
        """Statements for thread 0; after a parallel reduction they begin with merging its parts."""
        merge: list[Stmt] = []
        barrier: list[Stmt] = []
        if isinstance(before, RowReduce):
            merge = emit_merge(before, context, [n for n, _, _ in _nest_parts(nest)])
            barrier = self._barrier()
        return [
            *barrier,
            If(Binary("==", Name("tid"), Integer(0)), (*merge, *emit_simple(s.body, context))),
        ]

    # -- the entry point

    def _entry(self, body: Function) -> Function:
        signature = self.program.signature
        fixed: list[Stmt] = [let(self.dims[a.name], size_expr(a.extent, {})) for a in self._fixed()]
        memory, release = self._memory(body)
        fails = any(p.name == "status" for p in body.parameters)
        status: list[Stmt] = [Declare("int32_t", "status", Integer(0))] if fails else []
        statements = prune_unused(
            [
                *self._cpu_check(),
                *self.widened,
                *fixed,
                *self._checks(),
                *self._thread_count(),
                *memory,
                *status,
                *self._run(body),
                *release,
                Return(Name("status") if fails else Integer(0)),
            ]
        )
        used = used_names(statements)
        parameters = [*self._outer_parameters(), Parameter("const int32_t", "threads")]
        unused = [Evaluate(Cast("void", Name(p.name))) for p in parameters if p.name not in used]
        head = 'extern "C" TC_EXPORT int32_t'
        name = f"{self.options.prefix}{signature.name}"
        return Function(head, name, tuple(parameters), (*unused, *statements))

    def _cpu_check(self) -> list[Stmt]:
        if not self.options.cpu_features:
            return []
        return [If(Unary("!", Call("tc_cpu_supported", ())), (Return(Integer(3)),))]

    def _checks(self) -> list[Stmt]:
        """Sizes that no call may have: status 1."""
        signature = self.program.signature
        out: list[Stmt] = []
        refuse = (Return(Integer(1)),)
        for name in signature.passed_dims:
            out.append(If(Unary("!", Call("tc_is_size", (Name(self.dims[name]),))), refuse))
        for d in signature.dims:
            if d.fixed is None and d.name not in signature.passed_dims:
                out.append(If(less(Name(self.dims[d.name]), Integer(0)), refuse))
        out.extend(self._limits())
        for check in signature.checks:
            if check.kind != "axis":
                out.append(If(Unary("!", self._relation(check)), refuse))
        return out

    def _limits(self) -> list[Stmt]:
        """What this code computes in 64 bits must be there."""
        out: list[Stmt] = []
        names: Mapping[Atom, str] = self.sizes
        for size in unsettled_sizes(self.program):
            atoms, names = name_atoms([size], names)
            out.extend(atoms)
            out.append(If(Unary("!", Call("tc_fits", (approximate(size, names),))), (Return(Integer(1)),)))
        return out

    def _relation(self, check: SizeCheck) -> Expr:
        first, *others = (
            Binary(r.relation, size_expr(r.left, self.sizes), size_expr(r.right, self.sizes))
            for r in check.relations
        )
        found: Expr = first
        for other in others:
            found = Binary("||", found, other)
        return found

    def _thread_count(self) -> list[Stmt]:
        """`nt`: one where the work is small or threads are left out."""
        if not self.options.openmp:
            return [Evaluate(Cast("void", Name("threads")))]
        work = self._saturating([n.work for n in self.program.nests])
        wanted = Call("tc_thread_count", (Name("threads"),))
        return [
            let("work", work),
            Declare("int", "nt", Integer(1)),
            If(less(Integer(PARALLEL_WORK), Name("work")), (Assign(Name("nt"), wanted),)),
        ]

    def _saturating(self, sizes: Sequence[Poly]) -> Expr:
        terms: list[Expr] = []
        for monomial, coefficient in Poly(t for size in sizes for t in size.terms).terms:
            term: Expr = Integer(min(max(coefficient, 0), WORK_LIMIT))
            for atom, power in monomial:
                for _ in range(power):
                    factor = size_expr(Poly([(((atom, 1),), 1)]), self.sizes)
                    term = Call("tc_size_mul", (term, factor))
            terms.append(term)
        return combine("tc_size_add", terms)

    def _lines(self, extent: Poly, dtype: DType) -> Expr:
        return Call("tc_lines", (Call("tc_size_mul", (size_expr(extent, self.sizes), Integer(dtype.size))),))

    def _parts(self) -> list[tuple[str, str, RowReduce]]:
        return [p for nest in self.program.nests for p in _nest_parts(nest)]

    def _memory(self, body: Function) -> tuple[list[Stmt], list[Stmt]]:
        """One allocation for temporaries, reduction parts and every thread's scratch."""
        out: list[Stmt] = []
        pieces: list[tuple[str, str]] = []
        for b in self.owners:
            size: Expr = Integer(b.dtype.size)
            for extent in b.shape:
                size = Call("tc_size_mul", (size, size_expr(extent, self.sizes)))
            out.append(let(f"{b.name}_bytes", Call("tc_lines", (size,))))
            pieces.append((b.name, f"{b.dtype.c} *"))
        for name, state, reduce in self._parts():
            counts = part_counts(reduce, self._context())
            size = Call("tc_size_mul", (Name("parts_end"), Call("sizeof", (Name(f"struct {state}"),))))
            out.append(Declare("int64_t", f"{name}_bytes"))
            out.append(Block((*counts, Assign(Name(f"{name}_bytes"), Call("tc_lines", (size,))))))
            pieces.append((name, f"struct {state} *"))
        parts: list[Expr] = [Name(f"{name}_bytes") for name, _ in pieces]
        scratch = self._scratch_bytes()
        if scratch is None and not pieces:
            return [], []
        if scratch is not None:
            out.append(let("scratch_bytes", scratch))
            parts.append(Call("tc_size_mul", (Name("scratch_bytes"), self._threads())))
        out.append(Declare("char *const", "arena", Call("tc_allocate", (combine("tc_size_add", parts),))))
        out.append(If(Unary("!", Name("arena")), (Return(Integer(2)),)))
        at: Expr = Name("arena")
        for name, kind in pieces:
            out.append(Declare("char *const", f"{name}_begin", at))
            out.append(Declare(f"{kind}const", name, Cast(kind, Name(f"{name}_begin"))))
            at = plus(Name(f"{name}_begin"), Name(f"{name}_bytes"))
        if scratch is not None:
            out.append(Declare("char *const", "scratch", at))
        return out, [Evaluate(Call("tc_release", (Name("arena"),)))]

    def _threads(self) -> Expr:
        return Name("nt") if self.options.openmp else Integer(1)

    def _scratch_bytes(self) -> Expr | None:
        """The most any nest needs for one thread."""
        needs: list[Expr] = []
        for nest in self.program.nests:
            total: Expr | None = None
            for s in nest.scratch:
                size = self._lines(s.extent, s.dtype)
                total = size if total is None else Binary("+", total, size)
            if total is not None and total not in needs:
                needs.append(total)
        return combine("tc_max", needs) if needs else None

    def _run(self, body: Function) -> list[Stmt]:
        def call(tid: Expr, nt: Expr) -> Stmt:
            args: list[Expr] = []
            for p in body.parameters:
                arg: Expr = Name(p.name)
                if p.name == "tid":
                    arg = tid
                elif p.name == "nt":
                    arg = nt
                elif p.name == "status":
                    arg = Unary("&", arg)
                elif p.name == "scratch":
                    arg = plus(arg, Binary("*", Name("scratch_bytes"), tid))
                args.append(arg)
            return Evaluate(Call(body.name, tuple(args)))

        alone = call(Integer(0), Integer(1))
        if not self.options.openmp:
            return [alone]
        team = call(Call("omp_get_thread_num", ()), Call("omp_get_num_threads", ()))
        region = (Pragma("omp parallel num_threads(nt)"), Block((team,)))
        return [If(Binary("==", Name("nt"), Integer(1)), (alone,), region)]


def _nest_parts(nest: Nest) -> list[tuple[str, str, RowReduce]]:
    """For each accumulator of a parallel reduction: its parts array, their type, the reduction."""
    return [
        (f"parts_{nest.nodes[0]}_{a.name}", state_type(a), s)
        for s in nest.body
        if isinstance(s, RowReduce) and s.parallel
        for a in widened(s).accumulators
    ]


def _constant(value: int) -> Poly:
    return Poly([((), value)])
