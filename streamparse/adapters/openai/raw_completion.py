"""The source: a raw completion stream of an OpenAI-compatible server, over HTTP.

In:  the server's URL, a prompt, and the parameters of the completion.
Out: an asynchronous iterator of pieces of text that ends with an ``End``: a source of ``parse_stream``.

It runs on asyncio and trio. HTTP is httpx, server-sent events are httpx-sse; both raise errors of their own, which all
arrive as ``CompletionError``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from types import TracebackType
from typing import Any, NoReturn, Self

from streamparse.adapters.openai.servers import FAILURES, SERVERS, Piece, completes_once, read_piece
from streamparse.encode import encode_event
from streamparse.errors import SourceError
from streamparse.graph.cleanup import close
from streamparse.stream import End

try:
    import httpx
    from httpx_sse import EventSource, ServerSentEvent, SSEError

    from streamparse.adapters.openai.bounds import UNCOMPRESSED, EventBound, TooMuchError, run_out, text_up_to
except ModuleNotFoundError as error:
    raise SourceError(f"{error.name} is missing: install the extra, pip install 'streamparse-llm[openai]'") from error

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 300.0
"""How long a server may take to be reached, and to say something; a long prompt takes its time to be read."""

EVENT_AT_MOST = 16_000_000
"""Bytes of one event of a stream."""

_REFUSAL_AT_MOST = 65_536  # bytes that are read of an answer that is an error, and below for how long, in seconds
_REFUSAL_SECONDS = 10.0
_SHOWN = 300  # characters of an answer that an error message shows


class CompletionError(SourceError):
    """A completion could not be had, or broke off; the message says what, where, and what to do.

    ``status`` is the HTTP status that the server answered with, None where it did not come to that, or 200 where the
    fault lies in the stream. ``timed_out`` says that it is about time. ``said`` is what the server said itself, and
    ``retry_after`` its header of that name: seconds, or a date.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        timed_out: bool = False,
        said: str = "",
        retry_after: str | None = None,
    ) -> None:
        self.status = status
        self.timed_out = timed_out
        self.said = said
        self.retry_after = retry_after
        super().__init__(message)


class RawCompletion:
    """One completion: pieces of text, then an ``End`` with the finish reason and the usage.

    ``base_url`` is as the official client has it, such as ``http://localhost:8000/v1`` (for ``llama.cpp-native``
    without ``/v1``). ``prompt`` is text, or token ids where the server takes them. ``server`` says of what kind it is
    and so what it is asked to keep the text raw: see ``SERVERS`` for the kinds and what they need. ``parameters`` are
    those of the completions API (``max_tokens``, which defaults to 16 tokens in several servers, ``temperature``,
    ``stop`` …) and any other that the server takes, but for several completions at once (``n``) and a repeated prompt
    (``echo``), which can't be told from the text. ``special_tokens`` are those that llama.cpp is to write out.

    ``api_key`` and ``headers`` go with the request. ``timeout`` is in seconds, for how long the server may be silent,
    or an ``httpx.Timeout``. ``client`` is an ``httpx.AsyncClient`` to use and leave open; otherwise one is made.

    The request is sent when the first piece is asked for, or by :meth:`open`. The connection is closed with the end,
    before an error is raised, and by :meth:`aclose`, which ``parse_stream`` awaits, also when it is cancelled or left:
    the server then stops generating. Used without ``parse_stream``, it is an asynchronous context manager.

    Raises CompletionError, and ValueError for a kind of server that is not known and for such parameters.
    """

    def __init__(
        self,
        base_url: str,
        prompt: str | Sequence[int],
        *,
        server: str = "openai",
        model: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        special_tokens: Sequence[str] = (),
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | httpx.Timeout = SILENCE_SECONDS,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        if server not in SERVERS:
            raise ValueError(f"server must be one of {', '.join(map(repr, SERVERS))}, not {server!r}")
        completes_once(parameters or {})
        kind = SERVERS[server]
        self._url = f"{base_url.rstrip('/')}/{kind.endpoint}"
        self._body = kind.body(prompt, model, parameters or {}, special_tokens)
        self._headers = dict(headers or {}) | ({} if api_key is None else {"Authorization": f"Bearer {api_key}"})
        self._timeout = (
            timeout if isinstance(timeout, httpx.Timeout) else httpx.Timeout(timeout, connect=CONNECT_SECONDS)
        )
        self._client = client
        self._own_client: httpx.AsyncClient | None = None
        self._response: httpx.Response | None = None
        self._events: AsyncGenerator[ServerSentEvent, None] | None = None
        self._bound: EventBound | None = None
        self._reason: str | None = None
        self._usage: Any = None
        self._closed = False

    async def open(self) -> None:
        """Send the request, and return when the server has begun to answer; raises CompletionError if it refuses."""
        if self._events is not None or self._closed:
            return
        try:
            self._response = await self._request()
            await self._check(self._response)
            self._bound = EventBound(self._response, EVENT_AT_MOST)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            await close(self)
            self._fail(error)
        except BaseException:
            await close(self)
            raise
        self._events = EventSource(self._response).aiter_sse()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str | End:
        """Give the next piece of text, or, last of all, the ``End``."""
        await self.open()
        if self._events is None or self._closed:
            raise StopAsyncIteration
        try:
            piece = await self._next(self._events)
        except BaseException:
            await close(self)
            raise
        if isinstance(piece, End):
            await close(self)
        return piece

    @property
    def usage(self) -> Any:
        """The usage that the server has told of so far, None if it has not."""
        return self._usage

    async def aclose(self) -> None:
        """Close the connection; the server stops generating."""
        self._closed = True
        response, self._response = self._response, None
        if response is not None:
            await response.aclose()
        events, self._events = self._events, None
        if events is not None:
            await run_out(events)
        client, self._own_client = self._own_client, None
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _request(self) -> httpx.Response:
        """The server's answer, its body not yet read."""
        client = self._client
        if client is None:
            client = self._own_client = httpx.AsyncClient()
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream", **UNCOMPRESSED, **self._headers}
        content = encode_event(self._body, standard=True)
        request = client.build_request("POST", self._url, content=content, headers=headers, timeout=self._timeout)
        return await client.send(request, stream=True)

    async def _check(self, response: httpx.Response) -> None:
        """Refuse an answer that is an error, or no event stream."""
        status = response.status_code
        if status != httpx.codes.OK:
            said = _message_of(await text_up_to(response, _REFUSAL_AT_MOST, seconds=_REFUSAL_SECONDS))
            raise CompletionError(
                f"{self._url} answered {status}: {said}",
                status=status,
                said=said,
                retry_after=response.headers.get("retry-after"),
            )
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "text/event-stream":
            raise CompletionError(
                f"{self._url} answered with {kind or 'no content type'} and not with an event stream; "
                "is it an endpoint of completions that can stream?",
                status=status,
            )

    async def _next(self, events: AsyncGenerator[ServerSentEvent, None]) -> str | End:
        """The next piece of text, or the end once the server has said that it is, or has gone after the last piece."""
        try:
            async for event in events:
                if self._bound is not None:
                    self._bound.seen()
                if not event.data:  # by its format no event at all, and what some servers send to show that they live
                    continue
                if event.data.strip() == "[DONE]":
                    return End(self._reason, self._usage)
                piece = self._piece(event)
                if piece.finish_reason in FAILURES:
                    raise CompletionError(
                        f"{self._url} ended the generation with {piece.finish_reason!r}; it is cut off",
                        status=httpx.codes.OK,
                    )
                self._reason, self._usage = piece.finish_reason or self._reason, piece.usage or self._usage
                if piece.text:
                    return piece.text
        except (httpx.HTTPError, SSEError) as error:
            if self._reason is None:
                self._fail(error)
        if self._reason is None:
            raise CompletionError(
                f"{self._url} ended its stream without a finish reason and without [DONE]; the generation is cut off",
                status=httpx.codes.OK,
            )
        return End(self._reason, self._usage)

    def _piece(self, event: ServerSentEvent) -> Piece:
        """What an event says; raises CompletionError for an error and for what can't be read."""
        try:
            data = {"error": event.data} if event.event == "error" else json.loads(event.data)
            if not isinstance(data, dict):
                raise ValueError("it is no object")
            if not data.get("error") and data.get("object") != "error":
                return read_piece(data)
        except (ValueError, RecursionError) as error:
            raise CompletionError(
                f"{self._url} sent an event that can't be read: {error}: {_shown(event.data)}",
                status=httpx.codes.OK,
                said=f"{error}: {_shown(event.data)}",
            ) from error
        said = _message_of(event.data)
        raise CompletionError(f"{self._url} broke off the generation: {said}", status=httpx.codes.OK, said=said)

    def _fail(self, error: Exception) -> NoReturn:
        """Raise what went wrong with HTTP in words that say what to do."""
        words = next(words for kind, words in _FAILURES.items() if isinstance(error, kind))
        timed_out = isinstance(error, httpx.TimeoutException)
        connect, silence = self._timeout.connect, self._timeout.read
        what = words.format(error=str(error) or type(error).__name__, connect=connect, silence=silence)
        raise CompletionError(f"{self._url} {what}", timed_out=timed_out) from error


_FAILURES: dict[type[Exception], str] = {
    httpx.ConnectTimeout: "gave no connection within {connect:g} seconds; is the server running, and is this its URL?",
    httpx.PoolTimeout: "had to wait too long for a connection of the client; raise the client's limits",
    httpx.TimeoutException: "said nothing for {silence:g} seconds; give a longer timeout= if it may take that long",
    httpx.ConnectError: "can't be reached ({error}); is the server running, and is this its URL?",
    httpx.UnsupportedProtocol: "is no URL of a server ({error}); it begins with http:// or https://",
    httpx.InvalidURL: "is no URL of a server ({error})",
    TooMuchError: "sent an answer that can't be taken: {error}",
    Exception: "broke off its answer ({error}); the generation is cut off",
}
"""What each failure is called, the first that fits."""


def _message_of(body: str) -> str:
    """What an error says: servers have the message at one of several places, or give plain text."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return _shown(body)
    error = data.get("error", data) if isinstance(data, dict) else data
    for key in ("message", "detail"):
        if isinstance(error, dict) and isinstance(error.get(key), str):
            return _shown(error[key])
    return _shown(error if isinstance(error, str) else body)


def _shown(text: str) -> str:
    text = text.strip() or "nothing"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
