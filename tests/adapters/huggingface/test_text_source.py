"""The text streamers of transformers as sources: its own classes, fed with numpy ids, without torch or a model."""

from __future__ import annotations

import gc
import queue
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import cycle
from typing import Any

import anyio
import numpy as np
import pytest
import transformers

from streamparse import SourceError, parse_stream
from streamparse.adapters.huggingface import StopSwitch, text_source

from .tiny import tiny_tokenizer

pytestmark = pytest.mark.anyio

PROMPT = "<|im_start|>assistant\n<think>\n"
OUTPUT = 'Look it up.\n</think>\n\nI will.<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
MESSAGE = {
    "role": "assistant",
    "reasoning_content": "Look it up.",
    "content": "I will.",
    "tool_calls": [{"type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}],
}
FAITHFUL = {"skip_prompt": True, "skip_special_tokens": False}


@pytest.fixture(params=["TextIteratorStreamer", "AsyncTextIteratorStreamer"])
def make_streamer(request: pytest.FixtureRequest, anyio_backend: str) -> Callable[..., Any]:
    """Both streamers; the second is of asyncio, and of transformers 4.47 and later."""
    streamer = getattr(transformers, request.param, None)
    if streamer is None:
        pytest.skip(f"this version of transformers has no {request.param}")
    if anyio_backend == "trio" and request.param.startswith("Async"):
        pytest.skip("AsyncTextIteratorStreamer is made for asyncio")
    return partial(streamer, tiny_tokenizer())


def generate(streamer: Any, ids: Iterable[int], stop: StopSwitch | None = None) -> None:
    """Stand for ``model.generate``."""
    streamer.put(np.array([tiny_tokenizer()(PROMPT)["input_ids"]]))
    for token_id in ids:
        stopped = stop is not None and stop(np.array([[token_id]]), None).tolist() == [True]
        streamer.put(np.array([token_id]))
        if stopped:
            break
    streamer.end()


def endless() -> Iterable[int]:
    for token_id in cycle(tiny_tokenizer()("word\n")["input_ids"]):
        time.sleep(0.0005)  # nothing holds such a streamer back
        yield token_id


async def test_texts_become_the_message(make_streamer: Callable[..., Any]) -> None:
    streamer, stop = make_streamer(**FAITHFUL), StopSwitch()
    call = partial(generate, streamer, tiny_tokenizer()(OUTPUT)["input_ids"], stop)
    async with parse_stream(text_source(streamer, call, prefix=PROMPT, stop=stop), "qwen3", prefix=PROMPT) as stream:
        assert [event async for event in stream][-1]["message"] == MESSAGE


async def test_a_streamer_may_be_used_again(make_streamer: Callable[..., Any]) -> None:
    streamer = make_streamer(**FAITHFUL)
    for words in ("first", "second"):
        call = partial(generate, streamer, tiny_tokenizer()(words)["input_ids"])
        source = text_source(streamer, call, prefix=PROMPT, stop=StopSwitch())
        async with parse_stream(source, "qwen3", prefix="") as stream:
            assert [event async for event in stream][-1]["message"]["content"] == words


async def test_the_generation_may_run_elsewhere(make_streamer: Callable[..., Any]) -> None:
    streamer = make_streamer(**FAITHFUL, timeout=60)
    thread = threading.Thread(target=generate, args=(streamer, tiny_tokenizer()(OUTPUT)["input_ids"]))
    thread.start()
    async with parse_stream(text_source(streamer, prefix=PROMPT), "qwen3", prefix=PROMPT) as stream:
        assert [event async for event in stream][-1]["message"] == MESSAGE
    thread.join()


async def test_the_loop_runs_on_while_the_streamer_has_nothing(make_streamer: Callable[..., Any]) -> None:
    streamer = make_streamer(**FAITHFUL)
    go_on = threading.Event()
    events: list[dict[str, Any]] = []

    def ids() -> Iterable[int]:
        assert go_on.wait(30)
        yield from tiny_tokenizer()("Hi")["input_ids"]

    async def read() -> None:
        source = text_source(streamer, partial(generate, streamer, ids()), prefix=PROMPT, stop=StopSwitch())
        async with parse_stream(source, "qwen3", prefix="") as stream:
            events.extend([event async for event in stream])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.sleep(0.01)
        go_on.set()
    assert events[-1]["message"]["content"] == "Hi"


async def test_a_timeout_arrives_as_an_error(make_streamer: Callable[..., Any]) -> None:
    streamer = make_streamer(**FAITHFUL, timeout=0.01)
    with pytest.raises(SourceError, match=r"no text came for 0\.01 seconds, the timeout of") as failure:
        async with parse_stream(text_source(streamer, prefix=PROMPT), "qwen3", prefix="") as stream:
            await anext(stream)
    assert isinstance(failure.value.__cause__, queue.Empty | TimeoutError)


async def test_what_the_generation_raises_arrives_after_its_text(make_streamer: Callable[..., Any]) -> None:
    streamer = make_streamer(**FAITHFUL)

    def fail() -> None:
        streamer.put(np.array([[1]]))
        streamer.put(np.array(tiny_tokenizer()("Hello there ")["input_ids"]))
        raise RuntimeError("out of memory")

    events: list[dict[str, Any]] = []

    async def read() -> None:
        source = text_source(streamer, fail, prefix=PROMPT, stop=StopSwitch())
        async with parse_stream(source, "qwen3", prefix="") as stream:
            async for event in stream:
                events.append(event)

    with pytest.raises(SourceError, match=r"generate\(\) failed: RuntimeError: out of memory") as failure:
        await read()
    assert isinstance(failure.value.__cause__, RuntimeError)
    assert "".join(event["text"] for event in events if event["type"] == "region_chunk") == "Hello there "


async def test_leaving_the_loop_ends_the_generation(make_streamer: Callable[..., Any]) -> None:
    streamer, stop = make_streamer(**FAITHFUL), StopSwitch()
    source = text_source(streamer, partial(generate, streamer, endless(), stop), prefix=PROMPT, stop=stop)
    async with parse_stream(source, "qwen3", prefix="") as stream:
        async for _event in stream:
            break
    assert stop.is_set


async def test_cancelling_ends_the_generation_and_a_reader_that_waits(make_streamer: Callable[..., Any]) -> None:
    streamer, stop = make_streamer(**FAITHFUL), StopSwitch()

    def wait() -> None:
        while not stop.is_set:
            time.sleep(0.001)
        streamer.end()

    with anyio.move_on_after(0.02) as scope:
        async with parse_stream(text_source(streamer, wait, prefix=PROMPT, stop=stop), "qwen3", prefix="") as stream:
            await anext(stream)
    assert scope.cancelled_caught
    assert stop.is_set


async def test_a_source_that_nobody_holds_ends_the_generation(
    make_streamer: Callable[..., Any], threads: Callable[[], list[str]]
) -> None:
    streamer, stop = make_streamer(**FAITHFUL), StopSwitch()
    source = text_source(streamer, partial(generate, streamer, endless(), stop), prefix=PROMPT, stop=stop)
    await anext(source)
    del source
    with anyio.fail_after(30):
        while threads():
            gc.collect()
            await anyio.sleep(0.001)


async def test_a_source_that_is_closed_before_it_is_read_starts_nothing(make_streamer: Callable[..., Any]) -> None:
    streamer = make_streamer(**FAITHFUL)
    called: list[str] = []
    source = text_source(streamer, lambda: called.append("generate"), prefix=PROMPT, stop=StopSwitch())
    await source.aclose()
    assert [text async for text in source] == []
    assert called == []


@pytest.mark.parametrize(
    ("settings", "prefix", "fix"),
    [
        ({"skip_prompt": True, "skip_special_tokens": True}, "", "make it with skip_special_tokens=False"),
        ({"skip_prompt": False}, PROMPT, "make it with skip_prompt=True"),
        ({"skip_prompt": False}, [1, 2], "make it with skip_prompt=True"),
        ({**FAITHFUL, "clean_up_tokenization_spaces": True}, "", "make it with clean_up_tokenization_spaces=False"),
    ],
)
async def test_settings_that_break_parsing_are_refused_with_the_fix(
    settings: dict[str, Any], prefix: Any, fix: str, make_streamer: Callable[..., Any]
) -> None:
    with pytest.raises(SourceError, match=fix):
        text_source(make_streamer(**settings), prefix=prefix)


async def test_all_that_is_wrong_is_said_at_once(make_streamer: Callable[..., Any]) -> None:
    with pytest.raises(SourceError, match=r"skip_special_tokens=False; .* skip_prompt=True"):
        text_source(make_streamer(skip_special_tokens=True), prefix=PROMPT)


async def test_without_a_prefix_the_prompt_may_be_part_of_the_text(make_streamer: Callable[..., Any]) -> None:
    await text_source(make_streamer(), prefix="").aclose()


async def test_a_generation_without_a_stop_switch_is_refused(make_streamer: Callable[..., Any]) -> None:
    with pytest.raises(SourceError, match=r"stopping_criteria=\[stop\]"):
        text_source(make_streamer(**FAITHFUL), lambda: None, prefix="")


def test_the_asynchronous_streamer_is_refused_on_trio() -> None:
    class AsyncTextIteratorStreamer:
        """As far as it can be made without asyncio."""

        skip_prompt, decode_kwargs, tokenizer = True, {}, None

        def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
            pass

        def __aiter__(self) -> Any:
            raise AssertionError("it was read")

    async def read() -> None:
        async with parse_stream(text_source(AsyncTextIteratorStreamer(), prefix=""), "qwen3", prefix="") as stream:
            await anext(stream)

    with pytest.raises(SourceError, match="on trio use TextIteratorStreamer"):
        anyio.run(read, backend="trio")
