"""One partition: many generations, from records to events, and from the changelog back. Synchronous, without I/O.

In:  the records of a partition, in order; the time, for generations that are abandoned; what the changelog has.
Out: records of events, dead letters, and what is to be written to the changelog.

The state at an offset is a function of the records before it. So the changelog need not have all of it at each commit:
it has, for each generation that is open, a snapshot at some earlier offset (or the offset at which it begins), and who
takes over the partition reads the records from there up to the committed offset once more, without giving events out.
How much that is, is bounded by ``replay``: a generation whose snapshot is further back gets a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from streamparse.adapters.kafka.changelog import Saved
from streamparse.adapters.kafka.errors import BadRecordError
from streamparse.adapters.kafka.kept_state import REPLAY, Generation, KeptState
from streamparse.adapters.kafka.message import TEXT, Message, record_of
from streamparse.adapters.kafka.output import LAST_EVENTS, EventRecord
from streamparse.adapters.kafka.parsed import Change, DeadLetter, Output, Tally
from streamparse.adapters.kafka.templates import Beginnings
from streamparse.adapters.kafka.wire import CANCELLED, Begin, Record, read_content, read_key, trace_of
from streamparse.errors import LimitError, SnapshotError
from streamparse.events import Event, error_event
from streamparse.graph.chunks import EXPIRED, Open
from streamparse.graph.keyed import KeyedParser
from streamparse.graph.source import End
from streamparse.graph.use_order import UseOrder

LOST = 1_000_000_000
"""How far the numbers of a generation's events jump where its state was lost: they have to go on from a higher one."""

_NOT_KEPT = (
    "the state of this generation is lost: the input is no longer kept from offset {} on; "
    "let the topic keep its records for longer than a generation takes"
)

_NOWHERE = 1 << 63


class PartitionParser:
    """Parses the generations of one partition.

    ``place`` names the partition, for the ids of calls. A generation for which nothing came for ``idle_seconds`` (and
    at most an eighth more), by the timestamps of records and the time that ``expire`` is called with, is ended, its
    ``finish_reason`` being ``"expired"``. At most ``max_open`` are open. Records of the changelog with more than
    ``largest`` bytes are not written; what they would have saved is read again.

    >>> partition = PartitionParser(Beginnings("qwen3", prefix=""), "in/0")
    >>> from streamparse.adapters.kafka.wire import begin_record, chunk_record
    >>> def record(offset, key, value, headers):
    ...     return Record(key.encode(), value, headers, offset)
    >>> output = partition.take([record(0, **begin_record("a")), record(1, **chunk_record("a", "Hello"))])
    >>> [(each.generation, each.first, [event["type"] for event in each.events]) for each in output.events]
    [('a', 1, ['region_open', 'region_chunk'])]
    """

    def __init__(
        self,
        beginnings: Beginnings,
        place: str,
        *,
        idle_seconds: float | None = 600.0,
        max_open: int = 100_000,
        replay: int = REPLAY,
        largest: int = 900_000,
    ) -> None:
        self._beginnings = beginnings
        self._place = place
        self._keyed = KeyedParser(max_open=max_open)
        self._max_open = max_open
        self._table: dict[str, Generation] = {}
        self._running: dict[bytes | None, Generation] = {}  # those that are not over, by the keys of records
        self._order = None if idle_seconds is None else UseOrder(idle_seconds, self._last_used)
        self._kept = KeptState(self._keyed, self._table, replay=replay, largest=largest)
        self._pairs: list[tuple[str, Any]] = []
        self._restoring: dict[str, Saved] = {}
        self._starts: dict[bytes | None, int] = {}  # from where on a generation's records are taken again
        self._lost = Output()
        self._committed: int | None = None
        self.position: int | None = None
        """The offset of the next record."""
        self.now = 0.0
        """The latest time that is known: the greatest timestamp, or what ``expire`` was called with."""
        self.tally = Tally()

    def __len__(self) -> int:
        """How many generations are open."""
        return len(self._keyed)

    def take(self, records: Iterable[Record]) -> Output:
        """Take the next records: the events that follow from them, and those that can't be used."""
        output = Output()
        for record in records:
            self._read(record, output)
        self.tally.characters += output.text
        self._feed(output)
        return output

    def take_messages(self, messages: Sequence[Message]) -> Output:
        """Take the next records as the client gives them: the same as ``take``, at less cost for each chunk of text.

        All of them count as of the time of the last one.
        """
        output = Output()
        running, pairs, plain = self._running, self._pairs, 0
        now = self.now = max(self.now, messages[-1].timestamp()[1] / 1000)
        for message in messages:
            entry = running.get(message.key())
            if entry is not None and message.headers() == TEXT:
                try:
                    text = str(message.value(), "utf-8")  # type: ignore[arg-type]
                except (UnicodeDecodeError, TypeError):
                    pass
                else:
                    entry.timestamp = now
                    pairs.append((entry.key, text))
                    output.text += len(text)
                    plain += 1
                    continue
            self._read(record_of(message), output)
            pairs = self._pairs  # it may have been parsed
        self.position = messages[-1].offset() + 1
        self.tally.records += plain
        self.tally.chunks += plain
        self.tally.characters += output.text
        self._feed(output)
        return output

    def expire(self, now: float) -> Output:
        """End the generations that nothing came for; to be called when there are no more records before ``now``."""
        self.now = max(self.now, now)
        output = Output()
        if self._order is None:
            return output
        for key in map(str, list(self._order.expired(self.now))):
            entry = self._table[key]
            if entry.over:
                self._forget(key, entry)
                continue
            self._pairs.append((key, EXPIRED))
            self.tally.expired += 1
            self._feed(output)
            self._end_early(entry)
            self._order.begin(key, self.now)
            entry.timestamp = self.now
            self._kept.changed(key)
        return output

    def opened(self) -> list[Change]:
        """What the changelog has to have before the offset of what was taken is committed, or with it."""
        return self._kept.opened()

    def kept(self) -> list[Change]:
        """What the changelog is to have once the offset of what was taken is committed, or with it."""
        return [] if self.position is None else self._kept.changes(self.position, self.tally)

    def restore(self, saved: Mapping[str, Saved], committed: int, first_kept: int) -> int:
        """Take up what the changelog has; gives the offset from which ``replay`` needs the records.

        ``committed`` is the offset that the partition is read on from, and ``first_kept`` that of the first record that
        it still has.
        """
        self.position = self._committed = start = committed
        for key, entry in sorted(saved.items(), key=lambda item: item[1].timestamp):
            if entry.offset > committed or (entry.offset == committed and entry.begin is None):
                self._kept.known(key)  # of a time after the committed offset: it comes once more
                continue
            if entry.offset < first_kept:
                self._lose(key, entry, _NOT_KEPT.format(entry.offset))
                continue
            try:
                if entry.begin is not None:
                    self._take_up(key, entry)
            except Exception as error:  # another template of the worker's own, for example
                self._lose(key, entry, f"the state of this generation can't be taken up: {error}")
                continue
            self._restoring[key] = entry
            self._starts[key.encode()] = entry.offset
            start = min(start, entry.offset)
        return start

    def replay(self, messages: Iterable[Message]) -> None:
        """Take the records before the committed offset again, without giving out their events."""
        starts = self._starts
        wanted = [message for message in messages if message.offset() >= starts.get(message.key(), _NOWHERE)]
        if wanted:
            self.tally.replayed += len(wanted)
            self.take_messages(wanted)

    def restored(self) -> Output:
        """End the restoring: the ``error`` events of generations whose records are gone."""
        self._kept.opened()  # the changelog has them
        for key, entry in self._restoring.items():
            if key not in self._table and not self._kept.changes_of(key):
                self._lose(key, entry, _NOT_KEPT.format(entry.offset))
        self._restoring.clear()
        self._starts.clear()
        self.position = self._committed
        self.tally = Tally(replayed=self.tally.replayed)
        lost, self._lost = self._lost, Output()
        return lost

    def _lose(self, key: str, saved: Saved, reason: str) -> None:
        """Note a generation whose state can't be made again, and its error."""
        events: list[Event] = [error_event(SnapshotError(reason), {}, [])]
        self._lost.events.append(EventRecord(key, saved.number + LOST, events, saved.trace))
        self._kept.changed(key)

    def _take_up(self, key: str, saved: Saved) -> None:
        entry = Generation(key, saved.begin, saved.seed, saved.offset, saved.timestamp)
        entry.number, entry.trace, entry.over = saved.number, saved.trace, saved.over
        if saved.snapshot is not None and not saved.over:
            self._keyed.restore(key, saved.snapshot, **self._beginnings.restored(saved.begin or {}))
        self._table[key] = entry
        self._kept.restored(entry)
        if not entry.over:
            self._running[key.encode()] = entry
        if self._order is not None:
            self._order.begin(key, saved.timestamp)

    def _last_used(self, key: Any) -> float:
        return self._table[key].timestamp

    def _read(self, record: Record, output: Output) -> None:
        """Take one record; what is to be parsed waits in ``_pairs``."""
        self.tally.records += 1
        self.position = record.offset + 1
        if record.timestamp > self.now:
            self.now = record.timestamp
        try:
            key = read_key(record.key)
        except BadRecordError as error:
            self._bury(record, str(error), output)
            return
        entry = self._table.get(key)
        try:
            content = read_content(record)
        except BadRecordError as error:
            self._bury(record, str(error), output)
            self._spoil(key, entry, record, error, output)
            return
        if entry is not None:
            entry.timestamp = record.timestamp or self.now
            trace = trace_of(record.headers)
            if trace:
                entry.trace = trace
        step: Step = _STEPS.get(type(content), PartitionParser._chunk)
        step(self, key, entry, content, record, output)

    def _chunk(self, key: str, entry: Generation | None, chunk: Any, record: Record, output: Output) -> None:
        if entry is None:
            self._bury(record, "no generation of this id is open: a begin record comes first", output)
        elif entry.over:
            self.tally.dropped += 1
        else:
            self.tally.chunks += 1
            output.text += len(chunk)
            self._pairs.append((key, chunk))

    def _end(self, key: str, entry: Generation | None, end: End, record: Record, output: Output) -> None:
        if entry is None:
            if end is CANCELLED:
                self.tally.dropped += 1  # whoever cancels can't know that the generation has just ended
            else:
                self._bury(record, "no generation of this id is open", output)
            return
        if not entry.over:
            self._pairs.append((key, end))
            self._feed(output)
        self._forget(key, entry)

    def _begin(self, key: str, entry: Generation | None, begin: Begin, record: Record, output: Output) -> None:
        if entry is not None:
            self._bury(record, "a generation of this id is open already; an id is that of one generation", output)
            return
        entry = self._open(key, begin.value, record)
        try:
            if len(self._keyed) >= self._max_open:
                raise LimitError(f"{self._max_open} generations are open in this partition", limit="max_open")
            options = self._beginnings.options(begin.value, seed=entry.seed)
        except Exception as error:
            self._fail(key, entry, error, output)
            return
        self._pairs.append((key, Open(**options)))

    def _open(self, key: str, begin: Mapping[str, Any] | None, record: Record) -> Generation:
        """Put a generation into the table."""
        entry = Generation(
            key, begin, f"{self._place}/{record.offset}/{key}", record.offset, record.timestamp or self.now
        )
        entry.trace = trace_of(record.headers)
        self.tally.begun += 1
        self._table[key] = entry
        self._running[key.encode()] = entry
        self._kept.begun(entry, known=key in self._restoring)
        if self._order is not None:
            self._order.begin(key, entry.timestamp)
        return entry

    def _spoil(self, key: str, entry: Generation | None, record: Record, error: BadRecordError, output: Output) -> None:
        """End the generation that a record which can't be read belongs to: without it, it would not be whole."""
        if entry is None and error.begins:
            self._fail(key, self._open(key, None, record), error, output)
        elif entry is not None and not entry.over:
            place = f"the record at offset {record.offset} can't be read: {error}"
            self._pairs.append((key, BadRecordError(place)))
            self._feed(output)

    def _fail(self, key: str, entry: Generation, error: Exception, output: Output) -> None:
        """End a generation that could not begin."""
        self._feed(output)
        self._give(key, entry, [error_event(error, {}, [])], output)

    def _bury(self, record: Record, reason: str, output: Output) -> None:
        self.tally.dead += 1
        output.dead.append(DeadLetter(record, reason))

    def _feed(self, output: Output) -> None:
        """Parse what waits."""
        if self._pairs:
            pairs, self._pairs = self._pairs, []
            for key, events in self._keyed.feed(pairs):
                if events:
                    self._give(key, self._table[key], events, output)  # type: ignore[index]

    def _give(self, key: Any, entry: Generation, events: list[Any], output: Output) -> None:
        """Number the events of a generation, and see whether it has failed."""
        output.events.append(EventRecord(key, entry.number + 1, events, entry.trace))
        entry.number += len(events)
        self.tally.events += len(events)
        if events[-1]["type"] in LAST_EVENTS:
            self._end_early(entry)
            if events[-1]["type"] == "error":
                self.tally.failed += 1
            else:
                self.tally.ended += 1

    def _end_early(self, entry: Generation) -> None:
        """Drop what still comes of a generation."""
        entry.over = True
        self._running.pop(entry.key.encode(), None)

    def _forget(self, key: str, entry: Generation) -> None:
        """Take a generation out of the table, and out of the changelog if it is there."""
        del self._table[key]
        self._kept.gone(entry)
        self._running.pop(key.encode(), None)
        if self._order is not None:
            self._order.end(key)


Step = Callable[[PartitionParser, str, Generation | None, Any, Record, Output], None]

_STEPS: dict[type, Step] = {
    Begin: PartitionParser._begin,
    End: PartitionParser._end,
}
