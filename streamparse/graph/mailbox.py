"""A queue from a thread to an event loop, with backpressure on the thread.

In:  items, put by a thread, which waits while the mailbox is full.
Out: batches, taken by a reader in an event loop; each is everything that is there by then.
"""

from __future__ import annotations

import threading
from typing import Any

import anyio

from streamparse.graph.coalescing import weigh


class Mailbox:
    """Carries items from one thread to one reader in an event loop, bounded by weight (``coalescing.weigh``).

    ``capacity`` is that bound; one item is taken whatever it weighs. The reader sets ``wake`` (``soon_caller()``), in
    its loop, before it waits; every other attribute is used under the lock only.
    """

    def __init__(self, capacity: int) -> None:
        self.wake: Any = None
        self._capacity = capacity
        self._changed = threading.Condition()
        self._items: list[Any] = []
        self._weight = 0
        self._stopped = False
        self._ended = False
        self._error: BaseException | None = None
        self._news: anyio.Event | None = None

    def put(self, item: Any) -> bool:
        """Add an item, blocking the thread while the mailbox is full; tell whether more is wanted."""
        weight = weigh(item)
        with self._changed:
            while self._items and self._weight + weight > self._capacity and not self._stopped:
                self._changed.wait()
            if self._stopped:
                return False
            self._items.append(item)
            self._weight += weight
            self._tell()
            return True

    def end(self, error: BaseException | None) -> None:
        """Declare that the thread is done."""
        with self._changed:
            self._ended = True
            self._error = error
            self._tell()

    def stop(self) -> None:
        """Declare that nothing more is wanted."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            self._tell()

    async def take(self) -> list[Any]:
        """Give everything that is there, waiting for something if need be."""
        while True:
            with self._changed:
                if self._items:
                    items, self._items = self._items, []
                    self._weight = 0
                    self._changed.notify_all()
                    return items
                if self._ended or self._stopped:
                    raise self._error or StopAsyncIteration
                news = self._news = self._news or anyio.Event()
            await news.wait()

    async def wait_for_end(self) -> None:
        """Wait until the thread is done."""
        while True:
            with self._changed:
                if self._ended:
                    return
                news = self._news = self._news or anyio.Event()
            await news.wait()

    def _tell(self) -> None:
        """Let the event loop look again; called under the lock."""
        if self._news is not None:
            self.wake(self._news.set)
            self._news = None
