"""Long programs: every stage takes seconds at most, and no stage recurses on length."""

from __future__ import annotations

import pytest

from tensorc.driver import CompileOptions, StageReport, compile_text
from tensorc.source import Source

SECONDS = 12.0
"""For one stage on a busy machine; each takes well under a second to two on an idle one."""


def statements(first: str, step: str, count: int, last: str) -> str:
    lines = [f"y0 = {first}", *(step.format(k=k, n=k + 1) for k in range(count)), f"return {last}"]
    return "\n".join(lines)


PROGRAMS = {
    "a sum of 3,000 terms": ("x: f32[N]", "return " + " + ".join(f"x * {k}.5" for k in range(3000))),
    "2,000 assignments": ("x: f32[N]", statements("x", "y{n} = y{k} + {k}.5", 2000, "y2000")),
    "3,000 nested calls": ("x: f32[N]", statements("x", "y{n} = abs(y{k}); z{n} = y{n}", 1500, "y1500")),
    "200 row sums in one loop": (
        "x: f32[N, D]",
        statements("x", "y{n} = y{k} - sum(y{k}, axis=1, keepdims=true)", 200, "y200"),
    ),
    "100 full sums one after another": ("x: f32[N]", statements("x", "y{n} = y{k} - sum(y{k})", 100, "y100")),
    "200 products": ("x: f32[N, N]", statements("x", "y{n} = y{k} @ x", 200, "y200")),
    "300 results": (
        "x: f32[N]",
        "return " + ", ".join(f"x + {k}.5" for k in range(300)),
    ),
    "30 stencils": ("x: f32[N]", statements("x", "y{n} = y{k}[1:] + y{k}[:-1]", 30, "y30")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_stage_takes_seconds(name: str) -> None:
    params, body = PROGRAMS[name]
    taken: dict[str, float] = {}

    def note(report: StageReport) -> None:
        taken[report.stage] = report.seconds

    unit = compile_text(Source("t", f"kernel f({params}) {{\n{body}\n}}"), CompileOptions(verify=False), note)
    assert unit.cpp
    assert all(seconds < SECONDS for seconds in taken.values()), taken
    assert max(map(len, unit.cpp.splitlines())) < 400_000


def test_text_grows_with_the_program() -> None:
    """Twice the products, twice the text: no statement repeats what came before it."""
    sizes = []
    for count in (30, 60, 120):
        body = statements("x", "y{n} = y{k} @ x", count, f"y{count}")
        sizes.append(
            len(compile_text(Source("t", f"kernel f(x: f32[N, N]) {{\n{body}\n}}"), CompileOptions()).cpp)
        )
    first, second = sizes[1] - sizes[0], sizes[2] - sizes[1]
    assert second < 2.3 * first
