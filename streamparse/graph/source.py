"""Reads the source of a graph, whatever it is, as batches.

In:  an iterable or asynchronous iterable of pieces, or a ``Channel`` that pieces are pushed into; the pieces may
     end with an ``End``. Where many generations share a source, its pieces are pairs ``(key, chunk)`` or lists of them.
Out: batches of pieces, by asynchronous iteration.

A source is pulled: the next piece is requested when the previous one has been processed. Work is handed on in slices,
and other tasks (and cancellation) get a turn between them, however large the pieces are and even if the source never
really waits.
"""

from __future__ import annotations

import inspect
from asyncio import CancelledError, current_task
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import anyio.lowlevel

from streamparse.errors import SourceError, StreamparseError
from streamparse.graph.channel import CAPACITY, Channel
from streamparse.graph.cleanup import close_all
from streamparse.graph.interrupt import AsyncioInterrupt, Interrupted, TrioInterrupt, interrupt_here
from streamparse.graph.thread import ThreadReader

SLICE = 8_192
"""The amount of text (characters, bytes or token ids) that is processed before other tasks get a turn."""

_PIECE_WORK = 64  # what a piece costs besides its text, in characters

Source = Iterable[Any] | AsyncIterable[Any]


@dataclass(frozen=True, slots=True)
class End:
    """The last piece of a source: why the generation ended, and what it used, where that is known.

    What a source gives after it is not read. ``usage`` is passed on as it is. ``cut_off`` says that the model had not
    come to its end, so a tool call that is still open does not count, whatever the reason is called; it is implied by
    the reasons ``"length"``, ``"cancelled"`` and ``"expired"``.
    """

    finish_reason: str | None = None
    usage: Any = None
    cut_off: bool = False

    @property
    def for_parser(self) -> str | None:
        """The reason as ``ResponseParser.finalize`` takes it.

        >>> End("cancelled").for_parser, End("stop").for_parser, End("stop", cut_off=True).for_parser
        ('length', 'stop', 'length')
        """
        return "length" if self.cut_off or self.finish_reason in CUT_OFF else self.finish_reason


CUT_OFF = frozenset({"length", "cancelled", "expired"})
"""Finish reasons that say that the model had not come to its end, so what is open does not count as complete."""


class SourceReader:
    """Reads a source in batches, up to its end or its ``End``.

    With ``blocking`` a synchronous source is read in a thread, ahead by the weight ``capacity``. Raises SourceError if
    the source is of a wrong kind, and, with the cause chained, if it fails; errors of streamparse pass through.
    """

    __slots__ = (
        "__weakref__",
        "_backlog",
        "_closed",
        "_gives_batches",
        "_interrupt",
        "_iterator",
        "_work",
        "amount",
        "cancel_safe",
        "end",
        "pending",
        "pieces",
        "pull",
        "to_close",
    )

    def __init__(self, source: Source, *, blocking: bool = False, capacity: int = CAPACITY) -> None:
        iterator, to_close = _pulled(source, blocking, capacity)
        self._iterator = iterator
        self.pull: Callable[[], Awaitable[Any]] = iterator.__anext__
        """Asks the source for what comes next; ``accept`` makes a batch of it."""
        self._gives_batches = isinstance(iterator, (Channel, ThreadReader))
        self.cancel_safe: bool = getattr(iterator, "cancel_safe", False)
        """Whether a cancelled pull loses nothing and leaves the source open; for most clients' streams it doesn't."""
        self._interrupt: AsyncioInterrupt | TrioInterrupt | None = None
        self.to_close = list({id(thing): thing for thing in to_close}.values())
        self._backlog: deque[Any] = deque()
        self._work = 0
        self.pending = False
        """Whether ``take_pending`` is to be awaited before the source is asked for more."""
        self._closed = False
        self.end: End | None = None
        self.pieces = 0
        self.amount = 0

    def __aiter__(self) -> SourceReader:
        return self

    async def __anext__(self) -> list[Any]:
        """Give the next pieces, cut into slices where they are large."""
        batch: list[Any] = []
        while not batch:
            try:
                batch = await self.take_pending() if self.pending else await self.ask()
            except (StopAsyncIteration, StreamparseError):
                raise
            except Exception as error:
                raise source_error(error) from error
            except CancelledError as error:
                if not raised_by_source(error):
                    raise
                raise source_error(error) from error
        return batch

    async def ask(self) -> list[Any]:
        """Ask the source, and give what came as a batch; nothing if ``stop`` has ended the wait."""
        try:
            given = await self.interrupt.wait(self.pull)
        except Interrupted:
            return []
        return self.accept(given)

    def stop(self, end: End, who: Any = None) -> None:
        """End the source here: what was read is still given, then ``end`` holds. ``who`` pulls it by ``pull``, if so.

        Does nothing once the source has ended.
        """
        if self.end is None and not self._closed:
            self.end = end
            self.pending = True
            if self._interrupt is not None:
                self._interrupt.give(who)

    @property
    def can_be_stepped(self) -> bool:
        """Whether what ``pull`` gives is known to be a coroutine or the like, with ``send`` and ``throw``."""
        return inspect.isasyncgen(self._iterator) or inspect.iscoroutinefunction(type(self._iterator).__anext__)

    @property
    def interrupt(self) -> AsyncioInterrupt | TrioInterrupt:
        """What ends a wait for the source; made when it is asked for first, in the event loop."""
        if self._interrupt is None:
            self._interrupt = interrupt_here()
        return self._interrupt

    def was_interrupted(self, error: BaseException) -> bool:
        """Whether an error came of ``stop`` having ended a wait, and of nothing else."""
        return self._interrupt is not None and self._interrupt.is_meant(error)

    def accept(self, given: Any) -> list[Any]:
        """Make a batch of what the source gave: as much of it as makes up a slice, without the end."""
        if type(given) is str and (size := len(given)) < SLICE:
            self.pieces += 1  # by far the most frequent case, and no different from the general one
            self.amount += size
            self._work = work = self._work + size + _PIECE_WORK
            if work >= SLICE:
                self.pending = True
            return [given]
        return self._accept(given if self._gives_batches else [given])

    def rest_next(self) -> None:
        """Give other tasks a chance before the source is asked again."""
        self._work = SLICE
        self.pending = True

    async def take_pending(self) -> list[Any]:
        """Give what is there before the source is asked again, with a chance for other tasks where that is due.

        Raises StopAsyncIteration at the end.
        """
        if self._work >= SLICE:
            self._work = 0
            await anyio.lowlevel.checkpoint()
        batch = self._next_slice()
        if not batch and self.end is not None:
            if self._interrupt is not None:
                self._interrupt.forget()
            raise StopAsyncIteration
        return batch

    async def aclose(self) -> None:
        """Close the source, once; raises SourceError if that fails."""
        if not self._closed:
            self._closed = True
            self._backlog.clear()
            try:
                await close_all(self.to_close)
            except BaseException as error:
                if not isinstance(error, Exception) and not raised_by_source(error):
                    raise
                failure = source_error(error)
                raise failure from failure.__cause__

    def _accept(self, batch: list[Any]) -> list[Any]:
        """Look for the end in a batch, count what is in it, and give as much of it as makes up a slice."""
        batch = _flat(batch)
        amount = 0
        for position, piece in enumerate(batch):
            if type(piece) is End:
                self.end = piece
                self.pending = True
                batch = batch[:position]
                break
            amount += _amount(piece)
        self.pieces += len(batch)
        self.amount += amount
        work = amount + _PIECE_WORK * max(len(batch), 1)  # an empty batch is work too
        if work > SLICE:
            self._backlog.extend(_slices(batch))
            return self._next_slice()
        self._work += work
        self.pending = self.pending or self._work >= SLICE
        return batch

    def _next_slice(self) -> list[Any]:
        """Take pieces from the backlog until they make up one slice of work."""
        batch = []
        while self._backlog and self._work < SLICE:
            piece = self._backlog.popleft()
            batch.append(piece)
            self._work += _PIECE_WORK + _amount(piece)
        self.pending = self.end is not None or bool(self._backlog) or self._work >= SLICE
        return batch


def _pulled(source: Any, blocking: bool, capacity: int) -> tuple[AsyncIterator[Any], list[object]]:
    """Give what to read from, and what to close in the end."""
    if isinstance(source, Channel):
        return source, [source]
    if isinstance(source, (str, bytes)):
        source = (source,)
    if hasattr(source, "__aiter__"):
        iterator = aiter(source)
        return iterator, [iterator, source]
    if not hasattr(source, "__iter__"):
        hint = "; await it first" if hasattr(source, "__await__") else ""
        kind = type(source).__name__
        raise SourceError(f"the source must be an iterable or asynchronous iterable of pieces, not {kind}{hint}")
    if blocking:
        reader = ThreadReader(source, capacity=capacity)
        return reader, [reader]
    pulled = iter(source)
    return _Pulled(pulled), [pulled, source]


class _Pulled(AsyncIterator[Any]):
    """A synchronous iterator as an asynchronous one."""

    cancel_safe = True

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator

    async def __anext__(self) -> Any:
        for piece in self._iterator:
            return piece
        raise StopAsyncIteration


def _flat(batch: list[Any]) -> list[Any]:
    """Give the pieces with lists of pairs ``(key, chunk)`` taken apart; a list of token ids is one piece."""
    if any(_is_taken_apart(piece) for piece in batch):
        return [item for piece in batch for item in (piece if _is_taken_apart(piece) else [piece])]
    return batch


def _is_taken_apart(piece: Any) -> bool:
    """Whether a piece is a list of pairs, or an empty list, which carries nothing whatever it is one of."""
    return type(piece) is list and (not piece or type(piece[0]) is tuple)


def _amount(piece: Any) -> int:
    """Give the characters, bytes or token ids of a piece, or of what a pair carries."""
    if type(piece) is tuple and len(piece) == 2:
        piece = piece[1]
    return len(piece) if type(piece) in _SLICED else 1


def _slices(batch: list[Any]) -> Iterator[Any]:
    """Give the pieces, those that are larger than a slice cut into slices."""
    for piece in batch:
        if type(piece) in _SLICED and len(piece) > SLICE:
            for start in range(0, len(piece), SLICE):
                yield piece[start : start + SLICE]
        else:
            yield piece


def raised_by_source(error: BaseException) -> bool:
    """Whether CancelledError came from the source itself, as its reader is not being cancelled: the source has failed.

    Such as a client's stream whose own task was cancelled. A task that ends with the error would look as if it had
    ended well.
    """
    if not isinstance(error, CancelledError):
        return False
    try:
        task = current_task()
    except RuntimeError:
        return True  # no event loop of asyncio, so no cancellation of its kind either
    return task is not None and not task.cancelling()


def source_error(error: BaseException) -> StreamparseError:
    """Give the SourceError that carries its cause, or the error itself if it is streamparse's own."""
    if isinstance(error, StreamparseError):
        return error
    failure = SourceError(f"the source failed: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure


_SLICED = frozenset({str, bytes, list})
