"""The Messages API as Anthropic's client reads it."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from anthropic.types import RawMessageStreamEvent
from pydantic import TypeAdapter

from streamparse.adapters.anthropic import MessageEvents
from streamparse.adapters.openai import sse_event
from tests.adapters.openai.messages import comparable, parsed
from tests.adapters.openai.upstream import USAGE, playing, upstream
from tests.template.test_bundled import SAMPLES

EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


def events_of(template: str, text: str, prefix: str = "", **options: Any) -> list[dict[str, Any]]:
    _, events = parsed(template, list(text), prefix, **{"deltas": True, **options})
    machine = MessageEvents(template, model="m")
    return [made for event in events for made in machine.feed(event)] + machine.finish(USAGE)


def message_of(message: Any) -> dict[str, Any]:
    """A message's blocks as a chat message."""
    found: dict[str, Any] = {"role": "assistant", "content": "", "reasoning_content": "", "tool_calls": []}
    for block in message.content:
        if block.type == "tool_use":
            found["tool_calls"].append({"function": {"name": block.name, "arguments": block.input}})
        elif block.type == "text":
            found["content"] += block.text
        else:
            found["reasoning_content"] += block.thinking
    return comparable(found)


@pytest.mark.asyncio
async def test_the_client_reads_what_models_of_all_families_write() -> None:
    for sample in SAMPLES:
        message, _ = parsed(sample.template, [sample.text], sample.prefix)
        events = events_of(sample.template, sample.text, sample.prefix)
        for event in events:
            EVENT.validate_python(event, strict=True)
        body = b"".join(sse_event(event, name=event["type"]) for event in events)
        async with (
            upstream(playing(body, [10, 100, 1000])) as server,
            anthropic.AsyncAnthropic(base_url=server.url.removesuffix("/v1"), api_key="none", max_retries=0) as client,
            client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]) as stream,
        ):
            final = await stream.get_final_message()
        assert message_of(final) == comparable(message)
        assert final.stop_reason == ("tool_use" if message.get("tool_calls") else "end_turn")
        assert (final.usage.input_tokens, final.usage.output_tokens) == (3, 5)


@pytest.mark.parametrize("deltas", [True, False])
def test_a_malformed_call_is_text_and_no_use_of_a_tool(deltas: bool) -> None:
    written = '{"name": "f", "arguments": {"a": 1,}}'
    events = events_of("qwen3", f"<tool_call>{written}</tool_call>", deltas=deltas)
    starts = [event["content_block"]["type"] for event in events if event["type"] == "content_block_start"]
    assert starts == ["text"]
    assert "".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta") == (
        f"<tool_call>{written}</tool_call>"
    )
    assert events[-2]["delta"]["stop_reason"] == "max_tokens"


def test_a_generation_that_is_cut_off_ends_for_that_reason() -> None:
    assert events_of("qwen3", "Hi", finish_reason="length")[-2]["delta"]["stop_reason"] == "max_tokens"
    assert events_of("qwen3", "Hi", finish_reason="content_filter")[-2]["delta"]["stop_reason"] == "refusal"


def test_blocks_are_open_one_at_a_time() -> None:
    text = '<think>Hm.</think>Hi<tool_call>{"name": "f", "arguments": {"x": 1}}</tool_call>Bye'
    kinds = [(event["type"], event["index"]) for event in events_of("qwen3", text) if "index" in event]
    edges = [kind for kind in kinds if kind[0] != "content_block_delta"]
    assert edges == [(f"content_block_{kind}", index) for index in range(4) for kind in ("start", "stop")]
