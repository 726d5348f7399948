"""A socket as a source: text, bytes or token ids, one or several in each message.

In:  a ``Socket``, such as ``LibrarySocket`` over a connection of the websockets library.
Out: pieces, as ``parse_stream`` reads them; the close code 1000 is their end.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Self

from streamparse.adapters.websockets.socket import Close, Socket, SocketClosedError
from streamparse.errors import SourceError


def as_it_is(message: str | bytes) -> str | bytes:
    """Take a text message as text, and a binary one as UTF-8 bytes, which may be cut anywhere."""
    return message


def token_ids(message: str | bytes) -> list[int]:
    """Take a message as a token id or a list of token ids, in JSON; raises SourceError for anything else.

    >>> token_ids("[9906, 0]"), token_ids("42")
    ([9906, 0], [42])
    """
    try:
        ids = json.loads(message)
    except (ValueError, RecursionError):
        ids = None
    ids = ids if isinstance(ids, list) else [ids]
    if not all(type(token) is int for token in ids):
        raise SourceError(f"a message is a token id or a list of them, not {message[:40]!r}")
    return ids


class SocketSource:
    """The pieces that come over a socket; closing it closes the socket.

    ``piece`` makes a piece of a message: ``as_it_is``, ``token_ids``, or a function of the user's own, which gives
    ``End(…)`` for the last one, and None for a message that says nothing. The source also ends when the other end
    closes the socket with the code 1000. Any other end raises SourceError, as the generation is not whole.

        connection = await websockets.asyncio.client.connect("ws://localhost:9000")
        async with parse_stream(SocketSource(LibrarySocket(connection)), "qwen3", prefix=prompt) as events:
            ...
    """

    def __init__(self, socket: Socket, piece: Callable[[str | bytes], Any] = as_it_is) -> None:
        self._socket = socket
        self._piece = piece

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        while True:
            try:
                message = await self._socket.receive()
            except SocketClosedError as closed:
                if closed.code == Close.NORMAL:
                    raise StopAsyncIteration from None
                raise SourceError(f"the generation was cut off: {closed}") from closed
            piece = self._piece(message)
            if piece is not None:
                return piece

    async def aclose(self) -> None:
        """Close the socket."""
        await self._socket.close(Close.NORMAL, "")
