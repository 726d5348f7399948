"""Neighbouring synchronous stages as one: operator chaining, as stream engines call it.

In:  machines, each with a name, and batches of items.
Out: the items that come out of the last machine; and the same as a coroutine between two channels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from streamparse.errors import StageError, StreamparseError, events_before
from streamparse.graph.channel import Channel
from streamparse.graph.cleanup import close
from streamparse.graph.fast_path import FastPath

Made = list[Any] | deque[Any]


@dataclass
class StageStatistics:
    """What a synchronous stage has seen so far."""

    name: str
    items_in: int = 0
    items_out: int = 0


@dataclass(frozen=True)
class Link:
    """A machine in a chain: what to call when items come, before the first and after the last."""

    feed: Callable[[Any], Iterable[Any]]
    start: Callable[[], Iterable[Any]]
    finish: Callable[[], Iterable[Any]]
    seen: StageStatistics
    takes_batches: bool = False
    """Whether ``feed`` takes a list of items rather than one."""


class Chain:
    """Neighbouring machines as one stage.

    All methods add to a list that the caller gives, so that what was made before an error is not lost.
    Errors become StageErrors with the machine's name and the cause; those that are streamparse's own stay as they are.
    """

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = links

    def fast_path(self, pull: Callable[[], Awaitable[Any]]) -> FastPath | None:
        """The fast path through the chain, where it has one machine that takes item by item, as the parser does."""
        link = self.links[0] if len(self.links) == 1 else None
        if link is None or link.takes_batches:
            return None
        return FastPath(pull, link.feed, link.seen.name)

    def start(self, out: Made) -> None:
        """Add the items that come before the first one; the last link starts first, as it is fed by those before it."""
        for position in range(len(self.links), 0, -1):
            link = self.links[position - 1]
            self._feed_from(position, _items_of(link, link.start), out)

    def feed(self, batch: list[Any], out: Made) -> None:
        """Add the items that follow from a batch."""
        self._feed_from(0, batch, out)

    def finish(self, out: Made) -> None:
        """Add the items that follow from there being no more."""
        for position, link in enumerate(self.links, 1):
            try:
                items = _items_of(link, link.finish)
            except StreamparseError as error:
                self._feed_from(position, events_before(error), out)
                raise
            self._feed_from(position, items, out)

    async def run(self, inbox: AsyncIterator[list[Any]], outbox: Channel[Any]) -> None:
        """Be a task between two channels."""
        await _hand_on(outbox, self.start)
        async for batch in inbox:
            await _hand_on(outbox, self.feed, batch)
        last: list[Any] = []
        try:
            self.finish(last)
            await close(inbox)  # before the last items, as their consumer may rely on the source being closed
        finally:
            if last:
                await outbox.send(last)

    def _feed_from(self, position: int, items: list[Any], out: Made) -> None:
        """Pass items through the links from a position on.

        Where a link fails, what it made before that passes on all the same: the order of events is then the same as
        with a task for each link, and so is the error, which is the one that came first at the end of the chain.
        """
        failure: StreamparseError | None = None
        for link in self.links[position:] if position else self.links:
            if not items:
                break
            feed = link.feed
            seen = link.seen
            made: list[Any] = []
            try:
                if link.takes_batches:
                    made += feed(items)
                else:
                    for item in items:
                        made += feed(item)
            except Exception as error:
                made += events_before(error)
                failure = stage_error(seen.name, error)
            seen.items_in += len(items)
            seen.items_out += len(made)
            items = made
        out.extend(items)
        if failure is not None:
            raise failure from failure.__cause__


async def _hand_on(outbox: Channel[Any], step: Callable[..., object], *arguments: Any) -> None:
    """Take a step and hand on what it made, even if it failed in the end."""
    out: list[Any] = []
    try:
        step(*arguments, out)
    finally:
        if out:
            await outbox.send(out)


def _items_of(link: Link, step: Callable[[], Iterable[Any]]) -> list[Any]:
    """Give the items that a link makes of itself."""
    try:
        items = list(step())
    except Exception as error:
        failure = stage_error(link.seen.name, error)
        raise failure from failure.__cause__
    link.seen.items_out += len(items)
    return items


def stage_error(name: str, error: BaseException) -> StreamparseError:
    """Give the StageError that carries the stage's name and the cause, or the error if it is streamparse's own."""
    if isinstance(error, StreamparseError):
        return error
    failure = StageError(name, error)
    failure.__cause__ = error
    return failure
