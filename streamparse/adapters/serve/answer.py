"""The answer to one request: completions of the upstream, parsed, as chunks or as a whole chat completion.

In:  a checked request, how its answer begins, and ASGI's ``send``.
Out: the answer, sent. Its choices are generated side by side, each by a completion and a parser of its own.

An error before the answer has begun is raised, so that it can have a status of its own.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self

import anyio
import httpx
from starlette.types import Send

from streamparse.adapters.openai import DONE, ChatCompletionChunks, RawCompletion, chat_completion, sse_event
from streamparse.adapters.openai.chunks import Chunk, new_id
from streamparse.adapters.serve.beginning import Beginning
from streamparse.adapters.serve.errors import as_request_error, took_too_long
from streamparse.adapters.serve.generation import FirstCall, Generation
from streamparse.adapters.serve.metrics import Metrics, Outcome
from streamparse.adapters.serve.request import ChatRequest
from streamparse.adapters.serve.response_format import upstream_parameters
from streamparse.adapters.serve.settings import Settings
from streamparse.adapters.serve.usage import total_usage
from streamparse.errors import StreamparseError
from streamparse.events import RawEvent
from streamparse.graph.cleanup import close_all
from streamparse.stream import parse_stream

EVENT_STREAM = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # asks proxies such as nginx to pass each piece on
]
"""The headers of an answer that is a stream of events."""

LAST_WORD_SECONDS = 5.0
"""How long a client that reads nothing is given to take the end of its answer once the request's time is up."""

Take = Callable[[list[Chunk]], Awaitable[None]]
See = Callable[[RawEvent, bool], Awaitable[None]]
"""Takes an event; False says that it is of what was written before, by the message that goes on."""


class ChatAnswer:
    """Answers one request, as an asynchronous context manager; ``client`` is what the upstream is asked with.

    ``deadline`` is a time of anyio's clock, when the request's time is up. ``outcome`` is told what becomes of it.
    """

    def __init__(
        self,
        request: ChatRequest,
        beginning: Beginning,
        settings: Settings,
        *,
        client: httpx.AsyncClient,
        metrics: Metrics,
        deadline: float,
        outcome: Outcome,
    ) -> None:
        self._request = request
        self._beginning = beginning
        self._settings = settings
        self._client = client
        self._metrics = metrics
        self._deadline = deadline
        self._outcome = outcome
        self._choices = range(request.choices)
        self._generations = [Generation(self._completion(index), beginning.begun) for index in self._choices]
        self._usages: list[Any] = [None] * request.choices
        id, created, model = new_id(), int(time.time()), settings.model or request.model or ""
        self._machines = [
            ChatCompletionChunks(
                beginning.template,
                id=id,
                created=created,
                model=model,
                index=index,
                include_usage=request.include_usage,
                whole_calls=settings.whole_calls,
            )
            for index in self._choices
        ]

    async def __aenter__(self) -> Self:
        """Ask the upstream, and return when it has begun to answer for all choices; raises StreamparseError."""
        try:
            await self._side_by_side(lambda index: self._generations[index].open())
        except BaseException:
            await close_all(self._generations)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await close_all(self._generations)

    async def whole(self) -> dict[str, Any]:
        """Generate a whole chat completion; raises StreamparseError.

        It is parsed without deltas, so that no call is announced that turns out malformed.
        """
        chunks: list[Chunk] = []

        async def take(more: list[Chunk]) -> None:
            chunks.extend(more)

        await self._side_by_side(lambda index: self._generate(index, take, deltas=False))
        return {**chat_completion(chunks), "usage": self._usage()}

    async def stream(self, send: Send) -> int:
        """Generate, and send chunks as they are made; the first say the role, in the order of the choices.

        Returns the status that the answer would have had if it had not begun before it was known. An error goes out as
        an error object, after which the stream ends without ``[DONE]``.
        """
        await send({"type": "http.response.start", "status": 200, "headers": EVENT_STREAM})

        async def take(chunks: list[Chunk]) -> None:
            if chunks:
                self._outcome.begins()
                await send_part(send, b"".join(map(sse_event, chunks)))

        try:
            await take([chunk for machine in self._machines for chunk in machine.start()])
            await self._side_by_side(lambda index: self._generate(index, take, deltas=not self._settings.whole_calls))
        except StreamparseError as error:
            failure = as_request_error(error)
            self._outcome.failed(error)
            cut_off = [chunk for machine in self._machines for chunk in machine.interrupt()]
            with anyio.move_on_after(LAST_WORD_SECONDS):
                await send_part(send, b"".join(map(sse_event, [*cut_off, failure.object()])), last=True)
            return failure.status
        usage = self._usage()
        if usage is not None and self._request.include_usage:
            await take([self._machines[0].usage_chunk(usage)])
        await send_part(send, DONE, last=True)
        return 200

    async def events(self, see: See, *, deltas: bool) -> dict[str, Any] | None:
        """Generate, and hand on the events of the only choice; returns the usage, and raises StreamparseError."""
        await self._side_by_side(lambda index: self._parse(index, see, deltas=deltas))
        return self._usage()

    async def _generate(self, index: int, take: Take, *, deltas: bool) -> None:
        """Parse one completion, and hand on its chunks."""
        machine = self._machines[index]

        async def see(event: RawEvent, said: bool) -> None:
            chunks = machine.feed(event)
            if said:
                await take(chunks)

        await self._parse(index, see, deltas=deltas)

    async def _parse(self, index: int, see: See, *, deltas: bool) -> None:
        """Parse one completion, and hand on its events, up to the first call if there may be one only."""
        settings, generation = self._settings, self._generations[index]
        first = FirstCall(self._beginning.template) if self._request.one_call else None
        stream = parse_stream(
            generation,
            self._beginning.template,
            prefix=self._beginning.prefix,
            tools=self._request.tool_choice.tools,
            errors=settings.errors,
            deltas=deltas,
            without=self._beginning.without,
            spans=self._request.continues,
        )
        async with stream as events:
            async for event in events:
                if event["type"] == "message":
                    self._metrics.saw(event)
                if event["type"] == "region_chunk" and event.get("end", 1) <= 0:  # of the message that goes on
                    await see({**event, "text": event["text"].rstrip()}, False)
                    continue
                passed = event if first is None else first.passed(event)
                if passed is not None:
                    await see(passed, True)
                if first is not None and first.found:
                    await generation.stop()
        self._usages[index] = None if stream.end is None else stream.end.usage

    async def _side_by_side(self, work: Callable[[int], Awaitable[None]]) -> None:
        """Do the work for all choices at the same time, up to the deadline.

        The first error of streamparse stops it, and is raised.
        """
        failures: list[StreamparseError] = []

        async def one(index: int) -> None:
            try:
                await work(index)
            except StreamparseError as error:
                failures.append(error)
                tasks.cancel_scope.cancel()

        with anyio.CancelScope(deadline=self._deadline) as scope:
            async with anyio.create_task_group() as tasks:
                for index in self._choices:
                    tasks.start_soon(one, index)
        if failures:
            raise failures[0]
        if scope.cancelled_caught:
            raise took_too_long(self._settings.request_seconds)

    def _usage(self) -> dict[str, Any] | None:
        usage = total_usage(self._usages)
        if usage is not None:
            self._metrics.used(usage)
            self._outcome.usage = usage
        return usage

    def _completion(self, index: int) -> RawCompletion:
        settings, request = self._settings, self._request
        parameters = {**request.parameters, "max_tokens": request.max_tokens or settings.max_tokens}
        parameters |= self._beginning.held
        if request.json is not None and not self._beginning.held:
            parameters |= upstream_parameters(request.json, settings.server)
        if request.one_call and settings.server == "vllm":
            parameters["stream_options"] = {"include_usage": True, "continuous_usage_stats": True}
        if request.seed is not None:
            parameters["seed"] = request.seed + index
        return RawCompletion(
            settings.upstream,
            self._beginning.prompt,
            server=settings.server,
            model=settings.model or request.model,
            parameters=parameters,
            special_tokens=settings.special_tokens,
            api_key=settings.upstream_key,
            timeout=settings.silence_seconds,
            client=self._client,
        )


async def send_part(send: Send, body: bytes, *, last: bool = False) -> None:
    """Send a piece of an answer's body."""
    await send({"type": "http.response.body", "body": body, "more_body": not last})
