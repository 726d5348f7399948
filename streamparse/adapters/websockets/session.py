"""One client: what it may say in which state, and what it is told.

In:  a socket, and the generations of the server.
Out: messages on the socket, as docs/websockets.md describes them; the socket is closed in the end.

Three kinds of tasks share the socket: one reads what the client says, one sends heartbeats, and one for each generation
that the client follows sends its events. They end together.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anyio
from anyio.abc import TaskGroup

from streamparse.adapters.websockets.generations import Generations, TooManyError
from streamparse.adapters.websockets.messages import VERSION, Message, read_message, write_events, write_message
from streamparse.adapters.websockets.socket import Close, ProtocolError, RefusedError, Socket, SocketClosedError
from streamparse.broadcasting.broadcast import Broadcast
from streamparse.broadcasting.consumer import Consumer
from streamparse.broadcasting.history import Numbered

FRAME = 16_384
"""About how many characters of events go into one message; a single event may be larger."""

CLOSING_SECONDS = 5.0
"""How long a client may take to close its end before it is left."""

REACHING_SECONDS = 10.0
"""How long a generation that runs elsewhere may take to get to where a client had been."""

_REASON_BYTES = 123  # what a close frame can hold beside its code

log = logging.getLogger("streamparse.websockets")


@dataclass(frozen=True)
class Rules:
    """What clients may do; ``EventServer`` describes each."""

    origins: Collection[str] | None
    check_token: Callable[[str | None], Any] | None
    authorize: Callable[[Any, str, str], Any] | None
    heartbeat: float
    hello_seconds: float
    send_seconds: float
    max_message: int
    max_followed: int


class Session:
    """Serves one client; ``run`` returns when its socket is closed."""

    def __init__(self, socket: Socket, generations: Generations, rules: Rules) -> None:
        self._socket = socket
        self._generations = generations
        self._rules = rules
        self._client: Any = None
        self._sending = anyio.Lock()
        self._sent_at = 0.0
        self._followed: dict[str, _Following] = {}
        self._scope = anyio.CancelScope()
        self._outcome: Exception | None = None

    async def run(self) -> None:
        """Serve the client until it goes, breaks a rule, or ``end`` is called."""
        try:
            with self._scope:
                await self._guarded(self._serve)
        finally:
            await self._close()

    def end(self, outcome: Exception) -> None:
        """End the session; the socket is closed with the close code of a ProtocolError."""
        self._outcome = self._outcome or outcome
        self._scope.cancel()

    async def _serve(self) -> None:
        check_origin(self._socket, self._rules.origins)
        await self._greet()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._guarded, self._send_heartbeats)
            await self._guarded(self._listen, tasks)

    async def _listen(self, tasks: TaskGroup) -> None:
        while True:
            message = await self._receive()
            step = _STEPS.get(message["type"])
            if step is None:
                raise ProtocolError(Close.BAD_MESSAGE, "hello was said before")
            await step(self, message, tasks)

    async def _guarded(self, work: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        """Do a part of the session's work; what ends that part ends the session."""
        try:
            await work(*arguments)
        except (ProtocolError, SocketClosedError) as outcome:
            self.end(outcome)
        except Exception as error:
            log.exception("a session over a websocket failed")
            self.end(error)

    async def _close(self) -> None:
        """Close the socket with what became of the session, unless it has been closed by the client."""
        outcome = self._outcome
        if isinstance(outcome, SocketClosedError):
            return
        if not isinstance(outcome, ProtocolError):
            code = Close.GOING_AWAY if outcome is None else Close.INTERNAL_ERROR
            outcome = ProtocolError(code, "")
        reason = outcome.reason.encode("utf-8", "replace")[:123].decode(
            "utf-8", "ignore"
        )  # as much as a frame can hold
        with anyio.move_on_after(CLOSING_SECONDS, shield=True), suppress(SocketClosedError):
            await self._socket.close(outcome.code, reason)

    async def _greet(self) -> None:
        with anyio.move_on_after(self._rules.hello_seconds) as waiting:
            hello = await self._receive()
        if waiting.cancelled_caught:
            raise ProtocolError(Close.TIMEOUT, f"no hello within {self._rules.hello_seconds:g} seconds")
        if hello["type"] != "hello":
            raise ProtocolError(Close.BAD_MESSAGE, "the first message is hello")
        if self._rules.check_token is not None:
            self._client = await _result(self._rules.check_token(hello.get("token")))
            if self._client is None or self._client is False:
                raise ProtocolError(Close.UNAUTHORIZED, "the token was refused")
        await self._send(write_message(type="welcome", version=VERSION, heartbeat=self._rules.heartbeat))

    async def _receive(self) -> Message:
        return read_message(await self._socket.receive(), max_size=self._rules.max_message)

    async def _send(self, frame: str) -> None:
        async with self._sending:
            with anyio.move_on_after(self._rules.send_seconds) as sending:
                await self._socket.send(frame)
                self._sent_at = anyio.current_time()
        if sending.cancelled_caught:
            raise ProtocolError(Close.TIMEOUT, f"the client took nothing for {self._rules.send_seconds:g} seconds")

    async def _send_heartbeats(self) -> None:
        while True:
            await anyio.sleep_until(self._sent_at + self._rules.heartbeat)
            if anyio.current_time() >= self._sent_at + self._rules.heartbeat:
                await self._send(write_message(type="heartbeat"))

    async def _start(self, message: Message, tasks: TaskGroup) -> None:
        name = message["generation"]
        if await self._may("start", name):
            try:
                generation = await self._generations.start(name, message.get("parameters"), self._client)
            except TooManyError as error:
                await self._send_error(name, "too_many", str(error))
            else:
                await self._follow(name, generation, 0, tasks)

    async def _subscribe(self, message: Message, tasks: TaskGroup) -> None:
        name, after = message["generation"], int(message.get("after", 0))
        generation = await self._known("subscribe", name)
        if generation is not None:
            await _reach(generation, after)
            await self._follow(name, generation, after, tasks)

    async def _unsubscribe(self, message: Message, _tasks: TaskGroup) -> None:
        following = self._followed.pop(message["generation"], None)
        if following is not None:
            following.scope.cancel()

    async def _stop(self, message: Message, _tasks: TaskGroup) -> None:
        generation = await self._known("stop", message["generation"])
        if generation is not None:
            generation.stop()

    async def _known(self, what: str, name: str) -> Broadcast | None:
        """A generation that is there and with which this client may do that; the client is told if there is none."""
        if not await self._may(what, name):
            return None
        try:
            generation = await self._generations.find(name, self._client)
        except TooManyError as error:
            await self._send_error(name, "too_many", str(error))
            return None
        if generation is None:
            await self._send_error(name, "unknown_generation", "there is none of this name, or it ended too long ago")
        return generation

    async def _may(self, what: str, name: str) -> bool:
        """Ask whether this client may do that with this generation, and tell it if not."""
        authorize = self._rules.authorize
        if authorize is None or await _result(authorize(self._client, what, name)):
            return True
        await self._send_error(name, "refused", f"this client may not {what} this generation")
        return False

    async def _follow(self, name: str, generation: Broadcast, after: int, tasks: TaskGroup) -> None:
        """Send the events after a number from now on, in place of an earlier subscription."""
        if name not in self._followed and len(self._followed) >= self._rules.max_followed:
            await self._send_error(name, "too_many", f"a client may follow {self._rules.max_followed} at a time")
            return
        if after > generation.last:
            await self._send_error(name, "lost_events", f"there is no event {after}; the last one is {generation.last}")
            return
        following = _Following(generation, generation.subscribe("join", after=after, capacity=FRAME))
        await following.consumer.__aenter__()
        earlier = self._followed.get(name)
        if earlier is not None:
            earlier.scope.cancel()
        self._followed[name] = following
        tasks.start_soon(self._guarded, self._send_events, name, following)

    async def _send_events(self, name: str, following: _Following) -> None:
        """Send what comes of a generation, and its end."""
        generation, consumer = following.generation, following.consumer
        with following.scope:
            try:
                while numbered := await following.read():
                    await self._send(write_events(name, numbered))
                await self._send_end(name, generation, consumer)
            finally:
                consumer.close()
        if self._followed.get(name) is following:
            del self._followed[name]

    async def _send_end(self, name: str, generation: Broadcast, consumer: Consumer) -> None:
        if consumer.dropped is not None:
            await self._send_error(name, "lost_events", consumer.dropped)
        elif isinstance(generation.error, RefusedError):
            await self._send_error(name, "refused", str(generation.error))
        else:
            kind = None if generation.error is None else type(generation.error).__name__
            end = {"last": consumer.last, "reason": generation.ending, "error": kind}
            await self._send(write_message(type="end", generation=name, **end))

    async def _send_error(self, name: str, code: str, text: str) -> None:
        await self._send(write_message(type="error", generation=name, code=code, message=text))


class _Following:
    """A generation that a client follows."""

    def __init__(self, generation: Broadcast, consumer: Consumer) -> None:
        self.generation = generation
        self.consumer = consumer
        self.scope = anyio.CancelScope()

    async def read(self) -> list[Numbered]:
        """The next events; none at the end, however it came."""
        try:
            return await self.consumer.read()
        except Exception as error:
            if error is not self.generation.error:
                raise
            return []


_STEPS: dict[str, Callable[[Session, Message, TaskGroup], Awaitable[None]]] = {
    "start": Session._start,
    "subscribe": Session._subscribe,
    "unsubscribe": Session._unsubscribe,
    "stop": Session._stop,
}


def check_origin(socket: Socket, origins: Collection[str] | None) -> None:
    """Raise ProtocolError if a page of this origin may not connect; programs other than browsers send none.

    ``origins`` are those that may; None stands for the server's own, and one that is ``"*"`` for all.
    """
    origin = socket.origin
    if origin is None or (origins is not None and ("*" in origins or origin in origins)):
        return
    with suppress(ValueError):
        if origins is None and socket.host is not None and urlsplit(origin).netloc.lower() == socket.host.lower():
            return
    raise ProtocolError(Close.POLICY_VIOLATION, "pages of this origin may not connect")


async def _reach(generation: Broadcast, after: int) -> None:
    """Wait until a generation has got to an event that its client has seen already, through another server."""
    if generation.ending is not None or after <= generation.last:
        return
    with anyio.move_on_after(REACHING_SECONDS):
        async with generation.subscribe("join") as ahead:
            while ahead.last < after and await ahead.read():
                pass


async def _result(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
