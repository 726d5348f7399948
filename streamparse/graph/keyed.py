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
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from typing import Any

from streamparse.errors import LimitError, SnapshotError
from streamparse.events import Event, error_event, message_event
from streamparse.graph.keyed_statistics import KeyedStatistics, Tally
from streamparse.graph.source import End, source_error
from streamparse.graph.use_order import UseOrder
from streamparse.parser import ResponseParser
from streamparse.template import ResponseTemplate, TemplateSource

Pair = tuple[Hashable, Any]
Events = list[tuple[Hashable, list[Event]]]

CUT_OFF = frozenset({"length", "cancelled", "expired"})
"""Finish reasons that say that the model had not come to its end, so what is open does not count as complete."""


class Open:
    """A chunk that opens its key: the generation's own options, those of ``ResponseParser``, over the operator's.

    >>> Open(template="gpt_oss", prefix="")
    Open(template='gpt_oss', prefix='')
    """

    __slots__ = ("options",)

    def __init__(self, **options: Any) -> None:
        self.options = options

    def __repr__(self) -> str:
        return f"Open({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"


class KeyedParser:
    """Parses many generations, each under a key of its own; a key is anything that can be hashed.

    ``template``, ``prefix`` and ``defaults`` (the other arguments of ``ResponseParser``; ``errors`` is ``"report"`` if
    nothing else is said) are those of every generation. What ``options(key)`` returns, a mapping of the same names,
    goes before them, and what a key is opened with before both. A template that many share is best loaded once
    (``load_response_template``).

    A key for which nothing came for ``idle_seconds`` (and at most an eighth more) is ended, its ``finish_reason`` being
    ``"expired"``, by the next ``feed`` or ``expire``; ``clock`` gives the time in seconds. At most ``max_open`` keys
    are open; one more gives that key an ``error`` event.

    As a stage of a ``Graph`` it takes pairs and gives pairs. Raises TemplateError for a faulty ``template``; all that
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
            raise ValueError(f"idle_seconds must be more than 0, or None for no end of patience, not {idle_seconds}")
        if template is not None or defaults.get("tokenizer") is not None:
            template = _resolved(template, defaults.get("tokenizer"))
        self._defaults = {"template": template, "prefix": prefix, "errors": "report", **defaults}
        self._options = options
        self._idle_seconds = idle_seconds
        self._max_open = max_open
        self._clock = clock
        self._open: dict[Hashable, ResponseParser] = {}
        self._order = None if idle_seconds is None else UseOrder(idle_seconds, clock())
        self._begun: dict[Hashable, float] = {}  # when those were opened that have had no events yet
        self._opened_now: set[Hashable] = set()  # whose events may be those of the prefix, for which nobody waited
        self._spent: OrderedDict[Hashable, float] = OrderedDict()  # ended before their time, and since when
        self._tally = Tally()

    def feed(self, batch: Collection[Pair]) -> Events:
        """The events that follow from a batch of ``(key, chunk)``: one pair for each key that has any.

        The events of a key are in the order of its chunks; the keys come in the order in which they first had events.
        Chunks of other types are documented with the module.
        """
        now = self._clock()
        made: dict[Hashable, list[Event]] = {}
        if self._order is not None:
            self._expire(now, made)
        get_parser = self._open.get
        for key, chunk in batch:
            parser = get_parser(key)
            if parser is not None and type(chunk) is str:
                try:
                    events = parser.feed(chunk)
                except Exception as error:
                    events = self._fail(key, parser, error, now)
            else:
                events = self._take(key, chunk, now)
            earlier = made.get(key)
            if earlier is None:
                made[key] = events
            else:
                earlier += events
        self._tally.chunks += len(batch)
        return self._given(made, now)

    def open(self, key: Hashable, **options: Any) -> list[Event]:
        """Open a key with options of its own: the events of the prefix, or an ``error`` event."""
        return self._events_of(key, Open(**options))

    def end(self, key: Hashable, finish_reason: str | None = None) -> list[Event]:
        """End a generation: its last events."""
        return self._events_of(key, End(finish_reason))

    def expire(self) -> Events:
        """The last events of the keys that have been idle for too long."""
        made: dict[Hashable, list[Event]] = {}
        self._expire(self._clock(), made)
        return self._given(made, None)

    def finish(self) -> Events:
        """The last events of all keys that are open; as a stage of a graph, when its source has ended."""
        self._spent.clear()
        return self._given({key: self._end(key, self._open[key], End()) for key in list(self._open)}, None)

    def drop(self, key: Hashable) -> bool:
        """Forget a key without events, as after its snapshot was taken up elsewhere; tell whether it was open."""
        self._spent.pop(key, None)
        parser = self._open.get(key)
        if parser is not None:
            self._forget(key, parser)
        return parser is not None

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
        if key in self._open:
            raise SnapshotError(f"a generation of {key!r} is open; drop or end it before another takes its place")
        self._check_room()
        chosen = self._options_of(key, options)
        kept = {name: chosen[name] for name in ("tools", "tokenizer", "limits") if name in chosen}
        parser = ResponseParser.restore(data, chosen["template"], **kept)
        self._begin(key, parser, self._clock())

    def statistics(self) -> KeyedStatistics:
        """What the operator has seen so far; asks each open parser, so it takes a moment where many are open."""
        return self._tally.statistics(self._open.values(), len(self._spent))

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

    def _given(self, made: dict[Hashable, list[Event]], now: float | None) -> Events:
        """What was made, as pairs, counted; ``now`` is when the keys were used, if they were."""
        if now is not None and self._order is not None:
            self._order.use(made)
        if self._begun and now is not None:
            for key in (self._begun.keys() & made.keys()) - self._opened_now:
                if made[key]:
                    self._tally.first_events += 1
                    self._tally.first_event_seconds += now - self._begun.pop(key)
            self._opened_now.clear()
        pairs = [pair for pair in made.items() if pair[1]]
        self._tally.events += sum([len(events) for _, events in pairs])
        return pairs

    def _take(self, key: Hashable, chunk: Any, now: float) -> list[Event]:
        """Take any chunk of any key: what ``feed`` does not do by itself."""
        parser = self._open.get(key)
        events: list[Event] = []
        if type(chunk) is Open:
            if parser is not None:
                events = self._end(key, parser, End("cancelled"))
            self._opened_now.add(key)
            return events + self._begin_new(key, chunk.options, now)
        if parser is None and key not in self._spent:
            events = self._begin_new(key, {}, now)
            parser = self._open.get(key)
        elif parser is None:
            self._tally.dropped += 1
            self._spend(key, now)
        if parser is not None:
            events += self._feed(key, parser, chunk, now)
        if type(chunk) is End or isinstance(chunk, Exception):
            self._spent.pop(key, None)
        return events

    def _feed(self, key: Hashable, parser: ResponseParser, chunk: Any, now: float) -> list[Event]:
        """Take a chunk of a key that is open."""
        if type(chunk) is End:
            return self._end(key, parser, chunk)
        if isinstance(chunk, Exception):
            return self._fail(key, parser, source_error(chunk), now)
        try:
            return parser.feed(chunk)
        except Exception as error:
            return self._fail(key, parser, error, now)

    def _begin_new(self, key: Hashable, options: Mapping[str, Any], now: float) -> list[Event]:
        """Open a key: the events of the prefix, or the error that came of it."""
        self._spent.pop(key, None)
        try:
            self._check_room()
            chosen = self._options_of(key, options)
            parser = ResponseParser(chosen.pop("template"), chosen.pop("prefix"), **chosen)
        except Exception as error:
            self._tally.failed += 1
            self._spend(key, now)
            return [error_event(error, {}, [])]
        self._begin(key, parser, now)
        return list(parser.initial_events)

    def _begin(self, key: Hashable, parser: ResponseParser, now: float) -> None:
        self._spent.pop(key, None)
        self._open[key] = parser
        self._begun[key] = now
        if self._order is not None:
            self._order.begin(key, now)
        self._tally.opened += 1

    def _forget(self, key: Hashable, parser: ResponseParser) -> None:
        del self._open[key]
        self._begun.pop(key, None)
        if self._order is not None:
            self._order.end(key)
        self._tally.retire(parser)

    def _options_of(self, key: Hashable, options: Mapping[str, Any]) -> dict[str, Any]:
        own = {} if self._options is None else self._options(key)
        return {**self._defaults, **own, **options}

    def _check_room(self) -> None:
        if len(self._open) >= self._max_open:
            raise LimitError(
                f"{self._max_open} keys are open already; end or expire some, or raise max_open if so many are meant",
                limit="max_open",
            )

    def _end(self, key: Hashable, parser: ResponseParser, end: End) -> list[Event]:
        """End a generation in the regular way: its last events, the message among them."""
        try:
            message, events = parser.finalize("length" if end.finish_reason in CUT_OFF else end.finish_reason)
        except Exception as error:
            self._tally.failed += 1
            events = [error_event(error, parser.message, parser.problems)]
        else:
            self._tally.ended += 1
            last = message_event(message, parser.problems, end.finish_reason)
            if end.usage is not None:
                last["usage"] = end.usage
            events.append(last)
        self._forget(key, parser)
        return events

    def _fail(self, key: Hashable, parser: ResponseParser, error: Exception, now: float) -> list[Event]:
        """End a generation that has failed; if its parser has not, the open region ends first."""
        events: list[Event] = []
        try:
            events += parser.finalize("length")[1]
        except Exception:  # the parser has stopped already, or stops at what the first error left undone
            events.clear()
        self._forget(key, parser)
        self._tally.failed += 1
        self._spend(key, now)
        return [*events, error_event(error, parser.message, parser.problems)]

    def _spend(self, key: Hashable, now: float) -> None:
        """Remember that what still comes for a key is the rest of a generation that has ended."""
        self._spent[key] = now
        self._spent.move_to_end(key)
        if len(self._spent) > self._max_open:
            self._spent.popitem(last=False)

    def _expire(self, now: float, made: dict[Hashable, list[Event]]) -> None:
        """End the keys that have been idle for too long."""
        if self._order is None or self._idle_seconds is None:
            return
        for key in self._order.expired(now):
            made[key] = self._end(key, self._open[key], End("expired"))
            self._tally.expired += 1
            self._spend(key, now)
        while self._spent and next(iter(self._spent.values())) < now - self._idle_seconds:
            self._spent.popitem(last=False)


def _resolved(template: TemplateSource | None, tokenizer: Any) -> ResponseTemplate:
    """The template, loaded: the one that was given, or the tokenizer's."""
    return ResponseParser(template, "", tokenizer=tokenizer).template
