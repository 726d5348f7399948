"""What a worker writes: events, dead letters and the changelog, in transactions or without.

In:  the output of partitions.
Out: records on topics. ``write`` queues; ``drained`` says whether all of it has been taken by the brokers.
"""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from confluent_kafka import KafkaError as ClientError
from confluent_kafka import KafkaException, Producer, TopicPartition

from streamparse.adapters.kafka.errors import FencedError, KafkaError
from streamparse.adapters.kafka.output import EventRecord, values
from streamparse.adapters.kafka.parsed import Change, DeadLetter
from streamparse.adapters.kafka.settings import WorkerSettings

log = logging.getLogger("streamparse.kafka")

_SECONDS = 60.0
"""How long the broker may take to begin, commit or abort a transaction."""

FENCED = frozenset(
    {ClientError._FENCED, ClientError._FATAL, ClientError.INVALID_PRODUCER_EPOCH, ClientError.PRODUCER_FENCED}
)
"""What the client says once the broker has ended a producer's transactions for good."""


OUTSIDE = frozenset(
    {
        ClientError.ILLEGAL_GENERATION,
        ClientError.UNKNOWN_MEMBER_ID,
        ClientError.FENCED_INSTANCE_ID,
        ClientError.FENCED_MEMBER_EPOCH,
        ClientError.STALE_MEMBER_EPOCH,
        ClientError.REBALANCE_IN_PROGRESS,
    }
)
"""What the broker says to a worker that the group has gone on without."""


class AbortedError(KafkaError):
    """What was written since the last commit doesn't count; the partitions are to be taken up again.

    ``outside`` says that the group has gone on without this worker.
    """

    def __init__(self, reason: str, *, outside: bool = False) -> None:
        self.outside = outside
        super().__init__(reason)


class RecordSink:
    """Writes for one worker; ``partitions`` is how many the output has."""

    def __init__(self, settings: WorkerSettings, partitions: int) -> None:
        self._settings = settings
        self._partitions = partitions
        self._failure: ClientError | None = None
        self._open = False
        self._largest = settings.max_record
        self._producer = self._started(settings.producer())

    def write_events(self, partition: int, records: Iterable[EventRecord]) -> None:
        """Queue the events of a partition of the input."""
        place = partition % self._partitions
        for record in records:
            for value, headers in values(record, self._largest):
                self._produce(self._settings.sink, value, record.generation, headers, place)

    def write_dead(self, partition: int, letters: Iterable[DeadLetter]) -> None:
        """Queue records that can't be used, as they were, with the reason and where they stand as headers."""
        for letter in letters:
            record = letter.record
            log.warning("%s/%d offset %d: %s", self._settings.source, partition, record.offset, letter.reason)
            headers = [
                *record.headers,
                ("dead-letter-reason", letter.reason.encode()[:1000]),
                ("dead-letter-topic", self._settings.source.encode()),
                ("dead-letter-partition", str(partition).encode()),
                ("dead-letter-offset", str(record.offset).encode()),
            ]
            value = record.value
            if value is not None and len(value) > self._largest:
                value, headers = value[: self._largest], [*headers, ("dead-letter-cut", str(len(value)).encode())]
            self._produce(self._settings.dead_letters, value, record.key, headers, 0)

    def write_changes(self, partition: int, changes: Iterable[Change]) -> None:
        """Queue records of the changelog."""
        for key, value in changes:
            self._produce(self._settings.changelog, value, key, (), partition)

    def drained(self, seconds: float) -> bool:
        """Wait for so long, and tell whether nothing is queued; raises AbortedError if something can't be written."""
        try:
            left = self._producer.flush(seconds)
        except KafkaException as error:  # one that ends the producer
            raise _raised("write", error) from error
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise AbortedError(f"the output can't be written: {failure.str()}")
        return not left

    def commit(self, offsets: Sequence[TopicPartition], member: Any) -> None:
        """Commit the transaction, with the offsets of the input; ``member`` is the consumer's place in its group.

        Raises AbortedError, after which the transaction has been aborted, and FencedError.
        """
        self._begin()
        self._transaction(
            "send offsets", lambda: self._producer.send_offsets_to_transaction(list(offsets), member, _SECONDS)
        )
        self._transaction("commit", lambda: self._producer.commit_transaction(_SECONDS))
        self._open = False

    def abort(self) -> None:
        """Abort the transaction, if there is one; what is queued without transactions is dropped as well."""
        self._failure = None
        if self._open:
            self._open = False
            try:
                self._producer.abort_transaction(_SECONDS)
            except KafkaException as error:
                if self._settings.instance is not None:
                    raise _fatal("abort", error) from error
                self._renew()
        elif not self._settings.exactly_once:
            self._producer.purge()
            with contextlib.suppress(KafkaException):
                self._producer.flush(1.0)
        self._failure = None

    def close(self) -> None:
        """Let go of the producer; what is queued in a transaction is aborted."""
        try:
            self.abort()
        except KafkaError:
            log.debug("a transaction was left to the broker", exc_info=True)

    def _renew(self) -> None:
        """Go on with another producer, as the broker has ended this one's transactions."""
        configuration = self._settings.producer()
        configuration["transactional.id"] += f"-{uuid.uuid4().hex[:8]}"
        self._producer = self._started(configuration)

    def _started(self, configuration: dict[str, Any]) -> Producer:
        producer = Producer({**configuration, "on_delivery": self._delivered})
        if self._settings.exactly_once:
            self._transaction("begin transactions", producer.init_transactions)
        return producer

    def _begin(self) -> None:
        if self._settings.exactly_once and not self._open:
            self._open = True  # also where it fails: then the producer can't be used any more
            self._transaction("begin", self._producer.begin_transaction)

    def _produce(self, topic: str, value: Any, key: Any, headers: Any, partition: int) -> None:
        self._begin()
        while True:
            try:
                self._producer.produce(topic, value, key, partition, headers=list(headers) or None)
                return
            except BufferError:  # the client's queue is full
                self.drained(0.1)
            except KafkaException as error:
                raise _raised(f"write to {topic!r}", error) from error

    def _transaction(self, what: str, step: Callable[[], Any]) -> None:
        """Do a step of a transaction, several times where the broker can't at the moment."""
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                step()
                return
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise _raised(what, error) from error
                time.sleep(0.05)

    def _delivered(self, error: ClientError | None, _message: Any) -> None:
        if error is not None and error.code() not in (ClientError._PURGE_QUEUE, ClientError._PURGE_INFLIGHT):
            self._failure = self._failure or error


def _raised(what: str, error: KafkaException) -> KafkaError:
    """The error that a worker goes on from, or the one that it ends with."""
    cause = error.args[0]
    if cause.fatal() or cause.code() in FENCED:
        return _fatal(what, error)
    return AbortedError(f"can't {what}: {cause.str()}", outside=cause.code() in OUTSIDE)


def _fatal(what: str, error: KafkaException) -> KafkaError:
    cause = error.args[0]
    if cause.code() in FENCED or "fence" in cause.str().lower():
        return FencedError(
            "fenced: another worker of this instance name has started, or a transaction took too long; "
            f"this worker stops (can't {what}: {cause.str()})"
        )
    return KafkaError(f"can't {what}: {cause.str()}")
