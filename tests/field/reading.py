"""Reads what a model wrote in every way that must not matter, and says what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamparse import ResponseParser


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A call as it stands in a message."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


WHOLE = 1_000_000
SIZES = (WHOLE, 1, 2, 5, 11)
"""The sizes of the pieces that a text comes in."""


def message_of(
    family: Any,
    text: str,
    *,
    prefix: str = "",
    tools: Any = None,
    errors: Any = "repair",
    finish_reason: str | None = None,
    problems: int | None = 0,
    sizes: Sequence[int] = SIZES,
    **options: Any,
) -> dict[str, Any]:
    """The message, without its role, outer white space and call ids; the same for every cut, and no text is lost.

    ``problems`` is how many there must be; None asks for none in particular.
    """
    found = []
    for size in sizes:
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        parser = ResponseParser(family, prefix, tools=tools, errors=errors, spans=True, **options)
        events = [*parser.initial_events, *(event for piece in pieces for event in parser.feed(piece))]
        message, last = parser.finalize(finish_reason)
        assert_whole([*events, *last], text)
        if problems is not None:
            assert len(parser.problems) == problems, parser.problems
        found.append(shape(message))
    assert all(other == found[0] for other in found), "cuts matter"
    return found[0]


def shape(message: dict[str, Any]) -> dict[str, Any]:
    """What of a message is compared."""
    texts = {key: value.strip() for key, value in message.items() if isinstance(value, str) and key != "role"}
    calls = [{key: value for key, value in made.items() if key != "id"} for made in message.get("tool_calls", [])]
    return {key: value for key, value in texts.items() if value} | ({"tool_calls": calls} if calls else {})


def assert_whole(events: list[dict[str, Any]], text: str) -> None:
    """Every character is in some event, in order; deltas aside. The events of a prefix stand before the first."""
    events = [event for event in events if event["type"] != "region_delta"]
    position = min(0, events[0]["start"]) if events else 0
    for event in events:
        assert event["start"] == position or position < 0, event
        if event["type"] in ("region_chunk", "region_unclaimed") and event["end"] > 0:
            assert text[event["start"] : event["end"]] == event["text"]
        position = event["end"]
    assert position == len(text)
