"""Work that is too much for the event loop: put off when it comes up, and done in a thread while other tasks run.

In: a machine that puts work off, such as the parsing of a large tool call. Out: the items that come of the work, in
their place. Python's threads take turns every few milliseconds, so such work delays other tasks by as much and no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol


class Later(Protocol):
    """A machine that puts work off."""

    @property
    def waiting(self) -> bool:
        """Whether there is work that was put off; until it is done, items that are fed wait behind it."""

    @property
    def ends_large(self) -> bool:
        """Whether to finish may be too much work for the event loop."""

    def work_off(self) -> Iterable[Any]:
        """Do the first piece of the work, in another thread; gives the items that come of it."""


class PutOff:
    """A machine that puts off the items of which ``is_large`` says that they are much work, and those behind them.

    >>> machine = PutOff("double", lambda item: [item * 2], list, lambda item: item > 9)
    >>> machine.feed(1), machine.feed(10), machine.feed(2)
    ([2], [], [])
    >>> machine.work_off(), machine.work_off(), machine.waiting
    ([20], [4], False)
    """

    ends_large = False

    def __init__(
        self,
        name: str,
        feed: Callable[[Any], Iterable[Any]],
        finish: Callable[[], Iterable[Any]],
        is_large: Callable[[Any], bool],
    ) -> None:
        self.name = name
        self.finish = finish
        self._feed = feed
        self._is_large = is_large
        self._items: deque[Any] = deque()

    @property
    def waiting(self) -> bool:
        """Whether items wait."""
        return bool(self._items)

    def feed(self, item: Any) -> Iterable[Any]:
        """What follows from an item; nothing yet where it has to wait."""
        if self._is_large(item) or self._items:
            self._items.append(item)
            return []
        return self._feed(item)

    def work_off(self) -> Iterable[Any]:
        """What follows from the first item that waits."""
        return self._feed(self._items.popleft())
