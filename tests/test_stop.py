"""``stop()``: the generation ends now, and its last events and message come all the same."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from streamparse import End, parse_many, parse_stream
from streamparse.graph import Channel, Concurrent
from streamparse.stream import ParseStream

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_thread_left")]

Event = dict[str, Any]


async def pass_one(event: Event) -> list[Event]:
    await checkpoint()
    return [event]


WAYS: list[dict[str, Any]] = [
    {},
    {"read_ahead": True},
    {"chaining": False},
    {"inner_stages": {"regions": [lambda item: [item]]}},
    {"stages": [Concurrent(pass_one)]},
]


class Hanging:
    """Sources that give two pieces and then nothing for ever; ``open`` counts those that are."""

    def __init__(self) -> None:
        self.open = 0
        self.go_on = threading.Event()

    async def generator(self) -> AsyncIterator[str]:
        self.open += 1
        try:
            for piece in ("Hello ", "world"):
                await checkpoint()
                yield piece
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await checkpoint()
            self.open -= 1

    async def with_timeouts(self) -> AsyncIterator[str]:
        self.open += 1
        try:
            yield "Hello "
            yield "world"
            with anyio.fail_after(60):
                await anyio.sleep_forever()
        finally:
            self.open -= 1

    async def with_tasks(self) -> AsyncIterator[str]:
        self.open += 1
        try:
            yield "Hello "
            yield "world"
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.sleep_forever)
        finally:
            self.open -= 1

    def iterator(self) -> AsyncIterator[str]:
        class Pending:
            """An awaitable that is no coroutine."""

            def __init__(self, work: Any) -> None:
                self._work = work

            def __await__(self) -> Any:
                return self._work.__await__()

        class Response:
            def __init__(self, pieces: Any) -> None:
                self._pieces = pieces

            def __aiter__(self) -> Response:
                return self

            def __anext__(self) -> Any:
                return Pending(self._pieces.__anext__())

            async def aclose(self) -> None:
                await self._pieces.aclose()

        return Response(self.generator())

    def channel(self) -> Channel[str]:
        channel: Channel[str] = Channel("hanging")
        channel.offer(["Hello ", "world"])
        return channel

    def thread(self) -> Iterator[str]:
        yield "Hello "
        yield "world"
        self.go_on.wait(60)
        yield "!"


KINDS = ["generator", "with_timeouts", "with_tasks", "iterator", "channel", "thread"]


async def read_by_loop(stream: ParseStream, events: list[Event]) -> None:
    async for event in stream:
        events.append(event)


async def read_by_anext(stream: ParseStream, events: list[Event]) -> None:
    while (event := await anext(stream, None)) is not None:
        events.append(event)


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.001)


def text_of(events: list[Event]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "region_chunk")


@pytest.mark.parametrize("read", [read_by_loop, read_by_anext])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_reader_that_waits_for_a_source_that_hangs_gets_its_message(
    kind: str, way: dict[str, Any], read: Any, living_tasks: Callable[[], int], anyio_backend: str
) -> None:
    if (kind, way, read, anyio_backend) == ("with_tasks", {}, read_by_loop, "trio"):
        pytest.skip("trio can't end a task's wait for a nursery from inside of it: that goes on to the next piece")
    before = living_tasks()
    hanging = Hanging()
    events: list[Event] = []
    stream = parse_stream(getattr(hanging, kind)(), "qwen3", prefix="", blocking=kind == "thread", **way)
    async with anyio.create_task_group() as tasks, stream:
        tasks.start_soon(read, stream, events)
        await until(lambda: text_of(events) == "Hello world")
        for _ in range(5):
            await checkpoint()
        hanging.go_on.set()  # a thread can't be interrupted; closing waits for its next piece
        stream.stop("user")
        stream.stop("not this")
        await until(lambda: stream.message is not None and events[-1]["type"] == "message")
        stream.stop("too late")
    assert events[-1]["message"] == {"role": "assistant", "content": events[-1]["message"]["content"]}
    assert events[-1]["message"]["content"].startswith("Hello world")
    assert events[-1]["finish_reason"] == "user"
    assert stream.end is not None
    assert stream.end.finish_reason == "user"
    assert [event["type"] for event in events[-2:]] == ["region_close", "message"]
    assert hanging.open == 0
    assert living_tasks() == before


@pytest.mark.parametrize("way", WAYS)
async def test_before_the_first_event_it_leaves_what_the_prompt_began(way: dict[str, Any]) -> None:
    hanging = Hanging()
    async with parse_stream(hanging.generator(), "qwen3", prefix="<|im_start|>assistant\n<think>\n", **way) as stream:
        stream.stop()
        events = [event async for event in stream]
    assert [event["type"] for event in events] == ["region_open", "region_close", "message"]
    assert events[-1]["finish_reason"] == "stop"
    assert hanging.open == 0


async def test_after_the_end_it_changes_nothing() -> None:
    stream = parse_stream(["Hello", End("length")], "qwen3", prefix="")
    events = [event async for event in stream]
    stream.stop()
    assert events[-1]["finish_reason"] == "length"
    assert stream.end == End("length")
    assert [event async for event in stream] == []


@pytest.mark.parametrize("finish_reason", ["stop", "user"])
@pytest.mark.parametrize("way", WAYS)
async def test_a_call_that_was_stopped_in_the_middle_is_none(finish_reason: str, way: dict[str, Any]) -> None:
    """Also where its JSON is complete, as it may have gone on, and where repair could close it."""
    for errors in ("report", "repair"):
        source = ['<tool_call>{"name": "f", "arguments": {"path": "/"}}', "\n</tool_call>"]
        stream = parse_stream(source, "qwen3", prefix="", errors=errors, **way)  # type: ignore[arg-type]
        async with stream:
            await anext(stream)
            stream.stop(finish_reason)
            async for _ in stream:
                pass
        cut = parse_stream([source[0], End("length")], "qwen3", prefix="", errors=errors)  # type: ignore[arg-type]
        assert [event async for event in cut]
        if way.get("chaining", True) and "stages" not in way and "read_ahead" not in way:
            assert stream.message == cut.message
            assert "tool_calls" not in (stream.message or {})


async def test_the_loop_itself_may_stop_the_stream() -> None:
    read: list[str] = []

    async def source() -> AsyncIterator[str]:
        for piece in ["a", "b", "c", "d"]:
            read.append(piece)
            yield piece

    stream = parse_stream(source(), "qwen3", prefix="")
    async for event in stream:
        if event.get("text") == "b":
            stream.stop()
    assert stream.message == {"role": "assistant", "content": "ab"}
    assert read == ["a", "b"]


async def test_the_source_itself_may_stop_the_stream() -> None:
    """From within, as a source does that sees a mark of its own; what it gives last is still parsed."""

    async def source() -> AsyncIterator[str]:
        yield "a"
        stream.stop()
        await checkpoint()
        yield "b"
        await anyio.sleep_forever()

    for read in (read_by_loop, read_by_anext):
        events: list[Event] = []
        stream = parse_stream(source(), "qwen3", prefix="")
        with anyio.fail_after(5):
            await read(stream, events)
        assert stream.message == {"role": "assistant", "content": "ab"}


async def test_a_source_that_keeps_the_cancellation_to_itself_leaves_no_trace_of_it() -> None:
    async def stubborn() -> AsyncIterator[str]:
        yield "a"
        try:
            await anyio.sleep_forever()
        except BaseException:
            yield "b"

    stream = parse_stream(stubborn(), "qwen3", prefix="")

    async def stop() -> None:
        for _ in range(10):
            await checkpoint()
        stream.stop()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop)
        async for _ in stream:
            pass
        with anyio.fail_after(5):
            await checkpoint()
        task = asyncio.current_task() if "asyncio" in str(type(anyio.get_current_task())) else None
        assert task is None or task.cancelling() == 0
    assert stream.message is not None


@given(turns=st.integers(0, 12), both=st.integers(0, 12), kind=st.sampled_from(["generator", "with_timeouts"]))
async def test_stopped_and_cancelled_at_any_moment_the_cancellation_counts(turns: int, both: int, kind: str) -> None:
    """A stop never swallows a cancellation that comes with it, and leaves none behind."""
    hanging = Hanging()
    stream = parse_stream(getattr(hanging, kind)(), "qwen3", prefix="")
    events: list[Event] = []

    async def later(turns: int, call: Callable[[], object]) -> None:
        for _ in range(turns):
            await checkpoint()
        call()

    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as scope:
            tasks.start_soon(later, turns, stream.stop)
            tasks.start_soon(later, both, scope.cancel)
            async for event in stream:
                events.append(event)
        assert scope.cancelled_caught or events[-1]["type"] == "message"
        await checkpoint()
    assert hanging.open == 0


async def test_one_generation_of_many_is_stopped_under_a_reason() -> None:
    hanging = Hanging()
    last: dict[Any, Event] = {}
    async with parse_many({"a": hanging.generator(), "b": ["Hi"]}, "qwen3", prefix="") as stream:
        async for key, event in stream:
            last[key] = event
            if event.get("text") == "world":
                assert stream.stop("a", "user")
    assert not stream.stop("a")
    assert last["a"]["message"] == {"role": "assistant", "content": "Hello world"}
    assert last["a"]["finish_reason"] == "user"
    assert last["b"]["finish_reason"] is None
    assert hanging.open == 0


async def test_one_of_many_that_is_stopped_before_it_begins_or_in_a_call() -> None:
    call = ['<tool_call>{"name": "f", "arguments": {}}']

    async def hangs(pieces: list[str]) -> AsyncIterator[str]:
        for piece in pieces:
            yield piece
        await anyio.sleep_forever()

    last: dict[Any, Event] = {}
    async with parse_many({"a": hangs(call), "b": hangs(["Hi"])}, "qwen3", prefix="", limit=1) as stream:
        assert stream.stop("b")
        async for key, event in stream:
            last[key] = event
            if event["type"] == "region_chunk":
                stream.stop("a")
    assert "tool_calls" not in last["a"]["message"]
    assert last["b"]["finish_reason"] == "stop"
