"""Takes up partitions that a worker is given: the changelog first, then the records that come after its snapshots.

In:  partitions, and the offset of each from which the group reads on.
Out: their parsers, in the state that they had there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, KafkaException, TopicPartition
from confluent_kafka import KafkaError as ClientError
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from streamparse.adapters.kafka.changelog import Saved
from streamparse.adapters.kafka.errors import KafkaError
from streamparse.adapters.kafka.message import Message
from streamparse.adapters.kafka.partition import PartitionParser
from streamparse.adapters.kafka.retrying import retried, transient
from streamparse.adapters.kafka.settings import WorkerSettings

BATCH = 5_000

_FIRST, _LAST = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]
SECONDS = 120.0
"""How long nothing may come while partitions are taken up."""


def restore(
    settings: WorkerSettings, offsets: Mapping[int, int], fresh: Callable[[int], PartitionParser]
) -> dict[int, PartitionParser]:
    """The parsers of partitions; ``offsets`` has from where each is read on, and ``fresh`` makes a parser.

    Waits for transactions that other workers have not ended yet: what they have committed belongs to the state.
    """
    reader = Consumer(settings.reader())
    try:
        parsers = {partition: fresh(partition) for partition in offsets}
        saved = _changelog(reader, settings, offsets)
        kept = _bounds(settings, settings.source, offsets, _FIRST)
        starts = {}
        for partition, parser in parsers.items():
            start = parser.restore(saved[partition], offsets[partition], kept[partition])
            if start < offsets[partition]:
                starts[partition] = start
        for partition, messages in _read(reader, settings.source, starts, offsets):
            parsers[partition].replay(messages)
        return parsers
    except KafkaException as error:
        raise KafkaError(f"partitions can't be taken up: {error.args[0].str()}") from error
    finally:
        reader.close()


def _changelog(reader: Consumer, settings: WorkerSettings, offsets: Mapping[int, int]) -> dict[int, dict[str, Saved]]:
    topic = settings.changelog
    saved: dict[int, dict[str, bytes | None]] = {partition: {} for partition in offsets}
    starts = _bounds(settings, topic, offsets, _FIRST)
    ends = _bounds(settings, topic, offsets, _LAST)
    starts = {partition: start for partition, start in starts.items() if start < ends[partition]}
    for partition, messages in _read(reader, topic, starts, ends):
        for message in messages:
            saved[partition][(message.key() or b"").decode("utf-8", "replace")] = message.value()
    return {
        partition: {key: Saved.decode(value) for key, value in entries.items() if value is not None}
        for partition, entries in saved.items()
    }


def _bounds(settings: WorkerSettings, topic: str, partitions: Iterable[int], which: Any) -> dict[int, int]:
    """The first or the last offset of partitions, transactions that have not ended counted in."""
    admin = AdminClient(settings.administrator())
    asked = {TopicPartition(topic, partition): which for partition in partitions}

    def request() -> dict[int, int]:
        answers = admin.list_offsets(asked, isolation_level=IsolationLevel.READ_UNCOMMITTED, request_timeout=SECONDS)
        return {place.partition: answer.result(SECONDS).offset for place, answer in answers.items()}

    return retried(request, SECONDS)


def _read(
    reader: Consumer, topic: str, starts: Mapping[int, int], ends: Mapping[int, int]
) -> Iterator[tuple[int, list[Message]]]:
    """The messages of partitions from ``starts`` on, up to ``ends``, in batches."""
    open_ends = dict.fromkeys(starts)
    if not starts:
        return
    reader.assign([TopicPartition(topic, partition, start) for partition, start in starts.items()])
    deadline = time.monotonic() + SECONDS
    while open_ends:
        batches: dict[int, list[Message]] = {}
        messages: list[Any] = reader.consume(BATCH, 0.2)
        for message in messages:
            partition, error, offset = message.partition(), message.error(), message.offset()
            if error is not None and error.code() != ClientError._PARTITION_EOF:
                if not transient(error):
                    raise KafkaException(error)
                continue
            if error is None and offset < ends[partition]:
                batches.setdefault(partition, []).append(message)
                offset += 1
            if offset >= ends[partition]:
                open_ends.pop(partition, None)
        yield from batches.items()
        if batches:
            deadline = time.monotonic() + SECONDS
        elif time.monotonic() > deadline:
            raise KafkaError(
                f"nothing came of {topic!r} for {SECONDS:g} seconds, before its end: "
                "a transaction of another producer may be open"
            )
    reader.unassign()
