"""The AI SDK's transport resumes, at one server, an answer that it had asked another one for."""

from __future__ import annotations

import asyncio
import json
import uuid
from asyncio.subprocess import PIPE
from typing import Any

import pytest

from tests.adapters.openai.upstream import Exchange, says, upstream
from tests.adapters.protocols.validators import NODE, needs_packages
from tests.adapters.serve.running import served, settings
from tests.adapters.store.redis_server import needs_redis, redis_server

pytestmark = [pytest.mark.asyncio, needs_packages, needs_redis]


@pytest.mark.parametrize("package", ["ai5", "ai6", "ai"])
async def test_the_ai_sdk_resumes_an_answer_at_another_server(package: str) -> None:
    go_on = asyncio.Event()

    async def play(exchange: Exchange) -> None:
        await exchange.begin()
        await exchange.send(says(["<think>Hm.</think>One ", "two"], reason=None, done=False))
        await go_on.wait()
        await exchange.send(says([" three"]))
        await exchange.end()

    with redis_server() as store:
        async with (
            upstream(play) as behind,
            served(settings(behind.url, store=store)) as one,
            served(settings(behind.url, store=store)) as two,
        ):
            urls = [f"{server.url.removesuffix('/v1')}/ui/chat" for server in (one, two)]
            arguments = [package, *urls, uuid.uuid4().hex]
            client = await asyncio.create_subprocess_exec(
                "node", NODE / "resume.mjs", *arguments, stdin=PIPE, stdout=PIPE
            )
            assert client.stdin is not None
            assert client.stdout is not None

            async def said() -> Any:
                return json.loads(await client.stdout.readline())  # type: ignore[union-attr]

            assert await said() == "One two"
            assert await said() is True
            go_on.set()
            parts = {part["type"]: part.get("text") for part in await said()}
            client.stdin.write(b"\n")
            assert await said() is None
            await client.wait()
    assert (parts["reasoning"], parts["text"]) == ("Hm.", "One two three")
    assert len(behind.exchanges) == 1
