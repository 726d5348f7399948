"""An answer in the words of a protocol: events of a generation, through its machine, to the client.

In:  a ``ChatAnswer`` that has begun, and the protocol and the request that it is for.
Out: the answer, sent as server-sent events or given whole.
"""

from __future__ import annotations

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

        async def take(event: RawEvent, said: bool) -> None:
            if made := self._made(event, said):
                self._outcome.begins()
                await send_part(send, self._written(made))

        try:
            await send_part(send, self._written(self._machine.start()))
            usage = await self._answer.events(take, deltas=self._deltas)
        except StreamparseError as error:
            failure = as_request_error(error)
            self._outcome.failed(error)
            with anyio.move_on_after(LAST_WORD_SECONDS):
                last = self._written(self._speech.fail(self._machine, failure)) + self._speech.done
                await send_part(send, last, last=True)
            return failure.status
        await send_part(send, self._written(self._machine.finish(usage)) + self._speech.done, last=True)
        return 200

    def _made(self, event: RawEvent, said: bool) -> list[RawEvent]:
        """What the machine makes of an event; of a message that goes on, what was written before is not said again."""
        made = self._machine.feed(event)
        return made if said else [each for each in made if not each["type"].endswith(_PIECES)]

    def _written(self, made: Any) -> bytes:
        return b"".join(sse_event(each, name=each["type"] if self._speech.named else None) for each in made)
