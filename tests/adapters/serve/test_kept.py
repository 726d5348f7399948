"""Answers that are kept: a page that reloads goes on with its answer, at any server, and can stop it there."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import anyio
import httpx
import pytest

from tests.adapters.openai.upstream import Exchange, breaking, playing, says, stalling, upstream
from tests.adapters.serve.running import served, settings
from tests.adapters.serve.test_protocols import RUN
from tests.adapters.store.redis_server import needs_redis

pytestmark = pytest.mark.asyncio

STORES = ["memory", pytest.param("redis", marks=needs_redis)]
BEGINNING = says(["<think>Hm.</think>One ", "two"], reason=None, done=False)


def store_at(kind: str, request: pytest.FixtureRequest) -> str:
    url: str = kind if kind == "memory" else request.getfixturevalue("redis_url")
    return url


def ask(chat: str) -> Any:
    return {"id": chat, "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}


def http(server: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=server.url.removesuffix("/v1"), timeout=30)


async def some_of(client: httpx.AsyncClient, path: str, body: Any, until: str) -> list[tuple[str, Any]]:
    """Post a body, and go away once the answer says something."""
    got: list[tuple[str, Any]] = []
    async with client.stream("POST", path, json=body) as answer:
        assert answer.status_code == 200
        async for each in records(answer):
            got.append(each)
            if until in json.dumps(each[1]):
                return got
    raise AssertionError(got)


async def records(answer: httpx.Response) -> Any:
    id = ""
    async for line in answer.aiter_lines():
        if line.startswith("id: "):
            id = line.removeprefix("id: ")
        if line.startswith("data: "):
            data = line.removeprefix("data: ")
            yield id, data if data == "[DONE]" else json.loads(data)


async def all_of(
    client: httpx.AsyncClient, path: str, begun: asyncio.Event | None = None, **headers: str
) -> list[tuple[str, Any]]:
    """What a client reads to the end; ``begun`` is set once it reads."""
    got = []
    async with client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        async for each in records(answer):
            got.append(each)
            if begun is not None:
                begun.set()
    return got


def text_of(got: list[tuple[str, Any]]) -> str:
    return "".join(event["delta"] for _, event in got if event != "[DONE]" and event["type"] == "text-delta")


@pytest.mark.parametrize("kind", STORES)
async def test_a_page_that_reloads_goes_on_with_its_answer(kind: str, request: pytest.FixtureRequest) -> None:
    store, chat, go_on = store_at(kind, request), uuid.uuid4().hex, asyncio.Event()
    begun = asyncio.Event()

    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.send(BEGINNING)
        await go_on.wait()
        await exchange.send(says([" three"]))
        await exchange.end()

    async with (
        upstream(play) as behind,
        served(settings(behind.url, store=store)) as one,
        served(settings(behind.url, store=store)) as two,
        http(one) as first,
        http(one if kind == "memory" else two) as second,
    ):
        seen = await some_of(first, "/ui/chat", ask(chat), "two")
        async with asyncio.TaskGroup() as tasks:
            whole = tasks.create_task(all_of(second, f"/ui/chat/{chat}/stream", begun))
            rest = tasks.create_task(all_of(second, f"/ui/chat/{chat}/stream", **{"Last-Event-ID": seen[-1][0]}))
            await begun.wait()
            go_on.set()
        assert whole.result()[: len(seen)] == seen
        assert whole.result() == [*seen, *rest.result()]
        assert text_of(whole.result()) == "One two three"
        assert whole.result()[-1][1] == "[DONE]"
        assert len(behind.exchanges) == 1
        assert (await second.get(f"/ui/chat/{chat}/stream")).status_code == 204
        assert await all_of(second, f"/ui/chat/{chat}/stream?ended=1") == whole.result()


@pytest.mark.parametrize("kind", STORES)
async def test_a_stop_ends_the_answer_for_all_and_reaches_the_upstream(
    kind: str, request: pytest.FixtureRequest
) -> None:
    store, chat, begun = store_at(kind, request), uuid.uuid4().hex, asyncio.Event()
    async with (
        upstream(stalling(BEGINNING)) as behind,
        served(settings(behind.url, store=store)) as one,
        served(settings(behind.url, store=store)) as two,
        http(one) as first,
        http(one if kind == "memory" else two) as second,
    ):
        await some_of(first, "/ui/chat", ask(chat), "two")
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(all_of(second, f"/ui/chat/{chat}/stream", begun))
            await begun.wait()
            assert (await second.post(f"/ui/chat/{chat}/stop")).json() == {"stopped": True}
        types = [event if event == "[DONE]" else event["type"] for _, event in reading.result()]
        assert types[-3:] == ["text-end", "abort", "[DONE]"]
        with anyio.fail_after(30):
            await behind.exchanges[0].gone.wait()
        assert (await second.post(f"/ui/chat/{chat}/stop")).json() == {"stopped": False}


@needs_redis
async def test_readers_are_told_that_the_server_that_generates_is_gone(request: pytest.FixtureRequest) -> None:
    store, chat, begun = store_at("redis", request), uuid.uuid4().hex, asyncio.Event()
    async with (
        upstream(stalling(BEGINNING)) as behind,
        served(settings(behind.url, store=store)) as one,
        served(settings(behind.url, store=store)) as two,
        http(one) as first,
        http(two) as second,
    ):
        await some_of(first, "/ui/chat", ask(chat), "two")
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(all_of(second, f"/ui/chat/{chat}/stream", begun))
            await begun.wait()
            await one.stop()
        assert reading.result()[-2:] == [
            (reading.result()[-2][0], {"type": "error", "errorText": "the server that generated the answer has gone"}),
            (reading.result()[-2][0], "[DONE]"),
        ]


async def test_an_error_of_the_upstream_ends_the_answer_for_whoever_reads_it_later() -> None:
    async with (
        upstream(breaking(BEGINNING)) as behind,
        served(settings(behind.url, store="memory")) as server,
        http(server) as client,
    ):
        answer = await client.post("/ui/chat", json=ask("a"))
        again = await client.get("/ui/chat/a/stream?ended=1")
        assert answer.text == again.text
        assert '"type":"error"' in answer.text


async def test_a_new_question_stops_the_answer_to_the_one_before() -> None:
    async with (
        upstream(stalling(BEGINNING)) as behind,
        served(settings(behind.url, store="memory")) as server,
        http(server) as client,
    ):
        await some_of(client, "/ui/chat", ask("a"), "two")
        await some_of(client, "/ui/chat", ask("a"), "two")
        with anyio.fail_after(30):
            await behind.exchanges[0].gone.wait()
        assert not behind.exchanges[1].gone.is_set()


async def test_ag_ui_runs_are_kept_by_their_thread() -> None:
    body = {**RUN, "messages": [{"id": "1", "role": "user", "content": "Hi"}]}
    async with (
        upstream(playing(says(["Hello"]))) as behind,
        served(settings(behind.url, store="memory")) as server,
        http(server) as client,
    ):
        answer = await client.post("/ag-ui", json=body)
        assert (await client.get("/ag-ui/t/stream?ended=1")).text == answer.text
        assert '"RUN_FINISHED"' in answer.text


async def test_what_is_kept_needs_the_key_and_a_store_that_is_away_is_told() -> None:
    async with (
        upstream(playing(says(["Hello"]))) as behind,
        served(settings(behind.url, store="memory", key="k")) as server,
        served(settings(behind.url, store="redis://127.0.0.1:1/0")) as away,
        http(server) as client,
        http(away) as other,
    ):
        assert (await client.get("/ui/chat/a/stream")).status_code == 401
        assert (await client.post("/ui/chat/a/stop")).status_code == 401
        for refused in (await other.post("/ui/chat", json=ask("a")), await other.get("/ui/chat/a/stream")):
            assert refused.status_code == 503
            assert refused.json()["error"]["code"] == "store_failed"
