"""Reads a source that blocks (a generator over a socket, a queue, a model that generates) in a thread of its own.

In:  a synchronous iterable.
Out: batches of its items, by asynchronous iteration; each is everything that the thread has read by then.

The thread reads ahead by a bounded weight (``coalescing.weigh``) and then waits. When the reader is closed, or
no longer referenced, the thread stops at its source's next item, closes the source if it can be closed, and
ends. Python can't interrupt a thread that blocks in its source, so closing waits for that next item for
``cleanup.CLOSING_SECONDS`` at most; the thread is a daemon, so a source that blocks for ever delays nothing else.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Iterable
from typing import Any

import anyio

from streamparse.graph.channel import CAPACITY, checked_capacity
from streamparse.graph.cleanup import close, close_synchronously
from streamparse.graph.event_loop import soon_caller
from streamparse.graph.mailbox import Mailbox


class ThreadReader:
    """Iterates over a synchronous iterable in a thread; the thread starts with the first batch that is asked for.

    An error of the source is raised after what came before it. ``capacity`` is the weight that is read ahead.
    """

    cancel_safe = True

    def __init__(self, source: Iterable[Any], *, capacity: int = CAPACITY) -> None:
        self._source = source
        self._mailbox = Mailbox(checked_capacity(capacity))
        self._started = False
        self._thread: threading.Thread | None = None

    def __aiter__(self) -> ThreadReader:
        return self

    async def __anext__(self) -> list[Any]:
        """Give everything that the thread has read, waiting for something if need be."""
        if not self._started:
            self._started = True
            self._mailbox.wake = soon_caller()
            run = contextvars.copy_context().run
            self._thread = threading.Thread(
                target=run, args=(_read, self._source, self._mailbox), name="streamparse source", daemon=True
            )
            self._thread.start()
        return await self._mailbox.take()

    async def aclose(self) -> None:
        """Stop the thread and wait until it has closed its source and is gone."""
        self._mailbox.stop()
        if self._thread is not None:
            await self._mailbox.wait_for_end()
            await until_gone(self._thread)
        elif not self._started:
            self._started = True
            self._mailbox.end(None)
            await close(self._source)

    def __del__(self) -> None:
        self._mailbox.stop()


async def until_gone(thread: threading.Thread) -> None:
    """Wait for a thread that has done its work but may not have been left by the interpreter yet.

    What a library keeps for each thread (torch does) is torn down then, and Python must not end in the middle of it.
    """
    while thread.is_alive():
        await anyio.sleep(0.001)


def _read(source: Iterable[Any], mailbox: Mailbox) -> None:
    """Move the source's items to the mailbox: the whole of what the thread does."""
    error: BaseException | None = None
    iterator = None
    try:
        iterator = iter(source)
        for item in iterator:
            if not mailbox.put(item):
                break
    except BaseException as failure:
        error = failure
    try:
        for thing in {id(iterator): iterator, id(source): source}.values():
            close_synchronously(thing)
    except BaseException as failure:
        error = error or failure
    mailbox.end(error)
