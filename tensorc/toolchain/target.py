"""What a kernel is built for: compiler flags, and the CPU features whoever loads it must have.

Feature names are Linux's (`/proc/cpuinfo`), which the loader reads too. `native` is resolved here to the
features of this machine, so that no later stage looks at the hardware.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tensorc.diagnostics.model import CompileError, Diagnostic

_V2 = ("cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3")
_V3 = (*_V2, "abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
_LEVELS = {"x86-64": (), "x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}

# Every feature that `-march=native` may turn on and that changes which instructions are emitted.
_X86_FEATURES = (
    *_V4,
    *("adx", "aes", "avx512_bf16", "avx512_bitalg", "avx512_fp16", "avx512_vbmi2", "avx512_vnni"),
    *("avx512_vpopcntdq", "avx512ifma", "avx512vbmi", "avx_vnni", "clflushopt", "clwb", "fma4", "gfni"),
    *("pclmulqdq", "rdrand", "rdseed", "sha_ni", "sse4a", "tbm", "vaes", "vpclmulqdq", "xop"),
    *("xsave", "xsavec", "xsaveopt", "xsaves"),
)
_ARM_FEATURES = ("asimd", "asimddp", "asimdhp", "bf16", "fphp", "i8mm", "sve", "sve2")


# What `__builtin_cpu_supports` of every supported compiler can be asked, by the name it wants. A CPU with
# these has the rest of its level.
_BUILTIN_NAMES = {
    "popcnt": "popcnt",
    "ssse3": "ssse3",
    "sse4_1": "sse4.1",
    "sse4_2": "sse4.2",
    "avx": "avx",
    "avx2": "avx2",
    "bmi1": "bmi",
    "bmi2": "bmi2",
    "fma": "fma",
    "avx512f": "avx512f",
    "avx512bw": "avx512bw",
    "avx512cd": "avx512cd",
    "avx512dq": "avx512dq",
    "avx512vl": "avx512vl",
}


@dataclass(frozen=True, slots=True)
class Host:
    """This machine: `arch` as `platform.machine()` says it; `features` is empty where unknown."""

    arch: str
    features: frozenset[str]

    @property
    def is_x86_64(self) -> bool:
        return self.arch in ("x86_64", "AMD64")


@dataclass(frozen=True, slots=True)
class Target:
    """`features` are needed to run the code; `arch` is the machine type it is for."""

    name: str
    arch: str
    flags: tuple[str, ...]
    features: tuple[str, ...]

    @property
    def has_fma(self) -> bool:
        """Whether a fused multiply-add is an instruction."""
        return "fma" in self.features or self.arch in ("aarch64", "arm64")

    @property
    def builtin_features(self) -> tuple[str, ...]:
        """The features that C code can test, by the names that `__builtin_cpu_supports` takes."""
        return tuple(_BUILTIN_NAMES[f] for f in self.features if f in _BUILTIN_NAMES)


@lru_cache(maxsize=1)
def probe_host() -> Host:
    """The machine this process runs on."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return Host(platform.machine(), frozenset(_first_flags(text)))


def _first_flags(cpuinfo: str) -> list[str]:
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return value.split()
    return []


def target_names(host: Host) -> tuple[str, ...]:
    """The names `--target` takes on this machine."""
    return ("native", "generic", *(_LEVELS if host.is_x86_64 else ()))


def default_target(host: Host) -> Target:
    """What `compile` builds for: x86-64-v3 where this machine has it, else the compiler's baseline."""
    if host.is_x86_64 and host.features.issuperset(_V3):
        return resolve_target("x86-64-v3", host)
    return resolve_target("generic", host)


def resolve_target(name: str, host: Host) -> Target:
    """The target called `name`.

    Raises:
        CompileError: TC0605, no such target on this machine.
    """
    if name == "generic":
        return Target(name, host.arch, (), ())
    if name == "native":
        known = _X86_FEATURES if host.is_x86_64 else _ARM_FEATURES
        flag = "-march=native" if host.is_x86_64 else "-mcpu=native"
        return Target(name, host.arch, (flag,), tuple(sorted(host.features.intersection(known))))
    if host.is_x86_64 and name in _LEVELS:
        return Target(name, host.arch, (f"-march={name}",), tuple(sorted(_LEVELS[name])))
    raise CompileError(
        [
            Diagnostic(
                "TC0605",
                f"unknown target '{name}'",
                None,
                notes=(f"targets on this machine: {', '.join(target_names(host))}",),
            )
        ]
    )
