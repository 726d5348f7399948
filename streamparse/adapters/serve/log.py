"""One line for each request, for whoever runs the server; never a word of a prompt or an answer.

In:  an ASGI application.
Out: the same, which logs to ``streamparse.serve`` what became of each request, and why if it failed.

A line has the method, the path, the status (499 where the client went away before an answer began) and the seconds,
and for chat completions the model and the tokens. What a client sends is written as JSON text, so that it can't break a
line.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamparse.adapters.openai.raw_completion import CompletionError
from streamparse.adapters.serve.errors import RequestError

LOGGER = logging.getLogger("streamparse.serve")

_SHOWN = 80  # characters of what a client sends
_GONE = 499
_SCOPE_KEY = "streamparse.request"


@dataclass(slots=True)
class Facts:
    """What is known of a request; endpoints add to it."""

    model: str | None = None
    usage: Any = None
    streamed: bool = False
    status: int | None = None
    failure: str | None = None


def facts_of(scope: Scope) -> Facts:
    """Give what is known of a request, to add to."""
    facts = scope.setdefault(_SCOPE_KEY, Facts())
    assert isinstance(facts, Facts), "the key is ours"
    return facts


def described(error: Exception) -> str:
    """Say what went wrong, without what the client or the upstream wrote, which may be of a prompt or an answer.

    >>> described(CompletionError("http://localhost:8000/v1/completions answered 400: too long", said="too long"))
    'http://localhost:8000/v1/completions answered 400'
    """
    if isinstance(error, RequestError):
        return " ".join(word for word in (error.code, error.param) if word) or "bad request"
    text = str(error)
    if isinstance(error, CompletionError) and error.said:
        text = text.partition(error.said)[0].rstrip(": ")
    return text


class RequestLog:
    """An application, and a line for each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, and log it when it has ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        facts, started = facts_of(scope), time.perf_counter()
        status = _GONE

        async def seen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, seen)
        except Exception as error:
            status, facts.failure = 500, type(error).__name__
            raise
        finally:
            if LOGGER.isEnabledFor(logging.INFO):
                seconds = time.perf_counter() - started
                LOGGER.info("%s", _line(scope, facts.status or status, seconds, facts))


def _line(scope: Scope, status: int, seconds: float, facts: Facts) -> str:
    words = [scope["method"], _plain(scope["path"]), str(status), f"{seconds:.3f}s"]
    if facts.model is not None:
        words.append(f"model={_plain(facts.model)}")
    if facts.usage is not None:
        words += [f"{kind}={facts.usage[f'{kind}_tokens']}" for kind in ("prompt", "completion")]
    if facts.streamed:
        words.append("streamed")
    if facts.failure is not None:
        words.append(f"failed: {_plain(facts.failure, most=300)}")
    return " ".join(words)


def _plain(text: str, most: int = _SHOWN) -> str:
    """A text on one line, without control characters."""
    return json.dumps(text if len(text) <= most else f"{text[:most]}...")[1:-1]
