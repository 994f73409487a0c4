from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tensorc.interp.elementary_library import ElementaryLibrary

# the builder of tensor programs is shared with the unit tests
sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))


@pytest.fixture(scope="session")
def elementary(tmp_path_factory: pytest.TempPathFactory) -> ElementaryLibrary:
    """The runtime's own elementary functions, built for this machine as the kernels are."""
    return ElementaryLibrary.build(tmp_path_factory.mktemp("elementary"))
