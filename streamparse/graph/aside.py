"""Keys set aside: those whose parser has so much to do that a thread does it, while the others go on.

In:  works, each a step that may be taken in any thread; the chunks that come for their keys meanwhile.
Out: the works one after the other, and the chunks in their order when the work has been done.

Nothing but its step touches the parser of a key that is set aside. All else belongs to the thread that feeds the
operator, so there are no locks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

from streamparse.events import Event
from streamparse.graph.chunks import is_end
from streamparse.graph.endings import Outcome
from streamparse.graph.joining import weigh
from streamparse.graph.source import SLICE
from streamparse.parser import ResponseParser
from streamparse.statistics import ParserStatistics

Take = Callable[[Hashable, Any, float], list[Event]]
Fail = Callable[[Hashable, ResponseParser, Exception, float], list[Event]]

FULL_WEIGHT = 1_048_576
"""The weight of the chunks that may wait, beyond which nothing more is to be fed."""
FULL_KEYS = 16
"""How many generations may have ended and still wait for work on a large region; then nothing more is to be fed."""


class Work:
    """What is to be done for a key before anything else of it: ``do()``, in any thread, or where it is taken back.

    ``then(events, error, now)`` goes on with the outcome and gives the events to hand on. ``ends`` says that the
    generation is over with it. ``parser`` is None where only chunks wait. ``taken`` is whether somebody does it now;
    who gives it up unfinished sets it back.
    """

    __slots__ = (
        "_done",
        "_outcome",
        "_step",
        "chunks",
        "ends",
        "key",
        "parser",
        "seen",
        "taken",
        "then",
        "weight",
    )

    def __init__(
        self,
        key: Hashable,
        parser: ResponseParser | None,
        step: Callable[[], Outcome],
        then: Callable[[list[Event], Exception | None, float], list[Event]],
        *,
        ends: bool = False,
    ) -> None:
        self.key = key
        self.parser = parser
        self.then = then
        self.ends = ends
        self.taken = False
        self.seen: ParserStatistics | None = None
        self.chunks: deque[Any] = deque()
        self.weight = 0
        self._step = step
        self._outcome: Outcome | None = None
        self._done = False

    def do(self) -> None:
        """Do the work, once; raises nothing."""
        if not self._done:
            self._outcome = self._step()
            self._done = True

    def outcome(self) -> Outcome:
        """What came of the work, once; it is done now if it was not done before."""
        self.do()
        assert self._outcome is not None, "an outcome is taken once"
        try:
            return self._outcome
        finally:
            self._outcome = None  # an error's traceback has the frames in which the work was done, which have the work

    def queue(self, chunk: Any) -> None:
        """Keep a chunk that has to wait until the work has been done."""
        self.chunks.append(chunk)
        self.weight += weigh(chunk)

    def next_chunk(self) -> Any:
        """Take out the first chunk that waits."""
        chunk = self.chunks.popleft()
        self.weight -= weigh(chunk)
        return chunk

    def queue_rest_of(self, earlier: Work) -> None:
        """Take over the chunks that waited for an earlier work on the key, behind those that are here."""
        earlier.chunks.extendleft(reversed(self.chunks))
        self.chunks, earlier.chunks = earlier.chunks, deque()
        self.weight += earlier.weight

    def statistics(self) -> ParserStatistics | None:
        """What the parser has seen; where a thread may be at work on it, what it had seen before."""
        return self.seen if self.taken or self.parser is None else self.parser.statistics()

    @property
    def is_open(self) -> bool:
        """Whether the generation goes on when all that waits has been taken."""
        return not (is_end(self.chunks[-1]) if self.chunks else self.ends)


class Aside:
    """The work of each key that is set aside, in the order in which they come to it.

    ``parsers`` are those of the keys that are fed: a key is in there or here. ``take`` takes a chunk of a key that is
    not set aside, ``fail`` ends a generation with an error; both give events, and may set the key aside.
    """

    def __init__(self, parsers: dict[Hashable, ResponseParser], take: Take, fail: Fail) -> None:
        self.works: dict[Hashable, Work] = {}
        self._parsers = parsers
        self._take = take
        self._fail = fail

    def put_off(self, parser: ResponseParser, key: Hashable, size: int) -> None:
        """Have a parser put off large regions, and its key set aside when it does."""
        parser.put_off_large_regions(size, partial(self._set_aside, key))

    def do(self, work: Work, now: float) -> list[Event]:
        """Do the last work of a generation here and now, or set its key aside where that is much."""
        if work.parser is not None and work.parser.ends_large:
            self._parsers.pop(work.key, None)
            self.works[work.key] = work
            return []
        return work.then(*work.outcome(), now)

    def take_work(self) -> Work | None:
        """Give the first work that nobody has taken yet, None if there is none."""
        for work in self.works.values():
            if not work.taken:
                work.seen = work.statistics()
                work.taken = True
                return work
        return None

    def take_back(self, work: Work, now: float) -> list[Event]:
        """The events that came of a work, and of what waited behind it; none for a key that was dropped."""
        if self.works.get(work.key) is not work:
            return []
        del self.works[work.key]
        return work.then(*work.outcome(), now) + self._take_queued(work, now)

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing more is to be fed."""
        works = self.works.values()
        return len(works) - self.open >= FULL_KEYS or sum([work.weight for work in works]) > FULL_WEIGHT

    @property
    def open(self) -> int:
        """How many of the generations go on."""
        return sum([work.is_open for work in self.works.values()])

    def statistics(self) -> list[ParserStatistics]:
        """What the parsers have seen."""
        return [seen for work in self.works.values() if (seen := work.statistics()) is not None]

    def _set_aside(self, key: Hashable) -> None:
        """Take a key out of those that are fed, as its parser has put off work, or too many chunks wait for it."""
        parser = self._parsers.pop(key, None)
        self.works[key] = Work(key, parser, partial(put_off_events, parser), partial(self._go_on, key, parser))

    def _go_on(
        self, key: Hashable, parser: ResponseParser | None, events: list[Event], error: Exception | None, now: float
    ) -> list[Event]:
        """Feed a key as before, once the work that its parser had put off has been done."""
        if parser is not None:
            self._parsers[key] = parser
            parser.last_used = now
            if error is not None:
                events += self._fail(key, parser, error, now)
        return events

    def _take_queued(self, work: Work, now: float) -> list[Event]:
        """Take the chunks that waited behind a work, up to a slice, or to one that makes as much work again."""
        events: list[Event] = []
        key, least = work.key, work.weight - SLICE
        while work.chunks and key not in self.works:
            if work.weight < least:
                self._set_aside(key)
            else:
                events += self._take(key, work.next_chunk(), now)
        if work.chunks:
            self.works[key].queue_rest_of(work)
        return events


def put_off_events(parser: ResponseParser | None) -> Outcome:
    """A step: all that a parser has put off; nothing where there is no parser."""
    events: list[Event] = []
    try:
        while parser is not None and parser.waiting:
            events += parser.work_off()
    except Exception as error:
        return events, error
    return events, None
