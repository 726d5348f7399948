"""Section: the memory of generations that wait for their next token, and what is left of those that have gone."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Callable
from typing import Any

from benchmarks.generations import OURS, transformers_parser
from benchmarks.table import Table, show_progress
from benchmarks.workloads import chat, in_tokens, json_call
from streamparse import End, KeyedParser, parse_stream

WAITING, WAITING_QUICK = 2_000, 200
GONE, GONE_QUICK = 100_000, 500
AIM = 20_000
"""Bytes of a generation that waits."""
GROWTH_AIM = 200_000
"""Bytes left of all generations that have gone, however many: the last keys, and what an interpreter keeps."""

SO_FAR = in_tokens(chat(800))[:60]
"""What a generation that waits has written."""
WHOLE = in_tokens("<think>\nA short one.\n</think>\n\nI will look." + json_call(1))
"""What one writes that comes and goes."""


def traced(make: Callable[[], Any]) -> tuple[int, Any]:
    """The bytes that something made keeps, and the thing."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    thing = make()
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before, thing


def waiting_keys(count: int) -> Any:
    """A keyed operator with so many keys open."""
    keyed = KeyedParser(OURS, prefix="", idle_seconds=60, max_open=count)
    for token in SO_FAR:
        keyed.feed([(key, "".join(token)) for key in range(count)])
    return keyed


def waiting_parsers(count: int) -> Any:
    """So many parsers of transformers."""
    parsers = [transformers_parser() for _ in range(count)]
    for parser in parsers:
        for token in SO_FAR:
            parser.feed("".join(token))
    return parsers


async def waiting_streams(count: int) -> int:
    """The bytes of so many tasks with a ``parse_stream`` that waits for its source."""
    gone = asyncio.Event()

    async def source() -> AsyncIterator[str]:
        for token in SO_FAR:
            yield token
        await gone.wait()

    async def follow() -> None:
        async with parse_stream(source(), OURS, prefix="") as stream:
            async for _ in stream:
                pass

    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tasks = [asyncio.ensure_future(follow()) for _ in range(count)]
    for _ in SO_FAR:
        await asyncio.sleep(0)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    gone.set()
    await asyncio.gather(*tasks)
    return taken


def come_and_go(keyed: KeyedParser, first: int, count: int) -> None:
    """So many generations, a hundred at a time, from their first token to their end."""
    for start in range(first, first + count, 100):
        keys = [f"generation {key}" for key in range(start, start + 100)]
        for token in WHOLE:
            keyed.feed([(key, token) for key in keys])
        keyed.feed([(key, End("stop")) for key in keys])


async def streams_come_and_go(count: int) -> None:
    """The same as streams."""
    for _ in range(count):
        async with parse_stream(WHOLE, OURS, prefix="") as stream:
            async for _ in stream:
                pass


def report_waiting(count: int) -> None:
    """The memory of one generation that waits."""
    table = Table(f"memory of a generation that waits for its next token, after {len(SO_FAR)} tokens", ("of", "bytes"))
    waiting_keys(10), waiting_parsers(10), asyncio.run(waiting_streams(10))  # what is made once
    tracemalloc.start()
    sizes = {
        "a key of the keyed operator": traced(lambda: waiting_keys(count))[0],
        "parse_stream, with its task and source": asyncio.run(waiting_streams(count)),
        "transformers' parser": traced(lambda: waiting_parsers(count))[0],
    }
    tracemalloc.stop()
    for name, size in sizes.items():
        mark = f" (> {AIM:,})" if size / count > AIM and "transformers" not in name else ""
        table.row(name, f"{size / count:,.0f}{mark}")


def report_gone(count: int) -> None:
    """What is left after many generations."""
    table = Table(f"memory left of {count:,} generations that came and went", ("through", "bytes"), 40)
    for name, run in (
        ("the keyed operator", lambda keyed, first, many: come_and_go(keyed, first, many)),
        ("parse_stream", lambda _, __, many: asyncio.run(streams_come_and_go(many))),
    ):
        show_progress(f"{count:,} generations through {name}")
        keyed = KeyedParser(OURS, prefix="", idle_seconds=60)
        run(keyed, 0, count // 10)
        tracemalloc.start()
        left = traced(lambda run=run, keyed=keyed: run(keyed, count // 10, count))[0]  # type: ignore[misc]
        tracemalloc.stop()
        mark = f" (> {GROWTH_AIM:,})" if left > GROWTH_AIM else ""
        table.row(name, f"{left:,}{mark}")


def report(*, quick: bool) -> None:
    """Print the section."""
    report_waiting(WAITING_QUICK if quick else WAITING)
    report_gone(GONE_QUICK if quick else GONE)
