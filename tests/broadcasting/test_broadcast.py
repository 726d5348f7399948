"""Broadcast: every consumer gets the same generation, at its own pace; none disturbs another."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from streamparse import SourceError, StreamparseError, broadcast, parse_stream
from streamparse.broadcasting.consumer import Policy
from streamparse.graph.coalescing import ITEM_WEIGHT
from tests.graph.events import EVENTS, by_character, chunk

pytestmark = pytest.mark.anyio

Event = dict[str, Any]


class Events:
    """A source of events that can be looked at: how far it was read, and whether it was closed."""

    def __init__(self, events: Iterable[Event], *, error: Exception | None = None, endless: bool = False) -> None:
        self.events = iter(events)
        self.error = error
        self.endless = endless
        self.given = 0
        self.closed = False

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        await checkpoint()
        for event in self.events:
            self.given += 1
            return event
        if self.error is not None:
            raise self.error
        if self.endless:
            await anyio.sleep_forever()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed = True


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(20):
        await checkpoint()


CONSUMERS = st.lists(
    st.tuples(
        st.sampled_from(["wait", "join"]),
        st.integers(0, 30),  # steps before it comes
        st.lists(st.integers(0, 5), max_size=10),  # steps that it rests after each event
        st.lists(st.integers(0, 20), max_size=3),  # events after which it leaves and comes back
        st.sampled_from([1, 100, 65_536]),
    ),
    min_size=1,
    max_size=5,
)


@given(EVENTS, CONSUMERS)
async def test_every_consumer_gets_all_at_any_pace_from_any_time_on(events: list[Event], plans: list[Any]) -> None:
    received: list[list[Event]] = [[] for _ in plans]

    async def consume(generation: Any, plan: Any, mine: list[Event]) -> None:
        policy, delay, rests, stays, capacity = plan
        for _ in range(delay):
            await checkpoint()
        pauses, last = iter(rests), 0
        for stay in [*stays, math.inf]:
            async with generation.subscribe(policy, after=last, capacity=capacity) as consumer:
                seen = 0
                while seen < stay:
                    event = await anext(consumer, None)
                    if event is None:
                        break
                    seen += 1
                    mine.append(event)
                    for _ in range(next(pauses, 0)):
                        await checkpoint()
                last = consumer.last
        assert last == len(events)

    async with broadcast(Events(events), grace=math.inf) as generation, anyio.create_task_group() as tasks:
        for plan, mine in zip(plans, received, strict=True):
            tasks.start_soon(consume, generation, plan, mine)
    for (policy, *_), mine in zip(plans, received, strict=True):
        assert by_character(mine) == by_character(events)
        if policy == "wait":
            assert mine == events


TEXT = "<think>Two cities.</think>Rome and " + '<tool_call>{"name": "f", "arguments": {"city": "Oslo"}}</tool_call>' * 3


@given(st.lists(st.integers(0, 40), max_size=3), st.integers(1, 7))
async def test_late_consumers_of_a_real_stream_get_its_message(arrivals: list[int], size: int) -> None:
    pieces = [TEXT[start : start + size] for start in range(0, len(TEXT), size)]
    async with (
        broadcast(parse_stream(pieces, "qwen3", prefix="", spans=True)) as generation,
        generation.subscribe() as first,
    ):
        everything = []
        late: list[list[Event]] = []

        async def follow() -> None:
            mine: list[Event] = []
            late.append(mine)
            async with generation.subscribe("join") as consumer:
                async for event in consumer:
                    mine.append(event)

        async with anyio.create_task_group() as tasks:
            async for event in first:
                everything.append(event)
                if len(everything) in arrivals:
                    tasks.start_soon(follow)
    assert everything[-1]["message"]["tool_calls"][0]["function"]["arguments"] == {"city": "Oslo"}
    for mine in late:
        assert by_character(mine) == by_character(everything)


async def test_the_source_is_read_from_the_first_consumer_on() -> None:
    source = Events([chunk("a")])
    async with broadcast(source) as generation:
        await settle()
        assert source.given == 0
        async with generation.subscribe() as consumer:
            assert [event async for event in consumer] == [chunk("a")]
    assert generation.ending == "complete"
    assert source.closed


async def test_the_source_waits_for_a_consumer_that_is_to_be_waited_for() -> None:
    source = Events(chunk("x" * 100) for _ in range(50))
    async with (
        broadcast(source) as generation,
        generation.subscribe("wait", capacity=1000) as slow,
        generation.subscribe("join") as fast,
    ):
        await settle()
        assert source.given <= 11
        assert generation.statistics().waits == 1
        received = [await anext(slow)]
        await settle()
        assert source.given > 11
        received += [event async for event in slow]
        assert received == [chunk("x" * 100)] * 50
        assert sum([len(event["text"]) async for event in fast]) == 5000


async def test_a_late_consumer_that_is_to_be_waited_for_is_waited_for_at_once() -> None:
    source = Events(chunk("x" * 100) for _ in range(200))
    async with broadcast(source) as generation, generation.subscribe("join") as early:
        await anext(early)
        given = source.given
        async with generation.subscribe("wait", capacity=10) as late:
            await settle()
            assert source.given <= given + 2
            assert len([event async for event in late]) == 200


@pytest.mark.parametrize("policy", ["join", "drop"])
async def test_nobody_waits_for_the_others(policy: Policy) -> None:
    source = Events(chunk("x" * 100) for _ in range(50))
    async with (
        broadcast(source) as generation,
        generation.subscribe(policy, capacity=1000),
        generation.subscribe() as fast,
    ):
        assert len([event async for event in fast]) == 50


async def test_a_slow_consumer_gets_joined_chunks() -> None:
    async with (
        broadcast(Events(chunk("ab") for _ in range(100))) as generation,
        generation.subscribe("join") as slow,
        generation.subscribe() as fast,
    ):
        assert len([event async for event in fast]) == 100
        assert [event async for event in slow] == [chunk("ab" * 100)]
        assert slow.last == 100


async def test_a_consumer_that_is_too_slow_is_dropped_with_an_event() -> None:
    async with (
        broadcast(Events(chunk("x" * 100) for _ in range(50))) as generation,
        generation.subscribe("drop", capacity=1000) as slow,
        generation.subscribe() as fast,
    ):
        first = await anext(slow)
        assert len([event async for event in fast]) == 50
        *rest, last = [event async for event in slow]
    assert last["type"] == "consumer_dropped"
    assert last["last"] == slow.last < 50
    assert "behind" in last["error"]
    assert sum(len(event["text"]) for event in [first, *rest]) == 100 * slow.last


async def test_what_a_late_consumer_missed_is_no_reason_to_drop_it() -> None:
    async with broadcast(Events(chunk("x" * 100) for _ in range(50)), grace=math.inf) as generation:
        async with generation.subscribe() as first:
            assert len([event async for event in first]) == 50
        async with generation.subscribe("drop", capacity=1000) as late:
            assert "".join([event["text"] async for event in late]) == "x" * 5000


async def test_beyond_the_limit_the_oldest_events_go_and_who_needs_them_is_told() -> None:
    events = [chunk("x" * 100, field=str(number)) for number in range(100)]
    async with broadcast(Events(events), history=2000, grace=math.inf) as generation:
        async with generation.subscribe() as reader, generation.subscribe("join") as slow:
            assert [event async for event in reader] == events
            (dropped,) = [event async for event in slow]
        assert dropped["type"] == "consumer_dropped"
        assert "history" in dropped["error"]
        kept = generation.statistics()
        assert kept.weight <= 2000
        async with generation.subscribe(after=kept.first - 1) as late:
            assert [event async for event in late] == events[kept.first - 1 :]
        async with generation.subscribe("wait") as too_late:
            assert [event["type"] async for event in too_late] == ["consumer_dropped"]


async def test_a_consumer_that_is_waited_for_loses_nothing_at_the_limit() -> None:
    events = [chunk("x" * 100, field=str(number)) for number in range(100)]
    source = Events(events)
    async with broadcast(source, history=500) as generation, generation.subscribe(capacity=5000) as reader:
        await settle()
        received = []
        async for event in reader:
            received.append(event)
            assert generation.statistics().weight <= 5000 + 2 * (100 + ITEM_WEIGHT)
        assert received == events


async def test_the_source_stops_when_the_last_consumer_leaves() -> None:
    source = Events([chunk("a")], endless=True)
    async with broadcast(source) as generation:
        async with generation.subscribe() as one, generation.subscribe():
            await anext(one)
        with anyio.fail_after(5):
            await generation.over.wait()
        assert source.closed
        assert generation.ending == "stopped"
        async with generation.subscribe() as late:
            assert [event async for event in late] == [chunk("a")]


async def test_a_consumer_that_comes_back_in_time_finds_the_source_running() -> None:
    source = Events([chunk("a")], endless=True)
    async with broadcast(source, grace=3600) as generation:
        for _ in range(3):
            async with generation.subscribe("join") as consumer:
                assert await anext(consumer) == chunk("a")
            await settle()
        assert generation.ending is None
    assert source.closed


async def test_without_a_return_in_time_the_source_stops() -> None:
    source = Events([chunk("a")], endless=True)
    async with broadcast(source, grace=0.001) as generation:
        async with generation.subscribe():
            pass
        async with generation.subscribe():
            await anyio.sleep(0.01)
            assert generation.ending is None
        with anyio.fail_after(5):
            await generation.over.wait()
    assert (generation.ending, source.closed) == ("stopped", True)


async def test_stopping_gives_consumers_what_came_before() -> None:
    async with (
        broadcast(Events([chunk("a"), chunk("b")], endless=True)) as generation,
        generation.subscribe() as consumer,
    ):
        await settle()
        generation.stop()
        assert [event async for event in consumer] == [chunk("a"), chunk("b")]


async def test_an_error_comes_to_every_consumer_after_the_events_before_it() -> None:
    source = Events([chunk("a")], error=ValueError("broken"))
    async with broadcast(source) as generation, generation.subscribe() as one, generation.subscribe("join") as other:
        for consumer in (one, other):
            assert await anext(consumer) == chunk("a")
            with pytest.raises(ValueError, match="broken"):
                await anext(consumer)
    assert generation.ending == "failed"
    assert source.closed


async def test_an_error_that_nobody_saw_is_raised_at_the_end() -> None:
    generation = broadcast(Events([], error=ValueError("broken")), grace=math.inf)
    await generation.__aenter__()
    async with generation.subscribe():
        await settle()
    with pytest.raises(ValueError, match="broken"):
        await generation.__aexit__(None, None, None)


async def test_a_source_that_nobody_wanted_is_closed() -> None:
    source = Events([chunk("a")])
    async with broadcast(source):
        pass
    assert (source.given, source.closed) == (0, True)


async def test_leaving_the_block_ends_its_consumers_and_tasks(living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    source = Events([chunk("a")], endless=True)
    received: list[Event] = []

    async def follow(generation: Any) -> None:
        async with generation.subscribe() as consumer:
            async for event in consumer:
                received.append(event)

    async with anyio.create_task_group() as tasks, broadcast(source) as generation:
        tasks.start_soon(follow, generation)
        await settle()
    assert received == [chunk("a")]
    assert source.closed
    assert living_tasks() == before


async def test_cancelling_the_block_closes_the_source(living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    source = Events([], endless=True)
    with anyio.CancelScope() as scope:
        async with broadcast(source) as generation, generation.subscribe() as consumer:
            await settle()
            scope.cancel()
            await anext(consumer)
    assert scope.cancelled_caught
    assert source.closed
    assert living_tasks() == before


async def test_streams_that_run_tasks_can_be_broadcast(living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    stream = parse_stream(["Hel", "lo"], "qwen3", prefix="", chaining=False)
    async with broadcast(stream) as generation, generation.subscribe("join") as consumer:
        assert [event async for event in consumer][-1]["message"]["content"] == "Hello"
    assert living_tasks() == before


async def test_what_is_used_wrongly_says_so() -> None:
    with pytest.raises(SourceError, match="asynchronous iterable of events"):
        broadcast([chunk("a")])  # type: ignore[arg-type]
    generation = broadcast(Events([]))
    with pytest.raises(StreamparseError, match="enter the broadcast"):
        await generation.subscribe().__aenter__()
    async with generation:
        with pytest.raises(ValueError, match="policy"):
            generation.subscribe("hurry")  # type: ignore[arg-type]
        with pytest.raises(StreamparseError, match="no event number 3"):
            generation.subscribe(after=3)
        with pytest.raises(StreamparseError, match="async with"):
            await anext(generation.subscribe())
        with pytest.raises(StreamparseError, match="once only"):
            await generation.__aenter__()
