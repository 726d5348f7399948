"""``generate()`` in a thread of its own: started when it is wanted, waited for when it is not.

In:  a function that generates, and what is to be told when it has returned or failed.
Out: nothing; what it writes goes to its streamer.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable

from streamparse.errors import ChannelClosedError, SourceError, StreamparseError
from streamparse.graph.event_loop import soon_caller
from streamparse.graph.mailbox import Mailbox
from streamparse.graph.thread import until_gone

Generate = Callable[[], object]
"""A call of ``generate()`` with all its arguments, as ``functools.partial(model.generate, **arguments)`` makes it."""


class GenerationThread:
    """Calls ``generate`` in a daemon thread, in a copy of the context it was started in.

    ``when_done`` is called in that thread when ``generate`` has returned (with None) or raised (with the error, as
    readers of the stream get it: SourceError with its cause, or streamparse's own as it is).
    """

    def __init__(self, generate: Generate, when_done: Callable[[StreamparseError | None], None]) -> None:
        self._calls = [generate]  # taken out by the thread, which holds the model and its inputs no longer than needed
        self._when_done = when_done
        self._done = Mailbox(0)
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start generating, the first time; none of the further times, nor after ``wait``, does anything."""
        if self._thread is None and self._calls:
            run = contextvars.copy_context().run
            arguments = (_run, self._calls, self._when_done, self._done)
            self._thread = threading.Thread(target=run, args=arguments, name="streamparse generation", daemon=True)
            self._thread.start()

    async def wait(self) -> None:
        """Wait until the thread is gone, or keep it from ever being started."""
        if self._thread is None:
            self._calls.clear()
            return
        self._done.wake = soon_caller()
        await self._done.wait_for_end()
        await until_gone(self._thread)


def _run(calls: list[Generate], when_done: Callable[[StreamparseError | None], None], done: Mailbox) -> None:
    """Generate, and tell how it went: the whole of what the thread does."""
    failure: StreamparseError | None = None
    try:
        calls.pop()()
    except ChannelClosedError:
        pass  # nobody reads any more, and a generation without its stop switch was ended by this
    except BaseException as error:
        failure = _as_failure(error)
    when_done(failure)
    done.end(None)


def _as_failure(error: BaseException) -> StreamparseError:
    """Give the error that readers get for what ``generate()`` raised."""
    if isinstance(error, StreamparseError):
        return error
    failure = SourceError(f"generate() failed: {type(error).__name__}: {error}")
    failure.__cause__ = error
    return failure
