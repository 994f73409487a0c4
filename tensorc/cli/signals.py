"""Requests to end the process leave nothing half-written: they go the way of an exception."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_REQUESTS = (signal.SIGTERM, signal.SIGHUP)


def heed_requests() -> None:
    """SIGTERM and SIGHUP become an exit with the status that a shell would show, 143 and 129."""
    for number in _REQUESTS:
        # whoever ignores one, such as nohup, means it
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _leave)


@contextmanager
def ended_at_once() -> Iterator[None]:
    """For native code, in which no exception can be raised, and with nothing to clean up."""
    heeded = [number for number in _REQUESTS if signal.getsignal(number) is _leave]
    for number in heeded:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, _leave)


def _leave(number: int, _: FrameType | None) -> NoReturn:
    # one more would end the cleaning up
    for request in _REQUESTS:
        signal.signal(request, signal.SIG_IGN)
    sys.exit(128 + number)
