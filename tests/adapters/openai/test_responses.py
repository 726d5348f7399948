"""The Responses API as the official client reads it."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from streamparse.adapters.openai import ResponseEvents, sse_event
from tests.adapters.openai.messages import comparable, parsed
from tests.adapters.openai.upstream import USAGE, playing, upstream
from tests.template.test_bundled import SAMPLES

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def events_of(template: str, text: str, prefix: str = "", **options: Any) -> list[dict[str, Any]]:
    _, events = parsed(template, list(text), prefix, deltas=True, **options)
    machine = ResponseEvents(template, model="m")
    return [made for event in events for made in machine.feed(event)] + machine.finish(USAGE)


def message_of(response: Any) -> dict[str, Any]:
    """A response's items as a chat message."""
    message: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": "", "tool_calls": []}
    for item in response.output:
        if item.type == "function_call":
            message["tool_calls"].append({"function": {"name": item.name, "arguments": item.arguments}})
        else:
            key = "content" if item.type == "message" else "reasoning_content"
            message[key] += "".join(part.text for part in item.content)
    return comparable(message)


@pytest.mark.asyncio
async def test_the_client_reads_what_models_of_all_families_write() -> None:
    for sample in SAMPLES:
        message, _ = parsed(sample.template, [sample.text], sample.prefix)
        events = events_of(sample.template, sample.text, sample.prefix)
        for event in events:
            EVENT.validate_python(event, strict=True)
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        body = b"".join(sse_event(event, name=event["type"]) for event in events)
        async with (
            upstream(playing(body, [10, 100, 1000])) as server,
            openai.AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0) as client,
            client.responses.stream(model="m", input="Hi") as stream,
        ):
            streamed = {"text": "", "arguments": ""}
            async for event in stream:
                if event.type == "response.output_text.delta":
                    streamed["text"] += event.delta
                elif event.type == "response.function_call_arguments.delta":
                    streamed["arguments"] += event.delta
            response = await stream.get_final_response()
        assert message_of(response) == comparable(message)
        assert streamed["text"] == response.output_text
        assert (response.status, response.usage.total_tokens) == ("completed", 8)


def test_a_call_that_is_malformed_is_an_item_that_is_incomplete() -> None:
    calls = ['{"name": "f", "arguments": {"a": 1,}}', '{"name": "g", "arguments": {}}']
    text = "".join(f"<tool_call>{call}</tool_call>" for call in calls)
    items = events_of("qwen3", text)[-1]["response"]["output"]
    assert [(item["name"], item["arguments"], item["status"]) for item in items] == [
        ("f", '{"a":1,]', "incomplete"),
        ("g", "{}", "completed"),
    ]


def test_a_generation_that_is_cut_off_is_incomplete() -> None:
    last = events_of("qwen3", "Hi", finish_reason="length")[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    EVENT.validate_python(last, strict=True)


def test_every_item_is_said_to_begin_and_to_end() -> None:
    text = '<think>Hm.</think>Hi<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>Bye'
    events = events_of("qwen3", text)
    for kind in ("added", "done"):
        places = [event["output_index"] for event in events if event["type"] == f"response.output_item.{kind}"]
        assert places == [0, 1, 2, 3]
    done = next(event for event in events if event["type"] == "response.function_call_arguments.done")
    assert json.loads(done["arguments"]) == {"x": 1}
