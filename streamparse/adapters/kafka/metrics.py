"""A worker's statistics for Prometheus.

In:  a worker.
Out: a collector, to be registered; and a server of ``/metrics``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from streamparse.adapters.kafka.worker import KafkaWorker

_SEEN = {
    "records": "Records of the input that were taken.",
    "chunks": "Chunks that were parsed.",
    "characters": "Characters, bytes or token ids in these chunks.",
    "events": "Events that were written.",
    "begun": "Generations that began.",
    "ended": "Generations that ended with a message.",
    "failed": "Generations that ended with an error.",
    "expired": "Generations that were abandoned, and ended as expired.",
    "dropped": "Records that came for generations that had ended before their time.",
    "dead": "Records that could not be used.",
    "snapshots": "Snapshots that were written to the changelog.",
    "too_large": "Snapshots that were too large to be written.",
    "replayed": "Records that were read again on taking over partitions.",
}
_COUNTED = {
    "commits": "Commits.",
    "aborts": "How often the worker went back to what was committed.",
    "fenced": "How often partitions had been given to other workers.",
    "pauses": "How often a partition was paused, as too much of it was in flight.",
    "restored": "Generations that were taken up from other workers.",
}
_OF_PARTITIONS = {
    "lag": "Records that wait.",
    "open": "Generations that are open.",
    "in_flight": "Text that was taken and is not committed yet.",
}


class WorkerCollector:
    """Gives a worker's statistics when they are asked for: ``registry.register(WorkerCollector(worker))``."""

    def __init__(self, worker: KafkaWorker) -> None:
        self._worker = worker

    def collect(self) -> Iterator[Metric]:
        """The metrics, as ``prometheus_client`` asks for them."""
        statistics = self._worker.statistics()
        for names, of in ((_SEEN, statistics.seen), (_COUNTED, statistics)):
            for name, text in names.items():
                yield CounterMetricFamily(f"streamparse_worker_{name}", text, value=getattr(of, name))
        yield GaugeMetricFamily(
            "streamparse_worker_restored_seconds",
            "How long taking over partitions took the last time.",
            value=statistics.restored_seconds,
        )
        for name, text in _OF_PARTITIONS.items():
            gauge = GaugeMetricFamily(f"streamparse_worker_{name}", text, labels=["partition"])
            for number, partition in statistics.partitions.items():
                gauge.add_metric([str(number)], getattr(partition, name))
            yield gauge


def serve_metrics(worker: KafkaWorker, port: int, host: str = "127.0.0.1") -> Any:
    """Serve ``/metrics`` in a thread; gives the server, whose ``shutdown`` and ``server_close`` end it."""
    registry = CollectorRegistry()
    registry.register(WorkerCollector(worker))
    server, _ = start_http_server(port, host, registry)
    return server
