"""Which keys have been idle for too long, without a word for each use.

In:  keys as they begin and end; the time; when a key was used last, which is asked of whoever has it at hand.
Out: the keys that have expired.

Each key is looked at a few times in the time after which it would expire, and put back if it was used; so a use costs
nothing here, and what is done at once depends on the keys that are due and on no others. A key expires after the time
that was asked for, and at most an eighth of it later.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator

_LOOKS = 8  # in the time after which a key expires


class UseOrder:
    """The keys that are open, the one that was looked at longest ago first; a key expires after ``seconds``.

    ``last_used`` tells when a key was used last, in the seconds of ``now``.

    >>> used = {"a": 0.0, "b": 0.0}
    >>> order = UseOrder(60.0, used.__getitem__)
    >>> order.begin("a", 0.0), order.begin("b", 0.0)
    (None, None)
    >>> used["b"] = 30.0
    >>> list(order.expired(65.0)), list(order.expired(130.0))
    (['a'], ['b'])
    """

    def __init__(self, seconds: float, last_used: Callable[[Hashable], float]) -> None:
        self._seconds = seconds
        self._last_used = last_used
        self._looked_at: OrderedDict[Hashable, float] = OrderedDict()

    def begin(self, key: Hashable, now: float) -> None:
        """Note a key that was not known."""
        self._looked_at[key] = now

    def end(self, key: Hashable) -> None:
        """Forget a key."""
        self._looked_at.pop(key, None)

    def expired(self, now: float) -> Iterator[Hashable]:
        """The keys that have expired, which are forgotten with that."""
        looked_at = self._looked_at
        while looked_at:
            key, then = next(iter(looked_at.items()))
            if then > now - self._seconds / _LOOKS:
                break
            if self._last_used(key) < now - self._seconds:
                del looked_at[key]
                yield key
            else:
                looked_at[key] = now
                looked_at.move_to_end(key)
