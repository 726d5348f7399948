"""The topics of a worker: the input and the output have to be there, the two others are made if they are not.

In:  settings, and a broker.
Out: how many partitions the input and the output have; KafkaError where the topics don't fit each other.
"""

from __future__ import annotations

import time

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from streamparse.adapters.kafka.errors import KafkaError
from streamparse.adapters.kafka.settings import WorkerSettings

_SECONDS = 30.0
_EXISTS = "TOPIC_ALREADY_EXISTS"


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
    for name, done in admin.create_topics(list(topics), request_timeout=_SECONDS).items():
        try:
            done.result(_SECONDS)
        except KafkaException as error:
            if error.args[0].name() != _EXISTS:
                raise KafkaError(f"the topic {name!r} can't be created: {error.args[0].str()}") from error
    deadline = time.monotonic() + _SECONDS
    while not {topic.topic for topic in topics} <= _partitions(admin).keys() and time.monotonic() < deadline:
        time.sleep(0.05)


def _partitions(admin: AdminClient) -> dict[str, int]:
    try:
        return {name: len(topic.partitions) for name, topic in admin.list_topics(timeout=_SECONDS).topics.items()}
    except KafkaException as error:
        raise KafkaError(f"the broker can't be reached: {error.args[0].str()}") from error
