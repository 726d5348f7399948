"""The server of the page: 127.0.0.1 only, files and websockets on one port, gone at Ctrl-C.

In:  inputs to show, a pace, a port. Out: the page, until it is stopped.

    /         the page's files (``pages.py``)
    /events   the generations, in the format of docs/websockets.md
    /control  what the page asks for (``control.py``)
"""

from __future__ import annotations

import math
import socket
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import anyio
from websockets.asyncio.server import Server, ServerConnection
from websockets.asyncio.server import serve as serve_sockets

from streamparse.adapters.web.control import control
from streamparse.adapters.web.inputs import Input
from streamparse.adapters.web.live import Model
from streamparse.adapters.web.pace import Pace
from streamparse.adapters.web.pages import Pages
from streamparse.adapters.web.show import AT_MOST, Show
from streamparse.adapters.websockets import EventServer
from streamparse.adapters.websockets.library import handle

ADDRESS = "127.0.0.1"
KEPT_SECONDS = 600.0
"""How long a generation that has ended is kept, for pages that come back."""

HISTORY = 32_000_000
MESSAGE_AT_MOST = 16_000_000


class Page:
    """The page, served while the ``async with`` block lasts (on asyncio).

    ``url`` is where; ``show`` has the generations, ``events`` sends their events, ``sockets`` is the library's server.
    ``port`` 0 takes a free one. ``model`` answers questions, where there is one. ``OSError`` if the port is taken.
    """

    def __init__(self, inputs: Iterable[Input], *, pace: Pace, port: int = 0, model: Model | None = None) -> None:
        self._inputs = inputs
        self._port = port
        self._stack = AsyncExitStack()
        self.show = Show(pace, model)
        self.events: EventServer
        self.sockets: Server
        self.url = ""

    async def __aenter__(self) -> Page:
        listener = _listen(self._port)
        pages = Pages(listener.getsockname()[1])
        self.events = EventServer(
            self.show.source,
            origins=pages.origins,
            grace=math.inf,
            keep=KEPT_SECONDS,
            max_generations=4 * AT_MOST,
            history=HISTORY,
        )
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.events)
            await self.show.begin(self.events, self._inputs)
            self.sockets = await stack.enter_async_context(
                serve_sockets(
                    partial(_route, self.show, self.events),
                    sock=listener,
                    process_request=lambda _, request: pages.respond(request),
                    max_size=MESSAGE_AT_MOST,
                    compression=None,
                )
            )
            self._stack = stack.pop_all()
        self.url = f"http://{pages.hosts[0]}/"
        return self

    async def __aexit__(self, *exception: Any) -> None:
        await self._stack.aclose()


async def _route(show: Show, events: EventServer, connection: ServerConnection) -> None:
    request = connection.request
    assert request is not None, "a connection is routed after its handshake"
    if request.path.partition("?")[0] == "/control":
        await control(show, connection)
    else:
        await handle(events, connection)


def _listen(port: int) -> socket.socket:
    return socket.create_server((ADDRESS, port))


async def serve_page(
    inputs: Iterable[Input], *, pace: Pace, port: int, ready: Callable[[str], None], model: Model | None = None
) -> None:
    """Serve the page until the task is cancelled, as Ctrl-C does; ``ready`` gets its address."""
    async with Page(inputs, pace=pace, port=port, model=model) as page:
        ready(page.url)
        await anyio.sleep_forever()
