"""Generations over Kafka: what is written to the input, and whether the output is what it has to be.

In:  seeds; a broker.
Out: records on the input; and what is wrong with the output, nothing if all is well.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from streamparse import KeyedParser
from streamparse.adapters.kafka import EventReader, begin_record, chunk_record, end_record
from streamparse.adapters.kafka.topics import create
from streamparse.encode import encode_event
from streamparse.graph import End
from streamparse.keyed import Open
from stress.material import NAMES, text_of

LONGEST = 1_500
ERRORS = ("report", "repair")


@dataclass(frozen=True)
class Generation:
    """A generation: its id, what it begins with, its chunks."""

    id: str
    begin: dict[str, Any]
    chunks: Sequence[str]

    def records(self) -> list[dict[str, Any]]:
        """Its records."""
        chunks = [chunk_record(self.id, chunk) for chunk in self.chunks]
        return [begin_record(self.id, **self.begin), *chunks, end_record(self.id, "stop")]

    def events(self) -> list[bytes]:
        """Its events as JSON, as one process that is never disturbed makes them."""
        keyed = KeyedParser()
        pairs = [(self.id, Open(**self.begin)), *[(self.id, chunk) for chunk in self.chunks], (self.id, End("stop"))]
        return [
            encode_event(event, standard=True) for pair in pairs for _, events in keyed.feed([pair]) for event in events
        ]


def generations(count: int, seed: int) -> Iterator[Generation]:
    """So many generations of many families, most of them with faults in what the model wrote."""
    for number in range(count):
        chance = random.Random(seed * 1_000_003 + number)
        name = chance.choice(NAMES)
        text = text_of(chance, name)[:LONGEST]
        begin = {"template": name, "prefix": "", "errors": chance.choice(ERRORS), "deltas": chance.random() < 0.5}
        yield Generation(f"{seed}-{number}", begin, list(cut(chance, text)))


def cut(chance: random.Random, text: str) -> Iterator[str]:
    """Cut a text into pieces such as tokens have."""
    at = 0
    while at < len(text):
        size = chance.randint(1, 12)
        yield text[at : at + size]
        at += size


def interleaved(every: Iterable[Generation], at_once: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """The records of generations, so many of which are open at a time."""
    waiting = iter(every)
    running: list[Iterator[dict[str, Any]]] = []
    while True:
        while len(running) < at_once and (one := next(waiting, None)) is not None:
            running.append(iter(one.records()))
        if not running:
            return
        place = chance.randrange(len(running))
        for _ in range(chance.randint(1, 4)):
            record = next(running[place], None)
            if record is None:
                running[place] = running[-1]
                running.pop()
                break
            yield record


def make_topics(bootstrap: str, partitions: int, *names: str, replicas: int = -1) -> None:
    """Create topics."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    create(admin, *[NewTopic(name, partitions, replicas) for name in names])


def write(bootstrap: str, topic: str, records: Iterable[dict[str, Any]], *, rate: float | None = None) -> int:
    """Write records, so many a second if that is said; how many they were."""
    failures: list[Any] = []

    def delivered(error: Any, _message: Any) -> None:
        if error is not None:
            failures.append(error)

    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 5, "compression.type": "lz4"}
    )
    started, count = time.monotonic(), 0
    for count, record in enumerate(records, 1):
        while True:
            try:
                producer.produce(topic, on_delivery=delivered, **record)
                break
            except BufferError:
                producer.poll(0.1)
        if count % 200 == 0:
            producer.poll(0)
            if rate is not None:
                time.sleep(max(0.0, started + count / rate - time.monotonic()))
    producer.flush()
    if failures:
        raise RuntimeError(f"the input can't be written: {failures[0]}")
    return count


@dataclass
class Seen:
    """What a reader has seen of a topic: for each generation its events, and records that came again."""

    events: dict[str, list[bytes]] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)
    repeated: int = 0
    faults: list[str] = field(default_factory=list)


class OutputReader:
    """Reads the output as those who read only what is committed; ``seen`` is what it has seen."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "reading",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 100,
            }
        )
        self._consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        self._readers: dict[str, EventReader] = {}
        self.seen = Seen()

    def read(self, seconds: float) -> int:
        """Read what there is; how many records they were."""
        messages = self._consumer.consume(5_000, seconds)
        for message in messages:
            if message.error() is None:
                self._take(message)
        return len(messages)

    def close(self) -> None:
        """Let go of the consumer."""
        self._consumer.close()

    def _take(self, message: Any) -> None:
        key, seen = message.key().decode(), self.seen
        reader = self._readers.setdefault(key, EventReader())
        known = seen.events.setdefault(key, [])
        before = reader.last
        every = EventReader().read(message.value(), message.headers())
        for number, event in every:
            encoded = encode_event(event, standard=True)
            if number <= before:
                seen.repeated += 1
                if known[number - 1] != encoded:
                    seen.faults.append(f"{key}: event {number} came again, and is another")
            elif number != len(known) + 1:
                seen.faults.append(f"{key}: event {number} comes after event {len(known)}")
            else:
                known.append(encoded)
        reader.read(message.value(), message.headers())
        if reader.over:
            seen.over.add(key)


def faults(seen: Seen, expected: Iterable[Generation], *, exactly_once: bool) -> list[str]:
    """What is wrong with an output."""
    found = list(seen.faults)
    if exactly_once and seen.repeated:
        found.append(f"{seen.repeated} events came again")
    ids = set()
    for generation in expected:
        ids.add(generation.id)
        got, wanted = seen.events.get(generation.id, []), generation.events()
        if got != wanted:
            place = next(
                (n for n, (a, b) in enumerate(zip(got, wanted, strict=False)) if a != b), min(len(got), len(wanted))
            )
            found.append(
                f"{generation.id}: {len(got)} events and not {len(wanted)}; they differ from number {place + 1} on"
            )
    found += [f"{key}: nobody wrote such a generation" for key in seen.events.keys() - ids]
    return found
