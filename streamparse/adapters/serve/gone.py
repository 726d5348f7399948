"""Work for a client, for as long as the client is there.

In:  ASGI's ``receive``, after the request's body.
Out: the work, done, or cancelled when the client goes away.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from starlette.types import Receive

from streamparse.errors import StreamparseError


async def unless_gone(receive: Receive, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work, and cancel it when the client has gone; errors of streamparse are raised."""
    failure: StreamparseError | None = None

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        try:
            await work()
        except StreamparseError as error:
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
