"""A consumer of a broadcast: a reader of a recording, at its own pace.

In:  a recording, which one task writes (``broadcast.py``), and the number of the last event seen.
Out: the events after it, by asynchronous iteration.

A consumer has no queue, only the number up to which it has read: what it has not read is in the history, which they all
share.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol, Self

import anyio
import anyio.lowlevel

from streamparse.broadcasting.history import Event, History, Numbered
from streamparse.errors import StreamparseError
from streamparse.events import consumer_dropped_event

Policy = Literal["wait", "join", "drop"]
POLICIES: tuple[Policy, ...] = ("wait", "join", "drop")

Ending = Literal["complete", "stopped", "failed"]


class Signal:
    """Wakes all who wait for it; those who come later wait for the next time."""

    def __init__(self) -> None:
        self._next: anyio.Event | None = None

    def give(self) -> None:
        """Wake all who wait."""
        if self._next is not None:
            self._next.set()
            self._next = None

    async def wait(self) -> None:
        """Wait until it is given."""
        self._next = self._next or anyio.Event()
        await self._next.wait()


@dataclass
class Recording:
    """A generation so far, as its writer and its consumers share it."""

    history: History
    ending: Ending | None = None
    error: Exception | None = None
    error_was_seen: bool = False
    written: Signal = field(default_factory=Signal)
    """Given when there are more events, and at the end."""
    read: Signal = field(default_factory=Signal)
    """Given when a consumer has read, or left."""


class Membership(Protocol):
    """What is to know of a consumer's coming and going."""

    def join(self, consumer: Consumer, /) -> None:
        """Count it in."""

    def leave(self, consumer: Consumer, /) -> None:
        """Count it out."""


class Consumer:
    """The events of a broadcast for one reader: an asynchronous iterator, and an asynchronous context manager.

    ``Broadcast.subscribe`` makes it. Events are shared by all consumers, and not to be changed. If the consumer is
    dropped, or too late for what it asked for, its last event is ``{"type": "consumer_dropped", "error": …, "last":
    …}``, where ``last`` is the number of the event up to which it got all.
    """

    def __init__(
        self, recording: Recording, membership: Membership, policy: Policy, *, after: int, capacity: int
    ) -> None:
        self.policy = policy
        self.capacity = capacity
        self.last = after
        """The number of the last event that was given out; a consumer that reconnects resumes after it."""
        self.read_up_to = after
        """The number of the last event that was taken from the history."""
        self.dropped: str | None = None
        """Why the consumer was dropped, if it was."""
        self._recording = recording
        self._membership = membership
        self._ready: deque[Numbered] = deque()
        self._entered = False
        self._written_when_entered = 0
        self._told = False

    @property
    def behind(self) -> int:
        """The weight of the events that have not been taken from the history yet."""
        history = self._recording.history
        return history.written - history.written_by(self.read_up_to)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if not self._ready:
            self._ready.extend(await self.read())
        if self._ready:
            _, self.last, event = self._ready.popleft()
            return event
        if self.dropped is None or self._told:
            raise StopAsyncIteration
        self._told = True
        return consumer_dropped_event(self.dropped, self.last)

    async def read(self) -> list[Numbered]:
        """All events that wait, with their numbers, up to a weight of ``capacity``; waits for one if need be.

        An empty list is the end: the generation is over, or ``dropped`` says why this consumer is. Raises the error of
        the source, once all events before it have been given.
        """
        if not self._entered:
            raise StreamparseError("use `async with generation.subscribe(…) as consumer:` and iterate inside")
        recording, history = self._recording, self._recording.history
        if self.read_up_to != history.last or recording.ending is not None:
            await anyio.lowlevel.checkpoint()  # so that a reader that never has to wait blocks no other task
        while self.read_up_to == history.last and recording.ending is None:
            await recording.written.wait()
        self.dropped = self.dropped or self._why_dropped()
        numbered: list[Numbered] = []
        if self.dropped is None:
            numbered = history.read(self.read_up_to, joined=self.policy != "wait", at_most=self.capacity)
        if numbered:
            self.last = self.read_up_to = numbered[-1].last
        else:
            await anyio.lowlevel.checkpoint_if_cancelled()  # a cancelled reader must not mistake that for the end
            if self.dropped is None and recording.error is not None:
                recording.error_was_seen = True
                raise recording.error
        recording.read.give()
        return numbered

    def _why_dropped(self) -> str | None:
        history = self._recording.history
        if self.read_up_to + 1 < history.first:
            return (
                f"events {self.read_up_to + 1} to {history.first - 1} are not kept any more, as the generation has "
                f"grown larger than the `history` of {history.limit} characters; give broadcast() a larger one"
            )
        if self.policy != "drop":
            return None
        behind = min(self.behind, history.written - self._written_when_entered)
        if behind > self.capacity:
            return f"the consumer is {behind} characters behind, more than its `capacity` of {self.capacity}"
        return None

    async def __aenter__(self) -> Self:
        self._membership.join(self)
        self._entered = True
        self._written_when_entered = self._recording.history.written
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave; once left, nothing happens."""
        if self._entered:
            self._entered = False
            self._membership.leave(self)
