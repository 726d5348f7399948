"""Answers that outlive their clients: generated into a store, and sent from there to whoever reads them.

In:  an answer in the words of a protocol, and the conversation that it is for.
Out: server-sent events with ids, ``GENERATION/NUMBER``, from any one on; any server with the store sends them.

A client that goes away stops nothing. What was asked to stop, by a client of any server, ends with the protocol's own
word for it; where the server that generates is gone, all readers are told so.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup, TaskStatus
from starlette.types import Send

from streamparse.adapters.openai import sse_event
from streamparse.adapters.serve.answer import EVENT_STREAM, ChatAnswer, send_part
from streamparse.adapters.serve.errors import RequestError
from streamparse.adapters.serve.protocol import Speech
from streamparse.adapters.serve.speaking import SpokenAnswer
from streamparse.adapters.store import ForgottenError, Store, StoreError, Writer, WriterLostError
from streamparse.adapters.store.server_sent import last_event_id
from streamparse.events import RawEvent

_LOG = logging.getLogger("streamparse.serve")

_LOST = {
    WriterLostError: ("the server that generated the answer has gone", "generation_lost"),
    ForgottenError: ("the answer is no longer kept from there on", "generation_forgotten"),
}


class KeptAnswers:
    """Generates at most ``most`` answers at a time into a store; used with ``async with``."""

    def __init__(self, store: Store, most: int) -> None:
        self._store = store
        self._most = most
        self._running = 0
        self._tasks: TaskGroup

    async def __aenter__(self) -> Self:
        self._tasks = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._tasks.cancel_scope.cancel()
        try:
            await self._tasks.__aexit__(None, None, None)
        finally:
            with anyio.CancelScope(shield=True):
                await self._store.aclose()

    async def begin(self, answer: ChatAnswer, spoken: SpokenAnswer, conversation: str) -> str:
        """Begin to generate; returns the generation's name once the upstream answers, and raises StreamparseError.

        The conversation's last generation is asked to stop if it still runs.
        """
        if self._running >= self._most:
            said = f"{self._most} answers are being generated; try again later"
            raise RequestError(429, said, code="too_many_requests")
        with _reached():
            name: str = await self._tasks.start(self._generate, answer, spoken, conversation)
        return name

    async def newest(self, conversation: str, *, ended: bool) -> str | None:
        """The conversation's newest generation; one that has ended only if it is asked for."""
        with _reached():
            name = await self._store.newest(conversation)
            return name if name is not None and (ended or await self._store.runs(name)) else None

    async def stop(self, conversation: str) -> bool:
        """Ask that the conversation's newest generation stop, wherever it runs; False if none runs."""
        with _reached():
            name = await self._store.newest(conversation)
            return name is not None and await self._store.stop(name)

    async def send(self, send: Send, speech: Speech, name: str, after: int = 0) -> None:
        """Send a generation from the event after a number on, to its end."""
        headers = [(key.encode(), value.encode()) for key, value in speech.headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": [*EVENT_STREAM, *headers]})
        last = b""
        try:
            async with aclosing(self._store.follow(name, after=after).numbered()) as events:
                async for number, event in events:
                    await send_part(send, f"id: {name}/{number}\n".encode() + _written(speech, event))
        except StoreError as error:
            said, code = _LOST.get(type(error), ("the store of the answer failed", "store_failed"))
            _LOG.warning("a reader of %s was cut off: %s", name, error)
            last = _written(speech, *speech.lost(RequestError(502, said, code=code)))
        await send_part(send, last + speech.done, last=True)

    async def _generate(
        self, answer: ChatAnswer, spoken: SpokenAnswer, conversation: str, *, task_status: TaskStatus[str]
    ) -> None:
        self._running += 1
        name, begun = uuid.uuid4().hex, False
        try:
            async with answer:
                await self.stop(conversation)
                async with self._store.write(name, conversation=conversation) as writer:
                    begun = True
                    task_status.started(name)
                    await _tell(spoken, writer)
        except Exception:
            if not begun:  # the request is told
                raise
            _LOG.exception("the generation %s failed; its readers are told that it is lost", name)
        finally:
            self._running -= 1


async def _tell(spoken: SpokenAnswer, writer: Writer) -> None:
    """Write the whole answer, or what there is of it when it is asked to stop."""
    ended = False
    failure: Exception | None = None

    async def put(made: Sequence[RawEvent], last: bool) -> None:
        nonlocal ended
        ended = last
        await writer.append(made, last=last)

    async def watch() -> None:
        await writer.stopped.wait()
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        try:
            await spoken.tell(put)
        except Exception as error:  # which the task group would wrap
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    if not ended:
        await put(spoken.abort(), True)


@contextmanager
def _reached() -> Iterator[None]:
    """Make of an error of the store one that a client is told."""
    try:
        yield
    except StoreError as error:
        _LOG.error("the store failed: %s", error)
        raise RequestError(503, "the store of answers can't be used; try again later", code="store_failed") from error


def place_of(header: str | None) -> tuple[str, int] | None:
    """The generation and the number that a ``Last-Event-ID`` says, None for one that is none of ours.

    >>> place_of("5f3a/17"), place_of("17"), place_of(None)
    (('5f3a', 17), None, None)
    """
    name, _, number = (header or "").rpartition("/")
    return (name, last_event_id(number)) if name else None


def _written(speech: Speech, *events: RawEvent) -> bytes:
    return b"".join(sse_event(each, name=each["type"] if speech.named else None) for each in events)
