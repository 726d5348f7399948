"""Follows generations that workers parse, whichever process they are parsed in: for servers of UIs.

In:  the topic of the events, read by one consumer for all generations that are followed.
Out: the events of a generation, each once and in order, from any number on, while they come.

The consumer reads each partition once, from a while ago on, and notes where each generation began. Who follows one that
is older than what is being read gets what came before from a consumer of its own, and then what comes.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.lowlevel
import anyio.to_thread
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka import KafkaError as ClientError

from streamparse.adapters.kafka.errors import KafkaError
from streamparse.adapters.kafka.output import EventReader, NumberedEvent
from streamparse.adapters.kafka.retrying import UNKNOWN_TOPIC, checked, retried, transient
from streamparse.adapters.kafka.settings import CLIENT_LOG, PREFETCHED_KILOBYTES
from streamparse.adapters.kafka.wire import Headers
from streamparse.events import Event, RawEvent
from streamparse.graph.event_loop import soon_caller
from streamparse.graph.source import End

log = logging.getLogger("streamparse.kafka")

BATCH = 2_000
REMEMBERED = 1_000_000
"""Generations of which it is known where they begin."""
WAITING = 2_000
"""Records that may wait for one who follows."""
SCANNED_SECONDS = 30.0
"""How long nothing may come while the past of a generation is read."""

_SECONDS = 30.0
_LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Place:
    """Where a generation begins in the topic of the events: its records are at or after that offset."""

    partition: int
    offset: int


@dataclass
class _Follower:
    """One who follows a generation: what has come since, and how to wake it."""

    wake: Callable[[], None]
    records: deque[tuple[int, bytes, Headers | None]] = field(default_factory=deque)
    missed: Place | None = None  # the first record that was not put there, as too many were
    failure: Exception | None = None

    def put(self, partition: int, offset: int, message: Any) -> None:
        """Put a record there, unless too many are: then it is read again later."""
        if self.missed is None and len(self.records) >= WAITING:
            self.missed = Place(partition, offset)
        if self.missed is None:
            self.records.append((offset, message.value(), message.headers()))


class KafkaEvents:
    """The events of a topic, for those who follow single generations; used with ``async with``, on asyncio or trio.

    It reads from ``lookback`` seconds ago on. A generation that began before has to be looked for from a ``Place``.
    ``find`` waits ``find_seconds`` for a generation to begin. Only what is committed is read, unless ``committed`` is
    False. ``client`` are settings of confluent-kafka.

        async with KafkaEvents("127.0.0.1:9092", "events") as events:
            async for event in events.follow("5f0c"):
                ...
    """

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        lookback: float = 600.0,
        find_seconds: float = 10.0,
        committed: bool = True,
        client: Mapping[str, Any] | None = None,
    ) -> None:
        self._topic = topic
        self._find_seconds = find_seconds
        self._lookback = lookback
        self._configuration = {
            "bootstrap.servers": bootstrap,
            "group.id": f"following-{topic}",  # the client asks for one; nothing is committed in it
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed" if committed else "read_uncommitted",
            "queued.max.messages.kbytes": PREFETCHED_KILOBYTES,
            "fetch.wait.max.ms": 50,
            "logger": CLIENT_LOG,
            **(client or {}),
        }
        self._lock = threading.Lock()
        self._places: OrderedDict[str, Place] = OrderedDict()
        self._positions: dict[int, int] = {}
        self._followers: dict[str, list[_Follower]] = {}
        self._stop = threading.Event()
        self._caught_up = threading.Event()
        self._failure: Exception | None = None
        self._tasks: Any = None

    def follow(self, generation: str, *, after: int = 0, place: Place | None = None) -> Following:
        """The events of a generation after number ``after``, up to its last one; waits for one that has not begun.

        ``place`` says where to look for one that began long ago.
        """
        return Following(self, generation, after, place)

    async def place_of(self, generation: str) -> Place | None:
        """Where a generation begins, None if nothing of it has come since the ``lookback``."""
        await anyio.to_thread.run_sync(self._caught_up.wait, _SECONDS, abandon_on_cancel=True)
        with self._lock:
            return self._places.get(generation)

    async def find(self, generation: str, _client: Any = None) -> Following | None:
        """The events of a generation, None if it doesn't begin within ``find_seconds``: the ``find`` of EventServer."""
        with anyio.move_on_after(self._find_seconds):
            while await self.place_of(generation) is None:
                await anyio.sleep(_LOOK_SECONDS)
            return self.follow(generation)
        return None

    async def __aenter__(self) -> Self:
        self._tasks = await anyio.create_task_group().__aenter__()
        self._tasks.start_soon(self._run)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        await self._tasks.__aexit__(None, None, None)

    async def _run(self) -> None:
        try:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._read, limiter=anyio.CapacityLimiter(1))
        finally:
            self._stop.set()

    def _read(self) -> None:
        """Read the topic, in a thread of its own."""
        consumer = Consumer(self._configuration)
        try:
            ends = self._begin(consumer)
            while not self._stop.is_set():
                first = consumer.poll(0.1)
                if first is not None:
                    self._take([first, *consumer.consume(BATCH, 0)], ends)
                if not ends:
                    self._caught_up.set()
        except Exception as error:
            cause = error.args[0].str() if isinstance(error, KafkaException) else str(error)
            failure = KafkaError(f"the events of {self._topic!r} can't be read: {cause}")
            failure.__cause__ = error
            self._fail(failure)
        finally:
            self._caught_up.set()
            consumer.close()

    def _begin(self, consumer: Consumer) -> set[int]:
        """Read on from ``lookback`` seconds ago; the partitions whose end has not been seen yet."""
        numbers = retried(lambda: self._partitions(consumer), _SECONDS, exists=False, stopped=self._stop.is_set)
        if math.isinf(self._lookback):
            places = [TopicPartition(self._topic, number, 0) for number in numbers]
        else:
            since = round((time.time() - self._lookback) * 1000)
            asked = [TopicPartition(self._topic, number, since) for number in numbers]
            places = retried(lambda: _offsets_at(consumer, asked), _SECONDS, stopped=self._stop.is_set)
        consumer.assign(places)
        return set(numbers)

    def _partitions(self, consumer: Consumer) -> list[int]:
        """The numbers of the topic's partitions."""
        topic = consumer.list_topics(self._topic, timeout=_SECONDS).topics[self._topic]
        if topic.error is not None and topic.error.code() in UNKNOWN_TOPIC:
            raise KafkaError(f"there is no topic {self._topic!r}")
        checked(topic.error)
        return sorted(topic.partitions)

    def _take(self, messages: list[Any], ends: set[int]) -> None:
        """Note where generations begin, and hand records to those who follow."""
        woken: dict[int, _Follower] = {}
        with self._lock:
            for message in messages:
                error, number = message.error(), message.partition()
                if error is not None:
                    if error.code() == ClientError._PARTITION_EOF:
                        self._positions[number] = max(self._positions.get(number, 0), message.offset())
                        ends.discard(number)
                    elif not transient(error):
                        log.warning("the events: %s", error.str())
                    continue
                offset = message.offset()
                self._positions[number] = offset + 1
                key = (message.key() or b"").decode("utf-8", "replace")
                if key not in self._places:
                    self._places[key] = Place(number, offset)
                    if len(self._places) > REMEMBERED:
                        self._places.popitem(last=False)
                for follower in self._followers.get(key, ()):
                    follower.put(number, offset, message)
                    woken[id(follower)] = follower
        for follower in woken.values():
            follower.wake()

    def _fail(self, failure: Exception) -> None:
        with self._lock:
            self._failure = failure
            followers = [follower for each in self._followers.values() for follower in each]
        for follower in followers:
            follower.failure = failure
            follower.wake()

    def _join(self, generation: str, follower: _Follower) -> tuple[Place | None, int]:
        """Put what comes from here on aside for a follower; where the generation began, and what "here" is."""
        with self._lock:
            follower.failure = self._failure
            self._followers.setdefault(generation, []).append(follower)
            place = self._places.get(generation)
            return place, 0 if place is None else self._positions.get(place.partition, 0)

    def _rejoin(self, follower: _Follower) -> tuple[Place, int]:
        """Put what comes from here on aside again; what was missed, and what "here" is."""
        with self._lock:
            missed = follower.missed
            assert missed is not None, "only who has missed something comes back"
            follower.missed = None
            return missed, self._positions.get(missed.partition, 0)

    def _leave(self, generation: str, follower: _Follower) -> None:
        with self._lock:
            followers = self._followers.get(generation, [])
            if follower in followers:
                followers.remove(follower)
            if not followers:
                self._followers.pop(generation, None)

    def _position(self, partition: int) -> int:
        with self._lock:
            return self._positions.get(partition, 0)

    async def _past(self, generation: str, place: Place, until: int) -> AsyncIterator[tuple[bytes, Headers | None]]:
        """The records of a generation before an offset, read by a consumer of its own."""
        scan = _Scan(self._configuration, self._topic, place, until, generation.encode())
        try:
            while not scan.done:
                for record in await anyio.to_thread.run_sync(scan.read, abandon_on_cancel=False):
                    yield record
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(scan.close)


def _offsets_at(consumer: Consumer, asked: list[TopicPartition]) -> list[TopicPartition]:
    """The first offset of each partition at or after a time."""
    places = consumer.offsets_for_times(asked, timeout=_SECONDS)
    for place in places:
        checked(place.error)
    return places


class _Scan:
    """The records of one key in a part of a partition."""

    def __init__(self, configuration: dict[str, Any], topic: str, place: Place, until: int, key: bytes) -> None:
        self._consumer = Consumer(configuration)
        self._consumer.assign([TopicPartition(topic, place.partition, place.offset)])
        self._until = until
        self._key = key
        self._deadline = time.monotonic() + SCANNED_SECONDS
        self.done = place.offset >= until

    def read(self) -> list[tuple[bytes, Headers | None]]:
        """The next ones."""
        found = []
        messages: list[Any] = self._consumer.consume(BATCH, 0.1)
        for message in messages:
            offset = message.offset()
            if message.error() is None and offset < self._until and message.key() == self._key:
                found.append((message.value(), message.headers()))
            ended = message.error() is not None and message.error().code() == ClientError._PARTITION_EOF
            self.done = self.done or ended or offset + 1 >= self._until
        if messages:
            self._deadline = time.monotonic() + SCANNED_SECONDS
        elif time.monotonic() > self._deadline:
            raise KafkaError(f"the past of a generation can't be read: nothing came for {SCANNED_SECONDS:g} seconds")
        return found

    def close(self) -> None:
        """Let go of the consumer."""
        self._consumer.close()


class Following:
    """The events of one generation; iterate over it, or over ``numbered()`` where their numbers are needed.

    ``last`` is the number of the last event that it gave. ``end`` says how the generation ended, once it has. It can
    be used wherever ``parse_stream`` can be read from: with ``async with``, as the source of a ``broadcast``, in
    ``sse_stream``.
    """

    def __init__(self, events: KafkaEvents, generation: str, after: int, place: Place | None) -> None:
        self._events = events
        self._place = place
        self._reader = EventReader(after)
        self._numbered: AsyncGenerator[NumberedEvent] | None = None
        self.generation = generation
        self.last = after
        self.end: End | None = None

    async def numbered(self) -> AsyncGenerator[NumberedEvent]:
        """The events with their numbers."""
        waiting = anyio.Event()
        soon = soon_caller()

        def wake() -> None:
            soon(lambda: waiting.set())

        follower = _Follower(wake)
        place, here = self._events._join(self.generation, follower)
        try:
            if self._place is not None:
                await anyio.to_thread.run_sync(self._events._caught_up.wait, _SECONDS, abandon_on_cancel=True)
                place, here = self._place, self._events._position(self._place.partition)
            if place is not None and place.offset < here:
                async for value, headers in self._events._past(self.generation, place, here):
                    for each in self._take(value, headers):
                        yield each
            while not self._reader.over:
                if follower.failure is not None:
                    raise follower.failure
                if follower.records:
                    _, value, headers = follower.records.popleft()
                    for each in self._take(value, headers):
                        yield each
                    await anyio.lowlevel.checkpoint()
                elif follower.missed is not None:
                    missed, here = self._events._rejoin(follower)
                    async for value, headers in self._events._past(self.generation, missed, here):
                        for each in self._take(value, headers):
                            yield each
                else:
                    waiting = anyio.Event()
                    if not follower.records and follower.missed is None and follower.failure is None:
                        await waiting.wait()
        finally:
            self._events._leave(self.generation, follower)

    def _take(self, value: bytes, headers: Headers | None) -> list[NumberedEvent]:
        new = self._reader.read(value, headers)
        if new:
            self.last = new[-1].number
            if self._reader.over:
                event: RawEvent = new[-1].event
                self.end = End(event.get("finish_reason"), event.get("usage"))
        return new

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._numbered is None:
            self._numbered = self.numbered()
        event: Event = (await anext(self._numbered)).event
        return event

    async def aclose(self) -> None:
        """Follow it no longer."""
        if self._numbered is not None:
            await self._numbered.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()
