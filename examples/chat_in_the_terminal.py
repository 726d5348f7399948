"""Show an answer while it is written: reasoning apart from the answer, tool calls as data.

    python examples/chat_in_the_terminal.py

`tokens()` stands for your model: anything that yields text, bytes or token ids as they come.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from streamparse import parse_stream

PROMPT = "<|im_start|>user\nIs it warm in Rome?<|im_end|>\n<|im_start|>assistant\n<think>\n"
OUTPUT = """The weather tool knows.
</think>

One moment.
<tool_call>
{"name": "weather", "arguments": {"city": "Rome"}}
</tool_call><|im_end|>"""


async def tokens() -> AsyncIterator[str]:
    """Give out the text in small pieces, as a model would."""
    for start in range(0, len(OUTPUT), 4):
        await asyncio.sleep(0.01)
        yield OUTPUT[start : start + 4]


async def main() -> None:
    """Print what each event says."""
    async with parse_stream(tokens(), "qwen3", prefix=PROMPT) as events:
        async for event in events:
            match event:
                case {"type": "region_open", "field": field}:
                    print(f"\n[{field}] ", end="")
                case {"type": "region_chunk", "text": text, "dirty": False}:
                    print(text, end="", flush=True)
                case {"type": "region_close", "field": "tool_calls", "value": call}:
                    print(call["function"]["name"], call["function"]["arguments"])
                case {"type": "region_malformed", "field": field, "error": error}:
                    print(f"this {field} can't be read: {error}")
                case {"type": "message", "message": message}:
                    print(f"\n\nfor the history: {message}")


if __name__ == "__main__":
    asyncio.run(main())
