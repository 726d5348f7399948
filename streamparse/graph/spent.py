"""Keys whose generation ended before its time: what still comes for them is the rest of it, and is dropped.

In:  keys as they fail or expire, and the time.
Out: whether a key is one of them. They are forgotten in time, and the oldest when there are too many.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable


class Spent(OrderedDict[Hashable, float]):
    """The keys, and since when something came for them last; ``at_most`` so many are remembered.

    >>> spent = Spent(2)
    >>> spent.add("a", 1.0), spent.add("b", 2.0), spent.add("a", 3.0), spent.add("c", 4.0)
    (None, None, None, None)
    >>> list(spent), spent.forget_before(3.5), list(spent)
    (['a', 'c'], None, ['c'])
    """

    def __init__(self, at_most: int) -> None:
        super().__init__()
        self._at_most = at_most

    def add(self, key: Hashable, now: float) -> None:
        """Note a key whose generation has ended before its time, or for which something came since."""
        self[key] = now
        self.move_to_end(key)
        if len(self) > self._at_most:
            self.popitem(last=False)

    def forget_before(self, moment: float) -> None:
        """Forget the keys for which nothing came since."""
        while self and next(iter(self.values())) < moment:
            self.popitem(last=False)
