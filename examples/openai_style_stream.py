"""Turn events into the chunks of an OpenAI-style stream, for a client that reads those.

    python examples/openai_style_stream.py

Text goes out piece by piece. A tool call goes out whole, when its region closes: no client ever gets half a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from streamparse import parse_stream
from streamparse.encode import encode_event

OUTPUT = """<think>
Look it up.
</think>

I will.
<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>"""


def delta_of(event: dict[str, Any], calls_so_far: int) -> dict[str, Any] | None:
    """Say what a client learns from an event; None where that is nothing."""
    match event:
        case {"type": "region_chunk", "field": "content" | "reasoning_content" as field, "text": text}:
            return {field: text}
        case {"type": "region_close", "field": "tool_calls", "value": call}:
            function = call["function"]
            arguments = encode_event(function["arguments"]).decode()
            entry = {"index": calls_so_far, "id": f"call_{calls_so_far}", "type": "function"}
            return {"tool_calls": [{**entry, "function": {"name": function["name"], "arguments": arguments}}]}
    return None


async def chunks(source: AsyncIterator[str], template: str, prefix: str) -> AsyncIterator[bytes]:
    """Yield the lines of a server-sent event stream."""
    calls = 0
    async with parse_stream(source, template, prefix=prefix) as events:
        async for event in events:
            delta = delta_of(event, calls)
            if delta is not None:
                calls += len(delta.get("tool_calls", ()))
                yield chunk(delta, None)
    yield chunk({}, "tool_calls" if calls else "stop")
    yield b"data: [DONE]\n\n"


def chunk(delta: dict[str, Any], finish_reason: str | None) -> bytes:
    """Wrap a delta."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return b"data: " + encode_event({"object": "chat.completion.chunk", "choices": [choice]}) + b"\n\n"


async def main() -> None:
    """Print the stream that a client would get."""

    async def model() -> AsyncIterator[str]:
        for start in range(0, len(OUTPUT), 8):
            yield OUTPUT[start : start + 8]

    async for line in chunks(model(), "qwen3", ""):
        print(line.decode(), end="")


if __name__ == "__main__":
    asyncio.run(main())
