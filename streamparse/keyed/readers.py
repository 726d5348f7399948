"""Reads many sources concurrently, up to a limit, each in a task that only moves pieces.

In:  ``(key, source)``, as there is room for more sources to run.
Out: ``(key, chunk)`` for the keyed operator: ``Open``, pieces, and the ``End`` or the error that the source came to.

All readers share one bounded channel, whose senders take turns, a slice at a time: a source that gives more than the
others waits more often than they do. By the time that its last chunk is sent, a source has been closed.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import AsyncIterator, Collection, Hashable
from typing import Any

import anyio

from streamparse.errors import StreamparseError
from streamparse.graph.channel import Channel
from streamparse.graph.cleanup import close
from streamparse.graph.source import End, SourceReader, raised_by_source, source_error
from streamparse.keyed.life_cycle import CANCELLED, Open


class Readers:
    """A stage that awaits; ``limit`` sources run at a time, and one more may have been taken and wait for its turn.

    ``expected`` are keys that are known to come, so that they can be cancelled before they do.

    A source that fails, or can't be one, ends its own generation. If what gives the sources fails, or gives a key whose
    generation still runs, those that run come to their end before the error is raised.
    """

    name = "read sources"
    pulls = True

    def __init__(self, limit: int, *, expected: Collection[Hashable] = (), blocking: bool = False) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        self._free = anyio.Semaphore(limit)
        self._blocking = blocking
        self._scopes: dict[Hashable, anyio.CancelScope] = {}
        self._ends: dict[Hashable, End] = {}  # of those that were stopped
        self._expected = set(expected)

    @property
    def running(self) -> int:
        """How many sources are being read."""
        return len(self._scopes)

    def stop(self, key: Hashable, end: End) -> bool:
        """Stop reading a source and close it, now or when it comes, under that end; tell whether there was one to stop.

        A source that was stopped counts as ended; stopping it again changes nothing.
        """
        if key in self._ends:
            return key in self._scopes
        if key in self._scopes:
            self._ends[key] = end
            self._scopes[key].cancel()
            return True
        if key in self._expected:
            self._expected.discard(key)
            self._ends[key] = end
            return True
        return False

    async def run(self, inbox: AsyncIterator[list[Any]], outbox: Channel[Any]) -> None:
        """Be a task between what gives the sources and the channel that the pieces go to."""
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            try:
                async for batch in inbox:
                    for item in batch:
                        key, source = _key_and_source(item)
                        await self._free.acquire()
                        if key in self._scopes:
                            await close(source)
                            raise StreamparseError(f"two sources have the key {key!r}, and the first still runs")
                        self._scopes[key] = scope = anyio.CancelScope()
                        self._expected.discard(key)
                        if key in self._ends:
                            scope.cancel()
                        tasks.start_soon(self._read, key, source, scope, outbox, name=f"streamparse source {key!r}")
            except Exception as error:
                failure = error
        if failure is not None:
            raise failure

    async def _read(self, key: Hashable, source: Any, scope: anyio.CancelScope, outbox: Channel[Any]) -> None:
        """Read one source to its end, close it, and tell how it ended."""
        last: End | StreamparseError | None = None
        try:
            with scope:
                last = await self._hand_on(key, source, outbox)
        except Exception as error:
            last = source_error(error)
        except CancelledError as error:
            if not raised_by_source(error):
                raise
            last = source_error(error)
        finally:
            del self._scopes[key]
            end = self._ends.pop(key, CANCELLED)
            self._free.release()
        if not outbox.closed:
            await outbox.send([(key, last or end)])

    async def _hand_on(self, key: Hashable, source: Any, outbox: Channel[Any]) -> End:
        """Hand on all pieces of a source, and give its end."""
        reader = SourceReader(source, blocking=self._blocking)
        try:
            await outbox.send([(key, Open())])
            while True:
                batch = await reader.take_pending() if reader.pending else reader.accept(await reader.pull())
                pairs = [(key, piece) for piece in batch]
                if not outbox.offer(pairs):
                    await outbox.send(pairs)
        except StopAsyncIteration:
            return reader.end or End()
        finally:
            await reader.aclose()


def _key_and_source(item: Any) -> tuple[Hashable, Any]:
    """Give the two parts of a pair; raises StreamparseError for anything else."""
    if not (isinstance(item, tuple) and len(item) == 2):
        raise StreamparseError(f"the sources come as pairs (key, source), or as a mapping, not {type(item).__name__}")
    return item
