"""Why two groups of nodes fused or did not: stable codes (20 allowed, 21 refused) and their sentences.

Templates are filled with names as the log prints them. A rule that knows more than its template says (the
shape rule in `nest_shape`) brings its own sentence under the same code.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """One decision's code and sentence; codes TC20.. allow, TC21.. refuse."""

    code: str
    sentence: str

    @property
    def allows(self) -> bool:
        return self.code.startswith("TC20")


VERTICAL = "TC2001"
HORIZONTAL = "TC2002"
OUTER_LOOP = "TC2003"
JOINT_RANGES = "TC2004"
WAITS = "TC2005"

EXTERN = "TC2101"
FULL_REDUCTION = "TC2102"
LOOP_SHAPES = "TC2103"
ACCESS = "TC2104"
NO_SHARED_DATA = "TC2105"
DEPS_DIFFER = "TC2106"
INTERMEDIATE_NODES = "TC2107"
CYCLE = "TC2108"
WRONG_ORDER = "TC2109"
SMALL_SAVING = "TC2110"
TOO_FAR = "TC2111"
TOO_MANY_NODES = "TC2112"
TOO_MANY_HORIZONTAL = "TC2113"
PEAK_MEMORY = "TC2114"
OUTER_FUSED = "TC2115"
SCAN_ORDER = "TC2116"
GATHERED = "TC2117"

REASONS: dict[str, str] = {
    VERTICAL: "producer and consumer share a loop nest",
    HORIZONTAL: "two groups that read the same data share a loop nest",
    OUTER_LOOP: "producer and consumer share their outer loops",
    JOINT_RANGES: "a flat loop is split to the shape of its partner",
    WAITS: "an outer-loop fusion waits until no other fusion is left",
    EXTERN: "matrix products and empty nodes keep their own nest",
    FULL_REDUCTION: "a full reduction must finish first",
    LOOP_SHAPES: "the loop shapes differ",
    ACCESS: "an element is read in another step than the one that writes it",
    NO_SHARED_DATA: "no shared data",
    DEPS_DIFFER: "memory deps did not match",
    INTERMEDIATE_NODES: "intermediate nodes lie between the two",
    CYCLE: "the fusion would close a cycle",
    WRONG_ORDER: "the second must run before the first",
    SMALL_SAVING: "the saving is below the threshold",
    TOO_FAR: "too far apart in the program",
    TOO_MANY_NODES: "the group would be too large",
    TOO_MANY_HORIZONTAL: "the group would be too large for a horizontal fusion",
    PEAK_MEMORY: "the fusion would raise the peak of memory",
    OUTER_FUSED: "a group with shared outer loops takes no such partner",
    SCAN_ORDER: "a scan runs along its axis in order",
    GATHERED: "what is gathered from must be complete",
}
"""Every code with its title, as the catalogue of diagnostics lists it."""

_SENTENCES: dict[str, str] = {
    VERTICAL: "{second} uses what {first} computes, in the same loops",
    HORIZONTAL: "{first} and {second} read the same elements in the same loops",
    OUTER_LOOP: "{second} uses what {first} computes, in {depth} shared outer loop(s)",
    JOINT_RANGES: "{first} and {second} run over the same elements; the flat loop is split",
    WAITS: "{first} and {second} can share outer loops; other fusions are applied first",
    EXTERN: "{extern} is {what} with a nest of its own",
    FULL_REDUCTION: "every element of {second} needs the finished value of {value}",
    LOOP_SHAPES: "loop shapes differ, {shape1} against {shape2}",
    NO_SHARED_DATA: "no shared data",
    DEPS_DIFFER: "memory deps did not match ({written} is written, {read} is read)",
    INTERMEDIATE_NODES: "intermediate nodes between {first} and {second} ({between})",
    CYCLE: "fusing would close a cycle through {through}",
    WRONG_ORDER: "{second} must go before {first}",
    SMALL_SAVING: "a saving of {shared} B is below {threshold} B",
    TOO_FAR: "{distance} nodes apart, more than {limit}",
    TOO_MANY_NODES: "{count} nodes together, more than {limit}",
    TOO_MANY_HORIZONTAL: "{count} nodes together, more than {limit} for a horizontal fusion",
    PEAK_MEMORY: "{kept} elements of inputs could not be reused, for a saving of {shared} B",
    GATHERED: "{second} gathers from {buffer}, which {first} must have completed",
    OUTER_FUSED: "{outer} shares outer loops already and takes {allowed}",
}


def reason(code: str, **names: object) -> Reason:
    """The reason `code` about `names`."""
    return Reason(code, _SENTENCES[code].format(**names))
