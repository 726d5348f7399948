"""A generation that another process parses is followed, from any event on, and across servers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import anyio
import pytest

from streamparse.adapters.kafka import KafkaEvents, KafkaWorker, begin_record, chunk_record, end_record
from streamparse.adapters.kafka import follower as follower_module
from streamparse.adapters.openai import ChatCompletionChunks, sse_stream
from streamparse.adapters.store.server_sent import last_event_id, sse_events
from streamparse.adapters.websockets import EventServer, RefusedError
from stress.kafka_generations import Generation, make_topics, write
from tests.adapters.websockets.browser import Browser

pytestmark = [pytest.mark.anyio, pytest.mark.needs("groups")]

WORDS = [f"word{number} " for number in range(60)]
ONE = Generation("one", {"template": "qwen3", "prefix": ""}, ["<think>hm</think>", *WORDS])
PATIENCE = 60


@contextmanager
def worker(bootstrap: str, name: str, **options: Any) -> Iterator[KafkaWorker]:
    made = KafkaWorker(bootstrap, f"{name}-in", f"{name}-out", group=name, commit_seconds=0.05, **options)
    thread = threading.Thread(target=made.run_here)
    thread.start()
    try:
        yield made
    finally:
        made.stop()
        thread.join()


@pytest.fixture
def topics(bootstrap: str, name: str) -> str:
    make_topics(bootstrap, 2, f"{name}-in", f"{name}-out")
    return name


def expected() -> list[dict[str, Any]]:
    return [json.loads(event) for event in ONE.events()]


async def test_a_generation_is_followed_while_it_is_written_and_again_from_any_event_on(
    bootstrap: str, topics: str
) -> None:
    records = ONE.records()
    with worker(bootstrap, topics):
        with anyio.fail_after(PATIENCE):
            async with KafkaEvents(bootstrap, f"{topics}-out") as events:
                write(bootstrap, f"{topics}-in", records[:20])
                seen, numbers = [], []
                async for number, event in events.follow("one").numbered():
                    seen.append(event)
                    numbers.append(number)
                    if number == 10:
                        write(bootstrap, f"{topics}-in", records[20:])
                assert seen == expected()
                assert numbers == list(range(1, len(seen) + 1))
                again = [event async for event in events.follow("one", after=25)]
                assert again == expected()[25:]
            async with KafkaEvents(bootstrap, f"{topics}-out") as events:  # another server, later
                place = await events.place_of("one")
                assert place is not None
                assert [event async for event in events.follow("one", after=7, place=place)] == expected()[7:]


async def test_who_is_slow_misses_nothing(bootstrap: str, topics: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "WAITING", 2)
    records = ONE.records()
    with worker(bootstrap, topics):
        with anyio.fail_after(PATIENCE):
            async with KafkaEvents(bootstrap, f"{topics}-out") as events:
                write(bootstrap, f"{topics}-in", records[:2])
                seen = []
                async for event in events.follow("one"):
                    seen.append(event)
                    if len(seen) == 1:
                        for record in records[2:10]:  # most come in a record of their own
                            write(bootstrap, f"{topics}-in", [record])
                            await anyio.sleep(0.1)
                        write(bootstrap, f"{topics}-in", records[10:])
                        await anyio.sleep(0.5)
                assert seen == expected()


async def test_server_sent_events_carry_the_numbers_that_a_browser_comes_back_with(bootstrap: str, topics: str) -> None:
    write(bootstrap, f"{topics}-in", ONE.records())
    with worker(bootstrap, topics):
        with anyio.fail_after(PATIENCE):
            async with KafkaEvents(bootstrap, f"{topics}-out") as events:
                got: list[bytes] = []
                async with aclosing(sse_events(events.follow("one"))) as pieces:
                    async for piece in pieces:
                        got.append(piece)
                        if len(got) == 9:
                            break
                last = last_event_id(got[-1].split(b"\n")[0].removeprefix(b"id: ").decode())
                async for piece in sse_events(events.follow("one", after=last)):
                    got.append(piece)
                data = [json.loads(piece.split(b"data: ")[1]) for piece in got]
                assert data == expected()
                chunks = [
                    piece async for piece in sse_stream(events.follow("one"), ChatCompletionChunks("qwen3", model="m"))
                ]
                assert chunks[-1] == b"data: [DONE]\n\n"
                assert b'"finish_reason":"stop"' in chunks[-2]


def refuse(parameters: Any, client: Any) -> Any:
    raise RefusedError("this server only shows")


async def shown(events: KafkaEvents, after: int, until: int | None) -> list[dict[str, Any]]:
    """What a client sees of a server of its own, from an event on, until it goes."""
    seen: list[dict[str, Any]] = []
    last = after
    async with EventServer(refuse, find=events.find) as server, anyio.create_task_group() as tasks:
        browser = Browser()
        tasks.start_soon(server.serve, browser)
        await browser.say(type="hello", version=1)
        await browser.say(type="subscribe", generation="one", after=after)
        async for text in browser.client:
            message = json.loads(text)
            assert message["type"] != "error", message
            if message["type"] == "events":
                assert message["first"] == last + 1
                last = message["last"]
                seen += message["events"]
            if message["type"] == "end" or (until is not None and last >= until):
                break
        browser.leave()
    return seen


async def test_a_client_of_websockets_goes_on_at_another_server_where_it_was(bootstrap: str, topics: str) -> None:
    records = ONE.records()
    write(bootstrap, f"{topics}-in", records[:30])
    with worker(bootstrap, topics):
        with anyio.fail_after(PATIENCE):
            async with KafkaEvents(bootstrap, f"{topics}-out") as events:
                first = await shown(events, 0, 5)
            counted = sum(event["type"] != "message" for event in first)
            write(bootstrap, f"{topics}-in", records[30:])
            async with KafkaEvents(bootstrap, f"{topics}-out") as events:
                async with events.follow("one") as whole:
                    every = [event async for event in whole]
                last = await _number_after(first, every)
                second = await shown(events, last, None)
    assert counted
    assert _text([*first, *second]) == _text(every)


async def _number_after(seen: list[dict[str, Any]], every: list[dict[str, Any]]) -> int:
    """How many of the events a client has seen, some of which were joined."""
    length, number = len(_text(seen)), 0
    while len(_text(every[:number])) < length or number < len(seen):
        number += 1
    return number


def _text(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] if event["type"] == "region_chunk" else f"[{event['type']}]" for event in events)


async def test_a_generation_that_nobody_began_is_not_found(bootstrap: str, topics: str) -> None:
    with anyio.fail_after(PATIENCE):
        async with KafkaEvents(bootstrap, f"{topics}-out", find_seconds=0.2) as events:
            assert await events.find("nobody's") is None


async def test_a_topic_that_is_not_there_is_an_error_for_those_who_follow(bootstrap: str, name: str) -> None:
    from streamparse.adapters.kafka import KafkaError

    with anyio.fail_after(PATIENCE):
        async with KafkaEvents(bootstrap, f"{name}-nowhere") as events:
            with pytest.raises(KafkaError, match="nowhere"):
                async for _ in events.follow("one"):
                    pass


async def test_the_worker_runs_in_an_event_loop_and_ends_with_its_task(bootstrap: str, topics: str) -> None:
    made = KafkaWorker(bootstrap, f"{topics}-in", f"{topics}-out", group=topics, exactly_once=True)
    begin = begin_record("two", template="qwen3", prefix="")
    write(bootstrap, f"{topics}-in", [begin, chunk_record("two", "Hello"), end_record("two")])
    with anyio.fail_after(PATIENCE):
        async with KafkaEvents(bootstrap, f"{topics}-out") as events, anyio.create_task_group() as tasks:
            tasks.start_soon(made.run)
            assert [event["type"] async for event in events.follow("two")][-1] == "message"
            tasks.cancel_scope.cancel()
    assert made.statistics().partitions == {}
