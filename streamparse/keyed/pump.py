"""A pump: one source that carries many generations, such as an engine's steps, a socket's frames or a poll's records.

In:  a source of batches ``[(key, chunk), …]``, pulled or pushed, and a keyed operator.
Out: batches ``[(key, events), …]``, by asynchronous iteration: each is what came of everything that was waiting.

There is one wake-up for a batch, and neither a task nor a queue for a generation.
"""

from __future__ import annotations

from streamparse.graph.graph import Graph
from streamparse.graph.source import Source, SourceReader
from streamparse.keyed.operator import Events, KeyedParser
from streamparse.keyed.stage import KeyedStage

KEYED_CAPACITY = 1_048_576
"""The weight that a thread reads ahead if nothing else is said."""


def pump(
    source: Source, keyed: KeyedParser, *, blocking: bool = False, capacity: int = KEYED_CAPACITY
) -> Graph[Events]:
    """Run a source of many generations through a keyed operator; iterate over the result for batches of events.

    ``source`` is an iterable or asynchronous iterable of lists of ``(key, chunk)``, pulled as the events are asked for;
    or a ``Channel`` of such pairs. An engine that steps in the event loop pushes: ``channel.offer(batch)`` tells
    whether there was room, ``await channel.send(batch)`` waits for it. An engine whose steps block is read in a thread
    with ``blocking``, ahead by the weight ``capacity``. Large batches are processed in slices, and other
    tasks get a turn between them.

    At the end of the source all keys that are open are ended. How the graph ends otherwise, and what it closes, is as
    of ``ParseStream``.

    >>> import asyncio
    >>> async def show() -> None:
    ...     steps = [[("a", "Hel"), ("b", "Good ")], [("a", "lo"), ("b", "day")]]
    ...     async with pump(steps, KeyedParser("qwen3", prefix="")) as batches:
    ...         async for batch in batches:
    ...             for key, events in batch:
    ...                 print(key, [event.get("text") or event["type"] for event in events])
    >>> asyncio.run(show())
    a ['region_open', 'Hel']
    b ['region_open', 'Good ']
    a ['lo']
    b ['day']
    a ['region_close', 'message']
    b ['region_close', 'message']
    """
    return Graph(SourceReader(source, blocking=blocking, capacity=capacity), [KeyedStage(keyed, _one)])


def _one(events: Events) -> list[Events]:
    return [events] if events else []
