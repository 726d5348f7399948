"""Runs the segments of a graph as tasks with channels between them.

In:  the reader of a source, and segments (``stage.py``).
Out: the channel at the end, from which the graph's items are taken.

A segment that ends, fails or is cancelled closes its outbox (with the error, if there is one) and its inbox, so that
what is behind it gets all that came before, and what is ahead of it stops: as in a pipeline of a shell.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Sequence
from typing import Any

import anyio
from anyio.abc import TaskGroup

from streamparse.errors import ChannelClosedError, StreamparseError
from streamparse.graph.chain import stage_error
from streamparse.graph.channel import Channel
from streamparse.graph.cleanup import CLOSING_SECONDS
from streamparse.graph.source import SourceReader, raised_by_source
from streamparse.graph.stage import Segment


class Workers:
    """The tasks of one graph; ``start`` and ``join`` are called by the same task, and enclose all that happens between.

    The task group spans from ``start`` to ``join``, so the two belong into one ``async with`` of the user's.
    """

    def __init__(self, reader: SourceReader, segments: Sequence[Segment], capacity: int) -> None:
        self._reader = reader
        self._segments = segments
        self.channels = tuple(Channel[Any](f"after {segment.name}", capacity=capacity) for segment in segments)
        self.pull = self.channels[-1].__anext__
        """Gives the next batch that comes out at the end."""
        self._scopes: list[anyio.CancelScope] = []
        self._running = 0
        self._tasks: TaskGroup | None = None
        self._none_runs: anyio.Event | None = None

    @property
    def started(self) -> bool:
        """Whether the tasks were started."""
        return self._tasks is not None

    async def start(self) -> None:
        """Start a task for each segment."""
        if self._tasks is not None:
            raise StreamparseError("a stream that runs tasks can be entered with `async with` once only")
        self._tasks = await anyio.create_task_group().__aenter__()
        inboxes: tuple[SourceReader | Channel[Any], ...] = (self._reader, *self.channels)
        for segment, inbox, outbox in zip(self._segments, inboxes, self.channels, strict=False):
            scope = anyio.CancelScope()
            self._scopes.append(scope)
            self._tasks.start_soon(self._work, segment, inbox, outbox, scope, name=f"streamparse {segment.name}")

    async def stop(self) -> None:
        """Cancel all tasks, wait until those that have begun have ended, and see to it that the source is closed."""
        for scope in self._scopes:
            scope.cancel()
        if self._running:
            self._none_runs = anyio.Event()
            with anyio.move_on_after(2 * CLOSING_SECONDS, shield=True):
                await self._none_runs.wait()
        await self._reader.aclose()

    async def join(self) -> None:
        """Leave the task group, which the tasks have left before if they were stopped."""
        if self._tasks is not None:
            await self._tasks.__aexit__(None, None, None)

    async def _work(
        self, segment: Segment, inbox: SourceReader | Channel[Any], outbox: Channel[Any], scope: anyio.CancelScope
    ) -> None:
        """Run one segment, unless it was stopped before it began."""
        if scope.cancel_called:
            outbox.close()
            return
        failure: StreamparseError | None = None
        self._running += 1
        try:
            with scope:
                try:
                    await segment.stage.run(inbox, outbox)
                finally:
                    await inbox.aclose()
        except ChannelClosedError as error:
            failure = None if outbox.closed else error
        except Exception as error:
            failure = stage_error(segment.name, error)
        except CancelledError as error:
            if not raised_by_source(error):
                raise
            failure = stage_error(segment.name, error)
        except BaseExceptionGroup as group:
            # On trio a stage's own tasks may be cancelled and fail at once; then being cancelled is what counts.
            raise group.split(Exception)[1] or group from None
        finally:
            outbox.close(failure)
            self._running -= 1
            if not self._running and self._none_runs is not None:
                self._none_runs.set()
