"""The keyed operator: many generations at once, one parser a key. Synchronous, without I/O.

In:  batches of pairs ``(key, chunk)``.
Out: batches of pairs ``(key, events)``; each generation's last event is ``message``, or ``error`` if it failed.

=========================  =====================================================================================
a chunk is                 what it does
=========================  =====================================================================================
text, bytes or token ids   is parsed; a key that is not open is opened first
``Open(…)``                opens the key with options of its own; one that is open is ended as cancelled before
``End(finish_reason)``     ends the generation, and then the key is as if it had never been
an exception               the generation's source has failed: ends it with an ``error`` event
=========================  =====================================================================================

A generation that fails ends with its ``error`` event and touches no other. What is left of it in the input, up to its
``End`` or the next ``Open``, is dropped and counted; so is what comes for a key that expired.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import Any

from streamparse.errors import LimitError, SnapshotError
from streamparse.events import Event, error_event
from streamparse.graph.source import End, source_error
from streamparse.keyed.expiry import IdleTimeout
from streamparse.keyed.life_cycle import (
    EXPIRED,
    FINISHED,
    Open,
    Outcome,
    ParserFactory,
    check_pairs,
    failed_events,
    is_end,
    last_events,
)
from streamparse.keyed.statistics import KeyedStatistics, Tally
from streamparse.keyed.tombstones import Tombstones
from streamparse.parser import ResponseParser
from streamparse.pipeline import Pipeline, feed_each
from streamparse.statistics import ParserStatistics
from streamparse.template import TemplateSource

Pair = tuple[Hashable, Any]
Events = list[tuple[Hashable, list[Event]]]


class KeyedParser:
    """Parses many generations, each under a key of its own; a key is anything that can be hashed.

    ``template``, ``prefix`` and ``defaults`` (the other arguments of ``ResponseParser``; ``errors`` is ``"report"`` if
    nothing else is said) are those of every generation. What ``options(key)`` returns, a mapping of the same names,
    goes before them, and what a key is opened with before both. A template that many share is best loaded once
    (``load_response_template``).

    A key for which nothing came for ``idle_seconds`` (and at most an eighth more) is ended, its ``finish_reason`` being
    ``"expired"``, by the next ``feed`` or ``expire``; ``clock`` gives the time in seconds. At most ``max_open`` keys
    are open; one more gives that key an ``error`` event.

    As a stage of a ``Graph`` it takes pairs and gives pairs. Raises TemplateError for a faulty ``template``; whatever
    goes wrong later is an event.

    >>> keyed = KeyedParser("qwen3", prefix="")
    >>> for key, events in keyed.feed([("a", "Hello"), ("b", "<think>Hm"), ("a", End("stop"))]):
    ...     print(key, [event["type"] for event in events])
    a ['region_open', 'region_chunk', 'region_close', 'message']
    b ['region_open', 'region_chunk']
    >>> keyed.end("b")[-1]["message"]
    {'role': 'assistant', 'reasoning_content': 'Hm'}
    """

    name = "parse by key"
    takes_batches = True

    def __init__(
        self,
        template: TemplateSource | None = None,
        *,
        prefix: Any = None,
        options: Callable[[Hashable], Mapping[str, Any]] | None = None,
        idle_seconds: float | None = None,
        max_open: int = 100_000,
        clock: Callable[[], float] = time.monotonic,
        **defaults: Any,
    ) -> None:
        if max_open < 1:
            raise ValueError(f"max_open must be at least 1, not {max_open}")
        if idle_seconds is not None and idle_seconds <= 0:
            raise ValueError(f"idle_seconds must be positive, or None to disable expiry, not {idle_seconds}")
        self._parsers = ParserFactory(template, prefix, options, defaults)
        self._idle_seconds = idle_seconds
        self._max_open = max_open
        self._clock = clock
        self._open: dict[Hashable, ResponseParser] = {}
        self._pipelines: dict[Hashable, Pipeline] = {}  # of those parsers
        self._idle = None if idle_seconds is None else IdleTimeout(idle_seconds, self._last_used)
        self._begun: dict[Hashable, float] = {}  # when those were opened that have had no events yet
        self._opened_now: dict[Hashable, int] = {}  # how many events of the prefix those have
        self._kept: Events = []  # what was made of a batch with a faulty item
        self._tombstones = Tombstones(max_open)
        self._tally = Tally()

    def __repr__(self) -> str:
        """How many keys are open, and how many generations there were."""
        seen = self._tally
        return f"<KeyedParser {len(self)} open, {seen.ended} ended, {seen.failed} failed>"

    def feed(self, batch: Collection[Pair]) -> Events:
        """The events that follow from a batch of ``(key, chunk)``: one pair for each key that has any.

        The events of a key are in the order of its chunks; the keys come in the order in which they first had events.
        Chunks of other types are documented with the module. Raises ArgumentError for an item that is no such pair, or
        whose key can't be hashed; the items before it have been processed then, and their events come with those of
        the next batch.
        """
        size = len(batch)
        now = self._clock()
        pairs = self._expire(now)
        earlier = sum([len(events) for _, events in pairs])
        try:
            count, repeated = feed_each(batch, self._pipelines.get, self._take, self._failed, now, pairs)
        except Exception:
            self._kept = pairs
            self._opened_now.clear()
            check_pairs(batch)
            raise
        self._tally.chunks += size
        return self._given(_joined(pairs) if earlier or repeated else pairs, earlier + count, now)

    def open(self, key: Hashable, **options: Any) -> list[Event]:
        """Open a key with options of its own: the events of the prefix, or an ``error`` event."""
        return self._events_of(key, Open(**options))

    def end(self, key: Hashable, finish_reason: str | None = None) -> list[Event]:
        """End a generation: its last events."""
        return self._events_of(key, End(finish_reason))

    def expire(self) -> Events:
        """The last events of the keys that have been idle for too long."""
        return self._counted(self._expire(self._clock()))

    def finish(self) -> Events:
        """The last events of all keys that are open; as a stage of a graph, when its source has ended."""
        now = self._clock()
        self._tombstones.clear()
        kept, self._kept = self._kept, []
        return self._counted([*kept, *[(key, self._take(key, FINISHED, now)) for key in list(self)]])

    def drop(self, key: Hashable) -> bool:
        """Forget a key without events, as after its snapshot was taken up elsewhere; tell whether it was open."""
        self._tombstones.pop(key, None)
        parser = self._open.get(key)
        if parser is not None:
            self._forget(key, parser.statistics())
        return parser is not None

    def is_spent(self, key: Hashable) -> bool:
        """Whether the key's generation failed or expired, and its own end has not come yet."""
        return key in self._tombstones

    def snapshot(self, key: Hashable, *, message: bool = True) -> bytes:
        """The state of one generation, as of ``ResponseParser.snapshot``; raises SnapshotError if it isn't open."""
        if key not in self._open:
            raise SnapshotError(f"there is nothing to save of {key!r}: no generation of that key is open")
        return self._open[key].snapshot(message=message)

    def restore(self, key: Hashable, data: bytes, **options: Any) -> None:
        """Go on with a generation where a snapshot was taken, here or in another operator.

        ``options`` as for ``open``; the template and the tools must be those of then. Raises what
        ``ResponseParser.restore`` raises, SnapshotError if the key is open, and LimitError at ``max_open``.
        """
        if key in self:
            raise SnapshotError(f"a generation of {key!r} is open; drop or end it before another takes its place")
        self._check_room()
        self._begin(key, self._parsers.restored(key, data, options), self._clock())

    def statistics(self) -> KeyedStatistics:
        """What the operator has seen so far; asks each open parser, so it takes a moment where many are open."""
        seen = (parser.statistics() for parser in self._open.values())
        return self._tally.statistics(seen, spent=len(self._tombstones))

    def __contains__(self, key: Hashable) -> bool:
        return key in self._open

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._open)

    def __len__(self) -> int:
        return len(self._open)

    def _events_of(self, key: Hashable, chunk: Any) -> list[Event]:
        """The events of one key that follow from one chunk."""
        events = self._take(key, chunk, self._clock())
        self._opened_now.clear()
        self._tally.events += len(events)
        return events

    def _counted(self, pairs: Events, now: float | None = None) -> Events:
        """The pairs that have events, counted; ``now`` is when the keys were used, if they were."""
        pairs = _joined([pair for pair in pairs if pair[1]])
        return self._given(pairs, sum([len(events) for _, events in pairs]), now)

    def _given(self, pairs: Events, count: int, now: float | None) -> Events:
        """The pairs, noted as given out, with so many events."""
        if self._begun and now is not None:
            made = dict(pairs)
            for key in self._begun.keys() & made.keys():
                if len(made[key]) > self._opened_now.get(key, 0):
                    self._tally.first_events += 1
                    self._tally.first_event_seconds += now - self._begun.pop(key)
        self._opened_now.clear()
        self._tally.events += count
        return pairs

    def _take(self, key: Hashable, chunk: Any, now: float) -> list[Event]:
        """Take any chunk of any key: what ``feed`` does not do by itself."""
        parser = self._open.get(key)
        if parser is not None:
            parser.pipeline.last_used = now
        events: list[Event] = []
        if chunk is EXPIRED or chunk is FINISHED:
            if chunk is FINISHED:
                self._tombstones.pop(key, None)
            return [] if parser is None else self._end(key, parser, chunk, now)
        if type(chunk) is Open:
            if parser is not None:
                events = self._end(key, parser, End("cancelled"), now)
            return events + self._begin_new(key, chunk.options, now)
        if parser is None and key not in self._tombstones:
            events = self._begin_new(key, {}, now)
            parser = self._open.get(key)
        elif parser is None:
            self._tally.dropped += 1
            self._tombstones.add(key, now)
        if parser is not None:
            events += self._feed(key, parser, chunk, now)
        if is_end(chunk):
            self._tombstones.pop(key, None)
        return events

    def _feed(self, key: Hashable, parser: ResponseParser, chunk: Any, now: float) -> list[Event]:
        """Take a chunk of a key that is open."""
        if type(chunk) is End:
            return self._end(key, parser, chunk, now)
        if isinstance(chunk, Exception):
            return self._fail(key, parser, source_error(chunk), now, own_end=True)
        try:
            return parser.feed(chunk)
        except Exception as error:
            return self._fail(key, parser, error, now)

    def _begin_new(self, key: Hashable, options: Mapping[str, Any], now: float) -> list[Event]:
        """Open a key: the events of the prefix, or the error that came of it."""
        self._tombstones.pop(key, None)
        try:
            self._check_room()
            parser = self._parsers.parser(key, options)
        except Exception as error:
            self._tally.failed += 1
            self._tombstones.add(key, now)
            return [error_event(error, {}, [])]
        self._begin(key, parser, now)
        events = parser.initial_events
        self._opened_now[key] = len(events)
        return events

    def _begin(self, key: Hashable, parser: ResponseParser, now: float) -> None:
        self._tombstones.pop(key, None)
        self._open[key] = parser
        self._pipelines[key] = parser.pipeline
        self._begun[key] = parser.pipeline.last_used = now
        if self._idle is not None:
            self._idle.begin(key, now)
        self._tally.opened += 1

    def _last_used(self, key: Hashable) -> float:
        """When a chunk of a key came last."""
        return self._pipelines[key].last_used

    def _forget(self, key: Hashable, seen: ParserStatistics) -> None:
        self._open.pop(key, None)
        self._pipelines.pop(key, None)
        self._begun.pop(key, None)
        if self._idle is not None:
            self._idle.end(key)
        self._tally.retire(seen)

    def _check_room(self) -> None:
        if len(self._open) >= self._max_open:
            raise LimitError(
                f"{self._max_open} keys are open already; end or expire some, or raise max_open if so many are meant",
                limit="max_open",
            )

    def _end(self, key: Hashable, parser: ResponseParser, end: End, now: float) -> list[Event]:
        """End a generation in the regular way: its last events, the message among them."""
        expired = end is EXPIRED
        self._tally.expired += expired
        return self._close(key, parser, last_events(parser, end), now, spent=expired)

    def _fail(
        self, key: Hashable, parser: ResponseParser, error: Exception, now: float, *, own_end: bool = False
    ) -> list[Event]:
        """End a generation that has failed; ``own_end`` says that nothing more will come of it."""
        return self._close(key, parser, failed_events(parser, error), now, spent=not own_end)

    def _failed(self, key: Hashable, error: Exception, now: float) -> list[Event]:
        """End a generation whose pipeline has raised an error."""
        return self._fail(key, self._open[key], error, now)

    def _close(
        self, key: Hashable, parser: ResponseParser, outcome: Outcome, now: float, *, spent: bool
    ) -> list[Event]:
        """Close a key whose generation has ended, and give its last events.

        ``spent`` says that what still comes for it, up to its own end, is to be dropped.
        """
        events, error = outcome
        self._forget(key, parser.statistics())
        if error is None:
            self._tally.ended += 1
        else:
            self._tally.failed += 1
        if spent:
            self._tombstones.add(key, now)
        return events

    def _expire(self, now: float) -> Events:
        """End the keys that have been idle for too long: their last events.

        Before them what was kept of a batch that could not be taken whole.
        """
        kept, self._kept = self._kept, []
        if self._idle is None or self._idle_seconds is None:
            return kept
        ended = [(key, self._take(key, EXPIRED, now)) for key in self._idle.expired(now)]
        self._tombstones.forget_before(now - self._idle_seconds)
        return [*kept, *[pair for pair in ended if pair[1]]]


def _joined(pairs: Events) -> Events:
    """One pair for each key, where it stood first, with the events of all its pairs; changes the lists of events."""
    made: dict[Hashable, list[Event]] = {}
    for key, events in pairs:
        earlier = made.setdefault(key, events)
        if earlier is not events:
            earlier += events
    return list(made.items())
