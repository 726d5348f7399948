"""Clients of websockets follow, at any server, a generation that another process writes into a Redis."""

from __future__ import annotations

import json
import uuid
from typing import Any

import anyio
import pytest

from streamparse.adapters.store.redis_streams import RedisStore
from streamparse.adapters.websockets import EventServer, RefusedError
from tests.adapters.store.redis_server import needs_redis
from tests.adapters.websockets.browser import Browser
from tests.adapters.websockets.talk import Model

pytestmark = [pytest.mark.asyncio, needs_redis]


def refuse(*_arguments: Any) -> Any:
    raise RefusedError("nothing is started here")


async def shown(store: RedisStore, one: str, after: int, until: int | None = None) -> tuple[list[Any], Any]:
    """What a client sees of a server of its own, from an event on, and the last message; no further than ``until``."""
    seen: list[Any] = []
    last = after
    async with EventServer(refuse, find=store.find) as server, anyio.create_task_group() as tasks:
        browser = Browser()
        tasks.start_soon(server.serve, browser)
        await browser.say(type="hello", version=1)
        await browser.say(type="subscribe", generation=one, after=after)
        message: Any = None
        async for text in browser.client:
            message = json.loads(text)
            if message["type"] == "events":
                assert message["first"] == last + 1
                last = message["last"]
                seen += message["events"]
            if message["type"] in ("end", "error") or (until is not None and last >= until):
                break
        browser.leave()
    return seen, (last, message)


def text_of(events: list[Any]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "region_chunk")


async def test_a_client_goes_on_at_another_server_where_it_was(redis_url: str) -> None:
    one, store = uuid.uuid4().hex, RedisStore.at(redis_url)
    events: list[Any] = [event async for event in Model()(None, None)]
    with anyio.fail_after(60):
        async with store.write(one) as writer:
            await writer.append(events[:10])
            first, (last, _) = await shown(store, one, 0, 5)
            await writer.append(events[10:], last=True)
        rest, (_, message) = await shown(store, one, last)
    assert message["type"] == "end"
    assert text_of(first) + text_of(rest) == text_of(events)
    await store.aclose()


async def test_a_client_is_told_that_the_writer_is_lost(redis_url: str) -> None:
    one, store = uuid.uuid4().hex, RedisStore.at(redis_url)
    events: list[Any] = [event async for event in Model()(None, None)]
    async with store.write(one) as writer:
        await writer.append(events[:10])
    with anyio.fail_after(60):
        seen, (_, message) = await shown(store, one, 0)
    assert text_of(seen) == text_of(events[:10])
    assert (message["type"], message["reason"], message["error"]) == ("end", "failed", "WriterLostError")
    await store.aclose()
