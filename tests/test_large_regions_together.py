"""Large tool calls among many generations: read in a thread, while the event loop and the other generations go on."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from streamparse import End, KeyedParser, SourceError, StageError, parse_many, pump
from streamparse.graph import Channel, Graph, aside
from streamparse.stages.content_stage import ContentStage
from tests.large_calls import CALL, LARGE, TEMPLATE

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_thread_left")]

STEPS: list[list[tuple[str, Any]]] = [
    [("a", "So: " + CALL[:20]), ("b", "One ")],
    [("a", CALL[20:] + "."), ("b", "two ")],
    [("a", CALL), ("c", CALL + "!"), ("b", "three "), ("d", CALL[:-9])],
    [("a", "Done."), ("a", End("stop")), ("d", End("length"))],
    [("b", "four")],
]
KINDS = ["asynchronous", "synchronous", "channel", "thread"]


class Work:
    """What holds up the parsing of large regions, in whatever thread, until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.done = 0

    async def has_begun(self) -> None:
        while not self.begun.is_set():
            await anyio.sleep(0.001)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work, parse, here = Work(), ContentStage._parse, threading.get_ident()

    def held(stage: ContentStage, region: Any) -> None:
        if region.field.streams:
            return parse(stage, region)
        assert threading.get_ident() != here, "this would hold up the event loop"
        work.begun.set()
        assert work.go_on.wait(60), "nobody else goes on"
        parse(stage, region)
        work.done += 1
        return None

    monkeypatch.setattr(ContentStage, "_parse", held)
    return work


def keyed_parser(**options: Any) -> KeyedParser:
    keyed = KeyedParser(TEMPLATE, prefix="", **options)
    keyed.put_off_large_regions(LARGE)
    return keyed


async def given(steps: list[Any]) -> AsyncIterator[Any]:
    for step in steps:
        await checkpoint()
        yield step


def source_of(kind: str, steps: list[Any] = STEPS) -> dict[str, Any]:
    """The arguments for a source of a kind."""
    if kind == "channel":
        channel: Channel[Any] = Channel("steps")
        for step in steps:
            channel.offer(step)
        channel.close()
        return {"source": channel}
    return {"source": given(steps) if kind == "asynchronous" else iter(steps), "blocking": kind == "thread"}


def at_once() -> dict[str, list[dict[str, Any]]]:
    """What each key gets where nothing is put off; in a thread, as no large region may be parsed in that of a test."""
    found: dict[str, list[dict[str, Any]]] = {}

    def run() -> None:
        keyed = KeyedParser(TEMPLATE, prefix="")
        for batch in [*map(keyed.feed, STEPS), keyed.finish()]:
            add(found, batch)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found


def add(found: dict[Any, list[dict[str, Any]]], pairs: Any) -> None:
    for key, events in pairs:
        found.setdefault(key, []).extend(events)


async def all_of(stream: Any, found: dict[Any, list[dict[str, Any]]]) -> None:
    async for batch in stream:
        add(found, batch)


def said(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "region_chunk" and not event["dirty"])


@pytest.mark.parametrize("kind", KINDS)
async def test_the_others_go_on_meanwhile_and_each_has_its_events(kind: str, work: Work) -> None:
    found: dict[str, Any] = {}
    async with pump(keyed=keyed_parser(), **source_of(kind)) as stream:
        async for batch in stream:
            add(found, batch)
            if said(found["b"]) == "One two three four" and not work.go_on.is_set():
                assert work.done == 0
                work.go_on.set()
    assert work.done == 4
    assert found == at_once()


@pytest.mark.parametrize("kind", KINDS)
async def test_each_generation_has_the_events_that_it_has_at_once(kind: str) -> None:
    found: dict[str, Any] = {}
    async with pump(keyed=keyed_parser(), **source_of(kind)) as stream:
        await all_of(stream, found)
    assert found == at_once()


@pytest.mark.parametrize("kind", ["asynchronous", "channel", "thread"])
async def test_what_came_of_a_call_is_given_while_the_source_is_silent_which_is_not_cancelled(kind: str) -> None:
    told, told_thread = anyio.Event(), threading.Event()

    async def waiting() -> AsyncIterator[Any]:
        yield [("a", CALL + "x")]
        await told.wait()
        yield [("a", "y")]
        yield [("a", "z")]

    def waiting_thread() -> Iterator[Any]:
        yield [("a", CALL + "x")]
        assert told_thread.wait(60)
        yield [("a", "y")]
        yield [("a", "z")]

    async def push(channel: Channel[Any]) -> None:
        async for step in waiting():
            await channel.send(step)
        channel.close()

    channel: Channel[Any] = Channel("steps")
    source: Any = {"asynchronous": waiting, "channel": lambda: channel, "thread": waiting_thread}[kind]()
    found: dict[str, Any] = {"a": []}
    async with anyio.create_task_group() as tasks:
        if kind == "channel":
            tasks.start_soon(push, channel)
        with anyio.fail_after(60):
            async with pump(source, keyed_parser(), blocking=kind == "thread") as stream:
                async for batch in stream:
                    add(found, batch)
                    if any(event["type"] == "region_close" and event["field"] == "calls" for event in found["a"]):
                        told.set()
                        told_thread.set()
    assert said(found["a"]) == "xyz"
    assert found["a"][-1]["message"]["calls"] == [{"name": "f", "arguments": {"a": 1}}]


async def test_without_async_with_a_large_call_is_read_before_the_source_is_asked_for_more(work: Work) -> None:
    work.go_on.set()
    found: dict[str, Any] = {}
    await all_of(pump(given(STEPS), keyed_parser()), found)
    assert found == at_once()


@pytest.mark.parametrize("chaining", [True, False])
async def test_as_a_stage_of_a_graph_among_others(chaining: bool) -> None:
    def seen(pair: Any) -> list[Any]:
        return [pair]

    async def passing(batch: list[Any]) -> list[Any]:
        return batch

    for stages in (
        [keyed_parser()],
        [seen, keyed_parser(), seen],
        [passing, keyed_parser()],
        [keyed_parser(), passing],
    ):
        found: dict[str, Any] = {}
        async with Graph(given(STEPS), stages, chaining=chaining) as graph:
            add(found, [pair async for pair in graph])
        assert found == at_once()


async def test_regions_that_are_large_by_themselves_are_read_in_a_thread(work: Work) -> None:
    work.go_on.set()
    large = '["' + "x" * 1_000_000 + '"]'
    pieces = [f"a<call>{large}</call>b"[start : start + 65_536] for start in range(0, 1_000_020, 65_536)]
    found: dict[str, Any] = {}
    async with pump([[("a", piece)] for piece in pieces], KeyedParser(TEMPLATE, prefix="")) as stream:
        await all_of(stream, found)
    async with parse_many({"b": pieces}, TEMPLATE, prefix="") as many:
        found["b"] = [event async for _, event in many]
    assert found["a"][-1]["message"] == found["b"][-1]["message"] == {"content": "a\nb", "calls": [["x" * 1_000_000]]}
    assert work.done == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_leaving_waits_for_the_thread_and_leaves_nothing_but_the_work_to_the_operator(
    kind: str, work: Work, living_tasks: Callable[[], int]
) -> None:
    before, leaving = living_tasks(), anyio.Event()
    keyed = keyed_parser()
    async with anyio.create_task_group() as tasks:
        async with pump(keyed=keyed, **source_of(kind)) as stream:
            tasks.start_soon(let_go_when_begun, work, leaving)
            found: dict[str, Any] = {"b": []}
            async for batch in stream:
                add(found, batch)
                if "two" in said(found["b"]):
                    leaving.set()
                    break
        assert work.done == 1
    assert living_tasks() == before
    assert keyed.waiting
    key, events = keyed.take_back(keyed.take_work())[0]  # type: ignore[arg-type]
    assert key == "a"
    assert "region_close" in [event["type"] for event in events]


async def let_go_soon(work: Work) -> None:
    for _ in range(10):
        await checkpoint()
    work.go_on.set()


@pytest.mark.parametrize("kind", ["asynchronous", "channel", "thread"])
async def test_a_reader_that_is_cancelled_lets_go_when_the_thread_has_ended_and_the_source_is_closed(
    kind: str, work: Work, living_tasks: Callable[[], int]
) -> None:
    before, closed, over = living_tasks(), [], threading.Event()

    async def silent() -> AsyncIterator[Any]:
        try:
            yield STEPS[0]
            yield STEPS[1]
            await anyio.sleep_forever()
        finally:
            closed.append(work.done)

    def silent_thread() -> Iterator[Any]:
        try:
            yield STEPS[0]
            yield STEPS[1]
            over.wait(60)
            yield []
        finally:
            closed.append(work.done)

    channel: Channel[Any] = Channel("steps")
    source: Any = {"asynchronous": silent, "channel": lambda: channel, "thread": silent_thread}[kind]()
    if kind == "channel":
        channel.offer(STEPS[0])
        channel.offer(STEPS[1])

    async def cancel(scope: anyio.CancelScope) -> None:
        await work.has_begun()
        scope.cancel()
        over.set()
        await let_go_soon(work)

    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as scope:
            tasks.start_soon(cancel, scope)
            async with pump(source, keyed_parser(), blocking=kind == "thread") as stream:
                await all_of(stream, {})
        assert scope.cancelled_caught
        assert work.done == 1
        assert closed or channel.closed
    assert living_tasks() == before


@pytest.mark.parametrize("kind", ["asynchronous", "thread"])
async def test_what_came_before_an_error_of_the_source_is_given_before_it(kind: str, work: Work) -> None:
    async def failing() -> AsyncIterator[Any]:
        for step in STEPS:
            yield step
        raise OSError("gone")

    def failing_thread() -> Iterator[Any]:
        yield from STEPS
        raise OSError("gone")

    source: Any = failing() if kind == "asynchronous" else failing_thread()
    found: dict[str, Any] = {}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(let_go_when_begun, work)
        async with pump(source, keyed_parser(), blocking=kind == "thread") as stream:
            with pytest.raises(SourceError, match="gone"):
                await all_of(stream, found)
    expected = at_once()
    assert {key: found[key] for key in "ad"} == {key: expected[key] for key in "ad"}
    assert found["c"][-1]["text"] == "!"


async def let_go_when_begun(work: Work, leaving: anyio.Event | None = None) -> None:
    await work.has_begun()
    if leaving is not None:
        await leaving.wait()
    await let_go_soon(work)


async def test_a_stage_that_fails_ends_it_all_when_the_thread_has_ended(work: Work) -> None:
    def failing(pair: Any) -> list[Any]:
        if work.begun.is_set():
            raise ValueError("no more")
        return [pair]

    steps = [STEPS[0], STEPS[1], *[[("b", "x")]] * 1000]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(let_go_when_begun, work)
        async with Graph(given(steps), [keyed_parser(), failing]) as graph:
            with pytest.raises(StageError, match="no more"):
                await all_of(([pair] async for pair in graph), {})
        assert work.done <= 1


async def test_an_error_in_the_work_is_the_generations_own(work: Work) -> None:
    steps: list[list[tuple[str, Any]]] = [
        [("a", "x<call>[1, 2, 3, 4, 5, 6, 7, 8, 9,</call>"), ("b", "Hi")],
        [("a", "left"), ("b", " Ho")],
    ]
    found: dict[str, Any] = {}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(let_go_when_begun, work)
        async with pump(given(steps), keyed_parser(errors="strict")) as stream:
            await all_of(stream, found)
    assert found["a"][-1]["kind"] == "ParseError"
    assert found["a"][-1]["message"] == {"content": "x"}
    assert found["b"][-1]["message"] == {"content": "Hi Ho"}


async def test_when_too_much_waits_the_source_is_asked_for_no_more(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "FULL_WEIGHT", 1000)
    asked = 0

    async def flood() -> AsyncIterator[Any]:
        nonlocal asked
        yield [("a", CALL + "x")]
        for _ in range(1000):
            asked += 1
            yield [("a", "word ")]

    async def let_go_later() -> None:
        await work.has_begun()
        for _ in range(500):
            await checkpoint()
        assert asked < 20
        work.go_on.set()

    found: dict[str, Any] = {}
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(let_go_later)
        async with pump(flood(), keyed_parser()) as stream:
            await all_of(stream, found)
    assert said(found["a"]) == "x" + "word " * 1000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """In ``parse_many`` too, so many characters of a region are much work."""
    monkeypatch.setattr(KeyedParser, "start", lambda keyed: keyed.put_off_large_regions(LARGE) or [])


@pytest.mark.usefixtures("small")
async def test_the_others_of_parse_many_go_on_and_the_source_of_a_large_call_is_held(work: Work) -> None:
    asked = 0

    async def flood() -> AsyncIterator[str]:
        nonlocal asked
        yield CALL + "x"
        for _ in range(1000):
            asked += 1
            yield "word "

    async def calm() -> AsyncIterator[str]:
        for _ in range(1000):
            await checkpoint()
            yield "word "

    found: dict[str, Any] = {"flood": [], "calm": []}
    async with parse_many({"flood": flood(), "calm": calm()}, TEMPLATE, prefix="") as stream:
        async for key, event in stream:
            found[key].append(event)
            if key == "calm" and event["type"] == "message":
                assert work.done == 0
                assert asked < 500
                work.go_on.set()
    assert said(found["calm"]) == "word " * 1000
    assert said(found["flood"]) == "x" + "word " * 1000
    assert found["flood"][-1]["message"]["calls"] == [{"name": "f", "arguments": {"a": 1}}]


@pytest.mark.usefixtures("small")
async def test_a_generation_of_parse_many_can_be_cancelled_meanwhile(work: Work) -> None:
    closed = []

    async def endless() -> AsyncIterator[str]:
        try:
            yield CALL + "x"
            while True:
                await checkpoint()
                yield "word "
        finally:
            closed.append(work.done)

    async def calm() -> AsyncIterator[str]:
        while not work.begun.is_set():
            await anyio.sleep(0.001)
            yield "word "
        assert stream.cancel("endless")
        while not closed:
            await anyio.sleep(0.001)
        yield "last"
        work.go_on.set()

    last: dict[str, Any] = {}
    async with parse_many({"endless": endless(), "calm": calm()}, TEMPLATE, prefix="") as stream:
        async for key, event in stream:
            assert key not in last
            if event["type"] in ("message", "error"):
                last[key] = event
    assert closed == [0], "not held up by the work"
    assert last["endless"]["finish_reason"] == "cancelled"
    assert last["endless"]["message"]["calls"] == [{"name": "f", "arguments": {"a": 1}}]
    assert last["calm"]["message"]["content"].endswith("last")


@pytest.mark.usefixtures("small")
async def test_the_source_of_a_large_call_that_fails_is_closed_and_the_others_go_on(work: Work) -> None:
    closed = []

    async def endless() -> AsyncIterator[str]:
        try:
            yield "x<call>[1, 2, 3, 4, 5, 6, 7, 8, 9,</call>"
            while True:
                await checkpoint()
                yield "word "
        finally:
            closed.append(work.begun.is_set())

    work.go_on.set()
    sources = {"endless": endless(), "calm": ["Hi"]}
    async with parse_many(sources, TEMPLATE, prefix="", errors="strict") as stream:
        last = {key: event async for key, event in stream}
    assert closed == [True]
    assert last["endless"]["kind"] == "ParseError"
    assert last["calm"]["message"] == {"content": "Hi"}


@pytest.mark.usefixtures("small")
async def test_leaving_parse_many_meanwhile_ends_every_task(work: Work, living_tasks: Callable[[], int]) -> None:
    before, leaving = living_tasks(), anyio.Event()
    sources = {"a": given([CALL + "x"] * 9), "b": given(["Hi"] * 99)}
    async with anyio.create_task_group() as tasks, parse_many(sources, TEMPLATE, prefix="") as stream:
        tasks.start_soon(let_go_when_begun, work, leaving)
        async for key, event in stream:
            if (key, event["type"]) == ("b", "message"):
                leaving.set()
                break
    assert work.done == 1
    assert living_tasks() == before


@pytest.mark.usefixtures("small")
async def test_closing_parse_many_from_another_task_ends_the_reading_when_the_thread_has_ended(work: Work) -> None:
    async def silent() -> AsyncIterator[str]:
        yield CALL + "x"
        await anyio.sleep_forever()

    over = False

    async def read() -> None:
        nonlocal over
        async for _ in stream:
            pass
        over = True

    stream = parse_many({"a": silent()}, TEMPLATE, prefix="")
    async with stream, anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await work.has_begun()
        tasks.start_soon(let_go_soon, work)
        await stream.aclose()
        assert work.done == 1
    assert over
