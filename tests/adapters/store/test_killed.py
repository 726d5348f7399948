"""Readers and writers killed with SIGKILL: what a reader that comes back has seen is the unbroken stream."""

from __future__ import annotations

import random
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from streamparse.adapters.store.redis_streams import RedisStore
from tests.adapters.store.redis_server import needs_redis

HERE = "import sys; from tests.adapters.store.test_killed import write, read; import asyncio; "
LEASE = 1.0
EVENTS = 400
ENDLESS = 100_000  # more than a writer writes before it is killed

pytestmark = needs_redis


def store(url: str) -> RedisStore:
    return RedisStore.at(url, lease=LEASE, history=1_000_000)


async def write(url: str, one: str, events: str) -> None:
    """A writer, as a process runs it."""
    import anyio

    async with store(url).write(one) as writer:
        for number in range(1, int(events) + 1):
            await writer.append([{"type": "e", "n": number}], last=number == int(events))
            await anyio.sleep(0.002)


async def read(url: str, one: str, after: str) -> None:
    """A reader: prints each event's number and what it says, and how the stream ended."""
    from streamparse.adapters.store import WriterLostError

    try:
        async for number, event in store(url).follow(one, after=int(after)).numbered():
            print(number, event["n"], flush=True)
    except WriterLostError:
        print("lost", flush=True)
    else:
        print("end", flush=True)


def process(what: str, *arguments: str) -> subprocess.Popen[str]:
    program = HERE + f"asyncio.run({what}(*sys.argv[1:]))"
    root = Path(__file__).parents[3]
    return subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True, cwd=root)


@pytest.mark.parametrize("killed", [False, True], ids=["whole", "writer killed"])
def test_a_reader_that_comes_back_sees_the_unbroken_stream(redis_url: str, killed: bool) -> None:
    chance, one = random.Random(killed), uuid.uuid4().hex
    writer = process("write", redis_url, one, str(ENDLESS if killed else EVENTS))
    assert writer.stdout is not None
    while not exists(redis_url, one):
        assert writer.poll() is None
        time.sleep(0.02)
    seen: list[int] = []
    ending = ""
    lives = 0
    while not ending:
        reader = process("read", redis_url, one, str(len(seen)))
        assert reader.stdout is not None
        lives += 1
        most = chance.randint(1, 120) if lives < 4 else None
        for line in reader.stdout:
            if not line.endswith("\n"):
                break
            if not line[0].isdigit():
                ending = line.strip()
                break
            number, said = map(int, line.split())
            assert (number, said) == (len(seen) + 1,) * 2
            seen.append(number)
            if killed and len(seen) > 150:
                writer.kill()
            if most is not None and (most := most - 1) == 0:
                reader.kill()
                break
        reader.kill()
        reader.communicate()
    writer.kill()
    writer.communicate()
    if killed:
        assert ending == "lost"
        assert len(seen) > 150
    else:
        assert (ending, len(seen)) == ("end", EVENTS)
    assert lives > 1


def exists(url: str, one: str) -> bool:
    import redis

    with redis.Redis.from_url(url) as client:
        return bool(client.exists(store(url).keys(one)[0]))
