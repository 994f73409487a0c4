"""What the fusion policies differ in, as data."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT = "default"
INDUCTOR = "inductor-2.8"


@dataclass(frozen=True, slots=True)
class FusionPolicy:
    """The limits of the rounds. Sizes in bytes or nodes.

    `inductor_rules`: shapes by Inductor's CPU table, outer-loop fusions in a class of their own, its key;
    otherwise shapes by `nest_shape` alone, and larger savings first.
    """

    name: str
    inductor_rules: bool
    rounds: int = 10
    partners: int = 64  # candidates that follow a node within a buffer's group
    group_nodes: int = 64
    horizontal_nodes: int = 64
    horizontal_saving: int = 10
    horizontal_distance: int = 64
    kept_per_saved: int = 32  # reusable input bytes a fusion may keep alive per byte saved


POLICIES: dict[str, FusionPolicy] = {
    DEFAULT: FusionPolicy(DEFAULT, inductor_rules=False),
    INDUCTOR: FusionPolicy(INDUCTOR, inductor_rules=True, horizontal_nodes=16),
}
