"""One generation that is followed: its events, each once and in order, from any number on, while they come.

In:  a reader of the topic of the events, which is that of all generations that are followed.
Out: the events, to a consumer that may iterate, or leave and come back with the last number that it has seen.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio
import anyio.lowlevel
import anyio.to_thread

from streamparse.adapters.kafka.follower import Follower
from streamparse.adapters.kafka.output import EventReader
from streamparse.adapters.kafka.scan import Place
from streamparse.adapters.kafka.wire import Headers
from streamparse.adapters.store.history import NumberedEvent
from streamparse.events import Event, RawEvent
from streamparse.graph.event_loop import soon_caller
from streamparse.graph.source import End

if TYPE_CHECKING:
    from streamparse.adapters.kafka.event_topic import KafkaEvents

_SECONDS = 30.0


class Following:
    """The events of one generation; iterate over it, or over ``numbered()`` where their numbers are needed.

    ``last`` is the number of the last event that it gave. ``end`` says how the generation ended, once it has. It can
    be used wherever ``parse_stream`` can be read from: with ``async with``, as the source of a ``broadcast``, in
    ``sse_stream``.
    """

    def __init__(self, events: KafkaEvents, generation: str, after: int, place: Place | None) -> None:
        self._events = events
        self._place = place
        self._reader = EventReader(after)
        self._numbered: AsyncGenerator[NumberedEvent] | None = None
        self.generation = generation
        self.last = after
        self.end: End | None = None

    async def numbered(self) -> AsyncGenerator[NumberedEvent]:
        """The events with their numbers."""
        waiting = anyio.Event()
        soon = soon_caller()

        def wake() -> None:
            soon(lambda: waiting.set())

        follower = Follower(wake)
        place, here = self._events._join(self.generation, follower)
        try:
            if self._place is not None:
                await anyio.to_thread.run_sync(self._events._caught_up.wait, _SECONDS, abandon_on_cancel=True)
                place, here = self._place, self._events._position(self._place.partition)
            if place is not None and place.offset < here:
                async for value, headers in self._events._past(self.generation, place, here):
                    for each in self._take(value, headers):
                        yield each
            while not self._reader.over:
                if follower.failure is not None:
                    raise follower.failure
                if follower.records:
                    _, value, headers = follower.records.popleft()
                    for each in self._take(value, headers):
                        yield each
                    await anyio.lowlevel.checkpoint()
                elif follower.missed is not None:
                    missed, here = self._events._rejoin(follower)
                    async for value, headers in self._events._past(self.generation, missed, here):
                        for each in self._take(value, headers):
                            yield each
                else:
                    waiting = anyio.Event()
                    if not follower.records and follower.missed is None and follower.failure is None:
                        await waiting.wait()
        finally:
            self._events._leave(self.generation, follower)

    def _take(self, value: bytes, headers: Headers | None) -> list[NumberedEvent]:
        new = self._reader.read(value, headers)
        if new:
            self.last = new[-1].number
            if self._reader.over:
                event: RawEvent = new[-1].event
                self.end = End(event.get("finish_reason"), event.get("usage"))
        return new

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._numbered is None:
            self._numbered = self.numbered()
        event: Event = (await anext(self._numbered)).event
        return event

    async def aclose(self) -> None:
        """Follow it no longer."""
        if self._numbered is not None:
            await self._numbered.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()
