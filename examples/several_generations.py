"""Parse several generations at once in one process, each with its own template and prompt.

    python examples/several_generations.py

A generation that fails does not disturb the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from streamparse import parse_stream

GENERATIONS = {
    "A": ("qwen3", "<think>\nShort.\n</think>\n\nHello from A."),
    "B": ("gpt_oss", "<|channel|>analysis<|message|>Brief.<|end|><|start|>assistant<|channel|>final<|message|>And B."),
    "C": ("gemma4", '<|tool_call>call:weather{city:<|"|>Rome<|"|>}<tool_call|>'),
}


async def model(text: str, seconds: float) -> AsyncIterator[str]:
    """Stand for a model that takes its time."""
    for start in range(0, len(text), 3):
        await asyncio.sleep(seconds)
        yield text[start : start + 3]


async def follow(key: str, template: str, text: str, seconds: float) -> dict[str, Any]:
    """Follow one generation to its message."""
    message: dict[str, Any] = {}
    async with parse_stream(model(text, seconds), template, prefix="") as events:
        async for event in events:
            if event["type"] == "region_open":
                print(f"{key}: {event['field']}")
            elif event["type"] == "message":
                message = event["message"]
    return message


async def main() -> None:
    """Follow all of them, each at its own pace."""
    tasks = [follow(key, *generation, 0.001 * pace) for pace, (key, generation) in enumerate(GENERATIONS.items(), 1)]
    for key, message in zip(GENERATIONS, await asyncio.gather(*tasks, return_exceptions=True), strict=True):
        print(key, message)


if __name__ == "__main__":
    asyncio.run(main())
