"""One generation to several consumers, each at its own pace.

In:  an asynchronous iterable of events, such as ``parse_stream`` gives.
Out: consumers (``consumer.py``); each gets all events, from the first one on or from a given number on.

One task reads the source and writes the events down, with numbers (``history.py``), and the consumers read there. So a
slow consumer takes up no memory of its own and slows no other. What happens when it is far behind is its policy:

=========  ============================================================================================================
``wait``   the source is not read on before the consumer has caught up; it gets the events as they came, unjoined
``join``   the source does not wait; it gets joined chunks, as long as the history keeps what it needs
``drop``   the source does not wait; it gets joined chunks, and is dropped when it is more than ``capacity`` behind
=========  ============================================================================================================
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import AsyncIterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.abc import TaskGroup

from streamparse.broadcasting.consumer import POLICIES, Consumer, Ending, Policy, Recording
from streamparse.broadcasting.history import Event, History
from streamparse.errors import SourceError, StreamparseError
from streamparse.graph.channel import CAPACITY
from streamparse.graph.cleanup import close
from streamparse.graph.source import raised_by_source, source_error

HISTORY = 4_194_304
"""The weight of the events that are kept if nothing else is said: about as many characters."""


def broadcast(source: AsyncIterable[Event], *, history: int = HISTORY, grace: float = 0.0) -> Broadcast:
    """Give one generation's events to several consumers; use the result with ``async with``, and ``subscribe`` to it.

    ``source`` is read from when the first consumer comes. If it is a context manager, as ``parse_stream`` is, it is
    entered and left; it is closed in any case. When the last consumer has left, and none has come for ``grace`` seconds
    (``math.inf``: for as long as the block lasts), the source is stopped.

    ``history`` is the weight of the events that are kept for those who come later: their characters after joining, and
    64 for each that can't be joined. A generation that grows larger goes on, but its oldest events are dropped, and
    those who need them are too late.

    Raises SourceError for what is no asynchronous iterable.

    >>> async def show() -> None:
    ...     from streamparse import parse_stream
    ...     async with broadcast(parse_stream("<think>Hm</think>Hello", "qwen3", prefix=""), grace=60) as generation:
    ...         async with generation.subscribe() as consumer:
    ...             print([event["type"] async for event in consumer])
    ...         async with generation.subscribe(after=5) as late:
    ...             print([event["type"] async for event in late])
    >>> import asyncio
    >>> asyncio.run(show())  # doctest: +NORMALIZE_WHITESPACE
    ['region_open', 'region_chunk', 'region_close', 'region_open', 'region_chunk', 'region_close', 'message']
    ['region_close', 'message']
    """
    return Broadcast(source, history=history, grace=grace)


@dataclass(frozen=True)
class ConsumerStatistics:
    """Where a consumer is: the number it has read up to, and the weight of the events that it has not read yet."""

    policy: Policy
    last: int
    behind: int


@dataclass(frozen=True)
class BroadcastStatistics:
    """What a broadcast has seen so far: events ``first`` to ``last`` are kept, and weigh ``weight``."""

    first: int
    last: int
    weight: int
    consumers: tuple[ConsumerStatistics, ...]
    waits: int
    """How often the source had to wait for a consumer."""


class Broadcast:
    """A generation that is read by one task, for any number of consumers; ``broadcast`` makes it.

    Leaving the ``async with`` block stops the source and closes it; consumers that still iterate come to their end. An
    error of the source is raised for each consumer after the events that came before it; if no consumer has seen it, it
    is raised when the block is left.
    """

    def __init__(self, source: AsyncIterable[Event], *, history: int = HISTORY, grace: float = 0.0) -> None:
        if not hasattr(source, "__aiter__"):
            kind = type(source).__name__
            raise SourceError(f"a broadcast takes an asynchronous iterable of events, such as parse_stream, not {kind}")
        self._source = source
        self._grace = grace
        self._recording = Recording(History(history))
        self._consumers: set[Consumer] = set()
        self._tasks: TaskGroup | None = None
        self._reading = anyio.CancelScope()
        self._wanted = anyio.Event()
        self._waiting_for_return = anyio.CancelScope()
        self._room = 0  # so much may be written before the consumers are checked
        self._waits = 0
        self.over = anyio.Event()
        """Set when the source has ended and is closed."""

    @property
    def last(self) -> int:
        """The number of the last event so far; the first one has number 1."""
        return self._recording.history.last

    @property
    def ending(self) -> Ending | None:
        """How the generation ended: by itself, because it was stopped, or by an error; None before."""
        return self._recording.ending

    @property
    def error(self) -> Exception | None:
        """The error with which the source failed, if it did."""
        return self._recording.error

    def subscribe(self, policy: Policy = "wait", *, after: int = 0, capacity: int = CAPACITY) -> Consumer:
        """Give a consumer of the events after number ``after``; use it with ``async with``, and iterate over it.

        ``policy`` says what happens when the consumer is behind, ``capacity`` by what weight a ``wait`` or ``drop``
        consumer may be. Raises StreamparseError for a number that no event has had yet.
        """
        if policy not in POLICIES:
            raise ValueError(f"policy must be one of {', '.join(map(repr, POLICIES))}, not {policy!r}")
        if not 0 <= after <= self.last:
            raise StreamparseError(f"there is no event number {after} to go on after; the last one is {self.last}")
        return Consumer(self._recording, self, policy, after=after, capacity=capacity)

    def stop(self) -> None:
        """Stop the source; consumers get what came before, then their end. ``over`` tells when it is closed."""
        self._reading.cancel()

    def statistics(self) -> BroadcastStatistics:
        """Give what the broadcast has seen so far."""
        history = self._recording.history
        consumers = (ConsumerStatistics(each.policy, each.read_up_to, each.behind) for each in self._consumers)
        return BroadcastStatistics(history.first, history.last, history.weight, tuple(consumers), self._waits)

    def join(self, consumer: Consumer) -> None:
        """Count a consumer in; entering it does that."""
        if self._tasks is None:
            raise StreamparseError("enter the broadcast with `async with` before its consumers")
        self._consumers.add(consumer)
        self._room = 0
        self._wanted.set()
        self._waiting_for_return.cancel()

    def leave(self, consumer: Consumer) -> None:
        """Count a consumer out; leaving it does that."""
        self._consumers.discard(consumer)
        self._recording.read.give()
        if self._consumers or self.ending is not None or self._tasks is None:
            return
        if self._grace > 0:
            self._waiting_for_return = anyio.CancelScope()
            self._tasks.start_soon(self._wait_for_return, self._waiting_for_return, name="streamparse grace")
        else:
            self.stop()

    async def __aenter__(self) -> Self:
        if self._tasks is not None:
            raise StreamparseError("a broadcast can be entered with `async with` once only")
        self._tasks = await anyio.create_task_group().__aenter__()
        self._tasks.start_soon(self._run, name="streamparse broadcast")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._tasks is not None:
            self.stop()
            self._waiting_for_return.cancel()
            await self._tasks.__aexit__(None, None, None)
        if self.error is not None and not self._recording.error_was_seen and error is None:
            raise self.error

    async def _run(self) -> None:
        """The task that reads the source, once a consumer wants its events."""
        recording = self._recording
        ending: Ending = "stopped"
        try:
            with self._reading:
                await self._read_source()
                ending = "complete"
        except Exception as error:
            ending, recording.error = "failed", error
        except CancelledError as error:
            if not raised_by_source(error):
                raise
            ending, recording.error = "failed", source_error(error)
        finally:
            recording.ending = ending
            self._waiting_for_return.cancel()
            self.over.set()
            recording.written.give()

    async def _read_source(self) -> None:
        source: Any = self._source
        try:
            await self._wanted.wait()
            if hasattr(source, "__aenter__"):
                async with source as events:
                    await self._take_events(events)
            else:
                await self._take_events(source)
        finally:
            await close(source)

    async def _take_events(self, events: AsyncIterable[Event]) -> None:
        history = self._recording.history
        async for event in events:
            history.append(event)
            self._recording.written.give()
            if history.written > self._room:
                await self._wait_for_room()
            if history.weight > history.limit:
                history.trim(min((consumer.read_up_to + 1 for consumer in self._waited_for()), default=history.last))

    async def _wait_for_room(self) -> None:
        """Wait until no consumer that is to be waited for is too far behind."""
        history = self._recording.history
        while True:
            rooms = (consumer.capacity - consumer.behind for consumer in self._waited_for())
            self._room = history.written + min(rooms, default=CAPACITY)
            if self._room >= history.written:
                return
            self._waits += 1
            await self._recording.read.wait()

    def _waited_for(self) -> list[Consumer]:
        return [consumer for consumer in self._consumers if consumer.policy == "wait" and consumer.dropped is None]

    async def _wait_for_return(self, scope: anyio.CancelScope) -> None:
        """Stop the source unless a consumer comes in time."""
        with scope:
            await anyio.sleep(self._grace)
            self.stop()
