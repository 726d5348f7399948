"""Stages: the forms in which they may be declared."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from typing import Any

import pytest

from streamparse.errors import StageError, StreamparseError
from streamparse.graph import Channel, Concurrent, Graph, Stage

pytestmark = pytest.mark.anyio


class Double:
    """A machine that gives each item twice, greets first and takes leave last."""

    def start(self) -> list[str]:
        return ["hello"]

    def feed(self, item: str) -> list[str]:
        return [item, item]

    def finish(self) -> list[str]:
        return ["bye"]


class OnlyFeeds:
    """A machine with nothing to say of itself."""

    def feed(self, item: str) -> tuple[str, ...]:
        return (item, item)

    def finish(self) -> tuple[()]:
        return ()


def double(item: str) -> list[str]:
    return [item, item]


async def double_batch(batch: list[str]) -> list[str]:
    return [item for item in batch for _ in range(2)]


async def double_batches(batches: AsyncIterator[list[str]]) -> AsyncIterator[list[str]]:
    async for batch in batches:
        yield [item for item in batch for _ in range(2)]


async def double_one(item: str) -> list[str]:
    return [item, item]


class DoublesWhenCalled:
    async def __call__(self, batch: list[str]) -> list[str]:
        return await double_batch(batch)


class Runs:
    async def run(self, inbox: AsyncIterator[list[str]], outbox: Channel[str]) -> None:
        async for batch in inbox:
            await outbox.send(await double_batch(batch))


async def run(stages: list[Any], pieces: list[str] | None = None, **options: Any) -> list[Any]:
    async with Graph(pieces or ["a", "b"], stages, **options) as graph:
        return [item async for item in graph]


@pytest.mark.parametrize(
    "stage",
    [
        OnlyFeeds(),
        double,
        functools.partial(double),
        double_batch,
        functools.partial(double_batch),
        DoublesWhenCalled(),
        double_batches,
        Runs(),
        Concurrent(double_one),
    ],
)
@pytest.mark.parametrize("chaining", [True, False])
async def test_every_form_of_a_stage_does_the_same(stage: Any, chaining: bool) -> None:
    assert await run([stage], chaining=chaining) == ["a", "a", "b", "b"]
    assert await run([Stage(stage, "named"), double], chaining=chaining) == ["a"] * 4 + ["b"] * 4


@pytest.mark.parametrize("chaining", [True, False])
async def test_what_a_machine_gives_first_and_last_passes_through_those_behind_it(chaining: bool) -> None:
    expected = ["hello", "hello", "hello", "a", "a", "a", "a", "bye", "bye", "bye"]
    assert await run([Double(), Double()], ["a"], chaining=chaining) == expected


async def test_no_stage_at_all_gives_the_source() -> None:
    assert await run([]) == await run([], chaining=False) == ["a", "b"]


async def test_stages_have_names_of_their_own() -> None:
    async with Graph(["a"], [double, Stage(double, "again"), double, double_batch, Double()], chaining=False) as graph:
        assert [item async for item in graph][:2] == ["hello", "a"]
    statistics = graph.statistics()
    assert [stage.name for stage in statistics.stages] == ["double", "again", "double 2", "Double"]
    assert [channel.name for channel in statistics.channels] == [
        f"after {name}" for name in ("source", "double", "again", "double 2", "double_batch", "Double")
    ]


async def test_statistics_count_what_went_in_and_out() -> None:
    async with Graph(["abc", "d"], [double, lambda item: [item] if item == "d" else []]) as graph:
        assert [item async for item in graph] == ["d", "d"]
    statistics = graph.statistics()
    assert (statistics.pieces, statistics.amount, statistics.items) == (2, 4, 2)
    assert [(stage.items_in, stage.items_out) for stage in statistics.stages] == [(2, 4), (4, 2)]


@pytest.mark.parametrize("stage", [5, None, "name", Double, object(), [double]])
async def test_what_is_no_stage_is_refused_with_what_would_be_one(stage: Any) -> None:
    with pytest.raises(StreamparseError, match="can't be a stage"):
        Graph([], [stage])


async def test_a_class_in_place_of_its_object_is_pointed_out() -> None:
    with pytest.raises(StreamparseError, match=r"did you mean Double\(\)"):
        Graph([], [Double])


async def test_a_stage_that_forgets_to_return_its_items_is_named() -> None:
    async def forgets(batch: list[str]) -> None:
        pass

    with pytest.raises(StageError, match="'forgets' failed: TypeError"):
        await run([forgets])
