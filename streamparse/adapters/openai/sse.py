r"""Server-sent events: the lines in which chunks go to a client.

In:  JSON-able objects, or a stream of events.
Out: bytes, each an event of the format of https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from streamparse.adapters.openai.chunks import ChatCompletionChunks
from streamparse.encode import encode_event
from streamparse.errors import StreamparseError
from streamparse.stream import ParseStream

DONE = b"data: [DONE]\n\n"
"""The event that ends the stream of a chat completion."""


def sse_event(data: Any, *, name: str | None = None) -> bytes:
    r"""Give one event; ``name`` is its type, which chat completions have none of.

    What a model can write is written such that every JSON reader takes it: integers of any size, lone surrogates as
    escapes, NaN and the infinities as strings.

    >>> sse_event({"a": 1})
    b'data: {"a":1}\n\n'
    """
    heading = b"" if name is None else b"event: " + name.encode() + b"\n"
    return heading + b"data: " + encode_event(data, standard=True) + b"\n\n"


def error_object(message: str, kind: str = "server_error", *, param: str | None = None, code: str | None = None) -> Any:
    """Give an error in the form of OpenAI's API, which the client raises as an ``APIError``.

    >>> error_object("no such model", "invalid_request_error", param="model")["error"]["param"]
    'model'
    """
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


async def sse_stream(stream: ParseStream, chunks: ChatCompletionChunks) -> AsyncIterator[bytes]:
    """Yield a generation as the body of an answer: its chunks, the usage if it was asked for and is known, ``[DONE]``.

    ``stream`` is what ``parse_stream`` gives, and ``chunks`` a fresh machine. An error of the source or of the parser
    goes to the client as an error object, which ends the body; leaving the loop closes the source.
    """
    try:
        async with stream as events:
            for chunk in chunks.start():
                yield sse_event(chunk)
            async for event in events:
                for chunk in chunks.feed(event):
                    yield sse_event(chunk)
        if chunks.include_usage and stream.end is not None and stream.end.usage:
            yield sse_event(chunks.usage_chunk(stream.end.usage))
    except StreamparseError as error:
        for chunk in chunks.interrupt():
            yield sse_event(chunk)
        yield sse_event(error_object(str(error)))
        return
    yield DONE
