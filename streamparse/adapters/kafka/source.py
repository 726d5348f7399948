"""A topic as a source of ``(key, chunk)``, for programs that do with the events what they like.

In:  the records of a topic, as a member of a group.
Out: batches for ``pump`` or ``KeyedParser.feed``, read in a thread; ``commit`` says that what was given is done with.

This is at-least-once, without state: what is read again after a crash begins where was committed last. ``KafkaWorker``
is the one that keeps the state of generations.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.to_thread
from confluent_kafka import Consumer, KafkaException, TopicPartition

from streamparse.adapters.kafka.errors import BadRecordError, KafkaError
from streamparse.adapters.kafka.message import record_of
from streamparse.adapters.kafka.retrying import retried
from streamparse.adapters.kafka.settings import WorkerSettings
from streamparse.adapters.kafka.templates import Beginnings
from streamparse.adapters.kafka.wire import Begin, read_content, read_key
from streamparse.graph.chunks import Open

log = logging.getLogger("streamparse.kafka")

BATCH = 2_000
_POLL_SECONDS = 0.1
_SECONDS = 60.0


class KafkaSource:
    """Batches of ``(generation, chunk)`` from a topic; used with ``async with``, on asyncio or trio.

    The arguments are those of ``KafkaWorker`` of the same names. A record that can't be read is logged, and ends its
    generation with an error. The consumer is only asked for more when the batch before has been taken, so a slow
    program slows the reading; ``max.poll.interval.ms`` of ``client`` says how slow it may be.

        async with KafkaSource("127.0.0.1:9092", "chunks", group="mine", template="qwen3") as source:
            async with pump(source, KeyedParser()) as batches:
                async for batch in batches:
                    ...
                    await source.commit()
    """

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str,
        template: Any = None,
        prefix: str | None = None,
        tokenizers: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
        client: Mapping[str, Any] | None = None,
    ) -> None:
        self._settings = WorkerSettings(
            bootstrap=bootstrap, source=topic, sink=f"{topic}-events", group=group, client=client or {}
        )
        self._beginnings = Beginnings(template, prefix=prefix, tokenizers=tokenizers, options=options)
        self._consumer: Any = None
        self._thread = anyio.CapacityLimiter(1)
        self._given: dict[int, int] = {}

    async def commit(self) -> None:
        """Say that all batches given so far are done with; raises KafkaError where the group doesn't take it."""
        given, self._given = self._given, {}
        if given:
            topic = self._settings.source
            offsets = [TopicPartition(topic, partition, offset) for partition, offset in given.items()]
            step = partial(self._consumer.commit, offsets=offsets, asynchronous=False)
            try:
                await anyio.to_thread.run_sync(retried, step, _SECONDS, limiter=self._thread)
            except KafkaException as error:
                raise KafkaError(f"the offsets can't be committed: {error.args[0].str()}") from error

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[tuple[str, Any]]:
        """The next records; waits for them."""
        while True:
            batch = await anyio.to_thread.run_sync(self._read, limiter=self._thread, abandon_on_cancel=False)
            if batch:
                return batch

    async def __aenter__(self) -> Self:
        self._consumer = Consumer(self._settings.consumer())
        self._consumer.subscribe([self._settings.source], on_revoke=self._revoked)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self._consumer.close, limiter=self._thread)

    def _revoked(self, _consumer: Any, places: list[TopicPartition]) -> None:
        for place in places:
            self._given.pop(place.partition, None)

    def _read(self) -> list[tuple[str, Any]]:
        try:
            first = self._consumer.poll(_POLL_SECONDS)
            messages = [] if first is None else [first, *self._consumer.consume(BATCH - 1, 0)]
        except KafkaException as error:
            raise KafkaError(f"the input can't be read: {error.args[0].str()}") from error
        pairs = []
        for message in messages:
            if message.error() is None:
                self._given[message.partition()] = message.offset() + 1
                pairs += self._pairs(message)
            elif message.error().fatal():
                raise KafkaError(f"the input can't be read: {message.error().str()}")
        return pairs

    def _pairs(self, message: Any) -> list[tuple[str, Any]]:
        """What one record says, if it can be read."""
        record = record_of(message)
        place = f"{message.topic()}/{message.partition()} offset {record.offset}"
        key = None
        try:
            key = read_key(record.key)
            content = read_content(record)
        except BadRecordError as error:
            log.warning("%s: %s", place, error)
            return [] if key is None else [(key, error)]
        if not isinstance(content, Begin):
            return [(key, content)]
        try:
            return [(key, Open(**self._beginnings.options(content.value, seed=f"{place}/{key}")))]
        except Exception as error:
            return [(key, error)]
