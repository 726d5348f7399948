"""The topics of a worker: the input and the output have to be there, the two others are made if they are not.

In:  settings, and a broker.
Out: how many partitions the input and the output have; KafkaError where the topics don't fit each other.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from confluent_kafka import KafkaError as ClientError
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from streamparse.adapters.kafka.errors import KafkaError
from streamparse.adapters.kafka.retrying import retried
from streamparse.adapters.kafka.settings import WorkerSettings

_SECONDS = 30.0


def prepare(settings: WorkerSettings) -> tuple[int, int]:
    """Make the changelog and the topic of dead letters unless they are there; the partitions of input and output."""
    admin = AdminClient(settings.administrator())
    counts = _partitions(admin)
    for name, what in ((settings.source, "input"), (settings.sink, "output")):
        if name not in counts:
            raise KafkaError(f"there is no topic {name!r} for the {what}; create it with as many partitions as needed")
    wanted = counts[settings.source]
    create(
        admin,
        NewTopic(settings.changelog, wanted, settings.replicas, config={"cleanup.policy": "compact"}),
        NewTopic(settings.dead_letters, 1, settings.replicas),
    )
    counts = _partitions(admin)
    if counts.get(settings.changelog, wanted) != wanted:
        raise KafkaError(
            f"the changelog {settings.changelog!r} has {counts[settings.changelog]} partitions and the input "
            f"{settings.source!r} has {wanted}: they have to be as many; after adding partitions to the input let the "
            "workers end what is open, and give them a changelog of another name"
        )
    return wanted, counts[settings.sink]


def create(admin: AdminClient, *topics: NewTopic) -> None:
    """Create topics, and wait until they are there; nothing happens for those that are there already."""
    for topic in topics:
        try:
            retried(partial(_create, admin, topic), _SECONDS)
        except KafkaException as error:
            raise KafkaError(f"the topic {topic.topic!r} can't be created: {error.args[0].str()}") from error
    deadline = time.monotonic() + _SECONDS
    while not {topic.topic for topic in topics} <= _with_leaders(admin) and time.monotonic() < deadline:
        time.sleep(0.05)


def _create(admin: AdminClient, topic: NewTopic) -> None:
    try:
        admin.create_topics([topic], request_timeout=_SECONDS)[topic.topic].result(_SECONDS)
    except KafkaException as error:
        if error.args[0].code() != ClientError.TOPIC_ALREADY_EXISTS:
            raise


def _partitions(admin: AdminClient) -> dict[str, int]:
    return {name: len(topic.partitions) for name, topic in _topics(admin).items()}


def _with_leaders(admin: AdminClient) -> set[str]:
    """The topics that can be read and written: each partition has a leader."""
    return {
        name
        for name, topic in _topics(admin).items()
        if topic.error is None and all(partition.leader >= 0 for partition in topic.partitions.values())
    }


def _topics(admin: AdminClient) -> dict[str, Any]:
    try:
        return retried(lambda: dict(admin.list_topics(timeout=_SECONDS).topics), _SECONDS)
    except KafkaException as error:
        raise KafkaError(f"the broker can't be reached: {error.args[0].str()}") from error
