"""The records of one key in a part of a partition, read by a consumer of their own: the past of a generation.

In:  where the part begins and ends.
Out: values and headers, a batch at a time; synchronous.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka import KafkaError as ClientError

from streamparse.adapters.kafka.errors import KafkaError
from streamparse.adapters.kafka.wire import Headers

BATCH = 2_000
SCANNED_SECONDS = 30.0
"""How long nothing may come while the past of a generation is read."""


@dataclass(frozen=True)
class Place:
    """Where a generation begins in the topic of the events: its records are at or after that offset."""

    partition: int
    offset: int


class Scan:
    """The records of one key in a part of a partition."""

    def __init__(self, configuration: dict[str, Any], topic: str, place: Place, until: int, key: bytes) -> None:
        self._consumer = Consumer(configuration)
        self._consumer.assign([TopicPartition(topic, place.partition, place.offset)])
        self._until = until
        self._key = key
        self._deadline = time.monotonic() + SCANNED_SECONDS
        self.done = place.offset >= until

    def read(self) -> list[tuple[bytes, Headers | None]]:
        """The next ones."""
        found = []
        messages: list[Any] = self._consumer.consume(BATCH, 0.1)
        for message in messages:
            offset = message.offset()
            if message.error() is None and offset < self._until and message.key() == self._key:
                found.append((message.value(), message.headers()))
            ended = message.error() is not None and message.error().code() == ClientError._PARTITION_EOF
            self.done = self.done or ended or offset + 1 >= self._until
        if messages:
            self._deadline = time.monotonic() + SCANNED_SECONDS
        elif time.monotonic() > self._deadline:
            raise KafkaError(f"the past of a generation can't be read: nothing came for {SCANNED_SECONDS:g} seconds")
        return found

    def close(self) -> None:
        """Let go of the consumer."""
        self._consumer.close()
