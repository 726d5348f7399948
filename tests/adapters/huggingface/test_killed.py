"""Readers and generators that end at random moments, again and again, leave no thread, no task and no generation."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
import pytest

from streamparse import ParseStream, SourceError, parse_generate, parse_stream
from streamparse.adapters.huggingface import StopSwitch, text_source

from .tiny import HOW_TO_RUN, Writes, tiny_model, tiny_tokenizer

torch = pytest.importorskip("torch", reason=HOW_TO_RUN)
pytestmark = pytest.mark.anyio

TIMES = 10
QUESTION = [{"role": "user", "content": "Hi"}]
SETTINGS: dict[str, Any] = {"max_new_tokens": 4000, "do_sample": False}


class FailsAt(Writes):
    """Writes the same line for ever, and fails at a token."""

    def __init__(self, token: int) -> None:
        super().__init__("word\n")
        self.token = token

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self.written == self.token:
            raise RuntimeError("killed")
        return super().__call__(input_ids, scores)


def by_tokens(writes: Writes, chance: random.Random) -> ParseStream:
    ahead = chance.choice([1, 8, 1000])
    return parse_generate(tiny_model(), tiny_tokenizer(), QUESTION, logits_processor=[writes], ahead=ahead, **SETTINGS)


def by_text(writes: Writes, chance: random.Random) -> ParseStream:
    from transformers import TextIteratorStreamer

    tokenizer, stop = tiny_tokenizer(), StopSwitch()
    prompt = tokenizer.apply_chat_template(QUESTION, add_generation_prompt=True, tokenize=False)
    streamer = TextIteratorStreamer(tokenizer, skip_prompt=True, timeout=60)
    inputs = tokenizer(prompt, return_tensors="pt")
    generate = partial(
        tiny_model().generate,
        **inputs,
        **SETTINGS,
        streamer=streamer,
        stopping_criteria=[stop],
        logits_processor=[writes],
    )
    return parse_stream(text_source(streamer, generate, prefix=prompt, stop=stop), tokenizer=tokenizer, prefix=prompt)


Make = Callable[[Writes, random.Random], ParseStream]
both = pytest.mark.parametrize("make", [by_tokens, by_text])


async def cancelled(stream: ParseStream, chance: random.Random) -> None:
    with anyio.move_on_after(chance.random() * 0.03):
        async with stream:
            async for _event in stream:
                pass


async def left(stream: ParseStream, chance: random.Random) -> None:
    events = chance.randrange(1, 12)
    async with stream:
        async for _event in stream:
            events -= 1
            if events == 0:
                break


async def closed(stream: ParseStream, chance: random.Random) -> None:
    with anyio.move_on_after(chance.random() * 0.03):
        async for _event in stream:
            pass
    await stream.aclose()


@both
@pytest.mark.parametrize("end", [cancelled, left, closed])
async def test_a_reader_that_goes_away(
    make: Make,
    end: Callable[[ParseStream, random.Random], Any],
    threads: Callable[[], list[str]],
    living_tasks: Callable[[], int],
) -> None:
    chance = random.Random(6)
    tasks = living_tasks()
    for _ in range(TIMES):
        writes = Writes("word\n")
        await end(make(writes, chance), chance)
        assert threads() == []
        assert living_tasks() == tasks
        assert writes.written < SETTINGS["max_new_tokens"]


@both
async def test_a_stream_that_is_dropped(
    make: Make, threads: Callable[[], list[str]], living_tasks: Callable[[], int]
) -> None:
    chance = random.Random(7)
    tasks = living_tasks()
    for _ in range(TIMES):
        writes = Writes("word\n")
        stream = make(writes, chance)
        for _event in range(chance.randrange(1, 5)):
            await anext(stream)
        del stream
        with anyio.fail_after(30):
            while threads() or living_tasks() != tasks:
                await anyio.sleep(0.001)
        assert writes.written < SETTINGS["max_new_tokens"]


@both
async def test_a_generation_that_fails(
    make: Make, threads: Callable[[], list[str]], living_tasks: Callable[[], int]
) -> None:
    chance = random.Random(8)
    tasks = living_tasks()
    for _ in range(TIMES):
        stream = make(FailsAt(chance.randrange(0, 30)), chance)
        with pytest.raises(SourceError, match="killed"):
            async for _event in stream:
                pass
        assert threads() == []
        assert living_tasks() == tasks


@both
async def test_a_reader_and_a_generation_that_end_together(
    make: Make, threads: Callable[[], list[str]], living_tasks: Callable[[], int]
) -> None:
    chance = random.Random(9)
    tasks = living_tasks()
    for _ in range(TIMES):
        with suppress(SourceError):
            await cancelled(make(FailsAt(chance.randrange(0, 30)), chance), chance)
        assert threads() == []
        assert living_tasks() == tasks
