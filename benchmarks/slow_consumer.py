"""Section: one consumer that is slow among many that are not: its memory, what it gets, and what the others notice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from benchmarks.generations import OURS
from benchmarks.table import Table, show_progress, with_limit
from benchmarks.workloads import PROSE, filled, in_tokens
from streamparse import parse_stream
from streamparse.graph import Channel

GENERATIONS, TOKENS, TOKENS_QUICK = 50, 4_000, 500
CAPACITY = 8_192
PAUSE = 0.01
"""Seconds that the slow consumer takes for each event."""


async def produce(inbox: Channel[str], pieces: Sequence[str]) -> None:
    """Send the pieces, waiting where there is no room."""
    for piece in pieces:
        await inbox.send([piece])
        await asyncio.sleep(0)
    inbox.close()


async def consume(inbox: Channel[str], pause: float) -> tuple[str, int]:
    """Follow a stream to its end: its text, and the most weight that waited."""
    text = []
    async with parse_stream(inbox, OURS, prefix="", read_ahead=True, capacity=CAPACITY) as stream:
        async for event in stream:
            if event["type"] == "region_chunk":
                text.append(event["text"])
            if pause:
                await asyncio.sleep(pause)
        heaviest = max(channel.highest_weight for channel in (*stream.statistics().channels, inbox.statistics()))
    return "".join(text), heaviest


async def run(pieces: Sequence[str], pause: float) -> tuple[float, float, int, bool]:
    """All generations, the first with a pause: CPU time of the others, seconds to their end, heaviest, all there."""
    inboxes = [Channel[str](capacity=CAPACITY) for _ in range(GENERATIONS)]
    producers = [asyncio.ensure_future(produce(inbox, pieces)) for inbox in inboxes]
    cpu, began = time.process_time(), time.monotonic()
    consumers = [
        asyncio.ensure_future(consume(inbox, pause if number == 0 else 0.0)) for number, inbox in enumerate(inboxes)
    ]
    await asyncio.gather(*consumers[1:])
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    found = await asyncio.gather(*consumers)
    await asyncio.gather(*producers)
    whole = "".join(pieces).strip()
    return cpu, seconds, max(heaviest for _, heaviest in found), all(text.strip() == whole for text, _ in found)


def report(*, quick: bool) -> None:
    """Print the section."""
    count = TOKENS_QUICK if quick else TOKENS
    pieces = in_tokens(filled(PROSE, count * 5))[:count]
    show_progress("a slow consumer among others")
    asyncio.run(run(pieces[:100], 0.0))
    alone_cpu, alone, _, _ = asyncio.run(run(pieces, 0.0))
    cpu, seconds, heaviest, complete = asyncio.run(run(pieces, PAUSE))
    title = f"{GENERATIONS} generations of {count:,} tokens, one of whose consumers takes {PAUSE * 1e3:.0f} ms an event"
    table = Table(title, ("what", "found"), 56)
    table.row("CPU time until the others are done, of that without it", with_limit(cpu / alone_cpu, 1.5))
    table.row("seconds until the others are done, of those without it", f"{seconds / alone:.1f}×")
    table.row(f"the most weight that waited (bound: {CAPACITY:,})", f"{heaviest:,}")
    table.row("every text arrived whole", "yes" if complete else "NO")
