"""A task that does one step after the other for a reader who may stop waiting: the step goes on, its outcome is kept.

In:  steps, such as to ask a source for its next piece. Out: the outcome of each, to whoever asks next.

To cancel an asynchronous generator that waits is to end it; so is what most clients of a server do with a response. A
reader that waits with a deadline must not do that, so its source is pulled, and in the end closed, by this task.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from streamparse.errors import SourceError
from streamparse.graph.closing import CLOSING_SECONDS
from streamparse.graph.event_loop import spawn

Step = Callable[[], Awaitable[Any]]


class Shield:
    """Does steps in a task of its own, which begins with the first; ``close`` is awaited there when it ends.

    The task holds ``close`` and the step that it is at, nothing else: whoever gives up on it calls ``aclose``.
    """

    __slots__ = ("_close", "_failure", "_news", "_outcome", "_over", "_runs", "_scope", "_step")

    def __init__(self, close: Step) -> None:
        self._close = close
        self._step: Step | None = None
        self._scope: anyio.CancelScope | None = None  # of the step that is being done
        self._outcome: tuple[Any, BaseException | None] | None = None
        self._over = False
        self._runs = False
        self._failure: Exception | None = None  # what went wrong in closing
        self._news: anyio.Event | None = None

    @property
    def busy(self) -> bool:
        """Whether a step was asked for whose outcome was not taken: to be asked for before any other is."""
        return self._step is not None or self._outcome is not None

    async def do(self, step: Step) -> Any:
        """Have a step done and give its outcome, None once this is closed.

        A reader that is cancelled meanwhile finds the outcome later by ``outcome``.
        """
        self._step = step
        if not self._runs:
            self._runs = True
            spawn(self._run)
        self._tell()
        return await self.outcome()

    async def outcome(self) -> Any:
        """Give the outcome of the step that was asked for last, or raise what it raised; once."""
        while self._outcome is None:
            await self._until_told()
        (value, error), self._outcome = self._outcome, None
        if error is not None:
            raise error
        return value

    def dismiss(self) -> None:
        """Let the task end after the step that it is at; may be called by that step."""
        self._over = True
        self._tell()

    async def aclose(self) -> None:
        """Cancel the step, and wait until the task has closed what it is to close; raises what went wrong in that."""
        self.dismiss()
        if self._scope is not None:
            self._scope.cancel()
        with anyio.move_on_after(2 * CLOSING_SECONDS, shield=True):
            while self._runs:
                await self._until_told()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    async def _run(self) -> None:
        """Be the task."""
        try:
            while not self._over:
                if self._step is None:
                    await self._until_told()
                else:
                    await self._do(self._step)
        finally:
            self._over = True
            try:
                await self._close()
            except Exception as error:
                self._failure = error
            finally:
                self._runs = False
                if self._step is not None:  # it was asked for as the last one ended, and nobody will do it any more
                    self._step, self._outcome = None, (None, None)
                self._tell()

    async def _do(self, step: Step) -> None:
        """Do one step, and keep its outcome."""
        self._outcome = None
        value: Any = None
        failure: BaseException | None = None
        try:
            with anyio.CancelScope() as self._scope:
                value = await step()
        except anyio.get_cancelled_exc_class():
            failure = SourceError("the source was cancelled while it was asked for more")
            raise
        except BaseException as error:
            failure = error
        finally:
            del step
            self._scope = self._step = None
            self._outcome = value, failure
            self._tell()

    async def _until_told(self) -> None:
        """Wait until something has changed."""
        self._news = self._news or anyio.Event()
        await self._news.wait()

    def _tell(self) -> None:
        """Let those who wait look again."""
        if self._news is not None:
            self._news.set()
            self._news = None
