"""Interrupts a task that waits for its source, on behalf of another task: the mechanism of a stream's ``stop()``.

In:  the waits of one reader, and requests to end the current one.
Out: the result of the wait, or ``Interrupted``.

A cancel scope around each wait would do, but costs several times as much as a whole piece. asyncio can cancel a task
that is known, and take that back. On trio a scope is entered only once the source really has to wait.
"""

from __future__ import annotations

import asyncio
import math
import sys
from asyncio import current_task
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from types import coroutine
from typing import Any

from streamparse.graph.event_loop import trio_token

Pull = Callable[[], Awaitable[Any]]


class Interrupted(BaseException):
    """The wait was ended by ``Interrupt.give``; no Exception, so that sources don't handle it as one of theirs."""


def interrupt_here() -> AsyncioInterrupt | TrioInterrupt:
    """The kind that the event loop needs which runs now; both have the same methods.

    ``wait(pull)`` waits for a pull, and raises Interrupted where ``give()`` has ended the wait. Where every cycle
    counts a pull need not go through it: ``give(who)`` ends a wait of the task for which ``who()`` was asked, if there
    is a ``go_on`` it takes what the first step of the pull gave, and ``is_meant(error)`` tells what came of it.
    """
    return AsyncioInterrupt() if trio_token() is None else TrioInterrupt()


class AsyncioInterrupt:
    """Cancels the task that waits, and takes the cancellation back when it arrives."""

    go_on = None

    def __init__(self) -> None:
        self.who = partial(current_task, asyncio.get_running_loop())  # to name the loop saves asking for it
        self._task: asyncio.Task[Any] | None = None
        self._cancelled: asyncio.Task[Any] | None = None

    async def wait(self, pull: Pull) -> Any:
        """Wait for a pull."""
        self._task = self.who()
        try:
            return await pull()
        except asyncio.CancelledError as error:
            if self.is_meant(error):
                raise Interrupted from None
            raise
        finally:
            self._task = None

    def give(self, who: asyncio.Task[Any] | None = None) -> None:
        """End the wait; a source that asks for that itself, or a task that is being cancelled, needs no help."""
        task = self._task or who
        if task is not None and task is not self.who() and not task.cancelling():
            self._cancelled = task
            task.cancel()

    def is_meant(self, error: BaseException) -> bool:
        """Whether a cancellation is this one, and no other has come besides."""
        task, self._cancelled = self._cancelled, None
        if task is None or not isinstance(error, asyncio.CancelledError):
            return False
        return task.uncancel() == 0

    def forget(self) -> None:
        """Take back a cancellation that the source has kept to itself."""
        if self._cancelled is not None:
            self._cancelled.uncancel()
            self._cancelled = None


class TrioInterrupt:
    """Has a cancel scope around each wait, or, on the fast path, around each moment in which the source really waits.

    That scope is inside of any that the source has entered, and left before the source goes on. So the cancellation
    passes through the source like any other, and is caught behind it. What it can't end is the wait for a nursery that
    the source has opened: that goes on to the source's next piece.
    """

    __slots__ = ("_given", "_scope", "_task", "who")

    def __init__(self) -> None:
        self.who = bool  # nothing has to be known
        self._scope: Any = None
        self._task: Any = None
        self._given = False

    async def wait(self, pull: Pull) -> Any:
        """Wait for a pull."""
        trio: Any = sys.modules["trio"]
        self._task = trio.lowlevel.current_task()
        with trio.CancelScope() as self._scope:
            return await pull()
        raise Interrupted

    @coroutine
    def go_on(self, waiting: Any, trap: Any = None) -> Generator[Any, Any, Any]:
        """Wait for a pull step by step; ``trap`` is what it has given up to the event loop by now, if it has begun."""
        trio: Any = sys.modules["trio"]
        step, argument = waiting.send, None
        while True:
            try:
                trap = trap or step(argument)
            except StopIteration as given:
                return given.value
            except BaseException as error:
                if self._given and _is_all(trio.Cancelled, error) and trio.current_effective_deadline() > -math.inf:
                    raise Interrupted from None
                raise
            try:
                self._task = None  # the source waits, so it is not the one that asks
                with trio.CancelScope() as self._scope:
                    step, argument = waiting.send, (yield trap)
            except BaseException as error:
                step, argument = waiting.throw, error
            finally:
                self._scope = trap = None

    def give(self, _who: object = None) -> None:
        """End the wait, unless it is the source itself that asks for that."""
        if self._scope is not None and self._task is not sys.modules["trio"].lowlevel.current_task():
            self._given = True
            self._scope.cancel()

    def is_meant(self, error: BaseException) -> bool:
        """Whether a wait was ended here."""
        return isinstance(error, Interrupted)

    def forget(self) -> None:
        """Nothing is kept."""


def _is_all(kind: type[BaseException], error: BaseException) -> bool:
    """Whether an error, or each one in a group of them, is of a kind."""
    if isinstance(error, BaseExceptionGroup):
        return error.split(kind)[1] is None
    return isinstance(error, kind)
