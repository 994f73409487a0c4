"""The benchmark programs for every engine, at one place so that all do the same work.

`NumPy.fresh(name)` is a function of the inputs that returns a new array, `NumPy.reused(name)` one that also
takes the array to write into. It computes in the precision of the inputs: float64 gives the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]

# Shapes of the inputs, from the number of rows and of columns.
SHAPES: dict[str, Callable[[int, int], tuple[tuple[int, ...], ...]]] = {
    "chain": lambda n, d: ((n, d),),
    "epilogue": lambda n, d: ((n, d),),
    "wall": lambda n, d: ((n, d),),
    "softmax": lambda n, d: ((n, d),),
    "layernorm": lambda n, d: ((n, d), (d,), (d,)),
}
EPS = 1e-5


def make_inputs(name: str, rows: int, columns: int) -> tuple[np.ndarray, ...]:
    """Standard normal f32 arrays, the same in every process."""
    rng = np.random.default_rng(0)
    return tuple(rng.standard_normal(shape).astype(np.float32) for shape in SHAPES[name](rows, columns))


class NumPy:
    """NumPy as its users write it; reused outputs go through `out=` and in-place operators."""

    @staticmethod
    def fresh(name: str) -> Function:
        return {
            "chain": lambda x: np.maximum(np.sin(x) + 1, 0),
            "epilogue": lambda x: np.maximum((np.sin(x) + 1).sum(axis=1), 0) * 2,
            "wall": _numpy_wall,
            "softmax": _numpy_softmax,
            "layernorm": _numpy_layernorm,
        }[name]

    @staticmethod
    def reused(name: str) -> Function:
        return {
            "chain": _numpy_chain_into,
            "epilogue": _numpy_epilogue_into,
            "wall": _numpy_wall_into,
            "softmax": _numpy_softmax_into,
            "layernorm": _numpy_layernorm_into,
        }[name]


def _numpy_wall(x: np.ndarray) -> np.ndarray:
    y = np.sin(x)
    return np.maximum(y + y.sum(), 0)


def _numpy_softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _numpy_layernorm(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=1, keepdims=True)
    variance = np.mean(centred * centred, axis=1, keepdims=True)
    return centred / np.sqrt(variance + x.dtype.type(EPS)) * w + b


def _numpy_chain_into(x: np.ndarray, out: np.ndarray) -> None:
    np.sin(x, out=out)
    out += 1
    np.maximum(out, 0, out=out)


def _numpy_epilogue_into(x: np.ndarray, out: np.ndarray) -> None:
    z = np.sin(x)
    z += 1
    np.sum(z, axis=1, out=out)
    np.maximum(out, 0, out=out)
    out *= 2


def _numpy_wall_into(x: np.ndarray, out: np.ndarray) -> None:
    np.sin(x, out=out)
    out += out.sum()
    np.maximum(out, 0, out=out)


def _numpy_softmax_into(x: np.ndarray, out: np.ndarray) -> None:
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)


def _numpy_layernorm_into(x: np.ndarray, w: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    np.subtract(x, x.mean(axis=1, keepdims=True), out=out)
    variance = np.mean(out * out, axis=1, keepdims=True)
    out /= np.sqrt(variance + x.dtype.type(EPS))
    out *= w
    out += b


def torch_programs(torch: Any) -> dict[str, Function]:
    """The programs as PyTorch users write them, to be compiled."""

    def epilogue(x: Any) -> Any:
        z = torch.sin(x) + 1
        return torch.relu(z.sum(dim=1)) * 2

    def wall(x: Any) -> Any:
        y = torch.sin(x)
        return torch.relu(y + y.sum())

    return {
        "chain": lambda x: torch.relu(torch.sin(x) + 1),
        "epilogue": epilogue,
        "wall": wall,
        "softmax": lambda x: torch.softmax(x, dim=1),
        "layernorm": lambda x, w, b: torch.nn.functional.layer_norm(x, w.shape, w, b, EPS),
    }


def jax_programs(jax: Any) -> dict[str, Function]:
    """The programs as JAX users write them, to be jitted."""
    jnp = jax.numpy

    def wall(x: Any) -> Any:
        y = jnp.sin(x)
        return jax.nn.relu(y + y.sum())

    def layernorm(x: Any, w: Any, b: Any) -> Any:
        centred = x - x.mean(axis=1, keepdims=True)
        return centred * jax.lax.rsqrt(x.var(axis=1, keepdims=True) + EPS) * w + b

    return {
        "chain": lambda x: jax.nn.relu(jnp.sin(x) + 1),
        "epilogue": lambda x: jax.nn.relu((jnp.sin(x) + 1).sum(axis=1)) * 2,
        "wall": wall,
        "softmax": lambda x: jax.nn.softmax(x, axis=1),
        "layernorm": layernorm,
    }
