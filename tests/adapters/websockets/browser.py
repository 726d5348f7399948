"""A client of websockets without a network, for tests that see what a server of generations sends."""

from __future__ import annotations

import json
from typing import Any

import anyio

from streamparse.adapters.websockets.socket import SocketClosedError


class Browser:
    """A socket as the server sees it; the test says what the client says."""

    origin = host = None

    def __init__(self) -> None:
        self._said, self.client = anyio.create_memory_object_stream[str](100)
        self.to_server, self._heard = anyio.create_memory_object_stream[str](100)

    async def receive(self) -> str:
        try:
            return await self._heard.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            raise SocketClosedError(1006) from None

    async def send(self, text: str) -> None:
        await self._said.send(text)

    async def close(self, code: int, reason: str) -> None:
        self._said.close()

    async def say(self, **message: Any) -> None:
        await self.to_server.send(json.dumps(message))

    def leave(self) -> None:
        for end in (self.to_server, self._said, self.client, self._heard):
            end.close()
