"""The numbered events of one generation, kept for those who read them later.

In:  events, one after the other; they are numbered from 1.
Out: the events after a given number, neighbours joined (``joining``) or each as it came.

Neighbours that can be joined lie in one segment: their text, and where the text of each one ends. So an event costs
its characters and four bytes, a reader that is far behind gets few long chunks, and one that stopped at any number
gets exactly the rest.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from streamparse.events import RawEvent
from streamparse.graph.coalescing import ITEM_WEIGHT, joinable, weigh

Event = RawEvent

_SEGMENT_EVENTS = 1024
_SEGMENT_CHARACTERS = 16_384
_TEXT_KEYS = {"region_chunk": "text", "region_delta": "arguments"}


class Numbered(NamedTuple):
    """An event, and the numbers that it stands for: several where events were joined."""

    first: int
    last: int
    event: Event


class History:
    """Keeps events by number; their weight is that of ``coalescing.weigh``, after joining.

    When more than ``limit`` is kept, ``trim`` drops the oldest. Events are shared by all who read them, and not to be
    changed.

    >>> history = History(limit=1000)
    >>> for text in ("Hel", "lo", "!"):
    ...     history.append({"type": "region_chunk", "field": "content", "text": text, "dirty": False})
    >>> [(first, last, event["text"]) for first, last, event in history.read(after=1)]
    [(2, 3, 'lo!')]
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.last = 0
        """The number of the last event."""
        self.written = 0
        """The weight of all events so far, kept or not."""
        self._segments: list[_Segment] = []

    @property
    def first(self) -> int:
        """The number of the first event that is kept (of the next one, if there was none yet)."""
        return self._segments[0].first if self._segments else 1

    @property
    def weight(self) -> int:
        """The weight of what is kept."""
        return self.written - self._segments[0].before if self._segments else 0

    def append(self, event: Event) -> None:
        """Number an event and keep it."""
        self.last += 1
        if not self._segments or not self._segments[-1].take(event):
            self._segments.append(_Segment(event, self.last, self.written))
        self.written = self._segments[-1].written_by(self.last)

    def trim(self, keep: int) -> None:
        """If the limit is exceeded, drop the oldest events until a quarter of it is free; those from ``keep`` on stay.

        The newest stay too, however much they weigh.
        """
        if self.weight > self.limit:
            excess = bisect_left(self._segments, self.written - self.limit * 3 // 4, key=attrgetter("before"))
            del self._segments[: min(excess, self._position(keep), len(self._segments) - 1)]

    def written_by(self, number: int) -> int:
        """The weight of all events up to a number, which is not before those that are kept."""
        if number < self.first:
            return self._segments[0].before if self._segments else 0
        return self._segments[self._position(number)].written_by(number)

    def read(self, after: int, *, joined: bool = True, at_most: int | None = None) -> list[Numbered]:
        """The events after a number: as many as ``at_most`` weigh, but one at least if there is one."""
        if after + 1 == self.last:  # by far the most frequent case, and no different from the general one
            return [Numbered(self.last, self.last, self._segments[-1].latest)]
        numbered: list[Numbered] = []
        until = self.written if at_most is None else self.written_by(after) + at_most
        end = self.last if joined or at_most is None else after + max(at_most // ITEM_WEIGHT, 1)
        for position in range(self._position(after + 1), len(self._segments)):
            segment = self._segments[position]
            last = min(segment.last if self.written <= until else segment.last_within(until), end)
            if not numbered:
                last = max(last, min(after + 1, segment.last))
            if last <= after:
                break
            numbered += segment.read(after + 1, last, joined=joined)
            after = last
            if last < segment.last:
                break
        return numbered

    def _position(self, number: int) -> int:
        """Where the segment is that has an event of this number, or would have it."""
        return max(bisect_right(self._segments, number, key=attrgetter("first")) - 1, 0)


class _Segment:
    """Neighbours that one event can stand for, or one event: numbers ``first`` to ``last``."""

    __slots__ = ("_earliest", "_ends", "_pieces", "_span_ends", "_text_key", "before", "first", "latest")

    def __init__(self, event: Event, number: int, before: int) -> None:
        self.first = number
        self.before = before
        """The weight of all events before this segment."""
        self._text_key = _TEXT_KEYS.get(event.get("type", ""), "")
        text = event.get(self._text_key, "")
        self._earliest = event
        self.latest = event
        """The last event, as it came."""
        self._pieces: list[str] = [text]  # one text, once there are others behind it
        self._ends = array("I", [len(text) if self._text_key else weigh(event) - ITEM_WEIGHT])
        self._span_ends = array("Q", [event["end"]] if self._text_key == "text" and "end" in event else [])

    @property
    def last(self) -> int:
        return self.first + len(self._ends) - 1

    def take(self, event: Event) -> bool:
        """Take the next event in, if one event can stand for it too, and there is room; tell whether it was taken."""
        size = self._ends[-1]
        if size >= _SEGMENT_CHARACTERS or len(self._ends) >= _SEGMENT_EVENTS or not joinable(self.latest, event):
            self._pieces = ["".join(self._pieces)]
            return False
        self.latest = event
        self._pieces.append(event[self._text_key])
        self._ends.append(size + len(event[self._text_key]))
        if self._span_ends:
            self._span_ends.append(event["end"])
        return True

    def written_by(self, number: int) -> int:
        """The weight of all events up to a number."""
        return self.before + ITEM_WEIGHT + self._ends[number - self.first]

    def last_within(self, weight: int) -> int:
        """The last number up to which all events weigh no more than so much."""
        return self.first + bisect_right(self._ends, weight - self.before - ITEM_WEIGHT) - 1

    def read(self, first: int, last: int, *, joined: bool) -> Iterator[Numbered]:
        """The events from one number to another, as one or one by one."""
        if joined:
            yield Numbered(first, last, self._event(first, last))
        else:
            for number in range(first, last + 1):
                yield Numbered(number, number, self._event(number, number))

    def _event(self, first: int, last: int) -> Event:
        """An event that stands for those from one number to another."""
        if first == last == self.first:
            return self._earliest
        if first == last == self.last:
            return self.latest
        start, end = first - self.first, last - self.first + 1
        event = {**(self.latest if start else self._earliest), self._text_key: self._text(start, end)}
        if self._span_ends:
            event["end"] = self._span_ends[end - 1]
            event["start"] = self._span_ends[start - 1] if start else event["start"]
        return event

    def _text(self, start: int, end: int) -> str:
        """The text of some of the events, counted from the first one."""
        if len(self._pieces) == len(self._ends):
            return "".join(self._pieces[start:end])
        return self._pieces[0][self._ends[start - 1] if start else 0 : self._ends[end - 1]]
