"""All that a worker can be told, and what follows from it for the client library.

In:  the arguments of ``KafkaWorker``.
Out: configurations of confluent-kafka (https://docs.confluent.io/platform/current/clients/librdkafka/html/md_CONFIGURATION.html).
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from streamparse.adapters.kafka.kept_state import REPLAY
from streamparse.errors import ArgumentError
from streamparse.limits import DEFAULT_LIMITS, Limits
from streamparse.template import TemplateSource

Protocol = Literal["classic", "consumer"]

PREFETCHED_KILOBYTES = 16_384
"""How much the client fetches ahead of the worker."""

CLIENT_LOG = logging.getLogger("streamparse.kafka.client")

TRANSACTION_SECONDS = 20.0
"""How long the broker waits for a transaction of a worker that has gone, before it aborts it."""


@dataclass(frozen=True, kw_only=True)
class WorkerSettings:
    """What ``KafkaWorker`` describes."""

    bootstrap: str
    source: str
    sink: str
    group: str = "streamparse"
    exactly_once: bool = False
    changelog: str = ""
    dead_letters: str = ""
    template: TemplateSource | None = None
    prefix: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    tokenizers: Mapping[str, Any] = field(default_factory=dict)
    limits: Limits = DEFAULT_LIMITS
    instance: str | None = None
    protocol: Protocol = "classic"
    session_seconds: float = 10.0
    commit_seconds: float = 0.1
    idle_seconds: float | None = 600.0
    max_open: int = 100_000
    max_in_flight: int = 4_000_000
    max_record: int = 900_000
    replay: int = REPLAY
    replicas: int = -1
    client: Mapping[str, Any] = field(default_factory=dict)
    name: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        """Fill in the names of topics; raises ArgumentError for what can't be meant."""
        for name in ("bootstrap", "source", "sink", "group"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise ArgumentError(f"{name} must be a text that is not empty, not {getattr(self, name)!r}")
        if self.protocol not in ("classic", "consumer"):
            raise ArgumentError(f"protocol must be 'classic' or 'consumer', not {self.protocol!r}")
        for name in ("session_seconds", "commit_seconds", "max_open", "max_in_flight", "max_record", "replay"):
            if not getattr(self, name) > 0:
                raise ArgumentError(f"{name} must be more than 0, not {getattr(self, name)!r}")
        object.__setattr__(self, "changelog", self.changelog or f"{self.group}-{self.source}-changelog")
        object.__setattr__(self, "dead_letters", self.dead_letters or f"{self.source}-dead-letters")
        topics = [self.source, self.sink, self.changelog, self.dead_letters]
        if len(set(topics)) < len(topics):
            raise ArgumentError(f"the four topics must be different ones, not {', '.join(topics)}")

    def consumer(self) -> dict[str, Any]:
        """The configuration of the consumer of the input."""
        configuration = {
            **self.reader(),
            "group.id": self.group,
            "auto.offset.reset": "earliest",
            "group.protocol": self.protocol,
        }
        if self.protocol == "classic":  # with the other one, the broker decides both
            configuration["partition.assignment.strategy"] = "cooperative-sticky"
            configuration["session.timeout.ms"] = round(self.session_seconds * 1000)
            configuration["heartbeat.interval.ms"] = max(100, round(self.session_seconds * 1000 / 4))
        if self.instance is not None:
            configuration["group.instance.id"] = self.instance
        return {**configuration, **self._without(_OF_PRODUCERS)}

    def reader(self) -> dict[str, Any]:
        """The configuration of a consumer without a group, for what is read again."""
        return {
            "bootstrap.servers": self.bootstrap,
            "group.id": f"{self.group}-reading",  # the client asks for one; nothing is committed in it
            "logger": CLIENT_LOG,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "queued.max.messages.kbytes": PREFETCHED_KILOBYTES,
            "fetch.wait.max.ms": 100,
            **self._without(_OF_PRODUCERS),
        }

    def administrator(self) -> dict[str, Any]:
        """The configuration of the client that asks after topics and offsets."""
        names = ("security.", "sasl.", "ssl.", "socket.", "broker.", "client.")
        common = {name: value for name, value in self.client.items() if name.startswith(names)}
        return {"bootstrap.servers": self.bootstrap, "logger": CLIENT_LOG, **common}

    def producer(self) -> dict[str, Any]:
        """The configuration of the producer of the output, the changelog and the dead letters."""
        configuration = {
            "bootstrap.servers": self.bootstrap,
            "logger": CLIENT_LOG,
            "enable.idempotence": True,
            "linger.ms": 5,
            "delivery.report.only.error": True,
            "compression.type": "lz4",
        }
        if self.exactly_once:
            configuration["transactional.id"] = f"{self.group}-{self.instance or self.name}"
            configuration["transaction.timeout.ms"] = round(TRANSACTION_SECONDS * 1000)
        return {**configuration, **self._without(_OF_CONSUMERS)}

    def _without(self, prefixes: tuple[str, ...]) -> dict[str, Any]:
        """The client's settings, without those that only the other kind of client has."""
        return {name: value for name, value in self.client.items() if not name.startswith(prefixes)}


_OF_PRODUCERS = (
    "linger.",
    "compression.",
    "batch.",
    "queue.buffering.",
    "acks",
    "message.timeout",
    "delivery.",
    "transaction",
    "enable.idempotence",
)
_OF_CONSUMERS = ("fetch.", "queued.", "session.", "heartbeat.", "auto.offset.", "max.poll.", "group.", "partition.")
