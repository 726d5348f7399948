"""Repeats requests that a broker can't answer at the moment: it restarts, or a topic was made just now.

In:  a request, and how long it may take in all.
Out: its answer; the client's last error where the time is over, and at once where asking again can't help.

The client repeats fetching and producing by itself, but not what it is asked once (offsets, metadata, commits).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaError as ClientError
from confluent_kafka import KafkaException

TRANSIENT = frozenset(
    {
        ClientError.BROKER_NOT_AVAILABLE,
        ClientError.COORDINATOR_LOAD_IN_PROGRESS,
        ClientError.COORDINATOR_NOT_AVAILABLE,
        ClientError.FENCED_LEADER_EPOCH,
        ClientError.KAFKA_STORAGE_ERROR,
        ClientError.LEADER_NOT_AVAILABLE,
        ClientError.NETWORK_EXCEPTION,
        ClientError.NOT_CONTROLLER,
        ClientError.NOT_COORDINATOR,
        ClientError.NOT_ENOUGH_REPLICAS,
        ClientError.NOT_LEADER_FOR_PARTITION,
        ClientError.OFFSET_NOT_AVAILABLE,
        ClientError.REPLICA_NOT_AVAILABLE,
        ClientError.REQUEST_TIMED_OUT,
        ClientError.THROTTLING_QUOTA_EXCEEDED,
        ClientError.UNKNOWN_LEADER_EPOCH,
        ClientError.UNSTABLE_OFFSET_COMMIT,
        ClientError._ALL_BROKERS_DOWN,
        ClientError._TIMED_OUT,
        ClientError._TIMED_OUT_QUEUE,
        ClientError._TRANSPORT,
        ClientError._WAIT_CACHE,
        ClientError._WAIT_COORD,
    }
)
"""Errors that pass: those that the protocol calls retriable, and the client's own for brokers that it can't reach.

``KafkaError.retriable()`` alone doesn't say so: the client sets it for transactions only.
"""

UNKNOWN_TOPIC = frozenset(
    {
        ClientError.UNKNOWN_TOPIC_ID,
        ClientError.UNKNOWN_TOPIC_OR_PART,
        ClientError._UNKNOWN_PARTITION,
        ClientError._UNKNOWN_TOPIC,
    }
)
"""Errors that pass where the topic is known to exist: a broker that has not heard of it yet answers so."""

WAIT_SECONDS = 0.1

Answer = TypeVar("Answer")


def transient(error: ClientError, *, exists: bool = True) -> bool:
    """Whether an error passes by itself; ``exists`` says that the topics asked about are known to exist."""
    code = error.code()
    return error.retriable() or code in TRANSIENT or (exists and code in UNKNOWN_TOPIC)


def retried(
    request: Callable[[], Answer],
    seconds: float,
    *,
    exists: bool = True,
    stopped: Callable[[], bool] = lambda: False,
) -> Answer:
    """The answer of ``request``, which is repeated for ``seconds`` while it fails with errors that pass.

    ``stopped`` says that nobody waits for the answer any more: then an error is raised at once.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return request()
        except KafkaException as error:
            over = time.monotonic() >= deadline or stopped()
            if over or not transient(error.args[0], exists=exists):
                raise
        time.sleep(WAIT_SECONDS)


def checked(error: ClientError | None) -> None:
    """Raise the error that an answer has for one of its parts, if it has one."""
    if error is not None:
        raise KafkaException(error)
