"""Section: what ``broadcast`` costs, beside a queue and a task for each consumer, and what a slow consumer takes up."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Callable, Sequence

from benchmarks.measure import medians
from benchmarks.table import Table, show_progress, with_limit
from benchmarks.workloads import FORMATS, in_tokens
from streamparse import load_response_template, parse_stream
from streamparse.broadcasting.broadcast import broadcast
from streamparse.broadcasting.consumer import Policy
from streamparse.stream import ParseStream
from streamparse.template import ResponseTemplate

LENGTH, LENGTH_QUICK = 200_000, 20_000
CONSUMERS = (1, 10, 100)
LIMIT = 2.0
"""What numbers, bounds and late consumers may cost: queues have none of them, and grow without bound."""


def stream_of(template: ResponseTemplate, pieces: Sequence[str]) -> ParseStream:
    """A generation each token of which comes in a turn of the event loop of its own."""

    async def arriving() -> AsyncIterator[str]:
        for piece in pieces:
            await asyncio.sleep(0)
            yield piece

    return parse_stream(arriving(), template, prefix="")


def through_queues(template: ResponseTemplate, pieces: Sequence[str], consumers: int) -> Callable[[], object]:
    """What is written by hand: every event is put into a queue for each consumer."""

    async def consume(queue: asyncio.Queue[object]) -> None:
        while await queue.get() is not None:
            pass

    async def main() -> None:
        queues: list[asyncio.Queue[object]] = [asyncio.Queue() for _ in range(consumers)]
        tasks = [asyncio.create_task(consume(queue)) for queue in queues]
        async with stream_of(template, pieces) as events:
            async for event in events:
                for queue in queues:
                    queue.put_nowait(event)
        for queue in queues:
            queue.put_nowait(None)
        await asyncio.wait(tasks)

    return lambda: asyncio.run(main())


def through_broadcast(
    template: ResponseTemplate, pieces: Sequence[str], consumers: int, policy: Policy
) -> Callable[[], object]:
    """The same by ``broadcast``."""

    async def main() -> None:
        async with broadcast(stream_of(template, pieces)) as generation:

            async def consume() -> None:
                async with generation.subscribe(policy) as consumer:
                    async for _ in consumer:
                        pass

            await asyncio.gather(*(consume() for _ in range(consumers)))

    return lambda: asyncio.run(main())


def waiting_bytes(template: ResponseTemplate, pieces: Sequence[str], *, queue: bool) -> float:
    """Bytes an event that wait for a consumer that takes nothing before the end."""

    async def main() -> float:
        tracemalloc.start()
        try:
            if queue:
                waiting: asyncio.Queue[object] = asyncio.Queue()
                async with stream_of(template, pieces) as events:
                    async for event in events:
                        waiting.put_nowait(event)
                return tracemalloc.get_traced_memory()[0] / len(pieces)
            async with broadcast(stream_of(template, pieces)) as generation, generation.subscribe("join"):
                await generation.over.wait()
                return tracemalloc.get_traced_memory()[0] / len(pieces)
        finally:
            tracemalloc.stop()

    return asyncio.run(main())


def report(*, quick: bool) -> None:
    """Print the section."""
    length = LENGTH_QUICK if quick else LENGTH
    workload = FORMATS[0]
    template, pieces = load_response_template(workload.template), in_tokens(workload.text(length))
    columns = ("consumers", "queues, µs a token", "wait", "join")
    table = Table(f"One generation to several consumers ({workload.name}, {length:,} characters)", columns)
    for consumers in CONSUMERS:
        show_progress(f"{consumers} consumers")
        runners = {
            "queues": through_queues(template, pieces, consumers),
            "wait": through_broadcast(template, pieces, consumers, "wait"),
            "join": through_broadcast(template, pieces, consumers, "join"),
        }
        found = medians(runners, 3)
        ratios = [with_limit(found[name] / found["queues"], LIMIT) for name in ("wait", "join")]
        table.row(str(consumers), f"{found['queues'] / len(pieces) * 1e6:.2f}", *ratios)
    memory = Table("What waits for a consumer that takes nothing, bytes a token", ("", "a queue", "broadcast"))
    figures = [waiting_bytes(template, pieces, queue=queue) for queue in (True, False)]
    memory.row(workload.name, *(f"{figure:.0f}" for figure in figures))
