"""The pages of the fusion reasons: their programs give the reason, their log lines are the log's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from front_end import fuse_text

from tensorc.scheduler import events, reasons
from tensorc.scheduler.log import render_text

PAGES = Path(__file__).parents[2] / "docs" / "errors"
TOO_LONG_TO_SHOW = {reasons.TOO_FAR, reasons.TOO_MANY_NODES, reasons.TOO_MANY_HORIZONTAL}


def block(page: str, language: str) -> str | None:
    found = re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return found.group(1) if found else None


@pytest.mark.parametrize("code", sorted(set(reasons.REASONS) - TOO_LONG_TO_SHOW))
def test_the_program_of_a_page_gives_its_reason(code: str) -> None:
    page = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    program = block(page, "tdsl")
    assert program is not None
    policy = "inductor-2.8" if "under `--policy=inductor-2.8` only" in page else "default"
    fused = fuse_text("page.tdsl", program, policy)
    given = {e.reason.code for e in fused.events if isinstance(e, events.PairConsidered | events.PairWaits)}
    assert code in given
    lines = render_text(fused).splitlines()
    missing = [line for line in (block(page, "text") or "").splitlines() if line not in lines]
    assert missing == []
