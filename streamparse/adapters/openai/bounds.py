"""Bounds for what a server of completions may send: an answer that never ends must not fill the memory.

In:  a response of httpx whose body has not been read.
Out: its text, up to a number of bytes and for a time; or the same response, which raises ``TooMuchError`` when one of
     its events is too large.

Both count the bytes that come over the network. A request that is bounded so asks for no compression, for a few
compressed bytes may stand for gigabytes; ``refuse_compression`` holds a server to it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import cast

import anyio
import httpx

UNCOMPRESSED = {"Accept-Encoding": "identity"}
"""The header of a request whose answer is bounded."""


class TooMuchError(httpx.DecodingError):
    """A server sent more than may be kept; of httpx's errors, for it is raised where httpx raises its own."""


def refuse_compression(response: httpx.Response) -> None:
    """Raise TooMuchError for an answer that is compressed."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise TooMuchError(f"it is compressed ({encoding}), which it was asked not to be")


async def text_up_to(response: httpx.Response, most: int, *, seconds: float) -> str:
    """Give the text of a body as far as it comes in this time, cut off after so many bytes; closes the response."""
    refuse_compression(response)
    body = bytearray()
    pieces = response.aiter_raw()
    with anyio.move_on_after(seconds):
        async for data in pieces:
            body += data
            if len(body) >= most:
                break
    await response.aclose()
    await run_out(pieces)
    return body[:most].decode("utf-8", "replace")


async def run_out(pieces: AsyncIterator[object]) -> None:
    """End an iterator whose response is closed.

    httpx and httpx-sse read through generators in generators, which none of them closes: the innermost finds the
    connection closed, and with that all of them end.
    """
    with suppress(Exception):
        async for _ in pieces:
            pass


class EventBound:
    """Bounds the bytes that come between one event of a response's stream and the next; call ``seen`` for each."""

    def __init__(self, response: httpx.Response, most: int) -> None:
        refuse_compression(response)
        self._most = most
        self._since = 0
        response.stream = _Counted(cast(httpx.AsyncByteStream, response.stream), self._count)

    def seen(self) -> None:
        """An event has come, and counting begins anew."""
        self._since = 0

    def _count(self, data: bytes) -> None:
        self._since += len(data)
        if self._since > self._most:
            raise TooMuchError(f"an event of its stream has more than {self._most:,} bytes")


class _Counted(httpx.AsyncByteStream):
    """A stream whose pieces are counted before they are given."""

    def __init__(self, stream: httpx.AsyncByteStream, count: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._count = count

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces = aiter(self._stream)
        async for data in pieces:
            try:
                self._count(data)
            except TooMuchError:
                await self._stream.aclose()
                await run_out(pieces)
                raise
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()
