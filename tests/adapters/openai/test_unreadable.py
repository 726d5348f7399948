"""What is sent behind the arguments of a bad call: no parser of a client takes the whole for JSON.

Checked with the clients' own code where a development environment has it (LangChain, jiter, pydantic, and a parser of
partial JSON); what other clients do is in ``docs/openai.md``, with their versions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jiter
import partial_json_parser
import pydantic_core
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.utils.json import parse_partial_json

from streamparse.adapters.anthropic import MessageEvents
from streamparse.adapters.openai import ChatCompletionChunks, ResponseEvents
from streamparse.adapters.openai.unreadable import unreadable_end
from tests.adapters.openai.messages import accumulated, chunked, parsed

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, min_size=1, max_size=3)

COMPLETING: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "LangChain": parse_partial_json,
    "jiter": lambda text: jiter.from_json(text.encode(), partial_mode=True),
    "jiter, trailing strings": lambda text: jiter.from_json(text.encode(), partial_mode="trailing-strings"),
    "pydantic": lambda text: pydantic_core.from_json(text, allow_partial=True),
    "partial-json-parser": partial_json_parser.loads,
}

NESTED = r'{"a":{"b":[1,-2.5e3,"x\\y\"z\u00e9\n",true,null,[],{}],"c":"d"},"k":"\ud83d\ude00","n":[[false]]}'


def reads(read: Callable[[str], Any], text: str) -> Any:
    """What a parser makes of a text, None where it refuses; one of them does so with an assertion."""
    try:
        return read(text)
    except (ValueError, RecursionError, AssertionError, IndexError):
        return None


@pytest.mark.parametrize("client", COMPLETING)
@given(value=OBJECTS, data=st.data(), ascii_only=st.booleans())
def test_wherever_arguments_stop_nothing_reads_them(
    client: str, value: dict[str, Any], data: st.DataObject, ascii_only: bool
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    sent = text[: data.draw(st.integers(0, len(text) - 1), "cut")]
    assert reads(COMPLETING[client], sent + unreadable_end(sent)) is None


@pytest.mark.parametrize("client", COMPLETING)
@pytest.mark.parametrize("cut", range(len(NESTED)))
def test_the_states_of_json_are_all_ended(client: str, cut: int) -> None:
    sent = NESTED[:cut]
    assert reads(COMPLETING[client], sent + unreadable_end(sent)) is None


@example({"tz": "Europe"})
@given(value=OBJECTS)
def test_arguments_that_were_whole_are_unreadable_behind_them(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    for client in ("json", "LangChain", "partial-json-parser"):  # the others read the beginning of anything
        assert reads(COMPLETING[client], text + unreadable_end(text)) is None


@pytest.mark.parametrize(
    "written",
    [
        '{"name": "f", "arguments": {"tz": "Eur',
        '{"name": "f", "arguments": {"tz": "C:\\',
        '{"name": "f", "arguments": {"tz": "\\u00',
        '{"name": "f", "arguments": {"tz": 1',
        '{"name": "f", "arguments": {"tz": tr',
        '{"name": "f", "arguments": {"tz"',
        '{"name": "f", "arguments": {"tz":',
        '{"name": "f", "arguments": {"tz": 1,',
        '{"name": "f", "arguments": {"tz": [{"a": [1, {"b": "c',
        '{"name": "f", "arguments": {',
        '{"name": "f", "arguments":',
        '{"name": "f", "arguments": {"tz": 1}',
        '{"name": "f", "arguments": {"tz": 1}}',
        '{"name": "f", "arguments": {"tz": 1}, }</tool_call>',
        '{"name": "f", "arguments": "{\\"tz\\": 1}"',
        '{"name": "f", "arguments": [1]}</tool_call>',
    ],
)
def test_a_client_that_completes_json_runs_no_call_that_was_cut_off_or_malformed(written: str) -> None:
    _, events = parsed("qwen3", list(f"<tool_call>{written}"), deltas=True, finish_reason="length")
    (call,) = accumulated(chunked("qwen3", events))["tool_calls"]
    arguments = call["function"]["arguments"]
    for client, read in COMPLETING.items():
        assert reads(read, arguments) is None, client
    chunk = tool_call_chunk(name="f", args=arguments, id="a", index=0)
    message = AIMessageChunk(content="", tool_call_chunks=[chunk])
    assert message.tool_calls == []
    assert [call["name"] for call in message.invalid_tool_calls] == ["f"]


def test_the_other_protocols_send_no_arguments_that_could_be_read() -> None:
    _, events = parsed("qwen3", list('<tool_call>{"name": "f", "arguments": {"tz": "Eur'), deltas=True)
    response, message = ResponseEvents("qwen3"), MessageEvents("qwen3")
    responded = [made for event in events for made in response.feed(event)] + response.finish()
    done = next(event for event in responded if event["type"] == "response.function_call_arguments.done")
    assert done["arguments"] == '{"tz":"Eur",]'
    last = responded[-1]["response"]
    assert (last["status"], last["output"][0]["status"]) == ("incomplete", "incomplete")
    said = [made for event in events for made in message.feed(event)] + message.finish()
    assert not any(event.get("content_block", {}).get("type") == "tool_use" for event in said)
    assert said[-2]["delta"]["stop_reason"] == "max_tokens"


def test_a_stream_that_is_interrupted_leaves_no_call_that_could_be_read() -> None:
    _, events = parsed("qwen3", list('<tool_call>{"name": "f", "arguments": {"tz": "Eur'), deltas=True)
    machine = ChatCompletionChunks("qwen3")
    chunks = [chunk for event in events if event["type"] == "region_delta" for chunk in machine.feed(event)]
    chunks += machine.interrupt()
    assert accumulated(chunks)["tool_calls"][0]["function"]["arguments"] == '{"tz":"Eur",]'
