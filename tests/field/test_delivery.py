"""Field cases 150 and 151, and their siblings: a client that has gone, and a client that reads slowly.

150: a worker thread goes on pushing tokens into an unbounded queue after the client is gone. Right is that the producer
sees it within one token, and that what waits is bounded. 151: a queue for a slow reader grows without limit. Right is a
bounded queue with a stated policy: what can be joined is joined, then the producer waits, and nothing is lost.
"""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import pytest

from streamparse import parse_stream
from streamparse.errors import ChannelClosedError
from streamparse.graph import Channel
from streamparse.stream import ParseStream

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_thread_left")]

CAPACITY = 2_000
TOKEN = "token "


class Worker:
    """A thread's work, as a model that generates: gives a token for each that is allowed, until it is stopped."""

    def __init__(self) -> None:
        self.given = 0
        self.stopped = threading.Event()
        self._allowed = threading.Semaphore(0)

    def allow(self, tokens: int) -> None:
        """Let it give so many tokens more."""
        self._allowed.release(tokens)

    def __iter__(self) -> Iterator[str]:
        try:
            while True:
                self._allowed.acquire()
                self.given += 1
                yield TOKEN
        finally:
            self.stopped.set()

    def push(self, channel: Channel[str]) -> None:
        """Do the same from a thread, but push the tokens into a channel."""
        try:
            for token in self:
                anyio.from_thread.run(channel.send, [token])
        except ChannelClosedError:
            pass
        finally:
            self.stopped.set()


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something in another thread is true."""
    with anyio.fail_after(10):
        while not condition():
            await anyio.sleep(0.001)


class ClientGone(Exception):
    """What a server raises when the connection is lost."""


async def leave_by_break(stream: ParseStream, gone: anyio.Event) -> None:
    async with stream:
        async for event in stream:
            if event["type"] == "region_chunk":
                gone.set()
                break


async def leave_by_error(stream: ParseStream, gone: anyio.Event) -> None:
    try:
        async with stream:
            async for event in stream:
                if event["type"] == "region_chunk":
                    gone.set()
                    raise ClientGone
    except ClientGone:
        return
    pytest.fail("the server's own error comes through")


async def leave_by_cancellation(stream: ParseStream, gone: anyio.Event) -> None:
    with anyio.CancelScope() as connection:
        async with stream:
            async for event in stream:
                if event["type"] == "region_chunk":
                    gone.set()
                    connection.cancel()


async def leave_by_closing(stream: ParseStream, gone: anyio.Event) -> None:
    async for event in stream:
        if event["type"] == "region_chunk":
            gone.set()
            await stream.aclose()


LEAVING = [leave_by_break, leave_by_error, leave_by_cancellation, leave_by_closing]


@pytest.mark.parametrize("leave", LEAVING)
async def test_a_worker_thread_stops_within_a_token_when_the_client_is_gone(leave: Any) -> None:
    worker, gone = Worker(), anyio.Event()
    stream = parse_stream(worker, "qwen3", prefix="", blocking=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(leave, stream, gone)
        worker.allow(1)
        await gone.wait()
        await anyio.wait_all_tasks_blocked()  # by now the stream is being closed, after a cancellation too
        given = worker.given
        worker.allow(100)
    await until(worker.stopped.is_set)
    assert worker.given <= given + 1


@pytest.mark.parametrize("leave", LEAVING)
async def test_a_worker_that_pushes_into_a_channel_is_told_at_its_next_token(leave: Any) -> None:
    worker, gone, channel = Worker(), anyio.Event(), Channel[str](capacity=CAPACITY)
    stream = parse_stream(channel, "qwen3", prefix="")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.to_thread.run_sync, worker.push, channel)
        tasks.start_soon(leave, stream, gone)
        worker.allow(1)
        await gone.wait()
        given = worker.given
        await until(lambda: channel.closed)
        worker.allow(100)
    assert worker.stopped.is_set()
    assert worker.given <= given + 1


async def test_a_worker_thread_waits_while_the_client_reads_nothing() -> None:
    worker = Worker()
    worker.allow(1_000_000)
    async with parse_stream(worker, "qwen3", prefix="", blocking=True, capacity=CAPACITY) as stream:
        assert [(await anext(stream))["type"], (await anext(stream))["type"]] == ["region_open", "region_chunk"]
        full = CAPACITY // len(TOKEN)
        await until(lambda: worker.given > full // 10)
        await anyio.sleep(0.02)
        assert worker.given <= 3 * full, "what has been read, what waits, and one that there is no room for"
    assert worker.stopped.is_set()


PROSE = [TOKEN] * 3_000
CALL = ["<tool_call>", '{"name": "write", "arguments": {"text": "', *[TOKEN] * 3_000, '"}}', "</tool_call>"]


@pytest.mark.parametrize("pieces", [PROSE, CALL], ids=["text", "the arguments of a call"])
@pytest.mark.parametrize("chaining", [True, False])
async def test_what_waits_for_a_slow_client_is_bounded_and_nothing_is_lost(pieces: list[str], chaining: bool) -> None:
    async def source() -> AsyncIterator[str]:
        for piece in pieces:
            yield piece

    events = []
    stream = parse_stream(
        source(), "qwen3", prefix="", deltas=True, chaining=chaining, read_ahead=True, capacity=CAPACITY
    )
    async with stream:
        async for event in stream:
            events.append(event)
            await anyio.sleep(0)
            if len(events) % 7 == 0:
                await anyio.sleep(0.001)
            for channel in stream.statistics().channels:
                assert channel.weight_waiting <= 4 * CAPACITY, "a batch may be what waited before, with its deltas"
    text = "".join(event["text"] for event in events if event["type"] == "region_chunk")
    assert text == "".join(piece for piece in pieces if not piece.startswith(("<tool", "</tool")))
    arguments = "".join(event.get("arguments", "") for event in events if event["type"] == "region_delta")
    if pieces is CALL:
        assert json.loads(arguments) == {"text": TOKEN * 3_000}
        assert len(events) < len(pieces), "what waited was joined"


async def test_a_slow_client_does_not_hold_up_another() -> None:
    """Each client's stream has bounds of its own: one that does not read at all waits alone."""
    asleep = parse_stream(iter(PROSE), "qwen3", prefix="", read_ahead=True, capacity=CAPACITY)
    awake = parse_stream(iter(PROSE), "qwen3", prefix="", read_ahead=True, capacity=CAPACITY)
    async with asleep, awake:
        await anext(asleep)
        text = "".join([event["text"] async for event in awake if event["type"] == "region_chunk"])
        assert text == "".join(PROSE)
        assert all(channel.weight_waiting <= CAPACITY for channel in asleep.statistics().channels)


async def test_a_callback_that_can_not_wait_is_told_that_there_is_no_room() -> None:
    channel = Channel[str](capacity=CAPACITY)
    stream = parse_stream(channel, "qwen3", prefix="")
    taken = 0
    while channel.offer([TOKEN]):
        taken += 1
    assert channel.statistics().weight_waiting <= CAPACITY
    channel.close()
    text = "".join([event["text"] async for event in stream if event["type"] == "region_chunk"])
    assert text == TOKEN * taken
