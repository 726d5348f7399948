"""Neighbouring synchronous stages as one: operator chaining, as stream engines call it.

In:  machines, each with a name, and batches of items.
Out: the items that come out of the last machine; and the same as a coroutine between two channels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from anyio import to_thread

from streamparse.errors import StageError, StreamparseError, events_before
from streamparse.graph.channel import Channel
from streamparse.graph.closing import close
from streamparse.graph.direct import Direct
from streamparse.graph.later import Later, fed_meanwhile, work_off

Made = list[Any] | deque[Any]


@dataclass
class StageStatistics:
    """What a synchronous stage has seen so far."""

    name: str
    items_in: int = 0
    items_out: int = 0


@dataclass(frozen=True)
class Link:
    """A machine in a chain: what to call when items come, before the first and after the last.

    ``later`` is the machine again where it puts work off.
    """

    feed: Callable[[Any], Iterable[Any]]
    start: Callable[[], Iterable[Any]]
    finish: Callable[[], Iterable[Any]]
    seen: StageStatistics
    takes_batches: bool = False
    """Whether ``feed`` takes a list of items rather than one."""
    later: Later | None = None


class Chain:
    """Neighbouring machines as one stage.

    All methods add to a list that the caller gives, so that what was made before an error is not lost.
    Errors become StageErrors with the machine's name and the cause; those that are streamparse's own stay as they are.
    """

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = links
        self._later = [(position, link) for position, link in enumerate(links, 1) if link.later is not None]

    def direct(self, pull: Callable[[], Awaitable[Any]]) -> Direct | None:
        """The direct way through the chain, where it has one machine, which puts work off, as the parser does."""
        link = self.links[0] if len(self.links) == 1 else None
        if link is None or link.later is None or link.takes_batches:
            return None
        return Direct(pull, link.feed, link.later, link.seen.name)

    @property
    def fed_meanwhile(self) -> Link | None:
        """The first machine that can be fed while its work is done; None if there is none."""
        return next((link for _, link in self._later if fed_meanwhile(link.later) is not None), None)

    def start(self, out: Made) -> None:
        """Add the items that come before the first one; the last link starts first, as it is fed by those before it."""
        for position in range(len(self.links), 0, -1):
            link = self.links[position - 1]
            self._feed_from(position, _items_of(link, link.start), out)

    def feed(self, batch: list[Any], out: Made) -> bool:
        """Add the items that follow from a batch; tell whether a machine has put off work, which is to be settled."""
        self._feed_from(0, batch, out)
        return self.waits

    @property
    def waits(self) -> bool:
        """Whether a machine has put off work."""
        for _, link in self._later:  # noqa: SIM110 (asked after each batch: a generator costs three times as much)
            if link.later is not None and link.later.waiting:
                return True
        return False

    async def settle(self, out: Made, *, but: Link | None = None) -> None:
        """Have the work done that was put off, in a thread, and add the items that come of it.

        ``but`` is a machine that is left as it is, because it is fed meanwhile.
        """
        for _, link in self._later:
            while link is not but and link.later is not None and link.later.waiting:
                try:
                    items = await work_off(link.later)
                except Exception as error:
                    self.hand_on(link, events_before(error), out)
                    failure = stage_error(link.seen.name, error)
                    raise failure from failure.__cause__
                self.hand_on(link, items, out)

    def hand_on(self, link: Link, items: Iterable[Any], out: Made) -> None:
        """Add what follows from items that a machine has made of work that it had put off."""
        made = list(items)
        link.seen.items_out += len(made)
        self._feed_from(self.links.index(link) + 1, made, out)

    async def finish(self, out: Made) -> None:
        """Add the items that follow from there being no more."""
        for position, link in enumerate(self.links, 1):
            try:
                if link.later is not None and link.later.ends_large:
                    items = await to_thread.run_sync(_items_of, link, link.finish)
                else:
                    items = _items_of(link, link.finish)
            except StreamparseError as error:
                self._feed_from(position, events_before(error), out)
                raise
            self._feed_from(position, items, out)
            await self.settle(out)

    async def run(self, inbox: AsyncIterator[list[Any]], outbox: Channel[Any]) -> None:
        """Be a task between two channels."""
        await _hand_on(outbox, self.start)
        async for batch in inbox:
            await _hand_on(outbox, self.feed, batch)
            while self.waits:
                made: list[Any] = []
                try:
                    await self.settle(made)
                finally:
                    if made:
                        await outbox.send(made)
        last: list[Any] = []
        try:
            await self.finish(last)
            await close(inbox)  # before the last items, as whoever gets them may take the source to be closed
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


def stage_error(name: str, error: Exception) -> StreamparseError:
    """Give the StageError that carries the stage's name and the cause, or the error if it is streamparse's own."""
    if isinstance(error, StreamparseError):
        return error
    failure = StageError(name, error)
    failure.__cause__ = error
    return failure
