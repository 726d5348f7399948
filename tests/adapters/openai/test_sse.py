"""A generation as the body of an answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from streamparse import End, parse_stream
from streamparse.adapters.openai import DONE, ChatCompletionChunks, sse_event, sse_stream

pytestmark = pytest.mark.anyio

USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


class Source:
    """Pieces, and perhaps an error after them; notes that it was closed."""

    def __init__(self, *pieces: Any, error: Exception | None = None) -> None:
        self.pieces = iter(pieces)
        self.error = error
        self.closed = False

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        for piece in self.pieces:
            return piece
        if self.error is not None:
            raise self.error
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed = True


def body_of(source: Source, **options: Any) -> AsyncIterator[bytes]:
    stream = parse_stream(source, "qwen3", prefix="", deltas=True)
    return sse_stream(stream, ChatCompletionChunks("qwen3", **options))


def read(event: bytes) -> Any:
    assert event.startswith(b"data: ")
    assert event.endswith(b"\n\n")
    return json.loads(event.removeprefix(b"data: "))


async def test_the_body_has_the_chunks_and_then_done() -> None:
    events = [event async for event in body_of(Source("Hi", End("stop", USAGE)))]
    assert events[-1] == DONE
    chunks = list(map(read, events[:-1]))
    assert [chunk["choices"][0]["delta"].get("content") for chunk in chunks] == [None, "Hi", None]
    assert all("usage" not in chunk for chunk in chunks)


async def test_the_usage_is_there_if_it_was_asked_for_and_is_known() -> None:
    events = [event async for event in body_of(Source("Hi", End("stop", USAGE)), include_usage=True)]
    assert read(events[-2])["usage"] == USAGE
    events = [event async for event in body_of(Source("Hi"), include_usage=True)]
    assert read(events[-2])["choices"][0]["finish_reason"] == "stop"


async def test_an_error_ends_the_body_with_an_error_object() -> None:
    events = [event async for event in body_of(Source("Hi", error=OSError("gone")))]
    assert DONE not in events
    assert read(events[-1])["error"]["message"] == "the source failed: OSError: gone"


async def test_leaving_the_body_closes_the_source() -> None:
    source = Source("Hi", " there", "!")
    async with aclosing(body_of(source)) as events:  # type: ignore[type-var]
        await anext(events)
        await anext(events)
    assert source.closed


def test_what_a_model_can_write_is_written_as_every_reader_takes_it() -> None:
    line = sse_event({"a": "\ud83d", "b": float("nan"), "c": 2**70, "d": "two\nlines\u2028"}, name="x")
    assert line.startswith(b"event: x\ndata: {")
    assert line.count(b"\n") == 3
    data = json.loads(line.split(b"data: ")[1], parse_constant=pytest.fail)
    assert data == {"a": "\ud83d", "b": "NaN", "c": 2**70, "d": "two\nlines\u2028"}
