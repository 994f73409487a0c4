"""What is stored and what is computed again, rule by rule and policy by policy."""

from __future__ import annotations

import pytest

from tensorc.driver import CompileOptions, compile_text
from tensorc.loop_ir.program import LoopNode, LoopProgram, Role
from tensorc.source import Source

PARAMS = "x: f32[N, D], y: f32[N, D], z: f32[N, D], w: f32[N, D], v: f32[N, D], r: f32[D]"


def lowered(body: str, policy: str, params: str = PARAMS) -> LoopProgram:
    text = f"kernel f({params}) {{ {body} }}"
    (program,) = compile_text(Source("t", text), CompileOptions(policy=policy, until="lower")).loop
    return program


def nodes(body: str, policy: str) -> list[str]:
    """The operations inlined into each node; `*` marks a node whose value is no result."""
    program = lowered(body, policy)
    temporary = {b.name for b in program.buffers if b.role is Role.TEMPORARY}
    return [" ".join(o.op for o in n.origins) + ("*" if n.buffer in temporary else "") for n in program.nodes]


ALWAYS = {
    "results": ("return x + 1, x * 2", ["add", "mul"]),
    "a chain is one node": ("return relu(sin(x) + y) * 2", ["sin add relu mul"]),
    "reductions": ("s = sum(x); return x + s", ["sum*", "add"]),
    "a row statistic, cheap, for two users": (
        "s = sum(x, axis=1, keepdims=true) + 1; return x * s, x - s",
        ["sum*", "add mul", "add sub"],
    ),
    "cheap values for two users are computed twice": (
        "e = x * 2; return sum(e, axis=1), max(e, axis=1)",
        ["mul sum", "mul max"],
    ),
    "views cost nothing": ("a = x.T[1:, ::2]; return a.T + 1", ["add"]),
    "products": ("return relu(x @ y.T)", ["matmul*", "relu"]),
    "a product reads views where they are": ("return x.T @ y", ["matmul"]),
    "but not expressions": ("return exp(x) @ y.T", ["exp*", "matmul"]),
    "under a view": ("a = x + 1; return a.T @ y", ["add*", "matmul"]),
    "a parameter returned is a copy": ("return x", ["copy"]),
    "a result twice is computed once": ("return x + 1, x + 1", ["add", "copy"]),
    "a result used again is read": ("a = exp(x); return a, a + 1", ["exp", "add"]),
    "broadcast along a leading axis, dear": ("return x * exp(r)", ["exp*", "mul"]),
    "broadcast along a leading axis, cheap": ("return x * (r * 2)", ["mul mul"]),
    "dead values are not lowered": ("a = exp(y); return x + 1", ["add"]),
}


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
@pytest.mark.parametrize("case", ALWAYS)
def test_under_both_policies(case: str, policy: str) -> None:
    body, expected = ALWAYS[case]
    assert nodes(body, policy) == expected


LONG = " + ".join(["x * y"] + [f"relu(x - {k}.5)" for k in range(17)])  # 52 operations, cheap
LONG_OPS = " ".join(["mul", *["sub relu add"] * 17])
LONGER = " + ".join(f"x * {k}.5" for k in range(40))  # 79 operations
APART = {
    "dear, all users in one row loop": (
        "e = tanh(x); return sum(e, axis=1), max(e, axis=1)",
        ["tanh*", "sum", "max"],
        ["tanh sum", "tanh max"],  # not among that policy's dear functions
    ),
    "exp for rows": (
        "e = exp(x); return sum(e, axis=1), max(e, axis=1)",
        ["exp*", "sum", "max"],
        ["exp*", "sum", "max"],
    ),
    "exp for columns": (
        "e = exp(x); return sum(e, axis=0), max(e, axis=0)",
        ["exp sum", "exp max"],
        ["exp*", "sum", "max"],
    ),
    "exp around a full sum": (
        "e = exp(x); return e / sum(e)",
        ["exp sum*", "exp div"],
        ["exp*", "sum*", "div"],
    ),
    "many cheap operations, for rows": (
        f"e = {LONG}; return sum(e, axis=1), max(e, axis=1)",
        [f"{LONG_OPS}*", "sum", "max"],
        [f"{LONG_OPS}*", "sum", "max"],
    ),
    "between 50 and 64 operations, for columns": (
        f"e = {LONG}; return sum(e, axis=0), max(e, axis=0)",
        [f"{LONG_OPS} sum", f"{LONG_OPS} max"],
        [f"{LONG_OPS}*", "sum", "max"],
    ),
    "more than 4 buffers read": (
        "e = x + y + z + w + v; return sum(e, axis=1), max(e, axis=1)",
        ["add add add add sum", "add add add add max"],
        ["add add add add*", "sum", "max"],
    ),
}


@pytest.mark.parametrize("case", APART)
def test_where_the_policies_differ(case: str) -> None:
    body, default, inductor = APART[case]
    assert nodes(body, "default") == default
    assert nodes(body, "inductor-2.8") == inductor


def test_large_expressions_with_several_users_are_stored() -> None:
    """The whole expression, not a part of it that has passed the limit."""
    for tail in ("return sum(e, axis=1), max(e, axis=0)", "return e + 1, sum(e)"):
        program = lowered(f"e = {LONGER}; {tail}", "default")
        stored = [b for b in program.buffers if b.role is Role.TEMPORARY]
        assert len(stored) == 1
        first, *others = (len(n.body) for n in program.nodes if isinstance(n, LoopNode))
        assert first > 79
        assert sum(others) < 10
    assert len(lowered(f"e = {LONGER}; return e + 1", "default").nodes) == 1


# -- no blow-up: what is computed again stays bounded


def operation_counts(body: str, policy: str, params: str = "x: f32[N, N]") -> list[int]:
    return [len(n.body) for n in lowered(body, policy, params).nodes if isinstance(n, LoopNode)]


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
def test_sixty_squarings_used_twice(policy: str) -> None:
    body = "y0 = x + 1\n" + "\n".join(f"y{k + 1} = y{k} * y{k}" for k in range(60))
    assert sum(operation_counts(f"{body}\nreturn y60 + 1, sum(y60)", policy)) < 300


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
def test_sixty_products_with_the_transposed(policy: str) -> None:
    """Every level doubles the elements that inlining would compute."""
    body = "y0 = x + 1\n" + "\n".join(f"y{k + 1} = y{k} * y{k}.T" for k in range(60))
    assert sum(operation_counts(f"{body}\nreturn y60", policy)) < 600


@pytest.mark.parametrize("policy", ["default", "inductor-2.8"])
def test_forty_stencils_in_a_chain(policy: str) -> None:
    """Level k of a two-point stencil is needed at k + 1 places, each computed once."""
    body = "y0 = x\n" + "\n".join(f"y{k + 1} = y{k}[1:] * y{k}[:-1]" for k in range(40))
    assert sum(operation_counts(f"{body}\nreturn y40", policy, "x: f32[N]")) <= 41 * 42 / 2 + 41
