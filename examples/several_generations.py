"""Parse several generations at once in one process, each with its own template.

    python examples/several_generations.py

A generation that fails does not disturb the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from streamparse import parse_many

GENERATIONS = {
    "A": ("qwen3", "<think>\nShort.\n</think>\n\nHello from A."),
    "B": ("gpt_oss", "<|channel|>analysis<|message|>Brief.<|end|><|start|>assistant<|channel|>final<|message|>And B."),
    "C": ("gemma4", '<|tool_call>call:weather{city:<|"|>Rome<|"|>}<tool_call|>'),
    "D": ("qwen3", None),
}


async def model(text: str | None, seconds: float) -> AsyncIterator[str]:
    """Stand for a model that takes its time, or whose connection breaks."""
    yield ""
    if text is None:
        raise ConnectionError("the model has gone")
    for start in range(0, len(text), 3):
        await asyncio.sleep(seconds)
        yield text[start : start + 3]


async def main() -> None:
    """Follow all of them, each at its own pace."""
    sources = {key: model(text, 0.001 * pace) for pace, (key, (_, text)) in enumerate(GENERATIONS.items(), 1)}
    async with parse_many(sources, prefix="", options=lambda key: {"template": GENERATIONS[key][0]}) as stream:
        async for key, event in stream:
            match event:
                case {"type": "region_open", "field": field}:
                    print(f"{key}: {field}")
                case {"type": "message", "message": message}:
                    print(key, message)
                case {"type": "error", "error": error}:
                    print(f"{key} failed: {error}")


if __name__ == "__main__":
    asyncio.run(main())
