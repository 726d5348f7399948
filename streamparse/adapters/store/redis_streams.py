"""A store in Redis Streams (Redis 6.2 or newer): any process reads a generation, whichever process writes it.

In:  the events of generations.
Out: the same, to readers in any process that reaches the Redis.

Redis has two keys for a generation, whose names begin with the prefix, and hash to one slot of a cluster:

- the stream, ``{name}``: an entry for each batch, whose id is the number of its last event (``5-0``) and whose value
  is ``{"first": 3, "last": 5, "events": [...]}``. The first entry is ``0-1``; one with ``end`` is the last
  (``5-2`` if it has no events).
- the writer, ``{name}:writer``: the fencing token of the writer, and ``!`` behind it once it was asked to stop. It
  expires unless the writer renews it. No other writer can set it while the stream is kept, so where it is missing and
  the stream has no end, the writer is lost for good; what it would write still is refused.

A third, ``{conversation}:newest``, has the name of the conversation's newest generation.

Each reader that waits holds one connection. It runs on asyncio only, as does the library for Redis.
"""

from __future__ import annotations

import json
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio

from streamparse.adapters.store.history import (
    FencedError,
    ForgottenError,
    NumberedEvent,
    StoreError,
    TakenError,
    WriterLostError,
)
from streamparse.adapters.store.reading import Reading
from streamparse.encode import encode_event
from streamparse.events import RawEvent

try:
    import redis.asyncio
    from redis.asyncio.retry import Retry
    from redis.backoff import ExponentialBackoff
    from redis.exceptions import RedisError
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.name} is missing: install the extra, pip install 'streamparse-llm[redis]'", name=error.name
    ) from error

_BEGIN = """
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then
    return redis.call('GET', KEYS[2]) == ARGV[1] and 1 or 0
end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('XADD', KEYS[1], '0-1', 'begin', '1')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
"""

_WRITE = """
local held = redis.call('GET', KEYS[2])
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if newest and newest[1] == ARGV[4] then return 0 end
if held ~= ARGV[1] and held ~= ARGV[1] .. '!' or not newest then return -1 end
if ARGV[4] ~= '' then
    redis.call('XADD', KEYS[1], 'MINID', ARGV[5], ARGV[4], 'batch', ARGV[6], unpack(ARGV, 7))
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if ARGV[7] then
    redis.call('DEL', KEYS[2])
else
    redis.call('PEXPIRE', KEYS[2], ARGV[2])
end
return held == ARGV[1] and 0 or 1
"""
"""Write a batch, or renew the writer's key where there is none (an empty id); a batch that is there is not repeated."""

_STOP = """
local held = redis.call('GET', KEYS[1])
if not held then return 0 end
if string.sub(held, -1) ~= '!' then redis.call('SET', KEYS[1], held .. '!', 'KEEPTTL') end
return 1
"""

_LEAVE = """
local held = redis.call('GET', KEYS[1])
if held == ARGV[1] or held == ARGV[1] .. '!' then redis.call('DEL', KEYS[1]) end
"""

_ENTRY = 100  # about the bytes that Redis keeps for an entry beside its value
_READ = 64  # entries that a reader takes at a time
_TRIES = 4
_STOP_SECONDS = 1.0  # after which a writer that waits learns that it was asked to stop
_LEAVING_SECONDS = 5.0


class RedisStore:
    """Keeps generations in Redis; ``client`` is one of ``redis.asyncio``, or use :meth:`at`.

    ``history`` is about how many bytes of a generation are kept, the newest ones, and ``keep`` for how many seconds
    after its last event. ``lease`` is after how many seconds of silence a writer is lost, as when its process is gone.
    """

    def __init__(
        self,
        client: redis.asyncio.Redis,
        *,
        prefix: str = "streamparse:",
        history: int = 4_000_000,
        keep: float = 3600.0,
        lease: float = 10.0,
    ) -> None:
        if not 0 < lease < keep:
            raise StoreError("keep must be longer than lease, and lease above 0 seconds")
        self._client = client
        self._prefix = prefix
        self.history = history
        self.lease = lease
        self.times = (round(lease * 1000), round(keep * 1000))

    @classmethod
    def at(cls, url: str, **settings: Any) -> RedisStore:
        """Make the store at a URL, with retries where the connection breaks."""
        retry: Any = Retry(ExponentialBackoff(cap=1.0, base=0.05), _TRIES)
        client = redis.asyncio.Redis.from_url(
            url, retry=retry, retry_on_error=[redis.exceptions.ConnectionError], socket_connect_timeout=5.0
        )
        return cls(client, **settings)

    def __repr__(self) -> str:
        return f"RedisStore(prefix={self._prefix!r})"

    @asynccontextmanager
    async def write(self, name: str, *, conversation: str | None = None) -> AsyncIterator[_RedisWriter]:
        """Be the writer of a new generation; raises TakenError and StoreError."""
        token = secrets.token_hex(16)
        stream, writing = self.keys(name)
        if not await self.run(_BEGIN, (stream, writing), (token, *self.times)):
            raise TakenError(f"the generation {name!r} has, or had, another writer; take another name for a new one")
        if conversation is not None:
            await told(self._client.set(self._newest_key(conversation), name, px=self.times[1]))
        writer = _RedisWriter(self, (stream, writing), token)
        failure: Exception | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(writer.renew)
                try:
                    yield writer
                except Exception as error:  # which the task group would wrap
                    failure = error
                tasks.cancel_scope.cancel()
        finally:
            with anyio.move_on_after(_LEAVING_SECONDS, shield=True), suppress(StoreError):
                await self.run(_LEAVE, (writing,), (token,))
        if failure is not None:
            raise failure

    def follow(self, name: str, *, after: int = 0) -> _RedisReading:
        """Read a generation from the event after a number on."""
        return _RedisReading(self, name, after)

    async def find(self, name: str, _client: Any = None) -> _RedisReading | None:
        """The events of a generation, None if there is none: the ``find`` of ``EventServer``."""
        return self.follow(name) if await told(self._client.exists(self.keys(name)[0])) else None

    async def newest(self, conversation: str) -> str | None:
        """The name of the conversation's newest generation, None if there is none that is kept."""
        name = await told(self._client.get(self._newest_key(conversation)))
        return None if name is None else _text(name)

    async def runs(self, name: str) -> bool:
        """Whether a generation has a writer, who has not yet written its last event."""
        return bool(await told(self._client.exists(self.keys(name)[1])))

    async def stop(self, name: str) -> bool:
        """Ask the writer to stop, in whichever process; False if there is none."""
        return bool(await self.run(_STOP, (self.keys(name)[1],), ()))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def keys(self, name: str) -> tuple[str, str]:
        """The keys of a generation's stream and of its writer."""
        stream = f"{self._prefix}{{{name}}}"
        return stream, f"{stream}:writer"

    def _newest_key(self, conversation: str) -> str:
        return f"{self._prefix}{{{conversation}}}:newest"

    async def run(self, script: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        """Run a script."""
        return await told(self._client.eval(script, len(keys), *keys, *arguments))

    async def read(self, stream: str, after: str, wait: float | None) -> list[tuple[str, dict[str, bytes]]]:
        """The entries after an id; waits for the first one for as many seconds, if any."""
        block = None if wait is None else max(round(wait * 1000), 1)
        found: Any = await told(self._client.xread({stream: after}, count=_READ, block=block))
        if not found:
            return []
        entries = next(iter(found.values()))[0] if isinstance(found, dict) else found[0][1]
        return [(_text(id), {_text(key): value for key, value in fields.items()}) for id, fields in entries]

    async def last_entry(self, stream: str) -> dict[str, bytes] | None:
        """The newest entry, None where there is no such stream."""
        found: Any = await told(self._client.xrevrange(stream, count=1))
        return {_text(key): value for key, value in found[0][1].items()} if found else None


class _RedisWriter:
    """Writes one generation."""

    def __init__(self, store: RedisStore, keys: tuple[str, str], token: str) -> None:
        self.stopped = anyio.Event()
        self._store = store
        self._keys = keys
        self._token = token
        self._last = 0
        self._sizes: deque[tuple[int, int]] = deque()  # the last event of each entry that is kept, and its bytes
        self._size = 0
        self._writing = anyio.Lock()

    async def append(self, events: Sequence[RawEvent], *, last: bool = False) -> None:
        """Keep events; ``last`` says that none comes after them. Raises FencedError and StoreError."""
        first, number = self._last + 1, self._last + len(events)
        batch = encode_event({"first": first, "last": number, "events": list(events)}, standard=True)
        self._sizes.append((number, len(batch) + _ENTRY))
        self._size += self._sizes[-1][1]
        while self._size > self._store.history and len(self._sizes) > 1:
            self._size -= self._sizes.popleft()[1]
        oldest = f"{self._sizes[0][0]}-0"
        end = ("end", "1") if last else ()
        with anyio.CancelScope(shield=True):  # whether a batch was written has to be known
            await self._script(f"{number}-{0 if events else 2}", oldest, batch, *end)
        self._last = number

    async def renew(self) -> None:
        """Say again and again that the writer is there, and learn whether it was asked to stop."""
        while True:
            await anyio.sleep(min(_STOP_SECONDS, self._store.lease / 3))
            try:
                await self._script("", "", "")
            except FencedError:
                self.stopped.set()
                return
            except StoreError:  # the next batch tells the writer, if it is for good
                continue

    async def _script(self, id: str, oldest: str, batch: Any, *end: str) -> None:
        async with self._writing:
            answer = await self._store.run(
                _WRITE, self._keys, (self._token, *self._store.times, id, oldest, batch, *end)
            )
        if answer == -1:
            raise FencedError("the writer was silent for so long that its readers were told that it is gone")
        if answer == 1:
            self.stopped.set()


class _RedisReading(Reading):
    """Reads one generation."""

    def __init__(self, store: RedisStore, name: str, after: int) -> None:
        super().__init__(name, after)
        self._store = store

    async def numbered(self) -> AsyncGenerator[NumberedEvent]:
        """The events with their numbers; raises WriterLostError, ForgottenError and StoreError."""
        stream, _ = self._store.keys(self.generation)
        after = f"{self.last}-0"
        wait: float | None = None
        while True:
            running = wait is None or await self._store.runs(self.generation)
            entries = await self._store.read(stream, after, wait if running else None)
            for place, fields in entries:
                after = place
                for each in self._events(fields):
                    self.last = each.number
                    yield each
                if "end" in fields:
                    return
            if not entries and wait is not None and not running:
                await self._check_whole(stream)
                return
            wait = self._store.lease / 3

    def _events(self, fields: dict[str, bytes]) -> list[NumberedEvent]:
        """The events of an entry that come next."""
        if "batch" not in fields:
            return []
        batch = json.loads(fields["batch"])
        if batch["first"] > self.last + 1:
            raise ForgottenError(f"events {self.last + 1} to {batch['first'] - 1} are no longer kept")
        numbered = [NumberedEvent(number, event) for number, event in enumerate(batch["events"], batch["first"])]
        return numbered[max(self.last + 1 - batch["first"], 0) :]

    async def _check_whole(self, stream: str) -> None:
        """Raise where nothing comes any more though the reader hasn't had all of it."""
        newest = await self._store.last_entry(stream)
        if newest is None:
            raise ForgottenError(f"there is no generation {self.generation!r}, or it is no longer kept")
        if "end" not in newest:
            raise WriterLostError("what wrote this generation has gone before its end")


async def told(answer: Awaitable[Any] | Any) -> Any:
    """Wait for an answer of Redis; raises StoreError where it can't be had."""
    try:
        return await answer
    except (RedisError, OSError) as error:
        raise StoreError(f"the Redis of the store can't be used: {error}") from error


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode()
