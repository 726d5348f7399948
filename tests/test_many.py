"""parse_many and the pump: many generations at once, each as if it were alone, and nothing left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from streamparse import End, KeyedParser, ManyStream, ResponseParser, StreamparseError, parse_many, pump
from streamparse.graph import Channel

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_thread_left")]

TEXT = '<think>\nHm.\n</think>\n\nI will look.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


class Model:
    """A source that knows how many pieces it has given, and whether it was left open."""

    def __init__(
        self, text: str = TEXT, *, size: int = 5, fails: BaseException | None = None, endless: bool = False
    ) -> None:
        self.pieces = [text[start : start + size] for start in range(0, len(text), size)]
        self.fails = fails
        self.endless = endless
        self.given = 0
        self.open = 0

    async def __aiter__(self) -> AsyncIterator[Any]:
        self.open += 1
        try:
            while True:
                for piece in self.pieces:
                    await checkpoint()
                    self.given += 1
                    yield piece
                if not self.endless:
                    break
            if self.fails is not None:
                raise self.fails
            yield End("stop")
        finally:
            with anyio.CancelScope(shield=True):
                await checkpoint()
            self.open -= 1


def message(text: str = TEXT) -> dict[str, Any]:
    parser = ResponseParser("qwen3", "", errors="report")
    parser.feed(text)
    return parser.finalize()[0]


async def last_events(stream: ManyStream, last: dict[Any, dict[str, Any]] | None = None) -> dict[Any, dict[str, Any]]:
    """The last event of each generation: there is one, and none follows it."""
    last = {} if last is None else last
    async with stream:
        async for key, event in stream:
            assert key not in last
            if event["type"] in ("message", "error"):
                last[key] = event
    return last


async def test_every_generation_gives_its_message() -> None:
    models = {key: Model(size=key % 7 + 1) for key in range(300)}
    last = await last_events(parse_many(models, "qwen3", prefix="", limit=1000))
    assert {key: event["message"] for key, event in last.items()} == dict.fromkeys(models, message())
    assert {event["finish_reason"] for event in last.values()} == {"stop"}
    assert all(model.open == 0 for model in models.values())


async def test_no_more_run_than_the_limit_and_new_ones_are_asked_for_as_others_end() -> None:
    models = [Model() for _ in range(20)]
    asked = 0

    async def arriving() -> AsyncIterator[tuple[int, Model]]:
        nonlocal asked
        for number, model in enumerate(models):
            asked += 1
            await checkpoint()
            yield number, model

    most = 0
    async with parse_many(arriving(), "qwen3", prefix="", limit=3) as stream:
        async for _, event in stream:
            most = max(most, sum(model.open for model in models))
            ended = sum(model.given == len(model.pieces) and not model.open for model in models)
            assert asked <= ended + 3 + 1
            del event
    assert most == 3
    assert asked == 20


async def test_a_bad_source_ends_its_own_generation_and_no_other() -> None:
    sources = {
        "fails": Model("Hello", fails=OSError("gone")),
        "no source": 5,
        "no text": ["Hi", 1.5],
        "good": Model(),
        "empty": [],
        "text": "Hello",
    }
    last = await last_events(parse_many(sources, "qwen3", prefix=""))  # type: ignore[arg-type]
    assert {key: event["type"] for key, event in last.items()} == {
        "fails": "error",
        "no source": "error",
        "no text": "error",
        "good": "message",
        "empty": "message",
        "text": "message",
    }
    assert last["fails"]["error"] == "the source failed: OSError: gone"
    assert last["fails"]["message"]["content"] == "Hello"
    assert last["good"]["message"] == message()


async def test_the_source_of_a_generation_that_fails_is_closed_and_read_no_further() -> None:
    bad, good = Model("<tool_call>{]</tool_call>", endless=True), Model()
    last = await last_events(parse_many({"bad": bad, "good": good}, "qwen3", prefix="", errors="strict"))
    assert {key: event["type"] for key, event in last.items()} == {"bad": "error", "good": "message"}
    assert bad.open == 0


async def test_a_key_may_come_again_after_its_source_has_failed() -> None:
    models = [Model("Hi", fails=OSError("gone")), Model(size=1)]

    async def arriving() -> AsyncIterator[tuple[str, Model]]:
        yield "a", models[0]
        while models[0].open or not models[0].given:
            await checkpoint()
        for _ in range(5):
            await checkpoint()
        yield "a", models[1]

    seen = []
    async with parse_many(arriving(), "qwen3", prefix="") as stream:
        while not models[1].given:
            await checkpoint()
        async for _, event in stream:
            seen.append(event)
    assert [event["type"] for event in seen if event["type"] in ("error", "message")] == ["error", "message"]
    assert seen[-1]["message"] == message()


async def test_a_source_that_is_cancelled_by_itself_has_failed() -> None:
    cancelled = Model("The answer is", fails=asyncio.CancelledError())
    last = await last_events(parse_many({"a": cancelled, "b": Model()}, "qwen3", prefix=""))
    assert (last["a"]["type"], last["b"]["type"]) == ("error", "message")
    assert "CancelledError" in str(last["a"]["error"])
    assert last["a"]["message"]["content"] == "The answer is"
    assert cancelled.open == 0


async def test_one_generation_can_be_cancelled_and_the_others_go_on() -> None:
    models = {key: Model(endless=key == "endless") for key in ("endless", "a", "b")}
    last = {}
    stopped = False
    async with parse_many(models, "qwen3", prefix="") as stream:
        async for key, event in stream:
            if key == "endless" and event["type"] == "region_close" and not stopped:
                stopped = stream.cancel("endless")
                assert stopped
            if event["type"] == "message":
                last[key] = event
                assert models[key].open == 0, "the source is closed before the last event"
    assert last["endless"]["finish_reason"] == "cancelled"
    assert last["endless"]["message"]["reasoning_content"].startswith("Hm.")
    assert last["a"]["message"] == last["b"]["message"] == message()
    assert not stream.cancel("a"), "there is nothing to stop any more"


async def test_one_that_has_not_begun_can_be_cancelled_too() -> None:
    models = {"first": Model(), "second": Model(), "third": Model()}
    async with parse_many(models, "qwen3", prefix="", limit=1) as stream:
        assert stream.cancel("third")
        assert not stream.cancel("fourth")
        last = {key: event async for key, event in stream if event["type"] == "message"}
    assert models["third"].given == 0
    assert last["third"]["finish_reason"] == "cancelled"
    assert last["second"]["message"] == message()


async def test_leaving_the_block_closes_every_source_and_ends_every_task(living_tasks: Any) -> None:
    before = living_tasks()
    models = {key: Model(endless=True) for key in range(50)}
    async with parse_many(models, "qwen3", prefix="") as stream:
        async for _ in stream:
            if sum(model.open for model in models.values()) == 50:
                break
    assert all(model.open == 0 for model in models.values())
    assert living_tasks() == before


async def test_cancelling_the_consumer_closes_every_source(living_tasks: Any) -> None:
    before = living_tasks()
    models = {key: Model(endless=True) for key in range(20)}
    with anyio.CancelScope() as scope:
        async with parse_many(models, "qwen3", prefix="") as stream:
            seen = 0
            async for _ in stream:
                seen += 1
                if seen == 500:
                    scope.cancel()
    assert scope.cancelled_caught
    assert all(model.open == 0 for model in models.values())
    assert living_tasks() == before


async def test_iterating_outside_of_async_with_is_refused() -> None:
    with pytest.raises(StreamparseError, match="async with"):
        await anext(parse_many({"a": "Hello"}, "qwen3", prefix=""))


async def test_a_source_that_never_waits_does_not_starve_the_others() -> None:
    flood = ["word "] * 100_000
    quiet = Model()
    before = None
    async with parse_many({"flood": flood, "quiet": quiet}, "qwen3", prefix="", capacity=10_000) as stream:
        amount = 0
        async for key, event in stream:
            if key == "flood" and event["type"] == "region_chunk":
                amount += len(event["text"])
            if key == "quiet" and event["type"] == "message":
                before = amount
    assert amount == 500_000
    assert before is not None
    assert before < 250_000


async def test_a_slow_consumer_slows_the_sources_and_loses_nothing() -> None:
    models = {key: Model("some words " * 300, size=4) for key in range(20)}
    texts = dict.fromkeys(models, "")
    async with parse_many(models, "qwen3", prefix="", capacity=5_000) as stream:
        for _ in range(500):
            await checkpoint()
        first = await anext(stream)
        for _ in range(500):
            await checkpoint()
        seen = stream.statistics()
        assert seen.channels[0].highest_weight <= 5_000
        assert sum(model.given for model in models.values()) < 500, "the sources wait"
        assert first[1]["type"] == "region_open"
        async for key, event in stream:
            texts[key] += event.get("text", "")
    assert texts == dict.fromkeys(models, "some words " * 300)
    assert stream.statistics().channels[0].highest_weight <= 5_000


async def test_two_sources_of_one_key_at_a_time_are_an_error_after_what_runs() -> None:
    models = [Model(), Model(), Model()]
    last: dict[Any, dict[str, Any]] = {}
    with pytest.raises(StreamparseError, match="'a'"):
        await last_events(parse_many([("a", models[0]), ("b", models[1]), ("a", models[2])], "qwen3", prefix=""), last)
    assert {key: event["type"] for key, event in last.items()} == {"a": "message", "b": "message"}
    assert all(model.open == 0 for model in models)


async def test_if_what_gives_the_sources_fails_those_that_run_come_to_their_end() -> None:
    async def arriving() -> AsyncIterator[tuple[str, Model]]:
        yield "a", Model()
        raise OSError("no more")

    last: dict[Any, dict[str, Any]] = {}
    with pytest.raises(StreamparseError, match="no more"):
        await last_events(parse_many(arriving(), "qwen3", prefix=""), last)
    assert last["a"]["message"] == message()


async def test_each_generation_may_have_options_of_its_own() -> None:
    texts = {"qwen3": TEXT, "gpt_oss": "<|channel|>final<|message|>Hi"}
    stream = parse_many(texts, prefix="", options=lambda key: {"template": key})
    last = await last_events(stream)
    assert last["gpt_oss"]["message"] == {"role": "assistant", "content": "Hi"}
    assert last["qwen3"]["message"] == message()


async def test_sources_that_block_are_read_in_threads() -> None:
    gate = threading.Barrier(2, timeout=30)

    def waits(text: str) -> Iterator[str]:
        gate.wait()
        yield text

    last = await last_events(parse_many({"a": waits("A"), "b": waits("B")}, "qwen3", prefix="", blocking=True))
    assert {key: event["message"]["content"] for key, event in last.items()} == {"a": "A", "b": "B"}


async def test_the_numbers_of_all_generations_together() -> None:
    models = {"a": Model(), "b": Model("Hi", fails=OSError("gone"))}
    stream = parse_many(models, "qwen3", prefix="")
    events = 0
    async with stream:
        async for _ in stream:
            events += 1
    seen = stream.statistics()
    assert seen.running == 0
    assert (seen.pieces, seen.items) == (2, events)
    assert (seen.generations.opened, seen.generations.ended, seen.generations.failed) == (2, 1, 1)
    assert seen.generations.characters == len(TEXT) + len("Hi")
    assert seen.generations.events == events


def contents(batches: list[Any]) -> dict[Any, str]:
    """What each key's chunks of content say."""
    texts: dict[Any, str] = {}
    for batch in batches:
        for key, events in batch:
            texts[key] = texts.get(key, "") + "".join(event.get("text", "") for event in events)
    return texts


async def test_a_pump_takes_everything_that_waits_in_one_wake_up() -> None:
    inbox: Channel[tuple[int, Any]] = Channel("steps", capacity=10**6)
    batches = []
    async with pump(inbox, KeyedParser("qwen3", prefix="")) as stream:
        for word in ("One ", "two ", "three"):
            assert inbox.offer([(key, word) for key in range(10)])
        batches.append(await anext(stream))
        assert contents(batches) == dict.fromkeys(range(10), "One two three")
        inbox.offer([(key, End("stop")) for key in range(10)])
        inbox.close()
        batches += [batch async for batch in stream]
    assert [events[-1]["finish_reason"] for _, events in batches[1]] == ["stop"] * 10


async def test_a_pump_is_bounded_by_the_amount_of_text() -> None:
    inbox: Channel[tuple[int, Any]] = Channel("steps", capacity=1_000)
    step = [(key, "word") for key in range(10)]
    async with pump(inbox, KeyedParser("qwen3", prefix="")) as stream:
        assert inbox.offer(step)
        assert not inbox.offer(step), "the engine is told that there is no room"
        await anext(stream)
        assert inbox.offer(step)


@pytest.mark.parametrize("blocking", [False, True])
async def test_a_pump_over_steps_works_large_ones_off_in_slices(blocking: bool) -> None:
    def steps() -> Iterator[list[tuple[int, Any]]]:
        for _ in range(3):
            yield [(key, "word ") for key in range(2_000)]
        yield [(0, "x" * 100_000)]

    batches = []
    async with pump(steps(), KeyedParser("qwen3", prefix=""), blocking=blocking) as stream:
        async for batch in stream:
            batches.append(batch)
    assert contents(batches) == {
        0: "word word word " + "x" * 100_000,
        **dict.fromkeys(range(1, 2_000), "word word word "),
    }
    assert max(map(len, batches[:-1])) < 500, "other tasks get a chance in between"
    assert sum(events[-1]["type"] == "message" for batch in batches for _, events in batch) == 2_000


async def test_the_other_generations_of_a_pump_go_on_when_one_is_bad() -> None:
    steps = [[("bad", "Hi"), ("good", "Hel")], [("bad", 1.5), ("good", "lo")]]
    async with pump(steps, KeyedParser("qwen3", prefix="")) as stream:
        last = {key: events[-1] async for batch in stream for key, events in batch}
    assert (last["bad"]["type"], last["good"]["message"]["content"]) == ("error", "Hello")


async def test_a_poll_in_which_there_was_nothing_is_no_harm_to_a_pump() -> None:
    steps: list[list[tuple[str, str]]] = [[], [("a", "Hel")], [], [], [("a", "lo")], []]
    async with pump(steps, KeyedParser("qwen3", prefix="")) as batches:
        events = [event async for batch in batches for _, of_key in batch for event in of_key]
    assert events[-1]["message"]["content"] == "Hello"


async def test_a_source_that_never_has_anything_leaves_other_tasks_their_turn() -> None:
    def polled() -> Iterator[list[tuple[str, str]]]:
        while True:
            yield []

    with anyio.move_on_after(0) as scope:
        async with pump(polled(), KeyedParser("qwen3", prefix="")) as batches:
            async for _ in batches:
                pytest.fail("there is nothing to give")
    assert scope.cancelled_caught
