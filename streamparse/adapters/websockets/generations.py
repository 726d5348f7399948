"""The generations of a server, by name: each is a broadcast that outlives its clients for a while.

In:  names, with parameters of which the user's ``start`` makes a source of events.
Out: broadcasts to subscribe to.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterable, Awaitable, Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup, TaskStatus

from streamparse.adapters.websockets.socket import RefusedError
from streamparse.broadcasting.broadcast import Broadcast, broadcast
from streamparse.broadcasting.history import Event
from streamparse.errors import StreamparseError
from streamparse.graph.cleanup import close

Start = Callable[[Any, Any], AsyncIterable[Event] | Awaitable[AsyncIterable[Event]]]
"""What starts a generation: gets the client's ``parameters``, and what the token check gave of the client."""

Find = Callable[[str, Any], AsyncIterable[Event] | Awaitable[AsyncIterable[Event] | None] | None]
"""What finds a generation that runs elsewhere: gets its name, and what the token check gave of the client. It gives all
of its events from the first one on, or None where there is no such generation."""

log = logging.getLogger("streamparse.websockets")


class TooManyError(StreamparseError):
    """No more generations are taken on at the moment."""


class Generations:
    """Runs generations, and keeps those that have ended for ``keep`` seconds; used with ``async with``.

    There are no more than ``limit`` at a time; those that have ended give way first.
    """

    def __init__(
        self, start: Start, *, find: Find | None = None, grace: float, keep: float, history: int, limit: int
    ) -> None:
        self._start = start
        self._find = find
        self._grace = grace
        self._keep = keep
        self._history = history
        self._limit = limit
        self._running: dict[str, Broadcast] = {}
        self._ended: dict[str, anyio.Event] = {}  # oldest first; set to let go of one
        self._starting = anyio.Lock()
        self._tasks: TaskGroup | None = None

    def get(self, name: str) -> Broadcast | None:
        """The generation of a name, if it runs or is still kept."""
        return self._running.get(name)

    async def find(self, name: str, client: Any) -> Broadcast | None:
        """The generation of a name, also if it runs elsewhere and can be found; raises TooManyError."""
        if name in self._running or self._find is None:
            return self.get(name)
        source: Any = self._find(name, client)
        if inspect.isawaitable(source):
            source = await source
        return None if source is None else await self._begin(name, lambda *_: source, None, client)

    async def start(self, name: str, parameters: Any, client: Any) -> Broadcast:
        """Start a generation, unless there is one of this name; raises TooManyError."""
        return await self._begin(name, self._start, parameters, client)

    async def _begin(self, name: str, start: Start, parameters: Any, client: Any) -> Broadcast:
        if self._tasks is None:
            raise StreamparseError("enter the server with `async with` before it takes connections")
        async with self._starting:  # of two clients that start the same one, the second finds it
            if name not in self._running:
                if len(self._running) >= self._limit:
                    await self._make_room()
                source = _Started(start, parameters, client)
                generation = broadcast(source, history=self._history, grace=self._grace)
                await self._tasks.start(self._run, name, generation)
            return self._running[name]

    async def __aenter__(self) -> Self:
        self._tasks = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()
            await self._tasks.__aexit__(None, None, None)
            self._tasks = None

    async def _run(self, name: str, generation: Broadcast, *, task_status: TaskStatus[None]) -> None:
        """Be the task of one generation, until it is forgotten."""
        try:
            async with generation:
                self._running[name] = generation
                task_status.started()
                await generation.over.wait()
                if generation.error is not None and not isinstance(generation.error, RefusedError):
                    log.error("generation %r failed", name, exc_info=generation.error)
                self._ended[name] = let_go = anyio.Event()
                with anyio.move_on_after(self._keep):
                    await let_go.wait()
        except Exception as error:
            if error is not generation.error:
                raise
        finally:
            self._ended.pop(name, None)
            self._running.pop(name, None)

    async def _make_room(self) -> None:
        """Forget the generation that ended first."""
        if not self._ended:
            raise TooManyError(f"{self._limit} generations are running; try again later")
        name = next(iter(self._ended))
        self._ended[name].set()
        while name in self._running:
            await anyio.lowlevel.checkpoint()


class _Started:
    """A source that is started when it is entered."""

    def __init__(self, start: Start, parameters: Any, client: Any) -> None:
        self._start = start
        self._arguments = (parameters, client)
        self._entered = AsyncExitStack()

    async def __aenter__(self) -> AsyncIterable[Event]:
        source: Any = self._start(*self._arguments)
        if inspect.isawaitable(source):
            source = await source
        if hasattr(source, "__aenter__"):
            entered: AsyncIterable[Event] = await self._entered.enter_async_context(source)
            return entered
        self._entered.push_async_callback(close, source)
        events: AsyncIterable[Event] = source
        return events

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._entered.__aexit__(kind, error, traceback)

    def __aiter__(self) -> Any:
        raise StreamparseError("a generation is entered before it is iterated over")
