"""A worker over Kafka: its cost beside a loop that only copies records, taking over, and latency.

It runs on the broker that ``$STREAMPARSE_KAFKA_BOOTSTRAP`` names, or on one of its own.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import statistics
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.collection import SELDOM, collected
from benchmarks.table import Table


def report(*, quick: bool = False) -> None:
    """Print the section, or why it can't be measured here."""
    try:
        from streamparse.adapters.kafka.broker import BOOTSTRAP_VARIABLE, LocalBrokers, missing
        from streamparse.adapters.kafka.errors import KafkaError
    except ModuleNotFoundError as error:
        print(f"\nkafka: left out, as {error.name} is not installed")
        return
    given = os.environ.get(BOOTSTRAP_VARIABLE)
    if given is None and (reason := missing()) is not None:
        print(f"\nkafka: left out, as {reason}")
        return
    try:
        with contextlib.ExitStack() as entered:
            bootstrap = given or entered.enter_context(LocalBrokers(heap="1g")).bootstrap
            throughput(bootstrap, 30_000 if quick else 200_000)
            taking_over(bootstrap, 1_000 if quick else 10_000)
            latency(bootstrap, 200 if quick else 1_000, 6.0 if quick else 20.0)
    except KafkaError as error:
        print(f"\nkafka: left out: {error}")


def throughput(bootstrap: str, tokens: int) -> None:
    """A worker and a loop that copies, in turn, over the same records."""
    from streamparse.adapters.kafka import begin_record, chunk_record, end_record
    from stress.kafka_generations import make_topics, write

    name = f"bench-{uuid.uuid4().hex[:8]}"
    make_topics(bootstrap, 4, f"{name}-in", f"{name}-out")
    at_once, length = 200, 250
    records: list[dict[str, Any]] = []
    for start in range(0, tokens // length, at_once):
        ids = [f"{name}-{number}" for number in range(start, min(start + at_once, tokens // length))]
        records += [begin_record(each, template="qwen3", prefix="") for each in ids]
        records += [chunk_record(each, f" word{number}") for number in range(length) for each in ids]
        records += [end_record(each, "stop") for each in ids]
    count = write(bootstrap, f"{name}-in", records)
    table = Table(
        f"Kafka: a worker beside a loop that copies records with the same client and guarantees ({count} records)",
        ["", "loop tokens/s", "worker", "loop CPU µs", "worker", "ratio"],
    )
    for label, exactly_once in (("at-least-once", False), ("exactly-once", True)):
        runs: list[tuple[tuple[float, float], tuple[float, float]]] = []
        for _ in range(3):
            bare = timed(lambda exactly_once=exactly_once: copy(bootstrap, name, count, exactly_once))
            parsed = timed(lambda exactly_once=exactly_once: parse(bootstrap, name, count, exactly_once))
            runs.append((bare, parsed))
        wall = [statistics.median(run[which][0] for run in runs) for which in (0, 1)]
        cpu = [statistics.median(run[which][1] for run in runs) for which in (0, 1)]
        table.row(
            label,
            f"{count / wall[0]:.0f}",
            f"{count / wall[1]:.0f}",
            f"{cpu[0] / count * 1e6:.1f}",
            f"{cpu[1] / count * 1e6:.1f}",
            f"{cpu[1] / cpu[0]:.2f}",
        )


def timed(work: Callable[[], float]) -> tuple[float, float]:
    """Seconds from the first record on, and seconds of this process's CPU for all of it."""
    with collected(SELDOM):  # as the command sets it
        cpu = time.process_time()
        wall = work()
        return wall, time.process_time() - cpu


def settings_of(bootstrap: str, name: str, exactly_once: bool) -> Any:
    from streamparse.adapters.kafka.settings import WorkerSettings

    return WorkerSettings(
        bootstrap=bootstrap,
        source=f"{name}-in",
        sink=f"{name}-out",
        group=f"{name}-{uuid.uuid4().hex[:8]}",
        exactly_once=exactly_once,
    )


def copy(bootstrap: str, name: str, count: int, exactly_once: bool) -> float:
    """Copy records to the output: what a worker does, without parsing."""
    from confluent_kafka import Consumer, Producer, TopicPartition

    settings = settings_of(bootstrap, name, exactly_once)
    consumer, producer = Consumer(settings.consumer()), Producer(settings.producer())
    consumer.subscribe([settings.source])
    if exactly_once:
        producer.init_transactions()
        producer.begin_transaction()
    copied, started, commit_at = 0, 0.0, 0.0
    positions: dict[int, int] = {}
    while copied < count:
        first = consumer.poll(0.1)
        if first is None:
            continue
        started = started or time.perf_counter()
        for message in [first, *consumer.consume(2_000, 0)]:
            if message.error() is None:
                producer.produce(
                    settings.sink, message.value(), message.key(), message.partition(), headers=message.headers()
                )
                positions[message.partition()] = message.offset() + 1
                copied += 1
        if time.monotonic() > commit_at or copied == count:
            commit_at = time.monotonic() + settings.commit_seconds
            offsets = [TopicPartition(settings.source, number, offset) for number, offset in positions.items()]
            producer.flush()
            if exactly_once:
                producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata())
                producer.commit_transaction()
                producer.begin_transaction()
            else:
                consumer.commit(offsets=offsets, asynchronous=False)
    wall = time.perf_counter() - started
    if exactly_once:
        producer.abort_transaction()
    consumer.close()
    return wall


def parse(bootstrap: str, name: str, count: int, exactly_once: bool) -> float:
    """Let a worker do it."""
    from streamparse.adapters.kafka import KafkaWorker

    settings = settings_of(bootstrap, name, exactly_once)
    worker = KafkaWorker(bootstrap, settings.source, settings.sink, group=settings.group, exactly_once=exactly_once)
    with running(worker):
        started = 0.0
        while (seen := worker.statistics().seen.records) < count:
            started = started or (time.perf_counter() if seen else 0.0)
            time.sleep(0.02)
        return time.perf_counter() - started


@contextlib.contextmanager
def running(worker: Any) -> Iterator[None]:
    """Run a worker in a thread."""
    thread = threading.Thread(target=worker.run_here)
    thread.start()
    try:
        yield
    finally:
        worker.stop()
        thread.join()


def taking_over(bootstrap: str, count: int) -> None:
    """How long a worker takes to take up generations that another had open."""
    from streamparse.adapters.kafka import KafkaWorker, begin_record, chunk_record
    from stress.kafka_generations import make_topics, write

    name = f"bench-{uuid.uuid4().hex[:8]}"
    make_topics(bootstrap, 8, f"{name}-in", f"{name}-out")
    ids = [f"{name}-{number}" for number in range(count)]
    records = [begin_record(each, template="qwen3", prefix="") for each in ids]
    records += [chunk_record(each, f" word{number}") for number in range(50) for each in ids]
    total = write(bootstrap, f"{name}-in", records)
    table = Table(f"Kafka: taking up {count} open generations of 50 tokens", ["", "seconds", "records read"])
    options: dict[str, Any] = {"group": name, "exactly_once": True}
    first, second = (KafkaWorker(bootstrap, f"{name}-in", f"{name}-out", **options) for _ in range(2))
    with running(first):
        while first.statistics().seen.records < total:
            time.sleep(0.1)
    with running(second):
        while second.statistics().restored < count:
            time.sleep(0.05)
        seen = second.statistics()
    table.row("by another worker", f"{seen.restored_seconds:.1f}", str(seen.seen.replayed))


def latency(bootstrap: str, generations: int, seconds: float) -> None:
    """From a chunk's record being written to its event being read, at 50 tokens a second and generation."""
    from streamparse.adapters.kafka import KafkaWorker
    from stress.kafka_generations import make_topics

    table = Table(
        f"Kafka: from chunk to event, {generations} generations of 50 tokens/s", ["", "tokens/s", "p50 ms", "p99 ms"]
    )
    for label, exactly_once in (("at-least-once", False), ("exactly-once, commits every 0.1 s", True)):
        name = f"bench-{uuid.uuid4().hex[:8]}"
        make_topics(bootstrap, 8, f"{name}-in", f"{name}-out")
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        writer = context.Process(target=write_paced, args=(bootstrap, f"{name}-in", generations, seconds))
        reader = context.Process(
            target=read_delays, args=(bootstrap, f"{name}-out", exactly_once, seconds / 2, results)
        )
        worker = KafkaWorker(
            bootstrap, f"{name}-in", f"{name}-out", group=name, template="qwen3", prefix="", exactly_once=exactly_once
        )
        with running(worker):
            reader.start()
            writer.start()
            count, p50, p99, took = results.get(timeout=seconds + 120)
            for process in (reader, writer):
                process.join()
        table.row(label, f"{count / took:.0f}", f"{p50 * 1000:.0f}", f"{p99 * 1000:.0f}")


def write_paced(bootstrap: str, topic: str, generations: int, seconds: float) -> None:
    """Write a token of each generation every 20 ms, in slices; a token says when it was written."""
    from confluent_kafka import Producer

    from streamparse.adapters.kafka import begin_record

    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 2, "compression.type": "lz4"})
    ids = [f"{topic}-{number}" for number in range(generations)]
    for each in ids:
        producer.produce(topic, **begin_record(each))
    producer.flush()
    slices = 10
    headers = [("content", b"text")]
    started = time.monotonic()
    for turn in range(int(seconds * 50 * slices)):
        time.sleep(max(0.0, started + turn * 0.02 / slices - time.monotonic()))
        now = b"%.6f " % time.time()
        for each in ids[turn % slices :: slices]:
            producer.produce(topic, now, each, headers=headers)
        producer.poll(0)
    producer.flush()


def read_delays(bootstrap: str, topic: str, committed: bool, warm: float, results: Any) -> None:
    """Read events, and give how old the tokens in them are; a broker that is just started warms up first."""
    import orjson
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "delays",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed" if committed else "read_uncommitted",
            "fetch.wait.max.ms": 10,
        }
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in range(8)])
    delays: list[float] = []
    began = last = 0.0
    while not began or time.monotonic() < last + 3:
        first = consumer.poll(0.2)
        if first is None:
            continue
        messages = [first, *consumer.consume(5_000, 0)]
        now, last = time.time(), time.monotonic()
        began = began or last
        if last < began + warm:
            continue
        for message in messages:
            for event in orjson.loads(message.value())["events"]:
                if event["type"] == "region_chunk":
                    delays += [now - float(token) for token in event["text"].split()]
    consumer.close()
    delays.sort()
    took = max(0.001, last - began - warm)
    results.put((len(delays), delays[len(delays) // 2], delays[len(delays) * 99 // 100], took))
