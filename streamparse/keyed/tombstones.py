"""Tombstones: the keys of generations that failed or expired, whose remaining chunks are dropped.

In:  keys as they fail or expire, and the time.
Out: whether a key has a tombstone. Tombstones expire, and the oldest is evicted at the maximum.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable


class Tombstones(OrderedDict[Hashable, float]):
    """Each key with the time of its last chunk; at most ``at_most`` are kept.

    >>> tombstones = Tombstones(2)
    >>> tombstones.add("a", 1.0), tombstones.add("b", 2.0), tombstones.add("a", 3.0), tombstones.add("c", 4.0)
    (None, None, None, None)
    >>> list(tombstones), tombstones.forget_before(3.5), list(tombstones)
    (['a', 'c'], None, ['c'])
    """

    def __init__(self, at_most: int) -> None:
        super().__init__()
        self._at_most = at_most

    def add(self, key: Hashable, now: float) -> None:
        """Add a key, or note that a chunk came for it."""
        self[key] = now
        self.move_to_end(key)
        if len(self) > self._at_most:
            self.popitem(last=False)

    def forget_before(self, moment: float) -> None:
        """Expire the keys whose last chunk came before a moment."""
        while self and next(iter(self.values())) < moment:
            self.popitem(last=False)
