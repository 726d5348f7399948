"""The keyed operator as a stage of a graph whose items are made of its events, in batches or one by one.

In:  pairs ``(key, chunk)``.
Out: the items that a function makes of ``[(key, events), …]``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from streamparse.keyed.operator import Events, KeyedParser, Pair


class KeyedStage:
    """A ``KeyedParser`` with a function of what it gives, which is called each time, whether there are events or not.

    >>> stage = KeyedStage(KeyedParser("qwen3", prefix=""), lambda pairs: [len(pairs)])
    >>> stage.feed([("a", "Hello"), ("b", "Hello")]), stage.feed([])
    ([2], [0])
    """

    takes_batches = True

    def __init__(self, keyed: KeyedParser, items_of: Callable[[Events], list[Any]]) -> None:
        self.name = keyed.name
        self._keyed = keyed
        self._items_of = items_of

    def feed(self, batch: Collection[Pair]) -> list[Any]:
        """The items of a batch."""
        return self._items_of(self._keyed.feed(batch))

    def finish(self) -> list[Any]:
        """The last items."""
        return self._items_of(self._keyed.finish())
