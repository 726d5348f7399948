"""Run each tool as soon as its call is complete, while the model is still writing the next one.

    python examples/tools_while_it_writes.py

A call that is malformed is answered with what is wrong with it, so that the model can try again; it is never run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from streamparse import parse_stream

OUTPUT = """\
<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>
<tool_call>\n{"name": "weather", "arguments": {"city": }}\n</tool_call>
<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>"""


async def weather(city: str) -> str:
    """Look out of the window."""
    await asyncio.sleep(0.1)
    return f"sunny in {city}"


TOOLS = {"weather": weather}


async def run(call: dict[str, Any]) -> dict[str, Any]:
    """Run one call and give the message with its result."""
    function = call["function"]
    tool = TOOLS.get(function["name"])
    content = f"no tool is called {function['name']}" if tool is None else await tool(**function["arguments"])
    return {"role": "tool", "name": function["name"], "content": content}


async def pieces() -> AsyncIterator[str]:
    """Stand for a model."""
    for start in range(0, len(OUTPUT), 4):
        await asyncio.sleep(0.005)
        yield OUTPUT[start : start + 4]


async def main() -> list[dict[str, Any]]:
    """Collect the messages for the next turn."""
    conversation: list[dict[str, Any]] = []
    async with asyncio.TaskGroup() as group, parse_stream(pieces(), "qwen3", prefix="") as events:
        results = []
        async for event in events:
            match event:
                case {"type": "region_close", "field": "tool_calls", "value": call}:
                    print("started:", call["function"])
                    results.append(group.create_task(run(call)))
                case {"type": "region_malformed", "field": "tool_calls", "error": error}:
                    conversation.append({"role": "tool", "content": f"This call can't be read: {error}"})
                case {"type": "message", "message": message}:
                    conversation.insert(0, message)
    conversation += [task.result() for task in results]
    for entry in conversation:
        print(entry)
    return conversation


if __name__ == "__main__":
    asyncio.run(main())
