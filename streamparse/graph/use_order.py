"""Which keys have been idle for too long: the order of use, kept by the batch and not by the chunk.

In:  keys as they begin, are used, and end; the time.
Out: the keys that have expired, at a cost that depends on their number and on no other.

Time is cut into ticks. The keys that are used in a tick are put into a set, which takes a batch of them at the speed of
C; when the tick has ended they move to the end of the order. So a key expires after the time that was asked for, and at
most a tick later.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator

_TICKS = 8  # in the time after which a key expires
_KEYS_GONE = 100  # so many keys that have ended are no reason to look for them


class UseOrder:
    """The keys that are in use, the one that rests longest first; ``seconds`` is the time after which a key expires.

    >>> order = UseOrder(60.0, now=0.0)
    >>> order.begin("a", 0.0), order.begin("b", 0.0), order.use(["b"])
    (None, None, None)
    >>> list(order.expired(65.0)), list(order.expired(130.0))
    (['a'], ['b'])
    """

    def __init__(self, seconds: float, now: float) -> None:
        self._seconds = seconds
        self._tick_ends = now + seconds / _TICKS
        self._order: OrderedDict[Hashable, float] = OrderedDict()
        self._used: set[Hashable] = set()

    def begin(self, key: Hashable, now: float) -> None:
        """Note a key that was not known."""
        self._order[key] = now

    def use(self, keys: Iterable[Hashable]) -> None:
        """Note that keys are used; those that have ended are passed over."""
        self._used.update(keys)
        if len(self._used) > 2 * len(self._order) + _KEYS_GONE:
            self._used &= self._order.keys()

    def end(self, key: Hashable) -> None:
        """Forget a key."""
        self._order.pop(key, None)

    def expired(self, now: float) -> Iterator[Hashable]:
        """The keys that have expired, which are forgotten with that."""
        if now >= self._tick_ends:
            for key in self._used & self._order.keys():
                self._order[key] = self._tick_ends
                self._order.move_to_end(key)
            self._used.clear()
            self._tick_ends = now + self._seconds / _TICKS
        while self._order:
            key, used = next(iter(self._order.items()))
            if used >= now - self._seconds:
                break
            del self._order[key]
            yield key
