"""What the loader asks of the process it is in: how many threads to use, what the CPU can do.

Part of every generated `kernel.py`: nothing of tensorc is imported but loader modules.
"""

from __future__ import annotations

import operator
import os
from functools import lru_cache
from typing import Any

PROCESS = os.getpid()


@lru_cache(maxsize=1)
def default_threads() -> int:
    """OMP_NUM_THREADS, else the CPUs this process may use: its affinity, cut to its cgroup's quota."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdigit() and int(first) > 0:
        return int(first)
    if hasattr(os, "sched_getaffinity"):
        cpus = len(os.sched_getaffinity(0))
    else:
        cpus = os.cpu_count() or 1
    quota = _cgroup_quota()
    return max(1, min(cpus, int(quota))) if quota else max(1, cpus)


def _cgroup_quota() -> float | None:
    """CPUs' worth of time the cgroup allows, None when it sets no limit."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as f:
            own = [line.strip().split(":", 2)[2] for line in f if line.startswith("0::")]
    except (OSError, IndexError):
        own = []
    folder = ("/sys/fs/cgroup" + own[0]).rstrip("/") if own else "/sys/fs/cgroup"
    limits = []
    while folder.startswith("/sys/fs/cgroup"):
        words = _read_words(folder + "/cpu.max")
        if len(words) == 2 and words[0].isdigit():
            limits.append(int(words[0]) / int(words[1]))
        folder = os.path.dirname(folder)
    v1 = _read_words("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    period = _read_words("/sys/fs/cgroup/cpu/cpu.cfs_period_us")
    if v1 and period and v1[0].isdigit():
        limits.append(int(v1[0]) / int(period[0]))
    return min(limits, default=None)


def _read_words(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as f:
            return f.read().split()
    except OSError:
        return []


def thread_count(name: str, threads: Any) -> int:
    """A forked child stays serial: an OpenMP pool does not survive a fork, and using it would hang."""
    if threads is None:
        return 1 if os.getpid() != PROCESS else default_threads()
    try:
        count = operator.index(threads)
    except TypeError:
        raise TypeError(f"{name}(): threads must be an integer, not {type(threads).__name__}") from None
    if not 1 <= count <= 0x7FFFFFFF:
        raise ValueError(f"{name}(): threads must be from 1 to {0x7FFFFFFF}, not {count}")
    return 1 if os.getpid() != PROCESS else count


def _cpu_features() -> frozenset[str] | None:
    """The features of this CPU by Linux's names, None where there is no /proc/cpuinfo."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            for line in f:
                key, _, value = line.partition(":")
                if key.strip() in ("flags", "Features"):
                    return frozenset(value.split())
    except OSError:
        pass
    return None


def check_cpu(manifest: dict[str, Any], library: str) -> None:
    """Raise ImportError when this CPU cannot run the library's instructions."""
    target = manifest["target"]
    present = _cpu_features()
    if present is None:
        return
    missing = [f for f in target["features"] if f not in present]
    if missing:
        raise ImportError(
            f"{library} was compiled for {target['name']}; this CPU lacks {', '.join(missing)} "
            "(compile it again with another --target)"
        )
