"""The conformance cases: one test each, run in a child process that a crash or a hang of one case may end."""

from __future__ import annotations

import pytest
from cases import CASES, PROGRAMS, Case
from run_cases import run_isolated
from running import check_reference, mode_of

BY_KEY = {c.key: c for c in CASES}
WITH_REFERENCE = [c for c in CASES if c.ref is not None and mode_of(c) != "script"]


@pytest.fixture(scope="module")
def verdicts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str | None]:
    """What came of every case that this run has selected."""
    keys = [
        item.callspec.params["key"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.originalname == "test_case"
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return dict(run_isolated(keys, timeout=120))


@pytest.mark.parametrize("key", [c.key for c in CASES])
def test_case(verdicts: dict[str, str | None], key: str) -> None:
    assert verdicts[key] is None, f"{verdicts[key]} -- {BY_KEY[key].kind}"


@pytest.mark.parametrize("case", WITH_REFERENCE, ids=lambda c: c.key)
def test_right_values_have_two_sources(case: Case) -> None:
    """The reference in plain NumPy gives what the case expects, within what the case allows."""
    check_reference(case)


def test_every_program_has_a_case() -> None:
    assert {c.tdsl for c in CASES} == {p.name for p in PROGRAMS.glob("*.tdsl")}
    assert len(BY_KEY) == len(CASES)
