"""One engine in its own process (two OpenMP runtimes in one process fight over the cores).

Requests are JSON lines on standard input, answers JSON lines on standard output:

  {"prepare": NAME, "rows": N, "columns": D}    -> {"seconds": first call, compilation included,
                                                    "error": largest error against float64 NumPy,
                                                    "modes": those that exist}
  {"measure": NAME, "mode": "reused", "calls": K} -> {"times": seconds per call}
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from programs import NumPy, jax_programs, make_inputs, torch_programs

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
WARM_UP_CALLS = 2  # per batch: another engine had the caches in between

Call = Callable[[], Any]


class NumPyEngine:
    """NumPy, whose elementwise operations use one thread."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def prepare(self, name: str, inputs: tuple[np.ndarray, ...]) -> dict[str, Call]:
        fresh, reused = NumPy.fresh(name), NumPy.reused(name)
        out = fresh(*inputs)
        return {"fresh": lambda: fresh(*inputs), "reused": lambda: (reused(*inputs, out), out)[1]}


class TensorcEngine:
    """tensorc through its library interface, every call with its checks."""

    math = "strict"

    def __init__(self, threads: int) -> None:
        import tensorc

        self.compile, self.threads = tensorc.compile, threads

    def prepare(self, name: str, inputs: tuple[np.ndarray, ...]) -> dict[str, Call]:
        kernel = self.compile(EXAMPLES / f"{name}.tdsl", math=self.math)[name]
        out = kernel(*inputs, threads=self.threads)
        return {
            "fresh": lambda: kernel(*inputs, threads=self.threads),
            "reused": lambda: kernel(*inputs, out=out, threads=self.threads),
        }


class FastEngine(TensorcEngine):
    """The same with math=fast."""

    math = "fast"


class InductorEngine:
    """`torch.compile` with its default backend; a reused output is written by `copy_`, which it fuses."""

    def __init__(self, threads: int) -> None:
        import torch

        self.torch = torch
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def prepare(self, name: str, inputs: tuple[np.ndarray, ...]) -> dict[str, Call]:
        function = torch_programs(self.torch)[name]
        tensors = tuple(map(self.torch.from_numpy, inputs))
        out = self.torch.empty_like(function(*tensors))
        fresh = self.torch.compile(lambda *args: function(*args), dynamic=False)
        into = self.torch.compile(lambda out, *args: out.copy_(function(*args)), dynamic=False)
        return {"fresh": lambda: fresh(*tensors), "reused": lambda: into(out, *tensors)}


class JaxEngine:
    """`jax.jit` (XLA). It has no way to write into a given array."""

    def __init__(self, threads: int) -> None:
        import jax

        self.jax, self.threads = jax, threads

    def prepare(self, name: str, inputs: tuple[np.ndarray, ...]) -> dict[str, Call]:
        function = self.jax.jit(jax_programs(self.jax)[name])
        arrays = tuple(map(self.jax.numpy.asarray, inputs))
        return {"fresh": lambda: self.jax.block_until_ready(function(*arrays))}


ENGINES = {
    "tensorc": TensorcEngine,
    "tensorc-fast": FastEngine,
    "numpy": NumPyEngine,
    "inductor": InductorEngine,
    "jax": JaxEngine,
}


def largest_error(name: str, inputs: tuple[np.ndarray, ...], result: Any) -> float:
    want = NumPy.fresh(name)(*(a.astype(np.float64) for a in inputs))
    return float(np.abs(np.asarray(result) - want).max())


class Worker:
    """The calls of one engine, prepared once and measured in batches."""

    def __init__(self, engine: str, threads: int) -> None:
        self.engine = ENGINES[engine](threads)
        self.calls: dict[str, dict[str, Call]] = {}

    def prepare(self, name: str, rows: int, columns: int) -> dict[str, Any]:
        inputs = make_inputs(name, rows, columns)
        start = time.perf_counter()
        calls = self.engine.prepare(name, inputs)
        results = {mode: call() for mode, call in calls.items()}
        seconds = time.perf_counter() - start
        self.calls[name] = calls
        errors = [largest_error(name, inputs, result) for result in results.values()]
        return {"seconds": seconds, "error": max(errors), "modes": list(calls)}

    def measure(self, name: str, mode: str, calls: int) -> dict[str, Any]:
        call = self.calls[name][mode]
        times = []
        for _ in range(calls + WARM_UP_CALLS):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return {"times": times[WARM_UP_CALLS:]}


def main(engine: str, threads: str) -> None:
    worker = Worker(engine, int(threads))
    for line in sys.stdin:
        request = json.loads(line)
        if "prepare" in request:
            answer = worker.prepare(request["prepare"], request["rows"], request["columns"])
        else:
            answer = worker.measure(request["measure"], request["mode"], request["calls"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
