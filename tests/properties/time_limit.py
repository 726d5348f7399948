"""A limit for what may hang: without it a fault that never ends could not be reported, and no example be made small."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SECONDS = 5.0


class NeverEndedError(Exception):
    """Something that takes milliseconds was still running at the limit."""


@contextmanager
def ended_in_time(seconds: float = SECONDS) -> Iterator[None]:
    """Raise NeverEndedError in the body when the time is up; on systems without interval timers there is no limit."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: Any) -> None:
        raise NeverEndedError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
