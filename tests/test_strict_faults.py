"""Strict mode: the events before a fault are given however the text is cut, by the error or before it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse import KeyedParser, Limits, ParseError, ResponseParser, parse_many, parse_stream

Event = dict[str, Any]

FAULTY = {
    "a call that is no JSON": '<think>Hm</think>Hello <tool_call>{"name": nonsense}</tool_call> more',
    "a second one": (
        'a<tool_call>{"name": "f", "arguments": {}}</tool_call>b<tool_call>no</tool_call>'
        '<tool_call>{"name": "g", "arguments": {}}</tool_call>'
    ),
    "one that the end closes": "Hello <tool_call>{",
}


def said(events: Iterable[Event]) -> list[Any]:
    """What events say, however their chunks are cut."""
    parts: list[Any] = []
    for event in events:
        if event["type"] == "region_chunk":
            parts += [(event["field"], event["dirty"], character) for character in event["text"]]
        else:
            parts.append({key: value for key, value in event.items() if key != "message"})
    return parts


def pieces_of(text: Any, places: Iterable[int]) -> list[Any]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(edges)]


def parsed(pieces: Iterable[Any], **options: Any) -> tuple[list[Event], ParseError]:
    """All events, those of the error too, and the error."""
    parser = ResponseParser("qwen3", "", **options)
    events: list[Event] = []
    try:
        for piece in pieces:
            events += parser.feed(piece)
        events += parser.finalize()[1]
    except ParseError as error:
        return [*events, *error.events], error
    pytest.fail("nothing was wrong")


@pytest.mark.parametrize("deltas", [False, True])
@pytest.mark.parametrize("text", FAULTY.values(), ids=FAULTY)
@given(places=st.lists(st.integers(0, 300), max_size=6), as_bytes=st.booleans())
def test_the_events_are_the_same_for_every_cut(text: str, deltas: bool, places: list[int], as_bytes: bool) -> None:
    by_character, error = parsed(text, deltas=deltas)
    cut, other = parsed(pieces_of(text.encode() if as_bytes else text, places), deltas=deltas)
    chunks = [event for event in cut if event["type"] != "region_delta"]  # deltas are cut as the text is
    assert said(chunks) == said(event for event in by_character if event["type"] != "region_delta")
    assert len(said(chunks)) > 5
    assert str(other) == str(error)


@pytest.mark.parametrize("errors", ["strict", "report"])
def test_so_are_those_before_a_limit(errors: str) -> None:
    limits = Limits(regions=2)
    text = '<think>a</think>b<tool_call>{"name": "f"}</tool_call>c<tool_call>{"name": "g"}</tool_call>d'
    by_character, error = parsed(text, limits=limits, errors=errors)
    whole, other = parsed([text], limits=limits, errors=errors)
    assert said(whole) == said(by_character)
    assert str(other) == str(error)


@pytest.mark.anyio
@pytest.mark.parametrize("way", [{}, {"chaining": False}, {"read_ahead": True}])
@pytest.mark.parametrize("cut", [(), range(300)], ids=["whole", "by character"])
@pytest.mark.parametrize("text", FAULTY.values(), ids=FAULTY)
async def test_a_stream_gives_them_before_it_raises(text: str, cut: Iterable[int], way: dict[str, Any]) -> None:
    expected, error = parsed(text)
    events: list[Event] = []

    async def read() -> None:
        async with parse_stream(pieces_of(text, cut), "qwen3", prefix="", errors="strict", **way) as stream:
            async for event in stream:
                events.append(event)

    with pytest.raises(ParseError) as raised:
        await read()
    assert str(raised.value) == str(error)
    assert said(events) == said(expected)


@pytest.mark.anyio
@pytest.mark.parametrize("cut", [(), range(300)], ids=["whole", "by character"])
@pytest.mark.parametrize("text", FAULTY.values(), ids=FAULTY)
async def test_so_do_the_operators_before_the_error_event(text: str, cut: Iterable[int]) -> None:
    expected, error = parsed(text)
    async with parse_many({"a": pieces_of(text, cut)}, "qwen3", prefix="", errors="strict") as stream:
        many = [event async for _, event in stream]
    keyed = KeyedParser("qwen3", prefix="", errors="strict")
    by_hand = [event for piece in pieces_of(text, cut) for _, events in keyed.feed([("a", piece)]) for event in events]
    by_hand += keyed.end("a") if "a" in keyed else []
    for events in (many, by_hand):
        assert events[-1]["error"] == str(error)
        assert said(events[:-1]) == said(expected)
