"""Turn events into the chunks of an OpenAI-style stream, for a client that reads those.

    python examples/openai_style_stream.py

Text and the arguments of calls go out as they are written. What is printed is what a client gets over HTTP, line by
line; the last lines are the whole answer, for a client that asks for no stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from streamparse import ResponseParser, parse_stream
from streamparse.adapters.openai import ChatCompletionChunks, chat_completion, sse_stream
from streamparse.encode import encode_event

OUTPUT = """<think>
Look it up.
</think>

I will.
<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>"""


async def model() -> AsyncIterator[str]:
    """Stand for a model."""
    for start in range(0, len(OUTPUT), 8):
        await asyncio.sleep(0.005)
        yield OUTPUT[start : start + 8]


async def streamed() -> None:
    """Print the stream that a client would get."""
    stream = parse_stream(model(), "qwen3", prefix="", deltas=True)
    async for lines in sse_stream(stream, ChatCompletionChunks("qwen3", model="mine")):
        print(lines.decode(), end="")


def whole() -> None:
    """Print the whole answer."""
    parser, chunks = ResponseParser("qwen3", prefix="", errors="report"), ChatCompletionChunks("qwen3", model="mine")
    events = parser.feed(OUTPUT) + parser.finalize()[1]
    made = [chunk for event in events for chunk in chunks.feed(event)] + chunks.finish()
    print(encode_event(chat_completion(made)).decode())


if __name__ == "__main__":
    asyncio.run(streamed())
    whole()
