"""Calls into the event loop from outside its tasks (threads, the garbage collector), and starts tasks without a group.

In:  the loop that runs now, asyncio's or trio's.
Out: a function that has that loop call something; tasks.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from typing import Any


def soon_caller() -> Callable[..., None]:
    """Give a function that has the loop that runs now call a function, with arguments, as soon as it can.

    It may be used in any thread and at any time, and does nothing once the loop has ended.
    """
    token = trio_token()
    call_soon = asyncio.get_running_loop().call_soon_threadsafe if token is None else token.run_sync_soon

    def soon(function: Callable[..., object], *arguments: object) -> None:
        with suppress(RuntimeError):  # what both back ends raise when the loop has ended
            call_soon(function, *arguments)

    return soon


def trio_token() -> Any:
    """Return the token of the trio run that the caller is in, or None outside of trio."""
    trio = sys.modules.get("trio")
    if trio is not None:
        with suppress(RuntimeError):  # what trio raises outside of its runs
            return trio.lowlevel.current_trio_token()
    return None


def spawn(function: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
    """Run a coroutine function as a task that is in no group: who spawns it sees to it that it ends.

    It must handle its own errors. Unlike a task of a group it may be begun within any cancel scopes and outlive them,
    but not the loop.
    """
    if trio_token() is not None:
        trio: Any = sys.modules["trio"]
        trio.lowlevel.spawn_system_task(function, *arguments, context=copy_context())
        return
    task = asyncio.get_running_loop().create_task(function(*arguments))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


_tasks: set[asyncio.Task[None]] = set()  # held here because a loop holds its tasks weakly
