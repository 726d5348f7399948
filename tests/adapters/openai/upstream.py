"""A server that answers every request with a given stream of bytes, in given cuts, and may stop at any place.

It speaks HTTP/1.1 on a socket of its own, on asyncio and trio alike, and so can do what no well-behaved server does.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import anyio
import anyio.abc
import anyio.lowlevel

Play = Callable[["Exchange"], Awaitable[None]]

USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}


class Exchange:
    """One request, and what is written to it."""

    def __init__(self, stream: anyio.abc.SocketStream, path: str, headers: dict[str, str], body: Any) -> None:
        self.stream = stream
        self.path = path
        self.headers = headers
        self.body = body
        self.gone = anyio.Event()

    async def begin(self, status: str = "200 OK", kind: str = "text/event-stream") -> None:
        head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n"
        await self.stream.send(head.encode())

    async def send(self, data: bytes) -> None:
        if data:
            await self.stream.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def end(self) -> None:
        await self.stream.send(b"0\r\n\r\n")

    async def until_gone(self) -> None:
        """Wait until the client has closed its side."""
        try:
            while True:
                await self.stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            self.gone.set()


class Upstream:
    """The running server: its URL, and what it was asked."""

    def __init__(self, port: int, play: Play) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.play = play
        self.exchanges: list[Exchange] = []
        self.open = 0

    async def serve(self, stream: anyio.abc.SocketStream) -> None:
        self.open += 1
        try:
            async with stream:
                exchange = await _request(stream)
                if exchange is not None:
                    self.exchanges.append(exchange)
                    await self.play(exchange)
        except (anyio.BrokenResourceError, anyio.EndOfStream):
            pass
        finally:
            self.open -= 1


@asynccontextmanager
async def upstream(play: Play) -> AsyncIterator[Upstream]:
    """Run a server for as long as the block runs."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    server = Upstream(port, play)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.serve)
        yield server
        tasks.cancel_scope.cancel()


async def _request(stream: anyio.abc.SocketStream) -> Exchange | None:
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            data += await stream.receive()
        except anyio.EndOfStream:
            return None
    head, _, body = data.partition(b"\r\n\r\n")
    request, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += await stream.receive()
    return Exchange(stream, request.split()[1], headers, json.loads(body) if body else None)


def says(pieces: Iterable[str], *, reason: str | None = "stop", usage: Any = USAGE, done: bool = True) -> bytes:
    """The events of a completion, as vLLM writes them."""
    events = [{"choices": [{"index": 0, "text": piece, "finish_reason": None}]} for piece in pieces]
    if reason is not None:
        events.append({"choices": [{"index": 0, "text": "", "finish_reason": reason}]})
    if usage is not None:
        events.append({"choices": [], "usage": usage})
    lines = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]
    return b"".join([*lines, b"data: [DONE]\n\n"] if done else lines)


def playing(body: bytes, cuts: Sequence[int] = ()) -> Play:
    """Write a body, cut at these places, and end."""

    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        edges = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
        for start, end in pairwise(edges):
            await exchange.send(body[start:end])
            await anyio.lowlevel.checkpoint()
        await exchange.end()
        await exchange.until_gone()

    return play


def answering(status: str, body: bytes, kind: str = "application/json") -> Play:
    async def play(exchange: Exchange) -> None:
        await exchange.begin(status, kind)
        await exchange.send(body)
        await exchange.end()

    return play


def breaking(body: bytes) -> Play:
    """Write a body, and close the connection in the middle of it."""

    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.send(body)

    return play


def stalling(body: bytes) -> Play:
    """Write a body, and then nothing until the client has gone."""

    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.send(body)
        await exchange.until_gone()

    return play
