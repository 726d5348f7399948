"""What one partition gives: events, dead letters, records for the changelog, and counts of all that it has seen."""

from __future__ import annotations

from dataclasses import dataclass, field

from streamparse.adapters.kafka.output import EventRecord
from streamparse.adapters.kafka.wire import Record

Change = tuple[str, bytes | None]
"""A record for the changelog: its key, and its value, or None to take the key out."""


@dataclass(slots=True)
class DeadLetter:
    """A record that can't be used, and why."""

    record: Record
    reason: str


@dataclass(slots=True)
class Output:
    """What came of some records; ``text`` is how much text was in them."""

    events: list[EventRecord] = field(default_factory=list)
    dead: list[DeadLetter] = field(default_factory=list)
    text: int = 0


@dataclass(slots=True)
class Tally:
    """What a partition has seen."""

    records: int = 0
    chunks: int = 0
    characters: int = 0
    events: int = 0
    begun: int = 0
    ended: int = 0
    failed: int = 0
    expired: int = 0
    dropped: int = 0
    dead: int = 0
    snapshots: int = 0
    too_large: int = 0
    replayed: int = 0
