"""Channels: batches in order, bounded by weight, nothing lost."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ChannelClosedError
from streamparse.graph import Channel
from streamparse.graph.coalescing import ITEM_WEIGHT

pytestmark = pytest.mark.anyio

OPEN = {"type": "region_open", "field": "content"}


def chunk(text: str) -> dict[str, Any]:
    return {"type": "region_chunk", "field": "content", "text": text, "dirty": False}


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await checkpoint()


async def test_a_receiver_takes_all_that_waits_in_one_batch() -> None:
    channel = Channel[Any]()
    await channel.send([1])
    await channel.send([2, 3])
    channel.close()
    assert [batch async for batch in channel] == [[1, 2, 3]]


async def test_a_receiver_waits_for_the_first_item() -> None:
    channel = Channel[Any]()
    received: list[Any] = []

    async def receive() -> None:
        async for batch in channel:
            received.append(batch)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        await settle()
        assert channel.statistics().receivers_waiting == 1
        await channel.send(["a"])
        await settle()
        assert received == [["a"]]
        channel.close()
    assert channel.statistics().receivers_waiting == 0


async def test_a_full_channel_joins_chunks_before_anybody_waits() -> None:
    channel = Channel[Any](capacity=3 * ITEM_WEIGHT)
    for character in "abcdefghijkl":
        await channel.send([chunk(character)])  # would wait for ever if this needed a receiver
    assert channel.statistics().send_waits == 0
    assert channel.statistics().items_joined > 0
    batch = await anext(channel)
    assert "".join(event["text"] for event in batch) == "abcdefghijkl"
    assert len(batch) <= 3


async def test_a_sender_waits_when_the_characters_alone_exceed_the_bound() -> None:
    channel = Channel[Any](capacity=2 * ITEM_WEIGHT)
    await channel.send([chunk("x" * ITEM_WEIGHT)])
    sent = anyio.Event()

    async def send() -> None:
        await channel.send([chunk("y")])
        sent.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        await settle()
        assert not sent.is_set()
        assert channel.statistics().senders_waiting == 1
        assert await anext(channel) == [chunk("x" * ITEM_WEIGHT)]
        await sent.wait()
    assert await anext(channel) == [chunk("y")]


async def test_what_cannot_be_joined_waits_too() -> None:
    channel = Channel[Any](capacity=2 * ITEM_WEIGHT)
    assert channel.offer([OPEN])
    assert channel.offer([OPEN])
    assert not channel.offer([OPEN])
    assert await anext(channel) == [OPEN, OPEN]
    assert channel.offer([OPEN])


async def test_a_batch_that_exceeds_the_bound_is_taken_when_nothing_waits() -> None:
    channel = Channel[Any](capacity=1)
    await channel.send([chunk("more than one character")])
    assert not channel.offer([OPEN])
    assert await anext(channel) == [chunk("more than one character")]


async def test_a_sender_that_is_cancelled_while_it_waits_has_sent_nothing() -> None:
    channel = Channel[Any](capacity=1)
    await channel.send([1])
    with anyio.move_on_after(0.01) as scope:
        await channel.send([2])
    assert scope.cancelled_caught
    assert await anext(channel) == [1]
    await channel.send([3])
    assert await anext(channel) == [3]
    assert channel.statistics().senders_waiting == 0


async def test_senders_that_wait_are_served_in_the_order_in_which_they_came() -> None:
    channel = Channel[Any](capacity=1)
    await channel.send([0])
    received: list[int] = []
    async with anyio.create_task_group() as tasks:
        for number in range(1, 6):
            tasks.start_soon(channel.send, [number])
            await settle()
        while len(received) < 6:
            received += await anext(channel)
    assert received == [0, 1, 2, 3, 4, 5]


async def test_cancelling_a_sender_lets_the_next_one_through() -> None:
    channel = Channel[Any](capacity=1)
    await channel.send([0])
    async with anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def give_up() -> None:
            with scope:
                await channel.send([1])

        tasks.start_soon(give_up)
        await settle()
        tasks.start_soon(channel.send, [2])
        await settle()
        assert await anext(channel) == [0]
        scope.cancel()  # while it was being given its turn
        assert await anext(channel) in ([1], [2])
    assert channel.statistics().senders_waiting == 0


async def test_after_the_end_what_waits_is_given_out_and_nothing_more_is_taken() -> None:
    channel = Channel[Any]("mine")
    await channel.send([1])
    channel.close()
    with pytest.raises(ChannelClosedError, match="mine"):
        await channel.send([2])
    with pytest.raises(ChannelClosedError):
        channel.offer([2])
    assert [batch async for batch in channel] == [[1]]


async def test_an_error_comes_after_what_was_sent_before_it() -> None:
    channel = Channel[Any]()
    await channel.send([1])
    channel.close(ValueError("broken"))
    assert await anext(channel) == [1]
    with pytest.raises(ValueError, match="broken"):
        await anext(channel)


async def test_abandoning_frees_the_senders_and_drops_what_waits() -> None:
    channel = Channel[Any](capacity=1)
    await channel.send([1])
    refused = []

    async def send(number: int) -> None:
        try:
            await channel.send([number])
        except ChannelClosedError:
            refused.append(number)

    async with anyio.create_task_group() as tasks:
        for number in (2, 3, 4):
            tasks.start_soon(send, number)
        await settle()
        channel.abandon()
    assert sorted(refused) == [2, 3, 4]
    assert [batch async for batch in channel] == []


async def test_statistics_tell_what_happened() -> None:
    channel = Channel[Any]("after parse", capacity=2 * ITEM_WEIGHT + 10)
    for text in ("abc", "def", "ghi"):
        await channel.send([chunk(text)])
    before = channel.statistics()
    await anext(channel)
    after = channel.statistics()
    assert (before.name, before.items_sent, before.batches_sent) == ("after parse", 3, 3)
    assert before.weight_sent == 3 * (ITEM_WEIGHT + 3)
    assert before.items_waiting + before.items_joined == 3
    assert before.weight_waiting == before.items_waiting * ITEM_WEIGHT + 9
    assert (after.items_received, after.batches_received) == (before.items_waiting, 1)
    assert (after.items_waiting, after.weight_waiting) == (0, 0)
    assert after.highest_weight <= after.capacity
    assert not after.closed


@given(
    texts=st.lists(st.lists(st.one_of(st.text(max_size=9), st.none()), max_size=4), max_size=20),
    capacity=st.integers(1, 300),
    pauses=st.lists(st.booleans(), max_size=30),
)
async def test_a_slow_receiver_loses_nothing_and_what_waits_stays_bounded(
    texts: list[list[str | None]], capacity: int, pauses: list[bool]
) -> None:
    batches = [[OPEN if text is None else chunk(text) for text in batch] for batch in texts]
    channel = Channel[Any](capacity=capacity)
    largest = max([sum(map(weight_of, batch)) for batch in batches], default=0)
    received: list[dict[str, Any]] = []

    async def send() -> None:
        for batch in batches:
            await channel.send(batch)
            assert channel.statistics().weight_waiting <= max(capacity, largest)
        channel.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        slow = iter(pauses)
        async for batch in channel:
            received += batch
            if next(slow, False):
                await checkpoint()
    assert said(received) == said([event for batch in batches for event in batch])
    assert channel.statistics().highest_weight <= max(capacity, largest)


def weight_of(event: dict[str, Any]) -> int:
    return ITEM_WEIGHT + len(event.get("text", ""))


def said(events: list[dict[str, Any]]) -> list[str | dict[str, Any]]:
    """The events with their text by character."""
    return [part for event in events for part in event.get("text", [event])]
