"""Cleanup of sources: awaited where that is possible, otherwise scheduled on the event loop.

In:  the source of a stream, or anything else that has ``aclose`` or ``close``.
Out: nothing; the thing is closed.

Files are left open, standard input above all: their owner may still need them.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, suppress

import anyio

from streamparse.errors import SourceError
from streamparse.graph.event_loop import soon_caller, spawn, trio_token

CLOSING_SECONDS = 5.0
"""How long closing may take; only what hangs in its own clean-up takes anywhere near as long."""


async def close(thing: object) -> None:
    """Close a thing by its ``aclose`` or ``close``, even while the task is being cancelled.

    Raises SourceError if that takes longer than ``CLOSING_SECONDS``; errors of the thing's own pass through.
    """
    closing = _method(thing, "aclose") or _method(thing, "close")
    if closing is None:
        return
    with anyio.move_on_after(CLOSING_SECONDS, shield=True) as scope:
        result = closing()
        if inspect.isawaitable(result):
            await result
    if scope.cancelled_caught:
        raise SourceError(f"{type(thing).__name__} did not close within {CLOSING_SECONDS:g} seconds")


async def close_all(things: Sequence[object]) -> None:
    """Close things in their order, whatever goes wrong with one of them; raises what went wrong last."""
    async with AsyncExitStack() as stack:
        for thing in reversed(things):
            stack.push_async_callback(close, thing)


def close_synchronously(thing: object) -> None:
    """Close a thing by its ``close``, in a thread that has no event loop."""
    closing = _method(thing, "close")
    if closing is not None:
        closing()


def closer_for_later() -> Callable[[object], None]:
    """Give a function that has a thing closed soon by the event loop that runs now.

    The function awaits nothing, may be called by the garbage collector, in any thread, and does nothing once the
    loop has ended. Errors of that closing have no caller to go to, and are dropped.
    """
    token = trio_token()
    soon = soon_caller()
    if token is not None:
        return lambda thing: _close_soon(thing) if trio_token() is token else soon(_close_soon, thing)
    # asyncio closes unreferenced asynchronous generators itself; a second closer would interfere.
    return lambda thing: None if inspect.isasyncgen(thing) else soon(_close_soon, thing)


def _method(thing: object, name: str) -> Callable[[], object] | None:
    """Give a method of a thing that may be closed, or None if it has none of that name or is to stay open."""
    return None if isinstance(thing, io.IOBase) else getattr(thing, name, None)


def _close_soon(thing: object) -> None:
    """Have a thing closed by a task; on trio, a run that is about to end still waits for it."""
    with suppress(RuntimeError):  # trio's run has ended but for its last steps
        spawn(_close_quietly, thing)


async def _close_quietly(thing: object) -> None:
    """Close a thing, dropping what goes wrong."""
    with suppress(Exception):
        await close(thing)
