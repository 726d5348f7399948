"""What takes an answer up again, and what stops it: beside the endpoint of each protocol whose answers are kept.

In:  the protocols, and the answers that are kept.
Out: routes: ``GET …/CONVERSATION/stream`` and ``POST …/CONVERSATION/stop``.

The first is what the AI SDK asks for when a page is loaded (``resume`` of ``useChat``): the answer that is being
generated, from its first event on, or 204 where there is none. With the header ``Last-Event-ID`` it begins after that
event; with ``?ended=1`` an answer that has ended is sent too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from streamparse.adapters.serve.errors import json_response
from streamparse.adapters.serve.gone import unless_gone
from streamparse.adapters.serve.keeping import KeptAnswers, place_of
from streamparse.adapters.serve.protocol import Speech

Check = Callable[[Request], None]
"""Raises RequestError for a request that may not be served."""


def kept_routes(speeches: Sequence[Speech], kept: KeptAnswers | None, check: Check) -> list[Route]:
    """Give the routes; none where answers aren't kept."""
    if kept is None:
        return []
    routes = []
    for speech in speeches:
        if speech.conversation:
            beside = f"{speech.path}/{{conversation}}"
            routes.append(Route(f"{beside}/stream", _Resumed(kept, speech, check), methods=["GET"]))
            routes.append(Route(f"{beside}/stop", _stopping(kept, check), methods=["POST"]))
    return routes


class _Resumed:
    """Sends an answer from where its reader was, as an ASGI application."""

    def __init__(self, kept: KeptAnswers, speech: Speech, check: Check) -> None:
        self._kept = kept
        self._speech = speech
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self._check(request)
        place = place_of(request.headers.get("last-event-id"))
        if place is None:
            ended = request.query_params.get("ended") == "1"
            newest = await self._kept.newest(request.path_params["conversation"], ended=ended)
            if newest is None:
                await Response(status_code=204)(scope, receive, send)
                return
            place = newest, 0
        name, after = place
        await unless_gone(receive, lambda: self._kept.send(send, self._speech, name, after))


def _stopping(kept: KeptAnswers, check: Check) -> Callable[[Request], Awaitable[Response]]:
    async def stop(request: Request) -> Response:
        check(request)
        return json_response({"stopped": await kept.stop(request.path_params["conversation"])})

    return stop
