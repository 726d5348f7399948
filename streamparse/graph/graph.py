"""A graph: a source, a declared list of stages, and a sink that iterates over what comes out.

In:  a source (``source.py``) and stages (``stage.py``).
Out: the items that come out of the last stage, by asynchronous iteration; statistics.

Where all stages are synchronous they are one chain, and to iterate is to pull the source and run the chain, with no
task and no channel. Otherwise each segment is a task, with channels between them; a chain at the end runs in the
task that iterates:

    source ▸ [machine + machine] ▸ channel ▸ [stage that awaits] ▸ channel ▸ machine + machine ▸ sink

With ``chaining=False`` each machine is a task too. What comes out is the same in the same order, and so is the error
if there is one; it is raised after what came before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import anyio

from streamparse.errors import StreamparseError, events_before
from streamparse.graph.chain import Chain, StageStatistics, stage_error
from streamparse.graph.channel import CAPACITY, ChannelStatistics, checked_capacity
from streamparse.graph.cleanup import closer_for_later
from streamparse.graph.fast_path import UNTIL_REST, FastPath
from streamparse.graph.loop import Loop, is_begun_by_async_for
from streamparse.graph.shield import Shield
from streamparse.graph.source import End, Source, SourceReader, raised_by_source, source_error
from streamparse.graph.stage import Segment, segments_of
from streamparse.graph.workers import Workers

Out = TypeVar("Out")
"""What comes out of a graph."""


@dataclass(frozen=True)
class GraphStatistics:
    """What a graph has seen so far."""

    pieces: int
    """Pieces that the source gave; large ones count once."""
    amount: int
    """Characters, bytes or token ids in them."""
    items: int
    """Items that came out."""
    stages: tuple[StageStatistics, ...]
    """The synchronous stages, in order."""
    channels: tuple[ChannelStatistics, ...]
    """The channels, in order; none if everything is one chain."""
    first_item_seconds: float | None
    """Time from the beginning of the iteration to the first item that came of the source, once there has been one."""


class Graph(Generic[Out]):
    """Runs a source through stages; an asynchronous iterator of what comes out, and an asynchronous context manager.

    ``chaining=False`` makes each stage a task; ``read_ahead`` puts a channel before the sink even where none is needed,
    so that a slow sink does not slow the source before the channel is full; ``capacity`` is the weight that a channel
    holds.

    Where tasks are needed, ``async with`` is too; iterating without it raises StreamparseError.
    """

    # With thousands of streams that take turns, time goes by the places in memory that a piece visits.
    __slots__ = (
        "__weakref__",
        "_began",
        "_begun",
        "_chain",
        "_close_later",
        "_closed",
        "_ended",
        "_failure",
        "_fast",
        "_fast_now",
        "_first_item_seconds",
        "_items",
        "_pull",
        "_reader",
        "_reading",
        "_ready",
        "_shield",
        "_stages",
        "_workers",
    )

    def __init__(
        self,
        source: Source | SourceReader,
        stages: Iterable[Any] = (),
        *,
        chaining: bool = True,
        read_ahead: bool = False,
        capacity: int = CAPACITY,
    ) -> None:
        self._close_later: Callable[[object], None] | None = None
        self._closed = False
        checked_capacity(capacity)
        self._reader = source if isinstance(source, SourceReader) else SourceReader(source)
        self._workers: Workers | None = None
        segments = segments_of(stages, chaining=chaining)
        self._stages = tuple(link.seen for segment in segments for link in segment.machines)
        at_the_sink = chaining and not read_ahead
        self._chain = Chain(segments.pop().machines if at_the_sink and segments and segments[-1].machines else ())
        if segments or not at_the_sink:
            if not (chaining and segments and (segments[0].machines or segments[0].pulls)):
                segments.insert(0, Segment("source", Chain(())))
            self._workers = Workers(self._reader, segments, capacity)
        self._ready: deque[Any] = deque()
        self._pull = self._reader.pull if self._workers is None else self._workers.pull
        self._shield: Shield | None = None  # outlasts a reader that is cancelled; made by anext()
        self._fast = None if self._workers is not None else self._chain.fast_path(self._pull)
        self._fast_now: FastPath | None = None  # the fast path while nothing else is due
        self._items = 0
        self._began = 0.0
        self._first_item_seconds: float | None = None
        self._reading = False
        self._begun = False
        self._failure: Exception | None = None
        self._ended = False

    def __repr__(self) -> str:
        """The stages, the state and the counts of the graph."""
        return f"<Graph {' + '.join(seen.name for seen in self._stages)}, {self._told()}>"

    def _told(self) -> str:
        """The state and the counts of the graph, in words."""
        state = "ended" if self._closed else "running" if self._begun else "not begun"
        seen = self.statistics()
        return f"{state}, {seen.pieces} pieces in, {seen.items} items out"

    def __aiter__(self) -> AsyncIterator[Out]:
        return Loop(self) if is_begun_by_async_for() else self

    async def __anext__(self) -> Out:
        """Return the next item. A call that is cancelled while it waits loses nothing: the next one returns it."""
        if self._shield is None:
            self._shield = Shield(self._reader.aclose)
        item: Out = await self._next(may_come_back=True)
        return item

    @property
    def _is_read(self) -> bool:
        """Whether a task waits for an item."""
        return self._reading or (self._fast is not None and self._fast.taken is not None)

    async def _next(self, *, may_come_back: bool = False) -> Any:
        """Give the next item; what is ready is given without a visit to the event loop.

        ``may_come_back`` is whether a reader that is cancelled is to leave everything as it is.
        """
        if not self._ready:
            if self._is_read:
                raise StreamparseError("another task is reading this stream; an event goes to one reader")
            self._reading = True
            self._fast_now = None
            try:
                await self._make_ready()
            except BaseException as error:
                if may_come_back and isinstance(error, anyio.get_cancelled_exc_class()) and not raised_by_source(error):
                    raise
                await self._fail(error)
            finally:
                self._reading = False
        return self._first_ready()

    async def _make_ready(self) -> None:
        """See to it that there is an item, or that everything has ended."""
        if not self._begun:
            self._begin()
        shield = self._shield
        try:
            while shield is not None and shield.busy and not self._ready:
                self._feed(await shield.outcome())
            while not self._ready and not self._ended:
                self._feed(await self._next_batch())
        except StopAsyncIteration:
            self._ended = True
        if self._ended and not self._closed:
            await self._outlasting(self._finish)

    async def _fail(self, error: BaseException, feeding: str = "") -> None:
        """Close because of an error of a stage or the source, which is raised after the items that are ready.

        What is no error of the stream's own, such as cancellation, is raised at once.
        """
        if isinstance(error, GeneratorExit):  # the reader is being thrown away and must not await
            raise error
        if isinstance(error, Exception) or raised_by_source(error):
            if feeding:
                self._ready.extend(events_before(error))
            self._failure = stage_error(feeding, error) if feeding else source_error(error)
            await self._close_quietly()
            return
        self._ready.clear()
        if not self._closed and isinstance(error, anyio.get_cancelled_exc_class()):
            self._failure = StreamparseError(
                "this stream was closed because an `async for` over it was cancelled, maybe by a deadline; to wait "
                "with a deadline and go on afterwards, await anext(stream) with it"
            )
        await self._close_quietly()
        raise error

    async def __aenter__(self) -> Self:
        if self._workers is not None:
            await self._workers.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await self.aclose()
        except Exception:
            if error is None:
                raise
        finally:
            if self._workers is not None:
                await self._workers.join()

    async def aclose(self) -> None:
        """Stop everything and close the source, and return when that is done; what was ready is dropped.

        Raises SourceError if the source can't be closed, and StreamparseError if another task is just pulling it: only
        cancelling that task can stop it then.
        """
        if self._is_read and self._workers is None:
            raise StreamparseError("another task is reading this stream; cancel that task to stop it")
        self._ready.clear()
        self._failure = None
        await self._close()

    def statistics(self) -> GraphStatistics:
        """Give what the graph has seen so far."""
        fast = self._fast
        pieces, amount, alone = (fast.pieces, fast.amount, fast.pieces - fast.not_one) if fast else (0, 0, 0)
        stages = [replace(seen) for seen in self._stages]
        if pieces:
            stages[0].items_in += pieces
            stages[0].items_out += alone
        return GraphStatistics(
            pieces=self._reader.pieces + pieces,
            amount=self._reader.amount + amount,
            items=self._items + alone,
            stages=tuple(stages),
            channels=tuple(channel.statistics() for channel in self._workers.channels) if self._workers else (),
            first_item_seconds=self._first_item_seconds,
        )

    async def _next_batch(self) -> list[Any]:
        """Give what comes next of the source, or of the tasks before the sink."""
        if self._workers is not None:
            batch: list[Any] = await self._pull()
            return batch
        if self._reader.pending:
            return await self._reader.take_pending()
        return await (self._reader.ask() if self._reader.cancel_safe else self._outlasting(self._reader.ask))

    async def _outlasting(self, step: Callable[[], Awaitable[Any]]) -> Any:
        """Take a step, in a task that outlasts this one where the reader may come back."""
        return await (step() if self._shield is None else self._shield.do(step))

    async def _finish(self) -> None:
        """Add the last items, and close."""
        last: list[Any] = []
        try:
            self._chain.finish(last)
            await self._close(in_shield=self._shield is not None)
        finally:
            self._ready.extend(last)

    def _feed(self, batch: list[Any] | None) -> None:
        """Make items of a batch, if it is one and not the outcome of another step."""
        if batch is not None:
            self._chain.feed(batch, self._ready)

    def _take(self, made: list[Any], fast: FastPath) -> None:
        """Take what a piece on the fast path made: no item or several, or one after which other tasks get a turn."""
        fast.not_one += 1
        self._stages[0].items_out += len(made)
        self._ready.extend(made)
        if not fast.passed & UNTIL_REST:
            self._reader.rest_next()

    def _first_ready(self) -> Any:
        """Give the first item that is ready, or raise what there is to raise instead."""
        if not self._ready:
            failure, self._failure = self._failure, None
            raise failure or StopAsyncIteration
        if self._first_item_seconds is None and self._reader.pieces:
            self._first_item_seconds = perf_counter() - self._began
        self._items += 1
        item = self._ready.popleft()
        nothing_due = not (self._ready or self._ended or self._reading or self._reader.pending)
        is_plain = self._first_item_seconds is not None and self._shield is None
        self._fast_now = self._fast if nothing_due and is_plain else None
        return item

    def _begin(self) -> None:
        """Do what comes before the first batch."""
        if self._closed:
            return
        if self._workers is None:
            self._close_later = closer_for_later()
            if self._fast is not None:
                self._make_interruptible(self._fast)
        elif not self._workers.started:
            raise StreamparseError(
                "this stream runs tasks (it has a stage that awaits, reads ahead, or is not chained), which must not "
                "outlive it: use `async with parse_stream(…) as stream:` and iterate inside"
            )
        self._begun = True
        self._began = perf_counter()
        self._chain.start(self._ready)

    def _end_source(self, end: End) -> None:
        """End the source here, whether anybody waits for it or not; does nothing after the end."""
        if not self._ended:
            self._fast_now = None
            self._reader.stop(end, None if self._fast is None else self._fast.taken)

    def _make_interruptible(self, fast: FastPath) -> None:
        """Let ``stop`` end a wait on the fast path."""
        interrupt = self._reader.interrupt
        fast.who = interrupt.who
        if self._reader.can_be_stepped:
            fast.go_on = interrupt.go_on
        elif interrupt.go_on is not None:
            fast.pull = partial(interrupt.wait, fast.pull)

    async def _close(self, *, in_shield: bool = False) -> None:
        """Stop what runs and close the source, once; ``in_shield`` is whether the shield's own task does it."""
        if self._closed:
            return
        self._closed = self._ended = True
        self._fast_now = None
        if self._shield is not None:
            if in_shield:
                self._shield.dismiss()
            else:
                await self._shield.aclose()
        await (self._workers.stop() if self._workers is not None else self._reader.aclose())

    async def _close_quietly(self) -> None:
        """Close because of an error; it is the one that is raised, whatever closing raises."""
        with suppress(Exception):
            await self._close()

    def __del__(self) -> None:
        close_later = getattr(self, "_close_later", None)  # not there if the arguments were refused
        if close_later is not None and not self._closed:
            for thing in self._reader.to_close if self._shield is None else (self._shield, *self._reader.to_close):
                close_later(thing)
