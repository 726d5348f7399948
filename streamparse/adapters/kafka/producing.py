"""Events into a topic, from programs that parse themselves: the records that a worker writes, without its state.

In:  batches of ``(generation, events)``, as ``KeyedParser`` and ``pump`` give them.
Out: records as docs/kafka.md describes, numbered from 1 in each generation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread
from confluent_kafka import KafkaException, Producer

from streamparse.adapters.kafka.errors import KafkaError
from streamparse.adapters.kafka.output import LAST_EVENTS, EventRecord, values
from streamparse.adapters.kafka.settings import WorkerSettings
from streamparse.events import Event


class KafkaSink:
    """Writes events to a topic; used with ``async with``, on asyncio or trio. ``send`` waits while the broker is slow.

    The arguments are those of ``KafkaWorker`` of the same names. Leaving the block waits until all is written; where it
    is left by an error what is queued is dropped.

        async with KafkaSink("127.0.0.1:9092", "events") as sink:
            for batch in batches:
                await sink.send(batch)
    """

    def __init__(
        self, bootstrap: str, topic: str, *, max_record: int = 900_000, client: Mapping[str, Any] | None = None
    ) -> None:
        settings = WorkerSettings(bootstrap=bootstrap, source=f"{topic}-chunks", sink=topic, client=client or {})
        self._topic = topic
        self._largest = max_record
        self._configuration = settings.producer()
        self._producer: Any = None
        self._failure: Any = None
        self._numbers: dict[Any, int] = {}
        self._thread = anyio.CapacityLimiter(1)

    async def send(self, batch: Iterable[tuple[Any, list[Event]]]) -> None:
        """Write the events of some generations; raises KafkaError where something can't be written."""
        records = [self._record(str(generation), events) for generation, events in batch if events]
        await self._in_thread(partial(self._write, records))

    async def flush(self) -> None:
        """Wait until the broker has all that was sent; raises KafkaError where it doesn't take it."""
        await self._in_thread(self._flush)

    async def __aenter__(self) -> Self:
        self._producer = Producer({**self._configuration, "on_delivery": self._delivered})
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            await self.flush()
        else:
            self._producer.purge()

    def _record(self, generation: str, events: list[Event]) -> EventRecord:
        first = self._numbers.get(generation, 0) + 1
        self._numbers[generation] = first + len(events) - 1
        if events[-1]["type"] in LAST_EVENTS:
            del self._numbers[generation]
        return EventRecord(generation, first, events, ())

    def _write(self, records: list[EventRecord]) -> None:
        for record in records:
            for value, headers in values(record, self._largest):
                self._queue(value, record.generation, headers)
        self._producer.poll(0)
        self._raise()

    def _queue(self, value: bytes, key: str, headers: Any) -> None:
        while True:
            try:
                self._producer.produce(self._topic, value, key, headers=list(headers) or None)
                return
            except BufferError:
                self._producer.poll(0.1)
                self._raise()
            except KafkaException as error:
                raise KafkaError(f"{self._topic!r} can't be written: {error.args[0].str()}") from error

    def _flush(self) -> None:
        while self._producer.flush(1.0):
            self._raise()
        self._raise()

    async def _in_thread(self, step: Any) -> None:
        await anyio.to_thread.run_sync(step, limiter=self._thread)

    def _delivered(self, error: Any, _message: Any) -> None:
        if error is not None:
            self._failure = self._failure or error

    def _raise(self) -> None:
        if self._failure is not None:
            raise KafkaError(f"{self._topic!r} can't be written: {self._failure.str()}")
