"""parse_stream: the parser's events from any source, the message last, and nothing left behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import (
    LimitError,
    ParseError,
    PrefixError,
    SourceError,
    StageError,
    StreamparseError,
    TemplateError,
)
from streamparse.graph import Channel, Concurrent
from streamparse.limits import Limits
from streamparse.parser import ResponseParser
from streamparse.stream import End, ParseStream, parse_stream

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_thread_left")]

TEMPLATE: dict[str, Any] = {
    "start_anchor": "<|assistant|>",
    "defaults": {"role": "assistant"},
    "fields": {
        "reasoning_content": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open": "<call>",
            "close": "</call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {},
    },
}
TEXT = '<think>The user greets. 🙂</think>Hello!<call>{"name": "f", "arguments": {"x": 1}}</call> Done.'
PREFILL = "<|assistant|><think>So"

Event = dict[str, Any]


async def collect(stream: ParseStream) -> list[Event]:
    async with stream:
        return [event async for event in stream]


def of_the_core(pieces: Iterable[Any], prefix: str = "", **options: Any) -> list[Event]:
    """The events that the parser gives without any stream."""
    finish_reason = options.pop("finish_reason", None)
    parser = ResponseParser(TEMPLATE, prefix, **{"errors": "report", **options})
    events = list(parser.initial_events)
    for piece in pieces:
        events += parser.feed(piece)
    message, last = parser.finalize(finish_reason)
    closing = {"type": "message", "message": message, "problems": parser.problems, "finish_reason": finish_reason}
    return [*events, *last, closing]


def said(events: list[Event]) -> list[Any]:
    """What events say, however their chunks are cut."""
    parts: list[Any] = []
    for event in events:
        if event["type"] == "region_chunk":
            parts += [(event["field"], event["dirty"], character) for character in event["text"]]
        else:
            parts.append(event)
    return parts


def cut(text: Any, *places: int) -> list[Any]:
    """A text, or bytes, in pieces."""
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


async def from_async(pieces: Iterable[Any]) -> AsyncIterator[Any]:
    for piece in pieces:
        await checkpoint()
        yield piece


class Tokenizer:
    """A tokenizer whose token ids are the characters' numbers."""

    def decode(self, ids: list[int], **options: Any) -> str:
        return "".join(map(chr, ids))


class Source:
    """An asynchronous or synchronous source that counts how often it is open, and what was read of it."""

    def __init__(self, pieces: Iterable[Any] = ("<think>", "a ", "b ", "c ") * 5) -> None:
        self.pieces = list(pieces)
        self.open = 0
        self.read: list[Any] = []

    async def asynchronous(self) -> AsyncIterator[Any]:
        with self:
            for piece in self.pieces:
                await checkpoint()
                self.read.append(piece)
                yield piece

    def synchronous(self) -> Iterator[Any]:
        with self:
            for piece in self.pieces:
                self.read.append(piece)
                yield piece

    def __enter__(self) -> None:
        self.open += 1

    def __exit__(self, *error: object) -> None:
        self.open -= 1


WAYS: list[dict[str, Any]] = [{}, {"chaining": False}, {"read_ahead": True}, {"read_ahead": True, "capacity": 1}]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("source", [list, iter, from_async])
async def test_the_events_are_those_of_the_parser_and_then_the_message(
    source: Callable[[list[str]], Any], way: dict[str, Any]
) -> None:
    pieces = cut(TEXT, *range(0, 200, 3))
    expected = of_the_core(pieces, PREFILL)
    events = await collect(parse_stream(source(pieces), TEMPLATE, prefix=PREFILL, **way))
    assert said(events) == said(expected)
    assert events == expected or way.get("capacity") == 1
    assert events[-1]["message"]["tool_calls"][0]["function"] == {"name": "f", "arguments": {"x": 1}}


CALLS = (
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>Hello"
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n</tool_call>"
    "<tool_call>g\n<arg_key>b</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>"
)
"""The number of the first call is known to be one when its region ends, that of the second is none."""
TOOLS = [{"function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}}]


@pytest.mark.parametrize("way", [*WAYS, {"inner_stages": {"regions": [lambda item: [item]]}}])
@pytest.mark.parametrize("cuts", [(), range(1, 300)], ids=["whole", "by the character"])
async def test_deltas_are_those_of_the_parser(way: dict[str, Any], cuts: Iterable[int]) -> None:
    pieces = cut(CALLS, *cuts)
    options: dict[str, Any] = {"tools": TOOLS, "errors": "report", "deltas": True}
    parser = ResponseParser("glm45", "", **options)
    expected = [event for piece in pieces for event in parser.feed(piece)] + parser.finalize()[1]
    stream = parse_stream(from_async(pieces), "glm45", prefix="", call_ids=True, **options, **way)
    events = [{key: value for key, value in event.items() if key != "id"} for event in await collect(stream)]
    deltas = [event for event in events if event["type"] == "region_delta"]
    assert [event["index"] for event in deltas if "name" in event] == [0, 1, 2]
    assert "".join(event.get("arguments", "") for event in deltas) == '{"a":1}{"a":"x"}{"b":{}}'
    if way.get("capacity") != 1:
        assert deltas == [event for event in expected if event["type"] == "region_delta"]


@pytest.mark.parametrize("way", [way for way in WAYS if "capacity" not in way])  # with one, pieces are joined
async def test_too_many_events_are_too_many_in_each_way(way: dict[str, Any]) -> None:
    stream = parse_stream(from_async("abcdefgh"), TEMPLATE, prefix="", limits=Limits(events=5), **way)
    with pytest.raises(LimitError, match="more than 5 events"):
        await collect(stream)


@pytest.mark.parametrize(
    ("pieces", "options"),
    [
        (cut(TEXT, *range(0, 300, 5)), {}),
        (cut(TEXT.encode(), *range(0, 300, 5)), {}),
        (list(map(ord, TEXT)), {"tokenizer": Tokenizer()}),
        ([list(map(ord, piece)) for piece in cut(TEXT, 5, 9, 50)], {"tokenizer": Tokenizer()}),
        (TEXT, {}),
        ([TEXT], {}),
    ],
    ids=["text", "bytes", "ids", "lists of ids", "one text", "one piece"],
)
@pytest.mark.parametrize("blocking", [False, True])
async def test_pieces_may_be_text_bytes_or_token_ids(pieces: Any, options: dict[str, Any], blocking: bool) -> None:
    events = await collect(parse_stream(pieces, TEMPLATE, prefix="", blocking=blocking, **options))
    assert said(events) == said(of_the_core([TEXT]))


async def pass_item(item: Any) -> list[Any]:
    await checkpoint()
    return [item]


INNER: list[dict[str, Any]] = [{"inner_stages": {name: [Concurrent(pass_item)]}} for name in ("detokenize", "regions")]
"""Ways with a stage inside that awaits."""


@given(
    text=st.lists(
        st.sampled_from(["<think>", "</think>", "<call>", "</call>", '{"name": "f"}', "<", "a ", "é", "\n", "</"])
    ).map("".join),
    places=st.lists(st.integers(0, 200), max_size=8),
    as_bytes=st.booleans(),
    source=st.sampled_from([list, iter, from_async]),
    way=st.sampled_from([*WAYS, {"blocking": True}, *INNER]),
    finish_reason=st.sampled_from([None, "stop", "length"]),
    awaiting=st.lists(st.sampled_from(["batch", "generator", "ordered", "unordered"]), max_size=2),
)
async def test_the_way_in_which_a_text_is_streamed_never_shows(
    text: str,
    places: list[int],
    as_bytes: bool,
    source: Callable[[list[str]], Any],
    way: dict[str, Any],
    finish_reason: str | None,
    awaiting: list[str],
) -> None:
    pieces = cut(text.encode() if as_bytes else text, *places)
    end = [] if finish_reason is None else [End(finish_reason)]
    stages = [PASSING[kind] for kind in awaiting]
    events = await collect(parse_stream(source([*pieces, *end]), TEMPLATE, prefix="", stages=stages, **way))
    assert said(events) == said(of_the_core([text], finish_reason=finish_reason))


@pytest.mark.parametrize("way", [*WAYS, *INNER])
async def test_a_call_that_was_whole_before_the_cut_counts_in_each_way(way: dict[str, Any]) -> None:
    text = '<call>{"name": "f"}\n<call>{"name": "g", "arg'
    expected = of_the_core([text], finish_reason="length")
    events = await collect(parse_stream(from_async([text, End("length")]), TEMPLATE, prefix="", **way))
    assert events == expected
    assert [call["function"]["name"] for call in events[-1]["message"]["tool_calls"]] == ["f"]


NO_PIECES = [None, {}, 0.0, set(), False, 1.5, {"text": "a"}, object()]


@pytest.mark.parametrize("before", [[], ["a"], [b"a"]], ids=["first", "after text", "after bytes"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("piece", NO_PIECES, ids=lambda piece: type(piece).__name__)
async def test_what_is_no_piece_is_an_error_in_each_way(piece: Any, way: dict[str, Any], before: list[Any]) -> None:
    stream = parse_stream(from_async([*before, piece, "b"]), TEMPLATE, prefix="", **way)
    with pytest.raises(SourceError, match=f"not {type(piece).__name__}"):
        await collect(stream)
    parser = ResponseParser(TEMPLATE, "")
    for piece_before in before:
        parser.feed(piece_before)
    with pytest.raises(SourceError, match=f"not {type(piece).__name__}"):
        parser.feed(piece)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("nothing", ["", b"", bytearray(), [], ()], ids=repr)
async def test_an_empty_piece_of_any_kind_says_nothing(nothing: Any, way: dict[str, Any]) -> None:
    for pieces in ([nothing, "a"], ["a", nothing, "b"]):
        events = await collect(parse_stream(from_async(pieces), TEMPLATE, prefix="", errors="strict", **way))
        assert events[-1]["message"]["content"] == "".join(piece for piece in pieces if piece)


async def pass_batch(batch: list[Event]) -> list[Event]:
    await checkpoint()
    return batch


async def pass_batches(batches: AsyncIterator[list[Event]]) -> AsyncIterator[list[Event]]:
    async for batch in batches:
        yield batch


async def pass_one(event: Event) -> list[Event]:
    await checkpoint()
    return [event]


PASSING: dict[str, Any] = {
    "batch": pass_batch,
    "generator": pass_batches,
    "ordered": Concurrent(pass_one, limit=3),
    "unordered": Concurrent(pass_one, limit=3, ordered=False, when=lambda event: event["type"] == "nothing"),
}


async def test_the_prefill_is_shown_before_the_source_gives_anything() -> None:
    async def silent() -> AsyncIterator[str]:
        await anyio.sleep_forever()
        yield ""

    for way in ({}, {"chaining": False}):
        async with parse_stream(silent(), TEMPLATE, prefix=PREFILL, **way) as stream:
            assert await anext(stream) == {"type": "region_open", "field": "reasoning_content"}
            assert (await anext(stream))["text"] == "So"


async def test_what_is_ready_is_given_without_a_visit_to_the_event_loop() -> None:
    stream = parse_stream(["Hello <call>"], TEMPLATE, prefix="")
    await anext(stream)
    with pytest.raises(StopIteration) as given:
        stream.__anext__().send(None)
    assert given.value.value["text"] == "Hello "
    await stream.aclose()


async def test_the_source_may_say_why_it_ended() -> None:
    end = End("length", usage={"completion_tokens": 3})
    source = Source(["Hello", end, "not read"])
    stream = parse_stream(source.asynchronous(), TEMPLATE, prefix="")
    assert (stream.end, stream.message) == (None, None)
    events = await collect(stream)
    assert events == of_the_core(["Hello"], finish_reason="length")
    assert events[-1]["finish_reason"] == "length"
    assert stream.end is end
    assert stream.message == events[-1]["message"]
    assert source.read == ["Hello", end]


async def test_problems_are_in_the_message_event_and_on_the_stream() -> None:
    stream = parse_stream(['<call>{"name": "f", "arguments": {"x": </call>'], TEMPLATE, prefix="")
    events = await collect(stream)
    assert events[-1]["problems"] == stream.problems
    assert len(stream.problems) == 1


async def test_strict_mode_raises_what_the_parser_raises() -> None:
    source = Source(["Hi <call>", "no json", "</call>", "more"])
    stream = parse_stream(source.asynchronous(), TEMPLATE, prefix="", errors="strict")
    with pytest.raises(ParseError) as caught:
        await collect(stream)
    assert not isinstance(caught.value, StageError)
    assert source.open == 0
    assert "more" not in source.read


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"source": ["a"], "template": {"fields": {}}, "prefix": ""}, TemplateError),
        ({"source": ["a"], "template": TEMPLATE, "prefix": None}, PrefixError),
        ({"source": 5, "template": TEMPLATE, "prefix": ""}, SourceError),
        ({"source": ["a"], "template": TEMPLATE, "prefix": "", "stages": [5]}, StreamparseError),
    ],
)
async def test_wrong_arguments_are_refused_at_the_call(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        parse_stream(**arguments)


async def test_the_template_may_be_the_name_of_a_bundled_one() -> None:
    stream = parse_stream(["<think>a</think>b"], "qwen3", prefix="")
    await collect(stream)
    assert stream.message == {"role": "assistant", "reasoning_content": "a", "content": "b"}


async def test_an_error_of_the_source_comes_after_the_events_before_it() -> None:
    async def broken() -> AsyncIterator[str]:
        yield "Hello "
        raise OSError("connection lost")

    for way in WAYS:
        events: list[Event] = []
        with pytest.raises(SourceError, match="connection lost"):
            await collect_into(parse_stream(broken(), TEMPLATE, prefix="", **way), events)
        assert [event.get("text") for event in events] == [None, "Hello "]


async def collect_into(stream: ParseStream, events: list[Event]) -> None:
    async with stream:
        async for event in stream:
            events.append(event)


def redact(event: Event) -> list[Event]:
    """Replace names, in text and in values."""
    if event["type"] == "region_chunk":
        return [{**event, "text": event["text"].replace("Ada", "***")}]
    if event["type"] == "message":
        content = event["message"]["content"].replace("Ada", "***")
        return [{**event, "message": {**event["message"], "content": content}}]
    return [event]


@pytest.mark.parametrize("chaining", [True, False])
async def test_a_stage_of_the_user_sees_every_event_even_the_message(chaining: bool) -> None:
    stream = parse_stream(["Hello ", "Ada", "!"], TEMPLATE, prefix="", stages=[redact], chaining=chaining)
    events = await collect(stream)
    assert "".join(event.get("text", "") for event in events) == "Hello ***!"
    assert events[-1]["message"]["content"] == "Hello ***!"


@pytest.mark.parametrize("chaining", [True, False])
async def test_a_stage_of_the_user_may_come_before_the_parser(chaining: bool) -> None:
    stream = parse_stream(
        ["a", "b"], TEMPLATE, prefix="", input_stages=[lambda piece: [piece.upper()]], chaining=chaining
    )
    assert (await collect(stream))[-1]["message"]["content"] == "AB"


@pytest.mark.parametrize("ordered", [True, False])
async def test_tools_run_beside_the_stream_and_their_results_come_before_the_message(ordered: bool) -> None:
    running = most_at_once = 0

    async def run_tool(event: Event) -> list[Event]:
        nonlocal running, most_at_once
        running += 1
        most_at_once = max(most_at_once, running)
        for _ in range(3):
            await checkpoint()
        running -= 1
        return [event, {"type": "tool_result", "name": event["value"]["function"]["name"]}]

    tools = Concurrent(
        run_tool,
        limit=2,
        ordered=ordered,
        when=lambda event: event["type"] == "region_close" and event["field"] == "tool_calls",
    )
    text = "".join(f'<call>{{"name": "{name}", "arguments": {{}}}}</call>' for name in "abcd")
    events = await collect(parse_stream(cut(text, *range(0, 200, 7)), TEMPLATE, prefix="", stages=[tools]))
    results = [event["name"] for event in events if event["type"] == "tool_result"]
    assert results == list("abcd") if ordered else sorted(results) == list("abcd")
    assert events[-1]["type"] == "message"
    assert most_at_once == 2


async def test_a_slow_sink_loses_nothing_and_what_waits_stays_bounded() -> None:
    pieces = ["word "] * 2000
    async with parse_stream(from_async(pieces), TEMPLATE, prefix="", read_ahead=True, capacity=500) as stream:
        events = []
        async for event in stream:
            events.append(event)
            for _ in range(200 if len(events) < 30 else 0):
                await checkpoint()
        channels = stream.statistics().channels
    assert said(events) == said(of_the_core(pieces))
    assert len(events) < 1500, "chunks were joined"
    assert max(channel.highest_weight for channel in channels) <= 500


async def test_pieces_can_be_pushed_from_a_callback() -> None:
    channel = Channel[Any](capacity=10_000)
    events: list[Event] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(collect_into, parse_stream(channel, TEMPLATE, prefix=""), events)
        for piece in cut(TEXT, *range(0, 300, 4)):
            assert channel.offer([piece])
        channel.offer([End("stop")])
    assert said(events) == said(of_the_core([TEXT], finish_reason="stop"))


async def test_statistics_tell_what_went_through() -> None:
    stream = parse_stream(["Hello ", "you"], TEMPLATE, prefix="", stages=[redact])
    events = await collect(stream)
    statistics = stream.statistics()
    assert (statistics.pieces, statistics.amount, statistics.items) == (2, 9, len(events))
    assert [stage.name for stage in statistics.stages] == ["parse", "redact"]
    assert statistics.channels == ()


@pytest.mark.parametrize("way", [*WAYS, {"stages": [pass_batch]}])
async def test_leaving_async_with_closes_the_source_before_it_returns(
    way: dict[str, Any], living_tasks: Callable[[], int]
) -> None:
    before = living_tasks()
    source = Source()
    async with parse_stream(source.asynchronous(), TEMPLATE, prefix="", **way) as stream:
        await anext(stream)
    assert source.open == 0
    assert living_tasks() == before
    assert await anext(stream, "the end") == "the end"


@given(
    way=st.sampled_from([*WAYS, {"stages": [pass_batch]}, {"stages": [PASSING["ordered"]]}]),
    kind=st.sampled_from(["asynchronous", "synchronous", "blocking"]),
    turns=st.integers(0, 60),
)
async def test_cancelling_at_any_moment_leaves_nothing(way: dict[str, Any], kind: str, turns: int) -> None:
    before = len(anyio.get_running_tasks())
    source = Source()
    pieces = source.asynchronous() if kind == "asynchronous" else source.synchronous()

    async def read(stream: ParseStream) -> None:
        async with stream:
            async for _ in stream:
                await checkpoint()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read, parse_stream(pieces, TEMPLATE, prefix="", blocking=kind == "blocking", **way))
        for _ in range(turns):
            await checkpoint()
        tasks.cancel_scope.cancel()
    assert source.open == 0
    assert len(anyio.get_running_tasks()) == before


class CancelledByItself:
    """A source whose own task was cancelled: it raises CancelledError, and nobody has cancelled its reader."""

    def __init__(self, *, cancel_safe: bool, at_once: bool) -> None:
        self.cancel_safe = cancel_safe
        self._pieces = iter([] if at_once else ["The answer", " is"])

    def __aiter__(self) -> CancelledByItself:
        return self

    async def __anext__(self) -> str:
        for piece in self._pieces:
            return piece
        raise asyncio.CancelledError


@pytest.mark.parametrize("by", ["async for", "anext"])
@pytest.mark.parametrize("cancel_safe", [True, False])
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("way", WAYS)
async def test_a_source_that_is_cancelled_by_itself_has_failed(
    way: dict[str, Any], at_once: bool, cancel_safe: bool, by: str
) -> None:
    events: list[Event] = []
    source = CancelledByItself(cancel_safe=cancel_safe, at_once=at_once)

    async def read() -> None:
        async with parse_stream(source, TEMPLATE, prefix="", **way) as stream:
            if by == "async for":
                async for event in stream:
                    events.append(event)
            while True:
                events.append(await anext(stream))

    with pytest.raises(SourceError, match="CancelledError"):
        await read()
    assert "message" not in [event["type"] for event in events]
    assert "".join(event.get("text", "") for event in events) == ("" if at_once else "The answer is")


@pytest.mark.parametrize("way", WAYS)
async def test_a_stage_that_is_cancelled_by_itself_has_failed(way: dict[str, Any]) -> None:
    async def cancelled(_: list[Any]) -> list[Any]:
        raise asyncio.CancelledError

    with pytest.raises(StageError, match="CancelledError"):
        await collect_into(parse_stream(["Hi"], TEMPLATE, prefix="", stages=[cancelled], **way), [])


async def test_an_error_of_the_reader_closes_the_source_and_is_its_own() -> None:
    source = Source()
    with pytest.raises(ZeroDivisionError):
        async with parse_stream(source.asynchronous(), TEMPLATE, prefix="", read_ahead=True) as stream:
            1 / len((await anext(stream)).get("text", ""))
    assert source.open == 0


async def test_a_bare_break_closes_an_asynchronous_source_soon(living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    source = Source()
    async for _ in parse_stream(source.asynchronous(), TEMPLATE, prefix=""):
        break
    for _ in range(10):
        await checkpoint()
    assert source.open == 0
    assert living_tasks() == before


async def test_a_bare_break_closes_a_synchronous_source_soon() -> None:
    source = Source()
    async for _ in parse_stream(source.synchronous(), TEMPLATE, prefix=""):
        break
    for _ in range(10):
        await checkpoint()
    assert source.open == 0


async def test_a_bare_break_ends_the_thread_of_a_blocking_source() -> None:
    source = Source(["word "] * 100_000)
    async for _ in parse_stream(source.synchronous(), TEMPLATE, prefix="", blocking=True):
        break
    with anyio.fail_after(5):
        while source.open:
            await anyio.sleep(0.001)


async def test_a_stream_that_was_never_read_warns_of_nothing() -> None:
    source = Source()
    parse_stream(source.asynchronous(), TEMPLATE, prefix="")
    parse_stream(source.asynchronous(), TEMPLATE, prefix="", chaining=False)
    gc.collect()
    await checkpoint()
    assert source.open == 0


async def test_streams_that_run_tasks_ask_for_async_with() -> None:
    stream = parse_stream(["a"], TEMPLATE, prefix="", stages=[pass_batch])
    with pytest.raises(StreamparseError, match="async with"):
        await anext(stream)
    with suppress(StreamparseError):
        await stream.aclose()


@pytest.mark.anyio
@pytest.mark.parametrize("chaining", [True, False])
async def test_a_stage_inside_the_core_changes_the_value_too(chaining: bool) -> None:
    def redact(item: Any) -> list[Any]:
        if isinstance(item, dict) and item["type"] == "region_chunk":
            item = {**item, "text": item["text"].replace("secret", "***")}
        return [item]

    source = ["The secret ", "is out."]
    async with parse_stream(
        source, "qwen3", prefix="", inner_stages={"regions": [redact]}, chaining=chaining
    ) as stream:
        events = [event async for event in stream]
    assert "".join(event["text"] for event in events if event["type"] == "region_chunk") == "The *** is out."
    assert events[-1]["message"] == {"role": "assistant", "content": "The *** is out."}


def test_a_stage_of_the_core_that_is_not_there_is_named() -> None:
    with pytest.raises(StreamparseError, match="no stage nowhere"):
        parse_stream([], "qwen3", prefix="", inner_stages={"nowhere": []})
