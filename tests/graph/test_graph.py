"""Graphs: the same items come out however they are run, and nothing is left behind however they end."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import ParseError, SourceError, StageError, StreamparseError
from streamparse.graph import Channel, Concurrent, Graph, Stage

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_thread_left")]


class Machine:
    """A machine that says who it is, gives each item several times, holds some back, and fails where it is told to."""

    def __init__(self, name: str, times: int, held: int, fails_at: int | None) -> None:
        self.name = name
        self.times = times
        self.held = held
        self.fails_at = fails_at
        self.waiting: list[Any] = []
        self.seen = 0

    def start(self) -> list[Any]:
        return [(self.name, "start")]

    def feed(self, item: Any) -> list[Any]:
        self.seen += 1
        if self.seen == self.fails_at:
            raise LookupError(f"{self.name} failed")
        self.waiting += [(self.name, item)] * self.times
        count = max(len(self.waiting) - self.held, 0)
        ready, self.waiting = self.waiting[:count], self.waiting[count:]
        return ready

    def finish(self) -> list[Any]:
        if self.fails_at == -1:
            raise LookupError(f"{self.name} failed")
        return [*self.waiting, (self.name, "finish")]


async def pass_on(batch: list[Any]) -> list[Any]:
    await checkpoint()
    return batch


async def pass_each_on(batches: AsyncIterator[list[Any]]) -> AsyncIterator[list[Any]]:
    async for batch in batches:
        for item in batch:
            yield [item]


async def pass_one_on(item: Any) -> list[Any]:
    await checkpoint()
    return [item]


MACHINES = st.tuples(st.integers(0, 2), st.integers(0, 3), st.one_of(st.none(), st.integers(-1, 5)))
AWAITING = st.sampled_from([pass_on, pass_each_on, "concurrent"])
STAGES = st.lists(st.one_of(MACHINES, AWAITING), max_size=5)
SOURCES = st.tuples(st.sampled_from(["list", "generator", "async generator", "channel"]), st.booleans())


def made(declared: list[Any]) -> list[Any]:
    """New stages as drawn."""
    return [
        Machine(f"machine {position}", *stage)
        if isinstance(stage, tuple)
        else Concurrent(pass_one_on, limit=2)
        if stage == "concurrent"
        else stage
        for position, stage in enumerate(declared)
    ]


class Source:
    """A source of some kind over some pieces, which may fail in the end, and knows whether it was left open."""

    def __init__(self, kind: str, pieces: list[int], fails: bool) -> None:
        self.pieces = pieces
        self.fails = fails and kind != "list"
        self.open = 0
        self.source: Any = {
            "list": lambda: pieces,
            "generator": self.generate,
            "async generator": self.generate_async,
            "channel": self.push,
        }[kind]()

    def generate(self) -> Iterator[int]:
        self.open += 1
        try:
            yield from self.pieces
            if self.fails:
                raise OSError("gone")
        finally:
            self.open -= 1

    async def generate_async(self) -> AsyncIterator[int]:
        self.open += 1
        try:
            for piece in self.pieces:
                await checkpoint()
                yield piece
            if self.fails:
                raise OSError("gone")
        finally:
            await checkpoint_while_cancelled()
            self.open -= 1

    def push(self) -> Channel[int]:
        channel = Channel[int]()
        if self.pieces:
            channel.offer(list(self.pieces))
        channel.close(OSError("gone") if self.fails else None)
        return channel


async def checkpoint_while_cancelled() -> None:
    with anyio.CancelScope(shield=True):
        await checkpoint()


def by_hand(source: Source, machines: list[Machine]) -> tuple[list[Any], Exception | None]:
    """What comes out of one machine after the other, and the error at the end, without any graph."""
    items: list[Any] = list(source.pieces)
    failure: Exception | None = OSError("gone") if source.fails else None
    for machine in machines:
        out: list[Any] = machine.start()
        try:
            for item in items:
                out += machine.feed(item)
            if failure is None:
                out += machine.finish()
        except LookupError as error:
            failure = error
        items = out
    return items, failure


async def run(graph: Graph) -> tuple[list[Any], str | None]:
    """All items that come out, and the cause of the error after them."""
    out: list[Any] = []
    try:
        async with graph:
            async for item in graph:
                out.append(item)
    except StreamparseError as error:
        return out, repr(error.__cause__)
    return out, None


@given(
    declared=STAGES,
    kind=SOURCES,
    pieces=st.lists(st.integers(0, 9), max_size=6),
    chaining=st.booleans(),
    read_ahead=st.booleans(),
    capacity=st.sampled_from([1, 200, 65536]),
)
async def test_all_ways_of_running_a_graph_give_the_same(
    declared: list[Any],
    kind: tuple[str, bool],
    pieces: list[int],
    chaining: bool,
    read_ahead: bool,
    capacity: int,
) -> None:
    source, same_source = Source(kind[0], pieces, kind[1]), Source(kind[0], pieces, kind[1])
    machines = [stage for stage in made(declared) if isinstance(stage, Machine)]
    expected, failure = by_hand(same_source, machines)
    graph = Graph(source.source, made(declared), chaining=chaining, read_ahead=read_ahead, capacity=capacity)
    out, cause = await run(graph)
    assert out == expected
    assert cause == (None if failure is None else repr(failure))
    assert source.open == 0


@given(
    declared=STAGES,
    kind=st.sampled_from(["generator", "async generator"]),
    chaining=st.booleans(),
    read_ahead=st.booleans(),
    turns=st.integers(0, 40),
    how=st.sampled_from(["cancel", "leave", "raise", "close", "cancel reader"]),
)
async def test_nothing_is_left_however_and_whenever_a_graph_is_stopped(
    declared: list[Any], kind: str, chaining: bool, read_ahead: bool, turns: int, how: str
) -> None:
    source = Source(kind, list(range(1000)), fails=False)
    graph = Graph(source.source, made(declared), chaining=chaining, read_ahead=read_ahead, capacity=100)
    count = tasks_now()

    async def read() -> None:
        with suppress(StreamparseError):
            async for _ in graph:
                await checkpoint()

    async def stop(scope: anyio.CancelScope) -> None:
        for _ in range(turns):
            await checkpoint()
        scope.cancel()

    class Left(Exception):
        pass

    async def use(scope: anyio.CancelScope, tasks: TaskGroup) -> None:
        if how in ("cancel", "cancel reader"):
            with anyio.CancelScope() as reader:
                tasks.start_soon(stop, scope if how == "cancel" else reader)
                await read()
            return
        for _ in range(turns):
            await anext(graph, None)
        if how == "close":
            await graph.aclose()
            assert source.open == 0
            assert await anext(graph, "the end") == "the end"
        if how == "raise":
            raise Left

    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            with suppress(StreamparseError, Left):
                async with graph:
                    await use(scope, tasks)
    assert source.open == 0
    assert tasks_now() == count


def tasks_now() -> int:
    return len(anyio.get_running_tasks())


async def fail_in_batch(batch: list[Any]) -> list[Any]:
    raise LookupError("broken")


async def fail_in_generator(batches: AsyncIterator[list[Any]]) -> AsyncIterator[list[Any]]:
    async for _ in batches:
        raise LookupError("broken")
    yield []


def fail(item: Any) -> list[Any]:
    raise LookupError("broken")


@pytest.mark.parametrize("stage", [fail, fail_in_batch, fail_in_generator])
@pytest.mark.parametrize("chaining", [True, False])
async def test_an_error_in_a_stage_carries_its_name_and_cause(stage: Any, chaining: bool) -> None:
    with pytest.raises(StageError, match="'redact' failed: LookupError: broken") as caught:
        async with Graph([1], [Stage(stage, "redact")], chaining=chaining) as graph:
            await anext(graph)
    assert caught.value.stage == "redact"
    assert isinstance(caught.value.__cause__, LookupError)


@pytest.mark.parametrize("chaining", [True, False])
async def test_an_error_of_ours_in_a_stage_stays_as_it_is(chaining: bool) -> None:
    error = ParseError("no such region")

    def refuse(item: Any) -> list[Any]:
        raise error

    with pytest.raises(ParseError) as caught:
        async with Graph([1], [refuse], chaining=chaining) as graph:
            await anext(graph)
    assert caught.value is error
    assert caught.value.__cause__ is None


async def test_a_stage_that_fails_because_it_is_cancelled_does_not_show() -> None:
    started = anyio.Event()

    async def fail_when_cancelled() -> None:
        try:
            started.set()
            await anyio.sleep_forever()
        finally:
            raise LookupError("broken")

    class Fragile:
        async def run(self, inbox: AsyncIterator[list[Any]], outbox: Channel[Any]) -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(fail_when_cancelled)
                await anyio.sleep_forever()

    with anyio.CancelScope() as scope:
        async with Graph([1], [Fragile()]):
            await started.wait()
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    async with Graph([1], [Fragile()]):
        await started.wait()


async def test_after_an_error_the_graph_is_at_its_end() -> None:
    graph = Graph([1], [fail])
    with pytest.raises(StageError):
        await anext(graph)
    assert await anext(graph, "the end") == "the end"


async def test_an_error_in_the_consumer_stops_the_graph_and_is_its_own() -> None:
    source = Source("async generator", [1, 2, 3], fails=False)
    with pytest.raises(ZeroDivisionError):
        async with Graph(source.source, [pass_on]) as graph:
            1 / (await anext(graph) - 1)
    assert source.open == 0


@pytest.mark.parametrize("stages", [[], [pass_on]])
async def test_a_reader_that_is_cancelled_while_it_waits_has_stopped_the_source(stages: list[Any]) -> None:
    closed = []

    async def silent() -> AsyncIterator[int]:
        try:
            await anyio.sleep_forever()
            yield 1
        finally:
            await checkpoint_while_cancelled()
            closed.append(True)

    async with Graph(silent(), stages) as graph:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(cancel_soon, scope)
                try:
                    async for _ in graph:
                        pass
                finally:
                    assert closed == [True]
        assert scope.cancelled_caught
        with pytest.raises(StreamparseError, match=r"an `async for` over it was cancelled.*await anext\(stream\)"):
            await anext(graph)
        assert await anext(graph, "the end") == "the end"


async def cancel_soon(scope: anyio.CancelScope) -> None:
    for _ in range(5):
        await checkpoint()
    scope.cancel()


@pytest.mark.parametrize("way", [{}, {"chaining": False}, {"read_ahead": True}])
async def test_the_source_is_closed_before_the_last_item_is_given(way: dict[str, bool]) -> None:
    connection = Connection([1, 2])
    async with Graph(connection, [Machine("machine", 1, 0, None)], **way) as graph:
        async for item in graph:
            if item == ("machine", "finish"):
                assert connection.closed == 1
    assert connection.closed == 1


class Connection:
    """A source that is no generator and so does not close itself."""

    def __init__(self, pieces: list[int]) -> None:
        self.pieces = iter(pieces)
        self.closed = 0

    def __aiter__(self) -> Connection:
        return self

    async def __anext__(self) -> int:
        for piece in self.pieces:
            return piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        await checkpoint()
        self.closed += 1


async def test_a_stage_may_end_before_its_source() -> None:
    async def first_two(batches: AsyncIterator[list[int]]) -> AsyncIterator[list[int]]:
        taken = 0
        async for batch in batches:
            for item in batch:
                yield [item]
                taken += 1
                if taken == 2:
                    return

    source = Source("async generator", list(range(1000)), fails=False)
    async with Graph(source.source, [first_two], capacity=100) as graph:
        assert [item async for item in graph] == [0, 1]
    assert source.open == 0


async def test_a_stage_that_ends_stops_its_source_while_stages_behind_it_still_work() -> None:
    released = anyio.Event()

    async def first(batches: AsyncIterator[list[int]]) -> AsyncIterator[list[int]]:
        async for batch in batches:
            yield batch[:1]
            return

    async def wait(batch: list[int]) -> list[int]:
        await released.wait()
        return batch

    connection = Connection(list(range(1000)))
    async with Graph(connection, [first, wait], capacity=100) as graph:
        with anyio.fail_after(5):
            while not connection.closed:
                await checkpoint()
        released.set()
        assert [item async for item in graph] == [0]


async def test_tasks_need_async_with_and_the_error_says_so() -> None:
    source = Source("generator", [1], fails=False)
    graph = Graph(source.source, [pass_on])
    with pytest.raises(StreamparseError, match="async with"):
        await anext(graph)
    assert source.open == 0


async def test_a_graph_with_tasks_is_entered_once() -> None:
    graph = Graph([1], [pass_on])
    async with graph:
        with pytest.raises(StreamparseError, match="once only"):
            await graph.__aenter__()


async def test_a_chain_needs_no_async_with() -> None:
    assert [item async for item in Graph([1, 2], [lambda item: [item + 1]])] == [2, 3]


async def test_one_item_goes_to_one_reader() -> None:
    gate = anyio.Event()

    async def wait() -> AsyncIterator[int]:
        await gate.wait()
        yield 1

    graph = Graph(wait())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anext, graph)
        await checkpoint()
        await checkpoint()
        with pytest.raises(StreamparseError, match="another task is reading"):
            await anext(graph)
        with pytest.raises(StreamparseError, match="another task is reading"):
            await graph.aclose()
        gate.set()


async def test_a_graph_with_tasks_can_be_closed_while_another_task_reads() -> None:
    async def endless() -> AsyncIterator[int]:
        await anyio.sleep_forever()
        yield 1

    ended = []

    async def read(graph: Graph) -> None:
        ended.append([item async for item in graph])

    async with Graph(endless(), read_ahead=True) as graph, anyio.create_task_group() as tasks:
        tasks.start_soon(read, graph)
        await checkpoint()
        await checkpoint()
        await graph.aclose()
    assert ended == [[]]


async def test_reading_ahead_goes_on_while_the_sink_is_slow_and_stays_bounded() -> None:
    given_out = 0

    async def endless() -> AsyncIterator[dict[str, Any]]:
        nonlocal given_out
        while True:
            await checkpoint()
            given_out += 1
            yield {"type": "region_chunk", "field": "content", "text": "word ", "dirty": False}

    async with Graph(endless(), read_ahead=True, capacity=1000) as graph:
        first = await anext(graph)
        while (waiting := graph.statistics().channels[0]).senders_waiting == 0:
            await checkpoint()
        assert waiting.weight_waiting <= 1000
        assert given_out > 100, "more was read than would fit unjoined"
        second = await anext(graph)
    text = "word " * given_out
    assert text.startswith(first["text"] + second["text"])


@pytest.mark.parametrize("kind", ["generator", "async generator"])
async def test_a_break_without_async_with_closes_the_source_soon(kind: str, living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    source = Source(kind, [1, 2, 3], fails=False)
    async for _ in Graph(source.source):
        break
    source.source = None
    for _ in range(10):
        await checkpoint()
    assert source.open == 0
    assert living_tasks() == before


async def test_a_break_without_async_with_closes_a_source_that_is_no_generator_soon() -> None:
    connection = Connection([1, 2])
    async for _ in Graph(connection):
        break
    for _ in range(10):
        await checkpoint()
    assert connection.closed == 1


def test_a_break_as_the_last_thing_in_a_loop_leaves_nothing(anyio_backend: str) -> None:
    source = Source("async generator", [1, 2, 3], fails=False)

    async def main() -> None:
        async for _ in Graph(source.source):
            break
        source.source = None

    anyio.run(main, backend=anyio_backend)
    gc.collect()
    if anyio_backend == "trio":
        assert source.open == 0, "trio waits for what is being closed"


async def test_a_graph_that_was_closed_before_it_was_read_gives_nothing() -> None:
    graph = Graph([1], [Machine("machine", 1, 0, None)])
    await graph.aclose()
    assert [item async for item in graph] == []


async def test_a_graph_that_was_never_read_leaves_nothing(living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    source = Source("async generator", [1], fails=False)
    Graph(source.source)
    Graph(source.source, [pass_on], chaining=False)
    async with Graph(source.source):
        pass
    async with Graph([1], [pass_on]):
        pass
    gc.collect()
    assert (source.open, living_tasks()) == (0, before)


async def test_a_source_that_cannot_be_closed_is_told_of_unless_something_worse_happened() -> None:
    class Stubborn(list[int]):
        def close(self) -> None:
            raise OSError("stuck")

    with pytest.raises(SourceError, match="stuck"):
        async with Graph(Stubborn([1])):
            pass
    with pytest.raises(SourceError, match="stuck"):
        async with Graph(Stubborn([1]), [pass_on]) as graph:
            assert [item async for item in graph] == [1]
    with pytest.raises(ZeroDivisionError):
        async with Graph(Stubborn([1])):
            1 / 0  # noqa: B018
