"""The streamer for ``generate()``, with numpy ids and no model: ids as they are, backpressure, and the ways to stop."""

from __future__ import annotations

import copy
import gc
import threading
from collections.abc import Callable, Iterable
from typing import Any

import anyio
import numpy as np
import pytest

from streamparse import ChannelClosedError, SourceError, parse_stream
from streamparse.adapters.huggingface import Ending, StopSwitch, TokenStreamer

pytestmark = pytest.mark.anyio

PROMPT = np.array([[1, 2, 3]])
ANCHOR = "<|im_start|>assistant\n"


class Characters:
    """A tokenizer whose token ids are the characters' numbers, but for one token that is a delimiter."""

    THINK_END = 7
    all_special_ids = (THINK_END,)

    def decode(self, ids: list[int], **_options: Any) -> str:
        return "".join("</think>" if token_id == self.THINK_END else chr(token_id) for token_id in ids)


class Generation:
    """Stands for ``model.generate``: puts the prompt and then ids, and asks the stopping criteria before each."""

    def __init__(self, streamer: TokenStreamer, ids: Iterable[int], *, criteria: list[Any] | None = None) -> None:
        self.streamer = streamer
        self.ids = ids
        self.criteria = [streamer.stop] if criteria is None else criteria
        self.put = 0
        self.returned = False
        self.error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.streamer.put(PROMPT)
            written: list[int] = []
            for token_id in self.ids:
                written.append(token_id)
                done = [criterion(np.array([written]), None).tolist() for criterion in self.criteria]
                self.streamer.put(np.array([token_id]))
                self.put += 1
                if [True] in done:
                    break
            self.streamer.end()
            self.returned = True
        except BaseException as error:
            self.error = error
            raise


def endless() -> Iterable[int]:
    while True:
        yield ord("x")


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something in another thread is true."""
    with anyio.fail_after(30):
        while not condition():
            await anyio.sleep(0.001)


async def test_ids_become_events_and_the_end_says_what_was_used() -> None:
    streamer = TokenStreamer(ending=Ending(eos=frozenset({ord(".")})))
    ids = [*map(ord, "<think>Hm"), Characters.THINK_END, *map(ord, "Hi.")]
    generation = Generation(streamer, ids)
    source = streamer.source(generation)
    async with parse_stream(source, "qwen3", prefix="", tokenizer=Characters()) as stream:
        events = [event async for event in stream]
    assert events[-1]["message"] == {"role": "assistant", "reasoning_content": "Hm", "content": "Hi."}
    assert events[-1]["finish_reason"] == "stop"
    assert stream.end is not None
    assert stream.end.usage == {"prompt_tokens": 3, "completion_tokens": 13, "total_tokens": 16}


async def test_a_delimiter_is_recognized_by_its_token_and_spans_count_tokens() -> None:
    streamer = TokenStreamer()
    ids = [*map(ord, "It ends with </think>"), Characters.THINK_END, *map(ord, "Hi")]
    source = streamer.source(Generation(streamer, ids))
    async with parse_stream(source, "qwen3", prefix=ANCHOR + "<think>", tokenizer=Characters(), spans=True) as stream:
        events = [event async for event in stream]
    assert events[-1]["message"]["reasoning_content"] == "It ends with </think>"
    (close,) = (event for event in events if event["type"] == "region_close" and event["field"] == "reasoning_content")
    assert (close["token_start"], close["token_end"]) == (21, 22)


@pytest.mark.parametrize("prompt", [PROMPT, PROMPT[0], PROMPT[:, :0]], ids=["rows", "one dimension", "empty"])
async def test_several_ids_may_come_at_once_as_in_assisted_generation(prompt: Any) -> None:
    streamer = TokenStreamer()

    def generate() -> None:
        streamer.put(prompt)
        streamer.put(np.array([[*map(ord, "abc")]]))
        streamer.end()

    async with parse_stream(streamer.source(generate), "qwen3", prefix="", tokenizer=Characters()) as stream:
        assert [event async for event in stream][-1]["message"]["content"] == "abc"


@pytest.mark.parametrize("values", [[[[1, 2], [3, 4]]], [[[1, 2]], [3, 4]]], ids=["by its prompts", "by its steps"])
async def test_a_batch_is_refused_on_both_sides(values: list[Any]) -> None:
    streamer = TokenStreamer()
    failures: list[BaseException] = []

    def generate() -> None:
        try:
            for value in values:
                streamer.put(np.array(value))
        except SourceError as error:
            failures.append(error)
            raise

    with pytest.raises(SourceError, match=r"one sequence, but generate\(\) writes 2 at once.*num_return_sequences=1"):
        await read(streamer.source(generate))
    assert len(failures) == 1


async def test_what_is_no_id_is_refused() -> None:
    streamer = TokenStreamer()
    with pytest.raises(SourceError, match="expected token ids"):
        await read(streamer.source(lambda: streamer.put("text")))


async def test_a_generation_that_fails_is_told_with_its_cause_after_what_it_wrote() -> None:
    streamer = TokenStreamer()

    def generate() -> None:
        streamer.put(PROMPT)
        streamer.put(np.array([ord("a")]))
        raise RuntimeError("out of memory")

    pieces: list[Any] = []
    with pytest.raises(SourceError, match=r"generate\(\) failed: RuntimeError: out of memory") as failure:
        await read(streamer.source(generate), pieces)
    assert isinstance(failure.value.__cause__, RuntimeError)
    assert pieces == [[ord("a")]]


async def test_a_generation_that_was_not_given_the_streamer_is_told() -> None:
    with pytest.raises(SourceError, match="did not use the streamer"):
        await read(TokenStreamer().source(lambda: None))


async def test_the_generation_waits_for_its_reader() -> None:
    streamer = TokenStreamer(ahead=10)
    generation = Generation(streamer, endless())
    source = streamer.source(generation)
    first = await anext(source)
    assert isinstance(first, list)
    await until(lambda: generation.put == len(first) + 10)
    for _ in range(20):
        await anyio.sleep(0.001)
    assert generation.put == len(first) + 10
    assert len(await anext(source)) == 10  # type: ignore[arg-type]
    await source.aclose()
    assert generation.returned


@pytest.mark.parametrize("ahead", [1, 5])
async def test_closing_ends_a_generation_within_a_token_even_while_it_waits(ahead: int) -> None:
    streamer = TokenStreamer(ahead=ahead)
    generation = Generation(streamer, endless())
    source = streamer.source(generation)
    first = await anext(source)
    assert isinstance(first, list)
    await until(lambda: generation.put == len(first) + ahead)
    await source.aclose()
    assert generation.returned
    assert generation.put <= len(first) + ahead + 2, "the token that waited, and the one at which it was asked to stop"


async def test_a_cancelled_reader_ends_the_generation() -> None:
    streamer = TokenStreamer()
    generation = Generation(streamer, endless())
    with anyio.move_on_after(0.02) as scope:
        async with parse_stream(streamer.source(generation), "qwen3", prefix="", tokenizer=Characters()) as stream:
            async for _event in stream:
                pass
    assert scope.cancelled_caught
    assert generation.returned


async def test_a_reader_that_nobody_holds_ends_the_generation() -> None:
    streamer = TokenStreamer()
    generation = Generation(streamer, endless())
    source = streamer.source(generation)
    await anext(source)
    del source
    gc.collect()
    await until(lambda: generation.returned)
    await until(lambda: all(thread.name != "streamparse generation" for thread in threading.enumerate()))


async def test_without_the_stop_switch_put_raises_which_ends_the_generation_too() -> None:
    streamer = TokenStreamer()
    generation = Generation(streamer, endless(), criteria=[])
    source = streamer.source(generation)
    await anext(source)
    await source.aclose()
    assert isinstance(generation.error, ChannelClosedError)
    assert "stopping_criteria=[streamer.stop]" in str(generation.error)


async def test_a_stop_button_ends_the_generation_and_keeps_what_was_written() -> None:
    streamer = TokenStreamer(ending=Ending(max_new_tokens=1_000_000))
    generation = Generation(streamer, endless())
    async with parse_stream(streamer.source(generation), "qwen3", prefix="", tokenizer=Characters()) as stream:
        async for event in stream:
            if event["type"] == "region_chunk":
                streamer.stop.set()
    assert event["message"]["content"] == "x" * generation.put
    assert event["finish_reason"] is None


async def test_a_source_that_is_closed_before_it_is_read_never_generates() -> None:
    streamer = TokenStreamer()
    generation = Generation(streamer, endless())
    stream = parse_stream(streamer.source(generation), "qwen3", prefix="", tokenizer=Characters())
    await stream.aclose()
    assert generation.put == 0
    assert [event async for event in stream] == []


async def test_a_generation_may_run_in_a_thread_of_the_callers() -> None:
    streamer = TokenStreamer()
    thread = threading.Thread(target=Generation(streamer, map(ord, "Hello")))
    thread.start()
    async with parse_stream(streamer, "qwen3", prefix="", tokenizer=Characters()) as stream:
        assert [event async for event in stream][-1]["message"]["content"] == "Hello"
    thread.join()


async def test_a_generation_in_a_thread_of_the_callers_ends_with_its_reader() -> None:
    streamer = TokenStreamer(ahead=3)
    generation = Generation(streamer, endless())
    thread = threading.Thread(target=generation)
    thread.start()
    async with parse_stream(streamer, "qwen3", prefix="", tokenizer=Characters()) as stream:
        await anext(stream)
    thread.join()
    assert generation.returned


async def test_a_streamer_has_one_reader() -> None:
    streamer = TokenStreamer()
    source = streamer.source()
    with pytest.raises(SourceError, match="one reader"):
        streamer.source()
    await source.aclose()


def test_a_copy_of_a_stop_switch_is_the_same_switch() -> None:
    switch = StopSwitch()
    copied = copy.deepcopy([switch])[0]
    switch.set()
    assert copied(np.array([[1]]), None).tolist() == [True]


async def read(source: Any, pieces: list[Any] | None = None) -> None:
    """Read a source to its end, closing it as a stream does."""
    try:
        async for piece in source:
            if pieces is not None:
                pieces.append(piece)
    finally:
        await source.aclose()
