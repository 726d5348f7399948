"""parse_many: events from many sources at once, tagged by generation.

In:  sources of text, bytes or token ids, each under a key, and a response template.
Out: ``(key, event)``, by asynchronous iteration.

A task for each source moves its pieces into one channel (``keyed/readers.py``). The task that iterates takes
everything that waits there at once and runs it through the keyed operator (``keyed/operator.py``).
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from streamparse.events import Event
from streamparse.graph import CAPACITY, End, Graph, GraphStatistics, Source
from streamparse.keyed.life_cycle import CANCELLED
from streamparse.keyed.operator import Events, KeyedParser
from streamparse.keyed.readers import Readers
from streamparse.keyed.stage import KeyedStage
from streamparse.keyed.statistics import KeyedStatistics
from streamparse.template import TemplateSource

Tagged = tuple[Hashable, Event]
Sources = Mapping[Any, Source] | Iterable[tuple[Any, Source]] | AsyncIterable[tuple[Any, Source]]

_ROOM_PER_SOURCE = 256


def parse_many(
    sources: Sources,
    template: TemplateSource | None = None,
    *,
    prefix: Any = None,
    options: Callable[[Any], Mapping[str, Any]] | None = None,
    limit: int = 100,
    blocking: bool = False,
    capacity: int | None = None,
    **defaults: Any,
) -> ManyStream:
    """Parse many sources while they are being written; iterate over the result, within ``async with``.

    ``sources`` is a mapping from keys to sources, or an iterable or asynchronous iterable of ``(key, source)``, which
    is asked for more as there is room, so that new ones can come while others run. A source is what ``parse_stream``
    takes. ``limit`` sources run at once.

    ``template``, ``prefix`` and ``defaults`` are those of every generation, and what ``options(key)`` returns is its
    own: the arguments of ``ResponseParser``, as for ``KeyedParser``. ``blocking`` reads each source in a thread.
    ``capacity`` is the weight of the pieces that wait to be parsed, all together; when it is reached, the sources are
    slowed, each in its turn.

    Raises TemplateError for a faulty ``template`` and ValueError for a ``limit`` under 1. What goes wrong with one
    generation is its ``error`` event.

    >>> import asyncio
    >>> async def show() -> None:
    ...     sources = {"a": ["Hel", "lo"], "b": ["Good ", "day", 1.5]}
    ...     async with parse_many(sources, "qwen3", prefix="") as stream:
    ...         async for key, event in stream:
    ...             if event["type"] in ("message", "error"):
    ...                 print(key, event["message"], event.get("error"))
    >>> asyncio.run(show())
    a {'role': 'assistant', 'content': 'Hello'} None
    b {'role': 'assistant', 'content': 'Good day'} a source gives text, UTF-8 bytes or token ids, not float
    """
    readers = Readers(limit, expected=sources if isinstance(sources, Mapping) else (), blocking=blocking)
    keyed = KeyedParser(template, prefix=prefix, options=options, max_open=2 * limit, **defaults)
    room = max(CAPACITY, limit * _ROOM_PER_SOURCE) if capacity is None else capacity
    pairs = sources.items() if isinstance(sources, Mapping) else sources
    return ManyStream(pairs, readers, keyed, capacity=room)


@dataclass(frozen=True)
class ManyStatistics(GraphStatistics):
    """What a ``ManyStream`` has seen so far; ``dataclasses.asdict`` makes a dict of it.

    Its channel is where pieces wait to be parsed; its pieces are the sources, and its items the events.
    """

    running: int
    """Sources that are being read."""
    generations: KeyedStatistics


class ManyStream(Graph[Tagged]):
    """The events of many generations, as ``(key, event)``: an asynchronous iterator and context manager.

    The events of each generation come in order, its last one being ``message``, or ``error`` if it failed; by then its
    source has been closed, or soon will be if the parser failed and not the source. ``parse_many`` makes it.

    It ends as ``ParseStream`` does: when ``async with`` is left or ``aclose()`` returns, when an ``async for`` is
    cancelled or raises, every source has been closed and every task has ended. ``anext`` may be waited for with a
    deadline, as there.
    """

    __slots__ = ("_keyed", "_readers")

    def __init__(self, sources: Any, readers: Readers, keyed: KeyedParser, *, capacity: int) -> None:
        super().__init__(sources, [readers, KeyedStage(keyed, _TaggedEvents(keyed, readers))], capacity=capacity)
        self._readers = readers
        self._keyed = keyed

    def __repr__(self) -> str:
        """The state of the stream, and counts."""
        return f"<ManyStream {self._told()}, {self._readers.running} sources running, {len(self._keyed)} keys open>"

    def cancel(self, key: Hashable) -> bool:
        """Stop one generation, and tell whether there was anything to stop.

        That may be a generation that runs, or one of a mapping that has not begun. Its source is closed; what had
        arrived is still parsed, and its last event is a ``message`` with what there was, whose ``finish_reason`` is
        ``"cancelled"``. To stop all of them, leave the ``async with``.
        """
        return self._readers.stop(key, CANCELLED)

    def stop(self, key: Hashable, finish_reason: str = "stop") -> bool:
        """End one generation as ``cancel`` does, under another ``finish_reason``; it counts as cut off all the same.

        Does nothing, and says so, for one that has ended.
        """
        return self._readers.stop(key, End(finish_reason, cut_off=True))

    def statistics(self) -> ManyStatistics:
        """What the stream has seen so far, of all generations together."""
        seen, keyed = super().statistics(), self._keyed.statistics()
        return ManyStatistics(**vars(seen), running=self._readers.running, generations=keyed)


class _TaggedEvents:
    """Makes single events of the keyed operator's, and stops the source of a generation that failed or expired."""

    def __init__(self, keyed: KeyedParser, readers: Readers) -> None:
        self._keyed = keyed
        self._readers = readers

    def __call__(self, pairs: Events) -> list[Tagged]:
        tagged = [(key, event) for key, events in pairs for event in events]
        for key in {
            key for key, event in tagged if event["type"] == "error" or event.get("finish_reason") == "expired"
        }:
            # a source that has come to its end by itself is gone, and its key may be that of the next one already
            if self._keyed.is_spent(key):
                self._readers.stop(key, CANCELLED)
        return tagged
