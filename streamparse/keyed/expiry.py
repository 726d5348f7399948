"""Idle timeout without bookkeeping on every use.

In:  keys as they begin and end; the time; ``last_used(key)``.
Out: the keys that have expired.

Each key is checked eight times per timeout, oldest check first, and goes to the end of the queue if it was used. So a
use costs nothing here, and each call looks only at keys that are due. A key expires after the timeout, and at most an
eighth of it later.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator

_CHECKS = 8  # per timeout


class IdleTimeout:
    """The open keys, least recently checked first; a key expires after ``seconds``.

    ``last_used(key)`` is the time of its last use, on the clock of ``now``.

    >>> used = {"a": 0.0, "b": 0.0}
    >>> idle = IdleTimeout(60.0, used.__getitem__)
    >>> idle.begin("a", 0.0), idle.begin("b", 0.0)
    (None, None)
    >>> used["b"] = 30.0
    >>> list(idle.expired(65.0)), list(idle.expired(130.0))
    (['a'], ['b'])
    """

    def __init__(self, seconds: float, last_used: Callable[[Hashable], float]) -> None:
        self._seconds = seconds
        self._last_used = last_used
        self._checked_at: OrderedDict[Hashable, float] = OrderedDict()

    def begin(self, key: Hashable, now: float) -> None:
        """Add a key."""
        self._checked_at[key] = now

    def end(self, key: Hashable) -> None:
        """Remove a key."""
        self._checked_at.pop(key, None)

    def expired(self, now: float) -> Iterator[Hashable]:
        """Remove and return the keys that have expired."""
        checked_at = self._checked_at
        while checked_at:
            key, then = next(iter(checked_at.items()))
            if then > now - self._seconds / _CHECKS:
                break
            if self._last_used(key) < now - self._seconds:
                del checked_at[key]
                yield key
            else:
                checked_at[key] = now
                checked_at.move_to_end(key)
