"""Parse what an inference engine gives at each of its steps: the new token ids of every request that runs.

    python examples/engine_steps.py

The engine steps in a thread. One pump takes each step as a batch, and a client that leaves has its request aborted.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from streamparse import End, KeyedParser, Open, pump

PROMPT = "<|im_start|>assistant\n"
ANSWERS = {
    "a": "<think>\nShort.\n</think>\n\nHello from A.",
    "b": "<think>\nThis will take long. " + "And on. " * 1000,
    "c": '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>',
}


class Tokenizer:
    """Stands for the model's tokenizer. A parser needs ``decode``, to make text of ids."""

    def __init__(self, texts: list[str]) -> None:
        self.pieces = sorted({piece for text in texts for piece in self.split(text)})

    def split(self, text: str) -> list[str]:
        """A text in the pieces that are tokens here: words, with the blank before them."""
        return re.findall(r"\s?\w+|\W", text)

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        return [self.pieces.index(piece) for piece in self.split(text)]

    def decode(self, ids: list[int], **_: Any) -> str:
        """The text of ids."""
        return "".join(self.pieces[number] for number in ids)


@dataclass
class Request:
    """A request that runs: the tokens that its model is going to write, and whether its client has gone."""

    tokens: list[int]
    aborted: bool = False


@dataclass
class Engine:
    """Stands for an engine: each step gives ``(request, its new tokens, why it ended, if it did)``."""

    running: dict[str, Request] = field(default_factory=dict)

    def abort(self, name: str) -> None:
        """Have a request end with the next step, if it has not ended."""
        request = self.running.get(name)
        if request is not None:
            request.aborted = True

    def step(self) -> list[tuple[str, list[int], str | None]]:
        """Have the model write a few tokens for every request."""
        time.sleep(0.001)
        outputs: list[tuple[str, list[int], str | None]] = []
        for name, request in list(self.running.items()):
            new, request.tokens = request.tokens[:3], request.tokens[3:]
            reason = "abort" if request.aborted else None if request.tokens else "stop"
            outputs.append((name, new, reason))
            if reason is not None:
                del self.running[name]
        return outputs


def steps(engine: Engine, prompt: list[int]) -> Iterator[list[tuple[str, Any]]]:
    """The engine's steps as batches of pairs: each request is opened with its prompt, fed, and ended."""
    opened: set[str] = set()
    while engine.running:
        batch: list[tuple[str, Any]] = []
        for name, tokens, reason in engine.step():
            if name not in opened:
                opened.add(name)
                batch.append((name, Open(prefix=prompt)))
            batch.append((name, tokens))
            if reason is not None:
                batch.append((name, End(reason)))
                opened.discard(name)
        yield batch


async def client(name: str, events: asyncio.Queue[dict[str, Any]], engine: Engine) -> None:
    """Follow one request. That of B is left while the model is still thinking."""
    characters = 0
    while True:
        event = await events.get()
        if event["type"] == "region_chunk":
            characters += len(event["text"])
            if name == "b" and characters > 100:
                engine.abort(name)
                print("b: the client leaves")
                return
        elif event["type"] == "message":
            print(f"{name}: {event['finish_reason']}: {event['message']}")
            return
        elif event["type"] == "error":
            print(f"{name} failed: {event['error']}")
            return


async def main() -> None:
    """Give each client the events of its request."""
    tokenizer = Tokenizer([PROMPT, *ANSWERS.values()])
    engine = Engine({name: Request(tokenizer.encode(text)) for name, text in ANSWERS.items()})
    keyed = KeyedParser("qwen3", tokenizer=tokenizer)
    queues: dict[str, asyncio.Queue[dict[str, Any]]] = {name: asyncio.Queue() for name in ANSWERS}
    clients = [asyncio.create_task(client(name, queues[name], engine)) for name in ANSWERS]
    async with pump(steps(engine, tokenizer.encode(PROMPT)), keyed, blocking=True) as batches:
        async for batch in batches:
            for name, events in batch:
                for event in events:
                    queues[name].put_nowait(event)
    await asyncio.gather(*clients)
    seen = keyed.statistics()
    print(f"{seen.ended} requests ended, {seen.characters} characters")


if __name__ == "__main__":
    asyncio.run(main())
