"""What `make demo` runs: each example compiled, called, checked against NumPy and timed; then fusion logs."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from reference import EXAMPLES, Example

import tensorc

LOGGED = ("chain", "epilogue", "wall", "mismatch")
ROOT = Path(__file__).resolve().parent.parent


def best_seconds(call: Callable[[], object], rounds: int = 20) -> float:
    """The shortest time of `call`: what is left when nothing else ran beside it."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def format_shapes(arrays: tuple[np.ndarray, ...]) -> str:
    return " ".join("x".join(map(str, a.shape)) for a in arrays)


def run_example(example: Example) -> bool:
    """Compile and run one example, print its line; True when every element is within its bound."""
    kernel = tensorc.compile(example.path)[example.name]
    inputs = example.inputs(example.sizes)
    returned = kernel(*inputs)
    results = returned if isinstance(returned, tuple) else (returned,)
    expected, bounds = example.evaluate(*(a.astype(np.float64) for a in inputs))
    errors = [np.abs(got - want) for got, want in zip(results, expected, strict=True)]
    good = all(bool((error <= bound).all()) for error, bound in zip(errors, bounds, strict=True))

    out = tuple(np.empty_like(r) for r in results)
    seconds = best_seconds(lambda: kernel(*inputs, out=out if len(out) > 1 else out[0]))
    moved = sum(a.nbytes for a in (*inputs, *results))
    print(
        f"{example.name:10} {format_shapes(inputs):42} -> {format_shapes(results):20}"
        f" {seconds * 1e6:8.0f} us {moved / seconds / 1e9:6.1f} GB/s"
        f"   max error {max(float(e.max()) for e in errors):8.2e}  {'ok' if good else 'WRONG'}"
    )
    return good


def print_fusion_log(name: str) -> int:
    """Run `tensorc explain --fusion-log` on an example as a user would; its exit status."""
    command = ["tensorc", "explain", "--fusion-log", f"examples/{name}.tdsl"]
    print(f"\n$ {' '.join(command)}", flush=True)
    tool = Path(sys.executable).with_name(command[0])
    return subprocess.run([tool, *command[1:]], cwd=ROOT, check=False).returncode


def main() -> int:
    good = [run_example(example) for example in EXAMPLES]
    statuses = [print_fusion_log(name) for name in LOGGED]
    print(f"\n{sum(good)} of {len(good)} examples agree with NumPy")
    return 0 if all(good) and not any(statuses) else 1


if __name__ == "__main__":
    sys.exit(main())
