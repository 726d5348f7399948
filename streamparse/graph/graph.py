"""A graph: a source, a declared list of stages, and a sink that iterates over what comes out.

In:  a source (``source.py``) and stages (``stage.py``).
Out: the items that come out of the last stage, by asynchronous iteration; statistics.

Where all stages are synchronous they are one chain, and to iterate is to pull the source and run the chain, with no
task and no channel. Otherwise each segment is a task, with channels between them; a chain at the end is run by whoever
iterates:

    source ▸ [machine + machine] ▸ channel ▸ [stage that awaits] ▸ channel ▸ machine + machine ▸ sink

With ``chaining=False`` each machine is a task too. What comes out is the same in the same order, and so is the error
if there is one; it is raised after what came before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from streamparse.errors import StreamparseError
from streamparse.graph.alongside import Alongside
from streamparse.graph.chain import Chain, StageStatistics, stage_error
from streamparse.graph.channel import CAPACITY, ChannelStatistics, checked_capacity
from streamparse.graph.closing import closer_for_later
from streamparse.graph.direct import PIECE, SMALL, UNTIL_REST, Direct
from streamparse.graph.source import Source, SourceReader, source_error
from streamparse.graph.stage import Segment, segments_of
from streamparse.graph.workers import Workers


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


class Graph:
    """Runs a source through stages; an asynchronous iterator of what comes out, and an asynchronous context manager.

    ``chaining=False`` makes each stage a task; ``read_ahead`` puts a channel before the sink even where none is needed,
    so that a slow sink does not slow the source before the channel is full; ``capacity`` is the weight that a channel
    holds.

    Where tasks are needed, ``async with`` is too; iterating without it raises StreamparseError.
    """

    # With thousands of streams that take turns, time goes by the places in memory that a piece visits.
    __slots__ = (
        "__weakref__",
        "_alongside",
        "_began",
        "_begun",
        "_chain",
        "_close_later",
        "_closed",
        "_direct",
        "_direct_now",
        "_ended",
        "_failure",
        "_first_item_seconds",
        "_items",
        "_pull",
        "_reader",
        "_reading",
        "_ready",
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
        self._alongside: Alongside | None = None
        self._direct = None if self._workers is not None else self._chain.direct(self._pull)
        self._direct_now: Direct | None = None  # the direct way, where it can be taken without a look at anything else
        self._items = 0
        self._began = 0.0
        self._first_item_seconds: float | None = None
        self._reading = False
        self._begun = False
        self._failure: Exception | None = None
        self._ended = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        """Give the next item; most pieces of most generations take the direct way, in this one coroutine."""
        direct = self._direct_now
        if direct is None or direct.taken:
            return await self._next()
        direct.taken = True
        feeding = False
        try:
            piece = await direct.pull()
            if type(piece) is str and len(piece) < SMALL:
                direct.passed = passed = direct.passed + PIECE + len(piece)
                feeding = True
                made = direct.feed(piece)
                if type(made) is not list:  # a machine of the user's may give anything that can be iterated over
                    made = list(made)
                if len(made) == 1 and passed & UNTIL_REST and not direct.later.waiting:
                    return made[0]
                feeding = False
                await self._take(made, direct)
            else:
                await self._feed(self._reader.accept(piece))
        except BaseException as error:
            if feeding:
                direct.not_one += 1
                await self._stop(error, direct.name)
            elif isinstance(error, StopAsyncIteration):
                self._ended = True
            else:
                await self._stop(error)
        finally:
            direct.taken = False
        return await self._next()

    @property
    def _is_read(self) -> bool:
        """Whether a task waits for an item."""
        return self._reading or (self._direct is not None and self._direct.taken)

    async def _next(self) -> Any:
        """Give the next item; what is ready is given without a visit to the event loop."""
        if not self._ready:
            if self._is_read:
                raise StreamparseError("another task is reading this stream; an event goes to one reader")
            self._reading = True
            self._direct_now = None
            try:
                await self._make_ready()
            except BaseException as error:
                await self._stop(error)
            finally:
                self._reading = False
        return self._first_ready()

    async def _make_ready(self) -> None:
        """See to it that there is an item, or that everything has ended."""
        if not self._begun:
            self._begin()
        try:
            while not self._ready and not self._ended:
                if self._workers is not None or self._reader.pending:
                    await self._feed(await self._next_batch())
                else:
                    await self._feed(self._reader.accept(await self._pull()))
        except StopAsyncIteration:
            self._ended = True
        if self._ended and not self._closed:
            await self._chain.finish(self._ready)
            await self._close()

    async def _stop(self, error: BaseException, feeding: str = "") -> None:
        """Close because of an error, which is told when what is ready has been given; of a machine, or of the source.

        What is no error of the stream's own, such as cancellation, is raised at once.
        """
        if isinstance(error, GeneratorExit):  # the reader is being thrown away and must not await
            raise error
        if isinstance(error, Exception):
            self._failure = stage_error(feeding, error) if feeding else source_error(error)
            await self._close_quietly()
            return
        self._ready.clear()
        await self._close_quietly()
        raise error

    async def __aenter__(self) -> Self:
        if self._workers is not None:
            await self._workers.start()
        link = self._chain.fed_meanwhile
        if link is not None:
            self._alongside = Alongside(self._chain, link, self._pull)
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
        direct = self._direct
        pieces, amount, alone = (direct.pieces, direct.amount, direct.pieces - direct.not_one) if direct else (0, 0, 0)
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
        """Give what comes next, where that is not a matter of one piece of the source."""
        return await (self._reader.take_pending() if self._workers is None else self._pull())

    async def _feed(self, batch: list[Any]) -> None:
        """Make items of a batch."""
        if self._chain.feed(batch, self._ready):
            await self._settle()

    async def _settle(self) -> None:
        """Have done what was put off, before the source is asked for more or, where that can be, alongside."""
        alongside = self._alongside
        if alongside is None:
            await self._chain.settle(self._ready)
            return
        await self._chain.settle(self._ready, but=alongside.link)
        alongside.go_on(self._ready)
        if alongside.busy:
            self._pull = self._pull_alongside

    async def _pull_alongside(self) -> Any:
        """Give what the source gives, or nothing when work has been done; afterwards the source is pulled as before."""
        alongside = self._alongside
        assert alongside is not None, "there is work"
        batch = await alongside.next(self._ready)
        if not alongside.busy:
            self._pull = alongside.pull
        return batch

    async def _take(self, made: list[Any], direct: Direct) -> None:
        """Take what came of a piece on the direct way where it isn't just one item, or where something else is due."""
        direct.not_one += 1
        self._stages[0].items_out += len(made)
        self._ready.extend(made)
        if direct.later.waiting:
            await self._chain.settle(self._ready)
        if not direct.passed & UNTIL_REST:
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
        goes_directly = not (self._ready or self._ended or self._reading or self._reader.pending)
        self._direct_now = self._direct if goes_directly and self._first_item_seconds is not None else None
        return item

    def _begin(self) -> None:
        """Do what comes before the first batch."""
        if self._closed:
            return
        if self._workers is None:
            self._close_later = closer_for_later()
        elif not self._workers.started:
            raise StreamparseError(
                "this stream runs tasks (it has a stage that awaits, reads ahead, or is not chained), which must not "
                "outlive it: use `async with parse_stream(…) as stream:` and iterate inside"
            )
        self._begun = True
        self._began = perf_counter()
        self._chain.start(self._ready)

    async def _close(self) -> None:
        """Stop what runs and close the source, once."""
        if not self._closed:
            self._closed = self._ended = True
            self._direct_now = None
            if self._alongside is not None:
                await self._alongside.stop()
            await (self._workers.stop() if self._workers is not None else self._reader.aclose())

    async def _close_quietly(self) -> None:
        """Close because of an error, which is what will be told."""
        with suppress(Exception):
            await self._close()

    def __del__(self) -> None:
        close_later = getattr(self, "_close_later", None)  # not there if the arguments were refused
        if close_later is not None and not self._closed:
            for thing in self._reader.to_close:
                close_later(thing)
