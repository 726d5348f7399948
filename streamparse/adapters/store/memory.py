"""A store in the memory of this process: readers come back to it for as long as the process lives.

In:  the events of generations.
Out: the same, to readers in this process.

A generation keeps its newest events, up to ``history`` bytes of JSON, and the newest always. One that has ended is kept
for ``keep`` seconds, and gives way earlier where ``limit`` generations are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice

import anyio
import anyio.lowlevel

from streamparse.adapters.store.history import (
    ForgottenError,
    NumberedEvent,
    StoreError,
    TakenError,
    WriterLostError,
)
from streamparse.adapters.store.reading import Reading
from streamparse.encode import encode_event
from streamparse.events import RawEvent

_BATCH = 256  # events that a reader takes before others have their turn


class MemoryStore:
    """Keeps generations in this process; needs no closing.

    >>> import anyio
    >>> async def main():
    ...     store = MemoryStore()
    ...     async with store.write("a") as writer:
    ...         await writer.append([{"type": "one"}, {"type": "two"}], last=True)
    ...     return [event async for event in store.follow("a", after=1)]
    >>> anyio.run(main)
    [{'type': 'two'}]
    """

    def __init__(self, *, history: int = 4_000_000, keep: float = 300.0, limit: int = 1000) -> None:
        self._history = history
        self._keep = keep
        self._limit = limit
        self._kept: dict[str, _Kept] = {}
        self._newest: dict[str, str] = {}

    def __repr__(self) -> str:
        return "MemoryStore()"

    @asynccontextmanager
    async def write(self, name: str, *, conversation: str | None = None) -> AsyncIterator[_Kept]:
        """Be the writer of a new generation; raises TakenError, and StoreError where there is no room."""
        self._forget()
        if name in self._kept:
            raise TakenError(f"the generation {name!r} has a writer already; take another name for a new one")
        if len(self._kept) >= self._limit:
            raise StoreError(f"{self._limit} generations are kept, and all of them run; try again later")
        kept = self._kept[name] = _Kept(self._history, conversation)
        if conversation is not None:
            self._newest[conversation] = name
        try:
            yield kept
        finally:
            kept.leave()

    def follow(self, name: str, *, after: int = 0) -> _MemoryReading:
        """Read a generation from the event after a number on."""
        self._forget()
        return _MemoryReading(name, after, self._kept.get(name))

    async def newest(self, conversation: str) -> str | None:
        """The name of the conversation's newest generation, None if there is none that is kept."""
        self._forget()
        return self._newest.get(conversation)

    async def runs(self, name: str) -> bool:
        """Whether a generation has a writer, who has not yet written its last event."""
        return name in self._kept and self._kept[name].left_at is None

    async def stop(self, name: str) -> bool:
        """Ask the writer to stop; False if there is none."""
        if not await self.runs(name):
            return False
        self._kept[name].stopped.set()
        return True

    async def aclose(self) -> None:
        """Do nothing: there are no connections."""

    def _forget(self) -> None:
        """Drop what has been kept for long enough, and what is in the way of a new generation."""
        ended = sorted((kept.left_at, name) for name, kept in self._kept.items() if kept.left_at is not None)
        crowd = len(self._kept) - self._limit + 1
        for place, (left_at, name) in enumerate(ended):
            if place < crowd or left_at + self._keep <= anyio.current_time():
                conversation = self._kept.pop(name).conversation
                if conversation is not None and self._newest.get(conversation) == name:
                    del self._newest[conversation]


class _Kept:
    """One generation, and its writer."""

    def __init__(self, history: int, conversation: str | None) -> None:
        self.conversation = conversation
        self.stopped = anyio.Event()
        self.left_at: float | None = None
        self.whole = False
        self.events: deque[NumberedEvent] = deque()
        self.last = 0
        self.changed = anyio.Event()
        self._history = history
        self._sizes: deque[int] = deque()
        self._size = 0

    async def append(self, events: Sequence[RawEvent], *, last: bool = False) -> None:
        """Keep events; ``last`` says that none comes after them."""
        for event in events:
            self.last += 1
            self.events.append(NumberedEvent(self.last, event))
            self._sizes.append(len(encode_event(event, standard=True)))
            self._size += self._sizes[-1]
        while self._size > self._history and len(self.events) > 1:
            self.events.popleft()
            self._size -= self._sizes.popleft()
        if last:
            self.whole = True
            self.leave()
        self._wake()
        await anyio.lowlevel.checkpoint()

    def leave(self) -> None:
        """Write no more."""
        if self.left_at is None:
            self.left_at = anyio.current_time()
            self._wake()

    def _wake(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()


class _MemoryReading(Reading):
    """Reads one generation; of one that was dropped meanwhile, all that there was."""

    def __init__(self, name: str, after: int, kept: _Kept | None) -> None:
        super().__init__(name, after)
        self._kept = kept

    async def numbered(self) -> AsyncGenerator[NumberedEvent]:
        """The events with their numbers; raises WriterLostError and ForgottenError."""
        kept = self._kept
        if kept is None:
            raise ForgottenError(f"there is no generation {self.generation!r}, or it is no longer kept")
        while True:
            if kept.last > self.last:
                first = kept.events[0].number
                if first > self.last + 1:
                    raise ForgottenError(f"events {self.last + 1} to {first - 1} are no longer kept")
                start = self.last + 1 - first
                for each in list(islice(kept.events, start, start + _BATCH)):
                    self.last = each.number
                    yield each
                await anyio.lowlevel.checkpoint()
            elif kept.whole:
                return
            elif kept.left_at is not None:
                raise WriterLostError("what wrote this generation has gone before its end")
            else:
                await kept.changed.wait()
