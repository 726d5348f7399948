"""The ASGI application, under uvicorn, on its own and mounted in Starlette."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.client import HTTPConnection
from typing import Any

import psutil
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from streamparse.adapters.websockets import EventServer
from streamparse.adapters.websockets.asgi import EventApp
from tests.adapters.websockets.talk import Model, Talk

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """Serve an ASGI application on a free port; gives host and port."""
    config = uvicorn.Config(app, "127.0.0.1", 0, lifespan="on", log_level="critical", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(20):
            while not server.started:
                await asyncio.sleep(0.005)
        yield f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await running


def status(where: str) -> int:
    """The status of a plain request."""
    connection = HTTPConnection(where, timeout=20)
    connection.request("GET", "/")
    with connection.getresponse() as response:
        response.read()
    connection.close()
    return response.status


def in_starlette(server: EventServer) -> Starlette:
    """An application of which the websockets are one part."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with server:
            yield

    routes = [Route("/", lambda request: PlainTextResponse("page")), WebSocketRoute("/events", EventApp(server))]
    return Starlette(routes=routes, lifespan=lifespan)


@pytest.mark.parametrize("mounted", [False, True])
async def test_a_generation_comes_through_an_asgi_server(mounted: bool) -> None:
    model = Model()
    server = EventServer(model)
    async with serving(in_starlette(server) if mounted else EventApp(server)) as where:
        async with connect(f"ws://{where}/events", origin=f"http://{where}") as connection:
            talk = Talk(connection.send, connection.recv)
            await talk.greet()
            await talk.say(type="start", generation="a")
            assert (await talk.follow("a") or {})["reason"] == "complete"
            assert talk.states["a"] == await model.state()
        assert await asyncio.to_thread(status, where) == (200 if mounted else 426)


@pytest.mark.parametrize("seed", range(3))
async def test_connections_that_break_at_random_events_lose_nothing(seed: int) -> None:
    chance = random.Random(seed)
    model, states, last = Model(size=2), {}, {}
    async with serving(EventApp(EventServer(model, grace=3600))) as where:
        end = None
        while end is None:
            async with connect(f"ws://{where}") as connection:
                talk = Talk(connection.send, connection.recv)
                talk.states, talk.last = states, last
                await talk.greet()
                if last:
                    await talk.say(type="subscribe", generation="a", after=last["a"])
                else:
                    await talk.say(type="start", generation="a")
                end = await talk.follow("a", stop_after=chance.randint(1, 8))
                if chance.random() < 0.5:
                    connection.transport.abort()
        assert states["a"] == await model.state()
    assert (model.started, model.running) == (1, 0)


async def test_refusals_have_their_close_codes() -> None:
    server = EventServer(Model(), check_token=lambda token: token, max_clients=1)
    async with serving(EventApp(server)) as where:

        async def refused(frame: str | bytes | None, **options: Any) -> int:
            async with connect(f"ws://{where}", **options) as connection:
                if frame is not None:
                    await connection.send(frame)
                await asyncio.wait_for(connection.wait_closed(), 20)
                return connection.protocol.close_code or 0

        assert await refused(None, origin="https://evil.org") == 1008
        assert await refused('{"type": "hello", "version": 1}') == 4401
        assert await refused("x" * 65_537) == 1009
        assert await refused(b"x") == 1003
        assert await refused("x") == 4400
        async with connect(f"ws://{where}") as connection:
            await Talk(connection.send, connection.recv).greet(token="secret")
            assert await refused(None) == 4429


async def test_a_client_that_goes_away_stops_its_generation() -> None:
    model = Model(then="hang")
    async with serving(EventApp(EventServer(model, grace=0))) as where:
        async with connect(f"ws://{where}") as connection:
            talk = Talk(connection.send, connection.recv)
            await talk.greet()
            await talk.say(type="start", generation="a")
            await talk.follow("a", stop_after=1)
            connection.transport.abort()
        async with asyncio.timeout(20):
            while model.running:
                await asyncio.sleep(0.002)


@pytest.mark.parametrize("seed", range(3))
async def test_killing_clients_and_servers_at_random_moments_leaves_nothing(seed: int) -> None:
    chance = random.Random(seed)
    before = len(asyncio.all_tasks()), len(psutil.Process().net_connections())

    async def be_a_client(where: str) -> None:
        try:
            async with connect(f"ws://{where}") as connection:
                talk = Talk(connection.send, connection.recv)
                await talk.greet()
                await talk.say(type="start", generation=chance.choice("ab"))
                for _ in range(chance.randint(1, 50)):
                    talk.take(await talk.hear())
                connection.transport.abort()
        except (OSError, ConnectionClosed, EOFError):
            pass

    for _ in range(3):
        model = Model(pause=0.001, then=chance.choice(["end", "hang", "fail"]))
        async with serving(EventApp(EventServer(model, grace=chance.choice([0, 0.01, 3600])))) as where:
            clients = [asyncio.create_task(be_a_client(where)) for _ in range(6)]
            await asyncio.sleep(chance.random() * 0.1)
            for client in clients:
                if chance.random() < 0.4:
                    client.cancel()
        await asyncio.wait(clients, timeout=20)
        assert model.running == 0
    async with asyncio.timeout(20):
        while len(asyncio.all_tasks()) > before[0] or len(psutil.Process().net_connections()) > before[1]:
            await asyncio.sleep(0.01)
