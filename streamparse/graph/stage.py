"""The stages of a graph: what may be declared as one, and how the declared list becomes tasks.

In:  declared stages, in any of the forms below.
Out: segments, each with a name and ``run(inbox, outbox)``; neighbouring synchronous stages make up one segment.

=============================================  ==================================================================
declared as                                    what it does
=============================================  ==================================================================
an object with ``feed(item) -> items`` and     synchronous, a machine: ``feed`` gives what takes the item's
``finish() -> items``                          place, ``finish`` the last items, ``start() -> items``, if it has
                                               one, those before the first; with a true ``takes_batches``,
                                               ``feed(batch) -> items`` gets all that is there as a list
a function ``(item) -> items``                 synchronous, a machine without state
``async def stage(batch) -> items``            gets all that waits as a list, and gives what takes its place
``async def stage(batches)`` with ``yield``    an asynchronous generator that gets batches and gives batches
an object with                                 iterates over ``inbox`` for batches and hands batches on with
``async def run(inbox, outbox)``               ``outbox.send`` (``Concurrent`` is one)
``Stage(any of these, name="…")``              the same, under a name for errors and statistics
=============================================  ==================================================================

A machine keeps the state of one stream, so it is declared anew for each. A stage that awaits runs in a task of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from streamparse.errors import StreamparseError
from streamparse.graph.chain import Chain, Link, StageStatistics
from streamparse.graph.channel import Channel
from streamparse.graph.cleanup import close


class Machine(Protocol):
    """A synchronous stage: a state machine without I/O."""

    def feed(self, item: Any, /) -> Iterable[Any]:
        """Give the items that follow from this one."""

    def finish(self) -> Iterable[Any]:
        """Give the items that follow from there being no more."""


class AsyncStage(Protocol):
    """A stage that awaits."""

    async def run(self, inbox: AsyncIterator[list[Any]], outbox: Channel[Any], /) -> None:
        """Read batches until there are no more, hand on batches, and return when all is done."""


@dataclass(frozen=True)
class Stage:
    """A declared stage under a name of its own."""

    work: Any
    name: str


@dataclass(frozen=True)
class Segment:
    """What runs as one task between two channels: some machines, or one stage that awaits."""

    name: str
    stage: Chain | AsyncStage
    pulls: bool = False
    """Whether it is to read the source itself if it comes first, a piece at a time, rather than from a channel."""

    @property
    def machines(self) -> Sequence[Link]:
        """The machines that this segment chains; none where it awaits."""
        return self.stage.links if isinstance(self.stage, Chain) else ()


def segments_of(declared: Iterable[Any], *, chaining: bool) -> list[Segment]:
    """Make segments of declared stages; with ``chaining``, one of neighbouring machines, otherwise one of each stage.

    Raises StreamparseError for what can't be a stage.
    """
    segments: list[Segment] = []
    links: list[Link] = []

    def close_chain() -> None:
        if links:
            segments.append(Segment(" + ".join(link.seen.name for link in links), Chain(tuple(links))))
            links.clear()

    for name, work in _named(declared):
        stage = _async_stage(work)
        if stage is None:
            links.append(_link(name, work))
        if stage is not None or not chaining:
            close_chain()
        if stage is not None:
            segments.append(Segment(name, stage, getattr(stage, "pulls", False)))
    close_chain()
    return segments


def _named(declared: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Give each stage with a name that no stage before it has."""
    taken: set[str] = set()
    for stage in declared:
        work = stage.work if isinstance(stage, Stage) else stage
        name = wanted = stage.name if isinstance(stage, Stage) else _name_of(work)
        count = 1
        while name in taken:
            count += 1
            name = f"{wanted} {count}"
        taken.add(name)
        yield name, work


def _name_of(work: Any) -> str:
    """Give the name that a stage has of itself."""
    name = getattr(work, "name", None) or getattr(work, "__name__", None)
    return name if isinstance(name, str) else type(work).__name__


def _async_stage(work: Any) -> AsyncStage | None:
    """Give the stage if it awaits, and None if it is synchronous."""
    if inspect.iscoroutinefunction(getattr(work, "run", None)):
        stage: AsyncStage = work
        return stage
    call = getattr(type(work), "__call__", None)  # noqa: B004 (what kind of function it is, not whether it is there)
    if inspect.isasyncgenfunction(work) or inspect.isasyncgenfunction(call):
        return _GeneratorStage(work)
    if inspect.iscoroutinefunction(work) or inspect.iscoroutinefunction(call):
        return _BatchStage(work)
    return None


def _link(name: str, work: Any) -> Link:
    """Give a synchronous stage as a link of a chain."""
    feed, finish = getattr(work, "feed", None), getattr(work, "finish", None)
    if callable(feed) and callable(finish) and not isinstance(work, type):
        seen, takes_batches = StageStatistics(name), getattr(work, "takes_batches", False)
        return Link(feed, getattr(work, "start", _nothing), finish, seen, takes_batches)
    if callable(work) and not isinstance(work, type):
        return Link(work, _nothing, _nothing, StageStatistics(name))
    hint = f"; did you mean {work.__name__}()?" if isinstance(work, type) else ""
    raise StreamparseError(
        f"{name!r} can't be a stage: it takes an object with feed and finish, a function of an item, an asynchronous "
        f"function of a batch, an asynchronous generator function of batches, or an object with an async run{hint}"
    )


def _nothing() -> Iterable[Any]:
    return ()


@dataclass(frozen=True)
class _BatchStage:
    """An asynchronous function from a batch to the items that take its place."""

    function: Callable[[list[Any]], Awaitable[Iterable[Any]]]

    async def run(self, inbox: AsyncIterator[list[Any]], outbox: Channel[Any]) -> None:
        async for batch in inbox:
            items = list(await self.function(batch))
            if items:
                await outbox.send(items)


@dataclass(frozen=True)
class _GeneratorStage:
    """An asynchronous generator function from batches to batches."""

    function: Callable[[AsyncIterator[list[Any]]], AsyncIterator[Iterable[Any]]]

    async def run(self, inbox: AsyncIterator[list[Any]], outbox: Channel[Any]) -> None:
        batches = self.function(inbox)
        try:
            async for batch in batches:
                items = list(batch)
                if items:
                    await outbox.send(items)
        finally:
            await close(batches)
