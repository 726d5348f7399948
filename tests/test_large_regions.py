"""Large tool calls in a stream: read in another thread while the event loop goes on, with the same events."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from streamparse import ParseError, ParseStream, ResponseParser, StreamparseError, parse_stream
from streamparse.limits import LARGE_TEXT
from streamparse.stages.content_stage import ContentStage

TEMPLATE: dict[str, Any] = {
    "start_anchor": "@",
    "fields": {
        "content": {},
        "calls": {"open": "<call>", "close": "</call>", "repeats": True, "content": "json"},
    },
}
LARGE = json.dumps({"rows": [{"id": number, "name": "some name"} for number in range(LARGE_TEXT // 30)]})
SMALL = '{"name": "f"}'
TEXT = f"a<call>{SMALL}</call>b<call>{LARGE}</call>c<call>{SMALL}</call>d"
UNCLOSED = f"a<call>{LARGE}"


@pytest.fixture
def parsed_in(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, bool]]:
    """For each region that was parsed, whether it is large, and whether that was in the thread of the test."""
    seen: list[tuple[bool, bool]] = []
    here, parse = threading.get_ident(), ContentStage._parse

    def noting(stage: ContentStage, region: Any) -> None:
        if not region.field.streams:
            seen.append((len(region.text) > LARGE_TEXT, threading.get_ident() == here))
        parse(stage, region)

    monkeypatch.setattr(ContentStage, "_parse", noting)
    return seen


def in_pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def of_the_core(text: str, errors: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    parser = ResponseParser(TEMPLATE, prefix="", errors=errors)
    events = [event for piece in in_pieces(text, 65_536) for event in parser.feed(piece)]
    message, last = parser.finalize()
    return [*events, *last], message


async def add_all(stream: ParseStream, events: list[dict[str, Any]]) -> None:
    async for event in stream:
        events.append(event)


def essence(events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The events but for how the text of a region is cut into chunks."""
    essence: list[tuple[Any, ...]] = []
    for event in events:
        if event["type"] == "region_chunk" and essence and essence[-1][0] == "region_chunk":
            essence[-1] = ("region_chunk", event["field"], essence[-1][2] + event["text"])
        elif event["type"] == "region_chunk":
            essence.append(("region_chunk", event["field"], event["text"]))
        else:
            essence.append((event["type"], event.get("field"), event.get("value")))
    return essence


@pytest.mark.anyio
@pytest.mark.parametrize("chaining", [True, False])
@pytest.mark.parametrize("errors", ["strict", "report"])
@pytest.mark.parametrize("text", [TEXT, UNCLOSED], ids=["closed", "unclosed"])
async def test_the_events_are_those_of_the_core_and_large_regions_are_parsed_in_another_thread(
    text: str, errors: Any, chaining: bool, parsed_in: list[tuple[bool, bool]]
) -> None:
    expected, message = of_the_core(text, errors)
    parsed_in.clear()
    async with parse_stream(in_pieces(text, 65_536), TEMPLATE, prefix="", errors=errors, chaining=chaining) as stream:
        *events, last = [event async for event in stream]
    assert essence(events) == essence(expected)
    assert last["message"] == message
    first, *_ = parsed_in
    assert first == ((False, True) if text == TEXT else (True, False))
    assert (True, False) in parsed_in


@pytest.mark.anyio
@pytest.mark.parametrize("chaining", [True, False])
async def test_other_tasks_run_while_a_large_region_is_parsed(chaining: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    others_ran, parse = threading.Event(), ContentStage._parse

    def waiting(stage: ContentStage, region: Any) -> None:
        if len(region.text) > LARGE_TEXT:
            assert others_ran.wait(60)  # for ever, if this held up the event loop
        parse(stage, region)

    monkeypatch.setattr(ContentStage, "_parse", waiting)

    async def let_it_go_on() -> None:
        await anyio.sleep(0.01)
        others_ran.set()

    stream = parse_stream(in_pieces(TEXT, 65_536), TEMPLATE, prefix="", chaining=chaining)
    async with anyio.create_task_group() as tasks, stream:
        async for event in stream:
            if event["type"] == "region_chunk" and event["field"] == "content" and event["text"] == "b":
                tasks.start_soon(let_it_go_on)
    assert stream.message is not None
    assert len(stream.message["calls"]) == 3


@pytest.mark.anyio
@pytest.mark.parametrize("chaining", [True, False])
async def test_a_stream_that_is_cancelled_meanwhile_closes_its_source_when_the_thread_is_done(
    chaining: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, closed, done, parse = threading.Event(), [], [], ContentStage._parse
    scope = anyio.CancelScope()

    def slow(stage: ContentStage, region: Any) -> None:
        if len(region.text) > LARGE_TEXT:
            begun.set()
        parse(stage, region)
        done.append(len(region.text))

    monkeypatch.setattr(ContentStage, "_parse", slow)

    async def source() -> AsyncIterator[str]:
        try:
            for piece in in_pieces(TEXT, 65_536):
                yield piece
        finally:
            closed.append(len(done))

    async def cancel() -> None:
        while not begun.is_set():
            await anyio.sleep(0.001)
        scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancel)
        with scope:
            async with parse_stream(source(), TEMPLATE, prefix="", chaining=chaining) as stream:
                async for _ in stream:
                    pass
    assert scope.cancel_called
    assert done
    assert closed


@pytest.mark.anyio
@pytest.mark.parametrize("chaining", [True, False])
async def test_an_error_in_a_large_region_is_raised_after_what_came_before_it(chaining: bool) -> None:
    text = f"a<call>{LARGE[:-1]}</call>b"
    events: list[dict[str, Any]] = []
    async with parse_stream(in_pieces(text, 65_536), TEMPLATE, prefix="", errors="strict", chaining=chaining) as stream:
        with pytest.raises(ParseError, match="not JSON"):
            await add_all(stream, events)
    assert [event["type"] for event in events][:4] == ["region_open", "region_chunk", "region_close", "region_open"]
    assert {event["field"] for event in events[4:]} == {"calls"}


def test_a_parser_that_puts_off_gives_the_same_events_and_no_snapshot_meanwhile() -> None:
    expected, message = of_the_core(TEXT, "report")
    parser = ResponseParser(TEMPLATE, prefix="", errors="report")
    parser.put_off_large_regions(1000)
    events = []
    for piece in in_pieces(TEXT, 65_536):
        events += parser.feed(piece)
        if parser.waiting:
            with pytest.raises(StreamparseError, match="work_off"):
                parser.snapshot()
    assert parser.ends_large
    while parser.waiting:
        events += parser.work_off()
    last_message, last = parser.finalize()
    assert (essence([*events, *last]), last_message) == (essence(expected), message)
    again = ResponseParser(TEMPLATE, prefix="", errors="report")
    again.put_off_large_regions(1000)
    events = [event for piece in in_pieces(TEXT, 65_536) for event in again.feed(piece)]
    last_message, last = again.finalize()
    assert (essence([*events, *last]), last_message) == (essence(expected), message)


def test_who_is_told_that_something_waits_sees_it_wait() -> None:
    parser = ResponseParser("qwen3", "")
    seen: list[bool] = []
    parser.put_off_large_regions(5, lambda: seen.append(parser.waiting))
    parser.feed('<tool_call>{"name": "f", "arguments": {}}</tool_call>So.')
    parser.feed("And.")
    assert seen == [True], "once, as it waits on"
    while parser.waiting:
        parser.work_off()
    parser.feed('<tool_call>{"name": "f", "arguments": {}}</tool_call>So.')
    assert seen == [True, True]
