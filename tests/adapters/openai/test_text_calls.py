"""Calls whose input is the raw text of their region: they are calls like any other, in events and for clients."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamparse import ResponseParser
from streamparse.adapters.openai import MessageDeltas


def template(content: str, arguments: Any) -> dict[str, Any]:
    call = {
        "open_pattern": r"<call (?P<name>\w+)>",
        "close": "</call>",
        "repeats": True,
        "content": content,
        "transform": {"type": "function", "function": {"name": "{name}", "arguments": arguments}},
    }
    return {"start_anchor": "@@", "fields": {"content": {}, "tool_calls": call}}


def parsed(source: Any, text: str, size: int, **options: Any) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """The message, the ``region_delta`` events, and what a client gets."""
    parser, client = ResponseParser(source, "", **options), MessageDeltas(source)
    events = [event for start in range(0, len(text), size) for event in parser.feed(text[start : start + size])]
    message, last = parser.finalize()
    given = [delta for event in [*events, *last] for delta in client.feed(event)] + client.finish()
    return message, [event for event in [*events, *last] if event["type"] == "region_delta"], given


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("deltas", [False, True])
@pytest.mark.parametrize("errors", ["strict", "report", "repair"])
@pytest.mark.parametrize(
    ("content", "body", "value"), [("text", ' ls -l "x"\n', 'ls -l "x"'), ("int", " 7 ", 7), ("bool", "true", True)]
)
def test_a_call_with_raw_input_reaches_the_client(
    content: str, body: str, value: Any, errors: str, deltas: bool, size: int
) -> None:
    source = template(content, {"input": "{content}"})
    text = f"See:<call f>{body}</call><call g>{body}</call>"
    message, events, given = parsed(source, text, size, errors=errors, deltas=deltas)
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == [{"input": value}] * 2
    entries = [entry for delta in given for entry in delta.get("tool_calls", ())]
    for index, name in enumerate(["f", "g"]):
        own = [entry["function"] for entry in entries if entry["index"] == index]
        assert own[0]["name"] == name
        assert json.loads("".join(function["arguments"] for function in own)) == {"input": value}
    if deltas:
        assert [(event["index"], event["name"]) for event in events] == [(0, "f"), (1, "g")]
        assert json.loads(events[1]["arguments"]) == {"input": value}


@pytest.mark.parametrize("deltas", [False, True])
def test_input_that_is_no_object_goes_out_as_it_is(deltas: bool) -> None:
    message, _, given = parsed(template("text", "{content}"), "<call f>ls -l</call>", 3, deltas=deltas)
    assert message["tool_calls"][0]["function"] == {"name": "f", "arguments": "ls -l"}
    pieces = [entry["function"]["arguments"] for delta in given for entry in delta["tool_calls"]]
    assert "".join(pieces) == "ls -l"


@pytest.mark.parametrize("finish_reason", [None, "length"])
@pytest.mark.parametrize("errors", ["report", "repair"])
def test_raw_input_that_was_cut_off_is_no_call(errors: str, finish_reason: str | None) -> None:
    parser = ResponseParser(template("text", {"input": "{content}"}), "", errors=errors, deltas=True)
    events = parser.feed("Hi<call f>rm -rf /tm")
    message, last = parser.finalize(finish_reason)
    assert message == {"content": "Hi"}
    assert not [event for event in events + last if event["type"] == "region_delta"]
    assert (last[-1]["type"], last[-1]["text"], last[-1]["incomplete"]) == ("region_malformed", "rm -rf /tm", True)


def test_a_text_field_without_a_call_in_it_is_text() -> None:
    source = {"start_anchor": "@@", "fields": {"content": {}, "thought": {"open": "<t>", "close": "</t>"}}}
    message, events, given = parsed(source, "<t>a</t>b", 1, errors="report", deltas=True)
    assert (message, events) == ({"content": "b", "thought": "a"}, [])
    assert given == [{"thought": "a"}, {"content": "b"}]
