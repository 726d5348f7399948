"""A worker in this process: a sink that is slow, dead letters, metrics, the command."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from streamparse import TemplateError
from streamparse.adapters.kafka import KafkaError, KafkaWorker
from streamparse.adapters.kafka.metrics import serve_metrics
from streamparse.adapters.kafka.sink import AbortedError, RecordSink
from streamparse.errors import ArgumentError
from stress.kafka_generations import Generation, OutputReader, faults, generations, make_topics, write

PATIENCE = 60.0

BEGIN = {"template": "qwen3", "prefix": ""}


@contextmanager
def running(bootstrap: str, name: str, **options: Any) -> Iterator[KafkaWorker]:
    worker = KafkaWorker(bootstrap, f"{name}-in", f"{name}-out", group=name, **options)
    thread = threading.Thread(target=worker.run_here)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join()


def wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it has not come"
        time.sleep(0.02)


@pytest.mark.needs("groups")
def test_where_the_sink_is_slow_partitions_are_paused_and_no_more_is_taken(
    bootstrap: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_topics(bootstrap, 1, f"{name}-in", f"{name}-out")
    every = [Generation(f"g{number}", BEGIN, ["x" * 100] * 50) for number in range(200)]
    write(bootstrap, f"{name}-in", [record for one in every for record in one.records()])
    slow, drained = threading.Event(), RecordSink.drained
    slow.set()
    monkeypatch.setattr(RecordSink, "drained", lambda self, wait: not slow.is_set() and drained(self, wait))
    with running(bootstrap, name, max_in_flight=20_000) as worker:
        wait_for(lambda: worker.statistics().pauses)
        before = worker.statistics()
        time.sleep(1.0)
        after = worker.statistics()
        assert after.seen.records == before.seen.records
        assert after.partitions[0].paused
        assert after.partitions[0].in_flight < 20_000 + 2_000 * 100  # what one batch may add
        assert after.seen.records < 200 * 52
        slow.clear()
        wait_for(lambda: worker.statistics().seen.records == 200 * 52)
    reader = OutputReader(bootstrap, f"{name}-out", 1)
    wait_for(lambda: reader.read(0.2) == 0 and len(reader.seen.over) == len(every))
    reader.close()
    assert faults(reader.seen, every, exactly_once=False) == []


@pytest.mark.needs("transactions", "isolation", "groups")
def test_a_transaction_that_comes_to_nothing_is_done_again(
    bootstrap: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_topics(bootstrap, 2, f"{name}-in", f"{name}-out")
    commit, times = RecordSink.commit, []

    def fails_now_and_then(self: RecordSink, offsets: Any, member: Any) -> None:
        times.append(offsets)
        if len(times) in (1, 3):
            raise AbortedError("as the test wants it")
        commit(self, offsets, member)

    monkeypatch.setattr(RecordSink, "commit", fails_now_and_then)
    every = list(generations(40, 31))
    records = [record for one in every for record in one.records()]
    reader = OutputReader(bootstrap, f"{name}-out", 2)
    with running(bootstrap, name, exactly_once=True) as worker:
        for start in range(0, len(records), 400):
            before = len(times)
            write(bootstrap, f"{name}-in", records[start : start + 400])
            wait_for(lambda before=before: len(times) > before)
        wait_for(lambda: reader.read(0.2) == 0 and len(reader.seen.over) == len(every))
        assert worker.statistics().aborts == 2
    reader.close()
    assert faults(reader.seen, every, exactly_once=True) == []


@pytest.mark.needs("groups")
def test_a_record_that_cannot_be_used_goes_to_the_dead_letters_with_the_reason(bootstrap: str, name: str) -> None:
    make_topics(bootstrap, 1, f"{name}-in", f"{name}-out")
    one = Generation("one", BEGIN, ["Hello"])
    bad = {"key": "bad", "value": b"junk", "headers": [("mine", b"kept")]}
    write(bootstrap, f"{name}-in", [bad, *one.records()])
    with running(bootstrap, name) as worker:
        wait_for(lambda: worker.statistics().seen.ended == 1)
        wait_for(lambda: worker.statistics().commits)
    settings = {"bootstrap.servers": bootstrap, "group.id": "dead", "auto.offset.reset": "earliest"}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(f"{name}-in-dead-letters", 0, 0)])
    message = consumer.poll(PATIENCE)
    consumer.close()
    assert message is not None
    assert (message.key(), message.value()) == (b"bad", b"junk")
    headers = dict(message.headers() or ())
    assert b"not JSON" in headers.pop("dead-letter-reason")
    assert headers == {
        "mine": b"kept",
        "dead-letter-topic": f"{name}-in".encode(),
        "dead-letter-partition": b"0",
        "dead-letter-offset": b"0",
    }


@pytest.mark.needs("groups")
def test_what_a_worker_has_seen_is_served_for_prometheus(bootstrap: str, name: str) -> None:
    make_topics(bootstrap, 1, f"{name}-in", f"{name}-out")
    write(bootstrap, f"{name}-in", Generation("one", BEGIN, ["Hello"]).records())
    with running(bootstrap, name) as worker:
        server = serve_metrics(worker, 0)
        try:
            wait_for(lambda: worker.statistics().seen.ended)
            with urllib.request.urlopen(f"http://127.0.0.1:{server.server_address[1]}/metrics") as answer:
                text = answer.read().decode()
        finally:
            server.shutdown()
            server.server_close()
    assert "streamparse_worker_records_total 3.0" in text
    assert 'streamparse_worker_lag{partition="0"} 0.0' in text


def test_without_its_topics_a_worker_says_what_is_missing(bootstrap: str, name: str) -> None:
    with pytest.raises(KafkaError, match=f"there is no topic '{name}-in' for the input"):
        KafkaWorker(bootstrap, f"{name}-in", f"{name}-out").run_here()


@pytest.mark.parametrize(
    "wrong", [{"source": ""}, {"protocol": "x"}, {"commit_seconds": 0}, {"sink": "in"}, {"session_seconds": -1}]
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, Any]) -> None:
    arguments = {"source": "in", "sink": "out", **wrong}
    with pytest.raises(ArgumentError):
        KafkaWorker("127.0.0.1:1", arguments.pop("source"), arguments.pop("sink"), **arguments)
    with pytest.raises(TemplateError):
        KafkaWorker("127.0.0.1:1", "in", "out", template="no such template")


@pytest.mark.needs("transactions", "isolation", "groups", "take-over", "cooperative")
def test_the_demo_shows_generations_that_come_whole_though_workers_are_killed(bootstrap: str) -> None:
    command = ["demo", "--kafka", "--plain", "--speed", "60", "--kill-every", "2.5", "--bootstrap", bootstrap]
    done = subprocess.run(
        [sys.executable, "-m", "streamparse", *command], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "killed by signal 9" in done.stdout
    assert "6 of 6 generations came whole, each event once and in order" in done.stdout
