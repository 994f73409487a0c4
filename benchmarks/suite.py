"""`make bench`: the programs of `programs.py` in every installed engine, in interleaved rounds.

Times on a shared machine drift, so engines take turns: in each round every engine runs a small batch of each
program, with a fresh output and with a reused one. Read the ratios; the microseconds are this machine's.
Writes a table (results.md) and every figure (results.json) into build/bench.

With --strictness tensorc takes turns with itself under math=fast, and the ratio is what strictness costs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
NEEDS = {"tensorc": "tensorc", "numpy": "numpy", "inductor": "torch", "jax": "jax"}
STRICTNESS = ("tensorc", "tensorc-fast")
PROGRAMS = ("chain", "epilogue", "wall", "softmax", "layernorm")
MODES = ("reused", "fresh")
PAUSE = 0.02  # seconds between batches: the last engine's threads must have gone to sleep


@dataclass(slots=True)
class Cell:
    """What one engine reached on one program: seconds per call in each mode, and its largest error."""

    compile_seconds: float
    error: float
    times: dict[str, list[float]] = field(default_factory=dict)

    def best(self, mode: str) -> float | None:
        return min(self.times[mode]) if mode in self.times else None

    def median(self, mode: str) -> float | None:
        return statistics.median(self.times[mode]) if mode in self.times else None


class Engine:
    """A worker process; requests block until it answers, so that engines never run at the same time."""

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, HERE / "worker.py", name, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(threads),
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"bench: the {self.name} process died on {request}")
        return dict(json.loads(answer))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def _environment(threads: int) -> dict[str, str]:
    """The caller's, with thread counts pinned and without settings that would pick another BLAS kernel."""
    env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    pinned = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**env, **dict.fromkeys(pinned, str(threads))}


def run_suite(args: argparse.Namespace) -> dict[str, dict[str, Cell]]:
    """program -> engine -> cell."""
    engines = [Engine(name, args.threads) for name in args.engines]
    cells: dict[str, dict[str, Cell]] = {}
    for program in args.programs:
        cells[program] = {}
        for engine in engines:
            answer = engine.ask(prepare=program, rows=args.rows, columns=args.columns)
            times: dict[str, list[float]] = {mode: [] for mode in answer["modes"]}
            cells[program][engine.name] = Cell(answer["seconds"], answer["error"], times)
    for number in range(args.rounds):
        for program, mode in ((p, m) for p in args.programs for m in MODES):
            # The order turns with the rounds: nobody always runs after the same neighbour.
            for engine in engines[number % len(engines) :] + engines[: number % len(engines)]:
                measure_batch(engine, program, mode, args.calls, cells[program][engine.name])
    for engine in engines:
        engine.close()
    return cells


def measure_batch(engine: Engine, program: str, mode: str, calls: int, cell: Cell) -> None:
    if mode not in cell.times:
        return
    time.sleep(PAUSE)
    cell.times[mode] += engine.ask(measure=program, mode=mode, calls=calls)["times"]


def format_table(cells: dict[str, dict[str, Cell]], engines: list[str]) -> str:
    """Markdown: `min / median` in microseconds, the largest error, and best peer / tensorc by the medians."""
    head = ["program", "output", *engines, "best peer / tensorc", *(f"error {e}" for e in engines)]
    rows = [head, ["---"] * len(head)]
    for program, by_engine in cells.items():
        for mode in MODES:
            times = [format_time(by_engine[e], mode) for e in engines]
            errors = [f"{by_engine[e].error:.1e}" for e in engines]
            rows.append([program, mode, *times, format_ratio(by_engine, mode), *errors])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def format_strictness(cells: dict[str, dict[str, Cell]]) -> str:
    """Markdown: both modes' times, and strict / fast by minimum and by median."""
    rows = [
        ["program", "output", "strict", "fast", "strict / fast", "error strict", "error fast"],
        ["---"] * 7,
    ]
    for program, by_engine in cells.items():
        strict, fast = (by_engine[e] for e in STRICTNESS)
        for mode in MODES:
            ratios = [f(strict.times[mode]) / f(fast.times[mode]) for f in (min, statistics.median)]
            times = [format_time(cell, mode) for cell in (strict, fast)]
            errors = [f"{cell.error:.1e}" for cell in (strict, fast)]
            rows.append([program, mode, *times, " / ".join(f"{r:.2f}" for r in ratios), *errors])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def format_time(cell: Cell, mode: str) -> str:
    best, median = cell.best(mode), cell.median(mode)
    return "-" if best is None or median is None else f"{best * 1e6:.0f} / {median * 1e6:.0f}"


def peer_times(cell: Cell, mode: str) -> list[float]:
    """A peer's times in `mode`; for reused outputs those of its faster mode: its allocator may do as much."""
    modes = [m for m in (mode, "fresh") if m in cell.times]
    return min((cell.times[m] for m in modes), key=statistics.median)


def format_ratio(by_engine: dict[str, Cell], mode: str) -> str:
    """Fastest peer's time over tensorc's, by minimum and by median; above 1, tensorc is faster."""
    if "tensorc" not in by_engine or len(by_engine) == 1:
        return "-"
    ours = by_engine["tensorc"].times[mode]
    peers = {name: peer_times(cell, mode) for name, cell in by_engine.items() if name != "tensorc"}
    return f"{compare(ours, peers, min)} / {compare(ours, peers, statistics.median)}"


def compare(ours: list[float], peers: dict[str, list[float]], measure: Callable[[list[float]], float]) -> str:
    name = min(peers, key=lambda n: measure(peers[n]))
    return f"{measure(peers[name]) / measure(ours):.2f} {name}"


def parse_arguments(argv: list[str]) -> argparse.Namespace:
    installed = [e for e, module in NEEDS.items() if importlib.util.find_spec(module) is not None]
    parser = argparse.ArgumentParser(description="tensorc beside the installed peers")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--engines", nargs="+", choices=installed, default=installed)
    parser.add_argument("--strictness", action="store_true", help="strict beside math=fast, no peers")
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=10, help="calls per batch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=HERE.parent / "build" / "bench")
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    args = parse_arguments(argv)
    if args.strictness:
        args.engines = list(STRICTNESS)
    missing = [NEEDS[e] for e in NEEDS if e not in args.engines]
    cells = run_suite(args)
    table = format_strictness(cells) if args.strictness else format_table(cells, args.engines)
    title = (
        f"f32 {args.rows} x {args.columns}, {args.threads} threads, {platform.machine()},"
        f" {args.rounds} rounds of {args.calls} calls; microseconds, minimum / median"
    )
    print(f"{title}\n\n{table}")
    if missing and not args.strictness:
        print(f"\nnot measured (not asked for, or not installed): {', '.join(missing)}")
    args.output.mkdir(parents=True, exist_ok=True)
    (args.output / "results.md").write_text(f"{title}\n\n{table}\n", encoding="utf-8")
    figures = {p: {e: asdict(c) for e, c in row.items()} for p, row in cells.items()}
    (args.output / "results.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
