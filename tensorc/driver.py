"""The stages in order, from a source text to C++ and from there to a library.

`STAGES` is the only list of them. After each stage its output is verified, then whoever observes is told:
that is how printing after a stage, timing, and stopping early are done.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from tensorc.diagnostics.model import Diagnostic, DiagnosticBag
from tensorc.source import Source

if TYPE_CHECKING:
    from tensorc.artefacts.manifest import Json, KernelFacts
    from tensorc.loop_ir.program import LoopProgram
    from tensorc.loop_schedule.program import NestProgram
    from tensorc.scheduler.program import FusedProgram
    from tensorc.signature import Signature
    from tensorc.syntax import ast
    from tensorc.tensor_ir.program import TensorProgram
    from tensorc.toolchain.build import BuildOptions
    from tensorc.toolchain.compiler import Compiler
    from tensorc.toolchain.target import Target

POLICIES = ("default", "inductor-2.8")
THREAD_MODES = ("openmp", "none")
MATH_MODES = ("strict", "fast")
SANITIZERS = ("address", "undefined")


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """What the front doors ask for.

    `target` None is the portable default, `cxx` None the compiler found; `cxx_flags` go before the
    project's own flags. `dims` fix sizes, `hints` feed estimates. `texts` are imported files by real path,
    taken instead of what the disk holds. `until` names the last stage to run.
    """

    policy: str = "default"
    target: str | None = None
    cxx: str | None = None
    cxx_flags: tuple[str, ...] = ()
    opt_level: int = 2
    threads: str = "openmp"
    math: str = "strict"
    debug: bool = False
    sanitize: tuple[str, ...] = ()
    prefix: str = "tdsl_"
    dims: tuple[tuple[str, int], ...] = ()
    hints: tuple[tuple[str, int], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()
    until: str = "codegen"
    verify: bool = True


@dataclass(frozen=True, slots=True)
class Stage:
    """One step. `run` gets the value before it; `verify` raises `InternalError` on a broken result."""

    name: str
    run: Callable[[Any, CompileOptions, DiagnosticBag], Any]
    verify: Callable[[Any], None] | None = None


@dataclass(frozen=True, slots=True)
class StageReport:
    """What an observer is told after a stage; `seconds` without verification."""

    stage: str
    value: Any
    seconds: float


Observer = Callable[[StageReport], None]


@dataclass(frozen=True, slots=True, eq=False)
class CompiledUnit:
    """A file after the stages that ran; what a later stage would have given is empty."""

    source: Source
    options: CompileOptions
    warnings: tuple[Diagnostic, ...]
    values: Mapping[str, Any] = field(repr=False)

    @property
    def file(self) -> ast.File:
        file: ast.File = self.values["parse"]
        return file

    @property
    def tensor(self) -> tuple[TensorProgram, ...]:
        """The programs as checked, before any rewriting: what the interpreter runs."""
        programs: tuple[TensorProgram, ...] = self.values.get("check", ())
        return programs

    @property
    def reference(self) -> tuple[TensorProgram, ...]:
        """What the interpreter runs beside a kernel: programs as checked, or as `math=fast` relaxed them."""
        programs: tuple[TensorProgram, ...] = self.values.get("relax", ())
        return self.tensor if self.options.math == "strict" else programs

    @property
    def loop(self) -> tuple[LoopProgram, ...]:
        programs: tuple[LoopProgram, ...] = self.values.get("lower", ())
        return programs

    @property
    def fused(self) -> tuple[FusedProgram, ...]:
        programs: tuple[FusedProgram, ...] = self.values.get("schedule", ())
        return programs

    @property
    def nests(self) -> tuple[NestProgram, ...]:
        programs: tuple[NestProgram, ...] = self.values.get("loops", ())
        return programs

    @property
    def cpp(self) -> str:
        """The generated C++ without the manifest."""
        text: str = self.values.get("codegen", "")
        return text

    @property
    def signatures(self) -> tuple[Signature, ...]:
        return tuple(p.signature for p in self.tensor)


def compile_text(source: Source, options: CompileOptions, observe: Observer | None = None) -> CompiledUnit:
    """Run the stages up to `options.until`.

    Raises:
        CompileError: the program has errors.
    """
    bag = DiagnosticBag()
    values: dict[str, Any] = {}
    value: Any = source
    for stage in STAGES:
        start = time.perf_counter()
        value = stage.run(value, options, bag)
        seconds = time.perf_counter() - start
        # a file with syntax errors is checked all the same, so that one run reports everything
        if stage.name != "parse" or options.until == "parse":
            bag.raise_if_errors()
        if options.verify and stage.verify is not None:
            stage.verify(value)
        values[stage.name] = value
        if observe is not None:
            observe(StageReport(stage.name, value, seconds))
        if stage.name == options.until:
            break
    return CompiledUnit(source, options, bag.items, values)


# -- the stages; each imports what it needs when it runs, so that a short run loads little -----------


def _parse(source: Source, options: CompileOptions, bag: DiagnosticBag) -> Any:
    from tensorc.syntax.imports import parse_program

    return parse_program(source, bag, dict(options.texts))


def _check(file: ast.File, options: CompileOptions, bag: DiagnosticBag) -> Any:
    from tensorc.sema.check import check_file

    wrong = tuple(_wrong_sizes(options.dims)) + tuple(_wrong_sizes(options.hints))
    for message in wrong:
        bag.error("TC0802", message, None)
    if wrong:
        return ()
    programs = check_file(file, bag, dims=dict(options.dims), hints=dict(options.hints))
    if not bag.has_errors:
        _check_dim_names(programs, (*options.dims, *options.hints), bag)
    return programs


def _wrong_sizes(given: Sequence[tuple[str, int]]) -> Iterator[str]:
    """What is wrong with sizes whatever the program is."""
    from tensorc.codegen.size_limits import ARRAY_LIMIT

    counts = Counter(name for name, _ in given)
    yield from (f"the size {name} is given {n} times" for name, n in counts.items() if n > 1)
    yield from (f"the size {name}={size} is not below 2^47" for name, size in given if size >= ARRAY_LIMIT)


def _check_dim_names(
    programs: Iterable[TensorProgram], given: Iterable[tuple[str, int]], bag: DiagnosticBag
) -> None:
    known = dict.fromkeys(d.name for p in programs for d in p.signature.dims)
    for name, _ in given:
        if name not in known:
            listed = ", ".join(known) or "none"
            bag.error("TC0802", f"no kernel has a dim '{name}'", None, notes=(f"dims: {listed}",))


def _widen(programs: Sequence[TensorProgram], _: CompileOptions, __: DiagnosticBag) -> Any:
    from tensorc.tensor_ir.widen import widen_program

    return tuple(widen_program(p) for p in programs)


def _simplify(programs: Sequence[TensorProgram], _: CompileOptions, __: DiagnosticBag) -> Any:
    from tensorc.tensor_ir.simplify import simplify_program

    return tuple(simplify_program(p) for p in programs)


def _relax(programs: Sequence[TensorProgram], options: CompileOptions, _: DiagnosticBag) -> Any:
    from tensorc.tensor_ir.relax import relax_program

    if options.math == "strict":
        return programs
    has_fma = resolve_target_option(options).has_fma
    return tuple(relax_program(p, has_fma) for p in programs)


def _lower(programs: Sequence[TensorProgram], options: CompileOptions, _: DiagnosticBag) -> Any:
    from tensorc.lowering.lower import lower_program

    return tuple(lower_program(p, options.policy) for p in programs)


def _schedule(programs: Sequence[LoopProgram], options: CompileOptions, _: DiagnosticBag) -> Any:
    from tensorc.scheduler.schedule import schedule_program

    return tuple(schedule_program(p, options.policy) for p in programs)


def _loops(programs: Sequence[FusedProgram], _: CompileOptions, __: DiagnosticBag) -> Any:
    from tensorc.loop_schedule.schedule import schedule_loops

    return tuple(schedule_loops(p) for p in programs)


def _codegen(programs: Sequence[NestProgram], options: CompileOptions, _: DiagnosticBag) -> Any:
    from tensorc.codegen.emit import emit_unit
    from tensorc.codegen.kernel import EmitOptions

    return emit_unit(
        programs,
        EmitOptions(
            prefix=options.prefix,
            openmp=options.threads == "openmp",
            cpu_features=resolve_target_option(options).builtin_features,
        ),
    )


def _verify_tensor(programs: Sequence[TensorProgram]) -> None:
    from tensorc.tensor_ir.verify import verify_tensor_program

    for p in programs:
        verify_tensor_program(p)


def _verify_loop(programs: Sequence[LoopProgram]) -> None:
    from tensorc.loop_ir.verify import verify_loop_program

    for p in programs:
        verify_loop_program(p)


def _verify_nests(programs: Sequence[NestProgram]) -> None:
    from tensorc.loop_schedule.verify import verify_nest_program

    for p in programs:
        verify_nest_program(p)


STAGES: tuple[Stage, ...] = (
    Stage("parse", _parse),
    Stage("check", _check, _verify_tensor),
    Stage("widen", _widen, _verify_tensor),
    Stage("simplify", _simplify, _verify_tensor),
    Stage("relax", _relax, _verify_tensor),
    Stage("lower", _lower, _verify_loop),
    Stage("schedule", _schedule),
    Stage("loops", _loops, _verify_nests),
    Stage("codegen", _codegen),
)
STAGE_NAMES = tuple(s.name for s in STAGES)


# -- from C++ to a library ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Toolchain:
    """All that the options say about building, resolved against this machine."""

    compiler: Compiler
    target: Target
    options: BuildOptions


def resolve_target_option(options: CompileOptions) -> Target:
    """The target the options ask for.

    Raises:
        CompileError: TC0605.
    """
    from tensorc.toolchain.target import default_target, probe_host, resolve_target

    host = probe_host()
    return default_target(host) if options.target is None else resolve_target(options.target, host)


def resolve_toolchain(options: CompileOptions) -> Toolchain:
    """Find the compiler and the target.

    Raises:
        CompileError: TC0605. ToolchainError: TC0601, TC0603.
    """
    from tensorc.toolchain.build import BuildOptions
    from tensorc.toolchain.compiler import find_compiler

    build = BuildOptions(
        options.opt_level, options.threads, options.debug, options.sanitize, options.cxx_flags
    )
    return Toolchain(find_compiler(options.cxx), resolve_target_option(options), build)


def kernel_facts(unit: CompiledUnit) -> tuple[KernelFacts, ...]:
    """What the artefacts say about each kernel."""
    from tensorc.artefacts.manifest import KernelFacts, RuntimeErrorEntry
    from tensorc.loop_schedule.aliasing import safe_inputs

    return tuple(
        KernelFacts(
            p.signature,
            inplace=safe_inputs(p),
            errors=tuple(RuntimeErrorEntry(f.kind, f.message, f.line) for f in p.failures()),
            fusion=_fusion_summary(p),
        )
        for p in unit.nests
    )


def _fusion_summary(program: NestProgram) -> tuple[dict[str, Any], ...]:
    return tuple({"nest": n.name, "nodes": list(n.nodes)} for n in program.nests)


def unit_manifest(unit: CompiledUnit, target: Target) -> Json:
    """The manifest of the library that the unit becomes.

    Raises:
        CompileError: TC0805, a kernel's C symbol cannot be used.
    """
    from tensorc.artefacts.abi import check_symbols
    from tensorc.artefacts.manifest import build_manifest

    options = unit.options
    check_symbols((s.name for s in unit.signatures), options.prefix)
    return build_manifest(
        kernel_facts(unit),
        target,
        source_name=unit.source.name,
        source_text=unit.source.text,
        prefix=options.prefix,
        threads=options.threads,
        options={"policy": options.policy, "math": options.math},
    )


def library_text(unit: CompiledUnit, manifest: Json, python_stem: str | None = None) -> str:
    """The complete translation unit: kernels, manifest, and the entry for Python where asked for."""
    from tensorc.artefacts.manifest import render_manifest_symbol
    from tensorc.artefacts.python_entry import render_python_entry

    entry = "" if python_stem is None else render_python_entry(python_stem)
    return f"{unit.cpp}\n{render_manifest_symbol(manifest)}{entry}"


def artefact_text(kind: str, unit: CompiledUnit, manifest: Json, library_name: str) -> str:
    """The text of one artefact; `kind` is py, pyi, h, json or cpp."""
    from tensorc.artefacts.header import render_header
    from tensorc.artefacts.loader import render_loader
    from tensorc.artefacts.manifest import render_manifest
    from tensorc.artefacts.stub import render_stub

    stem = PurePath(library_name).stem
    match kind:
        case "py":
            return render_loader(manifest, library_name)
        case "pyi":
            return render_stub(manifest)
        case "h":
            return render_header(kernel_facts(unit), f"{stem}.h", unit.options.prefix)
        case "json":
            return render_manifest(manifest)
        case "cpp":
            return library_text(unit, manifest, stem)
        case _:
            raise ValueError(f"no artefact is called {kind!r}")


def write_artefacts(
    unit: CompiledUnit,
    library_name: str,
    paths: Mapping[str, Path],
    target: Target,
    toolchain: Toolchain | None,
) -> None:
    """Write the artefacts `paths` (kind -> path); `library_name` is the file the Python module looks for.

    All are written or none, and nothing before the library is built. `toolchain` None builds none.

    Raises:
        CompileError: TC0805. ToolchainError: TC0602, TC0603. OutputError: TC0604.
    """
    from tensorc.toolchain.build import build_library
    from tensorc.toolchain.files import write_all

    manifest = unit_manifest(unit, target)
    contents = {
        path: artefact_text(kind, unit, manifest, library_name).encode()
        for kind, path in paths.items()
        if kind != "so"
    }
    if toolchain is None:
        write_all(contents)
        return
    library = paths["so"]
    cpp = library_text(unit, manifest, library.stem if "py" in paths else None)
    build_library(cpp, library, toolchain.compiler, target, toolchain.options, contents)
