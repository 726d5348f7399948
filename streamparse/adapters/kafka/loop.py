"""The loop of a worker, in one thread: poll, parse, write, commit. Rebalances happen inside of a poll.

In:  settings, and a flag that says when to stop.
Out: the worker's topics; statistics. Raises KafkaError where the worker can't go on.

When it commits, the events, the changelog and the offsets count from then on: in one transaction, or without
transactions one after the other, such that what is repeated after a crash is the same as before.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import OFFSET_INVALID, Consumer, KafkaException, TopicPartition
from confluent_kafka import KafkaError as ClientError

from streamparse.adapters.kafka.errors import FencedError, KafkaError
from streamparse.adapters.kafka.message import Message
from streamparse.adapters.kafka.parsed import Output
from streamparse.adapters.kafka.partition import PartitionParser
from streamparse.adapters.kafka.restoring import restore
from streamparse.adapters.kafka.retrying import checked, retried, transient
from streamparse.adapters.kafka.settings import WorkerSettings
from streamparse.adapters.kafka.sink import OUTSIDE, AbortedError, RecordSink
from streamparse.adapters.kafka.statistics import PartitionStatistics, WorkerCounts, WorkerStatistics
from streamparse.adapters.kafka.templates import Beginnings
from streamparse.adapters.kafka.topics import prepare

BATCH = 2_000
"""Records that are taken at a time, at most."""

POLL_SECONDS = 0.1
GATHER_SECONDS = 0.02
"""How long records are gathered while more of them wait: the larger a batch, the less each record costs."""
DRAIN_SECONDS = 0.05
EXPIRE_SECONDS = 1.0
OUTSIDE_SECONDS = 1.0
"""How long a worker that the group has gone on without waits to hear what has become of its partitions."""

_SECONDS = 60.0

log = logging.getLogger("streamparse.kafka")


class _Partition:
    """A partition that the worker has."""

    def __init__(self, parser: PartitionParser) -> None:
        self.parser = parser
        self.in_flight = 0
        self.paused = False
        self.at_end = False
        self.lag = 0
        self.committed = parser.position


class Loop:
    """Does the work of ``KafkaWorker``; all methods but ``statistics`` are called in one thread."""

    def __init__(self, settings: WorkerSettings, stop: threading.Event) -> None:
        self._settings = settings
        self._stop = stop
        self._beginnings = Beginnings(
            settings.template,
            prefix=settings.prefix,
            tokenizers=settings.tokenizers,
            limits=settings.limits,
            options=settings.options,
        )
        self._partitions: dict[int, _Partition] = {}
        self._stopped: set[int] = set()  # partitions to be taken up again, at some time
        self._take_up_at = 0.0
        self._counts = WorkerCounts()
        self._failure: Exception | None = None
        self._commit_at = self._expire_at = 0.0
        self._dirty = False
        self._consumer: Consumer
        self._sink: RecordSink

    def run(self) -> None:
        """Work until ``stop`` is set; ends cleanly, with everything committed."""
        _, partitions = prepare(self._settings)
        self._sink = RecordSink(self._settings, partitions)
        self._consumer = Consumer(self._settings.consumer())
        self._consumer.subscribe(
            [self._settings.source], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )
        try:
            while not self._stop.is_set():
                self._turn()
            self._guarded(lambda: self._commit(_SECONDS))
        finally:
            self._consumer.close()  # calls _revoked, where there is nothing to commit any more
            self._sink.close()
            for partition in self._partitions.values():
                self._counts.retire(partition.parser.tally)
            self._partitions.clear()
        self._raise()

    def statistics(self) -> WorkerStatistics:
        """What the worker has seen so far; may be called from any thread."""
        partitions = {}
        for number, partition in list(self._partitions.items()):
            parser = partition.parser
            partitions[number] = PartitionStatistics(
                position=parser.position or 0,
                lag=partition.lag,
                open=len(parser),
                in_flight=partition.in_flight,
                paused=partition.paused,
            )
        tallies = [partition.parser.tally for partition in list(self._partitions.values())]
        return self._counts.statistics(partitions, tallies)

    def _turn(self) -> None:
        """Take what there is, and commit if it is time."""
        self._take_up_stopped()  # before the poll, which then gives no record that was fetched before
        records = self._poll()
        self._raise()
        self._guarded(lambda: self._work(records))

    def _work(self, records: dict[int, list[Message]]) -> None:
        for number, batch in records.items():
            partition = self._partitions.get(number)
            if partition is not None:
                partition.at_end = False
                self._write(number, partition, partition.parser.take_messages(batch))
        now = time.monotonic()
        if now >= self._expire_at:
            self._expire_at = now + EXPIRE_SECONDS
            self._expire()
            self._look_ahead()
        if self._dirty and now >= self._commit_at:
            self._commit(DRAIN_SECONDS)

    def _poll(self) -> dict[int, list[Message]]:
        """The next records by partition; waits for a moment if there are none."""
        wait = min(POLL_SECONDS, max(0.0, self._commit_at - time.monotonic())) if self._dirty else POLL_SECONDS
        try:
            first: Any = self._consumer.poll(wait)
            if first is None:
                return {}
            owner = self._partitions.get(first.partition())
            behind = any(not partition.at_end for partition in self._partitions.values())
            messages: list[Any] = self._consumer.consume(BATCH - 1, GATHER_SECONDS if behind else 0)
            if self._partitions.get(first.partition()) is owner:  # or else the partition was taken up since
                messages.insert(0, first)
        except KafkaException as error:
            raise KafkaError(f"the input can't be read: {error.args[0].str()}") from error
        batches: dict[int, list[Message]] = {}
        for message in messages:
            if message.error() is None:
                batches.setdefault(message.partition(), []).append(message)
            else:
                self._heard(message.error(), message.partition())
        return batches

    def _heard(self, error: ClientError, number: int | None) -> None:
        """Take an error that came in place of a record."""
        if error.code() == ClientError._PARTITION_EOF:
            partition = self._partitions.get(-1 if number is None else number)
            if partition is not None:
                partition.at_end = True
        elif error.fatal() or error.code() in (ClientError._FATAL, ClientError.FENCED_INSTANCE_ID):
            self._failure = FencedError(f"another worker has taken this one's place in the group: {error.str()}")
        elif not transient(error):
            log.warning("the input: %s", error.str())

    def _write(self, number: int, partition: _Partition, output: Output) -> None:
        """Queue what came of records; a partition of which too much is in flight is paused."""
        self._dirty = True
        self._sink.write_events(number, output.events)
        self._sink.write_dead(number, output.dead)
        partition.in_flight += output.text
        if partition.in_flight > self._settings.max_in_flight and not partition.paused:
            partition.paused = True
            self._counts.pauses += 1
            self._consumer.pause([self._place(number)])
            self._commit_at = 0.0

    def _expire(self) -> None:
        """End generations that were abandoned; where records wait, time is that of the records."""
        for number, partition in self._partitions.items():
            parser = partition.parser
            output = parser.expire(time.time() if partition.at_end else parser.now)
            if output.events:
                self._write(number, partition, output)

    def _look_ahead(self) -> None:
        """Note how many records wait, by what the client knows of the partitions' ends."""
        for number, partition in self._partitions.items():
            end = self._consumer.get_watermark_offsets(self._place(number), cached=True)[1]
            partition.lag = max(0, end - (partition.parser.position or 0))

    def _commit(self, wait: float) -> None:
        """Commit what has been taken, if it is all written within ``wait`` seconds."""
        if not self._dirty:
            return
        exactly_once = self._settings.exactly_once
        for number, partition in self._partitions.items():
            self._sink.write_changes(number, partition.parser.opened())
            if exactly_once:
                self._sink.write_changes(number, partition.parser.kept())
        if not self._sink.drained(wait):
            return
        offsets = [
            self._place(number, partition.parser.position)
            for number, partition in self._partitions.items()
            if partition.parser.position != partition.committed
        ]
        if exactly_once:
            self._sink.commit(offsets, self._consumer.consumer_group_metadata())
        elif not self._commit_offsets(offsets):
            return
        self._counts.commits += 1
        self._dirty = False
        self._commit_at = time.monotonic() + self._settings.commit_seconds
        for number, partition in self._partitions.items():
            partition.committed = partition.parser.position
            partition.in_flight = 0
            if not exactly_once:
                self._sink.write_changes(number, partition.parser.kept())
            if partition.paused:
                partition.paused = False
                self._consumer.resume([self._place(number)])

    def _commit_offsets(self, offsets: list[TopicPartition]) -> bool:
        """Commit without a transaction; false where it has to be done again, as the group is being rebalanced.

        A worker that has lost its partitions to others hears of it in a moment; what it wrote is the same as theirs.
        """
        try:
            if offsets:
                self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            cause = error.args[0]
            if cause.code() not in OUTSIDE and not transient(cause):
                raise AbortedError(f"the offsets can't be committed: {cause.str()}") from error
            log.debug("the offsets are committed later: %s", cause.str())
            self._commit_at = time.monotonic() + self._settings.commit_seconds
            return False
        return True

    def _guarded(self, step: Callable[[], None]) -> None:
        """Do a step; where it comes to nothing, go back to what was committed."""
        try:
            step()
        except AbortedError as error:
            self._start_over(error)
        except FencedError as error:
            if self._settings.instance is not None:
                self._counts.fenced += 1
                raise
            self._start_over(error)

    def _start_over(self, error: KafkaError) -> None:
        """Drop what was not committed. The partitions are taken up again, unless the group gives them to others.

        Their records are dropped until then; a worker that has lost its place in the group hears of it in a moment.
        """
        numbers = sorted(self._partitions)
        outside = isinstance(error, FencedError) or (isinstance(error, AbortedError) and error.outside)
        if outside:
            self._counts.fenced += 1
            log.error("fenced: partitions %s are stopped: %s", numbers, error)
        else:
            log.warning("partitions %s are taken up again: %s", numbers, error)
        self._counts.aborts += 1
        self._sink.abort()
        self._dirty = False
        for number in numbers:
            self._counts.retire(self._partitions.pop(number).parser.tally)
        self._stopped.update(numbers)
        self._take_up_at = time.monotonic() + (OUTSIDE_SECONDS if outside else 0.0)

    def _take_up_stopped(self) -> None:
        """Take up the partitions again that were stopped, and which the group has not given to others."""
        if self._stopped and time.monotonic() >= self._take_up_at:
            places = [self._place(number) for number in self._stopped]
            self._stopped.clear()
            self._consumer.incremental_unassign(places)
            self._take_up(places)

    def _assigned(self, _consumer: Consumer, places: list[TopicPartition]) -> None:
        self._in_rebalance(lambda: self._take_up(places))

    def _revoked(self, _consumer: Consumer, places: list[TopicPartition]) -> None:
        def finish() -> None:
            self._guarded(lambda: self._commit(_SECONDS))
            self._give_up(places)

        self._in_rebalance(finish)

    def _lost(self, _consumer: Consumer, places: list[TopicPartition]) -> None:
        """Partitions have been given to others already: what was not committed is theirs to do."""

        def drop() -> None:
            numbers = [place.partition for place in places]
            if self._partitions:
                self._start_over(FencedError(f"the group has given partitions {numbers} to other workers"))
            else:
                log.error("fenced: the group has given partitions %s to other workers", numbers)
            self._give_up(places)

        self._in_rebalance(drop)

    def _in_rebalance(self, step: Callable[[], None]) -> None:
        """Do something in a callback of the client, through which errors don't pass as they should."""
        try:
            step()
        except Exception as error:
            self._failure = self._failure or error

    def _take_up(self, places: Iterable[TopicPartition]) -> None:
        """Restore partitions, and read on where the group has come to."""
        started = time.monotonic()
        try:
            offsets = retried(lambda: self._starts(list(places)), _SECONDS, stopped=self._stop.is_set)
        except KafkaException as error:
            raise KafkaError(f"the offsets of the group can't be read: {error.args[0].str()}") from error
        if not offsets:
            return
        parsers = restore(self._settings, offsets, self._fresh)
        self._counts.restored_seconds = time.monotonic() - started
        for number, parser in parsers.items():
            self._partitions[number] = partition = _Partition(parser)
            self._counts.restored += len(parser)
            lost = parser.restored()
            if lost.events:
                self._write(number, partition, lost)
        self._consumer.incremental_assign([self._place(number, offset) for number, offset in offsets.items()])
        log.info(
            "took up partitions %s: %d generations in %.1f s",
            sorted(offsets),
            sum(map(len, parsers.values())),
            self._counts.restored_seconds,
        )

    def _starts(self, places: list[TopicPartition]) -> dict[int, int]:
        """The offsets from which partitions are read on."""
        return {place.partition: self._start_of(place) for place in self._consumer.committed(places, timeout=_SECONDS)}

    def _start_of(self, place: TopicPartition) -> int:
        """The offset from which a partition is read on."""
        checked(place.error)
        if place.offset != OFFSET_INVALID and place.offset >= 0:
            return int(place.offset)
        bounds = self._consumer.get_watermark_offsets(place, timeout=_SECONDS)
        if bounds is None:
            raise KafkaException(ClientError(ClientError._TIMED_OUT))
        first, end = bounds
        return int(end if self._settings.client.get("auto.offset.reset") == "latest" else first)

    def _fresh(self, number: int) -> PartitionParser:
        settings = self._settings
        return PartitionParser(
            self._beginnings,
            f"{settings.source}/{number}",
            idle_seconds=settings.idle_seconds,
            max_open=settings.max_open,
            replay=settings.replay,
            largest=settings.max_record,
        )

    def _give_up(self, places: Iterable[TopicPartition]) -> None:
        for place in places:
            self._stopped.discard(place.partition)
            partition = self._partitions.pop(place.partition, None)
            if partition is not None:
                self._counts.retire(partition.parser.tally)
        self._consumer.incremental_unassign(list(places))

    def _place(self, number: int, offset: int | None = None) -> TopicPartition:
        return TopicPartition(self._settings.source, number, OFFSET_INVALID if offset is None else offset)

    def _raise(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
