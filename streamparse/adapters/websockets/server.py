"""A server of events: generations that clients start and follow over websockets.

In:  sockets (``library.py`` over the websockets library, ``asgi.py`` for ASGI servers), and a function that starts a
     generation.
Out: events to the clients, as docs/websockets.md describes; generations that end when nobody is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from types import TracebackType
from typing import Any, Self

from streamparse.adapters.websockets.generations import Find, Generations, Start
from streamparse.adapters.websockets.session import Rules, Session
from streamparse.adapters.websockets.socket import Close, ProtocolError, Socket
from streamparse.broadcasting.broadcast import Broadcast
from streamparse.errors import StreamparseError


class EventServer:
    """Serves any number of clients; used with ``async with``, and handed to ``serve`` or ``EventApp``.

    ``start(parameters, client)`` starts a generation: it gets what the client's ``start`` message has as ``parameters``
    (anything that JSON can say: check it), and what ``check_token`` gave. It gives a source of events, such as
    ``parse_stream(…)``, and may be asynchronous. It raises RefusedError to tell the client why not.

    ``find(generation, client)`` gives the events of a generation that was not started here, from the first one on, or
    None where there is none of this name; it may be asynchronous. So several servers can show the same generations, and
    a client that comes back may come to another one.

    Who may do what:

    - ``origins``: pages whose scripts may connect, such as ``"https://example.org"``, or ``"*"`` for all. If nothing is
      said, those whose host is that of the ``Host`` header, which says nothing where a foreign name may resolve to this
      server (DNS rebinding): on localhost without a token, say them. Programs other than browsers send no origin, and
      may connect.
    - ``check_token(token)``: gets the token of the client's ``hello`` (None if there is none) and gives what stands for
      the client, or None to refuse it. May be asynchronous.
    - ``authorize(client, what, generation)``: whether the client may ``"start"``, ``"subscribe"`` to or ``"stop"`` the
      generation of this name. May be asynchronous. If nothing is said, all may that know the name.

    How long things last, in seconds: a generation that nobody follows goes on for ``grace`` (0: it stops at once;
    ``math.inf``: it goes on) and is kept for ``keep`` after its end. A ``heartbeat`` is sent when nothing else is.
    A client has ``hello_seconds`` to say hello, and ``send_seconds`` to take a message.

    How much there may be: ``max_clients``, ``max_generations`` (running or kept), ``max_followed`` by one client,
    ``max_message`` characters in a message of a client, and ``history`` characters of each generation for those who
    come late. A client that is slow costs no memory beyond one message.
    """

    def __init__(
        self,
        start: Start,
        *,
        find: Find | None = None,
        origins: Collection[str] | None = None,
        check_token: Callable[[str | None], Any] | None = None,
        authorize: Callable[[Any, str, str], Any] | None = None,
        grace: float = 30.0,
        keep: float = 300.0,
        heartbeat: float = 20.0,
        hello_seconds: float = 10.0,
        send_seconds: float = 60.0,
        max_clients: float = math.inf,
        max_generations: int = 1000,
        max_followed: int = 100,
        max_message: int = 65_536,
        history: int = 1_048_576,
    ) -> None:
        if isinstance(origins, str):
            raise StreamparseError(f"origins is a list of origins, such as [{origins!r}], not a text")
        self.max_message = max_message
        self._rules = Rules(
            origins=origins,
            check_token=check_token,
            authorize=authorize,
            heartbeat=heartbeat,
            hello_seconds=hello_seconds,
            send_seconds=send_seconds,
            max_message=max_message,
            max_followed=max_followed,
        )
        self._max_clients = max_clients
        self._generations = Generations(
            start, find=find, grace=grace, keep=keep, history=history, limit=max_generations
        )
        self._sessions: set[Session] = set()

    @property
    def clients(self) -> int:
        """How many clients are connected."""
        return len(self._sessions)

    def generation(self, name: str) -> Broadcast | None:
        """The generation of a name, if it runs or is still kept."""
        return self._generations.get(name)

    async def start(self, name: str, parameters: Any = None) -> Broadcast:
        """Start a generation from the server's side, unless there is one of this name; clients may subscribe to it.

        It is read from when the first client follows it.
        """
        return await self._generations.start(name, parameters, None)

    async def serve(self, socket: Socket) -> None:
        """Serve one client, and return when its socket is closed."""
        session = Session(socket, self._generations, self._rules)
        if len(self._sessions) >= self._max_clients:
            session.end(ProtocolError(Close.TOO_MANY, "there are too many connections; try again later"))
        self._sessions.add(session)
        try:
            await session.run()
        finally:
            self._sessions.discard(session)

    async def __aenter__(self) -> Self:
        await self._generations.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for session in self._sessions:
            session.end(ProtocolError(Close.GOING_AWAY, "the server is being shut down"))
        await self._generations.__aexit__(kind, error, traceback)
