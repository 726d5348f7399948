"""The server as an ASGI application: chat completions in front of an endpoint of raw completions.

In:  ``Settings``.
Out: a Starlette application with ``/v1/chat/completions``, the endpoints of other protocols (``protocol.py``),
     ``/v1/models`` (all, and one by its name), ``/health`` and ``/metrics``.

A request whose client goes away, that takes too long, or that is under way when the server is stopped for good, is
cancelled, and with it its completions: the connection to the upstream is closed, and the upstream stops generating.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Any

import anyio
import anyio.to_thread
import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from streamparse.adapters.serve.ag_ui import AG_UI
from streamparse.adapters.serve.answer import LAST_WORD_SECONDS, ChatAnswer
from streamparse.adapters.serve.beginning import Beginning, Beginnings
from streamparse.adapters.serve.errors import RequestError, as_request_error, json_response, took_too_long
from streamparse.adapters.serve.gone import unless_gone
from streamparse.adapters.serve.keeping import KeptAnswers
from streamparse.adapters.serve.kept_endpoints import kept_routes
from streamparse.adapters.serve.log import RequestLog, described, facts_of
from streamparse.adapters.serve.messages_api import MESSAGES
from streamparse.adapters.serve.metrics import Metrics, Outcome
from streamparse.adapters.serve.models import Models
from streamparse.adapters.serve.prompt import PromptRenderer
from streamparse.adapters.serve.protocol import Asked, Making, Speech
from streamparse.adapters.serve.request import ChatRequest, check_request, read_object
from streamparse.adapters.serve.responses_api import RESPONSES
from streamparse.adapters.serve.settings import Settings
from streamparse.adapters.serve.speaking import SpokenAnswer
from streamparse.adapters.serve.ui_chat import UI_CHAT
from streamparse.adapters.store import open_store
from streamparse.errors import StreamparseError
from streamparse.template import load_response_template

SPEECHES = (MESSAGES, RESPONSES, UI_CHAT, AG_UI)
"""The protocols beside chat completions."""

_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def create_app(settings: Settings) -> Starlette:
    """Make the application; raises InferenceError if the chat template can't be compiled."""
    server = _Server(settings)
    return Starlette(
        routes=[
            Route("/v1/chat/completions", _Endpoint(server), methods=["POST"]),
            *(Route(speech.path, _Endpoint(server, speech), methods=["POST"]) for speech in SPEECHES),
            *kept_routes(SPEECHES, server.kept, server.check_key),
            Route("/v1/models", server.models),
            Route("/v1/models/{name:path}", server.model),
            Route("/health", server.health),
            Route("/metrics", server.metrics_text),
        ],
        middleware=[Middleware(RequestLog), *_cors(settings.cors_origins)],
        exception_handlers={HTTPException: _http_error, RequestError: _request_error, Exception: _internal_error},
        lifespan=server.lifespan,
    )


def _cors(origins: Sequence[str]) -> list[Middleware]:
    """What lets the scripts of pages of these origins use the server."""
    if not origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=["retry-after"],
        )
    ]


class _Server:
    """The endpoints, and what they share."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._prompts = PromptRenderer(
            settings.chat_template, arguments=settings.chat_template_arguments, keep_bos=settings.keep_bos
        )
        self._beginnings = Beginnings(
            self._prompts, load_response_template(settings.template), settings.server if settings.grammars else None
        )
        self._models = Models(settings)
        self._metrics = Metrics()
        self._running = 0
        self._client: httpx.AsyncClient
        self.kept = None if settings.store is None else KeptAnswers(open_store(settings.store), settings.max_requests)

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Hold the connections to the upstream for as long as the server runs."""
        self._rendering = anyio.CapacityLimiter(1)
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=None)) as client:
            self._client = client
            async with nullcontext() if self.kept is None else self.kept:
                yield

    async def models(self, request: Request) -> Response:
        """List the model, or the upstream's models."""
        self.check_key(request)
        return json_response(await self._models.listed(self._client))

    async def model(self, request: Request) -> Response:
        """Give one model."""
        self.check_key(request)
        return json_response(await self._models.one(request.path_params["name"], self._client))

    async def health(self, _request: Request) -> Response:
        """Say that the server runs; the upstream is not asked."""
        return json_response({"status": "ok"})

    async def metrics_text(self, _request: Request) -> Response:
        """Give what was counted."""
        return Response(self._metrics.text(), headers={"content-type": _METRICS_TYPE})

    async def serve(self, scope: Scope, receive: Receive, send: Send, speech: Speech | None) -> None:
        """Answer in a protocol, or else with a chat completion, streamed or whole, or with what is wrong."""
        facts = facts_of(scope)
        with self._metrics.request() as outcome:
            try:
                await self._answer(scope, receive, send, outcome, speech)
            except StreamparseError as error:
                failure = as_request_error(error)
                outcome.ends(failure.status)
                outcome.failed(error)
                said = failure.object() if speech is None else speech.refusal(failure)
                await failure.response(said)(scope, receive, send)
            finally:
                facts.status, facts.usage = outcome.status, outcome.usage
                facts.failure = None if outcome.failure is None else described(outcome.failure)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, outcome: Outcome, speech: Speech | None
    ) -> None:
        deadline = anyio.current_time() + self._settings.request_seconds
        with self._place():
            self.check_key(Request(scope))
            body = await self._body(receive, deadline)
            if body is None:
                return

            async def work() -> None:
                given = read_object(body)
                asked = None if speech is None else speech.read(given)
                chat, beginning = await self._understood(given if asked is None else {**asked.chat, "n": 1})
                facts = facts_of(scope)
                facts.model, facts.streamed = chat.model or self._settings.model, chat.stream
                answer = ChatAnswer(
                    chat,
                    beginning,
                    self._settings,
                    client=self._client,
                    metrics=self._metrics,
                    deadline=deadline,
                    outcome=outcome,
                )
                said: ChatAnswer | SpokenAnswer = answer
                if speech is not None and asked is not None:
                    said = spoken = self._spoken(answer, speech, asked, chat, beginning, outcome)
                    conversation = given.get(speech.conversation)
                    if self.kept is not None and isinstance(conversation, str) and conversation:
                        name = await self.kept.begin(answer, spoken, conversation)
                        await self.kept.send(send, speech, name)
                        outcome.ends(200 if outcome.failure is None else 502)
                        return
                async with answer:
                    if chat.stream:
                        outcome.ends(await said.stream(send))
                        return
                    whole = await said.whole()
                outcome.begins()
                await json_response(whole)(scope, receive, send)
                outcome.ends(200)

            with anyio.CancelScope(deadline=deadline + LAST_WORD_SECONDS) as limit:  # for clients that take nothing
                await unless_gone(receive, work)
            if limit.cancelled_caught:
                outcome.ends(took_too_long(self._settings.request_seconds).status)

    def _spoken(
        self,
        answer: ChatAnswer,
        speech: Speech,
        asked: Asked,
        chat: ChatRequest,
        beginning: Beginning,
        outcome: Outcome,
    ) -> SpokenAnswer:
        """The answer in the words of a protocol; one that is whole has no calls that turned out malformed."""
        whole_calls = self._settings.whole_calls or not chat.stream
        model = self._settings.model or chat.model or ""
        machine = asked.machine(Making(beginning.template, model, whole_calls))
        return SpokenAnswer(answer, speech, machine, deltas=not whole_calls, outcome=outcome)

    async def _understood(self, body: dict[str, Any]) -> tuple[ChatRequest, Beginning]:
        """The request and how its answer begins; raises RequestError."""
        settings = self._settings
        chat = check_request(body, most_choices=settings.max_choices)
        if settings.model is not None and chat.model not in (None, settings.model):
            raise RequestError(404, f"there is no model {chat.model!r}", param="model", code="model_not_found")
        return chat, await anyio.to_thread.run_sync(self._beginnings.of, chat, limiter=self._rendering)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """One of the places that there are for requests; raises RequestError if all are taken."""
        most = self._settings.max_requests
        if self._running >= most:
            raise RequestError(429, f"{most} requests are being served; try again later", code="too_many_requests")
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    async def _body(self, receive: Receive, deadline: float) -> bytes | None:
        """The request's body, None if the client has gone; raises RequestError if it is too large or too slow."""
        body = bytearray()
        with anyio.CancelScope(deadline=deadline):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > self._settings.max_body:
                    raise RequestError(413, f"the body has more than {self._settings.max_body} bytes")
                if not message.get("more_body", False):
                    return bytes(body)
        raise took_too_long(self._settings.request_seconds)

    def check_key(self, request: Request) -> None:
        """Raise RequestError unless the request has the server's key, where it has one."""
        key = self._settings.key
        given = [request.headers.get("authorization", ""), f"Bearer {request.headers.get('x-api-key', '')}"]
        bearers = [each.encode("latin-1") for each in given]  # the bytes of the headers
        if key is not None and not any(secrets.compare_digest(each, f"Bearer {key}".encode()) for each in bearers):
            raise RequestError(401, "the API key is missing or wrong", code="invalid_api_key")


class _Endpoint:
    """An endpoint as an ASGI application, which routes take as it is, unlike methods."""

    def __init__(self, server: _Server, speech: Speech | None = None) -> None:
        self._server = server
        self._speech = speech

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._server.serve(scope, receive, send, self._speech)


async def _request_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError), "it is registered for these"
    return error.response()


async def _internal_error(_request: Request, _error: Exception) -> Response:
    """Anything else, which the server's log has."""
    return RequestError(500, "the server failed", code="internal_error").response()


async def _http_error(_request: Request, error: Exception) -> Response:
    """Starlette's own refusals, of paths and methods, in the same form as all others."""
    assert isinstance(error, HTTPException), "it is registered for these"
    response = RequestError(error.status_code, error.detail).response()
    response.headers.update(error.headers or {})
    return response
