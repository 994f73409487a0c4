"""Wheel hook: ship the grammar and the pages of the error codes inside the package.

An editable install reads both from the tree, so nothing is copied there and no copy can go stale.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = {
    "grammar/tdsl.lark": "tensorc/syntax/tdsl.lark",
    "docs/errors": "tensorc/diagnostics/pages",
}


class ShipGrammarAndPages(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `SHIPPED` to a regular wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build_data["force_include"].update(SHIPPED)
