"""Workers as processes, on a real broker: they are killed, frozen, stopped and replaced, and the output is right."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from stress.kafka import Plan, soak
from stress.kafka_generations import (
    Generation,
    OutputReader,
    faults,
    generations,
    interleaved,
    make_topics,
    write,
)
from stress.kafka_workers import Workers

PATIENCE = 90.0
"""Seconds after which a test gives up; none of them decides anything by time."""


def wait_for(condition: Callable[[], bool], reader: OutputReader | None = None) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it has not come"
        if reader is None:
            time.sleep(0.05)
        else:
            reader.read(0.2)


def arguments(bootstrap: str, name: str, *more: str) -> list[str]:
    topics = ["--in", f"{name}-in", "--out", f"{name}-out", "--group", name]
    return ["--bootstrap", bootstrap, *topics, "--session-seconds", "3", *more]


@pytest.mark.needs("transactions", "isolation", "groups", "take-over", "cooperative")
@pytest.mark.parametrize("exactly_once", [True, False], ids=["exactly-once", "at-least-once"])
def test_workers_that_are_killed_lose_nothing_and_repeat_nothing(
    exactly_once: bool, bootstrap: str, tmp_path: Path
) -> None:
    plan = Plan(
        generations=400,
        kills=3,
        seed=7,
        exactly_once=exactly_once,
        between=2.5,
        away=3.0,
        session=3.0,
        partitions=4,
        workers=2,
        rate=1200.0,
    )
    found, _ = soak(plan, bootstrap, None, tmp_path)
    assert found == []


@pytest.mark.needs("transactions", "isolation", "groups", "take-over", "cooperative")
def test_a_worker_that_was_frozen_past_its_session_writes_nothing_that_readers_see(
    bootstrap: str, name: str, tmp_path: Path
) -> None:
    make_topics(bootstrap, 2, f"{name}-in", f"{name}-out")
    first, second = list(generations(60, 3)), list(generations(60, 4))
    reader = OutputReader(bootstrap, f"{name}-out", 2)
    more = ("--exactly-once", "--commit-seconds", "0.5", "--set", "transaction.timeout.ms=6000")
    with Workers(1, arguments(bootstrap, name, *more), tmp_path, named=0) as zombie:
        write(bootstrap, f"{name}-in", interleaved(first, 60, random.Random(1)))
        wait_for(lambda: len(reader.seen.over) >= len(first), reader)
        write(bootstrap, f"{name}-in", interleaved(second, 60, random.Random(2)))
        time.sleep(0.2)  # so that it is likely in the middle of a transaction; any other place would do as well
        zombie.freeze(0)
        (tmp_path / "heirs").mkdir()
        with Workers(1, arguments(bootstrap, name, *more), tmp_path / "heirs", named=0):
            wait_for(lambda: len(reader.seen.over) >= len(first) + len(second), reader)
            zombie.thaw(0)
            wait_for(lambda: "fenced" in zombie.said(0), reader)
            third = list(generations(20, 5))
            write(bootstrap, f"{name}-in", interleaved(third, 20, random.Random(3)))
            wait_for(lambda: len(reader.seen.over) >= len(first) + len(second) + len(third), reader)
            assert zombie.stop(0) == 0, zombie.said(0)
    reader.close()
    assert faults(reader.seen, [*first, *second, *third], exactly_once=True) == []


@pytest.mark.needs("transactions", "isolation", "groups", "take-over", "consumer protocol")
def test_partitions_move_between_workers_of_the_consumer_protocol(bootstrap: str, name: str, tmp_path: Path) -> None:
    make_topics(bootstrap, 4, f"{name}-in", f"{name}-out")
    every = list(generations(150, 11))
    records = list(interleaved(every, 100, random.Random(1)))
    reader = OutputReader(bootstrap, f"{name}-out", 4)
    with Workers(2, arguments(bootstrap, name, "--exactly-once", "--protocol", "consumer"), tmp_path) as workers:
        write(bootstrap, f"{name}-in", records[: len(records) // 2])
        wait_for(lambda: len(reader.seen.over) >= 10, reader)
        assert workers.stop(0) == 0
        write(bootstrap, f"{name}-in", records[len(records) // 2 :])
        wait_for(lambda: len(reader.seen.over) >= len(every), reader)
    reader.close()
    assert faults(reader.seen, every, exactly_once=True) == []


@pytest.mark.needs("transactions", "isolation", "groups")
def test_a_second_worker_of_an_instance_name_takes_the_place_of_the_first_which_says_so(
    bootstrap: str, name: str, tmp_path: Path
) -> None:
    make_topics(bootstrap, 1, f"{name}-in", f"{name}-out")
    one = Generation("a", {"template": "qwen3", "prefix": ""}, ["Hel", "lo"])
    reader = OutputReader(bootstrap, f"{name}-out", 1)
    options = arguments(bootstrap, name, "--exactly-once", "--instance", "the-same")
    (tmp_path / "second").mkdir()
    with Workers(1, options, tmp_path, named=0) as first:
        write(bootstrap, f"{name}-in", one.records())
        wait_for(lambda: len(reader.seen.over) >= 1, reader)
        with Workers(1, options, tmp_path / "second", named=0):
            two = Generation("b", {"template": "qwen3", "prefix": ""}, ["Hi"])
            write(bootstrap, f"{name}-in", two.records())
            wait_for(lambda: len(reader.seen.over) >= 2, reader)
            wait_for(lambda: first.ended(0) == 1)
    assert "another worker" in first.said(0)
    reader.close()
    assert faults(reader.seen, [one, two], exactly_once=True) == []
