"""Show what goes on among many generations as OpenTelemetry metrics.

    python examples/metrics_with_opentelemetry.py

The counters are read when metrics are collected, so they cost the generations nothing. Here they are collected once,
at the end, into memory; a service gives its ``MeterProvider`` an exporter instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from streamparse import ManyStream, parse_many

GENERATIONS = {
    "a": "<think>\nShort.\n</think>\n\nHello from A.",
    "b": '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>',
    "c": '<tool_call>\n{"name": \n</tool_call>That went wrong.',
}


def observe(meter: Meter, stream: ManyStream) -> None:
    """Declare what is to be seen of a stream."""

    def reading(read: Callable[[], float | None]) -> Callable[[CallbackOptions], Iterable[Observation]]:
        return lambda _: [] if (value := read()) is None else [Observation(value)]

    def counter(name: str, read: Callable[[], float], unit: str) -> None:
        meter.create_observable_counter(name, [reading(read)], unit)

    def gauge(name: str, read: Callable[[], float | None], unit: str) -> None:
        meter.create_observable_gauge(name, [reading(read)], unit)

    def first_event_mean() -> float | None:
        seen = stream.statistics().generations
        return seen.first_event_seconds / seen.first_events if seen.first_events else None

    counter("streamparse.characters", lambda: stream.statistics().generations.characters, "{character}")
    counter("streamparse.events", lambda: stream.statistics().generations.events, "{event}")
    counter("streamparse.regions.malformed", lambda: stream.statistics().generations.malformed, "{region}")
    counter("streamparse.regions.repaired", lambda: stream.statistics().generations.repaired, "{region}")
    counter("streamparse.generations.failed", lambda: stream.statistics().generations.failed, "{generation}")
    counter("streamparse.queue.wait", lambda: stream.statistics().channels[0].send_seconds, "s")
    gauge("streamparse.generations.open", lambda: stream.statistics().generations.open, "{generation}")
    gauge("streamparse.characters.held", lambda: stream.statistics().generations.held, "{character}")
    gauge("streamparse.queue.weight", lambda: stream.statistics().channels[0].weight_waiting, "{character}")
    gauge("streamparse.first_event.mean", first_event_mean, "s")


async def model(text: str) -> AsyncIterator[str]:
    """Stand for a model that takes its time."""
    for start in range(0, len(text), 4):
        await asyncio.sleep(0.001)
        yield text[start : start + 4]


async def main() -> None:
    """Parse some generations, then show the metrics."""
    reader = InMemoryMetricReader()
    meters = MeterProvider([reader], shutdown_on_exit=False)
    sources = {key: model(text) for key, text in GENERATIONS.items()}
    async with parse_many(sources, "qwen3", prefix="", errors="report") as stream:
        observe(meters.get_meter("streamparse"), stream)
        async for key, event in stream:
            if event["type"] in ("message", "error"):
                print(key, event["message"])
        collected = reader.get_metrics_data()
    if collected is not None:
        for metric in collected.resource_metrics[0].scope_metrics[0].metrics:
            for point in metric.data.data_points:
                print(f"{metric.name} = {getattr(point, 'value', None)} {metric.unit}")
    meters.shutdown()


if __name__ == "__main__":
    asyncio.run(main())
