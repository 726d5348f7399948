"""The history of a generation in a store, as one small protocol.

In:  the events of a generation, from its one writer, numbered from 1 in the order in which they come.
Out: the events after any number, to any number of readers, while they are written and for a time afterwards.

A reader ends after the last event. It ends with ``WriterLostError`` where the writer has gone before that, and with
``ForgottenError`` where the store no longer has what it would have to read next: never with a gap.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

import anyio

from streamparse.errors import StreamparseError
from streamparse.events import RawEvent


class NumberedEvent(NamedTuple):
    """An event and its number."""

    number: int
    event: RawEvent


class StoreError(StreamparseError):
    """A store can't be used: it can't be reached, or was named wrongly."""


class TakenError(StoreError):
    """A generation of this name has, or had, another writer."""


class FencedError(StoreError):
    """The writer lost its place: it was silent for so long that readers were told that it is gone."""


class WriterLostError(StoreError):
    """The process that wrote a generation is gone, and with it the rest of the generation."""


class ForgottenError(StoreError):
    """The store has no such generation, or no longer the events that come next."""


class Writer(Protocol):
    """Writes one generation. ``stopped`` is set once someone has asked, in any process, that it stop."""

    stopped: anyio.Event

    async def append(self, events: Sequence[RawEvent], *, last: bool = False) -> None:
        """Keep events; ``last`` says that none comes after them. Raises FencedError and StoreError."""


class Followed(Protocol):
    """What reads one generation, as ``streamparse.adapters.kafka.Following`` does too."""

    def numbered(self) -> AsyncGenerator[NumberedEvent]:
        """The events with their numbers; raises WriterLostError, ForgottenError and StoreError."""


class Store(Protocol):
    """Keeps generations by name, and for each conversation the name of its newest one."""

    def write(self, name: str, *, conversation: str | None = None) -> AbstractAsyncContextManager[Writer]:
        """Be the writer of a new generation; entering raises TakenError. Who leaves before the last event is lost."""

    def follow(self, name: str, *, after: int = 0) -> Followed:
        """Read a generation from the event after a number on."""

    async def newest(self, conversation: str) -> str | None:
        """The name of the conversation's newest generation, None if there is none that is kept."""

    async def runs(self, name: str) -> bool:
        """Whether a generation has a writer, who has not yet written its last event."""

    async def stop(self, name: str) -> bool:
        """Ask the writer to stop, wherever it runs; False if there is none."""

    async def aclose(self) -> None:
        """Let go of connections."""
