"""A bounded channel between two sides that run at their own pace.

In:  batches of items, through ``send`` (waits for room) or ``offer`` (never waits).
Out: batches, through asynchronous iteration; each is everything that waits at that moment.

The bound is on weight, which is the amount of text plus a little for each item (``coalescing.weigh``). When a
batch does not fit,

1. what waits in the channel is coalesced (``coalescing.coalesced``) together with the batch; that sheds the weight of
   the items and keeps all of their text;
2. if it fits now, or nothing waits, it is taken;
3. otherwise, which is when the characters alone (and the items that can't be joined) exceed the bound, the
   sender waits until the receiver has taken what is there. A sender that is cancelled while it waits has
   sent nothing.

So the weight that waits never exceeds the bound, or one batch where that is greater. Senders that wait are
served in the order in which they came. A channel belongs to one event loop; it is not for other threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Generic, TypeVar

import anyio

from streamparse.errors import ArgumentError, ChannelClosedError
from streamparse.graph.coalescing import coalesced, weigh

Item = TypeVar("Item")

CAPACITY = 65_536
"""The weight that a channel holds if nothing else is said."""


def checked_capacity(capacity: int) -> int:
    """The capacity, if it can be one; raises ArgumentError otherwise."""
    if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1:
        raise ArgumentError(f"capacity must be a number of characters, 1 at least, not {capacity!r}")
    return capacity


@dataclass
class ChannelStatistics:
    """What a channel has seen so far, and what waits in it now; weights are those of ``coalescing.weigh``."""

    name: str
    capacity: int
    items_sent: int = 0
    items_joined: int = 0
    """Items that became part of a neighbour while they waited."""
    items_received: int = 0
    batches_sent: int = 0
    batches_received: int = 0
    weight_sent: int = 0
    """Weight that senders put in, as it was before any joining."""
    items_waiting: int = 0
    weight_waiting: int = 0
    highest_weight: int = 0
    """The most weight that ever waited."""
    senders_waiting: int = 0
    receivers_waiting: int = 0
    send_waits: int = 0
    """How often a sender had to wait for room."""
    receive_waits: int = 0
    """How often a receiver had to wait for items."""
    send_seconds: float = 0.0
    """Time that senders spent waiting, all together."""
    receive_seconds: float = 0.0
    """Time that receivers spent waiting, all together."""
    closed: bool = False


class Channel(Generic[Item]):
    """Carries batches of items from senders to receivers, bounded by weight.

    ``capacity`` is that bound; ``weigh`` gives an item's weight and ``join`` joins what can be joined in a list.
    Iterating gives batches (never empty lists) until the channel is closed and empty; a receiver that is cancelled has
    taken nothing.
    """

    cancel_safe = True

    def __init__(
        self,
        name: str = "channel",
        *,
        capacity: int = CAPACITY,
        weigh: Callable[[Item], int] = weigh,
        join: Callable[[Iterable[Item]], list[Item]] = coalesced,
    ) -> None:
        self.name = name
        self.capacity = checked_capacity(capacity)
        self._weigh = weigh
        self._join = join
        self._items: list[Item] = []
        self._weight = 0
        self._settled = 0  # so many items at the front are joined as far as they can be
        self._closed = False
        self._error: Exception | None = None
        self._arrived: anyio.Event | None = None
        self._turns: deque[anyio.Event] = deque()  # one for each sender that waits, first come first served
        self._seen = ChannelStatistics(name, capacity)

    async def send(self, batch: list[Item]) -> None:
        """Put a batch in, waiting for room if need be; raises ChannelClosedError once the channel is closed."""
        if self._turns or not self._take(batch):
            await self._send_in_turn(batch)

    def offer(self, batch: list[Item]) -> bool:
        """Put a batch in if there is room and no sender waits; return whether it was taken.

        For callbacks, which can't wait. Raises ChannelClosedError once the channel is closed.
        """
        return not self._turns and self._take(batch)

    @property
    def closed(self) -> bool:
        """Whether nothing more can be put in."""
        return self._closed

    def close(self, error: Exception | None = None) -> None:
        """Declare that nothing more comes; receivers get what waits, then the end, or the error if one is given."""
        if not self._closed:
            self._closed = True
            self._error = error
            self._give_turn()
            self._wake_receivers()

    def abandon(self) -> None:
        """Close the receiving side: what waits is dropped, and sending raises ChannelClosedError."""
        self._empty()
        self._error = None
        self.close()

    async def aclose(self) -> None:
        """Abandon the channel; a stream closes its source by this name."""
        self.abandon()

    def __aiter__(self) -> Channel[Item]:
        return self

    async def __anext__(self) -> list[Item]:
        """Give everything that waits, waiting for something if need be."""
        if not self._items:
            await self._wait_for_items()
        batch = self._empty()
        self._seen.items_received += len(batch)
        self._seen.batches_received += 1
        if self._turns:
            self._give_turn()
        return batch

    def statistics(self) -> ChannelStatistics:
        """Give what the channel has seen so far."""
        return replace(
            self._seen,
            items_waiting=len(self._items),
            weight_waiting=self._weight,
            senders_waiting=len(self._turns),
            closed=self._closed,
        )

    def _take(self, batch: list[Item]) -> bool:
        """Put a batch in if it fits, joined if need be, and tell whether it did."""
        if self._closed:
            raise ChannelClosedError(f"channel {self.name!r} is closed")
        weight = sum(map(self._weigh, batch))
        if self._weight + weight <= self.capacity:
            self._items += batch
            self._weight += weight
        elif not self._take_joined(batch):
            return False
        seen = self._seen
        seen.items_sent += len(batch)
        seen.batches_sent += 1
        seen.weight_sent += weight
        seen.highest_weight = max(seen.highest_weight, self._weight)
        if self._items:
            self._wake_receivers()
        return True

    def _take_joined(self, batch: list[Item]) -> bool:
        """Join what waits, and put the batch in if it then fits or nothing waits; tell whether it was put in."""
        self._join_waiting()
        last = self._items[-1:]
        joined = self._join([*last, *batch])
        weight = self._weight - sum(map(self._weigh, last)) + sum(map(self._weigh, joined))
        if last and weight > self.capacity:
            return False
        self._seen.items_joined += len(last) + len(batch) - len(joined)
        self._items[len(self._items) - len(last) :] = joined
        self._weight = weight
        self._settled = len(self._items)
        return True

    def _join_waiting(self) -> None:
        """Join the items that came since this was last done, with each other and with the one before them."""
        start = max(self._settled - 1, 0)
        waiting = self._items[start:]
        joined = self._join(waiting)
        if len(joined) < len(waiting):
            self._items[start:] = joined
            self._weight += sum(map(self._weigh, joined)) - sum(map(self._weigh, waiting))
            self._seen.items_joined += len(waiting) - len(joined)
        self._settled = len(self._items)

    def _empty(self) -> list[Item]:
        """Take everything that waits out of the channel."""
        items = self._items
        self._items = []
        self._weight = self._settled = 0
        return items

    async def _send_in_turn(self, batch: list[Item]) -> None:
        """Wait until the senders that came before are done and the batch has been taken."""
        turn = anyio.Event()
        self._turns.append(turn)
        self._seen.send_waits += 1
        began = perf_counter()
        try:
            await turn.wait()
            while not self._take(batch):
                turn = self._turns[0] = anyio.Event()
                await turn.wait()
        finally:
            self._turns.remove(turn)
            self._give_turn()
            self._seen.send_seconds += perf_counter() - began

    def _give_turn(self) -> None:
        """Let the first sender that waits try again."""
        if self._turns:
            self._turns[0].set()

    async def _wait_for_items(self) -> None:
        """Wait until something is there; raises StopAsyncIteration, or the sender's error, if nothing will be."""
        began = perf_counter()
        seen = self._seen
        try:
            while not self._items:
                if self._closed:
                    raise self._error or StopAsyncIteration
                seen.receive_waits += 1
                seen.receivers_waiting += 1
                if self._arrived is None:
                    self._arrived = anyio.Event()
                try:
                    await self._arrived.wait()
                finally:
                    seen.receivers_waiting -= 1
        finally:
            seen.receive_seconds += perf_counter() - began

    def _wake_receivers(self) -> None:
        """Let the receivers that wait look again."""
        if self._arrived is not None:
            self._arrived.set()
            self._arrived = None
