"""The server over the websockets library, with real sockets: reconnecting, slow clients, and ends of every kind."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

import psutil
import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve as serve_plainly
from websockets.exceptions import ConnectionClosed

from streamparse import SourceError, parse_stream
from streamparse.adapters.websockets import EventServer, SocketSource, token_ids
from streamparse.adapters.websockets.library import LibrarySocket, handle, serve
from tests.adapters.websockets.talk import OUTPUT, Model, Talk


@asynccontextmanager
async def serving(server: EventServer, **options: Any) -> AsyncIterator[str]:
    """Serve on a free port; gives the address."""
    async with server, serve(server, "127.0.0.1", 0, **options) as listening:
        listening.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)  # connections take that over
        yield f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}"


def talk_over(connection: Any, known: Talk | None = None) -> Talk:
    """A client's side of a connection, with what it knows from an earlier one."""
    talk = Talk(connection.send, connection.recv)
    if known is not None:
        talk.states, talk.last = known.states, known.last
    return talk


async def closed_with(connection: Any) -> tuple[int, str]:
    """How the server closed a connection, whatever it said before."""
    await asyncio.wait_for(connection.wait_closed(), 20)
    return connection.protocol.close_code, connection.protocol.close_reason


async def until(condition: Any) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.002)


@pytest.mark.asyncio
async def test_a_generation_comes_over_a_real_socket() -> None:
    model = Model()
    async with serving(EventServer(model)) as address, connect(address) as connection:
        talk = talk_over(connection)
        await talk.greet()
        await talk.say(type="start", generation="a")
        assert (await talk.follow("a") or {})["reason"] == "complete"
        assert talk.states["a"] == await model.state()


@pytest.mark.asyncio
@pytest.mark.parametrize("seed", range(10))
async def test_connections_that_break_at_random_events_lose_nothing_and_repeat_nothing(seed: int) -> None:
    chance = random.Random(seed)
    model, talk = Model(size=2), None
    async with serving(EventServer(model, grace=3600)) as address:
        for attempt in range(1000):
            async with connect(address) as connection:
                talk = talk_over(connection, talk)
                await talk.greet()
                await talk.say(
                    **({"type": "start"} if attempt == 0 else {"type": "subscribe", "after": talk.last.get("a", 0)}),
                    generation="a",
                )
                end = await talk.follow("a", stop_after=chance.randint(1, 8))
                if end is not None:
                    break
                if chance.random() < 0.5:
                    connection.transport.abort()
        assert end is not None
        assert end["last"] == talk.last["a"]
        assert talk.states["a"] == await model.state()
    assert (model.started, model.running) == (1, 0)


@pytest.mark.asyncio
async def test_refusals_have_their_close_codes() -> None:
    server = EventServer(Model(), check_token=lambda token: token)
    async with serving(server) as address:
        async with connect(address, origin="https://evil.org") as connection:
            assert await closed_with(connection) == (1008, "pages of this origin may not connect")
        async with connect(address, origin=address.replace("ws:", "http:")) as connection:
            await talk_over(connection).greet(token="secret")
        async with connect(address) as connection:
            await talk_over(connection).say(type="hello", version=1)
            assert await closed_with(connection) == (4401, "the token was refused")
        async with connect(address) as connection:
            await connection.send("x" * 65_537)
            assert (await closed_with(connection))[0] == 1009
        async with connect(address) as connection:
            await connection.send("x" * 1_000_000)
            assert (await closed_with(connection))[0] == 1009
        async with connect(address) as connection:
            await connection.send(b"x")
            assert (await closed_with(connection))[0] == 1003
        async with connect(address) as connection:
            await connection.send("x")
            assert (await closed_with(connection))[0] == 4400


@pytest.mark.asyncio
async def test_a_server_that_shuts_down_says_so() -> None:
    model = Model(then="hang")
    server = EventServer(model)
    async with server:
        async with serve(server, "127.0.0.1", 0) as listening:
            connection = await connect(f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}")
            talk = talk_over(connection)
            await talk.greet()
            await talk.say(type="start", generation="a")
            await talk.follow("a", stop_after=1)
        assert (await closed_with(connection))[0] == 1001
        assert server.clients == 0
    assert model.running == 0


@pytest.mark.asyncio
async def test_a_slow_socket_does_not_slow_the_others_and_gets_joined_chunks() -> None:
    text = "word " * 200_000
    model = Model(text, size=100)
    server = EventServer(model, history=16_000_000)
    async with serving(server, compression=None) as address:
        narrow = socket.socket()
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        narrow.connect(("127.0.0.1", int(address.rpartition(":")[2])))
        async with connect(address, sock=narrow, compression=None, max_size=None, max_queue=1) as slow_connection:
            slow = talk_over(slow_connection)
            await slow.greet()
            await slow.say(type="start", generation="a")
            await slow.follow("a", stop_after=1)  # and takes nothing more for now
            async with connect(address, compression=None, max_size=None) as connection:
                await connection.send('{"type": "hello", "version": 1}')
                await connection.send('{"type": "start", "generation": "a"}')
                while '"type":"end"' not in await asyncio.wait_for(connection.recv(), 20):
                    pass
            generation = server.generation("a")
            assert generation is not None
            (behind,) = generation.statistics().consumers
            assert behind.behind > len(text) / 2, "the generation is over while one client has most of it to come"
            assert (await slow.follow("a") or {})["reason"] == "complete"
            assert slow.states["a"]["message"]["content"] == text.strip()
            assert slow.frames < model.given / 10


async def open_things() -> tuple[int, int, int]:
    """How many tasks, threads and sockets there are."""
    return len(asyncio.all_tasks()), threading.active_count(), len(psutil.Process().net_connections())


@pytest.mark.asyncio
@pytest.mark.parametrize("seed", range(4))
async def test_killing_clients_and_servers_at_random_moments_leaves_nothing(seed: int) -> None:
    chance = random.Random(seed)
    models = []
    await asyncio.sleep(0)
    before = await open_things()

    async def be_a_client(address: str, name: str) -> None:
        try:
            async with connect(address) as connection:
                talk = talk_over(connection)
                await talk.greet()
                await talk.say(type="start", generation=name)
                if chance.random() < 0.3:
                    await talk.follow(name, stop_after=2)
                    await talk.say(type="stop", generation=name)
                await talk.follow(name, stop_after=chance.randint(1, 50))
                if chance.random() < 0.5:
                    connection.transport.abort()
        except (OSError, ConnectionClosed, EOFError):
            pass

    for _ in range(8):
        model = Model(pause=0.001, then=chance.choice(["end", "hang", "fail"]))
        models.append(model)
        async with serving(EventServer(model, grace=chance.choice([0, 0.01, 3600])), close_timeout=1) as address:
            clients = [asyncio.create_task(be_a_client(address, chance.choice("abc"))) for _ in range(8)]
            await asyncio.sleep(chance.random() * 0.1)
            for client in clients:
                if chance.random() < 0.4:
                    client.cancel()
            await asyncio.sleep(chance.random() * 0.05)
        await asyncio.wait(clients, timeout=20)
        assert all(client.done() for client in clients)
    assert [model.running for model in models] == [0] * len(models)
    async with asyncio.timeout(20):
        while any(now > then for now, then in zip(await open_things(), before, strict=True)):
            await asyncio.sleep(0.01)


@pytest.mark.asyncio
async def test_a_server_that_is_cancelled_leaves_nothing() -> None:
    model = Model(then="hang")
    before = await open_things()
    up = asyncio.get_running_loop().create_future()

    async def run() -> None:
        async with serving(EventServer(model)) as address:
            up.set_result(address)
            await asyncio.sleep(3600)

    running = asyncio.create_task(run())
    async with connect(await up) as connection:
        talk = talk_over(connection)
        await talk.greet()
        await talk.say(type="start", generation="a")
        await talk.follow("a", stop_after=1)
        running.cancel()
        await asyncio.wait([running])
        assert (await closed_with(connection))[0] == 1001
    assert model.running == 0
    async with asyncio.timeout(20):
        while any(now > then for now, then in zip(await open_things(), before, strict=True)):
            await asyncio.sleep(0.01)


@asynccontextmanager
async def an_engine(*messages: str | bytes, code: int | None = 1000) -> AsyncIterator[Any]:
    """A connection to a server that sends messages and closes; without a code it waits to be closed."""
    told: list[int | None] = []

    async def send_all(connection: Any) -> None:
        for message in messages:
            await connection.send(message)
        if code is None:
            await connection.wait_closed()
            told.append(connection.protocol.close_code)
        else:
            await connection.close(code)

    async with serve_plainly(send_all, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        async with connect(f"ws://127.0.0.1:{port}") as connection:
            connection.told = told
            yield connection


@pytest.mark.asyncio
async def test_a_socket_is_a_source_of_text_and_of_bytes() -> None:
    data = OUTPUT.encode()
    for messages in (OUTPUT, [data[start : start + 1] for start in range(len(data))]):
        async with an_engine(*messages) as connection:
            async with parse_stream(SocketSource(LibrarySocket(connection)), "qwen3", prefix="") as events:
                async for _ in events:
                    pass
            async with parse_stream(OUTPUT, "qwen3", prefix="") as expected:
                async for _ in expected:
                    pass
            assert events.message == expected.message


@pytest.mark.asyncio
async def test_a_socket_is_a_source_of_token_ids() -> None:
    async with an_engine("[1, 2]", "3", b"[4]") as connection:
        assert [ids async for ids in SocketSource(LibrarySocket(connection), token_ids)] == [[1, 2], [3], [4]]
    for wrong in ("{}", "[true]", "no", "[" * 50_000):
        async with an_engine(wrong) as connection:
            with pytest.raises(SourceError, match="a token id or a list of them"):
                await anext(SocketSource(LibrarySocket(connection), token_ids))


@pytest.mark.asyncio
async def test_a_socket_that_closes_before_the_end_is_an_error() -> None:
    async with (
        an_engine("<think>Hm", code=1011) as connection,
        parse_stream(SocketSource(LibrarySocket(connection)), "qwen3", prefix="") as events,
    ):
        assert [(await anext(events))["type"] for _ in range(2)] == ["region_open", "region_chunk"]
        with pytest.raises(SourceError, match=r"cut off.*1011"):
            await anext(events)


@pytest.mark.asyncio
async def test_leaving_the_stream_closes_the_socket() -> None:
    async with an_engine("Hello", code=None) as connection:
        async with parse_stream(SocketSource(LibrarySocket(connection)), "qwen3", prefix="") as events:
            assert (await anext(events))["type"] == "region_open"
        await until(lambda: connection.told == [1000])


@pytest.mark.skipif(find_spec("websockets.trio") is None, reason="this version of websockets has no trio")
def test_the_server_runs_on_trio_where_the_library_does() -> None:
    import trio
    from websockets.trio.client import connect as connect_on_trio
    from websockets.trio.server import serve as serve_on_trio

    async def main() -> None:
        model = Model(then="hang")
        async with EventServer(model, grace=0) as server, trio.open_nursery() as nursery:
            serving_it = partial(serve_on_trio, partial(handle, server), 0, host="127.0.0.1", max_size=100_000)
            listening = await nursery.start(serving_it)
            port = listening.listeners[0].socket.getsockname()[1]
            async with connect_on_trio(f"ws://127.0.0.1:{port}") as connection:
                talk = talk_over(connection)
                await talk.greet()
                await talk.say(type="start", generation="a")
                await talk.follow("a", stop_after=2)
            with trio.fail_after(10):
                while model.running:
                    await trio.sleep(0.002)
            async with connect_on_trio(f"ws://127.0.0.1:{port}") as connection:
                await connection.send("no json")
                with pytest.raises(ConnectionClosed, match="4400"):
                    await connection.recv()
            nursery.cancel_scope.cancel()

    trio.run(main)
