"""Sockets of the websockets library, on asyncio and (from its version 17.0 on) on trio.

In:  a connection of the library.
Out: the same as a ``Socket``; and a server whose connections are served by an ``EventServer``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from streamparse.adapters.websockets.server import EventServer
from streamparse.adapters.websockets.socket import Close, SocketClosedError

try:
    from websockets.asyncio.server import serve as serve_on_asyncio
    from websockets.exceptions import ConnectionClosed
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.name} is missing: install the extra, pip install 'streamparse-llm[websockets]'", name=error.name
    ) from error


class LibrarySocket:
    """A connection of the websockets library as a ``Socket``."""

    def __init__(self, connection: Any) -> None:
        headers = connection.request.headers
        self.origin: str | None = headers.get("Origin")
        self.host: str | None = headers.get("Host")
        self._connection = connection

    async def receive(self) -> str | bytes:
        """Give the next message."""
        try:
            message: str | bytes = await self._connection.recv()
        except ConnectionClosed as error:
            raise _closed(error) from error
        return message

    async def send(self, text: str) -> None:
        """Send a message; the library waits while much is waiting to be sent."""
        try:
            await self._connection.send(text)
        except ConnectionClosed as error:
            raise _closed(error) from error

    async def close(self, code: int, reason: str) -> None:
        """Close the connection."""
        close = getattr(self._connection, "aclose", None) or self._connection.close  # as it is called on trio
        await close(code, reason)


async def handle(server: EventServer, connection: Any) -> None:
    """Serve one connection of the library; a handler for its ``serve`` is ``partial(handle, server)``."""
    await server.serve(LibrarySocket(connection))


def serve(server: EventServer, host: str | None = None, port: int | None = None, **options: Any) -> Any:
    """Serve websockets on an address, on asyncio: ``websockets.asyncio.server.serve`` with a handler.

    ``options`` are those of that function, such as ``ssl``, ``ping_interval`` and ``compression``. Its result is used
    with ``async with``, inside that of the server.
    """
    options.setdefault("max_size", 4 * server.max_message)  # in bytes, of which a character has four at most
    return serve_on_asyncio(partial(handle, server), host, port, **options)


def _closed(error: ConnectionClosed) -> SocketClosedError:
    return SocketClosedError(Close.ABNORMAL if error.rcvd is None else error.rcvd.code)
