"""Sockets of ASGI servers (uvicorn, hypercorn and others), and an ASGI application, without a framework.

In:  the scope, ``receive`` and ``send`` of ASGI (https://asgi.readthedocs.io/en/latest/specs/www.html#websocket).
Out: a ``Socket``; and an application that serves websockets by an ``EventServer``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from streamparse.adapters.websockets.server import EventServer
from streamparse.adapters.websockets.socket import Close, SocketClosedError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class AsgiSocket:
    """A websocket of an ASGI server, once it has been accepted, as a ``Socket``."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(reversed(scope["headers"]))
        self.origin = _text(headers.get(b"origin"))
        self.host = _text(headers.get(b"host"))
        self._receive = receive
        self._send = send

    async def receive(self) -> str | bytes:
        """Give the next message."""
        message = await self._receive()
        if message["type"] == "websocket.disconnect":
            raise SocketClosedError(message.get("code", Close.ABNORMAL))
        text: str | None = message.get("text")
        data: bytes = message.get("bytes") or b""
        return data if text is None else text

    async def send(self, text: str) -> None:
        """Send a message; the server waits while much is waiting to be sent."""
        await self._say({"type": "websocket.send", "text": text})

    async def close(self, code: int, reason: str) -> None:
        """Close the socket."""
        await self._say({"type": "websocket.close", "code": code, "reason": reason})

    async def _say(self, message: dict[str, Any]) -> None:
        try:
            await self._send(message)
        except OSError as error:  # what the specification says is raised once the client has gone
            raise SocketClosedError(Close.ABNORMAL) from error


class EventApp:
    """An ASGI application whose websockets an ``EventServer`` serves, at any path.

    Run on its own it enters and leaves the server with the lifespan of the application. As a part of another one, such
    as ``WebSocketRoute("/events", EventApp(server))`` of Starlette, the server is entered in the lifespan of that one:
    ``async with server: yield``.
    """

    def __init__(self, server: EventServer) -> None:
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Be called by an ASGI server."""
        await _ANSWERS[scope["type"]](self._server, scope, receive, send)


async def _serve_websocket(server: EventServer, scope: Scope, receive: Receive, send: Send) -> None:
    if (await receive())["type"] == "websocket.connect":
        await send({"type": "websocket.accept"})
        await server.serve(AsgiSocket(scope, receive, send))


async def _answer_http(_server: EventServer, _scope: Scope, _receive: Receive, send: Send) -> None:
    headers = [(b"content-type", b"text/plain"), (b"upgrade", b"websocket"), (b"connection", b"upgrade")]
    await send({"type": "http.response.start", "status": 426, "headers": headers})
    await send({"type": "http.response.body", "body": b"This address speaks websocket.\n"})


async def _run_lifespan(server: EventServer, _scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    async with server:
        await send({"type": "lifespan.startup.complete"})
        await receive()
    await send({"type": "lifespan.shutdown.complete"})


def _text(header: bytes | None) -> str | None:
    return None if header is None else header.decode("latin-1")


_ANSWERS: dict[str, Callable[[EventServer, Scope, Receive, Send], Awaitable[None]]] = {
    "websocket": _serve_websocket,
    "http": _answer_http,
    "lifespan": _run_lifespan,
}
