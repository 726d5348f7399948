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
from streamparse.graph.later import Later
from streamparse.graph.source import Source, SourceReader, source_error
from streamparse.graph.stage import Segment, segments_of
from streamparse.graph.workers import Workers

_SMALL = 256
"""Pieces of fewer characters are handed to a machine that is alone in its chain without looking at anything else."""
_PIECE = 1 << 40
"""Small pieces are counted together with their characters, in one number: so many for a piece."""
_UNTIL_REST = (1 << 47) - _PIECE
"""The bits of that number which are 0 after each 128 pieces, when other tasks are to get a chance."""


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
        "_alone",
        "_alongside",
        "_began",
        "_begun",
        "_chain",
        "_close_later",
        "_closed",
        "_ended",
        "_failure",
        "_first_item_seconds",
        "_items",
        "_not_alone",
        "_passed",
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
        self._alone = None if self._workers is not None else self._chain.alone
        self._passed = 0  # small pieces that a lone machine got, times _PIECE, plus their characters
        self._not_alone = 0  # those of them of which came anything but one item
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
        """Give the next item; what is ready is given without a visit to the event loop.

        Most pieces of most generations pass here, and make one item: that is done in this one coroutine.
        """
        if self._ready:
            return self._ready.popleft()
        if self._reading:
            raise StreamparseError("another task is reading this stream; an event goes to one reader")
        self._reading = True
        feeding = ""
        try:
            if not self._begun:
                self._begin()
            try:
                while not self._ready and not self._ended:
                    if self._workers is not None or self._reader.pending:
                        await self._feed(await self._next_batch())
                        continue
                    piece = await self._pull()
                    alone = self._alone
                    if alone is None or type(piece) is not str or len(piece) >= _SMALL:
                        await self._feed(self._reader.accept(piece))
                        continue
                    self._passed = passed = self._passed + _PIECE + len(piece)
                    feeding = alone.name
                    made = alone.feed(piece)
                    has_given = self._first_item_seconds is not None
                    if has_given and len(made) == 1 and passed & _UNTIL_REST and not alone.later.waiting:
                        return made[0]
                    feeding = ""
                    await self._take(made, alone.later)
            except StopAsyncIteration:
                self._ended = True
            if self._ended and not self._closed:
                await self._chain.finish(self._ready)
                await self._close()
        except Exception as error:
            self._failure = stage_error(feeding, error) if feeding else source_error(error)
            await self._close_quietly()
        except GeneratorExit:  # the reader is being thrown away and must not await
            raise
        except BaseException:
            self._ready.clear()
            await self._close_quietly()
            raise
        finally:
            self._reading = False
        return self._first_ready()

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
        if self._reading and self._workers is None:
            raise StreamparseError("another task is reading this stream; cancel that task to stop it")
        self._ready.clear()
        self._failure = None
        await self._close()

    def statistics(self) -> GraphStatistics:
        """Give what the graph has seen so far."""
        passed, amount = divmod(self._passed, _PIECE)
        alone = passed - self._not_alone
        stages = [replace(seen) for seen in self._stages]
        if passed:
            stages[0].items_in += passed
            stages[0].items_out += alone
        return GraphStatistics(
            pieces=self._reader.pieces + passed,
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

    async def _take(self, made: list[Any], later: Later) -> None:
        """Take what came of a small piece where it isn't just one item, or where something else is due."""
        self._not_alone += 1
        self._stages[0].items_out += len(made)
        self._ready.extend(made)
        if later.waiting:
            await self._chain.settle(self._ready)
        if not self._passed & _UNTIL_REST:
            self._reader.rest_next()

    def _first_ready(self) -> Any:
        """Give the first item that is ready, or raise what there is to raise instead."""
        self._items += len(self._ready)
        if not self._ready:
            failure, self._failure = self._failure, None
            raise failure or StopAsyncIteration
        if self._first_item_seconds is None and (self._reader.pieces or self._passed):
            self._first_item_seconds = perf_counter() - self._began
        return self._ready.popleft()

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
