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
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.lowlevel
import anyio.to_thread
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka import KafkaError as ClientError

from streamparse.adapters.kafka.errors import KafkaError
from streamparse.adapters.kafka.follower import Follower
from streamparse.adapters.kafka.following import Following
from streamparse.adapters.kafka.retrying import UNKNOWN_TOPIC, checked, retried, transient
from streamparse.adapters.kafka.scan import BATCH, Place, Scan
from streamparse.adapters.kafka.settings import CLIENT_LOG, PREFETCHED_KILOBYTES
from streamparse.adapters.kafka.wire import Headers

log = logging.getLogger("streamparse.kafka")

REMEMBERED = 1_000_000
"""Generations of which it is known where they begin."""

_SECONDS = 30.0
_LOOK_SECONDS = 0.05


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
        self._followers: dict[str, list[Follower]] = {}
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
        woken: dict[int, Follower] = {}
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

    def _join(self, generation: str, follower: Follower) -> tuple[Place | None, int]:
        """Put what comes from here on aside for a follower; where the generation began, and what "here" is."""
        with self._lock:
            follower.failure = self._failure
            self._followers.setdefault(generation, []).append(follower)
            place = self._places.get(generation)
            return place, 0 if place is None else self._positions.get(place.partition, 0)

    def _rejoin(self, follower: Follower) -> tuple[Place, int]:
        """Put what comes from here on aside again; what was missed, and what "here" is."""
        with self._lock:
            missed = follower.missed
            assert missed is not None, "only who has missed something comes back"
            follower.missed = None
            return missed, self._positions.get(missed.partition, 0)

    def _leave(self, generation: str, follower: Follower) -> None:
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
        scan = Scan(self._configuration, self._topic, place, until, generation.encode())
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
