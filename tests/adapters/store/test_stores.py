"""A store as its writers and readers see it, in memory and in Redis."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from streamparse.adapters.store import (
    FencedError,
    ForgottenError,
    MemoryStore,
    Store,
    StoreError,
    TakenError,
    WriterLostError,
    open_store,
)
from tests.adapters.store.redis_server import needs_redis

pytestmark = pytest.mark.asyncio

KINDS = ["memory", pytest.param("redis", marks=needs_redis)]


@asynccontextmanager
async def opened(kind: str, request: pytest.FixtureRequest, **settings: Any) -> AsyncIterator[Store]:
    if kind == "memory":
        settings.pop("lease", None)
        yield MemoryStore(**settings)
        return
    from streamparse.adapters.store.redis_streams import RedisStore

    store = RedisStore.at(request.getfixturevalue("redis_url"), **settings)
    try:
        yield store
    finally:
        await store.aclose()


def name() -> str:
    return uuid.uuid4().hex


def events(first: int, last: int) -> list[Any]:
    return [{"type": "e", "n": number} for number in range(first, last + 1)]


async def read(store: Store, generation: str, after: int = 0) -> list[Any]:
    return [each.event for each in [each async for each in store.follow(generation, after=after).numbered()]]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_reader_gets_each_event_once_from_any_number_on(kind: str, request: pytest.FixtureRequest) -> None:
    one = name()
    async with opened(kind, request) as store:
        async with store.write(one) as writer:
            for first in range(1, 31, 3):
                await writer.append(events(first, first + 2), last=first == 28)
        for after in range(31):
            assert await read(store, one, after) == events(after + 1, 30)
        assert not await store.runs(one)


@pytest.mark.parametrize("kind", KINDS)
async def test_readers_follow_while_it_is_written(kind: str, request: pytest.FixtureRequest) -> None:
    one, got = name(), {after: [] for after in (0, 4)}  # type: ignore[var-annotated]
    async with opened(kind, request) as store, anyio.create_task_group() as tasks:

        async def follow(after: int) -> None:
            got[after] = await read(store, one, after)

        async with store.write(one) as writer:
            for after in got:
                tasks.start_soon(follow, after)
            for number in range(1, 51):
                await writer.append(events(number, number))
                await anyio.sleep(0)
            await writer.append([], last=True)
    assert got == {0: events(1, 50), 4: events(5, 50)}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_second_writer_is_refused_also_when_the_first_has_gone(
    kind: str, request: pytest.FixtureRequest
) -> None:
    one = name()
    async with opened(kind, request) as store:
        async with store.write(one) as writer:
            with pytest.raises(TakenError):
                async with store.write(one):
                    pass
            await writer.append(events(1, 2))
        with pytest.raises(TakenError):
            async with store.write(one):
                pass
        with pytest.raises(WriterLostError):
            await read(store, one)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_empty_generation_ends(kind: str, request: pytest.FixtureRequest) -> None:
    one = name()
    async with opened(kind, request) as store:
        async with store.write(one) as writer:
            await writer.append([], last=True)
        assert await read(store, one) == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_writer_that_waits_learns_that_it_should_stop(kind: str, request: pytest.FixtureRequest) -> None:
    one = name()
    async with opened(kind, request) as store, opened(kind, request) as other:
        elsewhere = store if kind == "memory" else other
        async with store.write(one) as writer:
            assert await elsewhere.stop(one)
            with anyio.fail_after(30):
                await writer.stopped.wait()
            await writer.append(events(1, 1), last=True)
        assert not await elsewhere.stop(one)
        assert await read(elsewhere, one) == events(1, 1)


@pytest.mark.parametrize("kind", KINDS)
async def test_old_events_give_way_and_a_reader_is_told_of_the_gap(kind: str, request: pytest.FixtureRequest) -> None:
    one = name()
    async with opened(kind, request, history=4000) as store:
        async with store.write(one) as writer:
            for number in range(1, 1001):
                await writer.append(events(number, number))
            await writer.append([], last=True)
        with pytest.raises(ForgottenError):
            await read(store, one)
        assert await read(store, one, 990) == events(991, 1000)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_error_of_the_writer_reaches_whoever_runs_it(kind: str, request: pytest.FixtureRequest) -> None:
    async with opened(kind, request) as store:
        with pytest.raises(KeyError):
            async with store.write(name()):
                raise KeyError
        with pytest.raises(ForgottenError):
            await read(store, name())


@pytest.mark.parametrize("kind", KINDS)
async def test_a_conversation_knows_its_newest_generation(kind: str, request: pytest.FixtureRequest) -> None:
    chat, one, two = name(), name(), name()
    async with opened(kind, request) as store:
        assert await store.newest(chat) is None
        for generation in (one, two):
            async with store.write(generation, conversation=chat) as writer:
                assert await store.newest(chat) == generation
                await writer.append(events(1, 1), last=True)
        assert await store.newest(chat) == two


@needs_redis
async def test_who_was_silent_for_too_long_writes_no_more(request: pytest.FixtureRequest) -> None:
    one = name()
    async with opened("redis", request, lease=600.0) as store:
        async with store.write(one) as writer:
            await writer.append(events(1, 2))
            await store._client.delete(store.keys(one)[1])  # type: ignore[attr-defined]  # as Redis does in time
            with pytest.raises(WriterLostError):
                await read_soon(store, one)
            with pytest.raises(FencedError):
                await writer.append(events(3, 3))
        with pytest.raises(WriterLostError):
            await read_soon(store, one)


async def read_soon(store: Any, one: str) -> None:
    store.lease = 0.1
    await read(store, one)


async def test_generations_in_memory_are_bounded() -> None:
    store = MemoryStore(limit=3)
    names = [name() for _ in range(9)]
    for one in names:
        async with store.write(one) as writer:
            await writer.append(events(1, 1), last=True)
    with pytest.raises(ForgottenError):
        await read(store, names[5])
    assert await read(store, names[8]) == events(1, 1)
    async with store.write("a"), store.write("b"), store.write("c"):
        with pytest.raises(StoreError, match="all of them run"):
            async with store.write("d"):
                pass


async def test_a_store_that_cannot_be_used_is_named() -> None:
    with pytest.raises(StoreError, match="there is no store 'disk'"):
        open_store("disk")
    store = open_store("redis://127.0.0.1:1/0")
    with pytest.raises(StoreError, match="can't be used"):
        await store.runs("a")
    await store.aclose()


@needs_redis
async def test_the_memory_of_a_redis_is_bounded_however_much_is_written(request: pytest.FixtureRequest) -> None:
    one, text = name(), "x" * 10_000
    async with opened("redis", request, history=200_000) as store, store.write(one) as writer:
        largest = 0
        for number in range(2000):
            await writer.append([{"type": "e", "text": text, "n": number}])
            if number % 100 == 0:
                stream = store.keys(one)[0]  # type: ignore[attr-defined]
                largest = max(largest, await store._client.memory_usage(stream, samples=0))  # type: ignore[attr-defined]
        assert largest < 400_000
        assert len(writer._sizes) < 25  # type: ignore[attr-defined]


@needs_redis
async def test_what_has_ended_is_forgotten_in_time(request: pytest.FixtureRequest) -> None:
    one = name()
    async with opened("redis", request, lease=1.0, keep=2.0) as store:
        async with store.write(one, conversation=one) as writer:
            await writer.append(events(1, 3), last=True)
        kept = [*store.keys(one)[:1], store._newest_key(one)]  # type: ignore[attr-defined]
        left = [await store._client.pttl(key) for key in kept]  # type: ignore[attr-defined]
        assert all(0 < time <= 2000 for time in left)
