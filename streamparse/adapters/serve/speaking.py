"""An answer in the words of a protocol: events of a generation, through its machine, to the client.

In:  a ``ChatAnswer`` that has begun, and the protocol and the request that it is for.
Out: the answer, sent as server-sent events or given whole.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
from starlette.types import Send

from streamparse.adapters.openai import sse_event
from streamparse.adapters.serve.answer import EVENT_STREAM, LAST_WORD_SECONDS, ChatAnswer, send_part
from streamparse.adapters.serve.errors import as_request_error
from streamparse.adapters.serve.metrics import Outcome
from streamparse.adapters.serve.protocol import Machine, Speech
from streamparse.errors import StreamparseError
from streamparse.events import RawEvent

Put = Callable[[Sequence[RawEvent], bool], Awaitable[None]]
"""Takes events of the protocol; True says that they are the last."""

_PIECES = ("_delta", "-delta", "_CONTENT")
"""What the types of events end with that are pieces of text."""


class SpokenAnswer:
    """An answer of a protocol; ``deltas`` says that calls go out while they are written."""

    def __init__(self, answer: ChatAnswer, speech: Speech, machine: Machine, *, deltas: bool, outcome: Outcome) -> None:
        self._answer = answer
        self._speech = speech
        self._machine = machine
        self._deltas = deltas
        self._outcome = outcome

    async def whole(self) -> Any:
        """Generate the whole answer; raises StreamparseError."""
        assert self._speech.whole is not None, "requests of other protocols ask for streams"
        made = self._machine.start()

        async def take(event: RawEvent, said: bool) -> None:
            made.extend(self._made(event, said))

        usage = await self._answer.events(take, deltas=False)
        return self._speech.whole([*made, *self._machine.finish(usage)])

    async def stream(self, send: Send) -> int:
        """Generate, and send events as they are made; returns the status that the answer would have had."""
        headers = [(name.encode(), value.encode()) for name, value in self._speech.headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": [*EVENT_STREAM, *headers]})

        async def put(made: Sequence[RawEvent], last: bool) -> None:
            await send_part(send, self._written(made) + (self._speech.done if last else b""), last=last)

        return await self.tell(put)

    async def tell(self, put: Put) -> int:
        """Generate, and hand on events as they are made; returns the status that the answer would have had."""

        async def take(event: RawEvent, said: bool) -> None:
            if made := self._made(event, said):
                self._outcome.begins()
                await put(made, False)

        try:
            await put(self._machine.start(), False)
            usage = await self._answer.events(take, deltas=self._deltas)
        except StreamparseError as error:
            failure = as_request_error(error)
            self._outcome.failed(error)
            with anyio.move_on_after(LAST_WORD_SECONDS):
                await put(self._speech.fail(self._machine, failure), True)
            return failure.status
        await put(self._machine.finish(usage), True)
        return 200

    def abort(self) -> Sequence[RawEvent]:
        """Give the last events of an answer that was asked to stop."""
        return self._speech.abort(self._machine)

    def _made(self, event: RawEvent, said: bool) -> list[RawEvent]:
        """What the machine makes of an event; of a message that goes on, what was written before is not said again."""
        made = self._machine.feed(event)
        return made if said else [each for each in made if not each["type"].endswith(_PIECES)]

    def _written(self, made: Any) -> bytes:
        return b"".join(sse_event(each, name=each["type"] if self._speech.named else None) for each in made)
