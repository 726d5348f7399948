"""Work that is too much for the event loop: put off when it comes up, and done in a thread while other tasks run.

In: a machine that puts work off, such as the parsing of a large tool call. Out: the items that come of the work, in
their place. Python's threads take turns every few milliseconds, so such work delays other tasks by as much and no more.

A machine for one stream waits for its work. One for many, the keyed operator, can be fed meanwhile: see
``alongside.py``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Protocol, cast

from anyio import to_thread

from streamparse.graph.aside import Work


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


class FedMeanwhile(Later, Protocol):
    """A machine that can be fed while its work is done: only the work itself may be in another thread."""

    @property
    def full(self) -> bool:
        """Whether so much waits behind the work that it should not be fed before some has been done."""

    def take_work(self) -> Work | None:
        """Give the first piece of the work that nobody has taken."""

    def take_back(self, work: Work) -> Iterable[Any]:
        """Give the items that come of a piece of work that has been done."""


def fed_meanwhile(later: Later | None) -> FedMeanwhile | None:
    """The machine, if it can be fed while its work is done."""
    return cast(FedMeanwhile, later) if hasattr(later, "take_work") else None


async def work_off(later: Later) -> Iterable[Any]:
    """Have the first piece of the work done in a thread, while the machine rests; gives the items that come of it."""
    machine = fed_meanwhile(later)
    if machine is None:
        return await to_thread.run_sync(later.work_off)
    work = machine.take_work()
    if work is None:
        return []
    try:
        await to_thread.run_sync(work.do)
    except BaseException:
        work.taken = False
        raise
    return machine.take_back(work)


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
