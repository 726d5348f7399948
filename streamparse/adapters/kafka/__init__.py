"""Generations over Apache Kafka: parsed by any number of workers, exactly once, and followed from anywhere.

=====================  ===========================================================================
``worker``             a member of a group of workers: ``KafkaWorker``
``loop``               … what it does, in a thread: poll, parse, write, commit
``partition``          … one partition as a state machine, without I/O
``restoring``          … taking up partitions that others had
``sink``               … what it writes, in transactions
``settings``           … all that it can be told
``topics``             … its topics
``statistics``         … what it has seen
``metrics``            … the same for Prometheus
``wire``               the input records; ``records.schema.json`` is the same as a JSON Schema
``templates``          … what a generation begins with
``output``             the output records
``changelog``          the state of generations as records
``source``             a topic as a source of ``(generation, chunk)``: ``KafkaSource``
``producing``          events into a topic: ``KafkaSink``
``following``          generations that are parsed elsewhere, followed: ``KafkaEvents``
``broker``             an Apache Kafka of one's own, for tests, measurements and the demo
=====================  ===========================================================================

It needs the extra ``kafka``.
"""

try:
    import confluent_kafka  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.name} is missing: install the extra, pip install 'streamparse-llm[kafka]'", name=error.name
    ) from error

from streamparse.adapters.kafka.errors import BadRecordError, FencedError, KafkaError
from streamparse.adapters.kafka.event_topic import KafkaEvents
from streamparse.adapters.kafka.following import Following
from streamparse.adapters.kafka.output import EventReader
from streamparse.adapters.kafka.producing import KafkaSink
from streamparse.adapters.kafka.scan import Place
from streamparse.adapters.kafka.source import KafkaSource
from streamparse.adapters.kafka.statistics import WorkerStatistics
from streamparse.adapters.kafka.wire import begin_record, cancel_record, chunk_record, end_record
from streamparse.adapters.kafka.worker import KafkaWorker
from streamparse.adapters.store.history import NumberedEvent

__all__ = [
    "BadRecordError",
    "EventReader",
    "FencedError",
    "Following",
    "KafkaError",
    "KafkaEvents",
    "KafkaSink",
    "KafkaSource",
    "KafkaWorker",
    "NumberedEvent",
    "Place",
    "WorkerStatistics",
    "begin_record",
    "cancel_record",
    "chunk_record",
    "end_record",
]
