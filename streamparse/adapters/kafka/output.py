"""The output records: the events of a generation, numbered from 1.

In:  the events of a generation that follow each other, and the number of the first.
Out: the values of records, and from these the events again, each once, however often a record comes.

A value is ``{"first": 3, "last": 4, "events": [...]}``. One that is too large for the topic is cut into several
records, which follow each other; a header ``part`` (``1/3/7-9``) says which one it is, of how many,
and the numbers of their events.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from streamparse.adapters.kafka.errors import BadRecordError
from streamparse.adapters.kafka.wire import Headers
from streamparse.adapters.store.history import NumberedEvent
from streamparse.encode import encode_event
from streamparse.events import Event

LAST_EVENTS = frozenset({"message", "error"})
"""The types of the last event of a generation."""


class EventRecord(NamedTuple):
    """Events of a generation that follow each other, as they came of a batch of its chunks."""

    generation: str
    first: int
    events: list[Event]
    trace: Headers


def values(record: EventRecord, largest: int) -> list[tuple[bytes, Headers]]:
    """The value and headers of each record that carries the events, none of more than ``largest`` bytes.

    >>> values(EventRecord("a", 3, [{"type": "region_open", "field": "content"}], ()), 1000)
    [(b'{"first":3,"last":3,"events":[{"type":"region_open","field":"content"}]}', ())]
    """
    last = record.first + len(record.events) - 1
    value = encode_event({"first": record.first, "last": last, "events": record.events}, standard=True)
    if len(value) <= largest:
        return [(value, record.trace)]
    parts = [value[start : start + largest] for start in range(0, len(value), largest)]
    place = f"{len(parts)}/{record.first}-{last}"
    return [(part, [*record.trace, ("part", f"{number}/{place}".encode())]) for number, part in enumerate(parts, 1)]


class EventReader:
    """Reads one generation's events from its records: each once and in order, from the one after number ``after`` on.

    >>> reader = EventReader(after=3)
    >>> value = b'{"first":3,"last":4,"events":[{"type":"region_open"},{"type":"region_chunk"}]}'
    >>> reader.read(value, ())
    [NumberedEvent(number=4, event={'type': 'region_chunk'})]
    >>> reader.read(value, ())
    []
    """

    def __init__(self, after: int = 0) -> None:
        self.last = after
        """The number of the last event that was read."""
        self.over = False
        """Whether the generation's last event has been read."""
        self._parts: dict[str, dict[int, bytes]] = {}  # by their span, as two workers may write the same for a moment

    def read(self, value: bytes, headers: Headers | None) -> list[NumberedEvent]:
        """The events of a record that have not been read yet; raises BadRecordError for what is no such record."""
        whole = self._whole(value, headers or ())
        if whole is None or self.over:
            return []
        try:
            said = json.loads(whole)
            numbered = [NumberedEvent(number, event) for number, event in enumerate(said["events"], said["first"])]
            new = [each for each in numbered if each.number > self.last]
            self.over = bool(new) and new[-1].event["type"] in LAST_EVENTS
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadRecordError(f"a record of events can't be read: {type(error).__name__}: {error}") from error
        if new:
            self.last = new[-1].number
        return new

    def _whole(self, value: bytes, headers: Headers) -> bytes | None:
        """The value that a record completes; None while parts are missing."""
        part = next((content for name, content in headers if name == "part"), None)
        if part is None:
            self._parts.clear()
            return value
        number, count, span = (part.decode() if isinstance(part, bytes) else str(part)).split("/")
        parts = self._parts.setdefault(span, {})
        parts[int(number)] = value
        if len(parts) < int(count):
            return None
        del self._parts[span]
        return b"".join(parts[number] for number in sorted(parts))
