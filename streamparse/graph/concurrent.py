"""A stage that works on several items at once, such as one that runs the tools that a model calls.

In:  batches of items.
Out: what takes each item's place, in the order of the items or as soon as it is there, as declared.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

import anyio
from anyio.abc import TaskGroup

from streamparse.errors import ArgumentError
from streamparse.graph.chain import stage_error
from streamparse.graph.channel import Channel
from streamparse.graph.coalescing import ITEM_WEIGHT, weigh
from streamparse.graph.source import raised_by_source


class Concurrent:
    """Runs ``await work(item)`` for up to ``limit`` items at a time; the items that it gives take the item's place.

    ``when(item)`` tells which items need work; the others pass. With ``ordered`` what comes out keeps the order of the
    items, so an item waits for the work on those before it. Otherwise items pass work that still runs, but for those of
    which ``after_all(item)`` is true (if nothing else is said, the ``message`` event): they come after everything that
    came before them. While ``limit`` items are worked on, the next one that needs work holds up what is behind it.

    If work on one item fails, the work on the others is cancelled and the stage fails; with ``ordered``, not before all
    that belongs before the failure has been handed on.
    """

    def __init__(
        self,
        work: Callable[[Any], Awaitable[Iterable[Any]]],
        *,
        limit: int = 8,
        ordered: bool = True,
        when: Callable[[Any], bool] = lambda _: True,
        after_all: Callable[[Any], bool] = lambda item: isinstance(item, dict) and item.get("type") == "message",
        name: str = "",
    ) -> None:
        if limit < 1:
            raise ArgumentError(f"limit must be at least 1, not {limit}")
        self.name = name or getattr(work, "__name__", type(work).__name__)
        self._work = work
        self._limit = limit
        self._ordered = ordered
        self._when = when
        self._after_all = after_all

    async def run(self, inbox: AsyncIterator[list[Any]], outbox: Channel[Any]) -> None:
        """Be a task between two channels."""
        try:
            async with anyio.create_task_group() as tasks:
                await (self._run_ordered if self._ordered else self._run_unordered)(tasks, inbox, outbox)
        except ExceptionGroup as group:
            error = _first_error(group)
            raise error from error.__cause__

    async def _run_ordered(self, tasks: TaskGroup, inbox: AsyncIterator[list[Any]], outbox: Channel[Any]) -> None:
        """Give each item a slot, and fill the slots while another task empties them in order."""
        slots: Channel[_Slot] = Channel(self.name, weigh=_Slot.weigh, join=list)
        free = anyio.Semaphore(self._limit)
        tasks.start_soon(_empty_slots, slots, outbox)
        try:
            async for batch in inbox:
                for item in batch:
                    slot = _Slot()
                    if self._when(item):
                        await free.acquire()
                        tasks.start_soon(self._fill_slot, item, slot, free)
                    else:
                        slot.items = [item]
                        slot.done.set()
                    await slots.send([slot])
        except Exception as error:
            slots.close(error)
        else:
            slots.close()

    async def _fill_slot(self, item: Any, slot: _Slot, free: anyio.Semaphore) -> None:
        try:
            slot.items = await self._result(item)
        except Exception as error:
            slot.error = error
        free.release()
        slot.done.set()

    async def _run_unordered(self, tasks: TaskGroup, inbox: AsyncIterator[list[Any]], outbox: Channel[Any]) -> None:
        """Hand on what needs no work at once, and the rest when its work is done."""
        free = anyio.Semaphore(self._limit)
        try:
            async for batch in inbox:
                passing: list[Any] = []
                for item in batch:
                    if self._when(item):
                        await _hand_on(passing, outbox)
                        await free.acquire()
                        tasks.start_soon(self._work_apart, item, outbox, free)
                    else:
                        if self._after_all(item):
                            await _hand_on(passing, outbox)
                            await self._all_done(free)
                        passing.append(item)
                await _hand_on(passing, outbox)
        finally:
            await self._all_done(free)

    async def _work_apart(self, item: Any, outbox: Channel[Any], free: anyio.Semaphore) -> None:
        await _hand_on(await self._result(item), outbox)
        free.release()

    async def _result(self, item: Any) -> list[Any]:
        """The result of the work on an item; work that was cancelled by itself, as its own task was, has failed."""
        try:
            return list(await self._work(item))
        except CancelledError as error:
            if not raised_by_source(error):
                raise
            raise stage_error(self.name, error) from error

    async def _all_done(self, free: anyio.Semaphore) -> None:
        """Wait until no item is being worked on."""
        for _ in range(self._limit):
            await free.acquire()
        for _ in range(self._limit):
            free.release()


class _Slot:
    """The place of one item: what came of it, once that is known."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.error: Exception | None = None
        self.done = anyio.Event()

    def weigh(self) -> int:
        return sum(map(weigh, self.items)) or ITEM_WEIGHT


async def _empty_slots(slots: Channel[_Slot], outbox: Channel[Any]) -> None:
    """Hand on what the slots hold, each once it is filled; those that are filled by now in one batch."""
    async for batch in slots:
        items: list[Any] = []
        for slot in batch:
            if not slot.done.is_set():
                await _hand_on(items, outbox)
                await slot.done.wait()
            if slot.error is not None:
                await _hand_on(items, outbox)
                raise slot.error
            items += slot.items
        await _hand_on(items, outbox)


async def _hand_on(items: list[Any], outbox: Channel[Any]) -> None:
    """Send the items if there are any, and empty the list."""
    if items:
        await outbox.send(items.copy())
        items.clear()


def _first_error(group: ExceptionGroup[Exception]) -> Exception:
    """Give the first error in a group, however deep it lies."""
    error = group.exceptions[0]
    return _first_error(error) if isinstance(error, ExceptionGroup) else error
