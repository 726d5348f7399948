"""What the readers of all stores have in common: a generation that is followed can be iterated over, and be left.

In:  the numbered events of a generation.
Out: a source of events, for ``broadcast`` and the ``find`` of ``EventServer``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from typing import Self

from streamparse.adapters.store.history import NumberedEvent
from streamparse.events import RawEvent


class Reading(ABC):
    """The events of one generation after number ``after``; ``last`` is the number of the last one that it gave."""

    def __init__(self, generation: str, after: int) -> None:
        self.generation = generation
        self.last = after
        self._iterating: AsyncGenerator[NumberedEvent] | None = None

    @abstractmethod
    def numbered(self) -> AsyncGenerator[NumberedEvent]:
        """The events with their numbers."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RawEvent:
        if self._iterating is None:
            self._iterating = self.numbered()
        return (await anext(self._iterating)).event

    async def aclose(self) -> None:
        """Follow it no longer."""
        if self._iterating is not None:
            await self._iterating.aclose()
