"""What the changelog has of the generations of one partition, and what it has to get.

In:  generations that begin, that end, and whose state changes without a record that says so.
Out: records for the changelog. A generation is known by the offset at which it begins; it gets a snapshot once what
     would have to be read again on taking over the partition is too much.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.adapters.kafka.changelog import Saved
from streamparse.adapters.kafka.parsed import Change, Tally
from streamparse.adapters.kafka.wire import Headers
from streamparse.errors import StreamparseError
from streamparse.graph.keyed import KeyedParser

REPLAY = 20_000
"""Records that may have to be read again on taking over a partition, whatever is open."""

REPLAY_FOR_EACH = 100
"""Records that may have to be read again for each generation that is open."""


class Generation:
    """A generation that is open, or that has ended before its time, so that what still comes of it is dropped."""

    __slots__ = ("begin", "key", "known", "looked_at", "number", "over", "seed", "since", "timestamp", "trace")

    def __init__(self, key: str, begin: Mapping[str, Any] | None, seed: str, since: int, timestamp: float) -> None:
        self.key = key
        self.begin = begin
        self.seed = seed
        self.since = since  # the offset from which its records have to be read again
        self.looked_at = since  # that, or where its snapshot was last found to be too large
        self.timestamp = timestamp
        self.number = 0
        self.trace: Headers = ()
        self.over = False
        self.known = False  # whether the changelog has it


class KeptState:
    """Decides what of a partition is written to the changelog, and when.

    ``table`` has the open generations, and is its owner's. Once more than ``replay`` records, or ``REPLAY_FOR_EACH``
    for each open generation if that is more, would have to be read again, the generations furthest back get a snapshot.
    One of more than ``largest`` bytes is not written; its records are read again.
    """

    def __init__(
        self, keyed: KeyedParser, table: Mapping[str, Generation], *, replay: int = REPLAY, largest: int
    ) -> None:
        self._keyed = keyed
        self._table = table
        self._replay = replay
        self._largest = largest
        self._by_age: dict[str, None] = {}  # the keys in the table, the one whose snapshot is the oldest first
        self._opened: dict[str, None] = {}  # keys that the changelog has to get
        self._changed: dict[str, None] = {}  # keys that have gone, or whose end no record tells of
        self._ahead: set[str] = set()  # keys that the changelog has of a time that has not come yet

    def begun(self, entry: Generation, *, known: bool) -> None:
        """Note a generation that has just begun; ``known`` says that the changelog has its key already."""
        key = entry.key
        entry.known = known or key in self._changed or key in self._ahead
        self._by_age[key] = self._opened[key] = None
        self._changed.pop(key, None)

    def restored(self, entry: Generation) -> None:
        """Note a generation that was taken up from the changelog."""
        entry.known = True
        self._by_age[entry.key] = None

    def gone(self, entry: Generation) -> None:
        """Note that a generation is no longer in the table: the changelog has to forget it as well."""
        del self._by_age[entry.key]
        self._opened.pop(entry.key, None)
        if entry.known:
            self.changed(entry.key)

    def changed(self, key: str) -> None:
        """Note that what the changelog has of a key is no longer what the records alone lead to."""
        self._changed[key] = None

    def changes_of(self, key: str) -> bool:
        """Whether the changelog has to get something of a key that is not in the table."""
        return key in self._changed

    def known(self, key: str) -> None:
        """Note that the changelog has a key of a generation that begins after the offset that was committed."""
        self._ahead.add(key)

    def opened(self) -> list[Change]:
        """What has to be written before an offset is committed, or with it: where generations begin."""
        changes: list[Change] = []
        for key in self._opened:
            entry = self._table[key]
            entry.known = True
            changes.append((key, Saved(entry.since, timestamp=entry.timestamp).encode()))
        self._opened.clear()
        return changes

    def changes(self, position: int, tally: Tally) -> list[Change]:
        """What is to be written once the offset ``position`` is committed, or with it: ends, and snapshots."""
        changes: list[Change] = []
        for key in self._changed:
            entry = self._table.get(key)
            changes += [(key, None)] if entry is None else self._snapshot(entry, position, tally)
        self._changed.clear()
        oldest = position - max(self._replay, REPLAY_FOR_EACH * len(self._table))
        for key in list(self._by_age):
            entry = self._table[key]
            if entry.looked_at > oldest:
                break
            changes += self._snapshot(entry, position, tally)
        return changes

    def _snapshot(self, entry: Generation, position: int, tally: Tally) -> list[Change]:
        """The state of a generation at an offset; nothing if it is too large to be written."""
        key = entry.key
        self._by_age[key] = self._by_age.pop(key)
        entry.looked_at = position
        value = self._value(entry, position)
        if value is None:
            tally.too_large += 1
            return []
        tally.snapshots += 1
        entry.since, entry.known = position, True
        self._opened.pop(key, None)
        return [(key, value)]

    def _value(self, entry: Generation, position: int) -> bytes | None:
        try:
            snapshot = None if entry.over else self._keyed.snapshot(entry.key)
        except StreamparseError:  # larger than Limits.snapshot_size
            return None
        begin = dict(entry.begin or {})
        saved = Saved(position, entry.number, entry.timestamp, begin, entry.seed, entry.trace, entry.over, snapshot)
        value = saved.encode()
        return value if len(value) <= self._largest else None
