"""Work that is done alongside: the source goes on to be asked, and its batches to be taken, while a thread is at it.

In:  a chain with a machine that can be fed while its work is done (``later.FedMeanwhile``), and what pulls the source.
Out: the source's batches, or an empty one whenever work has been done; the items that came of it are added to a list.

As long as there is no such work none of this is used: whoever iterates pulls the source, with no task. While there is,
one task has the work done in a thread, and one pulls, as what was asked of a source can't be taken back: to cancel an
asynchronous generator that waits is to end it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio import to_thread

from streamparse.graph.aside import Work
from streamparse.graph.chain import Chain, Link, Made
from streamparse.graph.closing import CLOSING_SECONDS
from streamparse.graph.event_loop import spawn
from streamparse.graph.later import fed_meanwhile


class Alongside:
    """The work of one machine, one piece at a time, and the pulling meanwhile; for one reader.

    What the source raises, its end too, is raised when all work has been done, as that belongs before it.
    """

    def __init__(self, chain: Chain, link: Link, pull: Callable[[], Awaitable[Any]]) -> None:
        machine = fed_meanwhile(link.later)
        assert machine is not None, "the machine can be fed while its work is done"
        self.link = link
        self.pull = pull
        """Pulls the source."""
        self._chain = chain
        self._machine = machine
        self._work: Work | None = None
        self._works = False  # whether a task is at the work
        self._pulling: anyio.CancelScope | None = None  # of the task that pulls
        self._pulled: list[Any] = []  # the batch that it got, if it was not taken yet
        self._raised: BaseException | None = None  # or what the source raised
        self._stopped = False
        self._news: anyio.Event | None = None

    @property
    def busy(self) -> bool:
        """Whether batches are to be had of ``next`` for now, and not of the source itself."""
        return not (self._work is None and self._pulling is None and not self._pulled and self._raised is None)

    def go_on(self, out: Made) -> None:
        """Take back the work if it has been done, adding the items that came of it, and begin the next."""
        if self._works:
            return
        work, self._work = self._work, None
        items = [] if work is None else self._machine.take_back(work)
        self._work = self._machine.take_work()
        if self._work is not None:
            self._works = True
            spawn(self._do, self._work)
        self._chain.hand_on(self.link, items, out)

    async def next(self, out: Made) -> Any:
        """Give what the source gives, or an empty batch if work is done before, adding the items that came of it."""
        while not self._stopped:
            if self._work is not None and not self._works:
                self.go_on(out)
                return []
            if self._pulled:
                return self._pulled.pop()
            if self._raised is not None and self._work is None:
                raise self._raised
            if self._pulling is None and self._raised is None and not self._machine.full:
                self._pulling = anyio.CancelScope()
                spawn(self._pull, self._pulling)
            await self._until_told()
        raise StopAsyncIteration

    async def stop(self) -> None:
        """Cancel the pulling, and wait for the work, as a thread can't be stopped; the machine has it back then."""
        self._stopped = True
        self._tell()
        if self._pulling is not None:
            self._pulling.cancel()
            with anyio.move_on_after(2 * CLOSING_SECONDS, shield=True):
                while self._pulling is not None:
                    await self._until_told()
        with anyio.CancelScope(shield=True):
            while self._works:
                await self._until_told()
        if self._work is not None:
            self._work.taken = False
            self._work = None

    async def _until_told(self) -> None:
        """Wait until a task has come to something."""
        self._news = self._news or anyio.Event()
        await self._news.wait()

    async def _do(self, work: Work) -> None:
        """Be the task that has a piece of work done."""
        try:
            await to_thread.run_sync(work.do)
        finally:
            self._works = False
            self._tell()

    async def _pull(self, scope: anyio.CancelScope) -> None:
        """Be the task that pulls the source once."""
        try:
            with scope:
                self._pulled = [await self.pull()]
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            self._raised = error
        finally:
            if not self._pulled and self._raised is None:
                self._raised = StopAsyncIteration()
            self._pulling = None
            self._tell()

    def _tell(self) -> None:
        """Let those who wait look again."""
        if self._news is not None:
            self._news.set()
            self._news = None
