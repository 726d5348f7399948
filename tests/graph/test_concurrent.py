"""Concurrent: work on several items at once, in order or not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from streamparse.errors import SourceError, StageError
from streamparse.graph import Concurrent, Graph

pytestmark = pytest.mark.anyio

MESSAGE = {"type": "message"}


async def run(items: Any, stage: Concurrent) -> list[Any]:
    async with Graph(items, [stage]) as graph:
        return [item async for item in graph]


def needs_work(item: Any) -> bool:
    return isinstance(item, int)


class Pausing:
    """Work that passes through a given number of turns of the event loop, and counts how much of it runs at once."""

    def __init__(self, pauses: list[int]) -> None:
        self.pauses = iter(pauses)
        self.running = self.most_at_once = 0

    async def __call__(self, item: int) -> list[Any]:
        self.running += 1
        self.most_at_once = max(self.most_at_once, self.running)
        for _ in range(next(self.pauses, 0)):
            await checkpoint()
        self.running -= 1
        return [item, f"result {item}"]


ITEMS = st.lists(st.one_of(st.integers(0, 99), st.sampled_from(["a", "b"])), max_size=20)


@given(items=ITEMS, pauses=st.lists(st.integers(0, 9), max_size=20), limit=st.integers(1, 4))
async def test_ordered_work_keeps_the_order_of_the_items(items: list[Any], pauses: list[int], limit: int) -> None:
    work = Pausing(pauses)
    expected = [part for item in items for part in ([item, f"result {item}"] if needs_work(item) else [item])]
    assert await run(items, Concurrent(work, limit=limit, when=needs_work)) == expected
    assert work.most_at_once <= limit


@given(items=ITEMS, pauses=st.lists(st.integers(0, 9), max_size=20), limit=st.integers(1, 4))
async def test_unordered_work_loses_nothing_and_the_message_stays_last(
    items: list[Any], pauses: list[int], limit: int
) -> None:
    work = Pausing(pauses)
    out = await run([*items, MESSAGE], Concurrent(work, limit=limit, ordered=False, when=needs_work))
    expected = [part for item in items for part in ([item, f"result {item}"] if needs_work(item) else [item])]
    assert out[-1] == MESSAGE
    assert sorted(map(str, out[:-1])) == sorted(map(str, expected))
    assert [item for item in out if item in ("a", "b")] == [item for item in items if item in ("a", "b")]
    assert work.most_at_once <= limit


async def test_unordered_items_pass_work_that_still_runs() -> None:
    passed = anyio.Event()

    async def work(item: int) -> list[Any]:
        await passed.wait()
        return [item]

    async with Graph([1, "a"], [Concurrent(work, ordered=False, when=needs_work)]) as graph:
        assert await anext(graph) == "a"
        passed.set()
        assert await anext(graph) == 1


async def test_ordered_items_wait_for_the_work_before_them() -> None:
    out: list[Any] = []
    gate = anyio.Event()

    async def work(item: int) -> list[Any]:
        await gate.wait()
        return [item]

    async with (
        Graph(["a", 1, "b"], [Concurrent(work, when=needs_work)]) as graph,
        anyio.create_task_group() as tasks,
    ):

        async def collect() -> None:
            async for item in graph:
                out.append(item)

        tasks.start_soon(collect)
        for _ in range(30):
            await checkpoint()
        assert out == ["a"]
        gate.set()
    assert out == ["a", 1, "b"]


async def fails_at_two(item: int) -> list[int]:
    if item == 2:
        raise LookupError("no such tool")
    return [item]


@pytest.mark.parametrize("ordered", [True, False])
async def test_work_that_fails_names_the_stage_and_cancels_the_rest(
    ordered: bool, living_tasks: Callable[[], int]
) -> None:
    before = living_tasks()
    cancelled = []

    async def work(item: int) -> list[int]:
        if item < 3:
            return await fails_at_two(item)
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(item)
        return []

    stage = Concurrent(work, ordered=ordered, name="tools")
    graph = Graph([1, 2, 3, 4], [stage])
    out = []
    with pytest.raises(StageError, match="'tools' failed: LookupError: no such tool") as caught:
        async with graph:
            await collect(graph, out)
    assert isinstance(caught.value.__cause__, LookupError)
    assert out == [1] if ordered else out in ([], [1])
    assert set(cancelled) <= {3, 4}
    assert living_tasks() == before


async def collect(graph: Graph, out: list[Any]) -> None:
    async for item in graph:
        out.append(item)


@pytest.mark.parametrize("ordered", [True, False])
async def test_an_error_before_the_stage_comes_after_the_work_that_was_begun(ordered: bool) -> None:
    async def source() -> Any:
        yield 1
        raise OSError("gone")

    async def work(item: int) -> list[int]:
        for _ in range(5):
            await checkpoint()
        return [item]

    out: list[Any] = []
    with pytest.raises(SourceError, match="gone"):
        async with Graph(source(), [Concurrent(work, ordered=ordered)]) as graph:
            await collect(graph, out)
    assert out == [1]


async def test_leaving_cancels_the_work(living_tasks: Callable[[], int]) -> None:
    before = living_tasks()
    started = anyio.Event()
    ended = []

    async def work(item: int) -> list[int]:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(item)
        return []

    async with Graph([1], [Concurrent(work)]):
        await started.wait()
    assert ended == [1]
    assert living_tasks() == before


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Concurrent(fails_at_two, limit=0)


@pytest.mark.parametrize("ordered", [True, False])
async def test_work_that_is_cancelled_by_itself_has_failed(ordered: bool) -> None:
    async def work(item: str) -> list[str]:
        if item == "b":
            raise asyncio.CancelledError
        return [item]

    with pytest.raises(StageError, match="CancelledError"):
        await run(["a", "b", "c"], Concurrent(work, limit=1, ordered=ordered))
