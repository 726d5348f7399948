"""A reader that waits with a deadline: the wait is cancelled, nothing is lost, and the source lives on."""

from __future__ import annotations

import asyncio
import gc
import queue
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from streamparse import KeyedParser, broadcast, parse_many, parse_stream, pump
from streamparse.errors import StreamparseError
from streamparse.graph import Channel, Concurrent
from streamparse.stream import ParseStream

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_thread_left")]

PIECES = ["<think>Hm", " well</think>", "Hel", "lo<tool_call>", '{"name": "f", "arguments": ', '{"x": 1}}</tool_call>']
MESSAGE = {
    "role": "assistant",
    "reasoning_content": "Hm well",
    "content": "Hello",
    "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"x": 1}}}],
}

Event = dict[str, Any]


class Gate:
    """A source of pieces, each of which comes when it is let through; notes whether it is open."""

    def __init__(self) -> None:
        self.open = 0
        self.cancelled = 0
        self.queue: Channel[str] = Channel("gate")
        self.blocking: queue.Queue[str | None] = queue.Queue()

    def let(self, piece: str) -> None:
        self.queue.offer([piece])
        self.blocking.put(piece)

    def end(self) -> None:
        self.queue.close()
        self.blocking.put(None)

    async def generator(self) -> AsyncIterator[str]:
        self.open += 1
        try:
            async for batch in self.queue:
                yield "".join(batch)
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise
        finally:
            self.open -= 1

    async def with_timeouts(self) -> AsyncIterator[str]:
        """As a client of HTTP does it: each wait in a cancel scope of its own, under the eyes of one task."""
        self.open += 1
        try:
            while True:
                try:
                    with anyio.fail_after(60):
                        batch = await anext(self.queue)
                except StopAsyncIteration:
                    return
                yield "".join(batch)
        finally:
            self.open -= 1

    def iterator(self) -> AsyncIterator[str]:
        """A response whose iterator is a class, around a generator: as those of official clients."""

        class Response:
            def __init__(self, pieces: Any) -> None:
                self._pieces = pieces

            def __aiter__(self) -> Response:
                return self

            async def __anext__(self) -> str:
                piece: str = await anext(self._pieces)
                return piece

            async def close(self) -> None:
                await self._pieces.aclose()

        return Response(self.generator())

    def thread(self) -> Iterator[str]:
        yield from iter(self.blocking.get, None)

    def channel(self) -> Channel[str]:
        return self.queue


KINDS = ["generator", "with_timeouts", "iterator", "thread", "channel"]
WAYS: list[dict[str, Any]] = [
    {},
    {"read_ahead": True},
    {"chaining": False},
    {"inner_stages": {"regions": [lambda item: [item]]}},
]


async def pass_one(event: Event) -> list[Event]:
    await checkpoint()
    return [event]


@asynccontextmanager
async def reading(gate: Gate, kind: str, way: dict[str, Any]) -> AsyncIterator[ParseStream]:
    source = getattr(gate, kind)()
    async with parse_stream(source, "qwen3", prefix="", blocking=kind == "thread", **way) as stream:
        try:
            yield stream
        finally:
            gate.end()


Deadline = Callable[[Awaitable[Any]], Awaitable[Any]]


async def by_scope(wait: Awaitable[Any]) -> Any:
    """Cancel the wait once everything has come to rest."""
    with anyio.move_on_after(0.02) as scope:
        return await wait
    assert scope.cancelled_caught
    raise TimeoutError


async def by_wait_for(wait: Awaitable[Any]) -> Any:
    return await asyncio.wait_for(wait, 0.02)  # type: ignore[arg-type]


async def by_timeout(wait: Awaitable[Any]) -> Any:
    async with asyncio.timeout(0.02):
        return await wait


def deadlines(backend: str) -> list[Deadline]:
    return [by_scope] if backend == "trio" else [by_scope, by_wait_for, by_timeout]


async def all_with_heartbeats(events: Any, gate: Gate, deadline: Deadline) -> tuple[list[Event], int]:
    """Let a piece through after each time-out; the events, and how many time-outs there were."""
    got: list[Event] = []
    beats = 0
    pieces = iter(PIECES)
    while True:
        try:
            got.append(await deadline(anext(events)))
        except TimeoutError:
            beats += 1
            piece = next(pieces, None)
            if piece is None:
                gate.end()
            else:
                gate.let(piece)
        except StopAsyncIteration:
            return got, beats


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_wait_that_is_cut_short_goes_on_with_the_next_call(
    kind: str, way: dict[str, Any], anyio_backend: str, living_tasks: Callable[[], int]
) -> None:
    before = living_tasks()
    for deadline in deadlines(anyio_backend):
        gate = Gate()
        async with reading(gate, kind, way) as stream:
            events, beats = await all_with_heartbeats(stream, gate, deadline)
        assert events[-1]["message"] == MESSAGE
        assert beats > len(PIECES)
        assert (gate.open, gate.cancelled) == (0, 0)
    assert living_tasks() == before


async def test_aiter_makes_no_difference(anyio_backend: str) -> None:
    for deadline in deadlines(anyio_backend):
        gate = Gate()
        stream = parse_stream(gate.generator(), "qwen3", prefix="")
        events, _ = await all_with_heartbeats(aiter(stream), gate, deadline)
        assert events[-1]["message"] == MESSAGE
        assert gate.open == 0


async def test_stages_that_await_and_their_tasks_live_on() -> None:
    gate = Gate()
    async with reading(gate, "generator", {"stages": [Concurrent(pass_one)]}) as stream:
        events, _ = await all_with_heartbeats(stream, gate, by_scope)
    assert events[-1]["message"] == MESSAGE


async def test_parse_many_survives_a_deadline(anyio_backend: str) -> None:
    for deadline in deadlines(anyio_backend):
        gate = Gate()
        async with parse_many({"a": gate.generator()}, "qwen3", prefix="") as stream:
            events, beats = await all_with_heartbeats(stream, gate, deadline)
        assert events[-1][1]["message"] == MESSAGE
        assert beats > len(PIECES)


@pytest.mark.parametrize("entered", [True, False])
async def test_a_pump_survives_a_deadline(entered: bool) -> None:
    gate = Gate()

    async def steps() -> AsyncIterator[Any]:
        async for text in gate.generator():
            yield [("a", text)]

    stream = pump(steps(), KeyedParser("qwen3", prefix=""))
    if entered:
        async with stream:
            batches, _ = await all_with_heartbeats(stream, gate, by_scope)
    else:
        batches, _ = await all_with_heartbeats(stream, gate, by_scope)
    assert batches[-1][0][1][-1]["message"] == MESSAGE


async def test_a_consumer_of_a_broadcast_survives_a_deadline(anyio_backend: str) -> None:
    for deadline in deadlines(anyio_backend):
        gate = Gate()
        async with (
            broadcast(parse_stream(gate.generator(), "qwen3", prefix="")) as generation,
            generation.subscribe() as consumer,
        ):
            events, _ = await all_with_heartbeats(consumer, gate, deadline)
        assert events[-1]["message"] == MESSAGE


@given(
    kind=st.sampled_from(["generator", "with_timeouts", "iterator", "channel"]),
    way=st.sampled_from(WAYS),
    turns=st.lists(st.integers(0, 6), min_size=1, max_size=40),
    loop_at=st.integers(0, 40),
)
async def test_no_moment_of_a_cancellation_loses_anything(
    kind: str, way: dict[str, Any], turns: list[int], loop_at: int
) -> None:
    """Cancelled after some turns of the event loop, wherever that is; at the end the rest is read in one go."""
    gate = Gate()
    got: list[Event] = []

    async def write() -> None:
        for number, piece in enumerate(PIECES):
            for _ in range(number % 3 * 2):
                await checkpoint()
            gate.let(piece)
        gate.end()

    async def cancel(scope: anyio.CancelScope, after: int) -> None:
        for _ in range(after):
            await checkpoint()
        scope.cancel()

    async with anyio.create_task_group() as tasks, reading(gate, kind, way) as stream:
        tasks.start_soon(write)
        for number, after in enumerate(turns):
            if number == loop_at:
                break
            with anyio.CancelScope() as scope:
                tasks.start_soon(cancel, scope, after)
                event = await anext(stream, None)
                if event is not None:
                    got.append(event)
        async for event in stream:
            got.append(event)
    assert got[-1]["message"] == MESSAGE
    text = {"reasoning_content": "", "content": ""}
    for event in got:
        if event["type"] == "region_chunk" and not event["dirty"]:
            text[event["field"]] += event["text"]
    assert text == {"reasoning_content": "Hm well", "content": "Hello"}
    assert gate.open == 0


@pytest.mark.parametrize("kind", ["generator", "iterator", "with_timeouts"])
async def test_leaving_while_something_is_asked_of_the_source_closes_it(
    kind: str, living_tasks: Callable[[], int]
) -> None:
    before = living_tasks()
    for leave in ("block", "aclose", "cancel"):
        gate = Gate()
        stream = parse_stream(getattr(gate, kind)(), "qwen3", prefix="")
        gate.let("Hi")
        if leave == "cancel":
            with anyio.move_on_after(0.05):
                async with stream:
                    while True:
                        await anext(stream)
        else:
            async with stream if leave == "block" else aclosing(stream):
                await anext(stream)
                await anext(stream)
                with pytest.raises(TimeoutError):
                    await by_scope(anext(stream))
                assert gate.open == 1
        assert gate.open == 0
        assert living_tasks() == before
        assert await anext(stream, "the end") == "the end"


async def test_a_stream_that_nobody_refers_to_lets_go_of_what_it_asked_for(living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    gate = Gate()
    stream = parse_stream(gate.generator(), "qwen3", prefix="")
    with pytest.raises(TimeoutError):
        await by_scope(anext(stream))
    assert gate.open == 1
    del stream
    gc.collect()
    with anyio.fail_after(5):
        while gate.open or living_tasks() > before:
            await checkpoint()


async def test_the_source_is_asked_and_closed_by_one_task() -> None:
    """As sources need it that keep a task group, or a cancel scope, open from piece to piece."""
    tasks: set[int] = set()

    async def source() -> AsyncIterator[str]:
        try:
            for piece in ("a", "b"):
                tasks.add(anyio.get_current_task().id)
                await checkpoint()
                yield piece
            await anyio.sleep_forever()
        finally:
            tasks.add(anyio.get_current_task().id)

    async with parse_stream(source(), "qwen3", prefix="") as stream:
        for _ in range(3):
            await anext(stream)
        with pytest.raises(TimeoutError):
            await by_scope(anext(stream))
    assert len(tasks) == 1
    assert anyio.get_current_task().id not in tasks


async def test_what_the_source_raised_meanwhile_is_raised_by_the_next_call() -> None:
    let_fail = anyio.Event()

    async def failing() -> AsyncIterator[str]:
        yield "Hello"
        await let_fail.wait()
        raise OSError("connection lost")

    async with parse_stream(failing(), "qwen3", prefix="") as stream:
        assert [(await anext(stream))["type"] for _ in range(2)] == ["region_open", "region_chunk"]
        with pytest.raises(TimeoutError):
            await by_scope(anext(stream))
        let_fail.set()
        await anyio.sleep(0.01)
        with pytest.raises(StreamparseError, match="connection lost"):
            await anext(stream)
