"""Clients, the server and the upstream that go away at any moment leave no task, no connection and no thread."""

from __future__ import annotations

import asyncio
import random
import threading
from contextlib import suppress
from typing import Any

import anyio
import httpx
import openai
import pytest

from tests.adapters.openai.upstream import Exchange, playing, says, stalling, upstream
from tests.adapters.serve.running import served, settings
from tests.adapters.serve.test_chat_completions import ASK, client

pytestmark = pytest.mark.asyncio

WAITING = says(["One ", "two"], reason=None, done=False)
TEXT = "<think>Hm, hm.</think>" + 5 * '<tool_call>{"name": "f", "arguments": {"a": [1, 2]}}</tool_call>'


async def until(condition: Any) -> None:
    with anyio.fail_after(30):
        while not condition():
            await anyio.sleep(0.01)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_client_that_goes_away_stops_the_generation(stream: bool) -> None:
    async with upstream(stalling(WAITING)) as behind, served(settings(behind.url)) as server, client(server.url) as ai:

        async def ask() -> None:
            answer = await ai.chat.completions.create(**ASK, stream=stream, n=2)
            async with answer:
                async for _ in answer:
                    pass

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await until(lambda: len(behind.exchanges) == 2)
            tasks.cancel_scope.cancel()
        with anyio.fail_after(30):
            for exchange in behind.exchanges:
                await exchange.gone.wait()
        async with httpx.AsyncClient(base_url=server.url.removesuffix("/v1")) as http:
            await until_metric(http, 'streamparse_requests_total{outcome="cancelled"} 1.0')


async def until_metric(http: httpx.AsyncClient, line: str) -> None:
    with anyio.fail_after(30):
        while line not in (await http.get("/metrics")).text:
            await anyio.sleep(0.01)


async def test_a_server_that_is_stopped_lets_requests_end_that_end_in_time() -> None:
    go_on = asyncio.Event()

    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.send(WAITING)
        await go_on.wait()
        await exchange.send(says([" three"]))
        await exchange.end()

    async with upstream(play) as behind, served(settings(behind.url), grace=30) as server, client(server.url) as ai:
        stream = aiter(await ai.chat.completions.create(**ASK, stream=True))
        await anext(stream)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.stop())
            await asyncio.sleep(0.05)
            go_on.set()
            texts = [chunk.choices[0].delta.content or "" async for chunk in stream]
    assert "".join(texts) == "One two three"


async def test_a_server_that_is_stopped_cancels_requests_that_go_on() -> None:
    async with upstream(stalling(WAITING)) as behind, served(settings(behind.url)) as server, client(server.url) as ai:
        stream = aiter(await ai.chat.completions.create(**ASK, stream=True))
        await anext(stream)
        await server.stop()
        with anyio.fail_after(30):
            await behind.exchanges[0].gone.wait()
        with pytest.raises((openai.APIError, httpx.HTTPError)):
            _ = [chunk async for chunk in stream]


def threads_but_the_loops() -> list[str]:
    """The threads that run, but for the idle ones that an event loop keeps, and ends with itself."""
    names = [thread.name for thread in threading.enumerate()]
    return sorted(name for name in names if not name.startswith(("AnyIO worker", "asyncio_")))


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_goes_away_and_when_nothing_is_left(seed: int) -> None:
    chance = random.Random(seed)
    before = len(asyncio.all_tasks())
    threads = threads_but_the_loops()

    async def play(exchange: Exchange) -> None:
        body = says(TEXT)
        ends = chance.choice(["well", "dies", "stalls"])
        cuts = [chance.randrange(len(body)) for _ in range(20)]
        if ends == "well":
            await playing(body, cuts)(exchange)
            return
        await exchange.begin()
        await exchange.send(body[: chance.randrange(len(body))])
        if ends == "stalls":
            await exchange.until_gone()

    async def ask(ai: openai.AsyncOpenAI) -> None:
        with suppress(openai.OpenAIError, httpx.HTTPError), anyio.move_on_after(chance.uniform(0.0, 0.3)):
            answer: Any = await ai.chat.completions.create(**ASK, stream=chance.random() < 0.7, n=chance.randint(1, 2))
            async with answer:
                async for _ in answer:
                    pass

    async def ask_and_take_the_whole(ai: openai.AsyncOpenAI) -> None:
        with suppress(TypeError, AttributeError):  # a whole answer is nothing to iterate over
            await ask(ai)

    async with upstream(play) as behind:
        async with served(settings(behind.url)) as server, client(server.url) as ai, asyncio.TaskGroup() as tasks:
            for _ in range(12):
                tasks.create_task(ask_and_take_the_whole(ai))
            await asyncio.sleep(chance.uniform(0.0, 0.3))
            await server.stop()
        await until(lambda: behind.open == 0)
    await until(lambda: len(asyncio.all_tasks()) <= before)
    assert threads_but_the_loops() == threads
