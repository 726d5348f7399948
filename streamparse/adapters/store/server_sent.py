r"""A generation's events as server-sent events, each with its number as id, so that a browser comes back where it was.

In:  a generation that is followed, in a store or on a topic of Kafka.
Out: bytes in the format of https://html.spec.whatwg.org/multipage/server-sent-events.html. After a loss of connection
     an ``EventSource`` sends the number of the last event as the header ``Last-Event-ID``: follow the generation on
     after that.

For the chunks of OpenAI's API, ``streamparse.adapters.openai.sse_stream`` takes a generation that is followed as well.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from streamparse.adapters.store.history import Followed, NumberedEvent
from streamparse.encode import encode_event


def last_event_id(header: str | None) -> int:
    """The number that a ``Last-Event-ID`` header says; 0 without one, and for what is none.

    >>> last_event_id("17"), last_event_id(None), last_event_id("x")
    (17, 0, 0)
    """
    return int(header) if header is not None and header.isascii() and header.isdecimal() else 0


def sse_record(numbered: NumberedEvent) -> bytes:
    r"""One event.

    >>> sse_record(NumberedEvent(3, {"type": "region_open", "field": "content"}))
    b'id: 3\ndata: {"type":"region_open","field":"content"}\n\n'
    """
    return b"id: %d\ndata: %s\n\n" % (numbered.number, encode_event(numbered.event, standard=True))


async def sse_events(following: Followed) -> AsyncIterator[bytes]:
    """The body of an answer of the type ``text/event-stream``; leaving it ends the following."""
    async with aclosing(following.numbered()) as events:
        async for numbered in events:
            yield sse_record(numbered)
