"""What happened while fusing, in order: the one source of the text log, the JSON and the pages.

Names are the log's (`op0`, `op0_op1`); bytes are at the figures of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorc.scheduler.reasons import Reason
from tensorc.scheduler.score import Saving, Score

VERTICAL = "vertical"
HORIZONTAL = "horizontal"


@dataclass(frozen=True, slots=True)
class NodeRemoved:
    """A node whose value no result needs."""

    node: str
    buffer: str


@dataclass(frozen=True, slots=True)
class SizeAssumed:
    """A dim without a hint: figures take this value."""

    dim: str
    value: int


@dataclass(frozen=True, slots=True)
class RoundStarted:
    round: int
    rounds: int
    nodes: int


@dataclass(frozen=True, slots=True)
class PairConsidered:
    """One look at a pair. `again`: the look just before fusing, at the groups as they then stand.

    `saving` is None when a test before the count refused; `score` is None when refused.
    """

    round: int
    first: str
    second: str
    kind: str
    saving: Saving | None
    reason: Reason
    score: Score | None
    again: bool = False


@dataclass(frozen=True, slots=True)
class PairWaits:
    """An allowed pair that is not tried in this round."""

    round: int
    first: str
    second: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class CandidatesFound:
    round: int
    count: int


@dataclass(frozen=True, slots=True)
class Fused:
    """Two groups became one. `join`: `inner` one body, `outer` shared outer loops; `nest`: its kind."""

    round: int
    first: str
    second: str
    kind: str
    join: str
    nest: str
    saving: Saving
    reason: Reason


@dataclass(frozen=True, slots=True)
class RoundFinished:
    round: int
    rounds: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class FusionFinished:
    rounds: int


Event = (
    NodeRemoved
    | SizeAssumed
    | RoundStarted
    | PairConsidered
    | PairWaits
    | CandidatesFound
    | Fused
    | RoundFinished
    | FusionFinished
)
