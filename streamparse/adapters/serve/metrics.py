"""What the server counts, for Prometheus.

In:  what happens to requests.
Out: the text of ``/metrics``, of a registry of the server's own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


_WORDS = {200: "ok", 429: "too_many", 504: "timed_out"}


class Outcome:
    """What becomes of one request: ``cancelled`` (its client has gone, or the server stops) until it is said otherwise.

    >>> outcome = Outcome()
    >>> outcome.ends(404)
    >>> outcome.word
    'refused'
    """

    def __init__(self) -> None:
        self.word = "cancelled"
        self.status: int | None = None
        self.usage: Any = None
        self.failure: Exception | None = None
        self.started = time.perf_counter()
        self.first: float | None = None

    def ends(self, status: int) -> None:
        """Note the status of the answer, or the one that it would have had."""
        self.status = status
        self.word = _WORDS.get(status, "refused" if status < 500 else "failed")

    def failed(self, error: Exception) -> None:
        """Note why the request failed."""
        self.failure = error

    def begins(self) -> None:
        """Note that the answer begins."""
        if self.first is None:
            self.first = time.perf_counter()


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "streamparse_requests_total",
            "Requests for a chat completion, by what became of them.",
            ["outcome"],
            registry=self._registry,
        )
        self._running = Gauge(
            "streamparse_requests_running", "Requests that are being served.", registry=self._registry
        )
        self._first = Histogram(
            "streamparse_first_chunk_seconds",
            "Time until the first piece of an answer.",
            registry=self._registry,
            buckets=_SECONDS,
        )
        self._whole = Histogram(
            "streamparse_request_seconds", "Time until the end.", registry=self._registry, buckets=_SECONDS
        )
        self._tokens = Counter(
            "streamparse_tokens_total", "Tokens, as the upstream counts them.", ["kind"], registry=self._registry
        )
        self._calls = Counter(
            "streamparse_tool_calls_total", "Well-formed tool calls that models wrote.", registry=self._registry
        )
        self._malformed = Counter(
            "streamparse_malformed_total", "Regions of models' outputs that were malformed.", registry=self._registry
        )

    @contextmanager
    def request(self) -> Iterator[Outcome]:
        """Count one request, from its beginning to its end."""
        outcome = Outcome()
        with self._running.track_inprogress():
            try:
                yield outcome
            finally:
                self._requests.labels(outcome.word).inc()
                self._whole.observe(time.perf_counter() - outcome.started)
                if outcome.first is not None:
                    self._first.observe(outcome.first - outcome.started)

    def saw(self, message: Mapping[str, Any]) -> None:
        """Count what a generation's ``message`` event has."""
        self._calls.inc(len(message["message"].get("tool_calls", ())))
        self._malformed.inc(sum(problem["type"] == "region_malformed" for problem in message["problems"]))

    def used(self, usage: Mapping[str, Any]) -> None:
        """Count the tokens of a request."""
        for kind in ("prompt", "completion"):
            self._tokens.labels(kind).inc(usage[f"{kind}_tokens"])

    def text(self) -> bytes:
        """Give all of it in the text format of Prometheus."""
        return generate_latest(self._registry)
