"""What a page may ask for, on the socket ``/control``.

In:  messages ``{"number": …, "action": …, …}``, one of the table ``ACTIONS``.
Out: for each, ``{"number": …, "answer": …}``, or ``{"number": …, "problem": …}`` with a text for whoever asked; and
     ``{"state": …}`` at first and whenever the state of the show has changed.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
from anyio import to_thread
from websockets.exceptions import ConnectionClosed

from streamparse.adapters.web.inputs import Request, RequestError, requested
from streamparse.adapters.web.saved import from_file, to_file
from streamparse.adapters.web.show import Show
from streamparse.encode import encode_event
from streamparse.errors import StreamparseError

QUESTION_AT_MOST = 2000
"""Characters of a question."""

Action = Callable[[Show, Request], Awaitable[Any]]


async def _pause(show: Show, _: Request) -> None:
    show.pace.pause()
    show.tell()


async def _go_on(show: Show, _: Request) -> None:
    show.pace.go_on()
    show.tell()


async def _step(show: Show, _: Request) -> None:
    show.pace.step()
    show.tell()


async def _rate(show: Show, request: Request) -> None:
    rate = request.get("rate")
    if isinstance(rate, bool) or not isinstance(rate, int | float) or rate != rate:
        raise RequestError(f"rate is a number of pieces a second, not {rate!r}")
    show.pace.set_rate(rate)
    show.tell()


async def _again(show: Show, _: Request) -> None:
    await show.again()
    show.pace.go_on()
    show.tell()


async def _remove(show: Show, request: Request) -> None:
    show.remove(str(request.get("key")))


async def _parse(show: Show, request: Request) -> dict[str, str]:
    """Put on what was pasted, or what a file has; it is read in a thread, since inferring a template takes its time."""
    asked = request.get("request")
    if not isinstance(asked, dict):
        raise RequestError("there is nothing to parse")
    read, what = (from_file, asked["file"]) if "file" in asked else (requested, asked)
    made = await to_thread.run_sync(read, what, abandon_on_cancel=True)
    return {"key": await show.put_on(made, first=True)}


async def _ask(show: Show, request: Request) -> dict[str, str]:
    """Put on a model's answer; the first question may wait for the model to be loaded."""
    question = request.get("question")
    if show.model is None:
        raise RequestError("no model is installed")
    if not isinstance(question, str) or not question.strip() or len(question) > QUESTION_AT_MOST:
        raise RequestError(f"ask a question of {QUESTION_AT_MOST:,} characters at most")
    ask = partial(show.model.ask, question.strip(), think=request.get("think") is True)
    return {"key": await show.put_on(await to_thread.run_sync(ask, abandon_on_cancel=True), first=True)}


async def _file(show: Show, request: Request) -> dict[str, Any]:
    return await to_thread.run_sync(to_file, show.input(str(request.get("key"))))


ACTIONS: dict[str, Action] = {
    "pause": _pause,
    "go_on": _go_on,
    "step": _step,
    "rate": _rate,
    "again": _again,
    "remove": _remove,
    "parse": _parse,
    "ask": _ask,
    "file": _file,
}


async def control(show: Show, connection: Any) -> None:
    """Serve one page's control socket, a connection of the websockets library, until it is closed."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_send_states, show, connection)
        async for message in connection:  # each is answered when it can be: an inference holds up no pause
            tasks.start_soon(_send_answer, show, connection, message)
        tasks.cancel_scope.cancel()


async def _send_states(show: Show, connection: Any) -> None:
    with suppress(ConnectionClosed):
        while True:
            changed = show.changed()
            await connection.send(_encoded({"state": show.state()}))
            await changed.wait()


async def _send_answer(show: Show, connection: Any, message: str | bytes) -> None:
    answer = await _answer(show, message)
    with suppress(ConnectionClosed):
        await connection.send(answer)


async def _answer(show: Show, message: str | bytes) -> str:
    """The answer, as it is sent; whatever streamparse raises is told to whoever asked."""
    number = None
    try:
        request = _request(message)
        number = request.get("number")
        if not isinstance(number, int | None):
            number = None
            raise RequestError("number is a whole number")
        name = request.get("action")
        action = ACTIONS.get(name) if isinstance(name, str) else None
        if action is None:
            raise RequestError("there is no such action")
        return _encoded({"number": number, "answer": await action(show, request)})
    except StreamparseError as error:
        return _encoded({"number": number, "problem": str(error)})


def _request(message: str | bytes) -> Request:
    try:
        request = json.loads(message)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"a request is JSON: {error}") from error
    if not isinstance(request, dict):
        raise RequestError("a request is a JSON object")
    return request


def _encoded(message: Any) -> str:
    return encode_event(message, standard=True).decode()
